"""Options of the library as Python parameters: names, defaults, conversion to text and documentation."""
from __future__ import annotations

import textwrap

import numpy as np

from ._kerf import python_name  # the keyword of an option: `shared-directions` becomes `shared_directions`

def to_text(value):
    """A value as the library's option parser reads it."""
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    if isinstance(value, (float, np.floating)):
        return repr(float(value))
    if isinstance(value, (list, tuple, set)):
        return ",".join(to_text(item) for item in value)
    return str(value)


def from_text(option, text):
    """The value of an option that the library wrote as text."""
    kind = option["type"]
    if text == "auto" and option["name"] == "features":
        return text
    if kind == "integer":
        return int(text)
    if kind == "real":
        return float(text)
    if kind == "automatic":
        return text if text == "auto" else float(text)
    return text == "true" if kind == "flag" else text


def values_from_text(options, texts):
    """Options as the library wrote them, by Python name, with numbers as numbers."""
    return {python_name(o["name"]): from_text(o, texts[o["name"]]) for o in options if o["name"] in texts}


def default_of(option):
    return from_text(option, option["default"])


def type_of(option):
    """The annotation of an option in the stubs."""
    if option["type"] == "choice":
        return "Literal[" + ", ".join(f'"{c}"' for c in option["choices"]) + "]"
    return {"integer": "int", "real": "float", "flag": "bool", "text": "str", "automatic": 'float | Literal["auto"]'}[option["type"]]


def type_in_words(option):
    if option["type"] == "choice":
        return "{" + ", ".join(repr(c) for c in option["choices"]) + "}"
    return {"integer": "int", "real": "float", "flag": "bool", "text": "str", "automatic": "float or 'auto'"}[option["type"]]


class Parameter:
    """One keyword of a generated estimator."""

    def __init__(self, name, default, annotation, words, help):
        self.name, self.default, self.annotation, self.words, self.help = name, default, annotation, words, help

    @classmethod
    def of(cls, option):
        return cls(python_name(option["name"]), default_of(option), type_of(option), type_in_words(option), option["help"])

    def documentation(self):
        help = textwrap.fill(self.help + ".", 100, initial_indent="    ", subsequent_indent="    ")
        return f"{self.name} : {self.words}, default {self.default!r}\n{help}"


def document(parameters):
    """The section `Parameters` of a numpydoc docstring."""
    if not parameters:
        return ""
    return "Parameters\n----------\n" + "\n".join(p.documentation() for p in parameters)


def make_init(parameters, owner):
    """An ``__init__`` with exactly these keywords, that stores them: what scikit-learn's clone and get_params expect."""
    keywords = ", ".join(f"{p.name}={p.default!r}" for p in parameters)
    body = "\n".join(f"    self.{p.name} = {p.name}" for p in parameters)
    names = {}
    exec(f"def __init__(self{', *, ' + keywords if keywords else ''}):\n{body or '    pass'}\n", names)
    init = names["__init__"]
    init.__qualname__, init.__module__ = f"{owner}.__init__", __package__
    return init


def seed_of(random_state):
    """The library's seed: an int is the seed itself; None and generators draw one."""
    if isinstance(random_state, (int, np.integer)) and not isinstance(random_state, bool):
        if not 0 <= random_state <= 2**53:
            raise ValueError(f"random_state must be between 0 and 2**53, not {random_state}")
        return int(random_state)
    if random_state is None:
        return int(np.random.randint(2**31 - 1))  # numpy's global generator, as in scikit-learn
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31 - 1))
    raise ValueError(f"random_state is an int, None or a numpy generator, not {random_state!r}")


RANDOM_STATE = Parameter(
    "random_state", 1, "int | numpy.random.RandomState | numpy.random.Generator | None", "int, RandomState, Generator or None",
    "seed of everything random: the same one gives the same bits here, in C++ and in the program; None draws one from numpy's global generator")

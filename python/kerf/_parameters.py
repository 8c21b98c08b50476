"""The keywords of `KernelRidge` and `KernelClassifier`: the options of fits, tables, images and maps, and how they become text and values again."""
from __future__ import annotations

from . import _kerf, features
from ._options import RANDOM_STATE, Parameter, default_of, document, python_name, to_text, type_of, values_from_text
from ._threads import N_JOBS
from .features import MAPS
from .kernels import KERNELS

FIT_OPTIONS = _kerf.fit_options()
_OF_FRAMES = ("categorical", "decimal", "dates", "missing", "na", "max-levels")
DATA_OPTIONS = [option for option in _kerf.data_options() if option["name"] in _OF_FRAMES]  # the others are of files
IMAGE_OPTIONS, AUGMENT_OPTIONS = _kerf.image_options(), _kerf.augment_options()
_FOR_CLASSES = {"class-weight"}  # options that mean nothing in a regression


def _union_of_map_options():
    """(maps, option), each name once; those of map exact are those of the kernels, with `kernel` among all of them."""
    found = {}
    for entry in MAPS.values():
        for option in entry["options"]:
            found.setdefault(option["name"], []).append((entry["name"], option))
    for entry in KERNELS.values():
        for option in entry["options"]:
            if "exact" not in dict(found.get(option["name"], [])):
                found.setdefault(option["name"], []).append(("exact", option))
    found["kernel"].append(("exact", {**found["kernel"][0][1], "choices": list(KERNELS)}))
    for name, uses in found.items():
        choices = list(dict.fromkeys(choice for _, option in uses for choice in option["choices"]))
        yield [map for map, _ in uses], {**uses[0][1], "choices": choices}


MAP_OPTIONS = list(_union_of_map_options())


def _map_parameters():
    for maps, option in MAP_OPTIONS:
        name = option["name"]
        annotation = 'int | Literal["auto"] | None' if name == "features" else type_of(option) + " | None"
        help = option["help"] + "; auto: as many as pay" if name == "features" else option["help"]
        yield Parameter(python_name(name), None, annotation, "option of " + ", ".join(maps), help)


MAP_KEYWORDS = [p.name for p in _map_parameters()]


def options_from_text(map, texts):
    """The options of a model's map (or of its exact kernel) as Python values."""
    if map in MAPS:
        return values_from_text(MAPS[map]["options"], texts)
    return {"kernel": texts["kernel"], **values_from_text(KERNELS[texts["kernel"]]["options"], texts)}


def knows_image(map, options):
    """Whether the map (or kernel) with these options is one of images."""
    entry = MAPS.get(map) or KERNELS.get(options.get("kernel"), {"options": []})
    return any(o["name"] == "image" for o in entry["options"])


def parameters_of(task):
    first = [Parameter("map", _kerf.default_map, "str | FeatureTransformer", "str or transformer",
                       "name of a feature map (" + ", ".join(MAPS) + "); 'auto': chosen for the data, with its kernel and options; 'exact': no features but the "
                       "kernel itself, O(rows^2) memory; or a transformer such as kerf.RFF(...) whose options are taken")]
    fit = [Parameter.of(o) for o in [*FIT_OPTIONS, *DATA_OPTIONS, *IMAGE_OPTIONS, *AUGMENT_OPTIONS]
           if o["name"] != "seed" and not (task == "regression" and o["name"] in _FOR_CLASSES)]
    for parameter in fit:
        if parameter.name == "class_weight":  # scikit-learn's ways to say it
            parameter.default, parameter.annotation, parameter.words = None, 'dict[Any, float] | Literal["balanced"] | None', "dict, 'balanced' or None"
            parameter.help += "; a dict gives a weight to each class"
        if parameter.name in ("categorical", "na"):
            parameter.default, parameter.annotation, parameter.words = None, "str | Sequence[str | int | float] | None", "str, list or None"
        if parameter.name == "copies":
            parameter.default, parameter.annotation, parameter.words = None, "int | None", "int or None"
            parameter.help += "; None: 2, or 1 with solver='sgd', which makes another one in every pass"
    last = [RANDOM_STATE, N_JOBS,
            Parameter("memory_limit", None, "int | str | None", "int, str or None", "most memory that a fit may need, in bytes or as '8G'; None: a quarter of what is available, or what the leanest solver needs, with a warning"),
            Parameter("progress", False, "bool | Callable[[str, int, int], None]", "bool or function",
                      "True shows a tqdm bar; a function is called with (stage, done, total)")]
    taken = {p.name for p in first + fit + last}
    return first + [p for p in _map_parameters() if p.name not in taken] + fit + last


def given(estimator, options):
    """Those of the options that the estimator has with another value than the default, as text."""
    texts = {}
    for option in options:
        value = getattr(estimator, python_name(option["name"]))
        if value is not None and (option["name"] == "copies" or value != default_of(option)):
            texts[option["name"]] = to_text(value)
    return texts


def parameters_asked(kind, about):
    """The parameters that a model was trained with; of a file that does not say, what came of them."""
    asked = about["asked"]
    if asked is None or asked["map"] not in (*MAPS, "auto", "exact"):  # a later version's map
        return {"map": about["map"], "lambda_": about["lambda"], "random_state": about["seed"], **options_from_text(about["map"], about["options"])}
    known = {p.name for p in kind._parameters}
    fit = {name: value for name, value in values_from_text(FIT_OPTIONS, asked["fit_options"]).items() if name in known}
    if fit.get("class_weight") == "none":
        fit["class_weight"] = None
    fit |= values_from_text([*IMAGE_OPTIONS, *AUGMENT_OPTIONS], asked["image_options"])
    map = asked["map"]
    options = values_from_text(MAPS[map]["options"] if map in MAPS else [option for _, option in MAP_OPTIONS], asked["map_options"])
    if asked["map_seed"] is not None:
        options, map = {}, getattr(features, MAPS[map]["python_name"])(**options, random_state=asked["map_seed"])
    return {"map": map, **options, **fit, "memory_limit": asked["memory_limit"] or None}


def bytes_of(limit):
    """A memory limit as the library takes it; 0: what it allows by itself."""
    return 0 if limit is None else _kerf.parse_bytes(str(limit))


_EXAMPLE = {
    "KernelRidge": """>>> import kerf, numpy as np
>>> X = np.random.default_rng(0).normal(size=(400, 3))
>>> y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2]
>>> model = kerf.KernelRidge(map="rff", features=300).fit(X[:300], y[:300])
>>> model.score(X[300:], y[300:]) > 0.9
True""",
    "KernelClassifier": """>>> import kerf, numpy as np
>>> X = np.random.default_rng(0).normal(size=(400, 2))
>>> y = np.where((X ** 2).sum(axis=1) > 1.4, "out", "in")
>>> model = kerf.KernelClassifier(map="arccos", features=256).fit(X[:300], y[:300])
>>> model.score(X[300:], y[300:]) > 0.9
True""",
}


def docstring(name, what, parameters):
    return f"""{what}

Minimises ``(1/n) sum_i w_i |y_i - b - W' z(x_i)|^2 + lambda_ |W|^2`` over W and b: z the features of a map (z(x)' z(y) close to a kernel), n the
sum of the weights w, b unpenalised.  With `lambda_='auto'` the penalty is chosen by cross-validation (`folds`), from one pass over the
features, or by leave-one-out when there are fewer rows than features.  Memory does not grow with the rows.

{document(parameters)}

Attributes
----------
options_ : dict
    the map and its options, automatic ones worked out.
best_lambda_ : float
    the penalty that was given or chosen; `cv_error_` is its mean squared error on rows left out.
feature_weights_, intercept_ : array
    the linear model on the features (not on the columns of X: hence no `coef_`).
report_ : dict
    `quality`: accuracy or r2 on rows left out beside that of a constant; times, the lambdas tried and their errors, the solver, the memory
    estimated; None for a loaded model (whose quality is in `summary_`).  A fit that is no better than a constant warns.

Examples
--------
{_EXAMPLE[name]}
"""

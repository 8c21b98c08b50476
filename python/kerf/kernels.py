"""Exact kernels: a function and a class for each of the library's registry.

Functions give matrices: ``kerf.kernels.ntk(X, Y, depth=3)``.  Classes hold options and are callables, for ``sklearn.svm.SVC(kernel=...)``,
``sklearn.gaussian_process`` and everything else that takes a kernel: ``kerf.kernels.NTK(depth=3, bias=1.0)``.

Arithmetic is float64 unless `precision='single'`, and dense rows of float64 stay that; the values of sparse rows are rounded to float32 on the way in.
"""
from __future__ import annotations

import numpy as np

from . import _kerf
from ._base import is_sparse
from ._columns import as_float, channels_come_first, csr_rows, flatten_images, parse_image, plain_image, refuse_what_would_be_lost
from ._options import Parameter, default_of, document, make_init, python_name, to_text

try:
    from sklearn.gaussian_process.kernels import Hyperparameter
    from sklearn.gaussian_process.kernels import Kernel as _Base
except ImportError:  # scikit-learn is optional
    Hyperparameter, _Base = None, object

__all__ = ["gram"]

KERNELS = {entry["name"]: entry for entry in _kerf.list_kernels()}


def _rows(X, double=True, image=None):
    """What the module takes; nothing is learnt.  Dense rows stay float64 if `double`."""
    refuse_what_would_be_lost(X)
    X = flatten_images(X, parse_image(image), channels_come_first(image))
    if is_sparse(X):
        return csr_rows(X)
    X = np.asarray(X)
    if X.ndim != 2:
        raise ValueError(f"Expected 2D array, got an array of {X.ndim} dimensions")
    return as_float(X, double)


def _texts(entry, options):
    """Options as the library reads them; rows are taken as they are (a bias is 0) unless more is given, as in the program."""
    texts = {name.replace("_", "-"): to_text(plain_image(value) if name == "image" else value) for name, value in options.items()}
    for option in entry["options"]:
        if option["as_is"]:
            texts.setdefault(option["name"], option["as_is"])
    return texts


def _with_shape(entry, texts, rows, X):
    """Rows whose shape nobody gave are one pixel with many channels, as everywhere in the library, unless X has images."""
    if all(o["name"] != "image" for o in entry["options"]) or texts.get("image", "auto") != "auto":
        return texts
    columns = rows[3] if isinstance(rows, tuple) else rows.shape[1]
    sides = X.shape[1:] if getattr(X, "ndim", 2) > 2 else (1, 1, columns)
    return {**texts, "image": "x".join(str(side) for side in sides)}


def gram(kernel, X, Y=None, *, precision="double", **options):
    """k(x_i, y_j) for all rows of X and Y (default: X).

    Parameters
    ----------
    kernel : str
        name of an exact kernel: gaussian, laplacian, laplacian-l2, cauchy, matern32, matern52, linear, arccos, nngp, ntk, ...
    X, Y : array or CSR matrix of shape (rows, columns)
    precision : {'double', 'single'}
        of the arithmetic and the result, and of dense rows; sparse rows are rounded to float32.
    options
        of the kernel; an automatic bandwidth (the default) is the median distance of the rows of X.

    Examples
    --------
    >>> import kerf, numpy as np
    >>> X = np.eye(3, dtype=np.float32)
    >>> kerf.gram("gaussian", X, bandwidth=1.0).round(4)
    array([[1.    , 0.3679, 0.3679],
           [0.3679, 1.    , 0.3679],
           [0.3679, 0.3679, 1.    ]])
    """
    if precision not in ("double", "single"):
        raise ValueError(f"precision is 'double' or 'single', not {precision!r}")
    left = _rows(X, precision == "double", options.get("image"))
    entry = KERNELS.get(kernel)
    texts = _with_shape(entry, _texts(entry, options), left, X) if entry else {}
    if entry and any(o["type"] == "automatic" and texts.get(o["name"], o["default"]) == "auto" for o in entry["options"]):
        texts = _kerf.resolve_kernel(kernel, texts, left, 1)
    return _kerf.kernel_matrix(kernel, texts, left, None if Y is None else _rows(Y, precision == "double", options.get("image") or texts.get("image")), precision == "double")


class Kernel(_Base):
    """What the kernel classes have in common: callables k(X, Y) that scikit-learn's Gaussian processes and SVC accept.

    The numeric options (bandwidth, bias) are hyperparameters of a Gaussian process when bounds are given, `bandwidth_bounds=(1e-2, 1e2)`; their
    gradients are central differences in the logarithm, accurate to about 1e-8.
    """

    _entry: dict
    _parameters: list

    def _texts(self, rows, X=None, changes=None):
        options = {python_name(o["name"]): getattr(self, python_name(o["name"])) for o in self._entry["options"]}
        options.update(changes or {})
        if any(value == "auto" for name, value in options.items() if isinstance(value, str) and name != "image"):
            raise ValueError(f"{type(self).__name__} wants numbers: 'auto' has to be worked out from data (kerf.gram does)")
        return _with_shape(self._entry, _texts(self._entry, options), rows, X)

    def __call__(self, X, Y=None, eval_gradient=False):
        """k(x_i, y_j); with `eval_gradient` also the derivatives by the logarithms of the hyperparameters."""
        rows = _rows(X, image=getattr(self, "image", None))
        texts = self._texts(rows, X)
        K = _kerf.kernel_matrix(self._entry["name"], texts, rows, None if Y is None else _rows(Y, image=texts.get("image")), True)
        if not eval_gradient:
            return K
        if Y is not None:
            raise ValueError("Gradient can only be evaluated when Y is None.")
        return K, self._gradient(rows, X, len(K))

    def _gradient(self, rows, X, n, step=1e-5):
        free = [h for h in self.hyperparameters if not h.fixed]
        gradient = np.empty((n, n, len(free)))
        for k, h in enumerate(free):
            value = getattr(self, h.name)
            up, down = (_kerf.kernel_matrix(self._entry["name"], self._texts(rows, X, {h.name: value * np.exp(s)}), rows, None, True) for s in (step, -step))
            gradient[:, :, k] = (up - down) / (2 * step)
        return gradient

    def diag(self, X):
        """k(x_i, x_i)."""
        rows = _rows(X, image=getattr(self, "image", None))
        return _kerf.kernel_diagonal(self._entry["name"], self._texts(rows, X), rows)

    def is_stationary(self):
        """Whether k(x, y) depends on x - y only."""
        return _kerf.is_stationary(self._entry["name"], self._texts(np.empty((0, 4), np.float32)))

    @property
    def requires_vector_input(self):
        return True

    def get_params(self, deep=True):
        return {p.name: getattr(self, p.name) for p in self._parameters}

    def __eq__(self, other):
        return type(self) is type(other) and self.get_params() == other.get_params()

    def __hash__(self):
        return hash(repr(self))

    def __repr__(self):
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self.get_params().items() if not name.endswith('_bounds'))})"


def _default(option):
    """Kernel objects hold numbers: bandwidth 1 as in scikit-learn, no bias."""
    return default_of(option) if option["type"] != "automatic" else float(option["as_is"] or 1)


def _make_class(entry):
    name = entry["python_name"] or "".join(part.capitalize() for part in entry["name"].split("-"))
    parameters, members = [], {}
    for option in entry["options"]:
        parameter = Parameter.of(option)
        parameter.default = _default(option)
        parameters.append(parameter)
        if option["type"] in ("automatic", "real"):
            parameter.annotation, parameter.words = "float", "float"
            keyword = parameter.name
            parameters.append(Parameter(f"{keyword}_bounds", "fixed", 'tuple[float, float] | Literal["fixed"]', "(float, float) or 'fixed'",
                                        f"bounds of `{keyword}` when a Gaussian process is trained"))
            if Hyperparameter is not None:
                members[f"hyperparameter_{keyword}"] = property(
                    lambda self, k=keyword: Hyperparameter(k, "numeric", getattr(self, f"{k}_bounds")))
    docstring = f"""{entry["summary"][0].upper() + entry["summary"][1:]}.

{entry["formula"]}

{document(parameters)}

Examples
--------
>>> import kerf, numpy as np
>>> k = kerf.kernels.{name}()
>>> k(np.eye(4)).shape
(4, 4)
"""
    members.update({"__module__": __name__, "__qualname__": name, "__doc__": docstring, "__init__": make_init(parameters, name), "_entry": entry,
                    "_parameters": parameters})
    return type(name, (Kernel,), members)


def _make_function(entry):
    keywords = [Parameter.of(option) for option in entry["options"]]
    for parameter, option in zip(keywords, entry["options"]):
        if option["as_is"]:
            parameter.default = float(option["as_is"])
    name = python_name(entry["name"])
    names = {"gram": gram}
    listed = "".join(f", {p.name}={p.default!r}" for p in keywords)
    passed = "".join(f", {p.name}={p.name}" for p in keywords)
    exec(f"def {name}(X, Y=None, *{listed}, precision='double'):\n    return gram({entry['name']!r}, X, Y, precision=precision{passed})\n", names)
    function = names[name]
    function.__module__, function._parameters = __name__, keywords
    function.__doc__ = f"""{entry["summary"][0].upper() + entry["summary"][1:]}: the matrix k(x_i, y_j) of the rows of X and Y (default: X).

{entry["formula"]}

{document(keywords)}
precision : {{'double', 'single'}}, default 'double'
    of the arithmetic and the result.

Examples
--------
>>> import kerf, numpy as np
>>> K = kerf.kernels.{name}(np.eye(3), 2 * np.eye(3)[:2])
>>> K.shape, K.dtype
((3, 2), dtype('float64'))
"""
    return function


for _entry in KERNELS.values():
    for _thing in (_make_function(_entry), _make_class(_entry)):
        globals()[_thing.__name__] = _thing
        __all__.append(_thing.__name__)

del _entry, _thing

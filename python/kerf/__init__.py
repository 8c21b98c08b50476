"""kerf: kernel learning at the cost of linear models.

    >>> import kerf, numpy as np
    >>> X = np.random.default_rng(0).normal(size=(500, 4))
    >>> y = np.sin(X[:, 0]) * X[:, 1]
    >>> model = kerf.KernelRidge(map="arccos").fit(X[:400], y[:400])
    >>> model.score(X[400:], y[400:]) > 0.9
    True

Transformers (`kerf.RFF`, `kerf.ArcCosineFeatures`, ...), one per feature map; `kerf.KernelRidge` and `kerf.KernelClassifier`; exact kernels
(`kerf.kernels`); `kerf.load` for models that the program saved; `kerf.plot`.  numpy is all that `import kerf` needs; with scikit-learn
the estimators are scikit-learn's.
"""
from ._kerf import __version__, available_memory, set_threads, threads
from . import features as _features
from . import kernels
from .design import select
from .diagnostics import compare, diagnose, plan
from .features import *  # noqa: F401,F403
from ._load import load
from .kernels import gram
from .learn import KernelClassifier, KernelRidge

__all__ = [*_features.__all__, "KernelRidge", "KernelClassifier", "load", "diagnose", "plan", "compare", "select", "gram", "kernels", "plot", "maps", "threads", "set_threads",
           "available_memory", "__version__"]


def maps():
    """Every feature map: its name in the program, the class here, and what it is.

    >>> kerf.maps()["rff"][0]
    'RFF'
    """
    return {entry["name"]: (entry["python_name"], entry["summary"]) for entry in _features.MAPS.values()}


def __getattr__(name):
    if name == "plot":  # needs matplotlib, which is optional
        import importlib
        return importlib.import_module(".plot", __name__)
    raise AttributeError(f"module 'kerf' has no attribute {name!r}")


def __dir__():
    return sorted({*globals(), "plot"})

#!/usr/bin/env python3
"""Writes the type stubs of the generated classes and functions: python/kerf/__init__.pyi and kernels.pyi.

    PYTHONPATH=build/release/python /usr/bin/python3 python/make_stubs.py           write them
    ... --check                                                                      fail if they are not up to date
"""
import pathlib
import sys

FOLDER = pathlib.Path(__file__).resolve().parent / "kerf"
sys.path = [path for path in sys.path if pathlib.Path(path).resolve() != FOLDER.parent]  # the source folder has no module to import

import kerf  # noqa: E402

HEAD = '''"""Made by python/make_stubs.py from the library's registries; do not edit."""
import os
from typing import Any, Callable, Literal, Sequence, TypeVar

import numpy
from numpy.typing import ArrayLike, NDArray

_Self = TypeVar("_Self")
'''


def keywords(parameters):
    return "".join(f",\n        {p.name}: {p.annotation} = ..." for p in parameters)


def transformer(cls):
    return f'''
class {cls.__name__}(FeatureTransformer):
    def __init__(self, *{keywords(cls._parameters)}) -> None: ...
'''


def learner(cls, extra):
    return f'''
class {cls.__name__}(_Learner):
    def __init__(self, *{keywords(cls._parameters)}) -> None: ...
{extra}'''


def package():
    classes = [getattr(kerf, name) for name, _ in kerf.maps().values()]
    text = HEAD + '''
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin

from . import kernels as kernels, plot as plot
from .kernels import gram as gram

__version__: str

def maps() -> dict[str, tuple[str, str]]: ...
def load(path: str | os.PathLike[str], memory_limit: int | str | None = ...) -> KernelRidge | KernelClassifier: ...
def diagnose(map: FeatureTransformer, X: Any, *, lambda_: float = ..., sample: int = ..., seeds: int = ..., features: Sequence[int] | None = ..., scale: str = ...,
             random_state: Any = ..., report: str | os.PathLike[str] | None = ..., memory_limit: int | str | None = ...,
             progress: bool | Callable[[str, int, int], None] = ...) -> dict[str, Any]: ...
def plan(model: KernelRidge | KernelClassifier, X: Any, y: Any, *, epsilon: float = ..., kernel_error: float = ..., validation_error: float = ...,
         report: str | os.PathLike[str] | None = ..., **options: float) -> dict[str, Any]: ...
def compare(model: KernelRidge | KernelClassifier, X: Any, y: Any, *, maps: Sequence[str | FeatureTransformer] = ..., features: Sequence[int] = ...,
            seeds: int = ..., sample: int = ..., holdout: float = ..., kernel_lambda: float = ..., report: str | os.PathLike[str] | None = ...) -> dict[str, Any]: ...
def select(map: FeatureTransformer, X: Any, budget: int, *, lambda_: float = ..., method: Literal["greedy", "random", "kmeans++"] = ..., random_state: Any = ...,
           progress: bool | Callable[[str, int, int], None] = ...) -> NDArray[numpy.int64]: ...
def threads() -> int: ...
def set_threads(count: int) -> None: ...
def available_memory() -> int: ...

class FeatureTransformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    options_: dict[str, Any]
    seed_: int
    n_features_in_: int
    def fit(self: _Self, X: Any, y: Any = ...) -> _Self: ...
    def transform(self, X: Any) -> NDArray[numpy.float32]: ...
    def exact_kernel(self, X: Any, Y: Any = ...) -> NDArray[numpy.float64]: ...
    @property
    def relative_variance(self) -> float: ...
    @property
    def relative_bias(self) -> float: ...
'''
    text += "".join(transformer(cls) for cls in classes)
    text += '''
class _Learner(BaseEstimator):
    seed_: int
    n_features_in_: int
    @property
    def options_(self) -> dict[str, Any]: ...
    @property
    def best_lambda_(self) -> float: ...
    @property
    def cv_error_(self) -> float | None: ...
    @property
    def feature_weights_(self) -> NDArray[numpy.float64]: ...
    @property
    def intercept_(self) -> float | NDArray[numpy.float64]: ...
    @property
    def report_(self) -> dict[str, Any] | None: ...
    @property
    def summary_(self) -> dict[str, Any]: ...
    def fit(self: _Self, X: Any, y: Any, sample_weight: ArrayLike | None = ...) -> _Self: ...
    def score(self, X: Any, y: Any, sample_weight: ArrayLike | None = ...) -> float: ...
    def feature_map(self, X: Any) -> NDArray[numpy.float32]: ...
    def evaluate(self, X: Any, y: Any, sample_weight: ArrayLike | None = ..., worst: int = ...) -> dict[str, Any]: ...
    def save(self, path: str | os.PathLike[str]) -> None: ...
'''
    text += learner(kerf.KernelRidge, "    def predict(self, X: Any, return_std: bool = ...) -> Any: ...\n    def predict_interval(self, X: Any, level: float = ...) -> tuple[NDArray[numpy.float64], NDArray[numpy.float64]]: ...\n    def partial_fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = ...) -> KernelRidge: ...\n")
    text += learner(kerf.KernelClassifier, '''    classes_: NDArray[Any]
    def predict(self, X: Any) -> NDArray[Any]: ...
    def partial_fit(self, X: Any, y: Any, classes: ArrayLike | None = ..., sample_weight: ArrayLike | None = ...) -> KernelClassifier: ...
    def predict_proba(self, X: Any) -> NDArray[numpy.float64]: ...
    def predict_set(self, X: Any, level: float = ...) -> NDArray[numpy.bool_]: ...
    def decision_function(self, X: Any) -> NDArray[numpy.float64]: ...
''')
    return text


def kernels():
    text = HEAD + '''
def gram(kernel: str, X: Any, Y: Any = ..., *, precision: Literal["double", "single"] = ..., **options: Any) -> NDArray[Any]: ...

class Kernel:
    def __call__(self, X: Any, Y: Any = ..., eval_gradient: bool = ...) -> Any: ...
    def diag(self, X: Any) -> NDArray[numpy.float64]: ...
    def is_stationary(self) -> bool: ...
    def get_params(self, deep: bool = ...) -> dict[str, Any]: ...
'''
    for name in kerf.kernels.__all__:
        thing = getattr(kerf.kernels, name)
        if isinstance(thing, type):
            text += f"\nclass {name}(Kernel):\n    def __init__(self{', *' if thing._parameters else ''}{keywords(thing._parameters)}) -> None: ...\n"
        elif name != "gram":
            text += f"\ndef {name}(X: Any, Y: Any = ..., *{keywords(thing._parameters)}, precision: Literal[\"double\", \"single\"] = ...) -> NDArray[Any]: ...\n"
    return text


STUBS = {"__init__.pyi": package, "kernels.pyi": kernels}

if __name__ == "__main__":
    stale = [name for name, make in STUBS.items() if not (FOLDER / name).exists() or (FOLDER / name).read_text() != make()]
    if "--check" in sys.argv:
        sys.exit(f"not up to date: {', '.join(stale)}; run python/make_stubs.py" if stale else 0)
    for name in stale:
        (FOLDER / name).write_text(STUBS[name]())
        print("wrote", FOLDER / name)

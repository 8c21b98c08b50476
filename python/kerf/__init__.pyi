"""Made by python/make_stubs.py from the library's registries; do not edit."""
import os
from typing import Any, Callable, Literal, Sequence, TypeVar

import numpy
from numpy.typing import ArrayLike, NDArray

_Self = TypeVar("_Self")

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

class RFF(FeatureTransformer):
    def __init__(self, *,
        kernel: Literal["gaussian", "laplacian", "laplacian-l2", "cauchy", "matern32", "matern52"] = ...,
        bandwidth: float | Literal["auto"] = ...,
        features: int = ...,
        form: Literal["pairs", "phase"] = ...,
        random_state: int | numpy.random.RandomState | numpy.random.Generator | None = ...,
        n_jobs: int | None = ...) -> None: ...

class OrthogonalRFF(FeatureTransformer):
    def __init__(self, *,
        kernel: Literal["gaussian", "laplacian-l2", "matern32", "matern52"] = ...,
        bandwidth: float | Literal["auto"] = ...,
        features: int = ...,
        form: Literal["pairs", "phase"] = ...,
        directions: Literal["orthogonal", "structured"] = ...,
        random_state: int | numpy.random.RandomState | numpy.random.Generator | None = ...,
        n_jobs: int | None = ...) -> None: ...

class Fastfood(FeatureTransformer):
    def __init__(self, *,
        kernel: Literal["gaussian", "laplacian-l2", "matern32", "matern52"] = ...,
        bandwidth: float | Literal["auto"] = ...,
        features: int = ...,
        form: Literal["pairs", "phase"] = ...,
        random_state: int | numpy.random.RandomState | numpy.random.Generator | None = ...,
        n_jobs: int | None = ...) -> None: ...

class QuasiRFF(FeatureTransformer):
    def __init__(self, *,
        kernel: Literal["gaussian", "laplacian", "laplacian-l2", "cauchy", "matern32", "matern52"] = ...,
        bandwidth: float | Literal["auto"] = ...,
        features: int = ...,
        form: Literal["pairs", "phase"] = ...,
        random_state: int | numpy.random.RandomState | numpy.random.Generator | None = ...,
        n_jobs: int | None = ...) -> None: ...

class CompactRFF(FeatureTransformer):
    def __init__(self, *,
        kernel: Literal["gaussian", "laplacian", "laplacian-l2", "cauchy", "matern32", "matern52"] = ...,
        bandwidth: float | Literal["auto"] = ...,
        features: int = ...,
        form: Literal["pairs", "phase"] = ...,
        oversample: int = ...,
        random_state: int | numpy.random.RandomState | numpy.random.Generator | None = ...,
        n_jobs: int | None = ...) -> None: ...

class ArcCosineFeatures(FeatureTransformer):
    def __init__(self, *,
        order: int = ...,
        features: int = ...,
        directions: Literal["gaussian", "sphere", "orthogonal", "structured", "gibbs"] = ...,
        gibbs_sweeps: int = ...,
        bias: float | Literal["auto"] = ...,
        random_state: int | numpy.random.RandomState | numpy.random.Generator | None = ...,
        n_jobs: int | None = ...) -> None: ...

class NTKFeatures(FeatureTransformer):
    def __init__(self, *,
        kernel: Literal["ntk", "nngp"] = ...,
        depth: int = ...,
        features: int = ...,
        directions: Literal["gaussian", "sphere", "orthogonal", "structured", "gibbs"] = ...,
        sketch: Literal["tensorsrht", "tensorsketch", "none"] = ...,
        split: Literal["auto", "true", "false"] = ...,
        shared_directions: bool = ...,
        signs: bool = ...,
        m0: int = ...,
        ms: int = ...,
        gibbs_sweeps: int = ...,
        bias: float | Literal["auto"] = ...,
        random_state: int | numpy.random.RandomState | numpy.random.Generator | None = ...,
        n_jobs: int | None = ...) -> None: ...

class NTKPolynomialFeatures(FeatureTransformer):
    def __init__(self, *,
        kernel: Literal["ntk", "nngp"] = ...,
        depth: int = ...,
        features: int = ...,
        degree: int = ...,
        bias: float | Literal["auto"] = ...,
        activation: Literal["relu", "leaky-relu", "erf", "gelu", "sin", "exponential", "polynomial", "hermite"] = ...,
        slope: float = ...,
        coefficients: str = ...,
        random_state: int | numpy.random.RandomState | numpy.random.Generator | None = ...,
        n_jobs: int | None = ...) -> None: ...

class NTKSketchFeatures(FeatureTransformer):
    def __init__(self, *,
        depth: int = ...,
        features: int = ...,
        degree: int = ...,
        step_degree: int = ...,
        powers: Literal["chain", "polysketch"] = ...,
        renormalise: bool = ...,
        m1: int = ...,
        m0: int = ...,
        ms: int = ...,
        bias: float | Literal["auto"] = ...,
        random_state: int | numpy.random.RandomState | numpy.random.Generator | None = ...,
        n_jobs: int | None = ...) -> None: ...

class GradientFeatures(FeatureTransformer):
    def __init__(self, *,
        depth: int = ...,
        features: int = ...,
        bias: float | Literal["auto"] = ...,
        random_state: int | numpy.random.RandomState | numpy.random.Generator | None = ...,
        n_jobs: int | None = ...) -> None: ...

class CNTKRF(FeatureTransformer):
    def __init__(self, *,
        image: str = ...,
        depth: int = ...,
        filter: int = ...,
        padding: Literal["same", "valid"] = ...,
        pooling: Literal["gap", "none"] = ...,
        train_first_layer: bool = ...,
        mirror: bool = ...,
        features: int = ...,
        width: int = ...,
        ms: int = ...,
        m0: int = ...,
        renormalise: bool = ...,
        random_state: int | numpy.random.RandomState | numpy.random.Generator | None = ...,
        n_jobs: int | None = ...) -> None: ...

class CNTKSketch(FeatureTransformer):
    def __init__(self, *,
        image: str = ...,
        depth: int = ...,
        filter: int = ...,
        padding: Literal["same", "valid"] = ...,
        pooling: Literal["gap", "none"] = ...,
        train_first_layer: bool = ...,
        mirror: bool = ...,
        features: int = ...,
        degree: int = ...,
        step_degree: int = ...,
        powers: Literal["chain", "polysketch"] = ...,
        renormalise: bool = ...,
        m1: int = ...,
        m0: int = ...,
        ms: int = ...,
        random_state: int | numpy.random.RandomState | numpy.random.Generator | None = ...,
        n_jobs: int | None = ...) -> None: ...

class CNTKGradientFeatures(FeatureTransformer):
    def __init__(self, *,
        image: str = ...,
        depth: int = ...,
        filter: int = ...,
        padding: Literal["same", "valid"] = ...,
        pooling: Literal["gap", "none"] = ...,
        train_first_layer: bool = ...,
        mirror: bool = ...,
        features: int = ...,
        random_state: int | numpy.random.RandomState | numpy.random.Generator | None = ...,
        n_jobs: int | None = ...) -> None: ...

class Linear(FeatureTransformer):
    def __init__(self, *,
        features: int = ...,
        random_state: int | numpy.random.RandomState | numpy.random.Generator | None = ...,
        n_jobs: int | None = ...) -> None: ...

class Nystrom(FeatureTransformer):
    def __init__(self, *,
        kernel: Literal["gaussian", "laplacian", "laplacian-l2", "cauchy", "matern32", "matern52", "linear", "arccos", "nngp", "ntk", "skeleton", "cntk"] = ...,
        features: int = ...,
        landmarks: Literal["uniform", "leverage", "centres"] = ...,
        bandwidth: float | Literal["auto"] = ...,
        order: int = ...,
        bias: float | Literal["auto"] = ...,
        depth: int = ...,
        activation: Literal["relu", "leaky-relu", "erf", "gelu", "sin", "exponential", "polynomial", "hermite"] = ...,
        slope: float = ...,
        coefficients: str = ...,
        skeleton: str = ...,
        image: str = ...,
        filter: int = ...,
        padding: Literal["same", "valid"] = ...,
        pooling: Literal["gap", "none"] = ...,
        train_first_layer: bool = ...,
        mirror: bool = ...,
        random_state: int | numpy.random.RandomState | numpy.random.Generator | None = ...,
        n_jobs: int | None = ...) -> None: ...

class TEFM(FeatureTransformer):
    def __init__(self, *,
        features: int = ...,
        base: str = ...,
        oversample: int = ...,
        variant: Literal["g", "s"] = ...,
        power: int = ...,
        kernel: str = ...,
        bandwidth: float | Literal["auto"] = ...,
        bias: float | Literal["auto"] = ...,
        depth: int = ...,
        base_options: str = ...,
        random_state: int | numpy.random.RandomState | numpy.random.Generator | None = ...,
        n_jobs: int | None = ...) -> None: ...

class SkeletonFeatures(FeatureTransformer):
    def __init__(self, *,
        features: int = ...,
        skeleton: str = ...,
        image: str = ...,
        real_form: Literal["phase", "pair"] = ...,
        sphere_form: Literal["pair", "coordinate"] = ...,
        deduplicate: bool = ...,
        hybrid: bool = ...,
        random_state: int | numpy.random.RandomState | numpy.random.Generator | None = ...,
        n_jobs: int | None = ...) -> None: ...

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

class KernelRidge(_Learner):
    def __init__(self, *,
        map: str | FeatureTransformer = ...,
        kernel: Literal["gaussian", "laplacian", "laplacian-l2", "cauchy", "matern32", "matern52", "ntk", "nngp", "linear", "arccos", "skeleton", "cntk"] | None = ...,
        bandwidth: float | Literal["auto"] | None = ...,
        features: int | Literal["auto"] | None = ...,
        form: Literal["pairs", "phase"] | None = ...,
        directions: Literal["orthogonal", "structured", "gaussian", "sphere", "gibbs"] | None = ...,
        oversample: int | None = ...,
        order: int | None = ...,
        gibbs_sweeps: int | None = ...,
        bias: float | Literal["auto"] | None = ...,
        depth: int | None = ...,
        sketch: Literal["tensorsrht", "tensorsketch", "none"] | None = ...,
        split: Literal["auto", "true", "false"] | None = ...,
        shared_directions: bool | None = ...,
        signs: bool | None = ...,
        m0: int | None = ...,
        ms: int | None = ...,
        degree: int | None = ...,
        activation: Literal["relu", "leaky-relu", "erf", "gelu", "sin", "exponential", "polynomial", "hermite"] | None = ...,
        slope: float | None = ...,
        coefficients: str | None = ...,
        step_degree: int | None = ...,
        powers: Literal["chain", "polysketch"] | None = ...,
        renormalise: bool | None = ...,
        m1: int | None = ...,
        image: str | None = ...,
        filter: int | None = ...,
        padding: Literal["same", "valid"] | None = ...,
        pooling: Literal["gap", "none"] | None = ...,
        train_first_layer: bool | None = ...,
        mirror: bool | None = ...,
        width: int | None = ...,
        landmarks: Literal["uniform", "leverage", "centres"] | None = ...,
        skeleton: str | None = ...,
        base: str | None = ...,
        variant: Literal["g", "s"] | None = ...,
        power: int | None = ...,
        base_options: str | None = ...,
        real_form: Literal["phase", "pair"] | None = ...,
        sphere_form: Literal["pair", "coordinate"] | None = ...,
        deduplicate: bool | None = ...,
        hybrid: bool | None = ...,
        scale: Literal["auto", "standard", "channel", "rms", "unit", "none"] = ...,
        clip: bool = ...,
        metric: Literal["auto", "none", "diagonal", "full"] = ...,
        solver: Literal["auto", "cholesky", "dual", "pcg", "newton", "sgd", "sparse"] = ...,
        loss: Literal["squared", "logistic", "squared-hinge"] = ...,
        lambda_: float | Literal["auto"] = ...,
        lambda_grid: str = ...,
        lambda_per_target: bool = ...,
        validation: Literal["folds", "gcv", "leave-one-out"] = ...,
        folds: int = ...,
        precision: Literal["single", "double"] = ...,
        variance: bool = ...,
        noise: Literal["leave-one-out", "likelihood"] = ...,
        intervals: Literal["none", "conformal"] = ...,
        calibration_part: float | Literal["auto"] = ...,
        checkpoint: str = ...,
        checkpoint_interval: float = ...,
        schedule: Literal["adagrad", "inverse", "constant"] = ...,
        learning_rate: float | Literal["auto"] = ...,
        epochs: int = ...,
        batch: int = ...,
        patience: int = ...,
        categorical: str | Sequence[str | int | float] | None = ...,
        decimal: str = ...,
        dates: Literal["auto", "dmy", "mdy"] = ...,
        missing: Literal["error", "mean", "drop", "indicator"] = ...,
        na: str | Sequence[str | int | float] | None = ...,
        max_levels: int = ...,
        crop: str = ...,
        per_image: bool = ...,
        zca: float = ...,
        patch: int = ...,
        patch_stride: int = ...,
        patch_components: int = ...,
        flip: bool = ...,
        shift: int = ...,
        brightness: float = ...,
        contrast: float = ...,
        saturation: float = ...,
        copies: int | None = ...,
        random_state: int | numpy.random.RandomState | numpy.random.Generator | None = ...,
        n_jobs: int | None = ...,
        memory_limit: int | str | None = ...,
        progress: bool | Callable[[str, int, int], None] = ...) -> None: ...
    def predict(self, X: Any, return_std: bool = ...) -> Any: ...
    def predict_interval(self, X: Any, level: float = ...) -> tuple[NDArray[numpy.float64], NDArray[numpy.float64]]: ...
    def partial_fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = ...) -> KernelRidge: ...

class KernelClassifier(_Learner):
    def __init__(self, *,
        map: str | FeatureTransformer = ...,
        kernel: Literal["gaussian", "laplacian", "laplacian-l2", "cauchy", "matern32", "matern52", "ntk", "nngp", "linear", "arccos", "skeleton", "cntk"] | None = ...,
        bandwidth: float | Literal["auto"] | None = ...,
        features: int | Literal["auto"] | None = ...,
        form: Literal["pairs", "phase"] | None = ...,
        directions: Literal["orthogonal", "structured", "gaussian", "sphere", "gibbs"] | None = ...,
        oversample: int | None = ...,
        order: int | None = ...,
        gibbs_sweeps: int | None = ...,
        bias: float | Literal["auto"] | None = ...,
        depth: int | None = ...,
        sketch: Literal["tensorsrht", "tensorsketch", "none"] | None = ...,
        split: Literal["auto", "true", "false"] | None = ...,
        shared_directions: bool | None = ...,
        signs: bool | None = ...,
        m0: int | None = ...,
        ms: int | None = ...,
        degree: int | None = ...,
        activation: Literal["relu", "leaky-relu", "erf", "gelu", "sin", "exponential", "polynomial", "hermite"] | None = ...,
        slope: float | None = ...,
        coefficients: str | None = ...,
        step_degree: int | None = ...,
        powers: Literal["chain", "polysketch"] | None = ...,
        renormalise: bool | None = ...,
        m1: int | None = ...,
        image: str | None = ...,
        filter: int | None = ...,
        padding: Literal["same", "valid"] | None = ...,
        pooling: Literal["gap", "none"] | None = ...,
        train_first_layer: bool | None = ...,
        mirror: bool | None = ...,
        width: int | None = ...,
        landmarks: Literal["uniform", "leverage", "centres"] | None = ...,
        skeleton: str | None = ...,
        base: str | None = ...,
        variant: Literal["g", "s"] | None = ...,
        power: int | None = ...,
        base_options: str | None = ...,
        real_form: Literal["phase", "pair"] | None = ...,
        sphere_form: Literal["pair", "coordinate"] | None = ...,
        deduplicate: bool | None = ...,
        hybrid: bool | None = ...,
        scale: Literal["auto", "standard", "channel", "rms", "unit", "none"] = ...,
        clip: bool = ...,
        metric: Literal["auto", "none", "diagonal", "full"] = ...,
        solver: Literal["auto", "cholesky", "dual", "pcg", "newton", "sgd", "sparse"] = ...,
        loss: Literal["squared", "logistic", "squared-hinge"] = ...,
        lambda_: float | Literal["auto"] = ...,
        lambda_grid: str = ...,
        lambda_per_target: bool = ...,
        validation: Literal["folds", "gcv", "leave-one-out"] = ...,
        folds: int = ...,
        class_weight: dict[Any, float] | Literal["balanced"] | None = ...,
        precision: Literal["single", "double"] = ...,
        variance: bool = ...,
        noise: Literal["leave-one-out", "likelihood"] = ...,
        intervals: Literal["none", "conformal"] = ...,
        calibration_part: float | Literal["auto"] = ...,
        checkpoint: str = ...,
        checkpoint_interval: float = ...,
        schedule: Literal["adagrad", "inverse", "constant"] = ...,
        learning_rate: float | Literal["auto"] = ...,
        epochs: int = ...,
        batch: int = ...,
        patience: int = ...,
        categorical: str | Sequence[str | int | float] | None = ...,
        decimal: str = ...,
        dates: Literal["auto", "dmy", "mdy"] = ...,
        missing: Literal["error", "mean", "drop", "indicator"] = ...,
        na: str | Sequence[str | int | float] | None = ...,
        max_levels: int = ...,
        crop: str = ...,
        per_image: bool = ...,
        zca: float = ...,
        patch: int = ...,
        patch_stride: int = ...,
        patch_components: int = ...,
        flip: bool = ...,
        shift: int = ...,
        brightness: float = ...,
        contrast: float = ...,
        saturation: float = ...,
        copies: int | None = ...,
        random_state: int | numpy.random.RandomState | numpy.random.Generator | None = ...,
        n_jobs: int | None = ...,
        memory_limit: int | str | None = ...,
        progress: bool | Callable[[str, int, int], None] = ...) -> None: ...
    classes_: NDArray[Any]
    def predict(self, X: Any) -> NDArray[Any]: ...
    def partial_fit(self, X: Any, y: Any, classes: ArrayLike | None = ..., sample_weight: ArrayLike | None = ...) -> KernelClassifier: ...
    def predict_proba(self, X: Any) -> NDArray[numpy.float64]: ...
    def predict_set(self, X: Any, level: float = ...) -> NDArray[numpy.bool_]: ...
    def decision_function(self, X: Any) -> NDArray[numpy.float64]: ...

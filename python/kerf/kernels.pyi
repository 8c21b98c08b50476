"""Made by python/make_stubs.py from the library's registries; do not edit."""
import os
from typing import Any, Callable, Literal, Sequence, TypeVar

import numpy
from numpy.typing import ArrayLike, NDArray

_Self = TypeVar("_Self")

def gram(kernel: str, X: Any, Y: Any = ..., *, precision: Literal["double", "single"] = ..., **options: Any) -> NDArray[Any]: ...

class Kernel:
    def __call__(self, X: Any, Y: Any = ..., eval_gradient: bool = ...) -> Any: ...
    def diag(self, X: Any) -> NDArray[numpy.float64]: ...
    def is_stationary(self) -> bool: ...
    def get_params(self, deep: bool = ...) -> dict[str, Any]: ...

def gaussian(X: Any, Y: Any = ..., *,
        bandwidth: float | Literal["auto"] = ..., precision: Literal["double", "single"] = ...) -> NDArray[Any]: ...

class Gaussian(Kernel):
    def __init__(self, *,
        bandwidth: float = ...,
        bandwidth_bounds: tuple[float, float] | Literal["fixed"] = ...) -> None: ...

def laplacian(X: Any, Y: Any = ..., *,
        bandwidth: float | Literal["auto"] = ..., precision: Literal["double", "single"] = ...) -> NDArray[Any]: ...

class Laplacian(Kernel):
    def __init__(self, *,
        bandwidth: float = ...,
        bandwidth_bounds: tuple[float, float] | Literal["fixed"] = ...) -> None: ...

def laplacian_l2(X: Any, Y: Any = ..., *,
        bandwidth: float | Literal["auto"] = ..., precision: Literal["double", "single"] = ...) -> NDArray[Any]: ...

class LaplacianL2(Kernel):
    def __init__(self, *,
        bandwidth: float = ...,
        bandwidth_bounds: tuple[float, float] | Literal["fixed"] = ...) -> None: ...

def cauchy(X: Any, Y: Any = ..., *,
        bandwidth: float | Literal["auto"] = ..., precision: Literal["double", "single"] = ...) -> NDArray[Any]: ...

class Cauchy(Kernel):
    def __init__(self, *,
        bandwidth: float = ...,
        bandwidth_bounds: tuple[float, float] | Literal["fixed"] = ...) -> None: ...

def matern32(X: Any, Y: Any = ..., *,
        bandwidth: float | Literal["auto"] = ..., precision: Literal["double", "single"] = ...) -> NDArray[Any]: ...

class Matern32(Kernel):
    def __init__(self, *,
        bandwidth: float = ...,
        bandwidth_bounds: tuple[float, float] | Literal["fixed"] = ...) -> None: ...

def matern52(X: Any, Y: Any = ..., *,
        bandwidth: float | Literal["auto"] = ..., precision: Literal["double", "single"] = ...) -> NDArray[Any]: ...

class Matern52(Kernel):
    def __init__(self, *,
        bandwidth: float = ...,
        bandwidth_bounds: tuple[float, float] | Literal["fixed"] = ...) -> None: ...

def linear(X: Any, Y: Any = ..., *, precision: Literal["double", "single"] = ...) -> NDArray[Any]: ...

class Linear(Kernel):
    def __init__(self) -> None: ...

def arccos(X: Any, Y: Any = ..., *,
        order: int = ...,
        bias: float | Literal["auto"] = ..., precision: Literal["double", "single"] = ...) -> NDArray[Any]: ...

class ArcCosine(Kernel):
    def __init__(self, *,
        order: int = ...,
        bias: float = ...,
        bias_bounds: tuple[float, float] | Literal["fixed"] = ...) -> None: ...

def nngp(X: Any, Y: Any = ..., *,
        depth: int = ...,
        bias: float | Literal["auto"] = ...,
        activation: Literal["relu", "leaky-relu", "erf", "gelu", "sin", "exponential", "polynomial", "hermite"] = ...,
        slope: float = ...,
        coefficients: str = ..., precision: Literal["double", "single"] = ...) -> NDArray[Any]: ...

class NNGP(Kernel):
    def __init__(self, *,
        depth: int = ...,
        bias: float = ...,
        bias_bounds: tuple[float, float] | Literal["fixed"] = ...,
        activation: Literal["relu", "leaky-relu", "erf", "gelu", "sin", "exponential", "polynomial", "hermite"] = ...,
        slope: float = ...,
        slope_bounds: tuple[float, float] | Literal["fixed"] = ...,
        coefficients: str = ...) -> None: ...

def ntk(X: Any, Y: Any = ..., *,
        depth: int = ...,
        bias: float | Literal["auto"] = ...,
        activation: Literal["relu", "leaky-relu", "erf", "gelu", "sin", "exponential", "polynomial", "hermite"] = ...,
        slope: float = ...,
        coefficients: str = ..., precision: Literal["double", "single"] = ...) -> NDArray[Any]: ...

class NTK(Kernel):
    def __init__(self, *,
        depth: int = ...,
        bias: float = ...,
        bias_bounds: tuple[float, float] | Literal["fixed"] = ...,
        activation: Literal["relu", "leaky-relu", "erf", "gelu", "sin", "exponential", "polynomial", "hermite"] = ...,
        slope: float = ...,
        slope_bounds: tuple[float, float] | Literal["fixed"] = ...,
        coefficients: str = ...) -> None: ...

def skeleton(X: Any, Y: Any = ..., *,
        skeleton: str = ...,
        image: str = ..., precision: Literal["double", "single"] = ...) -> NDArray[Any]: ...

class Skeleton(Kernel):
    def __init__(self, *,
        skeleton: str = ...,
        image: str = ...) -> None: ...

def cntk(X: Any, Y: Any = ..., *,
        image: str = ...,
        depth: int = ...,
        filter: int = ...,
        padding: Literal["same", "valid"] = ...,
        pooling: Literal["gap", "none"] = ...,
        train_first_layer: bool = ...,
        mirror: bool = ..., precision: Literal["double", "single"] = ...) -> NDArray[Any]: ...

class CNTK(Kernel):
    def __init__(self, *,
        image: str = ...,
        depth: int = ...,
        filter: int = ...,
        padding: Literal["same", "valid"] = ...,
        pooling: Literal["gap", "none"] = ...,
        train_first_layer: bool = ...,
        mirror: bool = ...) -> None: ...

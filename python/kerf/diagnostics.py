"""How close features are to the kernel they estimate, as learning sees it."""
from __future__ import annotations

import numpy as np

from . import _kerf
from ._base import is_sparse
from ._options import seed_of

__all__ = ["diagnose"]


def diagnose(map, X, *, lambda_=1e-4, sample=1000, random_state=1):
    """Compares Z Z' of a feature map with its exact kernel matrix K on (a sample of) the rows of X.

    ``epsilon`` is the least e with ``(1 - e)(K + n lambda I) <= Z Z' + n lambda I <= (1 + e)(K + n lambda I)``, n the rows of the sample: ridge regression on the
    features has at most about (1 + e) / (1 - e) times the risk of that with the kernel.

    Parameters
    ----------
    map : a transformer of kerf (fitted on X here)
    X : array, CSR matrix or frame
    lambda_ : ridge penalty, in the meaning it has everywhere
    sample : most rows to look at; three eigenvalue problems of that size are solved
    random_state : seed of the sample

    Returns
    -------
    dict with relative_frobenius, spectral_error, epsilon, condition_number, statistical_dimension, rows, features, lambda

    Examples
    --------
    >>> import kerf, numpy as np
    >>> X = np.random.default_rng(0).normal(size=(100, 3)).astype(np.float32)
    >>> few, many = (kerf.diagnose(kerf.RFF(features=m), X) for m in (64, 4096))
    >>> many["relative_frobenius"] < few["relative_frobenius"]
    True
    """
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    if n > sample:
        rows = np.sort(np.random.default_rng(seed_of(random_state)).choice(n, sample, replace=False))
        X = X.iloc[rows] if hasattr(X, "iloc") else X.tocsr()[rows] if is_sparse(X) else np.asarray(X)[rows]
    fitted = type(map)(**map.get_params(deep=False)).fit(X)
    Z = fitted.transform(X)
    Z = np.asarray(Z, dtype=np.float64)
    found = _kerf.compare_kernels(np.ascontiguousarray(fitted.exact_kernel(X)), np.ascontiguousarray(Z @ Z.T), len(Z) * lambda_)
    return {**found, "rows": Z.shape[0], "features": Z.shape[1], "lambda": lambda_}

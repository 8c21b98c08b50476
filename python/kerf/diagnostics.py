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
    features has at most ``risk_factor`` = 1 / (1 - e) times the risk bound of the kernel, plus ``risk_noise`` times the variance of the noise (infinite, hence no
    bound, if e >= 1).

    Parameters
    ----------
    map : a transformer of kerf (fitted on X here)
    X : array, CSR matrix or frame
    lambda_ : ridge penalty, in the meaning it has everywhere
    sample : most rows to look at; 24 bytes times its square are held
    random_state : seed of the sample

    Returns
    -------
    dict with relative_frobenius, spectral_error, epsilon, condition_number, statistical_dimension, entry_mean_error, entry_rms_error, entry_max_error,
    correlation, risk_factor, risk_noise, rows, features, lambda

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
    if not hasattr(map, "exact_kernel"):
        raise ValueError(f"map is a transformer of kerf, such as kerf.RFF(features=256), not {map!r}")
    fitted = type(map)(**map.get_params(deep=False)).fit(X)
    Z = np.ascontiguousarray(np.asarray(fitted.transform(X)), dtype=np.float32)
    found = _kerf.kernel_quality(np.ascontiguousarray(fitted.exact_kernel(X)), Z, len(Z) * lambda_)
    return {**found, "rows": Z.shape[0], "features": Z.shape[1], "lambda": lambda_}

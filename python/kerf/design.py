"""Optimal design: which rows to have labelled."""
from __future__ import annotations

import numpy as np

from . import _kerf
from ._options import seed_of
from ._progress import Progress

__all__ = ["select"]


def select(map, X, budget, *, lambda_="auto", method="greedy", random_state=1, progress=False):
    """The rows of X to have labelled first, for a model on the features of `map` to come.

    Greedy: each row is the one that lowers the sum over all rows of the model's posterior variance most,
    ``J(S) = -tr K_{:S} (K_SS + budget lambda I)^-1 K_{S:}`` with K = Z Z', at O(n m) a step.

    Parameters
    ----------
    map : a transformer of kerf (fitted on X here)
    X : array, CSR matrix or frame
    budget : int
        rows to choose
    lambda_ : float or 'auto'
        ridge penalty of the model to come, in the meaning it has everywhere (that model has `budget` rows); 'auto': so that
        budget times lambda_ is a thousandth of the features' mean squared length
    method : {'greedy', 'random', 'kmeans++'}
        the last two for comparison
    random_state : seed of the last two
    progress : True shows a tqdm bar; a function is called with (stage, done, total)

    Returns
    -------
    array of int, in the order in which they were chosen

    Examples
    --------
    >>> import kerf, numpy as np
    >>> X = np.repeat(np.eye(3, dtype=np.float32), [50, 30, 20], axis=0)
    >>> rows = kerf.select(kerf.ArcCosineFeatures(features=256), X, 3)
    >>> sorted(int(X[row].argmax()) for row in rows)
    [0, 1, 2]
    """
    fitted = type(map)(**map.get_params(deep=False)).fit(X)
    Z = np.ascontiguousarray(np.asarray(fitted.transform(X)), dtype=np.float32)
    with Progress(progress) as callback:
        return np.array(_kerf.select(Z, int(budget), method, None if lambda_ == "auto" else float(lambda_), seed_of(random_state), callback))

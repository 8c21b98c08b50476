"""Pictures (matplotlib, which is optional): each function draws into `ax` (default: a new one) and gives the axes back.

    error against features     kerf.plot.kernel_error([kerf.RFF(), kerf.ArcCosineFeatures()], X)
    spectra                    kerf.plot.spectrum(kerf.RFF(), X)
    learning curves            kerf.plot.learning_curve(kerf.KernelRidge(), X, y)
    the choice of lambda       kerf.plot.lambda_path(model)
    calibration                kerf.plot.calibration(y, probabilities)
    co-occurrence maps         kerf.plot.cooccurrence(classes_true, classes_predicted)
"""
from __future__ import annotations

import copy

import matplotlib.pyplot as plt
import numpy as np

__all__ = ["kernel_error", "spectrum", "learning_curve", "lambda_path", "calibration", "cooccurrence"]


def _axes(ax, xlabel, ylabel):
    ax = plt.subplots()[1] if ax is None else ax
    ax.set_xlabel(xlabel)
    ax.set_ylabel(ylabel)
    return ax


def _with(estimator, **params):
    """An unfitted copy with other parameters."""
    return type(estimator)(**{**estimator.get_params(deep=False), **params})


def kernel_error(maps, X, features=(64, 256, 1024, 4096), seeds=(1, 2, 3), ax=None):
    """Relative Frobenius error of Z Z' against the exact kernel of each map, for growing numbers of features (mean over seeds)."""
    maps = maps if isinstance(maps, (list, tuple)) else [maps]
    ax = _axes(ax, "features", "relative error of the kernel matrix")
    for map in maps:
        errors = []
        for m in features:
            of_seed = []
            for seed in seeds:
                fitted = _with(map, features=m, random_state=seed).fit(X)
                Z, K = fitted.transform(X).astype(np.float64), fitted.exact_kernel(X)
                of_seed.append(np.linalg.norm(Z @ Z.T - K) / np.linalg.norm(K))
            errors.append(np.mean(of_seed))
        ax.loglog(features, errors, "o-", label=type(map).__name__)
    ax.legend()
    return ax


def spectrum(map, X, ax=None):
    """Eigenvalues of the exact kernel matrix and of the features' Gram matrix, largest first."""
    fitted = copy.deepcopy(map).fit(X)
    Z = fitted.transform(X).astype(np.float64)
    ax = _axes(ax, "number", "eigenvalue")
    for K, style, label in ((fitted.exact_kernel(X), "-", "exact kernel"), (Z @ Z.T, "--", f"{Z.shape[1]:,} features")):
        values = np.maximum(np.linalg.eigvalsh(K)[::-1], 0)
        ax.loglog(np.arange(1, len(values) + 1), np.where(values > 1e-12 * values[0], values, np.nan), style, label=label)
    ax.legend()
    return ax


def learning_curve(model, X, y, fractions=(0.1, 0.2, 0.4, 0.7, 1.0), test=0.25, random_state=0, ax=None):
    """Score on rows left out (accuracy or R^2) against the number of training rows."""
    order = np.random.default_rng(random_state).permutation(len(y))
    held, rest = order[: int(test * len(y))], order[int(test * len(y)):]
    take = lambda A, rows: A.iloc[rows] if hasattr(A, "iloc") else A[rows]  # noqa: E731
    sizes = [max(2, int(f * len(rest))) for f in fractions]
    scores = [_with(model).fit(take(X, rest[:n]), take(y, rest[:n])).score(take(X, held), take(y, held)) for n in sizes]
    ax = _axes(ax, "training rows", "score on rows left out")
    ax.semilogx(sizes, scores, "o-", label=type(model).__name__)
    ax.legend()
    return ax


def lambda_path(model, ax=None):
    """The cross-validation error of every lambda that a fit tried."""
    if not model.report_ or not model.report_["path"]:
        raise ValueError("lambda was given, not chosen: there is no path")
    lambdas, errors = np.array(sorted(model.report_["path"])).T
    ax = _axes(ax, "lambda", "mean squared error, " + (model.report_["validation"] or "rows left out"))
    ax.loglog(lambdas, errors, "o-")
    ax.axvline(model.best_lambda_, linestyle=":", color="grey")
    return ax


def calibration(y, probabilities, bins=10, ax=None):
    """How often an event happens against the probability that was predicted for it (`y` true or false, one probability each)."""
    y, probabilities = np.asarray(y, float), np.asarray(probabilities, float)
    place = np.clip((probabilities * bins).astype(int), 0, bins - 1)
    used = [b for b in range(bins) if (place == b).any()]
    ax = _axes(ax, "predicted probability", "observed frequency")
    ax.plot([0, 1], [0, 1], ":", color="grey")
    ax.plot([probabilities[place == b].mean() for b in used], [y[place == b].mean() for b in used], "o-")
    return ax


def cooccurrence(rows, columns, ax=None):
    """How often each pair of labels occurs together: true against predicted classes, or any two label columns."""
    left, right = np.unique(np.asarray(rows)), np.unique(np.asarray(columns))
    counts = np.zeros((len(left), len(right)), dtype=int)
    np.add.at(counts, (np.searchsorted(left, rows), np.searchsorted(right, columns)), 1)
    ax = _axes(ax, "predicted", "true")
    ax.imshow(counts / np.maximum(counts.sum(axis=1, keepdims=True), 1), cmap="Blues", vmin=0, vmax=1)
    ax.set_xticks(range(len(right)), [str(v) for v in right])
    ax.set_yticks(range(len(left)), [str(v) for v in left])
    for i in range(len(left)):
        for j in range(len(right)):
            if counts[i, j]:
                ax.text(j, i, counts[i, j], ha="center", va="center", fontsize=8)
    return ax

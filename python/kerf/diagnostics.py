"""How close features are to the kernel they estimate, how many are needed, and which map to take.

The three are the program's `kerf diagnose`, `kerf plan` and `kerf compare`: the same numbers under the same names, and with ``report`` the same HTML page.
"""
from __future__ import annotations

import json
import math
import os

from . import _kerf
from ._base import warn_user
from ._columns import check_rows, image_text, open_table, plain_image
from ._options import python_name, seed_of, to_text
from ._progress import Progress
from .features import MAPS, FeatureTransformer, ignores_offsets
from .learn import KernelClassifier, KernelRidge

__all__ = ["diagnose", "plan", "compare"]


def _again(estimator):
    """The estimator as it was before any fit."""
    return type(estimator)(**estimator.get_params(deep=False))


def _given(map):
    """The options of a transformer as text, but for the number of features."""
    options = {o["name"]: to_text(getattr(map, python_name(o["name"]))) for o in MAPS[map._map_name]["options"]}
    return options, int(options.pop("features"))


def _texts(options):
    return {name.rstrip("_").replace("_", "-"): to_text(value) for name, value in options.items() if value is not None}


def _check_map(map):
    if not isinstance(map, FeatureTransformer):
        raise ValueError(f"map is a transformer of kerf, such as kerf.RFF(features=256), not {map!r}")


def _unbounded(found):
    """JSON has no infinity: a bound that is missing is infinite."""
    if isinstance(found, dict):
        return {name: math.inf if value is None and name in ("risk_factor", "condition_number") else _unbounded(value) for name, value in found.items()}
    return [_unbounded(value) for value in found] if isinstance(found, list) else found


def _told(found):
    """What the program prints as warnings."""
    for words in found.get("warnings", ()):
        warn_user(words)
    return found


def _path(report):
    return "" if report is None else os.fspath(report)


def _memory(limit):
    return 0 if limit is None else _kerf.parse_bytes(str(limit))


def diagnose(map, X, *, lambda_=1e-4, sample=1000, seeds=1, features=None, scale="none", random_state=None, report=None, memory_limit=None, progress=False):
    """Compares Z Z' of a feature map with its exact kernel matrix K on (a sample of) the rows of X.

    ``epsilon`` is the least e with ``(1 - e)(K + n lambda I) <= Z Z' + n lambda I <= (1 + e)(K + n lambda I)``, n the rows of the sample: ridge regression on the
    features has at most ``risk_factor`` = 1 / (1 - e) times the risk bound of the kernel, plus ``risk_noise`` times the variance of the noise (infinite, hence no
    bound, if e >= 1).

    Parameters
    ----------
    map : a transformer of kerf; its options are taken, and what is automatic is worked out from X
    X : array, CSR matrix or frame
    lambda_ : ridge penalty, in the meaning it has everywhere
    sample : most rows to look at; 24 bytes times its square are held
    seeds : maps to draw: numbers are means over them
    features : several numbers of features, or None: those of the map
    scale : how columns are scaled before, as in KernelRidge
    random_state : seed of the sample and of the first map, or None: the map's
    report : file for an HTML page, or None
    memory_limit : most memory that it may need, in bytes or as '8G'; None: what is available
    progress : True shows a tqdm bar; a function is called with (stage, done, total)

    Returns
    -------
    dict as `kerf diagnose --json` prints it: relative_frobenius, spectral_error, epsilon, condition_number, statistical_dimension, entry_mean_error,
    entry_rms_error, entry_max_error, correlation, risk_factor, risk_noise, sample, features, lambda, intervals, by_seed, sizes, spectrum, ...

    Examples
    --------
    >>> import kerf, numpy as np
    >>> X = np.random.default_rng(0).normal(size=(100, 3)).astype(np.float32)
    >>> few, many = kerf.diagnose(kerf.RFF(), X, features=[64, 4096])["sizes"]
    >>> many["relative_frobenius"] < few["relative_frobenius"]
    True
    """
    _check_map(map)
    options, own = _given(map)
    looker = _again(map)
    given, _ = check_rows(looker, X, image=options.get("image"))
    sizes = sorted({int(m) for m in features}) if features is not None else [own]
    seed = seed_of(map.random_state if random_state is None else random_state)
    texts = _texts({"lambda": lambda_, "sample": min(sample, 100000), "seeds": seeds, "scale": scale, "seed": seed})
    command = f"python: kerf.diagnose({' '.join(repr(map).split())}, X, lambda_={lambda_!r}, sample={sample}, seeds={seeds}, features={sizes}, scale={scale!r})"
    with Progress(progress) as callback:
        data = open_table(looker, given, given.table(), {"target": "none"}, scale=scale, centre=scale == "none" and ignores_offsets(map._map_name, options),
                          seed=seed, memory=_memory(memory_limit), progress=callback)
        if "image" in options:
            options["image"] = plain_image(options["image"])
        if looker._columns.image and options.get("image") == "auto":
            options["image"] = image_text(looker._columns.image)
        return _told(_unbounded(json.loads(_kerf.diagnose(data, map._map_name, options, sizes, texts, command, _path(report), _memory(memory_limit), callback))))


def _check_model(model):
    if not isinstance(model, (KernelRidge, KernelClassifier)):
        raise ValueError(f"model is kerf.KernelRidge(...) or kerf.KernelClassifier(...), not {model!r}")
    if any(model._image_options()):
        raise ValueError("plan and compare take images as they are: leave out steps and augmentation, or prepare the images before")


def plan(model, X, y, *, epsilon=0, kernel_error=0, validation_error=0, report=None, **options):
    """The smallest number of features that meets a target: measured, with what theory asks for beside it and what a fit costs.

    Give one target: the spectral ``epsilon`` at the model's lambda (default 1e-4), the relative error of the kernel matrix in the Frobenius norm
    (``kernel_error``), or an error on held-out rows (``validation_error``: the part that is wrong, or 1 - r2).

    Parameters
    ----------
    model : KernelRidge or KernelClassifier with the map to plan for; its `features` do not matter, it is not fitted
    X, y : rows and targets, as for its fit
    report : file for an HTML page, or None
    options : sample, seeds, most, delta, holdout: as `kerf plan --help` has them

    Returns
    -------
    dict as `kerf plan --json` prints it: features (None: out of reach), reason, extrapolated, measured, bounds, costs, ...

    Examples
    --------
    >>> import kerf, numpy as np
    >>> X = np.random.default_rng(0).normal(size=(200, 3)).astype(np.float32)
    >>> found = kerf.plan(kerf.KernelRidge(map="rff"), X, X[:, 0], kernel_error=0.2)
    >>> model = kerf.KernelRidge(map="rff", features=found["features"]).fit(X, X[:, 0])
    """
    _check_model(model)
    learner = _again(model)
    if learner._name_of_map() not in MAPS:
        raise ValueError(f"a plan is for a feature map, not for map {model.map!r}")
    given = learner._check(X, y)
    name, map_options = learner._map_and_options()
    map_options.pop("features", None)
    lambda_ = None if model.lambda_ == "auto" else model.lambda_
    texts = _texts({"epsilon": epsilon, "kernel_error": kernel_error, "validation_error": validation_error, "lambda": lambda_, "scale": model.scale,
                    "seed": learner.seed_, **options})
    shown = ", ".join(f"{n}={v!r}" for n, v in {"epsilon": epsilon, "kernel_error": kernel_error, "validation_error": validation_error, **options}.items() if v)
    fit = " ".join(repr(model).split())
    with Progress(model.progress) as callback:
        return _told(json.loads(_kerf.plan(learner._open(*given, callback), name, map_options, texts, f"{fit} with features={{}}", f"python: kerf.plan({fit}, X, y, {shown})",
                                           _path(report), learner._memory(), callback)))


def _spec(map):
    """(label, map, options) of a transformer or of words as the program takes them."""
    if isinstance(map, FeatureTransformer):
        return " ".join(repr(map).split()), map._map_name, _given(map)[0]
    if not isinstance(map, str):
        raise ValueError(f"a map is a name, as in 'arccos:directions=orthogonal', or a transformer of kerf, not {map!r}")
    (spec,) = _kerf.parse_specs(map)
    return spec


def compare(model, X, y, *, maps=("rff", "arccos", "ntk-rf"), features=(256, 1024, 4096), seeds=3, sample=500, holdout=0.2, kernel_lambda=1e-4, report=None):
    """Fits every map with every number of features and every seed, and says which to take.

    Parameters
    ----------
    model : KernelRidge or KernelClassifier: how to fit; its own map does not matter, it is not fitted
    X, y : rows and targets
    maps : names, with options after colons ('arccos:directions=orthogonal', 'auto', 'exact:kernel=ntk'), or transformers
    features : numbers of features
    seeds : fits of each, with other maps and other rows held out
    sample : rows for the error of the kernel; 0 leaves it out
    holdout : part of the rows to score on
    kernel_lambda : penalty at which epsilon and condition numbers are taken
    report : file for an HTML page, or None

    Returns
    -------
    dict as `kerf compare --json` prints it: results (error, accuracy, seconds, memory_bytes, pareto, ...) and recommendation

    Examples
    --------
    >>> import kerf, numpy as np
    >>> X = np.random.default_rng(0).normal(size=(200, 3)).astype(np.float32)
    >>> found = kerf.compare(kerf.KernelRidge(), X, np.sin(X[:, 0]), maps=["rff", "arccos"], features=[32, 128], seeds=2)
    >>> found["recommendation"]["map"] in ("rff", "arccos")
    True
    """
    _check_model(model)
    learner = _again(model)
    given = learner._check(X, y)
    texts = _texts({"seeds": seeds, "sample": sample, "holdout": holdout, "kernel_lambda": kernel_lambda})
    specs = [_spec(map) for map in maps]
    command = f"python: kerf.compare({' '.join(repr(model).split())}, X, y, maps={[label for label, _, _ in specs]}, features={list(features)}, seeds={seeds})"
    with Progress(model.progress) as callback:
        return _told(json.loads(_kerf.compare(learner._open(*given, callback), specs, sorted({int(m) for m in features}), texts, learner._fit_options(), command, _path(report),
                                              learner._memory(), callback)))

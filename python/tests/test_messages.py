"""What the library says, it says in Python here: options by their keywords, values as literals, no flag of the program."""
import re
import warnings

import numpy as np
import pytest

import kerf

RNG = np.random.default_rng(11)
X = RNG.normal(size=(120, 3))
Y = np.sin(X[:, 0]) + 0.1 * RNG.normal(size=120)
CLASSES = (Y > 0).astype(int)
ALIKE = np.ones((80, 2))


def ridge(**options):
    return lambda: kerf.KernelRidge(**{"map": "rff", "features": 16, **options}).fit(X, Y)


def transformer(kind, **options):
    return lambda: kind(**options).fit(X)


# What provokes it, and the words in which it names an option.
ERRORS = {
    "a number out of range": (ridge(folds=1), "folds must be between"),
    "a word for a number": (ridge(lambda_="small"), "lambda_ wants a number"),
    "odd features": (transformer(kerf.RFF, features=7), "features must be even .* form='phase'"),
    "an unknown choice": (transformer(kerf.RFF, form="pears"), "form 'pears' is none of"),
    "an option of another map": (ridge(depth=3), "no option depth; it has kernel, bandwidth, features"),
    "two ways to lambda": (ridge(lambda_=1, lambda_grid="1,10"), "lambda_ is given and lambda_grid"),
    "options of another solver": (ridge(solver="cholesky", learning_rate=0.1), "learning_rate, .* of solver='sgd'"),
    "noise without variance": (ridge(noise="likelihood"), "noise is that of variance=True"),
    "variance and many lambdas": (ridge(variance=True, lambda_per_target=True), "variance=True .* leave lambda_per_target=True out"),
    "a solver that cannot": (ridge(solver="dual", lambda_=0), "solver='dual' needs a positive lambda"),
    "a loss of classification": (ridge(loss="logistic"), "loss='logistic' is for classification"),
    "features auto, lambda fixed": (ridge(features="auto", lambda_=1), "features='auto' .* fixed lambda_"),
    "features of an exact kernel": (ridge(map="exact", kernel="gaussian"), "map='exact' has no features"),
    "exact with a solver": (ridge(map="exact", kernel="gaussian", features=None, solver="pcg"), "solver='pcg' is for feature maps: map='exact'"),
    "too little memory": (ridge(features=4096, memory_limit="1M"), "memory_limit"),
    "a singular system": (lambda: kerf.KernelRidge(map="rff", features=8, lambda_=0, solver="cholesky").fit(ALIKE, Y[:80]), "raise lambda_, or leave"),
    "no variances": (lambda: ridge()().predict(X, return_std=True), "variance=True"),
    "a power without its variant": (transformer(kerf.TEFM, features=16, power=2, variant="s"), "power=2 needs variant='g'"),
    "a base that learns": (transformer(kerf.TEFM, features=16, base="nystrom"), "base='nystrom' learns"),
    "coefficients of nothing": (transformer(kerf.NTKPolynomialFeatures, coefficients="0,x"), "coefficients"),
    "images of no shape": (lambda: kerf.KernelRidge(map="rff", features=16, scale="channel").fit(X, Y), "scale='channel' .* image='HxWxC'"),
    "a plan of no target": (lambda: kerf.plan(kerf.KernelRidge(map="rff"), X, Y), "epsilon, kernel_error or validation_error"),
    "a kernel without data": (lambda: kerf.kernels.gaussian(X, gamma=1), "gamma"),
}

WARNINGS = {
    "an option that cannot matter": (ridge(map="arccos", gibbs_sweeps=5), "gibbs_sweeps=5 would have no effect: it goes with directions='gibbs'"),
    "features that do not fit": (lambda: kerf.KernelRidge(kernel="gaussian", bandwidth=2, memory_limit="60M").fit(np.tile(X, (20, 1)), np.tile(Y, 20)),
                                 r"\(features or memory_limit sets another number\)"),
    "rows far outside": (lambda: ridge()().predict(1e6 * X), "fitted with clip=False extrapolates"),
}


def check(words, pattern):
    assert re.search(pattern, words), words
    assert not re.search(r"(^|[^-\w])--[a-z]", words), words
    assert words.isprintable(), words


@pytest.mark.parametrize("name", ERRORS)
def test_errors_name_keywords(name):
    provoke, pattern = ERRORS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises((ValueError, MemoryError, TypeError)) as caught:
            provoke()
    check(str(caught.value), pattern)


@pytest.mark.parametrize("name", WARNINGS)
def test_warnings_name_keywords(name):
    provoke, pattern = WARNINGS[name]
    with pytest.warns(UserWarning) as caught:
        provoke()
    check("; ".join(str(warning.message) for warning in caught), pattern)


def test_reports_and_documentation_name_keywords():
    report = ridge(solver="auto")().report_
    for words in [report["solver_reason"], report["validation"], *report["notes"], *report["warnings"]]:
        check(words, "")
    for estimator in [kerf.KernelRidge, kerf.KernelClassifier, *(getattr(kerf, name) for name, _ in kerf.maps().values())]:
        flags = re.findall(r"[^-\w`]--[a-z][\w-]*", estimator.__doc__)
        assert not flags, (estimator, flags)

"""partial_fit: the model of all rows, block by block."""
import pickle

import numpy as np
import pytest
from conftest import csv, log_loss

import kerf


@pytest.mark.parametrize("features", [40, 2000])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("lambda_", [1e-3, "auto"])
def test_partial_fit_makes_the_model_of_all_rows(features, sparse, lambda_, regression):
    X, y = regression
    if sparse:
        X = pytest.importorskip("scipy.sparse").csr_matrix(np.where(np.abs(X) < 0.5, 0, X))
    w = np.random.default_rng(2).uniform(0.5, 2, len(y))
    options = dict(map="rff", bandwidth=1.5, features=features, scale="none", precision="double", lambda_=lambda_)
    whole = kerf.KernelRidge(**options).fit(X, y, w)
    parts = kerf.KernelRidge(**options)
    for begin, end in [(0, 30), (30, 31), (31, 200), (200, 300)]:
        parts.partial_fit(X[begin:end], y[begin:end], sample_weight=w[begin:end])
        if end == 200:
            parts.predict(X)  # a look at the model on the way changes nothing
    if lambda_ != "auto":  # the two centre the features around other rows: 6e-8 a number, times the condition
        np.testing.assert_allclose(parts.predict(X), whole.predict(X), atol=6e-8 / lambda_)
    assert parts.best_lambda_ == pytest.approx(whole.best_lambda_, rel=1e-3)
    assert np.array_equal(pickle.loads(pickle.dumps(parts)).predict(X), parts.predict(X))
    with pytest.raises(AttributeError, match="fit all rows anew"):
        pickle.loads(pickle.dumps(parts)).partial_fit(X, y)


def test_partial_fit_of_classes():
    X, y = csv("iris_train.csv")
    parts = kerf.KernelClassifier(map="arccos", features=64, scale="none", bias=5.0)
    order = np.random.default_rng(0).permutation(len(y))
    for block in np.array_split(order, 4):
        parts.partial_fit(X[block], y[block], classes=np.unique(y))
    whole = kerf.KernelClassifier(map="arccos", features=64, scale="none", bias=5.0).fit(X[order], y[order])
    np.testing.assert_allclose(parts.decision_function(X), whole.decision_function(X), atol=1e-3)
    with pytest.raises(ValueError, match="none of the classes"):
        parts.partial_fit(X[:2], ["rose", "tulip"])
    with pytest.raises(ValueError, match="classes must be passed"):
        kerf.KernelClassifier().partial_fit(X, y)
    with pytest.raises(AttributeError, match="block by block"):
        kerf.KernelClassifier(map="arccos", class_weight="balanced").partial_fit(X, y, classes=np.unique(y))


def test_partial_fit_has_calibrated_probabilities():
    X, y = csv("digits_train.csv.gz")
    for lambda_ in ("auto", 1e-3):
        model = kerf.KernelClassifier(map="rff", features=128, lambda_=lambda_)
        for part in (slice(0, 300), slice(300, None)):
            model.partial_fit(X[part], y[part], classes=np.unique(y))
        loss, least = log_loss(model, *csv("digits_test.csv.gz"))
        assert least > 0 and loss < 0.5

"""The figures of a score, in Python and from the program, against scikit-learn's."""
import json

import numpy as np
import pytest

import kerf

metrics = pytest.importorskip("sklearn.metrics")


def rows(n=400, classes=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    noise = rng.normal(size=n)
    return X, np.digitize(X[:, 0] + 0.5 * noise, np.quantile(X[:, 0], np.linspace(0, 1, classes + 1)[1:-1]))


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("weighted", [False, True])
def test_classes_are_scored_as_scikit_learn_does(classes, weighted):
    X, y = rows(classes=classes)
    y = np.array(["b", "a", "10", "9"])[y]  # the library orders numbers before words
    weights = np.random.default_rng(1).integers(1, 4, len(y)).astype(float) if weighted else None
    model = kerf.KernelClassifier(map="rff", features=64).fit(X[:300], y[:300])
    found = model.evaluate(X, y, sample_weight=weights)
    guess, p = model.predict(X), model.predict_proba(X)
    assert found["accuracy"] == pytest.approx(metrics.accuracy_score(y, guess, sample_weight=weights))
    assert found["balanced_accuracy"] == pytest.approx(metrics.balanced_accuracy_score(y, guess, sample_weight=weights))
    assert found["log_loss"] == pytest.approx(metrics.log_loss(y, p, labels=model.classes_, sample_weight=weights))
    names = [one["class"] for one in found["by_class"]]
    for figures, name in zip(metrics.precision_recall_fscore_support(y, guess, labels=names, sample_weight=weights), ("precision", "recall", "f1", "rows")):
        np.testing.assert_allclose([one[name] for one in found["by_class"]], figures)
    assert found["constant"]["accuracy"] == pytest.approx(max(one["rows"] for one in found["by_class"]) / sum(one["rows"] for one in found["by_class"]))
    if classes == 2:
        second = np.array(y) == names[1]
        scores = model.decision_function(X) * (1 if model.classes_[1] == names[1] else -1)
        assert found["auc"] == pytest.approx(metrics.roc_auc_score(second, scores, sample_weight=weights))
        assert found["average_precision"] == pytest.approx(metrics.average_precision_score(second, scores, sample_weight=weights))
    assert 0 <= found["calibration"]["error"] < 0.2


def test_numbers_are_scored_as_scikit_learn_does():
    X, _ = rows()
    Y = np.column_stack([np.sin(X[:, 0]), X[:, 1] ** 2 + 1e6])
    model = kerf.KernelRidge(map="rff", features=128).fit(X[:300], Y[:300])
    found, predicted = model.evaluate(X, Y), model.predict(X)
    assert found["r2"] == pytest.approx(metrics.r2_score(Y, predicted))
    for t, one in enumerate(found["targets"]):
        assert one["mae"] == pytest.approx(metrics.mean_absolute_error(Y[:, t], predicted[:, t]))
        assert one["median_error"] == pytest.approx(metrics.median_absolute_error(Y[:, t], predicted[:, t]))
        assert one["r2"] == pytest.approx(metrics.r2_score(Y[:, t], predicted[:, t]))
        assert one["constant"]["mae"] == pytest.approx(np.abs(Y[:, t] - np.median(Y[:, t])).mean())
        assert one["constant"]["rmse"] == pytest.approx(Y[:, t].std())


def test_the_program_has_the_same_figures(program, tmp_path):
    X, y = rows()
    np.savetxt(tmp_path / "t.csv", np.column_stack([X, y]), delimiter=",")
    program("fit", "t.csv", "--task", "classification", "--map", "rff", "--features", 64, "-o", "m.kerf", cwd=tmp_path)
    program("score", "m.kerf", "t.csv", "--json", "-q", cwd=tmp_path)
    model = kerf.load(tmp_path / "m.kerf")
    here = model.evaluate(X, y, worst=5)
    there = json.loads(program("score", "m.kerf", "t.csv", "--json", cwd=tmp_path))
    assert here == there

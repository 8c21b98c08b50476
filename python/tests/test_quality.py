"""A fit says how good it is beside a constant, and warns when it is no better or its data cannot be learned from."""
import warnings

import numpy as np
import pytest

import kerf


@pytest.fixture
def data():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(300, 2))
    return x, x[:, 0] + np.sin(x[:, 1]) + 0.3 * rng.normal(size=300), rng.normal(size=300)


def test_report_has_accuracy_or_r2_beside_a_constant(data, tmp_path):
    x, y, _ = data
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        number = kerf.KernelRidge().fit(x, y)
        label = kerf.KernelClassifier(map="rff", features=64).fit(x, y > 0.2)
    quality = number.report_["quality"]
    assert quality["metric"] == "r2" and quality["constant"] == 0 and quality["left_out"] and 0.8 < quality["value"] < 1
    quality = label.report_["quality"]
    assert quality["metric"] == "accuracy" and 0.5 <= quality["constant"] < 0.7 and quality["value"] > 0.75
    label.save(tmp_path / "m.kerf")
    assert kerf.load(tmp_path / "m.kerf").summary_["quality"] == quality
    blocks = kerf.KernelRidge(map="rff", features=32)
    for part in range(0, 300, 100):
        blocks.partial_fit(x[part:part + 100], y[part:part + 100])
    assert blocks.report_["quality"]["value"] > 0.8


def test_summary_names_columns_as_the_program_does():
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(3)
    frame = pandas.DataFrame({"size": rng.normal(size=60), "colour": np.array(["red", "blue"])[np.arange(60) % 2]})
    model = kerf.KernelRidge(map="rff", features=16).fit(frame, frame["size"] * 2)
    assert model.summary_["inputs"] == [{"name": "size", "kind": "numbers"}, {"name": "colour", "kind": "words", "levels": ["blue", "red"]}]
    assert model.summary_["dropped"] == [] and model.summary_["missing"] == "error" and len(model.summary_["target"]) == 1


def test_figures_that_are_not_defined_are_none():
    rng = np.random.default_rng(4)
    x = rng.normal(size=(80, 2))
    label = kerf.KernelClassifier(map="rff", features=16).fit(x, x[:, 0] > 0)
    assert label.evaluate(x[:5], np.zeros(5, bool))["auc"] is None
    number = kerf.KernelRidge(map="rff", features=16).fit(x, x[:, 0])
    assert number.evaluate(x[:5], np.ones(5))["r2"] is None


def test_no_better_than_a_constant_warns(data):
    x, y, noise = data
    with pytest.warns(UserWarning, match="(no|hardly) better than a constant: r2"):
        kerf.KernelRidge().fit(x, noise)
    with pytest.warns(UserWarning, match="(no|hardly) better than a constant: accuracy"):
        kerf.KernelClassifier().fit(x, noise > 0.3)
    with pytest.warns(UserWarning, match="(no|hardly) better than a constant"):
        model = kerf.KernelRidge(map="rff", features=32).partial_fit(x, noise)
        model.predict(x)
    with pytest.warns(UserWarning, match="the target is the same in every row"):
        kerf.KernelRidge().fit(x, np.full(300, 2.5))
    x[17, 1] = 1e12
    with pytest.warns(UserWarning, match=r"column 1: a few values such as 1e\+12 in row 17"):
        kerf.KernelRidge().fit(x, y)


def test_unknown_words_are_counted_by_column():
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(2)
    frame = pandas.DataFrame({"colour": rng.choice(["red", "blue"], size=60), "size": rng.normal(size=60)})
    model = kerf.KernelRidge(map="rff", features=32).fit(frame, (frame["colour"] == "red") + frame["size"])
    frame.loc[[3, 5], "colour"] = "purple"
    with pytest.warns(UserWarning, match="2 cells of 'colour' hold a word .*the first: 'purple'"):
        model.predict(frame)


def test_wide_sparse_rows_take_a_linear_model():
    sparse = pytest.importorskip("scipy.sparse")
    rng = np.random.default_rng(3)
    rows, columns, entries = 1200, 12000, 30
    frequency = (1 + np.arange(columns)) ** -0.9
    where = rng.choice(columns, size=(rows, entries), p=frequency / frequency.sum())
    x = sparse.csr_matrix((np.ones(rows * entries), (np.repeat(np.arange(rows), entries), where.ravel())), shape=(rows, columns))
    y = x @ rng.normal(size=columns) > 0
    model = kerf.KernelClassifier().fit(x[:800], y[:800])
    assert model.options_["map"] == "linear" and model.report_["scale"] in ("unit", "none")
    assert model.score(x[800:], y[800:]) > max(y[800:].mean(), 1 - y[800:].mean()) + 0.05
    z = kerf.Linear().fit_transform(x[:5])
    assert np.array_equal(z, x[:5].toarray())


def lines_of_warnings(caught):
    """Which of them do not name this file."""
    assert caught
    return [(str(warning.message), warning.filename) for warning in caught if warning.filename != __file__]


def test_warnings_name_the_line_of_the_caller(data):
    """Of regressors and classifiers, fits and predictions, maps and plans alike, with scikit-learn's wrappers between or not."""
    x, y, noise = data
    far = x.copy()
    far[0, 0] = 1e6
    model = kerf.KernelClassifier(map="rff", features=32).fit(x, y > 0.2)
    calls = [lambda: kerf.KernelRidge(map="rff", features=32).fit(x, noise), lambda: kerf.KernelClassifier(map="rff", features=32).fit(x, noise > 0.3),
             lambda: kerf.KernelRidge(map="rff", features=32).partial_fit(x, noise).predict(x), lambda: model.predict(far), lambda: model.predict_proba(far),
             lambda: kerf.ArcCosineFeatures(features=32).fit_transform(x + 1e9)]
    for call in calls:
        with pytest.warns(UserWarning) as caught:
            call()
        assert not lines_of_warnings(caught)


@pytest.mark.parametrize("kind", ["array", "unsigned", "frame", "objects"])
def test_whole_numbers_that_double_precision_merges_are_named(kind):
    ids = np.array([2**53 + i % 2 for i in range(60)], dtype=np.uint64 if kind == "unsigned" else np.int64)
    small = np.arange(60) % 7
    X = np.column_stack([small.astype(ids.dtype), ids])
    name = "column 1"
    if kind == "frame":
        pandas = pytest.importorskip("pandas")
        X, name = pandas.DataFrame({"a": small, "id": ids}), "'id'"
    elif kind == "objects":
        X = X.astype(object)
    with pytest.warns(UserWarning, match=f"{name} has 9007199254740992 and 9007199254740993, which are one number in double precision"):
        kerf.KernelRidge(map="rff", features=16).fit(X, small.astype(float))

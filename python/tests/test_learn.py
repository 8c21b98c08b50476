"""KernelRidge and KernelClassifier against the formulas, the program and themselves."""
import pickle
import warnings

import numpy as np
import pytest
from conftest import csv, log_loss

import kerf


def test_ridge_is_the_minimiser_of_its_formula(regression):
    X, y = regression
    w = np.random.default_rng(1).uniform(0.5, 2, len(y))
    for features in (64, 1024):  # normal equations; the dual
        model = kerf.KernelRidge(map="rff", bandwidth=1.5, features=features, lambda_=1e-3, scale="none", precision="double").fit(X, y, w)
        Z = model.feature_map(X).astype(np.float64)
        n, mean, mean_y = w.sum(), np.average(Z, axis=0, weights=w), np.average(y, weights=w)
        A = (Z - mean).T @ ((Z - mean) * w[:, None]) + n * 1e-3 * np.eye(features)
        coef = np.linalg.solve(A, (Z - mean).T @ (w * (y - mean_y)))
        # |z| = 1 is rounded to 6e-8 when it is centred, and the condition number is at most 1/lambda.
        np.testing.assert_allclose(model.predict(X), Z @ coef + mean_y - mean @ coef, atol=6e-8 / 1e-3)
        np.testing.assert_allclose(model.predict(X), Z @ model.feature_weights_ + model.intercept_, atol=1e-9)
        assert model.best_lambda_ == 1e-3 and model.cv_error_ is None


def test_chooses_lambda_by_itself(regression):
    X, y = regression
    model = kerf.KernelRidge(map="arccos", features=100).fit(X[:200], y[:200])
    assert model.score(X[200:], y[200:]) > 0.8
    assert model.report_["solver"] == "cholesky" and len(model.report_["path"]) > 3
    assert model.cv_error_ == min(error for _, error in model.report_["path"])
    assert kerf.KernelRidge(map="arccos", features=1000).fit(X, y).report_["solver"] == "dual"


def test_several_targets(regression):
    X, y = regression
    both = np.column_stack([y, X[:, 0] ** 2])
    model = kerf.KernelRidge(map="arccos", features=512, lambda_=1e-6).fit(X, both)
    assert model.predict(X).shape == both.shape and model.score(X, both) > 0.9
    np.testing.assert_allclose(model.predict(X)[:, 0], kerf.KernelRidge(map="arccos", features=512, lambda_=1e-6).fit(X, y).predict(X), atol=1e-8)


def test_a_transformer_stands_for_a_map_and_its_options(regression):
    X, y = regression
    named = kerf.KernelRidge(map="rff", kernel="laplacian", bandwidth=4.0, features=256).fit(X, y)
    given = kerf.KernelRidge(map=kerf.RFF(kernel="laplacian", bandwidth=4.0, features=256)).fit(X, y)
    assert np.array_equal(named.predict(X), given.predict(X))
    assert named.options_ == given.options_


def test_automatic_and_exact_maps(regression):
    X, y = regression
    chosen = kerf.KernelRidge().fit(X[:200], y[:200])  # map auto
    assert chosen.options_["map"] == "exact" and chosen.score(X[200:], y[200:]) > 0.5  # few rows: the kernel itself
    assert kerf.KernelRidge(features=64).fit(X[:200], y[:200]).options_["map"] in kerf.maps()
    assert len(chosen.report_["map_choice"]["tried"]) > 5
    exact = kerf.KernelRidge(map="exact", kernel="gaussian", bandwidth=1.5, lambda_=1e-3, scale="none").fit(X, y)
    K = np.exp(-((X[:, None] - X[None]) ** 2).sum(-1) / (2 * 1.5**2))
    centre = np.eye(300) - 1 / 300
    dual = np.linalg.solve(centre @ K @ centre + 300 * 1e-3 * np.eye(300), y - y.mean())
    np.testing.assert_allclose(exact.predict(X), y.mean() + (K - K.mean(axis=0)) @ dual, atol=1e-4)
    assert exact.options_ == {"map": "exact", "kernel": "gaussian", "bandwidth": 1.5}
    assert np.array_equal(pickle.loads(pickle.dumps(exact)).predict(X), exact.predict(X))
    parts = kerf.KernelRidge(features=64).partial_fit(X[:150], y[:150]).partial_fit(X[150:], y[150:])  # the first block chooses
    assert parts.options_["map"] in kerf.maps()
    with pytest.raises(AttributeError, match="needs all rows at once"):
        kerf.KernelRidge(map="exact", kernel="ntk").partial_fit(X, y)


def test_standard_deviations(regression):
    X, y = regression
    y = y + np.random.default_rng(9).normal(scale=0.3, size=len(y))
    model = kerf.KernelRidge(map="rff", bandwidth=1.5, features=64, lambda_=1e-3, scale="none", precision="double", variance=True, noise="likelihood").fit(X, y)
    mean, deviation = model.predict(X, return_std=True)
    assert np.array_equal(mean, model.predict(X)) and deviation.shape == mean.shape
    Z = model.feature_map(X).astype(np.float64)
    Zc, yc, n = Z - Z.mean(axis=0), y - y.mean(), len(y)
    A = Zc.T @ Zc + n * 1e-3 * np.eye(64)
    noise = (yc @ yc - yc @ Zc @ np.linalg.solve(A, Zc.T @ yc)) / (n - 1)  # fit_variance.h
    expected = noise * (1 + 1 / n + np.einsum("ij,ji->i", Zc, np.linalg.solve(A, Zc.T)))
    np.testing.assert_allclose(deviation, np.sqrt(expected), rtol=6e-8 / 1e-3)  # rounding of z times the condition
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.predict(X, return_std=True)[1], deviation)
    left_out = model.set_params(noise="leave-one-out").fit(X, y).predict(X, return_std=True)[1]
    share = expected / noise - 1
    noise = np.mean((yc - Zc @ np.linalg.solve(A, Zc.T @ yc)) ** 2 / (1 - share))
    np.testing.assert_allclose(left_out, np.sqrt(noise * (1 + share)), rtol=6e-8 / 1e-3)
    weighted = model.fit(X, y, sample_weight=np.full(n, 0.01)).predict(X, return_std=True)[1]
    np.testing.assert_allclose(weighted, left_out, rtol=6e-8 / 1e-3)  # the size of all weights does not matter
    with pytest.raises(ValueError, match="without variances"):
        kerf.KernelRidge(map="rff", features=64).fit(X, y).predict(X, return_std=True)
    with pytest.raises(AttributeError, match="block by block"):
        kerf.KernelRidge(map="rff", features=64, variance=True).partial_fit(X, y)


def test_wrong_parameters(regression):
    X, y = regression
    for wrong, message in [({"map": "rfff"}, "did you mean 'rff'"), ({"map": "rff", "depth": 3}, "no option depth"), ({"map": 3}, "map is the name"),
                           ({"scale": "standart"}, "did you mean 'standard'"), ({"lambda_": -1}, "between"), ({"progress": "yes"}, "progress is"),
                           ({"memory_limit": "much"}, "not a size")]:
        with pytest.raises(ValueError, match=message):
            kerf.KernelRidge(**wrong).fit(X, y)
    with pytest.raises(MemoryError, match="1.0 MB is the limit"):
        kerf.KernelRidge(memory_limit="1M").fit(X, y)


def test_weights_of_classes_and_rows():
    X, y = csv("breast_cancer_train.csv")
    labels = np.unique(y)
    fixed = dict(features=128, lambda_=1e-3, random_state=4)
    counts = {c: (y == c).sum() for c in labels}
    balanced = kerf.KernelClassifier(map="arccos", class_weight="balanced", **fixed).fit(X, y)
    by_hand = kerf.KernelClassifier(map="arccos", class_weight={c: len(y) / (2 * counts[c]) for c in labels}, **fixed).fit(X, y)
    by_row = kerf.KernelClassifier(map="arccos", **fixed).fit(X, y, sample_weight=[len(y) / (2 * counts[c]) for c in y])
    np.testing.assert_allclose(balanced.decision_function(X), by_hand.decision_function(X), atol=1e-6)
    assert np.array_equal(by_hand.decision_function(X), by_row.decision_function(X))
    with pytest.raises(ValueError):
        kerf.KernelClassifier().fit(X, y, sample_weight=np.ones(3))


def test_columns_far_from_zero_lose_no_digits(regression):
    X, y = regression
    there = kerf.KernelRidge(map="arccos", features=256, lambda_=1e-6).fit(X + 1e7, y)
    here = kerf.KernelRidge(map="arccos", features=256, lambda_=1e-6).fit(X, y)
    assert abs(there.score(X + 1e7, y) - here.score(X, y)) < 1e-3


def test_frames_with_categories(program, tmp_path):
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    colour = rng.choice(["red", "green", "blue"], 200)
    frame = pd.DataFrame({"size": rng.normal(size=200), "colour": pd.Categorical(colour), "shape": rng.choice(["round", "flat"], 200), "old": rng.random(200) < 0.5})
    y = pd.Series(frame["size"] * (colour == "red") + (frame["shape"] == "flat"), name="price")
    model = kerf.KernelRidge(map="arccos", features=300).fit(frame, y)
    assert model.score(frame, y) > 0.95 and model.n_features_in_ == 4
    assert list(model.feature_names_in_) == list(frame.columns)
    model.save(tmp_path / "m.kerf")
    loaded = kerf.load(tmp_path / "m.kerf")
    assert np.array_equal(loaded.predict(frame), model.predict(frame))
    frame.assign(old=frame["old"].astype(int), price=y).to_csv(tmp_path / "rows.csv", index=False)
    program("predict", "m.kerf", "rows.csv", "-o", "p.txt", cwd=tmp_path)
    np.testing.assert_allclose(np.loadtxt(tmp_path / "p.txt"), model.predict(frame), atol=1e-5)
    strange = frame.assign(colour="violet")
    with pytest.warns(UserWarning, match="200 cells"):
        model.predict(strange)
    with pytest.raises(ValueError, match="colour"):
        model.predict(frame.assign(colour=[None, *colour[1:]]))
    with pytest.raises(ValueError, match="levels"):
        kerf.KernelRidge().fit(pd.DataFrame({"id": [f"x{i}" for i in range(300)], "v": rng.normal(size=300)}), rng.normal(size=300))


def test_images(program, tmp_path):
    X, y = csv("digits_train.csv.gz")
    images = X.reshape(-1, 8, 8)
    model = kerf.KernelClassifier(map="arccos", features=256, image="8x8x1").fit(images[:1000], y[:1000])
    assert model.report_["scale"] == "unit" and model.score(images[1000:], y[1000:]) > 0.9
    assert np.array_equal(model.predict(X[1000:]), model.predict(images[1000:]))
    model.save(tmp_path / "m.kerf")
    assert np.array_equal(kerf.load(tmp_path / "m.kerf").predict(images).astype(str), model.predict(images))


@pytest.mark.parametrize("options", [{"loss": "squared"}, {"loss": "logistic"}, {"loss": "squared", "lambda_": 1e-3}, {"map": "exact", "kernel": "ntk"}])
def test_probabilities_are_those_of_the_classes(options):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(1200, 2))
    y = (rng.uniform(size=1200) < 1 / (1 + np.exp(-3 * X[:, 0]))).astype(int)
    options = {"map": "rff", "features": 64, **options} if "map" not in options else options
    p = kerf.KernelClassifier(**options).fit(X[:900], y[:900]).predict_proba(X[900:])
    assert p.shape == (300, 2) and np.allclose(p.sum(axis=1), 1) and p.min() >= 0
    truth = 1 / (1 + np.exp(-3 * X[900:, 0]))
    assert np.abs(p[:, 1] - truth).mean() < 0.1


def test_select_takes_the_rows_that_lower_the_variance_most():
    X = np.random.default_rng(5).normal(size=(120, 4)).astype(np.float32)
    greedy = kerf.select(kerf.ArcCosineFeatures(features=128, random_state=1), X, 10)
    assert len(set(greedy)) == 10
    for method in ("random", "kmeans++"):
        assert len(set(kerf.select(kerf.ArcCosineFeatures(features=128), X, 10, method=method))) == 10
    with pytest.raises(ValueError, match="greedy, random or kmeans"):
        kerf.select(kerf.ArcCosineFeatures(features=128), X, 10, method="best")
    # The oracle: the row that lowers J most, evaluated for every candidate.
    Z = kerf.ArcCosineFeatures(features=128, random_state=1).fit(X).transform(X).astype(float)
    K, chosen = Z @ Z.T, []
    c = 1e-3 * np.trace(K) / len(K)  # the default
    for _ in range(3):
        def objective(j):
            S = chosen + [j]
            return -np.trace(K[:, S] @ np.linalg.solve(K[np.ix_(S, S)] + c * np.eye(len(S)), K[S]))
        chosen.append(min((j for j in range(len(X)) if j not in chosen), key=objective))
    assert list(greedy[:3]) == chosen


def test_select_does_not_take_copies_and_lambda_is_that_of_the_rows_chosen():
    # 40 rows five times: gains in single precision took 19 of the 40.
    X = np.repeat(np.random.default_rng(7).normal(size=(40, 3)), 5, axis=0).astype(np.float32)
    map = kerf.ArcCosineFeatures(features=300, random_state=1)
    rows = kerf.select(map, X, 40, lambda_=1e-6)
    assert len({int(row) // 5 for row in rows}) == 40
    # K_SS + budget lambda I: twice the budget at half the lambda begins with the same rows.
    assert list(kerf.select(map, X, 20, lambda_=1e-2)) == list(kerf.select(map, X, 40, lambda_=5e-3)[:20])
    assert list(kerf.select(map, X, 10)) == list(kerf.select(map, X, 40)[:10])


@pytest.mark.parametrize("options", [dict(map="rff", features=128), dict(map="rff", features=2048), dict(map="rff", features=128, solver="pcg"),
                                     dict(map="nystrom", features=64), dict(map="tefm", features=64), dict(map="exact", kernel="gaussian"),
                                     dict(map="rff", features=128, loss="logistic")], ids=str)
def test_a_given_lambda_does_not_ruin_probabilities(options):
    train, test = csv("digits_train.csv.gz"), csv("digits_test.csv.gz")
    chosen = kerf.KernelClassifier(**options).fit(*train)
    given = kerf.KernelClassifier(lambda_=chosen.best_lambda_, **options).fit(*train)
    (loss, _), (same, least) = log_loss(chosen, *test), log_loss(given, *test)
    assert least > 0 and same < 1.15 * loss  # nystrom solves another way with a given lambda


def test_options_beside_a_transformer_are_refused():
    X, y = np.random.default_rng(0).normal(size=(30, 3)), np.arange(30.0)
    with pytest.raises(ValueError, match="features is given twice"):
        kerf.KernelRidge(map=kerf.RFF(features=32), features=64).fit(X, y)
    with pytest.raises(ValueError, match="weight"):
        kerf.KernelRidge(map="rff", features=16).fit(X, y, sample_weight=-np.ones(30))
    with pytest.raises(ValueError, match="transformer of kerf"):
        kerf.diagnose("rff", X)


def test_features_asked_for_are_made():
    """The exact kernel took the place of 64 features in silence."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(200, 3)).astype(np.float32)
    model = kerf.KernelRidge(features=64, random_state=0).fit(X, X[:, 0])
    assert model.options_["map"] != "exact" and model.feature_map(X).shape == (200, 64)


def test_a_memory_limit_leaves_fewer_features_and_says_so():
    """It became stochastic gradients in silence."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(2500, 3)).astype(np.float32)
    with pytest.warns(UserWarning, match="features instead of 4096"):
        model = kerf.KernelRidge(kernel="gaussian", bandwidth=2, memory_limit="60M", random_state=0).fit(X, X[:, 0])
    assert model.report_["solver"] != "sgd" and model.feature_map(X).shape[1] < 4096
    with pytest.raises(MemoryError, match="features=[0-9]+ or fewer"):
        kerf.KernelRidge(map="rff", features=4096, memory_limit="60M").fit(X, X[:, 0])


@pytest.mark.parametrize("scale", ["auto", "standard", "rms", "unit", "none"])
@pytest.mark.parametrize("offset", [0, 5, 1e6])
def test_dense_sparse_and_frame_rows_are_predicted_alike(scale, offset):
    """Fitted to dense rows with zeros: the mean is taken off sparse rows and their zeros too."""
    sparse, pandas = pytest.importorskip("scipy.sparse"), pytest.importorskip("pandas")
    draw = np.random.default_rng(3)
    X = np.where(draw.random((200, 4)) < 0.5, 0, draw.normal(size=(200, 4)) + 3)
    X[:, 0] += offset
    y = np.sin(X[:, 1]) + X[:, 2]
    model = kerf.KernelRidge(map="arccos", features=64, lambda_=1e-3, scale=scale).fit(X, y)
    dense = model.predict(X)
    tolerance = 1e-4 * np.abs(dense).max()
    np.testing.assert_allclose(model.predict(sparse.csr_matrix(X)), dense, atol=tolerance)
    if offset < 1e6:
        frame = kerf.KernelRidge(map="arccos", features=64, lambda_=1e-3, scale=scale).fit(pandas.DataFrame(X), y)
        np.testing.assert_allclose(frame.predict(pandas.DataFrame(X)), dense, atol=tolerance)


def test_sparse_rows_are_no_table_with_categories():
    sparse, pandas = pytest.importorskip("scipy.sparse"), pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": np.arange(40.0), "b": ["x", "y"] * 20})
    model = kerf.KernelRidge(map="rff", features=16).fit(frame, np.arange(40.0))
    with pytest.raises(ValueError, match="categories"):
        model.predict(sparse.csr_matrix(np.ones((3, 2))))


def test_a_row_far_outside_is_predicted_near_the_targets(regression):
    X, y = regression
    far = X[:5].copy()
    far[2, 0] = 1182 * X[:, 0].std()
    for map in ("auto", "ntk-rf"):
        options = {} if map == "auto" else {"map": map, "features": 256}
        model = kerf.KernelRidge(**options).fit(X, y)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            model.predict(X)
        if model.options_["map"] == "ntk-rf":
            with pytest.warns(UserWarning, match="1 of 5 rows"):
                values = model.predict(far)
        else:
            values = model.predict(far)
        spread = y.max() - y.min()
        assert (values > y.min() - spread).all() and (values < y.max() + spread).all()
    without = kerf.KernelRidge(map="ntk-rf", features=256, clip=False).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert abs(without.predict(far)[2]) > y.max() + 3 * spread


def test_a_dead_network_is_said(regression):
    X, y = regression
    features = X.shape[1] + 1 + 8
    heard = 0
    for seed in range(6):
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            Z = kerf.GradientFeatures(depth=8, features=features + 8, bias=0, random_state=seed).fit_transform(X)
        assert any("are 0" in str(w.message) for w in found) == (not Z.any())
        heard += not Z.any()
    assert heard


def test_select_has_the_ridge_of_the_rows_that_are_chosen():
    """K_SS + budget lambda I, not all rows times lambda: the oracle looks at every candidate, and the other ridge chooses other rows."""
    X = np.random.default_rng(8).normal(size=(300, 4)).astype(np.float32)
    map = kerf.ArcCosineFeatures(features=256, random_state=1)
    Z = map.fit(X).transform(X).astype(float)
    K, budget, penalty = Z @ Z.T, 12, 0.02

    def oracle(c):
        chosen = []
        for _ in range(budget):
            def objective(j):
                S = chosen + [j]
                return -np.trace(K[:, S] @ np.linalg.solve(K[np.ix_(S, S)] + c * np.eye(len(S)), K[S]))
            chosen.append(min((j for j in range(len(X)) if j not in chosen), key=objective))
        return chosen

    rows = list(kerf.select(map, X, budget, lambda_=penalty))
    assert rows == oracle(budget * penalty) != oracle(len(X) * penalty)


def test_importance_of_columns():
    draw = np.random.default_rng(0)
    X = draw.normal(size=(400, 8))
    y = np.sin(2 * X[:, 3]) * X[:, 5] + 0.05 * draw.normal(size=400)
    for metric in ("auto", "diagonal", "full"):
        options = {"map": "auto"} if metric == "auto" else {"map": "rff", "features": 256}
        model = kerf.KernelRidge(metric=metric, **options).fit(X, y)
        assert model.feature_importances_.shape == (8,) and abs(model.feature_importances_.sum() - 1) < 1e-12
        assert set(np.argsort(model.feature_importances_)[-2:]) == {3, 5}, metric
        assert model.score(X, y) > 0.9
    plain = kerf.KernelRidge(map="rff", features=256).fit(X, y)
    assert not hasattr(plain, "feature_importances_")


def test_a_metric_survives_its_file(tmp_path):
    draw = np.random.default_rng(1)
    X = draw.normal(size=(300, 4))
    y = np.sin(2 * X[:, 1]) + 0.1 * draw.normal(size=300)
    model = kerf.KernelRidge(map="rff", features=128, metric="full").fit(X, y)
    model.save(tmp_path / "m.kerf")
    again = kerf.load(tmp_path / "m.kerf")
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    np.testing.assert_array_equal(again.feature_importances_, model.feature_importances_)
    assert again.get_params()["metric"] == "full"
    # Rows one by one, sparse rows, other thread counts: the same numbers.
    np.testing.assert_array_equal(np.concatenate([model.predict(X[i:i + 1]) for i in range(20)]), model.predict(X[:20]))
    sparse = pytest.importorskip("scipy.sparse")
    np.testing.assert_array_equal(model.predict(sparse.csr_matrix(X)), model.predict(X))
    one = kerf.KernelRidge(map="rff", features=128, metric="full", n_jobs=1).fit(X, y)
    np.testing.assert_array_equal(one.predict(X), model.predict(X))


def test_blocks_have_no_metric():
    with pytest.raises((ValueError, AttributeError), match="metric"):
        kerf.KernelRidge(map="rff", features=64, metric="full").partial_fit(np.ones((5, 2)), np.arange(5.0))

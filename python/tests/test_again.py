"""A model that is trained, saved, loaded and trained again, or trained further: nothing that was asked for gets lost."""
import os
import pickle
import shutil
import subprocess

import numpy as np
import pytest
from conftest import DATA, ROOT

import kerf


def again(model):
    """The model as it was before any fit: scikit-learn's clone, which need not be installed."""
    return type(model)(**model.get_params(deep=False))


def same_parameters(a, b):
    a, b = a.get_params(deep=False), b.get_params(deep=False)
    for ours, theirs in ((a, b), (b, a)):
        if isinstance(ours["map"], kerf.features.FeatureTransformer):
            ours["map"] = (type(ours["map"]), ours["map"].get_params())
    return a == b


# ---- what a file says about the fit (P4) ------------------------------------------------------------

RIDGE = [
    {},
    {"features": 64},
    {"features": "auto", "map": "rff"},
    {"map": "rff", "features": 64, "scale": "rms", "precision": "double"},
    {"map": "rff", "features": 64, "bandwidth": 2.0, "kernel": "laplacian", "lambda_": 1e-3, "scale": "none", "random_state": 7},
    {"map": "arccos", "features": 64, "variance": True, "noise": "likelihood", "folds": 3, "solver": "cholesky"},
    {"map": "arccos", "features": 64, "lambda_grid": "1e-4,1e-2", "validation": "gcv", "bias": "auto", "directions": "orthogonal"},
    {"map": "ntk-rf", "features": 64, "depth": 3, "shared_directions": False, "lambda_per_target": True},
    {"map": "exact", "kernel": "gaussian", "scale": "unit"},
    {"map": "nystrom", "features": 32, "kernel": "arccos"},
    {"map": "rff", "features": 64, "solver": "sgd", "epochs": 3, "batch": 32, "learning_rate": 0.1, "memory_limit": 10**9},
]
CLASSES = [
    {"map": "rff", "features": 64, "loss": "logistic"},
    {"map": "rff", "features": 64, "class_weight": "balanced"},
    {"map": "rff", "features": 64, "class_weight": {0: 1.0, 1: 5.0}, "solver": "pcg"},
    {"map": "arccos", "features": 64, "loss": "squared-hinge", "scale": "standard"},
]


@pytest.mark.parametrize("kind, options", [*((kerf.KernelRidge, o) for o in RIDGE), *((kerf.KernelClassifier, o) for o in CLASSES)],
                         ids=lambda value: str(getattr(value, "__name__", value)))
@pytest.mark.filterwarnings("ignore")
def test_a_loaded_model_has_the_parameters_of_its_fit(kind, options, regression, tmp_path):
    X, y = regression
    y = y if kind is kerf.KernelRidge else (y > 0.5).astype(int)
    model = kind(**options).fit(X, y)
    model.save(tmp_path / "m.kerf")
    loaded = kerf.load(tmp_path / "m.kerf")
    assert loaded.get_params() == model.get_params()
    fitted = again(loaded).fit(X, y)
    assert np.array_equal(fitted.predict(X), model.predict(X))
    if kind is kerf.KernelClassifier:
        assert np.array_equal(fitted.predict_proba(X), model.predict_proba(X))
    if options.get("variance"):
        assert np.array_equal(fitted.predict(X, return_std=True)[1], model.predict(X, return_std=True)[1])


def test_a_loaded_model_has_its_transformer_and_the_seed_that_was_drawn(regression, tmp_path):
    X, y = regression
    for options in ({"map": kerf.RFF(features=64, random_state=5), "lambda_": 1e-3}, {"map": "rff", "features": 64, "random_state": None}):
        model = kerf.KernelRidge(**options).fit(X, y)
        model.save(tmp_path / "m.kerf")
        loaded = kerf.load(tmp_path / "m.kerf")
        assert np.array_equal(again(loaded).fit(X, y).predict(X), model.predict(X))
        assert same_parameters(loaded, model.set_params(random_state=model.seed_))


def test_the_programs_parameters_come_along(program, tmp_path):
    table = np.genfromtxt(DATA / "diabetes_train.csv", delimiter=",", skip_header=1)
    program("fit", DATA / "diabetes_train.csv", "-o", "m.kerf", "--map", "rff", "--features", 64, "--scale", "rms", "--folds", 4, "--precision", "double", cwd=tmp_path)
    loaded = kerf.load(tmp_path / "m.kerf")
    asked = {"map": "rff", "features": 64, "bandwidth": None, "scale": "rms", "folds": 4, "precision": "double", "lambda_": "auto", "random_state": 1}
    assert {name: loaded.get_params()[name] for name in asked} == asked
    np.testing.assert_allclose(again(loaded).fit(table[:, :-1], table[:, -1]).predict(table[:, :-1]),
                               kerf.KernelRidge(**asked).fit(table[:, :-1], table[:, -1]).predict(table[:, :-1]))


def test_files_from_before_load_with_what_came_of_their_fit():
    old = kerf.load(ROOT / "tests" / "golden" / "diabetes_rff.kerf")
    assert old.map == "rff" and old.lambda_ == old.best_lambda_ and old.bandwidth == old.options_["bandwidth"]


# ---- more rows (P5) ----------------------------------------------------------------------------------


def test_partial_fit_after_fit_goes_on_or_is_not_there(regression, tmp_path):
    X, y = regression
    model = kerf.KernelRidge(map="rff", features=64).fit(X, y)
    score = model.score(X, y)
    assert not hasattr(model, "partial_fit") and model.score(X, y) == score
    with pytest.raises(AttributeError, match="checkpoint keeps them"):
        model.partial_fit(X[:20], y[:20])
    assert hasattr(again(model), "partial_fit") and hasattr(kerf.KernelRidge, "partial_fit")

    options = dict(map="rff", features=64, bandwidth=1.5, scale="none", precision="double", solver="cholesky")
    whole = kerf.KernelRidge(**options).fit(X, y)
    kept = kerf.KernelRidge(**options, checkpoint=str(tmp_path / "sums")).fit(X[:200], y[:200])
    kept.save(tmp_path / "m.kerf")
    for begun in (kept, kerf.load(tmp_path / "m.kerf"), pickle.loads(pickle.dumps(kept))):
        begun.partial_fit(X[200:260], y[200:260]).partial_fit(X[260:], y[260:])
        assert begun.best_lambda_ == pytest.approx(whole.best_lambda_, rel=1e-3)
        np.testing.assert_allclose(begun.predict(X), whole.predict(X), atol=6e-8 / whole.best_lambda_)
    shutil.rmtree(tmp_path / "sums")
    with pytest.raises(ValueError, match="holds no sums"):
        kerf.load(tmp_path / "m.kerf").partial_fit(X, y)
    dual = kerf.KernelRidge(map="rff", features=512, checkpoint=str(tmp_path / "none")).fit(X, y)
    assert not hasattr(dual, "partial_fit")


def test_partial_fit_of_classes_goes_on(tmp_path):
    X = np.random.default_rng(0).normal(size=(300, 2))
    y = np.where((X**2).sum(axis=1) > 1.4, "out", "in")
    options = dict(map="rff", features=32, bandwidth=1.0, scale="none", precision="double", solver="cholesky", lambda_=1e-3)
    model = kerf.KernelClassifier(**options, checkpoint=str(tmp_path / "sums")).fit(X[:200], y[:200]).partial_fit(X[200:], y[200:])
    np.testing.assert_allclose(model.decision_function(X), kerf.KernelClassifier(**options).fit(X, y).decision_function(X), atol=6e-8 / 1e-3)
    with pytest.raises(ValueError, match="not the same as on the first"):
        model.partial_fit(X[:9], y[:9], classes=["in", "out", "on"])


@pytest.mark.parametrize("options", [{"map": "exact", "kernel": "gaussian"}, {"map": "nystrom"}, {"map": "tefm"}, {"map": kerf.TEFM()}, {"solver": "pcg"}, {"solver": "sgd"},
                                     {"loss": "logistic"}, {"validation": "gcv"}, {"variance": True}, {"class_weight": "balanced"}, {"checkpoint": "folder"}], ids=str)
def test_partial_fit_is_there_only_where_it_works(options, regression):
    X, y = regression
    kind = kerf.KernelClassifier if {"loss", "class_weight"} & set(options) else kerf.KernelRidge
    model = kind(**{"map": "rff", **options})
    assert not hasattr(model, "partial_fit")
    with pytest.raises(AttributeError, match="all rows at once|needs all of them|kept in a checkpoint"):
        model.partial_fit(X, y)


def test_parameters_that_change_between_blocks_are_refused(regression):
    X, y = regression
    model = kerf.KernelRidge(map="rff", features=64, lambda_=1e-3).partial_fit(X[:200], y[:200])
    with pytest.raises(ValueError, match="parameters have changed"):
        model.set_params(lambda_=1e-1).partial_fit(X[200:], y[200:])


def test_a_block_that_fails_leaves_nothing_behind(regression):
    X, y = regression
    model = kerf.KernelRidge(map="rff", features=64)
    with pytest.raises(ValueError, match="weight"):
        model.partial_fit(X[:100, :2], y[:100], sample_weight=-np.ones(100))
    assert np.array_equal(model.partial_fit(X, y).predict(X), kerf.KernelRidge(map="rff", features=64).partial_fit(X, y).predict(X))


# ---- weights of features are no weights of columns (P7) ----------------------------------------------


def test_there_is_no_coef(regression):
    X, y = regression
    model = kerf.KernelRidge(map="rff", features=64).fit(X, y)
    assert not hasattr(model, "coef_") and model.feature_weights_.shape == (64,)
    selection = pytest.importorskip("sklearn.feature_selection")
    with pytest.raises(ValueError, match="coef_"):
        selection.SelectFromModel(kerf.KernelRidge(map="rff", features=64)).fit(X, y).transform(X)
    with pytest.raises(ValueError, match="coef_"):
        selection.RFE(kerf.KernelRidge(map="rff", features=64)).fit(X, y)


# ---- parameters that were passed over (P12) -----------------------------------------------------------


def test_the_seed_of_a_transformer_is_that_of_the_features(regression):
    X, y = regression
    model = kerf.KernelRidge(map=kerf.RFF(features=64, bandwidth=1.5, random_state=5), scale="none").fit(X, y)
    assert np.array_equal(model.feature_map(X), kerf.RFF(features=64, bandwidth=1.5, random_state=5).fit_transform(X.astype(np.float32)))
    assert np.array_equal(model.predict(X), kerf.KernelRidge(map=model.map, scale="none", random_state=1).fit(X, y).predict(X))
    blocks = kerf.KernelRidge(map=model.map, scale="none").partial_fit(X[:150], y[:150]).partial_fit(X[150:], y[150:])
    assert np.array_equal(blocks.feature_map(X), model.feature_map(X))


def test_a_weight_of_no_class_is_an_error():
    X, y = np.random.default_rng(0).normal(size=(60, 2)), np.repeat(["a", "b"], 30)
    for wrong in ({"a": 2.0, "c": 3.0}, {0: 1.0, 1: 2.0}):
        with pytest.raises(ValueError, match="none of the classes"):
            kerf.KernelClassifier(map="rff", features=16, class_weight=wrong).fit(X, y)


def test_work_that_is_stopped_never_gives_wrong_sums():
    """Ctrl-C inside a block left the heap damaged, rows counted in part, and later predictions wrong."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 4)).astype(np.float32)
    y = np.sin(X[:, 0])
    model = kerf.KernelRidge(map="rff", features=64, lambda_=1e-4).partial_fit(X[:500], y[:500])
    before = model.predict(X[:5])

    def stop(stage, done, total):
        raise KeyboardInterrupt

    model.set_params(progress=stop)
    with pytest.raises(KeyboardInterrupt):
        model.partial_fit(X, y)
    model.set_params(progress=False)
    assert np.array_equal(model.predict(X[:5]), before)  # the model of the whole blocks is still there
    with pytest.raises(ValueError, match="stopped halfway"):
        model.partial_fit(X, y)


def test_parameters_changed_after_a_fit_that_kept_its_sums(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    model = kerf.KernelRidge(map="rff", features=40, solver="cholesky", checkpoint=str(tmp_path / "sums")).fit(X, X[:, 0])
    model.set_params(map="arccos")
    with pytest.raises(ValueError, match="parameters have changed"):
        model.partial_fit(X, X[:, 0])


def test_load_keeps_the_shape_of_targets_and_the_order_of_classes(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 3))
    kerf.KernelRidge(map="rff", features=16).fit(X, X[:, :1]).save(tmp_path / "column.kerf")
    assert kerf.load(tmp_path / "column.kerf").predict(X).shape == (90, 1)
    labels = np.array([b"a", b"b"])[(X[:, 0] > 0).astype(int)]
    model = kerf.KernelClassifier(map="rff", features=16).fit(X, labels)
    model.save(tmp_path / "bytes.kerf")
    assert kerf.load(tmp_path / "bytes.kerf").classes_.tolist() == [b"a", b"b"]


def test_classes_of_the_program_are_sorted_as_scikit_learn_wants_them(tmp_path):
    """9, 10 and a word: files have numbers by value, numpy sorts text."""
    if not os.environ.get("KERF_PROGRAM"):
        pytest.skip("needs the program kerf (KERF_PROGRAM)")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(240, 2))
    y = np.array(["9", "10", "unknown"])[np.digitize(X[:, 0], [-0.4, 0.4])]
    (tmp_path / "t.csv").write_text("a,b,y\n" + "".join(f"{a},{b},{c}\n" for (a, b), c in zip(X, y)))
    command = [os.environ["KERF_PROGRAM"], "fit", "t.csv", "--map", "rff", "--features", "64", "-o", "t.kerf", "--quiet"]
    subprocess.run(command, cwd=tmp_path, check=True)
    model = kerf.load(tmp_path / "t.kerf")
    assert model.classes_.tolist() == ["10", "9", "unknown"]
    assert model.score(X, y) > 0.9
    assert (model.classes_[model.predict_proba(X).argmax(axis=1)] == model.predict(X)).all()
    assert (model.classes_[model.decision_function(X).argmax(axis=1)] == model.predict(X)).all()


def test_levels_that_are_numbers_are_found_in_files(tmp_path):
    pandas = pytest.importorskip("pandas")
    if not os.environ.get("KERF_PROGRAM"):
        pytest.skip("needs the program kerf (KERF_PROGRAM)")
    rng = np.random.default_rng(0)
    a, z = rng.normal(size=60), np.where(rng.random(60) < 0.5, 1.0, 2.5)

    def predicted(levels):
        frame = pandas.DataFrame({"a": a, "z": pandas.Categorical(levels)})
        model = kerf.KernelRidge(map="rff", features=64, lambda_=1e-4).fit(frame, a + z)
        model.save(tmp_path / "m.kerf")
        frame.to_csv(tmp_path / "t.csv", index=False)
        done = subprocess.run([os.environ["KERF_PROGRAM"], "predict", "m.kerf", "t.csv"], cwd=tmp_path, capture_output=True, text=True)
        return model.predict(frame), done

    own, done = predicted(z)
    np.testing.assert_allclose(np.array(done.stdout.split(), dtype=float), own, rtol=1e-5, atol=1e-5)
    own, done = predicted(np.where(z == 1, "01", "1"))
    np.testing.assert_allclose(np.array(done.stdout.split(), dtype=float), own, rtol=1e-5, atol=1e-5)


def test_flat_rows_of_channels_first_images_stay_refused_after_load(tmp_path):
    rng = np.random.default_rng(0)
    A = rng.random((40, 3, 8, 8)).astype(np.float32)
    model = kerf.KernelClassifier(map="rff", features=16, image="8x8x3").fit(A, (A[:, 0].mean(axis=(1, 2)) > 0.5).astype(int))
    model.save(tmp_path / "m.kerf")
    with pytest.raises(ValueError, match="channels first"):
        kerf.load(tmp_path / "m.kerf").predict(A.reshape(40, -1))


def test_flat_rows_to_a_map_of_images_are_not_one_pixel():
    rng = np.random.default_rng(0)
    A = rng.random((30, 8, 8, 1)).astype(np.float32)
    flat, y = A.reshape(30, 64), A[:, 2, 2, 0]
    with pytest.warns(UserWarning, match="image='HxWxC'"):  # scikit-learn wants transformers to take any table
        kerf.CNTKRF(features=16).fit(flat)
    for estimator in (kerf.KernelRidge(map="cntk-rf", features=16), kerf.KernelRidge(map="exact", kernel="cntk", lambda_=1e-3),
                      kerf.KernelRidge(map=kerf.CNTKRF(features=16))):
        with pytest.raises(ValueError, match="image='HxWxC'"):
            estimator.fit(flat, y)
    images, rows = (kerf.KernelRidge(map="cntk-rf", features=16, lambda_=1e-3, scale="none", image="8x8x1").fit(X, y) for X in (A, flat))
    np.testing.assert_array_equal(images.predict(A), rows.predict(flat))
    assert kerf.CNTKRF(features=16, image="8x8x1").fit(flat).options_["image"] == "8x8x1"
    assert kerf.CNTKRF(features=16, image="1x1x64").fit(flat).options_["image"] == "1x1x64"  # who says so gets one pixel


def test_image_says_where_the_channels_are_when_all_sides_are_equal(tmp_path):
    rng = np.random.default_rng(1)
    A = rng.random((40, 3, 3, 3)).astype(np.float32)
    y = A[:, 0, 1, 2] - A[:, 2, 1, 0]
    with pytest.raises(ValueError, match="channels first"):
        kerf.KernelRidge(map="rff", features=32, image="3x3x3").fit(A, y)
    models = {order: kerf.KernelRidge(map="cntk-rf", features=32, lambda_=1e-3, image=f"3x3x3, channels {order}").fit(A, y) for order in ("first", "last")}
    moved = kerf.KernelRidge(map="cntk-rf", features=32, lambda_=1e-3, image="3x3x3, channels last").fit(np.moveaxis(A, 1, -1), y)
    np.testing.assert_array_equal(models["first"].predict(A), moved.predict(np.moveaxis(A, 1, -1)))
    assert np.abs(models["first"].predict(A) - models["last"].predict(A)).max() > 1e-3
    models["first"].save(tmp_path / "m.kerf")
    np.testing.assert_array_equal(kerf.load(tmp_path / "m.kerf").predict(A), models["first"].predict(A))
    with pytest.raises(ValueError, match="no images of 8x8x3, channels last"):
        kerf.KernelRidge(map="rff", features=32, image="8x8x3, channels last").fit(rng.random((40, 3, 8, 8)), y)

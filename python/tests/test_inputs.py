"""What X, y and weights may be: each kind is taken for what it is, or refused with a word; never something else in silence."""
import warnings

import numpy as np
import pytest
from conftest import transformers

import kerf

# ---- columns far from zero (P2) ----------------------------------------------------------------------


def far(rows=300):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(rows, 2))
    return x, np.sin(2 * x[:, 0]) + x[:, 1], rng.choice(["a", "b"], rows)


def test_a_text_column_does_not_switch_off_the_protection_of_offsets(tmp_path, program):
    pd = pytest.importorskip("pandas")
    x, y, words = far()
    frame = pd.DataFrame({"time": 1.7e9 + x[:, 0], "other": x[:, 1], "word": words})
    y = y + (words == "a")
    model = kerf.KernelRidge(map="rff", features=256).fit(frame[:200], y[:200])
    here = kerf.KernelRidge(map="rff", features=256).fit(frame[:200].assign(time=x[:200, 0]), y[:200])
    assert model.score(frame[200:], y[200:]) == pytest.approx(here.score(frame[200:].assign(time=x[200:, 0]), y[200:]), abs=1e-3) and model.score(frame, y) > 0.95
    model.save(tmp_path / "m.kerf")
    assert np.array_equal(kerf.load(tmp_path / "m.kerf").predict(frame), model.predict(frame))
    frame.to_csv(tmp_path / "rows.csv", index=False)
    program("predict", "m.kerf", "rows.csv", "-o", "p.txt", cwd=tmp_path)
    np.testing.assert_allclose(np.loadtxt(tmp_path / "p.txt"), model.predict(frame), atol=1e-4)
    blocks = kerf.KernelRidge(map="rff", features=64).partial_fit(frame[:150], y[:150]).partial_fit(frame[150:], y[150:])
    assert blocks.score(frame, y) > 0.9


@pytest.mark.parametrize("map", transformers(), ids=lambda m: m._map_name)
@pytest.mark.parametrize("kind", ["array", "frame", "words"])
def test_transformers_protect_columns_far_from_zero_or_warn(map, kind):
    x, _, words = far(60)
    X = 1.7e9 + x
    if kind != "array":
        pd = pytest.importorskip("pandas")
        X = pd.DataFrame(X, columns=["u", "v"])
        X = X.assign(word=words[:60]) if kind == "words" else X
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        Z = map.fit(X).transform(X)
    protects = "bandwidth" in map.get_params()  # kernels of differences
    assert protects != any("far from zero" in str(w.message) for w in caught)
    if not protects:
        return
    distances = ((x[:, None] - x[None]) ** 2).sum(-1) + (2 * (words[:60, None] != words[None, :60]) if kind == "words" else 0)
    K = map.exact_kernel(X)
    np.testing.assert_allclose(-np.log(K) * 2 * map.options_["bandwidth"] ** 2, distances, atol=1e-4)  # all gaussian by default
    assert len(np.unique(Z, axis=0)) == 60


def test_what_cannot_be_protected_is_said():
    sparse = pytest.importorskip("scipy.sparse")
    x, y, _ = far()
    X = 1.7e9 + x
    with pytest.warns(UserWarning, match="2 columns .* far from zero"):
        kerf.ArcCosineFeatures(features=32).fit(X)
    with pytest.warns(UserWarning, match="2 columns .* far from zero"):
        kerf.RFF(features=32).fit(sparse.csr_matrix(X))
    with pytest.warns(UserWarning, match="2 columns .* far from zero"):
        kerf.KernelRidge(map="arccos", features=32, scale="none").fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kerf.ArcCosineFeatures(features=32).fit(np.column_stack([x, np.full(300, 1.7e9), np.full(300, 0.1)]))  # constants lose nothing
        kerf.RFF(features=32).fit(sparse.random(300, 20, 0.1, "csr"))
        assert kerf.KernelRidge(map="rff", features=128, scale="none").fit(X, y).score(X, y) > 0.95


def test_sparse_rows_to_a_model_that_took_offsets_off():
    sparse = pytest.importorskip("scipy.sparse")
    x, y, _ = far()
    X = 1e6 + x
    map = kerf.RFF(features=64).fit(X)
    assert np.array_equal(map.transform(sparse.csr_matrix(X)), map.transform(X))


# ---- images (P8) --------------------------------------------------------------------------------------


def images(*shape):
    X = np.random.default_rng(0).random((60, *shape))
    return X, (X.reshape(60, -1).mean(axis=1) > 0.5).astype(int)


@pytest.mark.parametrize("shape, says", [((3, 8, 8), "image='8x8x3, channels first'"), ((1, 8, 8), "image='8x8x1, channels first'"), ((8, 8), "image='8x8x1'"), ((8, 3), "image='8x3x1'"),
                                         ((3, 8, 3), "image='8x3x3, channels first'"), ((8, 8, 5), "image='8x8x5, channels last'")], ids=str)
def test_images_whose_shape_is_not_plain_have_to_be_described(shape, says):
    X, y = images(*shape)
    for estimator in (kerf.KernelClassifier(map="arccos", features=16), kerf.CNTKRF(features=16), kerf.RFF(features=16)):
        with pytest.raises(ValueError, match=says):
            estimator.fit(X, y)
    with pytest.raises(ValueError, match=says):
        kerf.kernels.cntk(X)


@pytest.mark.parametrize("shape, image", [((3, 8, 8), "8x8x3"), ((8, 8, 3), "8x8x3"), ((8, 8), "8x8"), ((8, 8), "8x8x1"), ((8, 8, 5), "8x8x5")], ids=str)
@pytest.mark.parametrize("map", ["arccos", "cntk-rf", "auto"])
def test_images_that_are_described(shape, image, map, tmp_path):
    X, y = images(*shape)
    model = kerf.KernelClassifier(map=map, features=64, image=image).fit(X, y)
    last = np.moveaxis(X, 1, -1) if shape == (3, 8, 8) else X.reshape(60, 8, 8, -1)
    assert model._columns.image == last.shape[1:] and model.report_["scale"] in ("unit", "channel")
    by_rows = model.predict_proba(last)
    assert np.array_equal(model.predict_proba(X), by_rows)
    model.save(tmp_path / "m.kerf")
    loaded = kerf.load(tmp_path / "m.kerf")
    for form in (X, last):
        assert np.array_equal(loaded.predict_proba(form), by_rows)
    assert np.array_equal(type(loaded)(**loaded.get_params()).fit(X, y).predict_proba(X), by_rows)
    if shape == (3, 8, 8):
        for flat in (X.reshape(60, -1), X.reshape(60, -1).astype(np.float32), X.reshape(60, -1).tolist()):
            with pytest.raises(ValueError, match="channels first"):
                model.predict(flat)
    else:
        assert np.array_equal(model.predict_proba(X.reshape(60, -1)), by_rows)


def test_the_map_of_images_sees_their_shape():
    X, _ = images(8, 8, 3)
    rows = X.reshape(60, -1)
    said = kerf.CNTKRF(features=32, image="8x8x3").fit(rows)
    seen = kerf.CNTKRF(features=32).fit(X)
    assert seen.options_["image"] == "8x8x3" and np.array_equal(seen.transform(X), said.transform(rows))
    first = kerf.CNTKRF(features=32, image="8x8x3").fit(np.moveaxis(X, -1, 1))
    assert np.array_equal(first.transform(np.moveaxis(X, -1, 1)), said.transform(rows))
    assert np.array_equal(kerf.kernels.cntk(X[:5]), kerf.kernels.cntk(rows[:5], image="8x8x3"))
    np.testing.assert_allclose(kerf.kernels.CNTK()(X[:5], np.moveaxis(X[:5], -1, 1)), kerf.kernels.cntk(rows[:5], image="8x8x3"), rtol=1e-6)
    kerf.diagnose(kerf.CNTKRF(features=32), X)


def test_a_model_takes_images_of_its_own_shape_only():
    X, y = images(8, 8, 1)
    model = kerf.KernelClassifier(map="arccos", features=16).fit(X, y)
    for shape in ((4, 16, 1), (4, 16), (16, 4), (2, 2, 16)):
        with pytest.raises(ValueError, match="no images of 8x8x1"):
            model.predict(X.reshape(60, *shape))
    assert np.array_equal(model.predict(X[..., 0]), model.predict(X))
    flat = kerf.KernelClassifier(map="arccos", features=16).fit(X.reshape(60, -1), y)
    with pytest.raises(ValueError, match="reshape"):
        flat.predict(X)
    with pytest.raises(ValueError, match="no images of 4x16x1"):
        kerf.KernelClassifier(map="arccos", features=16, image="4x16x1").fit(X, y)
    said = kerf.KernelClassifier(map="arccos", features=16, image="8x8x1").fit(X.reshape(60, -1), y)  # as the program's --image
    assert np.array_equal(said.predict_proba(X.reshape(60, -1)), model.predict_proba(X))
    grey = kerf.KernelClassifier(map="arccos", features=16).fit((255 * X[..., 0]).astype(np.uint8), y)  # bytes are plain
    assert grey._columns.image == (8, 8, 1) and grey._columns.is_bytes


# ---- kinds of numbers (P12) ----------------------------------------------------------------------------

X = np.random.default_rng(1).normal(size=(40, 3))
Y = X[:, 0] + X[:, 1]


def frame(**columns):
    return pytest.importorskip("pandas").DataFrame(X, columns=list("abc")).assign(**columns)


def csr(values):
    return pytest.importorskip("scipy.sparse").csr_matrix(values)


def takers():
    """Everything that takes rows."""
    ridge = kerf.KernelRidge(map="rff", features=16, lambda_=1e-3)
    fitted, map = kerf.KernelRidge(map="rff", features=16, lambda_=1e-3).fit(X, Y), kerf.RFF(features=16).fit(X)
    return {"fit": lambda rows: ridge.fit(rows, Y), "partial_fit": lambda rows: kerf.KernelRidge(map="rff", features=16).partial_fit(rows, Y), "predict": fitted.predict,
            "map": kerf.RFF(features=16).fit, "transform": map.transform, "kernel": kerf.kernels.gaussian}


@pytest.mark.parametrize("taker", ["fit", "partial_fit", "predict", "map", "transform", "kernel"])
def test_imaginary_parts_are_not_dropped(taker):
    take = takers()[taker]
    for rows in (X + 1j, csr(X + 1j)):
        with pytest.raises(ValueError, match="Complex data not supported"):
            take(rows)
    if taker in ("fit", "partial_fit", "map"):
        for rows in (frame(a=X[:, 0] + 1j), frame(a=X[:, 0] + 1j, word="x")):
            with pytest.raises(ValueError, match="Complex data not supported.*column 'a'"):
                take(rows)


@pytest.mark.parametrize("taker", ["fit", "partial_fit", "predict", "map", "transform", "kernel"])
def test_masks_are_not_dropped(taker):
    take = takers()[taker]
    for rows in (X, X.astype(np.float32)):
        with pytest.raises(ValueError, match="masked"):
            take(np.ma.masked_array(rows, mask=X > 1))
        take(np.ma.masked_array(rows, mask=False))


def test_masked_and_complex_targets_and_weights():
    ridge = kerf.KernelRidge(map="rff", features=16)
    for wrong in (np.ma.masked_array(Y, mask=Y > 1), Y + 1j):
        with pytest.raises(ValueError, match="y has masked|Complex"):
            ridge.fit(X, wrong)
    for wrong in (np.ma.masked_array(np.ones(40), mask=Y > 1), np.ones(40) + 1j, np.ones(39), np.ones((40, 1)), np.full(40, np.nan), -np.ones(40), np.zeros(40)):
        with pytest.raises(ValueError):
            ridge.fit(X, Y, sample_weight=wrong)


@pytest.mark.filterwarnings("ignore:'d' holds dates")
def test_dates_are_numbers_in_frames_whatever_stands_beside_them():
    pd = pytest.importorskip("pandas")
    day = pd.date_range("2020", periods=40)
    for word in ({}, {"word": "x"}):
        models = [kerf.KernelRidge(map="rff", features=16).fit(frame(d=dates, **word), Y) for dates in (day, day.to_period("D"), [d.date() for d in day], day.strftime("%d.%m.%Y"))]
        for model in models:
            assert np.array_equal(model.predict(frame(d=day, **word)), models[0].predict(frame(d=day, **word)))
        zoned = kerf.KernelRidge(map="rff", features=16).fit(frame(d=day.tz_localize("UTC"), **word), Y)
        assert np.array_equal(zoned.predict(frame(d=day.tz_localize("UTC").tz_convert("Asia/Tokyo"), **word)), models[0].predict(frame(d=day, **word)))
        with pytest.raises(ValueError, match="column 'd' of X holds lengths of time"):
            kerf.KernelRidge(map="rff", features=16).fit(frame(d=day - day[0], **word), Y)
    assert kerf.RFF(features=16, random_state=1).fit_transform(frame(d=day)).shape == (40, 16)
    with pytest.raises(ValueError, match="X holds dates"):
        kerf.RFF(features=16).fit(day.to_numpy()[:, None])
    with pytest.raises(ValueError, match="y holds dates"):
        kerf.KernelRidge(map="rff", features=16).fit(X, day.to_series())


def test_nullable_columns_are_numbers_or_missing():
    pd = pytest.importorskip("pandas")
    whole, switch = pd.array(range(40), dtype="Int64"), pd.array([True, False] * 20, dtype="boolean")
    for word in ({}, {"word": ["u", "v"] * 20}):
        model = kerf.KernelRidge(map="rff", features=32, lambda_=1e-3).fit(frame(n=whole, s=switch, **word), Y)
        plain = kerf.KernelRidge(map="rff", features=32, lambda_=1e-3).fit(frame(n=np.arange(40.0), s=[1.0, 0.0] * 20, **word), Y)
        assert np.array_equal(model.predict(frame(n=whole, s=switch, **word)), plain.predict(frame(n=np.arange(40.0), s=[1.0, 0.0] * 20, **word)))
        with pytest.raises(ValueError, match="NaN|the value of 'n' is missing"):
            model.fit(frame(n=pd.array([None, *range(39)], dtype="Int64"), **word), Y)
    for missing in (pd.Series([None, *"ab" * 19, "a"], dtype="string"), pd.Series([None, *"ab" * 19, "a"]), pd.Series([np.nan, *"ab" * 19, "a"])):
        with pytest.raises(ValueError, match="missing value in row 0|NaN"):
            kerf.KernelClassifier(map="rff", features=16).fit(X, missing)


def test_numbers_beyond_float32():
    for rows in (X * 1e39, csr(X * 1e39), frame(a=X[:, 0] * 1e39, word="x")):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(ValueError, match="beyond single precision"):
                kerf.KernelRidge(map="rff", features=16).fit(rows, Y)
    with pytest.warns(UserWarning, match="3 columns .* vary by less than float32 can hold"):
        kerf.RFF(features=16).fit(X * 1e-40)
    with pytest.raises(ValueError, match="below the range of single precision"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        kerf.RFF(features=16).fit(X * 1e-46)


def test_a_model_of_categories_wants_frames():
    rows = frame(word=["u", "v"] * 20)
    model = kerf.KernelRidge(map="rff", features=16).fit(rows, Y)
    for wrong in (rows.to_numpy(), np.zeros((4, 4)), np.zeros((4, 5), np.float32), csr(np.zeros((4, 4)))):
        with pytest.raises(ValueError, match="pass a frame with"):
            model.predict(wrong)
    with pytest.raises(ValueError, match="column 'a' is taken for numbers"):
        model.predict(rows.assign(a="q"))
    with pytest.raises(ValueError, match="0 sample"):
        model.predict(rows[:0])
    for wrong in (rows[["word", "b", "a", "c"]], rows[["a", "b", "word"]], rows.assign(z=1)):
        with pytest.raises(ValueError, match="feature names"):
            model.predict(wrong)


def test_targets_in_frames():
    pd = pytest.importorskip("pandas")
    both = pd.DataFrame({"q": Y, "r": -Y}, index=range(100, 140))
    model = kerf.KernelRidge(map="rff", features=16).fit(X, both)
    assert np.array_equal(model.predict(X), kerf.KernelRidge(map="rff", features=16).fit(X, both.to_numpy()).predict(X)) and model.predict(X).shape == (40, 2)


def test_options_that_cannot_matter_are_said():
    with pytest.warns(UserWarning, match="gibbs_sweeps=5 would have no effect"):
        kerf.KernelRidge(map="arccos", features=16, gibbs_sweeps=5).fit(X, Y)
    with pytest.warns(UserWarning, match="gibbs_sweeps=5 would have no effect"):
        kerf.ArcCosineFeatures(features=16, gibbs_sweeps=5).fit(X)


def test_messages_about_channels_name_what_then_works():
    rng = np.random.default_rng(0)
    X, y = rng.random((40, 3, 8, 8)), rng.normal(size=40)
    make = lambda **options: kerf.KernelRidge(map="cntk-rf", features=32, lambda_=1e-2, **options)  # noqa: E731
    with pytest.raises(ValueError, match="image='8x8x3, channels first' or image='3x8x8, channels last'"):
        make().fit(X, y)
    first, last = make(image="8x8x3, channels first").fit(X, y), make(image="3x8x8, channels last").fit(X, y)
    assert not np.allclose(first.predict(X), last.predict(X))
    flat = make(image="8x8x3").fit(np.moveaxis(X, 1, -1).reshape(40, -1), y)
    np.testing.assert_allclose(flat.predict(np.moveaxis(X, 1, -1).reshape(40, -1)), first.predict(X))
    with pytest.raises(ValueError, match="flat rows are images whose channels come last"):
        make(image="8x8x3, channels first").fit(X.reshape(40, -1), y)
    for nonsense in ("axb", (8, 8, 3), "8x8x3,channels first"):
        with pytest.raises(ValueError, match="is no shape of images"):
            make(image=nonsense).fit(X, y)

"""One set of rows, from a file in the program and in C++ (kerf.h) and from memory in Python, is one model: recipe, scaling, encoding and weights, bit by bit."""
import json
import os
import re
import struct
import subprocess
import warnings

import numpy as np
import pytest

import kerf


def parts_of(path):
    """The header of a model file without what tells the two faces apart, and the bytes of its arrays."""
    data = path.read_bytes()
    (size,) = struct.unpack("<I", data[12:16])
    header = json.loads(data[16:16 + size])
    assert header["training"].pop("command")
    header["encoding"].pop("label_type", None)  # what labels were in Python
    return header, data[16 + size:-4]  # before the checksum


def same_models(one, other):
    (one, one_arrays), (other, other_arrays) = parts_of(one), parts_of(other)
    assert one == other
    assert one_arrays == other_arrays


def cpp_fit(folder, data, map, **options):
    """The model of a file that a program with kerf.h makes."""
    words = [f"{name.replace('__', '.').replace('_', '-')}={str(value).lower() if value is True else value}" for name, value in options.items()]
    subprocess.run([os.environ["KERF_CPP_FIT"], data, "cpp.kerf", map, *words], cwd=folder, check=True)
    return folder / "cpp.kerf"


def table(rows=300):
    """An offset that floats would swallow, words, and cells that are missing; a second column of words that looks like numbers in part."""
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=rows), rng.normal(size=rows)
    colour = rng.choice(["red", "green", "blue"], rows)
    target = np.sin(2 * x) + y * (colour == "red")
    frame = pd.DataFrame({"time": 1.7e9 + x, "size": y, "colour": colour, "code": rng.choice(["a7", "b", "c,d"], rows), "price": target})
    frame.loc[3, "size"] = frame.loc[7, "time"] = np.nan
    frame.loc[[5, 11], "colour"] = None
    return frame


OPTIONS = [("mean", {}), ("drop", {}), ("mean", {"map": "auto"}), ("mean", {"map": "exact", "kernel": "gaussian", "precision": "double"})]


@pytest.mark.parametrize("missing, options", OPTIONS, ids=str)
def test_a_table_gives_one_model(missing, options, program, tmp_path):
    frame = table()
    options = {"map": "rff", "lambda": 1e-3, **options}
    options.update({"features": 64} if options["map"] == "rff" else {})
    frame.to_csv(tmp_path / "t.csv", index=False)
    words = [word for name, value in options.items() for word in (f"--{name}", value)]
    program("fit", "t.csv", "--missing", missing, *words, "-o", "program.kerf", cwd=tmp_path)
    of_map = {f"map__{name}" if name in ("features", "kernel") else name: value for name, value in options.items() if name != "map"}
    same_models(tmp_path / "program.kerf", cpp_fit(tmp_path, "t.csv", options["map"], data__missing=missing, **of_map))
    keywords = {"lambda_" if name == "lambda" else name: value for name, value in options.items()}
    model = kerf.KernelRidge(missing=missing, **keywords).fit(frame.drop(columns="price"), frame["price"])
    model.save(tmp_path / "python.kerf")
    same_models(tmp_path / "program.kerf", tmp_path / "python.kerf")
    program("predict", "program.kerf", "t.csv", "-o", "p.txt", cwd=tmp_path)
    assert np.array_equal(np.loadtxt(tmp_path / "p.txt"), model.predict(frame.drop(columns="price")))
    assert kerf.load(tmp_path / "program.kerf").get_params() == model.get_params()


@pytest.mark.parametrize("options", [{"map": "rff", "features": 64}, {"map": "exact", "kernel": "gaussian"}, {"map": "arccos", "features": 64}], ids=str)
def test_offsets_leave_unscaled_columns_of_differences_alike(options, program, tmp_path):
    """A kernel of differences does not see them; arccos does, and neither face may take them off."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(200, 2)) + [1e6, 0]
    y = np.sin(X[:, 0] - 1e6) + X[:, 1]
    np.savetxt(tmp_path / "t.csv", np.column_stack([X, y]), delimiter=",", fmt="%.17g")
    words = [word for name, value in options.items() for word in (f"--{name}", value)]
    program("fit", "t.csv", "--scale", "none", "--lambda", "1e-3", *words, "-o", "program.kerf", cwd=tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # arccos: columns that lose digits
        model = kerf.KernelRidge(scale="none", lambda_=1e-3, **options).fit(X, y)
    model.save(tmp_path / "python.kerf")
    same_models(tmp_path / "program.kerf", tmp_path / "python.kerf")
    assert options["map"] == "arccos" or model.score(X, y) > 0.95


def test_classes_and_plain_arrays_give_one_model(program, tmp_path):
    """Numbers by value, then words: the library's order, which is not numpy's."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 3)) + [0, 500, -1e6]
    y = np.array(["9", "10", "x"])[np.digitize(X[:, 0], [-0.4, 0.4])]
    (tmp_path / "t.csv").write_text("".join(f"{a!r},{b!r},{c!r},{label}\n" for (a, b, c), label in zip(X.tolist(), y)))
    program("fit", "t.csv", "--map", "arccos", "--features", 64, "-o", "program.kerf", cwd=tmp_path)
    model = kerf.KernelClassifier(map="arccos", features=64).fit(X, y)
    model.save(tmp_path / "python.kerf")
    same_models(tmp_path / "program.kerf", tmp_path / "python.kerf")
    assert model.classes_.tolist() == ["10", "9", "x"] and model.score(X, y) > 0.9


def test_float32_and_sparse_rows_give_one_model(program, tmp_path):
    sparse = pytest.importorskip("scipy.sparse")
    rng = np.random.default_rng(2)
    X = np.where(rng.random((150, 6)) < 0.5, 0, rng.normal(size=(150, 6))).astype(np.float32)
    y = X[:, 0] - X[:, 1]
    np.save(tmp_path / "t.npy", np.column_stack([X, y]))
    program("fit", "t.npy", "--task", "regression", "--map", "rff", "--features", 64, "-o", "program.kerf", cwd=tmp_path)
    kerf.KernelRidge(map="rff", features=64).fit(X, y).save(tmp_path / "python.kerf")
    same_models(tmp_path / "program.kerf", tmp_path / "python.kerf")
    lines = (" ".join([repr(float(t)), *(f"{j + 1}:{float(v)!r}" for j, v in enumerate(row) if v != 0)]) for row, t in zip(X, y))
    (tmp_path / "t.svm").write_text("\n".join(lines) + "\n")
    program("fit", "t.svm", "--task", "regression", "--map", "rff", "--features", 64, "-o", "program.kerf", cwd=tmp_path)
    kerf.KernelRidge(map="rff", features=64).fit(sparse.csr_matrix(X), y).save(tmp_path / "python.kerf")
    same_models(tmp_path / "program.kerf", tmp_path / "python.kerf")


STEPS = [{}, {"crop": "6x6", "per_image": True, "zca": 0.1, "flip": True, "shift": 1}, {"patch": 3, "patch_stride": 2, "patch_components": 5, "brightness": 0.1, "copies": 3},
         {"per_image": True, "flip": True, "solver": "sgd", "epochs": 2, "learning_rate": 0.1}]


@pytest.mark.parametrize("kind", ["bytes", "numbers"])
@pytest.mark.parametrize("steps", STEPS, ids=str)
@pytest.mark.filterwarnings("ignore")  # two steps of sgd are few
def test_images_give_one_model(steps, kind, program, tmp_path):
    rng = np.random.default_rng(3)
    X = rng.integers(0, 256, (120, 8, 8, 3), dtype=np.uint8)
    y = (X[..., 0].mean(axis=(1, 2)) > X[..., 1].mean(axis=(1, 2))).astype(int)
    X = X if kind == "bytes" else X / 255
    np.save(tmp_path / "x.npy", X)
    np.save(tmp_path / "y.npy", y)
    words = [word for name, value in steps.items() for word in ([f"--{name}".replace("_", "-")] if value is True else [f"--{name}".replace("_", "-"), value])]
    program("fit", "x.npy", "--labels", "y.npy", "--task", "classification", "--map", "arccos", "--features", 64, *words, "-o", "program.kerf", cwd=tmp_path)
    same_models(tmp_path / "program.kerf", cpp_fit(tmp_path, "x.npy", "arccos", data__labels="y.npy", data__task="classification", map__features=64, **steps))
    model = kerf.KernelClassifier(map="arccos", features=64, **steps).fit(X, y)
    model.save(tmp_path / "python.kerf")
    same_models(tmp_path / "program.kerf", tmp_path / "python.kerf")
    loaded = kerf.load(tmp_path / "python.kerf")
    assert np.array_equal(loaded.predict_proba(X), model.predict_proba(X))
    assert {name: loaded.get_params()[name] for name in steps} == steps
    first = kerf.KernelClassifier(map="arccos", features=64, image="8x8x3", **steps).fit(np.moveaxis(X, -1, 1), y)
    assert np.array_equal(first.predict_proba(np.moveaxis(X, -1, 1)), model.predict_proba(X))


def test_steps_of_images_that_are_flat_rows_or_come_in_blocks():
    rng = np.random.default_rng(4)
    X = rng.random((100, 6, 6, 1))
    y = X[:, :3].mean(axis=(1, 2, 3))
    flat = kerf.KernelRidge(map="arccos", features=32, image="6x6x1", zca=0.1).fit(X.reshape(100, -1), y)
    assert np.array_equal(flat.predict(X.reshape(100, -1)), kerf.KernelRidge(map="arccos", features=32, zca=0.1).fit(X, y).predict(X))
    with pytest.raises(AttributeError, match="steps and augmentation of images"):
        kerf.KernelRidge(map="arccos", features=32, flip=True).partial_fit(X, y)
    with pytest.raises(ValueError, match="not images"):
        kerf.KernelRidge(map="arccos", features=32, zca=0.1).fit(X.reshape(100, -1), y)


def test_missing_cells_and_too_many_words():
    pd = pytest.importorskip("pandas")
    frame = table()
    X, y = frame.drop(columns="price"), frame["price"]
    with pytest.raises(ValueError, match="missing"):
        kerf.KernelRidge(map="rff", features=16).fit(X, y)
    numbers = X[["time", "size"]].to_numpy()
    with pytest.raises(ValueError, match="NaN"):
        kerf.KernelRidge(map="rff", features=16).fit(numbers, y)
    filled = kerf.KernelRidge(map="rff", features=16, lambda_=1e-3, missing="mean").fit(numbers, y)
    by_hand = np.where(np.isnan(numbers), np.nanmean(numbers, axis=0), numbers)
    np.testing.assert_allclose(filled.predict(numbers), filled.predict(by_hand), atol=1e-6)
    dropped = kerf.KernelRidge(map="rff", features=16, lambda_=1e-3, missing="drop").fit(numbers, y)
    kept = ~np.isnan(numbers).any(axis=1)
    np.testing.assert_allclose(dropped.predict(numbers[kept]), kerf.KernelRidge(map="rff", features=16, lambda_=1e-3).fit(numbers[kept], y[kept]).predict(numbers[kept]), atol=1e-6)
    many = pd.DataFrame({"id": [f"x{i}" for i in range(300)], "v": frame["size"].fillna(0)})
    with pytest.raises(ValueError, match="different words"):
        kerf.KernelRidge(map="rff", features=16).fit(many, y)
    assert kerf.KernelRidge(map="rff", features=16, max_levels=300).fit(many, y)._columns.inputs == 301


def test_words_that_look_like_missing_ones_are_words():
    pd = pytest.importorskip("pandas")
    word = np.array(["NA", "?", "", "7"])[np.arange(80) % 4]
    frame = pd.DataFrame({"word": word, "x": np.arange(80.0)})
    labels = np.array(["null", "nan"])[(word == "?").astype(int)]
    model = kerf.KernelClassifier(map="rff", features=64).fit(frame, labels)
    assert model._columns.inputs == 5 and model.score(frame, labels) == 1 and model.classes_.tolist() == ["nan", "null"]


def test_numbers_among_words_give_one_model(program, tmp_path):
    """1, 1.0 and +1 are one word in every face, 007 and 7 are two, and whoever has both of a pair is told; then rows with either spelling are predicted alike."""
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"code": rng.choice(["1", "1.0", "+1", "007", "7", "x", "w", "a", "b", "c", "d", "e", "f"], 300), "size": rng.normal(size=300)})
    number = frame["code"].map({"1": 1.0, "1.0": 1.0, "+1": 1.0, "007": -2.0, "7": 2.0}).fillna(0)
    frame["price"] = number + frame["size"] + 0.01
    frame.to_csv(tmp_path / "t.csv", index=False)
    fit = {"map": "rff", "features": 64, "lambda": 1e-3}
    told = json.loads(program("fit", "t.csv", *[word for name, value in fit.items() for word in (f"--{name}", value)], "-o", "program.kerf", "--json", cwd=tmp_path))["notes"]
    one, two = "'code' has .* which are one number: taken for one word", "'code' has '007' and '7', equal numbers written differently: taken for two words"
    for pattern in (one, two):
        assert any(re.fullmatch(pattern, note) for note in told), told
    same_models(tmp_path / "program.kerf", cpp_fit(tmp_path, "t.csv", "rff", map__features=64, **{"lambda": 1e-3}))
    X = frame.drop(columns="price")
    with pytest.warns(UserWarning) as caught:
        model = kerf.KernelRidge(map="rff", features=64, lambda_=1e-3).fit(X, frame["price"])
    for pattern in (one, two):
        assert any(re.fullmatch(pattern, str(warning.message)) for warning in caught)
    model.save(tmp_path / "python.kerf")
    same_models(tmp_path / "program.kerf", tmp_path / "python.kerf")
    other = X.assign(code=X["code"].replace({"1": "1.00", "x": "x", "7": "7.0"}))
    other.to_csv(tmp_path / "other.csv", index=False)
    program("predict", "program.kerf", "other.csv", "-o", "p.txt", cwd=tmp_path)
    assert np.array_equal(np.loadtxt(tmp_path / "p.txt"), model.predict(X))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.array_equal(model.predict(other), model.predict(X))
        assert np.array_equal(kerf.load(tmp_path / "program.kerf").predict(other), model.predict(X))

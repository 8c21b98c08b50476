"""Labels come back as they were, rows of float64 stay that for exact kernels, targets may be of any size."""
import json
import os
import pathlib
import pickle

import numpy as np
import pytest

import kerf

SOURCE = pathlib.Path(os.environ.get("KERF_SOURCE", pathlib.Path(__file__).resolve().parents[2]))
REFERENCE = pathlib.Path(os.environ.get("KERF_SHARED", SOURCE.parent / "shared")) / "reference" / "exact_kernels.json"

LABELS = {
    "zeros in front": np.array(["01234", "1234", "00001"]),
    "the word nan": np.array(["nan", "inf", "1e5"]),
    "texts of numbers": np.array(["1", "10", "2"]),
    "booleans": np.array([False, True]),
    "integers": np.array([-3, 0, 12], dtype=np.int32),
    "large integers": np.array([2**53, 2**53 + 1, 2**53 + 2]),
    "unsigned": np.array([1, 2**64 - 1], dtype=np.uint64),
    "reals": np.array([-1.0, 1.0, 7.0]),
    "single reals": np.array([1.0, 7.0], dtype=np.float32),
    "objects": np.array(["b", "a"], dtype=object),
}


@pytest.mark.parametrize("name", LABELS)
def test_labels_come_back_with_type_order_and_text(name, tmp_path):
    labels = LABELS[name]
    draw = np.random.default_rng(1)
    number = np.arange(90) % len(labels)
    X = draw.normal(size=(90, 2)) * 0.3 + 4 * number[:, None]
    y = labels[number]
    model = kerf.KernelClassifier(map="rff", features=32, lambda_=1e-4).fit(X, y)
    model.save(tmp_path / "m.kerf")
    for other in (kerf.load(tmp_path / "m.kerf"), pickle.loads(pickle.dumps(model))):
        assert other.classes_.dtype == model.classes_.dtype
        assert list(other.classes_) == list(np.unique(labels))
        assert [type(c) for c in other.classes_] == [type(c) for c in model.classes_]
        np.testing.assert_array_equal(other.predict(X), y)
        assert other.predict(X).dtype == model.predict(X).dtype


def test_labels_of_files_are_numbers_where_they_are_written_so():
    from kerf._labels import class_labels
    assert class_labels(["1", "2", "10"], "").dtype.kind == "i"
    assert class_labels(["-1", "0.5", "1e3"], "").tolist() == [-1.0, 0.5, 1000.0]
    for words in (["007", "7"], ["nan", "x"], ["1", "10", "2"], ["1_000", "2"], ["inf", "1"], ["0", "-0"]):
        assert class_labels(words, "").tolist() == words
    assert class_labels([str(2**53), str(2**53 + 1)], "").tolist() == [2**53, 2**53 + 1]


def test_labels_through_the_program(tmp_path):
    import subprocess
    labels = np.array(["01234", "1234", "00001"])
    draw = np.random.default_rng(1)
    number = np.arange(90) % 3
    X = draw.normal(size=(90, 2)) * 0.3 + 4 * number[:, None]
    kerf.KernelClassifier(map="rff", features=32, lambda_=1e-4).fit(X, labels[number]).save(tmp_path / "python.kerf")
    with open(tmp_path / "t.csv", "w") as file:
        file.writelines(f"{a},{b},{labels[k]}\n" for (a, b), k in zip(X, number))
    program = os.environ["KERF_PROGRAM"]
    run = lambda *words: subprocess.run([program, *words], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert run("predict", "python.kerf", "t.csv").stdout.split() == labels[number].tolist()
    done = run("fit", "t.csv", "--map", "rff", "--features", "32", "-o", "program.kerf")
    assert done.returncode == 0, done.stderr
    loaded = kerf.load(tmp_path / "program.kerf")
    assert sorted(loaded.classes_) == sorted(labels)
    np.testing.assert_array_equal(loaded.predict(X), labels[number])


def test_rows_of_float64_stay_double_in_kernels():
    """Against numpy; rows of float32 would be 1e-8 off."""
    draw = np.random.default_rng(3)
    X, Y = draw.normal(size=(50, 4)) * 3 + 1, draw.normal(size=(20, 4)) * 3 + 1
    exact = np.exp(-((X[:, None] - Y[None]) ** 2).sum(axis=2) / (2 * 2.5**2))
    np.testing.assert_allclose(kerf.gram("gaussian", X, Y, bandwidth=2.5), exact, rtol=1e-12)
    np.testing.assert_allclose(kerf.kernels.Gaussian(bandwidth=2.5)(X, Y), exact, rtol=1e-12)
    np.testing.assert_allclose(kerf.kernels.NTK(depth=1).diag(X), 2 * (X**2).sum(axis=1), rtol=1e-13)
    assert np.abs(kerf.gram("gaussian", X, Y, bandwidth=2.5, precision="single") - exact).max() > 1e-10


@pytest.mark.skipif(not REFERENCE.exists(), reason="no ../shared")
def test_kernels_agree_with_the_reference():
    def rows(seed, n):
        return np.array([[((i * 17 + j * 23 + seed * 41 + (i * j) % 13) % 101) / 101 - 0.5 for j in range(5)] for i in range(n)])

    for name, exact in json.loads(REFERENCE.read_text())["vectors"]["values"].items():
        if name.endswith("diag"):
            continue
        parts = name.replace("laplacian_l2", "laplacian-l2").split("_")
        options = {key.replace("sigma", "bandwidth"): float(value) if "." in value else int(value) for key, value in zip(parts[1::2], parts[2::2])}
        np.testing.assert_allclose(kerf.gram(parts[0], rows(1, 6), rows(2, 4), **options), exact, rtol=1e-12, err_msg=name)


def test_exact_models_in_double(tmp_path):
    draw = np.random.default_rng(3)
    X = draw.normal(size=(60, 4)) * [1, 10, 0.1, 3] + [0, 5, 0, -2]
    y = np.sin(X[:, 0]) + X[:, 1]
    K = np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2) / (2 * 2.5**2))
    n, lam = len(X), 1e-3
    system = np.block([[K + n * lam * np.eye(n), np.ones((n, 1))], [np.ones((1, n)), np.zeros((1, 1))]])
    solution = np.linalg.solve(system, np.append(y, 0))
    expected = K @ solution[:-1] + solution[-1]
    rounding = np.linalg.cond(system) * 1e-12 * np.abs(expected).max()  # kernel values are right to 1e-12; rows of single precision would be off 40 times as much
    model = kerf.KernelRidge(map="exact", kernel="gaussian", bandwidth=2.5, scale="none", lambda_=lam, precision="double").fit(X, y)
    np.testing.assert_allclose(model.predict(X), expected, rtol=0, atol=rounding)
    model.save(tmp_path / "m.kerf")
    np.testing.assert_array_equal(kerf.load(tmp_path / "m.kerf").predict(X), model.predict(X))


@pytest.mark.parametrize("options", [{"map": "rff", "features": 128}, {"map": "rff", "features": 512}, {"map": "exact", "kernel": "gaussian"}])
def test_targets_of_any_size(options):
    draw = np.random.default_rng(5)
    X = draw.normal(size=(300, 2))
    y = np.sin(2 * X[:, 0]) + X[:, 1] ** 2 + 3
    ordinary = kerf.KernelRidge(**options).fit(X, y).predict(X)
    for scale in (1e-100, 1e38, 1e120):
        np.testing.assert_allclose(kerf.KernelRidge(**options).fit(X, y * scale).predict(X) / scale, ordinary, rtol=1e-3)
    if options["map"] == "rff":
        model = kerf.KernelRidge(**options)
        for begin in (0, 150):
            model.partial_fit(X[begin:begin + 150], y[begin:begin + 150] * 1e-100)
        assert np.corrcoef(model.predict(X), y)[0, 1] > 0.9
    with pytest.raises(Exception, match="range of double precision"):
        kerf.KernelRidge(**options).fit(X, y * 1e250)


def test_columns_below_single_precision_get_a_clear_word():
    draw = np.random.default_rng(5)
    X = draw.normal(size=(100, 2))
    for size in (1e-40, 1e-60):
        with pytest.raises(Exception, match="below the range of single precision"):
            kerf.KernelRidge(map="rff", features=32).fit(X * [1, size], X[:, 0])

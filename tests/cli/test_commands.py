"""What the commands do when all is well."""
import gzip
import json
import os
import random
import struct
import subprocess

import numpy as np
import pytest

from conftest import DATA, PROGRAM


def test_fit_and_score_digits(kerf):
    fit = kerf("fit", DATA / "digits_train.csv.gz", "-o", "digits.kerf", "--json").json
    assert fit["task"] == "classification" and fit["rows"] == 1438 and fit["map"] == "exact"
    assert set(fit["seconds"]) == {"open", "choose", "read", "features", "accumulate", "lambda", "solve", "calibrate", "other", "total"}
    assert sum(value for name, value in fit["seconds"].items() if name != "total") == pytest.approx(fit["seconds"]["total"])
    assert fit["seconds"]["choose"] > fit["seconds"]["read"]  # it was in none of them
    assert fit["peak_memory_bytes"] > 0 and fit["lambda"] > 0 and fit["cv_error"] > 0
    score = kerf("score", "digits.kerf", DATA / "digits_test.csv.gz", "--json").json
    assert score["accuracy"] >= 0.97
    assert sum(map(sum, score["confusion"])) == score["rows"] == 359


def test_regression_has_errors_in_the_targets_units(kerf):
    assert kerf("fit", DATA / "diabetes_train.csv", "-o", "d.kerf").code == 0
    score = kerf("score", "d.kerf", DATA / "diabetes_test.csv", "--json").json
    assert 45 < score["rmse"] < 65 and score["r2"] > 0.35
    assert score["mse"] == pytest.approx(score["rmse"] ** 2)


def test_fit_alone_writes_model_kerf_and_tells_about_it(kerf, tmp_path):
    result = kerf("fit", DATA / "wine_train.csv", "--features", "128")
    assert result.code == 0 and "3 classes" in result.out and "lambda" in result.out
    assert sorted(p.name for p in tmp_path.iterdir()) == ["model.kerf"]
    info = kerf("info", "model.kerf", "--json").json
    assert info["command"].startswith("kerf fit") and info["classes"] == ["class_0", "class_1", "class_2"]


def test_predict_keeps_order_with_and_without_target_and_from_standard_input(kerf, model, tmp_path):
    lines = (DATA / "iris_test.csv").read_text().splitlines()
    with_target = kerf("predict", model, DATA / "iris_test.csv").out.splitlines()
    without = tmp_path / "without.csv"
    without.write_text("\n".join(line.rsplit(",", 1)[0] for line in lines) + "\n")
    assert kerf("predict", model, without).out.splitlines() == with_target
    assert kerf("predict", model, "-", stdin=without.read_text()).out.splitlines() == with_target
    truth = [line.rsplit(",", 1)[1] for line in lines[1:]]
    assert len(with_target) == len(truth)
    assert sum(a == b for a, b in zip(truth, with_target)) >= 0.9 * len(truth)


def test_predict_streams_before_its_input_ends(model):
    process = subprocess.Popen([PROGRAM, "predict", str(model), "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    out, _ = process.communicate("5.1,3.5,1.4,0.2\n6.7,3.0,5.2,2.3\n", timeout=60)
    assert out.split() == ["setosa", "virginica"] and process.returncode == 0


def test_columns_are_matched_by_name(kerf, model, tmp_path):
    lines = [line.split(",") for line in (DATA / "iris_test.csv").read_text().split()]
    order = [3, 1, 0, 2]
    shuffled = tmp_path / "shuffled.csv"
    shuffled.write_text("\n".join(",".join(row[k] for k in order) for row in lines) + "\n")
    assert kerf("predict", model, shuffled).out == kerf("predict", model, DATA / "iris_test.csv").out


def test_features_are_the_same_bits_for_any_threads_and_from_a_model(kerf, tmp_path):
    data = DATA / "breast_cancer_train.csv"
    options = ["--map", "rff", "--features", "130", "--bandwidth", "300", "--seed", "7"]
    for threads in ("1", "2"):
        assert kerf("transform", data, *options, "--threads", threads, "-o", f"z{threads}.npy").code == 0
    one, two = np.load(tmp_path / "z1.npy"), np.load(tmp_path / "z2.npy")
    assert one.dtype == np.float32 and one.shape == (456, 130)
    assert one.tobytes() == two.tobytes()
    kerf("fit", data, "--map", "rff", "--features", "130", "--bandwidth", "300", "--seed", "7", "--scale", "none", "-o", "m.kerf")
    assert kerf("transform", data, "--model", "m.kerf", "-o", "zm.npy").code == 0
    assert np.load(tmp_path / "zm.npy").tobytes() == one.tobytes()


def test_predictions_are_the_same_bits_for_any_threads(kerf):
    kerf("fit", DATA / "diabetes_train.csv", "-o", "d.kerf", "--features", "64")
    results = [kerf("predict", "d.kerf", DATA / "diabetes_test.csv", "--threads", t).out for t in ("1", "2")]
    assert results[0] == results[1] and len(results[0].splitlines()) == 88


def test_kernel_matrices(kerf, tmp_path):
    rows = np.array([[1, 0, 0], [0, 1, 0], [1, 1, 0], [-1, 0.5, 2], [2, -1, 0.25]])
    np.savetxt(tmp_path / "x.csv", rows, delimiter=",")
    kerf("kernel", "x.csv", "--target", "none", "--kernel", "gaussian", "--bandwidth", "1", "--precision", "double", "-o", "k.npy")
    exact = np.exp(-((rows[:, None] - rows[None]) ** 2).sum(-1) / 2)
    assert np.allclose(np.load(tmp_path / "k.npy"), exact, rtol=1e-12, atol=0)
    kerf("kernel", "x.csv", "--target", "none", "--kernel", "ntk", "--depth", "2", "--precision", "double", "-o", "n.npy")
    # Values of another implementation (landscape: Theta_2, first row).
    assert np.allclose(np.load(tmp_path / "n.npy")[0], [3, 0.685708636283, 2.525059991594, 0.855098976997, 5.234584259178], rtol=1e-11)
    kerf("kernel", "x.csv", "--target", "none", "--against", "x.csv", "--kernel", "arccos", "-o", "a.npy")
    assert np.load(tmp_path / "a.npy").dtype == np.float32


def test_features_reproduce_their_kernel(kerf, tmp_path):
    kerf("transform", DATA / "iris_train.csv", "--map", "arccos", "--features", "8192", "-o", "z.npy")
    kerf("kernel", DATA / "iris_train.csv", "--kernel", "arccos", "--precision", "double", "-o", "k.npy")
    z, k = np.load(tmp_path / "z.npy").astype(float), np.load(tmp_path / "k.npy")
    # Var <= 6 k(x,x) k(y,y)/m an entry (arc_cosine_features.h); the mean over entries cannot exceed it.
    size = np.sqrt(np.outer(np.diag(k), np.diag(k)))
    assert np.sqrt((((z @ z.T - k) / size) ** 2).mean()) < np.sqrt(6 / 8192)


def write_idx(path, array):
    with gzip.open(path, "wb") as file:
        file.write(struct.pack(">BBBB", 0, 0, 8, array.ndim) + struct.pack(f">{array.ndim}I", *array.shape) + array.tobytes())


def test_images_find_their_labels_and_sparse_rows_stay_sparse(kerf, tmp_path):
    random.seed(1)
    labels = np.arange(200, dtype=np.uint8) % 2
    images = np.random.default_rng(1).integers(0, 60, (200, 6, 5), dtype=np.uint8)
    images[labels == 1, :3] += 120
    write_idx(tmp_path / "train-images-idx3-ubyte.gz", images)
    write_idx(tmp_path / "train-labels-idx1-ubyte.gz", labels)
    fit = kerf("fit", "train-images-idx3-ubyte.gz", "-o", "i.kerf", "--features", "64", "--json").json
    assert fit["scale"] == "unit" and fit["columns"] == 30
    assert kerf("score", "i.kerf", "train-images-idx3-ubyte.gz", "--json").json["accuracy"] > 0.95
    lines = [f"{'+1' if l else '-1'} {1 + l}:1 {3 + random.randrange(10)}:{random.random():.3f}" for l in labels]
    (tmp_path / "s.svm").write_text("\n".join(lines) + "\n")
    fit = kerf("fit", "s.svm", "-o", "s.kerf", "--features", "64", "--json").json
    assert fit["scale"] in ("unit", "rms", "none") and fit["task"] == "classification"
    assert kerf("score", "s.kerf", "s.svm", "--json").json["accuracy"] > 0.95


def test_memory_does_not_grow_with_rows(kerf, tmp_path):
    line = ",".join(f"{v:.4f}" for v in np.random.default_rng(2).normal(size=20))
    peaks = []
    quiet = {**os.environ, "ASAN_OPTIONS": "quarantine_size_mb=1"}  # a sanitizer keeps what is freed
    for rows in (20000, 200000):
        (tmp_path / "t.csv").write_text("".join(f"{line},{i % 977}.5\n" for i in range(rows)))
        options = ["--map", "rff", "--solver", "cholesky", "--features", "256", "--lambda", "1e-6", "--task", "regression", "--json"]
        peaks.append(kerf("fit", "t.csv", "-o", "t.kerf", *options, env=quiet).json["peak_memory_bytes"])
    assert peaks[1] < peaks[0] + (4 << 20)  # what the heap keeps differs by some MB; the rows alone would be 15 MB, their features 180


def test_help_teaches(kerf):
    for command in ("fit", "predict", "score", "transform", "kernel", "diagnose", "plan", "compare", "select", "info"):
        text = kerf(command, "--help").out
        assert "Examples:" in text and f"kerf {command}" in text
    maps = {m["name"]: m for m in kerf("maps", "--json").json["maps"]}
    assert "rff" in maps and any(o["name"] == "bandwidth" for o in maps["rff"]["options"])
    fit_help = kerf("fit", "--help").out
    for map_ in maps.values():
        for option in map_["options"]:
            assert "--" + option["name"] in fit_help
    assert {"gaussian", "ntk", "nngp"} <= {k["name"] for k in kerf("kernels", "--json").json["kernels"]}
    assert kerf("--version").out.startswith("kerf 0.")


def test_predicting_needs_no_memory_of_fitting(kerf):
    """Landmarks are kept, what whitened them in training is not."""
    options = ["--map", "nystrom", "--features", "1024", "--lambda", "1e-6", "-o", "n.kerf"]
    assert kerf("fit", DATA / "digits_train.csv.gz", *options, "--memory", "8M").code == 1
    assert kerf("fit", DATA / "digits_train.csv.gz", *options).code == 0
    assert kerf("score", "n.kerf", DATA / "digits_test.csv.gz", "--memory", "8M", "--json").json["accuracy"] > 0.95
    assert kerf("score", "n.kerf", DATA / "digits_test.csv.gz", "--memory", "100K").code == 1

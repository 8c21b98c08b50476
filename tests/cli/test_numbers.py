"""Numbers keep their digits: labels as they are written, rows in double, targets of any size, and files that stay what they are."""
import json
import math
import os
import pathlib
import random
import subprocess
import time

import numpy as np
import pytest
from conftest import PROGRAM, ROOT

REFERENCE = pathlib.Path(os.environ.get("KERF_SHARED", ROOT.parent / "shared")) / "reference" / "exact_kernels.json"


def table(path, rows):
    path.write_text("".join(",".join(str(cell) for cell in row) + "\n" for row in rows))
    return path


# ---- labels -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("labels", [[str(2**53 + k) for k in range(4)], ["007", "7", "07", "8"]])
def test_labels_that_a_double_merges_stay_apart(kerf, tmp_path, labels):
    draw = random.Random(1)
    rows = [(4 * (i % 4) + draw.gauss(0, 0.3), draw.gauss(0, 1), labels[i % 4]) for i in range(200)]
    data = table(tmp_path / "t.csv", rows)
    assert kerf("fit", data, "-o", "m.kerf", "--map", "rff", "--features", "64", "--quiet").code == 0
    predicted = kerf("predict", "m.kerf", data).out.split()
    assert predicted == [row[-1] for row in rows]
    assert kerf("score", "m.kerf", data, "--json").json["accuracy"] == 1


def test_labels_of_another_file_match_as_numbers(kerf, tmp_path):
    draw = random.Random(2)
    rows = [(4 * (i % 2) + draw.gauss(0, 0.3), str(1 + i % 2)) for i in range(100)]
    train = table(tmp_path / "train.csv", rows)
    test = table(tmp_path / "test.csv", [(x, label + ".0") for x, label in rows])
    both = table(tmp_path / "both.csv", rows + [(x, label + ".0") for x, label in rows])
    fit = ("--map", "rff", "--features", "32", "-o", "m.kerf")
    assert kerf("fit", train, *fit, "--quiet").code == 0
    assert kerf("score", "m.kerf", test, "--json").json["accuracy"] == 1
    told = kerf("fit", both, *fit, "--json").json["notes"]
    assert any("'1' and '1.0'" in note or "'2' and '2.0'" in note for note in told)


# ---- rows in double --------------------------------------------------------------------------------------


def reference_rows(seed, n, d):
    return np.array([[((i * 17 + j * 23 + seed * 41 + (i * j) % 13) % 101) / 101 - 0.5 for j in range(d)] for i in range(n)])


def kernel_of(name):
    """The program's words for a kernel of the reference values."""
    parts = name.replace("laplacian_l2", "laplacian-l2").split("_")
    options = [part for key, value in zip(parts[1::2], parts[2::2]) for part in ("--" + key.replace("sigma", "bandwidth"), value)]
    return ["--kernel", parts[0], *options]


@pytest.mark.skipif(not REFERENCE.exists(), reason="no ../shared")
@pytest.mark.parametrize("ending", ["npy", "csv"])
def test_kernels_in_double_agree_with_the_reference(kerf, tmp_path, ending):
    values = {name: np.array(k) for name, k in json.loads(REFERENCE.read_text())["vectors"]["values"].items() if not name.endswith("diag")}
    for name, seed, n in (("x", 1, 6), ("y", 2, 4)):
        rows = reference_rows(seed, n, 5)
        if ending == "npy":
            np.save(tmp_path / "x.npy" if name == "x" else tmp_path / "y.npy", rows)
        else:
            table(tmp_path / f"{name}.csv", rows.tolist())
    for name, exact in values.items():
        done = kerf("kernel", f"x.{ending}", "--target", "none", "--against", f"y.{ending}", "--header", "no", *kernel_of(name), "--precision", "double", "-o", "k.npy", "--json")
        assert done.code == 0, done.err
        assert done.json["row_precision"] == "double"
        np.testing.assert_allclose(np.load(tmp_path / "k.npy"), exact, rtol=1e-12, err_msg=name)


def test_rows_stay_double_in_kernels_and_exact_models(kerf, tmp_path):
    """Against numpy in double, through npy and CSV; rows of single precision would be 1e-8 off."""
    draw = np.random.default_rng(3)
    X = draw.normal(size=(60, 4)) * [1, 10, 0.1, 3] + [0, 5, 0, -2]
    y = np.sin(X[:, 0]) + X[:, 1]
    np.save(tmp_path / "x.npy", X)
    table(tmp_path / "x.csv", X.tolist())
    np.save(tmp_path / "xy.npy", np.column_stack([X, y]))
    table(tmp_path / "xy.csv", np.column_stack([X, y]).tolist())
    K = np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2) / (2 * 2.5**2))
    n, lam = len(X), 1e-3
    # (K + n lambda) a + b = y, sum a = 0
    system = np.block([[K + n * lam * np.eye(n), np.ones((n, 1))], [np.ones((1, n)), np.zeros((1, 1))]])
    solution = np.linalg.solve(system, np.append(y, 0))
    expected = K @ solution[:-1] + solution[-1]
    rounding = np.linalg.cond(system) * 1e-12 * np.abs(expected).max()  # kernel values are right to 1e-12; rows of single precision would be off 40 times as much
    for ending in ("npy", "csv"):
        assert kerf("kernel", f"x.{ending}", "--target", "none", "--kernel", "gaussian", "--bandwidth", "2.5", "--precision", "double", "-o", "k.npy").code == 0
        np.testing.assert_allclose(np.load(tmp_path / "k.npy"), K, rtol=1e-12)
        fit = kerf("fit", f"xy.{ending}", "--task", "regression", "--map", "exact", "--kernel", "gaussian", "--bandwidth", "2.5", "--scale", "none",
                   "--lambda", str(lam), "--precision", "double", "-o", "m.kerf", "--quiet")
        assert fit.code == 0, fit.err
        assert kerf("predict", "m.kerf", f"x.{ending}", "-o", "p.npy").code == 0
        np.testing.assert_allclose(np.load(tmp_path / "p.npy").ravel(), expected, rtol=0, atol=rounding)
    assert kerf("kernel", "x.npy", "--target", "none", "--kernel", "gaussian", "--bandwidth", "2.5", "-o", "k.npy", "--json").json["row_precision"] == "single"


@pytest.mark.parametrize("scale", ["standard", "rms", "unit"])
def test_scaled_rows_agree_with_numpy_to_1e12_in_double(kerf, tmp_path, scale):
    """Factors in single precision left 3.5e-8.  (Means of squares leave 1e-16 (mean / deviation)^2 of a deviation.)"""
    rng = np.random.default_rng(4)
    x = rng.normal(size=(60, 4)) * [1, 30, 0.01, 5] + [0, 7, 0.02, -3]
    y = np.sin(x[:, 0]) + x[:, 3]
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "t.npy", np.column_stack([x, y]))
    z = {"standard": (x - x.mean(0)) / x.std(0), "rms": x / np.sqrt((x * x).mean(0)), "unit": x / np.linalg.norm(x, axis=1)[:, None]}[scale]
    gram = np.exp(-((z[:, None] - z[None]) ** 2).sum(2) / (2 * 1.5 ** 2))
    double = ["--kernel", "gaussian", "--bandwidth", "1.5", "--scale", scale, "--precision", "double"]
    assert kerf("kernel", "x.npy", "--target", "none", *double, "-o", "k.npy").code == 0
    assert np.abs(np.load(tmp_path / "k.npy") - gram).max() < 1e-12
    done = kerf("fit", "t.npy", "--task", "regression", "--map", "exact", *double, "--lambda", "1e-2", "-o", "m.kerf", "--quiet")
    assert done.code == 0, done.err
    assert kerf("predict", "m.kerf", "x.npy", "-o", "p.npy").code == 0
    # The intercept is not penalised; the condition is at most 1 + 1/lambda, so that 1e-15 of an entry becomes 1e-11 at most.
    system = np.block([[gram + 60 * 1e-2 * np.eye(60), np.ones((60, 1))], [np.ones((1, 60)), np.zeros((1, 1))]])
    solution = np.linalg.solve(system, np.append(y, 0))
    assert np.abs(np.load(tmp_path / "p.npy").ravel() - (gram @ solution[:60] + solution[60])).max() < 1e-10


def test_sparse_rows_in_double_say_that_they_are_single(kerf, tmp_path):
    (tmp_path / "s.svm").write_text("1 1:0.1 2:0.3\n0 2:0.7\n")
    told = kerf("kernel", "s.svm", "--kernel", "gaussian", "--bandwidth", "1", "--precision", "double", "-o", "k.npy")
    assert told.code == 0 and "single precision" in told.out


# ---- targets of any size ------------------------------------------------------------------------------------


def regression_rows(scale, seed=5):
    draw = random.Random(seed)
    inputs = [(draw.gauss(0, 1), draw.gauss(0, 1)) for _ in range(300)]
    return [(a, b, (math.sin(2 * a) + b * b + 3) * scale) for a, b in inputs]


@pytest.mark.parametrize("extra", [["--map", "rff", "--features", "128"], ["--map", "rff", "--features", "512", "--variance"],
                                   ["--map", "exact", "--kernel", "gaussian"], ["--map", "auto"],
                                   ["--map", "rff", "--features", "128", "--solver", "pcg"], ["--map", "rff", "--features", "128", "--solver", "sgd"]])
def test_targets_outside_single_precision_are_fitted(kerf, tmp_path, extra):
    def r2(scale):
        data = table(tmp_path / "t.csv", regression_rows(scale))
        done = kerf("fit", data, "-o", "m.kerf", "--task", "regression", *extra, "--quiet")
        assert done.code == 0, done.err
        return kerf("score", "m.kerf", data, "--json").json["r2"]

    ordinary = r2(1)
    assert ordinary > 0.8
    for scale in (1e-100, 1e38):
        assert r2(scale) > ordinary - 0.02  # sgd takes other steps


def test_one_huge_target_never_replaces_a_model_by_one_that_cannot_be_read(kerf, tmp_path):
    rows = regression_rows(1)
    data = table(tmp_path / "t.csv", rows)
    fit = ("--map", "rff", "--features", "128", "--task", "regression", "-o", "m.kerf", "--quiet")
    assert kerf("fit", data, *fit).code == 0
    good = (tmp_path / "m.kerf").read_bytes()
    for huge in (1e99, 1e300):
        rows[17] = (*rows[17][:2], huge)
        done = kerf("fit", table(tmp_path / "huge.csv", rows), *fit)
        if done.code == 0:
            predicted = [float(line) for line in kerf("predict", "m.kerf", data).out.split()]
            assert len(predicted) == 300 and all(math.isfinite(value) for value in predicted)
        else:
            assert done.code == 1 and "range of double precision" in done.err
            assert (tmp_path / "m.kerf").exists() and kerf("info", "m.kerf").code == 0
    assert len(good) > 0


def test_a_column_below_single_precision_gets_a_clear_word(kerf, tmp_path):
    for size in (1e-40, 1e-60, 1e-200):
        data = table(tmp_path / "t.csv", [(a * size, b, y) for a, b, y in regression_rows(1)])
        done = kerf("fit", data, "-o", "m.kerf", "--map", "rff", "--features", "64", "--task", "regression")
        assert done.code == 1 and "input column 0" in done.err and "single precision" in done.err


# ---- files that change --------------------------------------------------------------------------------------


def test_a_checkpoint_of_permuted_inputs_is_refused(kerf, tmp_path):
    rows = [(round(8 * a) / 8, round(8 * b) / 8, y) for a, b, y in regression_rows(1)]  # sums without rounding
    inputs = [row[:2] for row in rows[1:]]
    random.Random(1).shuffle(inputs)
    table(tmp_path / "a.csv", rows)
    table(tmp_path / "b.csv", [rows[0], *((*pair, row[2]) for pair, row in zip(inputs, rows[1:]))])  # the same column sums and targets
    fit = ("--map", "rff", "--features", "64", "--task", "regression", "--solver", "cholesky", "--checkpoint", "state", "--quiet", "-o", "m.kerf")
    assert kerf("fit", "a.csv", *fit).code == 0
    other = kerf("fit", "b.csv", *fit)
    assert other.code == 1 and "another fit" in other.err
    assert kerf("fit", "a.csv", *fit).code == 0, "the same data go on"


def test_a_file_rewritten_during_a_fit_is_noticed(kerf, tmp_path):
    draw = random.Random(4)
    rows = [(round(draw.gauss(0, 1), 3), round(draw.gauss(0, 1), 3)) for _ in range(20000)]
    data = tmp_path / "t.csv"
    # Lines of one length: at any moment of the writing the file is a table.
    text = ["".join(f"{a:+.3f},{b:+.3f},{sign * a + 0.5:+.3f}\n" for a, b in rows) for sign in (1, -1)]
    data.write_text(text[0])
    # sgd passes over the rows many times.
    command = [PROGRAM, "fit", str(data), "-o", "m.kerf", "--map", "rff", "--features", "256", "--task", "regression", "--solver", "sgd", "--epochs", "100000",
               "--patience", "0", "--checkpoint", "state", "--checkpoint-interval", "0"]
    child = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    deadline = time.monotonic() + 60
    while not (tmp_path / "state" / "state.ckpt").exists() and time.monotonic() < deadline and child.poll() is None:
        time.sleep(0.01)
    with open(data, "r+") as file:  # in place: the program has it open
        file.write(text[1])
        file.truncate()
    try:
        _, err = child.communicate(timeout=60)
    finally:
        child.kill()
    assert child.returncode == 1 and "changed while it was in use" in err
    assert not (tmp_path / "m.kerf").exists()


# ---- what is solved ----------------------------------------------------------------------------------------


def test_an_ill_conditioned_fit_is_right_or_says_so(kerf, tmp_path):
    """Against the same fit in double precision; sixteen Lanczos steps saw half of what was wrong."""
    rng = np.random.default_rng(11)
    x = rng.normal(size=(2000, 3)).astype(np.float32)
    y = 5 + np.sin(2 * x[:, 0]) + np.cos(x[:, 1]) * x[:, 2] + 0.1 * rng.normal(size=2000)
    np.save(tmp_path / "t.npy", np.column_stack([x, y]))
    solved = 0
    for map in (["rff", "--features", "128", "--bandwidth", "2"], ["rff", "--features", "256", "--bandwidth", "8"], ["arccos", "--features", "128"]):
        for penalty in ("1e-7", "1e-8"):
            fit = ("fit", "t.npy", "--task", "regression", "--solver", "cholesky", "--lambda", penalty, "--quiet", "--map", *map)
            single = kerf(*fit, "-o", "single.kerf")
            if single.code:
                assert single.code == 1 and "singular" in single.err
                continue
            assert kerf(*fit, "--precision", "double", "-o", "double.kerf").code == 0
            of = [np.array(kerf("predict", model, "t.npy").out.split(), float) for model in ("single.kerf", "double.kerf")]
            error = np.sqrt(np.mean((of[0] - of[1]) ** 2)) / y.std()
            assert error < 1e-4 or "precision" in single.err, (map, penalty, error)
            solved += 1
    assert solved >= 2


def test_sgd_obeys_a_lambda_of_any_size(kerf, tmp_path):
    draw = random.Random(3)
    rows = [(a, b, math.sin(a) + b) for a, b in ((draw.gauss(0, 1), draw.gauss(0, 1)) for _ in range(300))]
    data = table(tmp_path / "t.csv", rows)
    assert kerf("fit", data, "--task", "regression", "--map", "rff", "--features", "64", "--solver", "sgd", "--lambda", "1e20", "-o", "m.kerf", "--quiet").code == 0
    predicted = [float(value) for value in kerf("predict", "m.kerf", data).out.split()]
    assert max(predicted) - min(predicted) < 1e-6  # it acted as if lambda were 0: 4.5

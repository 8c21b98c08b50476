"""Fits that are no better than a constant, data that cannot be learned from, and rows that are not as in training: each is told."""
import random

import numpy as np
import pytest


def write(path, rows, header):
    path.write_text("".join(",".join(map(str, row)) + "\n" for row in [header, *rows]))


@pytest.fixture
def table(tmp_path):
    """x and y of y = a + b^2 and noise."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=(600, 2))
    return x, x[:, 0] + x[:, 1] ** 2 + 0.1 * rng.normal(size=600)


def test_every_fit_shows_accuracy_or_r2_beside_a_constant(kerf, table, tmp_path):
    x, y = table
    write(tmp_path / "numbers.csv", np.column_stack([x, y]), ["a", "b", "y"])
    write(tmp_path / "classes.csv", [[*row, "up" if t > 0.5 else "down"] for row, t in zip(x, y)], ["a", "b", "y"])
    fit = kerf("fit", "numbers.csv", "--json").json
    assert fit["quality"]["metric"] == "r2" and fit["quality"]["constant"] == 0 and fit["quality"]["value"] > 0.9 and fit["quality"]["left_out"]
    assert not fit["warnings"]
    shown = kerf("fit", "classes.csv", "-o", "c.kerf", "--report", "page.html").out
    assert "quality   accuracy 9" in shown and "the commonest class has" in shown and "mean squared error" not in shown
    assert "accuracy 9" in (tmp_path / "page.html").read_text()
    assert kerf("info", "c.kerf", "--json").json["quality"]["metric"] == "accuracy"
    sums = ["--map", "rff", "--features", "64", "--solver", "cholesky", "--checkpoint", "sums", "-o", "s.kerf"]
    assert kerf("fit", "numbers.csv", *sums).code == 0
    assert kerf("refit", "s.kerf", "--checkpoint", "sums", "-o", "r.kerf", "--json").json["quality"]["metric"] == "r2"
    given = kerf("refit", "s.kerf", "--checkpoint", "sums", "--lambda", "1e-3", "-o", "r.kerf", "--json").json["quality"]
    assert given["how"] == "one fold of 5 held out" and given["left_out"] and given["value"] > 0.8


def test_a_regression_with_lambda_given_is_judged_by_rows_left_out(kerf, table, tmp_path):
    x, _ = table
    noise = np.random.default_rng(3).normal(size=600)
    write(tmp_path / "noise.csv", np.column_stack([x, noise]), ["a", "b", "y"])
    for more in (["--map", "rff", "--features", "512", "--solver", "cholesky"], ["--map", "rff", "--features", "512", "--solver", "pcg"],
                 ["--map", "rff", "--features", "1024"], ["--map", "exact", "--kernel", "gaussian"], ["--map", "rff", "--features", "64", "--solver", "sgd"],
                 ["--map", "tefm", "--features", "64"]):
        fit = kerf("fit", "noise.csv", "--lambda", "1e-6", *more, "--json").json
        assert fit["quality"]["left_out"] and fit["quality"]["value"] < 0.05, (more, fit["quality"])  # r2 of the rows trained on: up to 0.9
        assert any("better than a constant" in warning for warning in fit["warnings"]), more
    kept = ["--map", "rff", "--features", "64", "--solver", "cholesky", "--checkpoint", "sums", "-o", "s.kerf"]
    assert kerf("fit", "noise.csv", "--lambda", "1e-6", *kept).code == 0
    again = kerf("refit", "s.kerf", "--checkpoint", "sums", "--lambda", "1e-5", "-o", "r.kerf", "--json").json
    assert again["quality"]["how"] == "leave-one-out of 512 rows" and again["quality"]["value"] < 0.05 and again["warnings"]


def test_noise_constants_and_outliers_are_told(kerf, table, tmp_path):
    x, y = table
    noise = np.random.default_rng(2).normal(size=600)
    write(tmp_path / "noise.csv", np.column_stack([x, noise]), ["a", "b", "y"])
    assert "better than a constant: r2" in kerf("fit", "noise.csv").err
    write(tmp_path / "flat.csv", np.column_stack([np.full((600, 2), 3.0), y]), ["a", "b", "y"])
    assert "no input column varies" in kerf("fit", "flat.csv").err
    write(tmp_path / "same.csv", np.column_stack([x, np.full(600, 2.5)]), ["a", "b", "y"])
    assert "the target is the same in every row" in kerf("fit", "same.csv").err
    x[17, 0] = 1e12
    write(tmp_path / "outlier.csv", np.column_stack([x, y]), ["a", "b", "y"])
    assert "'a': a few values such as 1e+12 in row 17" in kerf("fit", "outlier.csv").err
    x[17, 0], y[31] = 0, 1e12
    write(tmp_path / "target.csv", np.column_stack([x, y]), ["a", "b", "y"])
    assert "the target: a few values such as 1e+12 in row 31" in kerf("fit", "target.csv").err


def test_a_header_of_numbers_is_known_by_the_model_that_has_it(kerf, tmp_path):
    x = np.random.default_rng(3).normal(size=(200, 3))
    write(tmp_path / "years.csv", np.column_stack([x, x @ [1, -2, 1]]), [2018, 2019, 2020, 2021])
    told = kerf("fit", "years.csv", "-o", "row.kerf").out
    assert "201 rows" in told and "the first row is taken for a row (--header yes" in told
    fit = kerf("fit", "years.csv", "--header", "yes", "-o", "years.kerf", "--json").json
    assert fit["rows"] == 200
    assert len(kerf("predict", "years.kerf", "years.csv").out.splitlines()) == 200
    assert kerf("score", "years.kerf", "years.csv", "--json").json["r2"] > 0.99
    write(tmp_path / "mixed.csv", np.column_stack([x[:, ::-1]]), [2020, 2019, 2018])  # by name, without the target
    one, other = (kerf("predict", "years.kerf", name).out.splitlines() for name in ("years.csv", "mixed.csv"))
    assert np.allclose(np.array(one, float), np.array(other, float))


def test_words_that_training_did_not_have_are_counted(kerf, table, tmp_path):
    x, y = table
    random.seed(4)
    colours = [random.choice(["red", "green", "blue"]) for _ in y]
    write(tmp_path / "train.csv", [[c, b, t] for c, b, t in zip(colours, x[:, 1], y)], ["colour", "b", "y"])
    colours[3] = colours[5] = "purple"
    write(tmp_path / "new.csv", [[c, b, t] for c, b, t in zip(colours, x[:, 1], y)], ["colour", "b", "y"])
    fit = kerf("fit", "train.csv", "-o", "m.kerf", "--test", "new.csv", "--json")
    note = "2 cells of 'colour' hold a word that the training rows did not have (the first: 'purple')"
    assert note in fit.err and note in fit.json["test"]["notes"][0]
    for command in (["predict", "m.kerf", "new.csv"], ["score", "m.kerf", "new.csv"], ["transform", "new.csv", "--model", "m.kerf", "-o", "z.npy"]):
        done = kerf(*command, "--json")
        assert note in done.err and done.json["unknown_cells"] == {"colour": 2}
        assert not kerf(*command, "--quiet").err
    assert not kerf("predict", "m.kerf", "train.csv").err


def test_wide_sparse_rows_beat_the_majority_and_come_near_a_linear_svm(kerf, tmp_path):
    from sklearn.datasets import dump_svmlight_file
    from sklearn.svm import LinearSVC
    import scipy.sparse as sp
    rng = np.random.default_rng(1)
    rows, columns, entries = 3000, 30000, 40
    frequency = (1 + np.arange(columns)) ** -0.9
    where = rng.choice(columns, size=(rows, entries), p=frequency / frequency.sum())
    x = sp.csr_matrix((np.ones(rows * entries), (np.repeat(np.arange(rows), entries), where.ravel())), shape=(rows, columns))
    x.data = x.data * rng.lognormal(0, 0.5, size=x.nnz)
    score = x @ rng.normal(size=columns)
    y = (score > np.median(score)).astype(int)
    dump_svmlight_file(x[:2000], y[:2000], str(tmp_path / "train.svm"), zero_based=False)
    dump_svmlight_file(x[2000:], y[2000:], str(tmp_path / "test.svm"), zero_based=False)
    fit = kerf("fit", "train.svm", "--test", "test.svm", "--json").json
    svm = max(LinearSVC(C=c, dual=True).fit(x[:2000], y[:2000]).score(x[2000:], y[2000:]) for c in (0.01, 0.1, 1))
    accuracy = fit["test"]["accuracy"]
    assert accuracy > 0.58 and accuracy > svm - 0.04, (accuracy, svm)  # 1,000 rows: 0.016 a standard error
    assert fit["peak_memory_bytes"] < 400e6 and fit["scale"] in ("unit", "none")


def test_a_good_fit_of_few_rows_is_not_called_useless(kerf, tmp_path):
    (tmp_path / "few.csv").write_text("x,y\n" + "".join(f"{i},{2 * i + 0.01 * (i % 3)}\n" for i in range(8)))
    assert "better than a constant" not in kerf("fit", "few.csv", "--task", "regression").err


def test_kernel_of_columns_far_from_zero(kerf, tmp_path):
    """Standard columns: an offset of a million must not make them constant."""
    draw = np.random.default_rng(0)
    rows = draw.normal(size=(40, 3)).round(2)
    for name, offset in (("near", 0), ("far", 1e6)):
        np.save(tmp_path / f"{name}.npy", rows + offset)
        done = kerf("kernel", f"{name}.npy", "--target", "none", "--kernel", "gaussian", "--bandwidth", "2", "--scale", "standard", "-o", f"K{name}.npy")
        assert done.code == 0, done.err
    near, far = np.load(tmp_path / "Knear.npy"), np.load(tmp_path / "Kfar.npy")
    assert np.abs(near - far).max() < 1e-5


def test_compare_says_when_nothing_is_learnt(kerf, tmp_path):
    draw = random.Random(5)
    rows = [(draw.random() + 0.5, draw.gauss(0, 1)) for _ in range(200)]
    (tmp_path / "noise.csv").write_text("".join(f"{a},{b}\n" for a, b in rows))
    (tmp_path / "line.csv").write_text("".join(f"{a},{3 * a}\n" for a, _ in rows))
    for name, nothing in (("noise.csv", True), ("line.csv", False)):
        found = kerf("compare", name, "--maps", "rff,arccos", "--features", "16", "--seeds", "1", "--json")
        assert ("nothing compared is better than a constant" in found.json["recommendation"]["says"]) == nothing


def test_compare_takes_no_map_of_zeros(kerf, tmp_path):
    """On noise a dead network, which is the constant, has the least error: it must not be recommended for that."""
    draw = random.Random(6)
    (tmp_path / "rows.csv").write_text("".join(f"{draw.gauss(0, 1)},{draw.gauss(0, 1)},{draw.gauss(0, 1)}\n" for _ in range(100)))
    dead = 0
    for seed in range(1, 7):
        options = ["--features", "16", "--depth", "6", "--bias", "0", "--seeds", "1", "--seed", seed, "--sample", "0", "--json"]
        both = kerf("compare", "rows.csv", "--maps", "grad-rf,rff", *options)
        assert both.code == 0, both.err
        if "are 0 on these rows" not in both.err:
            continue
        dead += 1
        assert both.json["recommendation"]["map"] == "rff"
        alone = kerf("compare", "rows.csv", "--maps", "grad-rf", *options)
        assert "Take none of these" in alone.json["recommendation"]["says"]
    assert dead > 0


def test_zeros_advise_only_options_of_the_map(kerf, tmp_path):
    (tmp_path / "zeros.csv").write_text("".join(f"0,0,{i % 7}.5\n" for i in range(50)))
    for name, has_bias in (("compact", False), ("arccos", True)):
        found = kerf("fit", "zeros.csv", "--map", name, "--features", "1", "--scale", "none", "--lambda", "1", "-o", "m.kerf")
        assert "are 0 on these rows" in found.err, found.err
        assert ("--bias" in found.err) == has_bias


def test_columns_far_from_zero_are_named_as_the_cause(kerf, tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(200, 2))
    rows = np.column_stack([1.7e9 + x, x[:, 0]])
    (tmp_path / "far.csv").write_text("".join(",".join(repr(float(v)) for v in row) + "\n" for row in rows))
    for scale in ("none", "rms", "unit"):
        told = kerf("fit", "far.csv", "--map", "arccos", "--features", "32", "--scale", scale, "-o", "m.kerf").err
        assert "2 columns" in told and "lie so far from zero" in told and "--scale standard" in told, told
    assert "far from zero" not in kerf("fit", "far.csv", "--map", "arccos", "--features", "32", "-o", "m.kerf").err

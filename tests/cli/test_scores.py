"""Scores where a figure is not defined, of one class or one value, and the page of a score."""
import numpy as np
import pytest

from conftest import DATA


def write(path, words, rows=80, seed=1):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rows, 2))
    label = [words[int(a + 0.3 * rng.normal() > 0) % len(words)] for a, _ in x]
    path.write_text("a,b,out\n" + "".join(f"{a!r},{b!r},{w}\n" for (a, b), w in zip(x.tolist(), label)))


def test_rows_of_one_class_have_no_auc(kerf, tmp_path):
    write(tmp_path / "t.csv", ("no", "yes"))
    fit = kerf("fit", "t.csv", "--map", "rff", "--features", "32", "--holdout", "0.3")
    assert "precision" in fit.out and "average precision" in fit.out and "of class 'yes'" in fit.out
    lines = (tmp_path / "t.csv").read_text().splitlines()
    (tmp_path / "one.csv").write_text("\n".join([lines[0]] + [line for line in lines if line.endswith(",no")]) + "\n")
    score = kerf("score", "model.kerf", "one.csv", "--json").json
    assert score["auc"] is None and score["average_precision"] is None and "auc" not in score["constant"]
    text = kerf("score", "model.kerf", "one.csv").out
    assert "all rows are of one class" in text
    absent = next(line for line in text.splitlines() if line.endswith("  yes"))
    assert absent.split()[2] == "-"  # no recall of no rows


def test_targets_that_are_all_equal_have_no_r2(kerf, tmp_path):
    kerf("fit", DATA / "diabetes_train.csv", "--map", "rff", "--features", "32", "-q")
    lines = (DATA / "diabetes_test.csv").read_text().splitlines()
    (tmp_path / "one.csv").write_text("\n".join(lines[:2]) + "\n")
    score = kerf("score", "model.kerf", "one.csv", "--json").json
    assert score["r2"] is None and score["rmse"] > 0
    assert "all targets are equal" in kerf("score", "model.kerf", "one.csv").out


def test_every_target_stands_beside_its_constant(kerf, tmp_path):
    rng = np.random.default_rng(2)
    x = rng.normal(size=(120, 2))
    y = np.column_stack([np.sin(x[:, 0]), 5 * x[:, 1]]) + 0.1 * rng.normal(size=(120, 2))
    np.savetxt(tmp_path / "t.csv", np.column_stack([x, y]), delimiter=",", header="a,b,y,z", comments="")
    kerf("fit", "t.csv", "--target", "y,z", "--map", "rff", "--features", "32")
    score = kerf("score", "model.kerf", "t.csv", "--json").json["targets"]
    text = kerf("score", "model.kerf", "t.csv").out
    for one, column in zip(score, y.T):
        middle = np.median(column)
        assert one["constant"]["mae"] == pytest.approx(np.mean(np.abs(column - middle)))
        assert one["constant"]["median_error"] == pytest.approx(np.median(np.abs(column - middle)))
        for figure in ("rmse", "mae", "median_error"):
            assert f"{one[figure]:.4g} ({one['constant'][figure]:.4g})" in text


def test_the_page_of_a_score(kerf, tmp_path):
    kerf("fit", DATA / "wine_train.csv", "--map", "rff", "--features", "16", "-q")
    plain = kerf("score", "model.kerf", DATA / "wine_test.csv", "--worst", "1").out
    told = kerf("score", "model.kerf", DATA / "wine_test.csv", "--worst", "1", "--report", "s.html")
    assert told.code == 0 and told.out.startswith(plain)  # ten rows of the page, one that was asked for
    page = (tmp_path / "s.html").read_text()
    for words in ("How good it is", "Rates of each class", "Which classes are confused", "Score again"):
        assert words in page
    twice = kerf("score", "model.kerf", "-", "--report", "s.html", stdin="")
    assert twice.code == 2 and "twice" in twice.err
    assert kerf("score", "model.kerf", DATA / "wine_test.csv", "--report", "model.kerf").code == 2

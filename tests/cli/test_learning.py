"""Choices that a fit makes by itself, and options that it refuses instead of passing them over."""
import random

import pytest
from conftest import DATA
from test_errors import check


def test_probabilities_of_rows_that_are_all_right_stay_inside(kerf):
    """Every left-out row of wine is right: only the doubt in their labels keeps the factor finite."""
    for loss in ("logistic", "squared-hinge", "squared"):
        fit = ["fit", DATA / "wine_train.csv", "--map", "rff", "--features", "32", "--loss", loss, "-o", "wine.kerf", "--quiet"]
        assert kerf(*fit).code == 0
        # One of 35 rows is wrong: a probability of 1e-9 for its class would cost 0.6 alone.
        assert kerf("score", "wine.kerf", DATA / "wine_test.csv", "--json").json["log_loss"] < 0.5, loss


def test_stochastic_gradients_are_for_what_nothing_else_fits(kerf):
    fit = kerf("fit", DATA / "digits_train.csv.gz", "--image", "8x8", "--shift", "1", "--rows", "200", "--map", "rff", "--features", "512", "--json")
    assert fit.code == 0, fit.err
    assert fit.json["solver"] == "cholesky" and "e+" not in fit.json["solver_reason"]


def small_table(path, rows=60):
    draw = random.Random(3)
    numbers = [[round(draw.gauss(0, 1), 3) for _ in range(3)] for _ in range(rows)]
    path.write_text("".join(f"{a},{b},{c},{a * b - c + 0.5}\n" for a, b, c in numbers))


def test_folds_without_rows_judge_nothing(kerf, tmp_path):
    small_table(tmp_path / "rows.csv")
    for seed in range(1, 9):
        fit = kerf("fit", "rows.csv", "--task", "regression", "--map", "rff", "--features", "8", "--solver", "pcg", "--folds", "60", "--seed", seed, "--json")
        assert fit.code == 0 and fit.json["cv_error"] > 0, fit.err


@pytest.mark.parametrize("options, words", [
    (["--solver", "sgd", "--lambda-grid", "1e-3,1e-2"], ["--solver sgd", "does not choose lambda"]),
    (["--solver", "sgd", "--precision", "double"], ["--solver sgd", "single precision"]),
    (["--solver", "sgd", "--variance"], ["--solver sgd", "variances"]),
    (["--lambda", "1e-3", "--lambda-grid", "1e-3,1e-2"], ["--lambda", "--lambda-grid", "one of them"]),
    (["--solver", "cholesky", "--epochs", "3"], ["--epochs", "--solver sgd", "cholesky"]),
    (["--solver", "pcg", "--learning-rate", "0.1"], ["--learning-rate", "--solver sgd"]),
    (["--solver", "dual", "--features", "128", "--lambda", "0"], ["--solver dual", "positive lambda"]),
])
def test_options_of_solvers_are_not_passed_over(kerf, tmp_path, options, words):
    small_table(tmp_path / "rows.csv")
    features = [] if "--features" in options else ["--features", "16"]
    check(kerf("fit", "rows.csv", "--task", "regression", "--map", "rff", *features, *options), 2, words)


def test_dual_passes_zeros_of_a_grid_over(kerf, tmp_path):
    small_table(tmp_path / "rows.csv")
    fit = kerf("fit", "rows.csv", "--task", "regression", "--map", "rff", "--features", "128", "--solver", "dual", "--lambda-grid", "0,1e-3", "--json")
    assert fit.code == 0 and fit.json["lambda"] == 1e-3, fit.err


def test_rows_far_outside_are_drawn_back_and_counted(kerf, tmp_path):
    small_table(tmp_path / "rows.csv")
    (tmp_path / "new.csv").write_text("0.1,0.2,0.3\n1182,0.2,0.3\n-0.4,0.1,0\n")
    (tmp_path / "test.csv").write_text("0.1,0.2,0.3,0.22\n1182,0.2,0.3,0.5\n")
    fit = ["fit", "rows.csv", "--map", "ntk-rf", "--features", "128", "--quiet"]
    assert kerf(*fit, "-o", "drawn.kerf").code == 0
    assert kerf(*fit, "--clip", "false", "-o", "plain.kerf").code == 0
    drawn, plain = (kerf("predict", f"{name}.kerf", "new.csv", "--json") for name in ("drawn", "plain"))
    assert "1 of 3 rows" in drawn.err and drawn.json["far_rows"] == 1
    assert plain.err == "" and "far_rows" not in plain.json
    targets = [float(line.split(",")[-1]) for line in (tmp_path / "rows.csv").read_text().splitlines()]
    assert abs(drawn.json["predictions"][1]) < 3 * max(map(abs, targets)) < abs(plain.json["predictions"][1]) / 10
    assert drawn.json["predictions"][::2] == plain.json["predictions"][::2]
    score = kerf("score", "drawn.kerf", "test.csv", "--json")
    assert score.json["far_rows"] == 1 and "1 of 2 rows" in score.err
    assert "1 of 3 rows" in kerf("predict", "drawn.kerf", "new.csv", "-q").err  # a warning, which -q leaves
    assert kerf(*fit, "--test", "test.csv", "--json").json["test"]["far_rows"] == 1


def test_a_map_of_zeros_is_said(kerf, tmp_path):
    """A network of one unit a layer, three layers deep, is dead for some seeds."""
    small_table(tmp_path / "rows.csv")
    heard = {}
    for seed in range(1, 7):
        options = ["rows.csv", "--map", "grad-rf", "--features", "8", "--depth", "3", "--bias", "0", "--seed", seed]
        transform = kerf("transform", *options, "--target", "last", "-o", "z.csv")
        assert transform.code == 0, transform.err
        zero = not any(float(cell) for line in (tmp_path / "z.csv").read_text().splitlines() for cell in line.split(","))
        heard[zero] = seed
        assert ("are 0 on these rows" in transform.err) == zero
        fit = kerf("fit", *options, "--scale", "none", "-o", "m.kerf")
        assert ("are 0 on these rows" in fit.err) == zero, fit.err
        diagnosis = kerf("diagnose", *options, "--target", "last", "--seeds", "1", "--json")
        assert ("are 0 on these rows" in diagnosis.err) == zero == ("warnings" in diagnosis.json)
    assert set(heard) == {True, False}


def test_plan_and_compare_say_that_maps_are_of_zeros(kerf, tmp_path):
    small_table(tmp_path / "rows.csv")
    network = ["--depth", "6", "--bias", "0"]
    for target in (["--kernel-error", "1.5"], ["--validation-error", "4"]):  # which features of zeros meet: no size is named
        plan = kerf("plan", "rows.csv", "--map", "grad-rf", *network, *target, "--most", "64", "--seeds", "6", "--json", "--report", "plan.html")
        assert "are 0 on these rows" in plan.err and any("6 maps of" in words for words in plan.json["warnings"]), plan.err
        assert "are 0 on these rows" in (tmp_path / "plan.html").read_text()
        assert plan.json.get("features") is None and "features that are all 0" in plan.json["reason"], plan.out
    compare = kerf("compare", "rows.csv", "--maps", "grad-rf,rff", "--features", "32", *network, "--seeds", "6", "--json", "--report", "compare.html")
    (words,) = compare.json["warnings"]
    assert words.split(" of ")[1] == "6 maps" and "grad-rf" in words and words in compare.err.replace("kerf: warning: ", "")
    assert "are 0 on these rows" in (tmp_path / "compare.html").read_text()
    assert "warnings" not in kerf("compare", "rows.csv", "--maps", "rff", "--features", "8", "--seeds", "2", "--json").json


def wide_sparse_rows(path, rows=700, columns=6000):
    """Twenty ones in each row; the sign of the sum of their columns' coefficients is the class."""
    draw = random.Random(8)
    coefficients = [draw.gauss(0, 1) for _ in range(columns)]
    lines = []
    for _ in range(rows):
        chosen = sorted(draw.sample(range(columns), 20))
        lines.append(f"{1 if sum(coefficients[j] for j in chosen) > 0 else -1} " + " ".join(f"{j + 1}:1" for j in chosen))
    path.write_text("\n".join(lines) + "\n")


@pytest.mark.parametrize("scale", ["auto", "unit", "none", "rms"])
def test_wide_sparse_rows_take_the_linear_model_with_any_scale(kerf, tmp_path, scale):
    """Random features of 6,000 columns are noise: with a given scale, too, the choice is a linear model."""
    wide_sparse_rows(tmp_path / "wide.svm")
    fit = kerf("fit", "wide.svm", "--scale", scale, "-o", "m.kerf", "--json")
    assert fit.code == 0, fit.err
    assert fit.json["map"] == "linear" and fit.json["solver"] == "sparse", fit.json["map"]


def test_far_numbers_of_sparse_rows_are_not_drawn_back(kerf, tmp_path):
    """A rare word has no range: ten times the largest number of training is ten times its weight, and nobody calls it far."""
    draw = random.Random(9)
    rows = [(draw.choice([0, draw.random()]), draw.choice([0, draw.random()])) for _ in range(80)]
    (tmp_path / "t.svm").write_text("".join(f"{2 * a - b} 1:{a} 2:{b}\n" for a, b in rows))
    assert kerf("fit", "t.svm", "--task", "regression", "--map", "linear", "--scale", "none", "--lambda", "1e-9", "-o", "m.kerf").code == 0
    (tmp_path / "new.svm").write_text("0 1:1\n0 1:10\n0 2:1000\n")
    done = kerf("predict", "m.kerf", "new.svm", "--json")
    assert done.json["predictions"] == pytest.approx([2, 20, -1000], rel=1e-3) and "far_rows" not in done.json and done.err == ""

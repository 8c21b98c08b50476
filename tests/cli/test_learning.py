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

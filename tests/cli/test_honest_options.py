"""No option is passed over in silence, and what was taken for granted is said."""
import signal
import subprocess
import time

import pytest

from conftest import DATA, PROGRAM
from test_errors import check

IRIS = DATA / "iris_test.csv"


@pytest.mark.parametrize("command", ["predict", "score"])
def test_a_model_knows_its_columns(kerf, model, command):
    for option in (["--drop", "3"], ["--task", "regression"], ["--image", "2x2"], ["--features", "9"]):
        check(kerf(command, model, IRIS, *option), 2, [option[0], "the model knows its columns", "kerf fit"])
    for option in ("--missing", "--target"):
        assert kerf("predict", model, IRIS, option, "drop").code == 2


def test_score_takes_a_target_that_stands_elsewhere(kerf, model, tmp_path):
    as_fitted = kerf("score", model, IRIS, "--json").json
    rows = [line.split(",") for line in IRIS.read_text().split()]
    (tmp_path / "first.csv").write_text("".join(",".join([r[4], *r[:4]]) + "\n" for r in rows[1:]))
    assert kerf("score", model, "first.csv", "--target", "first", "--json").json["accuracy"] == as_fitted["accuracy"]
    (tmp_path / "kind.csv").write_text(IRIS.read_text().replace("species", "kind", 1))
    assert kerf("score", model, "kind.csv", "--target", "kind", "--json").json["accuracy"] == as_fitted["accuracy"]
    check(kerf("score", model, "kind.csv", "--target", "petal_width"), 2, ["an input of the model"])


def test_missing_cells_of_rows_that_come_to_a_model(kerf, model, tmp_path):
    lines = IRIS.read_text().splitlines()
    lines[2] = "," + lines[2].split(",", 1)[1]
    (tmp_path / "gap.csv").write_text("\n".join(lines) + "\n")
    score = kerf("score", model, "gap.csv", "--missing", "drop", "--json").json
    assert score["rows"] == 29 and score["dropped_rows"] == 1
    check(kerf("score", model, "gap.csv"), 1, ["gap.csv:3:1", "--missing drop"])
    check(kerf("score", model, "gap.csv", "--missing", "mean"), 2, ["no means", "fit"])
    check(kerf("predict", model, "gap.csv"), 1, ["gap.csv:3:1", "fitted with --missing mean"])
    assert kerf("fit", DATA / "iris_train.csv", "--missing", "mean", "-o", "m.kerf", "--map", "rff", "--features", "16").code == 0
    assert len(kerf("predict", "m.kerf", "gap.csv").out.split()) == 30


def test_options_that_the_choice_of_a_map_leaves_no_room_for(kerf, model):
    check(kerf("transform", IRIS, "--model", model, "--features", "99", "-o", "z.npy"), 2, ["--features", "--model"])
    check(kerf("transform", IRIS, "--model", model, "--drop", "0", "-o", "z.npy"), 2, ["--drop"])
    assert kerf("transform", IRIS, "--model", model, "--rows", "5", "-o", "z.npy", "--json").json["rows"] == 5
    check(kerf("fit", IRIS, "--map", "exact", "--kernel", "ntk", "--solver", "pcg"), 2, ["exact", "pcg"])


def test_every_command_has_the_target_of_fit_and_says_so(kerf):
    for command in (["select", IRIS, "--map", "rff", "--budget", "3", "-o", "r.txt"], ["diagnose", IRIS, "--seeds", "1", "--features", "16"],
                    ["kernel", IRIS, "-o", "k.npy"], ["transform", IRIS, "--map", "rff", "-o", "z.npy"]):
        (line,) = [line for line in kerf(command[0], "--help").out.replace("\n   ", " ").splitlines() if line.startswith("  --target")]
        assert line.rstrip().endswith("[last]"), line
        assert "'species' is taken for the target" in kerf(*command).out
        assert "is taken for" not in kerf(*command, "--target", "species").out + kerf(*command, "--target", "none").out


def test_the_test_file_is_looked_at_before_training(kerf, tmp_path):
    check(kerf("fit", DATA / "iris_train.csv", "--test", "nowhere.csv"), 1, ["nowhere.csv"])
    (tmp_path / "short.csv").write_text("sepal_length,species\n1,setosa\n")
    check(kerf("fit", DATA / "iris_train.csv", "--test", "short.csv"), 1, ["short.csv", "sepal_width"])
    check(kerf("compare", DATA / "iris_train.csv", "--test", "short.csv"), 1, ["short.csv", "sepal_width"])
    assert sorted(p.name for p in tmp_path.iterdir()) == ["short.csv"], "a model was trained"


def test_columns_that_may_not_be_what_they_seem(kerf, tmp_path):
    rows = "".join(f"{i % 7},{i % 2}5;{i % 5};{i * 0.37:.2f}\n" for i in range(60))
    (tmp_path / "comma.csv").write_text("a;b;y\n" + rows)
    fit = ["fit", "comma.csv", "--map", "rff", "--features", "16"]
    check(kerf(*fit), 1, ["'a' has a decimal comma; --decimal , reads it"])
    (tmp_path / "comma.csv").write_text("a;b;y\n" + rows.replace(".", ","))
    assert kerf(*fit, "--decimal", ",", "--json").json["columns"] == 2


def test_checkpoints_say_what_they_are_good_for(kerf, tmp_path):
    fit = ["fit", DATA / "diabetes_train.csv", "--map", "rff", "--features", "512", "--json"]
    assert any("kerf refit needs" in note for note in kerf(*fit, "--solver", "dual", "--checkpoint", "none").json["notes"])
    assert not any("refit" in note for note in kerf(*fit, "--solver", "cholesky", "--checkpoint", "sums").json["notes"])
    row = ",".join(str(i * 0.37 % 1) for i in range(40))
    (tmp_path / "big.csv").write_text("".join(f"{i % 991 / 7},{row},{i % 1013}.25\n" for i in range(60000)))
    process = subprocess.Popen([PROGRAM, "fit", "big.csv", "--map", "rff", "--features", "8192", "--solver", "cholesky", "--checkpoint", "state"],
                               cwd=tmp_path, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    time.sleep(1.5)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err.strip().splitlines()[-1] == "kerf: interrupted: no model was written; the same command goes on from state"


def test_small_things(kerf):
    assert "--features" not in kerf("plan", "--help").out
    check(kerf("plan", IRIS, "--features", "8"), 2, ["kerf plan finds --features"])
    check(kerf("fit", IRIS, "--holdout", "0.999"), 2, ["--holdout 0.999", "30 rows"])
    text = kerf("fit", IRIS, "--map", "ntk-poly", "--features", "64").out
    assert " ," not in text and "coefficients" not in text


def test_options_that_cannot_matter(kerf, tmp_path):
    result = kerf("fit", DATA / "diabetes_train.csv", "--map", "nystrom", "--features", "32")
    line = next(line for line in result.out.splitlines() if line.startswith("map"))
    assert "bandwidth" in line and "landmarks uniform" in line
    for name in ("activation", "depth", "slope", "order", "image", "skeleton"):
        assert name not in line, line
    line = kerf("fit", DATA / "diabetes_train.csv", "--map", "arccos", "--features", "32").out
    assert "gibbs-sweeps" not in line
    for options, why in (
            (["nystrom", "--depth", "3"], "gaussian"),
            (["nystrom", "--kernel", "ntk", "--bandwidth", "2"], "ntk"),
            (["nystrom", "--kernel", "ntk", "--slope", "0.1"], "--activation leaky-relu"),
            (["arccos", "--gibbs-sweeps", "3"], "--directions gibbs"),
    ):
        result = kerf("fit", DATA / "diabetes_train.csv", "--features", "32", "--map", *options)
        assert result.code == 2 and why in result.err, (options, result.err)
    result = kerf("fit", DATA / "diabetes_train.csv", "--features", "32", "--map", "arccos", "--directions", "gibbs", "--gibbs-sweeps", "2")
    assert result.code == 0 and "gibbs-sweeps 2" in result.out, result.err

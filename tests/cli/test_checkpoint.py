"""A fit that is killed goes on where it was, and sums that were kept give models with other lambdas."""
import pathlib
import random
import signal
import subprocess
import time

import pytest
from conftest import DATA, PROGRAM

FIT = ["--task", "regression", "--map", "rff", "--features", "2048", "--lambda", "1e-4", "--solver", "cholesky"]


def test_a_killed_fit_resumes_to_the_same_model(kerf, tmp_path):
    draw = random.Random(1)
    rows = [[round(draw.gauss(0, 1), 4) for _ in range(3)] for _ in range(30000)]
    table = tmp_path / "rows.csv"
    table.write_text("".join(f"{a},{b},{c},{a * b - c + 0.5}\n" for a, b, c in rows))
    sample = tmp_path / "sample.csv"
    sample.write_text("".join(f"{a},{b},{c}\n" for a, b, c in rows[:50]))

    checkpoint = ["--checkpoint", "state", "--checkpoint-interval", "0"]
    child = subprocess.Popen([PROGRAM, "fit", str(table), "-o", "killed.kerf", *FIT, *checkpoint, "--quiet"], cwd=tmp_path)
    first = tmp_path / "state" / "sums-0.ckpt"
    deadline = time.monotonic() + 100
    while not first.exists() and time.monotonic() < deadline:
        time.sleep(0.005)
    child.send_signal(signal.SIGKILL)
    child.wait()
    assert first.exists() and not (tmp_path / "killed.kerf").exists()

    again = kerf("fit", table, "-o", "resumed.kerf", *FIT, *checkpoint)
    assert again.code == 0 and "went on from --checkpoint state: " in again.out and "rows were summed before" in again.out
    assert kerf("fit", table, "-o", "whole.kerf", *FIT, "--quiet").code == 0
    resumed, whole = (kerf("predict", name, sample) for name in ("resumed.kerf", "whole.kerf"))
    assert whole.code == 0 and len(whole.out.splitlines()) == 50
    assert resumed.out == whole.out
    other = kerf("fit", table, "-o", "other.kerf", *FIT, "--seed", "2", *checkpoint)
    assert other.code == 1 and "another fit" in other.err


def numbers(text):
    return [float(value) for value in text.split()]


@pytest.mark.parametrize("solver, extra", [("pcg", ["--lambda", "1e-6"]), ("pcg", []), ("newton", ["--loss", "squared-hinge"])])
def test_a_killed_iteration_resumes(kerf, tmp_path, solver, extra):
    """These go on from the last point, not from the same bits: the solutions agree as far as they are solved for."""
    draw = random.Random(2)
    rows = [[round(draw.gauss(0, 1), 4) for _ in range(3)] for _ in range(20000)]
    label = (lambda y: "up" if y > 0 else "down") if solver == "newton" else (lambda y: y)
    table, sample = tmp_path / "rows.csv", tmp_path / "sample.csv"
    table.write_text("".join(f"{a},{b},{c},{label(a * b - c + 0.5 + draw.gauss(0, 0.3))}\n" for a, b, c in rows))
    sample.write_text("".join(f"{a},{b},{c}\n" for a, b, c in rows[:50]))
    fit = ["--map", "rff", "--features", "512", "--solver", solver, *extra, "--quiet"]
    checkpoint = ["--checkpoint", "state", "--checkpoint-interval", "0"]
    child = subprocess.Popen([PROGRAM, "fit", str(table), "-o", "killed.kerf", *fit, *checkpoint], cwd=tmp_path)
    state = tmp_path / "state" / "state.ckpt"
    deadline = time.monotonic() + 100
    while not state.exists() and child.poll() is None and time.monotonic() < deadline:
        time.sleep(0.002)
    child.send_signal(signal.SIGKILL)
    child.wait()
    assert state.exists(), sorted(path.name for path in (tmp_path / "state").iterdir())
    assert not (tmp_path / "killed.kerf").exists()
    assert kerf("fit", table, "-o", "resumed.kerf", *fit, *checkpoint).code == 0
    assert kerf("fit", table, "-o", "whole.kerf", *fit).code == 0
    columns = ["--probability"] if solver == "newton" else []
    resumed, whole = (numbers(kerf("predict", name, sample, *columns).out.replace(",", " ")) for name in ("resumed.kerf", "whole.kerf"))
    assert len(whole) >= 50
    assert max(abs(a - b) for a, b in zip(resumed, whole, strict=True)) < 0.01 * max(map(abs, whole))


def test_refit_equals_a_fit_with_that_lambda(kerf, tmp_path):
    fit = ["fit", DATA / "diabetes_train.csv", "--map", "rff", "--features", "64", "--solver", "cholesky", "--quiet"]
    assert kerf(*fit, "-o", "chosen.kerf", "--checkpoint", "sums").code == 0
    again = kerf("refit", "chosen.kerf", "--checkpoint", "sums", "--lambda", "0.01", "-o", "again.kerf", "--json")
    assert again.code == 0 and again.json["lambda"] == 0.01
    assert kerf(*fit, "-o", "direct.kerf", "--lambda", "0.01").code == 0
    values = [[float(v) for v in kerf("predict", name, DATA / "diabetes_test.csv").out.split()] for name in ("again.kerf", "direct.kerf")]
    # Folds are summed apart in one of them: rounding in single precision differs.
    assert max(abs(a - b) for a, b in zip(*values)) < 1e-3 * max(map(abs, values[1]))
    assert kerf("refit", "chosen.kerf", "--lambda", "0.01", "-o", "no.kerf").code == 2
    assert not pathlib.Path(tmp_path / "no.kerf").exists()


def test_refit_calibrates_probabilities(kerf):
    fit = ["fit", DATA / "digits_train.csv.gz", "--map", "rff", "--features", "128", "--solver", "cholesky", "--quiet"]
    assert kerf(*fit, "-o", "chosen.kerf", "--checkpoint", "sums").code == 0
    assert kerf("refit", "chosen.kerf", "--checkpoint", "sums", "--lambda", "0.001", "-o", "again.kerf").code == 0
    assert kerf(*fit, "-o", "direct.kerf", "--lambda", "0.001").code == 0
    again, direct = (kerf("score", name, DATA / "digits_test.csv.gz", "--json").json["log_loss"] for name in ("again.kerf", "direct.kerf"))
    assert abs(again - direct) < 0.01 * direct


def test_refit_says_what_fit_would_say(kerf):
    fit = ["fit", DATA / "diabetes_train.csv", "--map", "rff", "--features", "64", "--bandwidth", "50", "--solver", "cholesky", "--quiet", "-o", "m.kerf"]
    assert kerf(*fit, "--checkpoint", "sums").code == 0
    again = ["refit", "m.kerf", "--checkpoint", "sums", "--lambda", "1e-9", "-o", "again.kerf"]
    assert "rounding in sums" in kerf(*again, "--json").json["warnings"][0]
    assert "kerf: warning: rounding in sums" in kerf(*again).err
    assert kerf("refit", "m.kerf", "--checkpoint", "sums", "--lambda", "1e-3", "-o", "again.kerf", "--json").json["warnings"] == []


def test_other_targets_are_another_fit(kerf, tmp_path):
    """2,000 rows, of which one target changes: more rows than any sample holds."""
    draw = random.Random(4)
    rows = [[round(draw.gauss(0, 1), 4) for _ in range(4)] for _ in range(2000)]

    def write(name, changed):
        lines = [",".join(map(str, row[:3])) + f",{row[3] + 5 * (i == changed)}" for i, row in enumerate(rows)]
        (tmp_path / name).write_text("\n".join(lines) + "\n")

    write("rows.csv", -1)
    fit = ["--task", "regression", "--map", "rff", "--features", "32", "--solver", "cholesky", "--checkpoint", "sums", "-o"]
    assert kerf("fit", "rows.csv", *fit, "m.kerf").code == 0
    assert kerf("fit", "rows.csv", *fit, "m.kerf").code == 0
    for changed in (0, 1000, 1999):
        write("other.csv", changed)
        other = kerf("fit", "other.csv", *fit, "other.kerf")
        assert other.code == 1 and "another fit" in other.err, changed
    assert kerf("fit", "other.csv", *fit[:-2], "elsewhere", "-o", "other.kerf").code == 0
    refit = kerf("refit", "other.kerf", "--checkpoint", "sums", "--lambda", "1e-2", "-o", "n.kerf")
    assert refit.code == 1 and "another fit" in refit.err


def test_probabilities_and_log_loss(kerf):
    fit = kerf("fit", DATA / "iris_train.csv", "-o", "m.kerf", "--map", "rff", "--features", "32", "--loss", "logistic", "--json")
    assert fit.code == 0 and fit.json["solver"] == "newton", fit.err
    lines = kerf("predict", "m.kerf", DATA / "iris_test.csv", "--probability").out.splitlines()
    for line in lines:
        values = [float(v) for v in line.split(",")]
        assert len(values) == 3 and abs(sum(values) - 1) < 1e-9 and min(values) >= 0
    assert kerf("score", "m.kerf", DATA / "iris_test.csv", "--json").json["log_loss"] < 0.7
    assert kerf("fit", DATA / "iris_train.csv", "-o", "s.kerf", "--map", "rff", "--features", "32", "--quiet").code == 0
    assert kerf("score", "s.kerf", DATA / "iris_test.csv", "--json").json["log_loss"] < 0.6  # the squared loss is calibrated too
    kerf("fit", DATA / "diabetes_train.csv", "--map", "rff", "--features", "16", "-o", "r.kerf")
    assert kerf("predict", "r.kerf", DATA / "diabetes_test.csv", "--probability").code == 2


def test_uneven_folds_of_a_given_lambda_do_not_choose_another(kerf, tmp_path):
    rng = random.Random(7)
    rows = [(rng.gauss(0, 1), rng.gauss(0, 1)) for _ in range(300)]
    (tmp_path / "classes.csv").write_text("".join(f"{a},{b},{'up' if a * b > 0 else 'down'}\n" for a, b in rows))
    fit = ["fit", "classes.csv", "--map", "rff", "--features", "64", "--solver", "cholesky", "--checkpoint", "sums", "-o", "m.kerf"]
    assert kerf(*fit, "--lambda", "1e-3").code == 0
    refused = kerf("refit", "m.kerf", "--checkpoint", "sums", "-o", "r.kerf")
    assert refused.code == 2 and "two parts so uneven" in refused.err and "--lambda" in refused.err
    assert kerf("refit", "m.kerf", "--checkpoint", "sums", "--validation", "gcv", "-o", "r.kerf").code == 0
    given = kerf("refit", "m.kerf", "--checkpoint", "sums", "--lambda", "1e-2", "-o", "r.kerf", "--json").json
    assert given["quality"]["metric"] == "accuracy" and given["quality"]["value"] > 0.8


def test_sums_without_their_sample_say_what_r2_is_of(kerf, tmp_path):
    """The rows kept to judge a given lambda are gone: r2 is that of the rows trained on, and a warning says so."""
    draw = random.Random(3)
    (tmp_path / "rows.csv").write_text("".join(f"{draw.gauss(0, 1)},{draw.gauss(0, 1)},{draw.gauss(0, 1)}\n" for _ in range(200)))
    fit = ["fit", "rows.csv", "--map", "rff", "--features", "64", "--solver", "cholesky", "--lambda", "1e-4", "--checkpoint", "ck", "-o", "m.kerf", "--json"]
    refit = ["refit", "m.kerf", "--checkpoint", "ck", "--lambda", "1e-3", "-o", "r.kerf", "--json"]
    for command in (fit, refit):
        whole = kerf(*command)
        assert whole.json["quality"]["how"].startswith("leave-one-out") and "rows kept to judge" not in whole.err
    (tmp_path / "ck" / "sample.ckpt").unlink()
    for command in (fit, refit):
        found = kerf(*command)
        assert found.json["quality"]["how"] == "the rows trained on"
        assert "not the rows kept to judge them" in found.err and "--checkpoint" in found.err

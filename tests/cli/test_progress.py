"""What is told while a command works and about the time it took."""
import re

from conftest import DATA

DIABETES = DATA / "diabetes_train.csv"


def test_verbose_tells_a_log_how_far_it_is_and_nothing_else_does(kerf):
    fit = ["fit", DIABETES, "--map", "rff", "--features", "64"]
    said = kerf(*fit, "-v")
    assert said.code == 0 and re.match(r"kerf: 0:00 reading, [\d,]+ (of [\d,]+ )?rows", said.err), said.err
    assert kerf(*fit).err == "" and kerf(*fit, "-v", "-q").err == ""
    assert kerf("plan", DIABETES, "--map", "rff", "--kernel-error", "0.3", "-v").err.startswith("kerf: 0:00 reading")
    assert kerf("score", "model.kerf", DATA / "diabetes_test.csv", "-v").err.startswith("kerf: 0:00 scoring")


def test_verbose_shows_the_error_of_each_lambda(kerf):
    fit = ["fit", DIABETES, "--map", "rff", "--features", "64"]
    quiet, verbose = kerf(*fit).out, kerf(*fit, "-v").out
    tried = int(re.search(r"the best of (\d+) tried, by ", quiet).group(1))
    assert len(verbose.splitlines()) == len(quiet.splitlines()) + tried


def test_the_time_line_accounts_for_all_of_it(kerf):
    out = kerf("fit", DATA / "digits_train.csv.gz").out
    line = next(line for line in out.splitlines() if line.startswith("time"))
    total, parts = re.match(r"time +([\d.]+) s \((.*)\), peak", line).groups()
    assert "choosing the kernel" in parts
    # Each is printed to 0.01 s, and those below a hundredth of the total are left out.
    assert abs(sum(float(s) for s in re.findall(r"([\d.]+) s", parts)) - float(total)) < 0.06 + 0.09 * float(total)


def test_words_are_no_riddles(kerf):
    sgd = kerf("fit", DIABETES, "--map", "rff", "--features", "64", "--solver", "sgd", "--epochs", "3").out
    assert "lambda    none: the fit stops early" in sgd and "met on the way" not in sgd
    assert "scored during the best epoch" in sgd and "as asked, " in sgd
    given = kerf("fit", DIABETES, "--map", "rff", "--features", "64", "--lambda", "1e-3").out
    assert "lambda    0.001, as given" in given
    plan = kerf("plan", DIABETES, "--map", "rff", "--kernel-error", "0.3").out
    assert "features are enough, by Hoeffding" in plan and "e+0" not in plan


def test_refit_prints_its_error(kerf):
    assert kerf("fit", DIABETES, "--map", "rff", "--features", "64", "--solver", "cholesky", "--checkpoint", "sums", "-o", "a.kerf").code == 0
    out = kerf("refit", "a.kerf", "--checkpoint", "sums", "--lambda-grid", "1e-3,1e-2", "-o", "b.kerf").out
    assert "the best of 2 tried, by 5-fold cross-validation" in out and re.search(r"error +[\d.]+: mean squared error of the targets", out)
    assert "lambda    0.01, as given" in kerf("refit", "a.kerf", "--checkpoint", "sums", "--lambda", "1e-2", "-o", "b.kerf").out

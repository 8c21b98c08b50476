"""Fits that choose for the user, exact kernels, and testing while fitting."""
import numpy as np
import pytest

from conftest import DATA


def test_fit_alone_chooses_a_map_and_says_why(kerf):
    assert kerf("fit", DATA / "wine_train.csv", "--json").json["map"] == "exact"  # few rows
    fit = kerf("fit", DATA / "wine_train.csv", "--features", "64", "--json").json
    choice = fit["choice"]
    assert len(choice["tried"]) >= 41 and "least error" in choice["why"]
    assert {"matern32", "matern52", "laplacian", "ntk", "nngp", "gaussian", "laplacian-l2"} == {one["candidate"].split(",")[0] for one in choice["tried"]}
    assert choice["tried"][0]["map"] == fit["map"]
    for name, value in choice["tried"][0]["options"].items():
        assert fit["options"][name] == value
    text = kerf("fit", DATA / "wine_train.csv", "--features", "256").out
    assert "chosen" in text and f"{len(choice['tried'])} candidates" in text


def test_choice_is_the_same_every_time(kerf):
    runs = [kerf("fit", DATA / "diabetes_train.csv", "--features", "128", "--threads", t, "--json").json for t in ("1", "2")]
    assert runs[0]["options"] == runs[1]["options"] and runs[0]["map"] == runs[1]["map"]


def test_exact_kernel_ridge_predicts_as_by_hand(kerf, tmp_path):
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(60, 3)), rng.normal(size=60)
    np.savetxt(tmp_path / "t.csv", np.c_[x, y], delimiter=",")
    fit = kerf("fit", "t.csv", "--map", "exact", "--kernel", "gaussian", "--bandwidth", "1.5", "--scale", "none",
               "--lambda", "0.01", "-o", "e.kerf", "--json").json
    assert fit["map"] == "exact" and fit["options"] == {"bandwidth": 1.5, "kernel": "gaussian"}
    predicted = np.array([float(line) for line in kerf("predict", "e.kerf", "t.csv").out.split()])
    x = x.astype(np.float32).astype(float)
    k = np.exp(-((x[:, None] - x[None]) ** 2).sum(-1) / (2 * 1.5**2))
    n = len(y)
    system = np.block([[k + n * 0.01 * np.eye(n), np.ones((n, 1))], [np.ones((1, n)), np.zeros((1, 1))]])
    solution = np.linalg.solve(system, np.r_[y, 0])
    assert np.allclose(predicted, k @ solution[:n] + solution[n], rtol=1e-9, atol=1e-9)


def test_linear_is_a_kernel_like_others_and_wins_where_the_target_is_linear(kerf, tmp_path):
    rng = np.random.default_rng(2)
    x = rng.normal(size=(240, 4))
    y = x @ [1, -2, 0.5, 0] + 3 + 0.1 * rng.normal(size=240)
    np.savetxt(tmp_path / "t.csv", np.c_[x, y], delimiter=",")
    chosen = kerf("fit", "t.csv", "-o", "auto.kerf", "--json").json
    assert chosen["map"] == "linear" and chosen["features"] == 4 and chosen["choice"]["tried"][0]["candidate"] == "linear"
    # The same model by its kernel: of all rows, and of landmarks, which span the four columns.
    options = ["--scale", "none", "--lambda", "0.001"]
    kerf("fit", "t.csv", "--map", "linear", *options, "-o", "linear.kerf")
    expected = np.array([float(line) for line in kerf("predict", "linear.kerf", "t.csv").out.split()])
    for other in (["--map", "exact", "--kernel", "linear"], ["--map", "nystrom", "--kernel", "linear", "--features", "32"]):
        assert kerf("fit", "t.csv", *other, *options, "-o", "m.kerf").code == 0
        predicted = np.array([float(line) for line in kerf("predict", "m.kerf", "t.csv").out.split()])
        assert np.abs(predicted - expected).max() < 2e-3, other
    assert kerf("kernel", "t.csv", "--kernel", "linear", "--scale", "none", "--precision", "double", "-o", "k.npy").code == 0
    x = x.astype(np.float32).astype(float)
    assert np.allclose(np.load(tmp_path / "k.npy"), x @ x.T, atol=1e-5)
    asked = kerf("fit", "t.csv", "--kernel", "linear", "--features", "64")
    assert asked.code == 2 and "--kernel linear" in asked.err and "--map" in asked.err


@pytest.mark.parametrize("kernel, smoothness", [("matern32", 1.5), ("matern52", 2.5)])
def test_matern_kernels_and_their_features(kerf, tmp_path, kernel, smoothness):
    rng = np.random.default_rng(3)
    x = rng.normal(size=(50, 3)).astype(np.float32).astype(float)
    np.savetxt(tmp_path / "x.csv", x, delimiter=",", fmt="%.9g")
    rows = ["x.csv", "--target", "none", "--scale", "none", "--kernel", kernel, "--bandwidth", "1.5"]
    kerf("kernel", *rows, "--precision", "double", "-o", "k.npy")
    r = np.sqrt(2 * smoothness) * np.linalg.norm(x[:, None] - x[None], axis=2) / 1.5
    exact = (1 + r + (r**2 / 3 if kernel == "matern52" else 0)) * np.exp(-r)
    assert np.allclose(np.load(tmp_path / "k.npy"), exact, atol=1e-12)
    for name in ("rff", "orf", "fastfood", "qmc", "compact"):
        assert kerf("transform", *rows, "--map", name, "--features", "8192", "-o", "z.npy").code == 0
        z = np.load(tmp_path / "z.npy").astype(float)
        # 6 standard deviations of at most sqrt(2 / 8192) for 1,225 pairs (compact: of about twice the variance).
        assert np.abs(z @ z.T - exact).max() < 6 * np.sqrt((5 if name == "compact" else 2) / 8192), name


def test_exact_kernels_need_a_kernel_and_memory(kerf):
    missing = kerf("fit", DATA / "iris_train.csv", "--map", "exact")
    assert missing.code == 2 and "--kernel" in missing.err and "ntk" in missing.err
    large = kerf("fit", DATA / "digits_train.csv.gz", "--map", "exact", "--kernel", "ntk", "--memory", "20M")
    assert large.code == 1 and "memory" in large.err


def test_fit_tests_on_a_file_or_on_rows_held_out(kerf):
    options = ["--map", "arccos", "--features", "128", "-o", "m.kerf", "--json"]
    fit = kerf("fit", DATA / "iris_train.csv", *options, "--test", DATA / "iris_test.csv").json
    score = kerf("score", "m.kerf", DATA / "iris_test.csv", "--worst", "0", "--json").json
    assert fit["test"] == score and fit["rows"] == 120
    held = kerf("fit", DATA / "iris_train.csv", *options, "--holdout", "0.25").json
    assert held["rows"] + held["holdout"]["rows"] == 120 and 10 < held["holdout"]["rows"] < 55
    both = kerf("fit", DATA / "iris_train.csv", *options, "--holdout", "0.25", "--test", DATA / "iris_test.csv")
    assert both.code == 2
    assert kerf("fit", DATA / "iris_train.csv", *options, "--holdout", "1.5").code == 2


def test_features_auto_grows_while_it_pays(kerf):
    fit = kerf("fit", DATA / "diabetes_train.csv", "--map", "arccos", "--features", "auto", "--json").json
    tried = [step["features"] for step in fit["growth"]["tried"]]
    assert tried[:2] == [512, 1024] and fit["features"] in tried
    assert fit["cv_error"] == min(step["cv_error"] for step in fit["growth"]["tried"])
    assert kerf("fit", DATA / "diabetes_train.csv", "--map", "arccos", "--features", "auto", "--lambda", "1").code == 2


def test_score_shows_the_worst_rows(kerf):
    kerf("fit", DATA / "diabetes_train.csv", "--map", "arccos", "--features", "64", "-o", "d.kerf")
    score = kerf("score", "d.kerf", DATA / "diabetes_test.csv", "--worst", "3", "--json").json
    truth = [float(line.rsplit(",", 1)[1]) for line in (DATA / "diabetes_test.csv").read_text().splitlines()[1:]]
    predicted = [float(line) for line in kerf("predict", "d.kerf", DATA / "diabetes_test.csv").out.split()]
    errors = np.abs(np.array(truth) - predicted)
    assert [row["row"] for row in score["worst"]] == list(np.argsort(-errors)[:3])
    assert [row["error"] for row in score["worst"]] == pytest.approx(list(np.sort(errors)[::-1][:3]))
    text = kerf("score", "d.kerf", DATA / "diabetes_test.csv").out
    assert "worst rows" in text


def test_info_of_an_exact_model_names_its_rows_and_command(kerf):
    kerf("fit", DATA / "iris_train.csv", "--map", "exact", "--kernel", "ntk", "-o", "e.kerf")
    text = kerf("info", "e.kerf").out
    assert "120 training rows" in text and "leave-one-out" in text
    assert "kerf fit" in text and "--map exact --kernel ntk" in text


def test_lambda_by_gcv_and_leave_one_out(kerf):
    options = ["fit", DATA / "diabetes_train.csv", "--map", "rff", "--features", "32", "--solver", "cholesky", "--precision", "double", "--json"]
    found = {how: kerf(*options, "--validation", how).json for how in ("folds", "gcv", "leave-one-out")}
    assert [f["validation"] for f in found.values()] == ["5-fold cross-validation", "generalised cross-validation", "leave-one-out"]
    errors = [f["cv_error"] for f in found.values()]
    assert max(errors) < 1.1 * min(errors)  # estimates of one number
    kept = kerf(*options, "--validation", "gcv", "--checkpoint", "kept", "-o", "m.kerf").json
    again = kerf("refit", "m.kerf", "--checkpoint", "kept", "--validation", "gcv", "-o", "n.kerf", "--json")
    assert again.code == 0 and abs(again.json["lambda"] / kept["lambda"] - 1) < 1e-12, again.err
    assert kerf(*options[:-1], "--validation", "gcv", "--solver", "pcg").code == 2

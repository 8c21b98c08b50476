"""diagnose, plan and compare: their numbers against numpy, their pages in a parser and in a browser."""
import shlex

import numpy as np
import pytest

from conftest import DATA
from test_report import Page


def oracle(kerf, tmp_path, ridge_of, *options):
    """Epsilon and friends by dense eigenvalues in numpy, from the program's own features and kernel."""
    common = [DATA / "breast_cancer_test.csv", "--target", "diagnosis", "--scale", "standard"]
    kerf("transform", *common, "--map", "rff", "--bandwidth", "5", "--features", "256", "-o", "z.npy", *options)
    kerf("kernel", *common, "--kernel", "gaussian", "--bandwidth", "5", "--precision", "double", "-o", "k.npy")
    z, k = np.load(tmp_path / "z.npy").astype(float), np.load(tmp_path / "k.npy")
    s = ridge_of(len(k))
    values, vectors = np.linalg.eigh(k)
    root = vectors / np.sqrt(np.maximum(values, 0) + s)
    ends = np.linalg.eigvalsh(root.T @ (z @ z.T + s * np.eye(len(k))) @ root)
    difference = z @ z.T - k
    return {
        "epsilon": max(ends[-1] - 1, 1 - ends[0]), "condition_number": ends[-1] / ends[0],
        "statistical_dimension": float(np.sum(values / (values + s))),
        "relative_frobenius": np.linalg.norm(difference) / np.linalg.norm(k),
        "spectral_error": np.abs(np.linalg.eigvalsh(difference)).max() / values[-1],
        "entry_mean_error": np.abs(difference).mean(), "entry_rms_error": np.sqrt((difference**2).mean()),
        "entry_max_error": np.abs(difference).max(), "correlation": np.corrcoef((z @ z.T).ravel(), k.ravel())[0, 1],
    }


def test_diagnose_equals_numpy(kerf, tmp_path):
    found = kerf("diagnose", DATA / "breast_cancer_test.csv", "--target", "diagnosis", "--scale", "standard", "--map", "rff", "--bandwidth", "5",
                 "--features", "256", "--lambda", "1e-3", "--seeds", "1", "--json").json
    assert found["rows"] == found["sample"] == 113 and found["features"] == 256
    for name, value in oracle(kerf, tmp_path, lambda n: 1e-3 * n).items():
        assert found[name] == pytest.approx(value, rel=1e-5), name
    assert found["risk_factor"] is None if found["epsilon"] >= 1 else found["risk_factor"] == pytest.approx(1 / (1 - found["epsilon"]))
    assert len(found["spectrum"]) == 113


def test_diagnose_of_sizes_seeds_and_a_sample(kerf):
    result = kerf("diagnose", DATA / "digits_train.csv.gz", "--target", "digit", "--map", "arccos", "--features", "64,256", "--sample", "200", "--json")
    assert result.code == 0, result.err
    found = result.json
    assert [s["features"] for s in found["sizes"]] == [64, 256] and found["sample"] == 200 and len(found["seeds"]) == 5
    few, many = found["sizes"]
    assert few["relative_frobenius"] > many["relative_frobenius"] == found["relative_frobenius"]
    low, high = many["intervals"]["epsilon"]
    assert low <= many["epsilon"] <= high
    text = kerf("diagnose", DATA / "iris_train.csv", "--target", "species", "--map", "rff", "--features", "128").out
    assert "spectral epsilon" in text and "statistical dimension" in text


def test_a_large_sample_is_refused_before_the_work(kerf):
    result = kerf("diagnose", DATA / "digits_train.csv.gz", "--target", "digit", "--sample", "1400", "--memory", "4M")
    assert result.code == 1 and "--sample" in result.err


def test_plan_gives_a_command_that_meets_the_target(kerf):
    result = kerf("plan", DATA / "wine_train.csv", "--map", "rff", "--kernel-error", "0.1", "--json")
    assert result.code == 0, result.err
    plan = result.json
    assert plan["goal"] == "kernel_error" and not plan["extrapolated"] and plan["bounds"]
    words = shlex.split(plan["command"])
    assert words[:2] == ["kerf", "fit"] and words[words.index("--features") + 1] == str(plan["features"])
    assert kerf(*words[1:], "-o", "w.kerf").code == 0
    fresh = kerf("diagnose", DATA / "wine_train.csv", "--target", "cultivar", "--scale", "standard", "--map", "rff", "--features", str(plan["features"]),
                 "--seed", "1234", "--seeds", "20", "--json").json
    met = [m["relative_frobenius"] <= 0.1 for m in fresh["by_seed"]]
    assert sum(met) >= 18
    assert any(cost["features"] == plan["features"] and cost["memory_bytes"] > 0 for cost in plan["costs"])


def test_plan_says_when_a_target_is_out_of_reach_or_missing(kerf):
    result = kerf("plan", DATA / "diabetes_train.csv", "--map", "rff", "--validation-error", "0.05", "--most", "128", "--seeds", "2")
    assert result.code == 0 and "out of reach" in result.out
    assert kerf("plan", DATA / "diabetes_train.csv", "--map", "rff").code == 2
    assert "kerf diagnose" in kerf("plan", DATA / "diabetes_train.csv", "--epsilon", "0.5", "--features", "12").err


def test_compare(kerf, tmp_path):
    result = kerf("compare", DATA / "digits_train.csv.gz", "--test", DATA / "digits_test.csv.gz", "--maps", "rff,arccos:directions=orthogonal",
                  "--features", "64,256", "--seeds", "2", "--sample", "200", "--json", "--report", "c.html")
    assert result.code == 0, result.err
    found = result.json
    results = {(r["map"], r["features"]): r for r in found["results"]}
    assert len(results) == 4 and found["task"] == "classification"
    for r in results.values():
        assert 0 < r["error"]["mean"] < 0.5 and r["accuracy"] == pytest.approx(1 - r["error"]["mean"]) and r["memory_bytes"] > 0
        assert r["relative_frobenius"]["mean"] > 0 and r["condition_number"]["mean"] >= 1
    assert results["rff", 256]["error"]["mean"] < results["rff", 64]["error"]["mean"]
    assert found["recommendation"]["says"].startswith("Take ")
    words = shlex.split(found["recommendation"]["command"])
    score = kerf(*words[1:], "-o", "best.kerf", "--seed", "1").code
    assert score == 0
    page = Page((tmp_path / "c.html").read_text())
    assert page.references == [] and page.tags.count("svg") > 5 and "Pareto" in page.text


def test_compare_refuses_nonsense(kerf):
    assert kerf("compare", DATA / "iris_train.csv", "--maps", "rff,nope").code == 2
    assert kerf("compare", DATA / "iris_train.csv", "--maps", "rff", "--features", "12,x").code == 2
    assert kerf("compare", DATA / "iris_train.csv", "--maps", "rff", "--depth", "2").code == 2


def test_plan_diagnose_and_compare_look_at_the_map_of_a_fit(kerf, tmp_path):
    """Scale, bandwidth and the choices that depend on the number of features are those of `kerf fit`."""
    digits = [DATA / "digits_train.csv.gz", "--target", "digit", "--rows", "150"]
    plan = kerf("plan", *digits, "--map", "ntk-rf", "--kernel-error", "0.12", "--json").json
    fit = kerf("fit", *digits, "--map", "ntk-rf", "--features", plan["features"], "--json").json
    assert plan["options"] == fit["options"]
    for features in (600, 1200):  # one is split, the other not
        found = kerf("diagnose", *digits, "--scale", "auto", "--map", "ntk-rf", "--bias", "auto", "--features", features, "--seeds", "1", "--json").json
        fit = kerf("fit", *digits, "--map", "ntk-rf", "--features", features, "--lambda", "1e-3", "--json").json
        assert found["options"] == fit["options"], features
    image = [*digits, "--image", "8x8x1", "--map", "nystrom"]
    fit = kerf("fit", *image, "--features", "64", "--lambda", "1e-3", "--json").json
    assert kerf("diagnose", *image, "--features", "64", "--scale", "auto", "--bias", "auto", "--json").json["options"] == fit["options"]
    # A column far from zero, as time stamps are.
    rows = np.random.default_rng(1).normal(size=(200, 3))
    rows[:, 0] = 1.7e9 + 1000 * rows[:, 0]
    np.savetxt(tmp_path / "stamps.csv", rows, delimiter=",", fmt="%.3f")
    options = ["stamps.csv", "--target", "last", "--map", "rff", "--features", "64"]
    found = [kerf(command, *options, *more, "--json").json["options"]["bandwidth"]
             for command, more in (("fit", []), ("diagnose", ["--scale", "standard"]))]
    assert found[0] == found[1]


def test_plan_costs_are_those_of_the_command(kerf):
    digits = [DATA / "digits_train.csv.gz", "--target", "digit", "--rows", "400", "--map", "rff", "--epsilon", "0.7", "--json"]
    own, given = kerf("plan", *digits).json, kerf("plan", *digits, "--lambda", "1e-4").json
    assert own["command"] == given["command"] and "--lambda 0.0001" in own["command"]
    assert [c["memory_bytes"] for c in own["costs"]] == [c["memory_bytes"] for c in given["costs"]]
    assert [c["solver"] for c in own["costs"]] == [c["solver"] for c in given["costs"]]
    text = kerf("plan", *digits[:-1]).out
    assert text.count("a fit: ") == len(own["measured"])


def test_plan_of_a_validation_error_near_zero(kerf):
    """Few rows are held out, and sometimes none of them is wrong."""
    result = kerf("plan", DATA / "breast_cancer_train.csv", "--map", "rff", "--validation-error", "0.08", "--most", "512", "--json")
    assert result.code == 0, result.err
    assert result.json["features"] is not None, result.json["reason"]
    assert result.json["statistical_dimension"] is None  # no kernel was looked at


def test_a_plan_beyond_the_map_keeps_its_measurements(kerf):
    result = kerf("plan", DATA / "iris_train.csv", "--map", "rff", "--kernel-error", "0.0002", "--most", "64")
    assert result.code == 0, result.err
    assert "more than the map can have" in result.out and "measured" in result.out


def test_options_that_cannot_matter_are_refused(kerf):
    result = kerf("compare", DATA / "iris_train.csv", "--test", DATA / "iris_test.csv", "--holdout", "0.3")
    assert result.code == 2 and "--holdout" in result.err
    result = kerf("plan", DATA / "iris_train.csv", "--epsilon", "0.5", "--holdout", "0.3")
    assert result.code == 2 and "--holdout" in result.err


def test_compare_refuses_before_it_fits(kerf):
    result = kerf("compare", DATA / "digits_train.csv.gz", "--maps", "rff", "--features", "64", "--sample", "1400", "--memory", "30M")
    assert result.code == 1 and "--sample" in result.err


def test_help_shows_the_defaults_that_hold(kerf):
    text = kerf("diagnose", "--help", "--map", "rff").out
    assert "numbers of features, as in 256,1024 [1024]" in " ".join(text.split())


def test_an_error_of_zero_stands_on_the_chart(kerf, tmp_path):
    result = kerf("compare", DATA / "iris_train.csv", "--maps", "rff,arccos", "--features", "16,32", "--seeds", "1", "--sample", "0", "--json", "--report", "c.html")
    assert any(r["error"]["mean"] == 0 for r in result.json["results"])
    page = (tmp_path / "c.html").read_text()
    assert page[page.index("How good, at what cost"):page.index("All of them")].count("<circle") >= 8 and " (chosen)" in page


def test_the_page_of_a_fit_to_sparse_images(kerf, tmp_path):
    lines = [f"{1 + i % 2} {1 + i % 2}:0.{5 + i % 5} 4:{i % 3}" for i in range(24)]
    (tmp_path / "a.svm").write_text("\n".join(lines) + "\n")
    result = kerf("fit", "a.svm", "--image", "2x2x1", "--map", "rff", "--features", "16", "--test", "a.svm", "--report", "s.html")
    assert result.code == 0, result.err
    assert (tmp_path / "s.html").read_text().count("<h2>") > 2


def test_many_classes_and_residuals_have_their_place(kerf, tmp_path):
    rows = np.random.default_rng(1).normal(size=(400, 3))
    text = "\n".join(",".join(f"{v:.4f}" for v in row) + f",c{i % 50}" for i, row in enumerate(rows))
    (tmp_path / "many.csv").write_text(text + "\n")
    assert kerf("fit", "many.csv", "--map", "rff", "--features", "16", "--holdout", "0.3", "--report", "m.html").code == 0
    page = (tmp_path / "m.html").read_text()
    assert "Which classes are confused" in page and "<th scope=\"col\"><button>predicted</button></th>" in page
    kerf("fit", DATA / "diabetes_train.csv", "--map", "rff", "--features", "16", "--holdout", "0.3", "--report", "d.html")
    assert "residual" in (tmp_path / "d.html").read_text()

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
    assert [s["features"] for s in found["sizes"]] == [64, 256] and found["sample"] == 200 and len(found["seeds"]) == 3
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

"""diagnose, plan and compare say what the program says."""
import json
import os
import subprocess

import numpy as np
import pytest

import kerf

PROGRAM = os.environ.get("KERF_PROGRAM")


@pytest.fixture
def table():
    X = np.random.default_rng(3).normal(size=(300, 5)).astype(np.float32)
    return X, (np.sin(X[:, 0]) + X[:, 1] > 0).astype(int)


def program(*arguments):
    if PROGRAM is None:
        pytest.skip("KERF_PROGRAM is not set")
    return json.loads(subprocess.run([PROGRAM, *map(str, arguments), "--json"], check=True, capture_output=True, text=True).stdout)


def saved(tmp_path, X, y):
    np.savez(tmp_path / "table.npz", X=X, y=y)
    return tmp_path / "table.npz"


def test_diagnose_is_the_programs(table, tmp_path):
    X, y = table
    np.save(tmp_path / "x.npy", X)
    ours = kerf.diagnose(kerf.ArcCosineFeatures(bias=0), X, features=[64, 256], seeds=3, sample=120, lambda_=1e-3, random_state=5, report=tmp_path / "d.html")
    theirs = program("diagnose", tmp_path / "x.npy", "--target", "none", "--map", "arccos", "--features", "64,256", "--seeds", 3, "--sample", 120, "--lambda", 1e-3, "--seed", 5)
    for name in ("epsilon", "relative_frobenius", "condition_number", "statistical_dimension", "spectrum", "seeds", "sample", "options"):
        assert ours[name] == theirs[name], name
    assert [s["features"] for s in ours["sizes"]] == [64, 256]
    assert "kerf.diagnose(ArcCosineFeatures" in (tmp_path / "d.html").read_text()


def test_plan_is_the_programs(table, tmp_path):
    X, y = table
    ours = kerf.plan(kerf.KernelClassifier(map="rff", random_state=4), X, y, kernel_error=0.15, sample=150, report=tmp_path / "p.html")
    theirs = program("plan", saved(tmp_path, X, y), "--map", "rff", "--kernel-error", 0.15, "--sample", 150, "--seed", 4)
    for name in ("features", "measured", "bounds", "options", "reason", "statistical_dimension"):
        assert ours[name] == theirs[name], name
    assert "features=" in ours["command"] and (tmp_path / "p.html").exists()
    model = kerf.KernelClassifier(map="rff", features=ours["features"], random_state=4).fit(X, y)
    assert model.options_["bandwidth"] == ours["options"]["bandwidth"]
    with pytest.raises(ValueError, match="one target"):
        kerf.plan(kerf.KernelClassifier(map="rff"), X, y)
    with pytest.raises(ValueError, match="feature map"):
        kerf.plan(kerf.KernelClassifier(), X, y, epsilon=0.5)
    with pytest.raises(ValueError, match="KernelRidge"):
        kerf.plan("rff", X, y, epsilon=0.5)


def test_compare_is_the_programs(table, tmp_path):
    X, y = table
    arguments = dict(features=[32, 128], seeds=2, sample=100)
    ours = kerf.compare(kerf.KernelClassifier(), X, y, maps=["rff", kerf.ArcCosineFeatures(order=0)], report=tmp_path / "c.html", **arguments)
    theirs = program("compare", saved(tmp_path, X, y), "--maps", "rff,arccos:order=0", "--features", "32,128", "--seeds", 2, "--sample", 100)
    assert [r["error"]["mean"] for r in ours["results"]] == [r["error"]["mean"] for r in theirs["results"]]
    assert [r["epsilon"]["mean"] for r in ours["results"]] == [r["epsilon"]["mean"] for r in theirs["results"]]
    assert ours["results"][2]["map"].startswith("ArcCosineFeatures(") and "Pareto" in (tmp_path / "c.html").read_text()
    with pytest.raises(ValueError, match="a map is a name"):
        kerf.compare(kerf.KernelClassifier(), X, y, maps=[3], **arguments)


def test_a_page_that_cannot_be_written_is_said_first(table, tmp_path):
    X, y = table
    with pytest.raises(ValueError, match="nowhere"):
        kerf.compare(kerf.KernelClassifier(), X, y, maps=["rff"], features=[32], report=tmp_path / "nowhere" / "c.html")


def test_a_transformer_is_split_as_in_a_fit(table):
    X, _ = table
    assert kerf.NTKFeatures(features=256, bias=0).fit(X).options_["split"] == kerf.KernelRidge(map="ntk-rf", features=256, bias=0).fit(X, X[:, 0]).options_["split"]

"""An addition is a file of its own and one line: a map, a kernel, a solver and a format that only this folder knows.

`kerf_extended` and the module beside it are the program and the package as they are, relinked with four registries that have one line more (CMakeLists.txt).
"""
import json
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

DATA = pathlib.Path(__file__).resolve().parents[2] / "data"
PROGRAM = os.environ.get("KERF_EXTENDED")
PACKAGE = os.environ.get("KERF_EXTENDED_PYTHON")
pytestmark = pytest.mark.skipif(not PROGRAM, reason="KERF_EXTENDED is not built")


@pytest.fixture
def kerf(tmp_path):
    def run(*arguments):
        done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, cwd=tmp_path, timeout=120)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


@pytest.fixture
def table(tmp_path):
    x = np.random.default_rng(1).normal(size=(80, 3))
    rows = np.c_[x, np.sin(x[:, 0]) + x[:, 1]]
    np.savetxt(tmp_path / "t.csv", rows, delimiter=",")
    return rows


def test_the_plain_program_knows_none_of_them():
    plain = subprocess.run([os.environ["KERF_PROGRAM"], "manual"], capture_output=True, text=True).stdout
    assert "cholesky" in plain and "dummy" not in plain


def test_a_map(kerf, table):
    assert "dummy-map" in kerf("maps") and "warmth" in kerf("maps")
    assert "--warmth" in kerf("fit", "--help") and "dummy-map" in kerf("completion", "bash")
    fit = json.loads(kerf("fit", "t.csv", "--map", "dummy-map", "--features", "6", "--lambda", "1e-6", "-o", "m.kerf", "--json"))
    assert fit["options"]["features"] == 6
    assert fit["options"]["warmth"] == pytest.approx(np.sqrt(3), rel=1e-6)  # its own rule, of columns of variance 1
    predicted = [float(line) for line in kerf("predict", "m.kerf", "t.csv").split()]
    x = np.c_[table[:, :3], np.ones(80)]
    linear = x @ np.linalg.lstsq(x, table[:, 3], rcond=None)[0]
    assert np.allclose(predicted, linear, atol=1e-3)
    assert "dummy-map" in kerf("info", "m.kerf")


def test_a_kernel_and_nystrom_takes_it(kerf, table):
    assert "dummy-kernel" in kerf("kernels") and "--reach" in kerf("kernel", "--help")
    kerf("kernel", "t.csv", "--target", "last", "--kernel", "dummy-kernel", "--reach", "2", "-o", "k.csv")
    nystrom = next(m for m in json.loads(kerf("maps", "--json"))["maps"] if m["name"] == "nystrom")
    assert "dummy-kernel" in next(o for o in nystrom["options"] if o["name"] == "kernel")["choices"]
    fit = json.loads(kerf("fit", "t.csv", "--map", "nystrom", "--kernel", "dummy-kernel", "--features", "80", "-o", "n.kerf", "--json"))
    exact = json.loads(kerf("fit", "t.csv", "--map", "exact", "--kernel", "dummy-kernel", "-o", "e.kerf", "--json"))
    assert fit["options"]["reach"] == exact["options"]["reach"] > 1
    assert json.loads(kerf("score", "n.kerf", "t.csv", "--json"))["r2"] > 0.9


def test_map_auto_offers_a_kernel_that_declares_itself(kerf, table):
    for more in (["--features", "64"], []):
        choice = json.loads(kerf("fit", "t.csv", *more, "--json"))["choice"]
        offered = [t for t in choice["tried"] if t["candidate"].startswith("dummy-kernel")]
        assert [t["candidate"] for t in sorted(offered, key=lambda t: t["candidate"])] == ["dummy-kernel, reach 1", "dummy-kernel, reach 2"]
        assert {t["map"] for t in offered} == {"nystrom"} and len(choice["tried"]) >= 43  # with our own, and those beyond the edge of a grid
    given = json.loads(kerf("fit", "t.csv", "--reach", "3", "-o", "r.kerf", "--json"))  # only it has such an option
    assert given["options"] == {"kernel": "dummy-kernel", "reach": 3}


def test_a_solver(kerf, table):
    assert "dummy-solver" in kerf("fit", "--help") and "dummy-solver" in kerf("completion", "bash")
    options = ["--map", "rff", "--features", "64", "--json"]
    fit = json.loads(kerf("fit", "t.csv", *options, "--solver", "dummy-solver", "-o", "d.kerf"))
    assert fit["solver"] == "dummy-solver" and "the dummy solver was here" in fit["notes"]
    kerf("fit", "t.csv", *options, "--solver", "cholesky", "-o", "c.kerf")
    assert kerf("predict", "d.kerf", "t.csv") == kerf("predict", "c.kerf", "t.csv")
    assert json.loads(kerf("fit", "t.csv", *options))["solver"] != "dummy-solver"  # it has a drawback


def test_a_format(kerf, table, tmp_path):
    (tmp_path / "t.dummy").write_bytes(b"DUMMY\0\4" + table.astype("<f8").tobytes())
    options = ["--map", "rff", "--features", "64", "--json"]
    assert json.loads(kerf("fit", "t.dummy", *options, "-o", "d.kerf"))["rows"] == 80
    kerf("fit", "t.csv", *options, "-o", "c.kerf")
    assert kerf("predict", "d.kerf", "t.dummy") == kerf("predict", "c.kerf", "t.csv")


PYTHON = """
import inspect, numpy as np, kerf
X = np.random.default_rng(1).normal(size=(80, 3))
y = np.sin(X[:, 0]) + X[:, 1]
assert kerf.maps()["dummy-map"][0] == "DummyFeatures"
Z = kerf.DummyFeatures(features=6).fit_transform(X)
assert np.allclose(Z @ Z.T, X @ X.T, atol=1e-4)
assert kerf.kernels.dummy_kernel(X, reach=2.0)[0, 0] == 1 and kerf.kernels.DummyKernel(reach=2.0)(X).shape == (80, 80)
assert "reach" in inspect.signature(kerf.Nystrom).parameters
for learner in (kerf.KernelRidge(map="dummy-map", features=6), kerf.KernelRidge(map="nystrom", kernel="dummy-kernel", features=40),
                kerf.KernelRidge(map="exact", kernel="dummy-kernel"), kerf.KernelRidge(map=kerf.DummyFeatures(features=6)),
                kerf.KernelRidge(map="rff", features=64, solver="dummy-solver")):
    assert learner.fit(X, y).score(X, y) > 0.5, learner
assert learner.report_["solver"] == "dummy-solver"
assert not hasattr(learner, "partial_fit")
labels = [label for label, errors in kerf.KernelRidge(features=64).fit(X, y).report_["map_choice"]["tried"]]
assert "dummy-kernel, reach 1" in labels
"""


@pytest.mark.skipif(not PACKAGE, reason="the Python package is not built")
def test_python_knows_them():
    done = subprocess.run([sys.executable, "-c", PYTHON], capture_output=True, text=True, timeout=120, env={**os.environ, "PYTHONPATH": PACKAGE})
    assert done.returncode == 0, done.stderr

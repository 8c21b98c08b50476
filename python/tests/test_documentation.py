"""Docstrings, docs/python.md, the example and the stubs are what they say."""
import doctest
import importlib.util
import os
import pathlib
import re
import subprocess
import sys

import pytest
from conftest import ROOT

import kerf

DOCUMENT = ROOT / "docs" / "python.md"


def documented():
    """Everything public that has a docstring of its own."""
    things = {"kerf": kerf, "kerf.maps": kerf.maps, "kerf.load": kerf.load, "kerf.diagnose": kerf.diagnose, "kerf.plan": kerf.plan, "kerf.compare": kerf.compare, "kerf.select": kerf.select}
    for module in (kerf.features, kerf.kernels, kerf.learn):
        things[module.__name__] = module
        for name in module.__all__:
            things[f"{module.__name__}.{name}"] = getattr(module, name)
    return things


@pytest.mark.parametrize("name", sorted(documented()))
def test_docstrings_are_there_and_their_examples_run(name):
    thing = documented()[name]
    assert thing.__doc__ and len(thing.__doc__) > 40
    test = doctest.DocTestParser().get_doctest(thing.__doc__, {"kerf": kerf}, name, None, None)
    results = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(test)
    assert results.failed == 0


@pytest.mark.parametrize("name", [n for n, t in documented().items() if isinstance(t, type)])
def test_every_parameter_is_documented(name):
    thing = documented()[name]
    for parameter in thing._parameters:
        assert re.search(rf"^{parameter.name} : ", thing.__doc__, re.M), parameter.name


def blocks():
    return re.findall(r"```python\n(.*?)```", DOCUMENT.read_text(), re.S)


@pytest.mark.parametrize("number", range(len(blocks()) if DOCUMENT.exists() else 0))
def test_code_of_the_document_runs(number, tmp_path, monkeypatch):
    for package in re.findall(r"^(?:import|from) (\w+)", blocks()[number], re.M):
        pytest.importorskip(package)
    (tmp_path / "data").symlink_to(ROOT / "data")
    monkeypatch.chdir(tmp_path)
    exec(compile(blocks()[number], f"docs/python.md, block {number}", "exec"), {})


def table(title):
    """The rows of the table below a heading: the code in their cells."""
    section = DOCUMENT.read_text().split(f"## {title}")[1].split("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")][2:]
    return [re.findall(r"`([^`]+)`", line) for line in lines]


def test_migration_from_scikit_learn():
    """Both sides of every row give the same kind of thing; exact ones the same numbers."""
    pytest.importorskip("sklearn")
    import numpy as np
    import sklearn.gaussian_process.kernels as gpk  # noqa: F401
    import sklearn.metrics.pairwise as pairwise  # noqa: F401
    from sklearn.kernel_approximation import Nystroem, RBFSampler  # noqa: F401
    from sklearn.kernel_ridge import KernelRidge  # noqa: F401
    from sklearn.linear_model import Ridge, RidgeClassifier  # noqa: F401
    rng = np.random.default_rng(0)
    X, s, n = rng.normal(size=(80, 4)).astype(np.float32), 1.7, 80
    y, c = rng.normal(size=80), rng.integers(0, 3, 80)
    Z = kerf.RFF(bandwidth=s, features=64).fit_transform(X)
    names = {**locals(), "kerf": kerf, "np": np}
    rows = table("Coming from scikit-learn")
    assert len(rows) >= 6
    for theirs, ours in (row[:2] for row in rows):
        left, right = eval(theirs, names), eval(ours, names)
        assert np.shape(left) == np.shape(right), (theirs, ours)
        if "fit" not in theirs:
            np.testing.assert_allclose(left, right, rtol=2e-5, err_msg=ours)
        elif theirs.startswith("Ridge("):
            np.testing.assert_allclose(left, right, atol=1e-4, err_msg=ours)


def test_migration_from_neural_tangents():
    """Its kernels in closed form (Jacot et al.), for the constants that the table names; the package itself where it is installed."""
    import numpy as np
    X = np.random.default_rng(1).normal(size=(12, 5)).astype(np.float32)
    d = X.shape[1]

    def stax(depth, w_std, b_std, kind):
        """What stax.serial(Dense, Relu, ..., Dense) computes: S = w^2 <x, y>/d + b^2 at the start."""
        gram = X.astype(float) @ X.T.astype(float)
        S = w_std**2 * gram / d + b_std**2
        T = S.copy()
        for _ in range(depth):
            norms = np.sqrt(np.outer(S.diagonal(), S.diagonal()))
            a = np.clip(S / norms, -1, 1)
            k1 = (np.sqrt(1 - a * a) + a * (np.pi - np.arccos(a))) / np.pi
            k0 = (np.pi - np.arccos(a)) / np.pi
            S, T = w_std**2 * norms * k1 / 2 + b_std**2, w_std**2 * T * k0 / 2
            T = T + S
        return S if kind == "nngp" else T

    names = {"X": X, "d": d, "kerf": kerf, "np": np, "stax": stax}
    rows = table("Coming from neural-tangents")
    assert len(rows) >= 3
    for row in rows:
        theirs, ours = row[0], row[1]
        np.testing.assert_allclose(eval(ours, names), eval(theirs, names), rtol=1e-6, err_msg=ours)


@pytest.mark.parametrize("example", sorted(p.name for p in (ROOT / "examples").glob("*.py")))
def test_examples_run(example, tmp_path):
    done = subprocess.run([sys.executable, str(ROOT / "examples" / example), str(ROOT / "data")], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "accuracy" in done.stdout


def test_stubs_are_up_to_date():
    spec = importlib.util.spec_from_file_location("make_stubs", ROOT / "python" / "make_stubs.py")
    make_stubs = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(make_stubs)
    for name, make in make_stubs.STUBS.items():
        assert (ROOT / "python" / "kerf" / name).read_text() == make(), f"{name}: run python/make_stubs.py"


def test_stubs_type_check(tmp_path):
    """A user's program passes mypy, and a wrong one does not."""
    pytest.importorskip("mypy")
    (tmp_path / "use.py").write_text(
        "import kerf, numpy as np\nX = np.zeros((4, 2))\nmap = kerf.RFF(kernel='laplacian', bandwidth=2.0, features=64)\n"
        "model = kerf.KernelRidge(map='rff', lambda_='auto', bandwidth=1.5).fit(X, X[:, 0])\nvalue: float = model.best_lambda_\n"
        "K = kerf.kernels.ntk(X, depth=3)\nkernel = kerf.kernels.NTK(depth=2, bias=1.0)\n")
    (tmp_path / "misuse.py").write_text("import kerf\nkerf.RFF(kernel='laplasian')\nkerf.RFF(gamma=1.0)\nkerf.KernelRidge(features='many')\n")
    package = pathlib.Path(kerf.__file__).resolve().parent.parent
    installed = package.name == "site-packages"  # where mypy looks by itself, and will not be told to
    environment = {**os.environ, "MYPYPATH": "" if installed else str(package)}

    def mypy(name):
        return subprocess.run([sys.executable, "-m", "mypy", "--ignore-missing-imports", "--follow-imports=silent", "--cache-dir", str(tmp_path / "cache"), name],
                              cwd=tmp_path, capture_output=True, text=True, env=environment)

    good, bad = mypy("use.py"), mypy("misuse.py")
    assert good.returncode == 0, good.stdout + good.stderr
    assert bad.stdout.count("error:") == 3, bad.stdout

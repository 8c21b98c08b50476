"""The package under test is whatever `import kerf` finds: the build tree (PYTHONPATH=<build>/python, as ctest sets it) or an installed wheel."""
import os
import pathlib
import signal
import subprocess

import numpy as np
import pytest

import kerf

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = ROOT / "data"

# Where the tests run in the background of a shell, Ctrl-C is ignored, and every program they start would inherit that.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def csv(name):
    """The rows and the targets of a file of data/."""
    table = np.genfromtxt(DATA / name, delimiter=",", skip_header=1, dtype=str)
    return table[:, :-1].astype(np.float64), table[:, -1]


def log_loss(model, X, y):
    """Mean of -log p of the class, and the least probability."""
    p = model.predict_proba(X)
    place = np.searchsorted(model.classes_, y)
    return -np.log(np.maximum(p[np.arange(len(y)), place], 1e-15)).mean(), p.min()


def transformers():
    """A small instance of every feature map."""
    return [getattr(kerf, name)(features=128) for name, _ in kerf.maps().values()]


@pytest.fixture
def rows():
    return np.random.default_rng(7).normal(size=(60, 5)).astype(np.float32)


@pytest.fixture
def regression():
    X = np.random.default_rng(3).normal(size=(300, 3))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2]


@pytest.fixture(scope="session")
def program():
    """Runs the program; skips where it was not built (an installed wheel)."""
    path = os.environ.get("KERF_PROGRAM", ROOT / "build" / "release" / "bin" / "kerf")
    if not pathlib.Path(path).exists():
        pytest.skip("the program kerf is not built")

    def run(*arguments, cwd):
        done = subprocess.run([str(path), *map(str, arguments)], cwd=cwd, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run

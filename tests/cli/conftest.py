"""How the tests of the program run it: `kerf` is build/<preset>/bin/kerf, given by KERF_PROGRAM."""
import json
import os
import pathlib
import signal
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("KERF_PROGRAM", str(ROOT / "build" / "release" / "bin" / "kerf"))
DATA = ROOT / "data"

# Where the tests run in the background of a shell, Ctrl-C is ignored, and every program they start would inherit that.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


class Result:
    def __init__(self, done):
        self.code, self.out, self.err = done.returncode, done.stdout, done.stderr

    @property
    def json(self):
        return json.loads(self.out)


@pytest.fixture
def kerf(tmp_path):
    """Runs the program in a folder of its own."""

    def run(*arguments, stdin=None, **options):
        done = subprocess.run([PROGRAM, *map(str, arguments)], input=stdin, capture_output=True, text=True,
                              cwd=tmp_path, timeout=120, **options)
        return Result(done)

    return run


@pytest.fixture
def model(kerf, tmp_path):
    """A small classifier of iris, trained by the program."""
    result = kerf("fit", DATA / "iris_train.csv", "-o", "iris.kerf", "--map", "arccos", "--features", "64", "--quiet")
    assert result.code == 0, result.err
    return tmp_path / "iris.kerf"

"""kerf inside the engines that people run it in.  Each test is a script of its own, with a time limit: a process that hangs is a failure, and so
is an engine that is not installed (`make test-engines` installs them)."""
import os
import subprocess
import sys
import textwrap

import pytest

# Uses several threads before anything is forked; `use()` is a fit and its predictions.
USE = '''
import os, sys, time, numpy as np, kerf
kerf.set_threads(2)
X = np.random.default_rng(0).normal(size=(600, 4)).astype(np.float32)
y = np.sin(X[:, 0]) + X[:, 1]
def use(features=512):
    return kerf.KernelRidge(map="rff", features=features, lambda_=1e-3, solver="cholesky").fit(X, y).predict(X[:5]).tolist()
def predict(model, rows):
    return os.getpid(), model.predict(rows).tolist()
'''


@pytest.fixture
def script(tmp_path):
    """Runs USE, then `code` under `if __name__ == "__main__"`, from a file, as spawned workers want it; returns what it printed."""

    def run(code, seconds=120):
        path = tmp_path / "script.py"
        path.write_text(USE + 'if __name__ == "__main__":\n' + textwrap.indent(textwrap.dedent(code), "    "))
        environment = {k: v for k, v in os.environ.items() if k not in ("KERF_NUM_THREADS", "OMP_NUM_THREADS")}
        done = subprocess.run([sys.executable, path], capture_output=True, text=True, timeout=seconds, env=environment, cwd=tmp_path)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return run

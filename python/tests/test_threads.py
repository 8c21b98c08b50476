"""Threads in a process that does more than kerf: forks, other fits at the same time, limits from outside, Ctrl-C while it solves."""
import os
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest

import kerf


def run(code, **environment):
    return subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=120,
                          env={**{k: v for k, v in os.environ.items() if k not in ("KERF_NUM_THREADS", "OMP_NUM_THREADS")}, **environment})


USE = """
    import os, sys, numpy as np, kerf
    kerf.set_threads(2)
    X = np.random.default_rng(0).normal(size=(600, 4)).astype(np.float32)
    def use():
        return kerf.KernelRidge(map="rff", features=512, lambda_=1e-3, solver="cholesky").fit(X, X[:, 0]).predict(X[:5]).tolist()
    before = use()
"""


@pytest.mark.parametrize("child", ["pass", "assert use() == before"])
def test_a_forked_child_ends_whether_it_uses_kerf_or_not(child):
    """The child leaves through the exit handlers, as sys.exit does, and not by os._exit."""
    done = run(USE + f"""
    import signal
    signal.alarm(60)
    pid = os.fork()
    if pid == 0:
        signal.alarm(30)
        {child}
        sys.exit(7)
    _, status = os.waitpid(pid, 0)
    print(os.waitstatus_to_exitcode(status), use() == before)
    """)
    assert done.stdout == "7 True\n", done.stdout + done.stderr


FITS = {
    "exact": dict(map="exact", kernel="gaussian"),
    "dual": dict(map="rff", features=1024, solver="dual"),
    "cholesky with lambda chosen": dict(map="rff", features=512, solver="cholesky"),
}


@pytest.mark.parametrize("name", FITS)
def test_fits_at_the_same_time_have_the_same_bits(name):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(500, 6)).astype(np.float32)
    y = np.sin(X[:, 0]) + 0.1 * rng.normal(size=500)

    def fit():
        model = kerf.KernelRidge(**FITS[name]).fit(X, y)
        return model.best_lambda_, model.predict(X).tobytes()

    alone, together = fit(), []
    threads = [threading.Thread(target=lambda: [together.append(fit()) for _ in range(2)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(together) == 8 and all(result == alone for result in together)


def test_threads_from_the_environment():
    ask = "import kerf; print(kerf.threads())"
    assert run(ask, KERF_NUM_THREADS="3", OMP_NUM_THREADS="2").stdout == "3\n"
    assert run(ask, OMP_NUM_THREADS="5").stdout == "5\n"
    assert run(ask, OMP_NUM_THREADS="4,2").stdout == "4\n"
    cores = run(ask).stdout
    assert run(ask, OMP_NUM_THREADS="many").stdout == cores and int(cores) >= 1
    assert "KERF_NUM_THREADS must be a number from 1 to 1024, not 'many'" in run(ask, KERF_NUM_THREADS="many").stderr


def test_n_jobs_limits_one_estimator_and_not_the_others():
    seen = []
    X = np.random.default_rng(0).normal(size=(100, 3)).astype(np.float32)
    before = kerf.threads()
    fits = [kerf.KernelRidge(map="rff", features=64, n_jobs=n, progress=lambda *_: seen.append(kerf.threads())).fit(X, X[:, 0]) for n in (3, 1, None)]
    assert set(seen) == {3, 1, before} and kerf.threads() == before
    assert fits[0].predict(X).tobytes() == fits[1].predict(X).tobytes() == fits[2].predict(X).tobytes()
    maps = [kerf.RFF(features=64, n_jobs=n).fit_transform(X).tobytes() for n in (2, -1, None)]
    assert len(set(maps)) == 1
    for wrong in (0, 1.5, True, 5000):
        with pytest.raises(ValueError, match="n_jobs|threads must be"):
            kerf.RFF(n_jobs=wrong).fit(X)
    assert kerf.threads() == before


def test_threadpoolctl_sees_and_limits_kerf():
    threadpoolctl = pytest.importorskip("threadpoolctl", minversion="3.1")
    before = kerf.threads()
    own = [library for library in threadpoolctl.threadpool_info() if library["user_api"] == "kerf"]
    assert len(own) == 1 and own[0]["num_threads"] == before and own[0]["version"] == kerf.__version__
    with threadpoolctl.threadpool_limits(1):
        assert kerf.threads() == 1
    assert kerf.threads() == before
    with threadpoolctl.threadpool_limits({"kerf": 3}):
        assert kerf.threads() == 3
    assert kerf.threads() == before


@pytest.mark.parametrize("rows, stage, fit", [(2000, "eigenvalues", dict(map="exact", kernel="gaussian")), (2000, "eigenvalues", dict(map="rff", features=2048, solver="dual")),
                                              (6000, "factoring", dict(map="exact", kernel="gaussian"))])
def test_ctrl_c_stops_a_solve(rows, stage, fit):
    """The signal comes a moment after the eigenvalues of 2,000 rows, or the factors of 6,000, were begun, which take seconds."""
    done = run(f"""
        import os, signal, threading, time, numpy as np, kerf
        X = np.random.default_rng(0).normal(size=({rows}, 8)).astype(np.float32)
        begun = []
        def progress(stage, done, total):
            if not begun and stage == {stage!r}:
                begun.append(time.perf_counter())
                threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        try:
            kerf.KernelRidge(progress=progress, **{fit!r}).fit(X, X[:, 0])
        except KeyboardInterrupt:
            print("interrupted", time.perf_counter() - begun[0] < 5)
    """)
    assert done.stdout == "interrupted True\n", done.stdout + done.stderr


def test_threadpoolctl_is_told_by_its_register():
    """From 3.2 on there is a public way; what it makes must be found and obeyed by every one of its calls."""
    threadpoolctl = pytest.importorskip("threadpoolctl", minversion="3.2")
    before = kerf.threads()
    controller = threadpoolctl.ThreadpoolController().select(user_api="kerf")
    (library,) = controller.info()
    assert library["internal_api"] == "kerf" and library["num_threads"] == before and library["version"] == kerf.__version__
    with controller.limit(limits=2):
        assert kerf.threads() == 2
    with threadpoolctl.threadpool_limits(limits=1, user_api="kerf"):
        assert kerf.threads() == 1
    with threadpoolctl.threadpool_limits(limits=1, user_api="blas"):
        assert kerf.threads() == before
    assert kerf.threads() == before

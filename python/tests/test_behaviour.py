"""A good citizen of a Python process: Ctrl-C, the GIL, BLAS threads, progress, imports."""
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest

import kerf


def run(code, **options):
    return subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=120, **options)


def test_ctrl_c_stops_a_long_fit():
    """The signal comes while the features are made; the fit would go on for half a minute."""
    done = run("""
        import os, signal, threading, time, numpy as np, kerf
        X = np.random.default_rng(0).random((400000, 8), np.float32)
        threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        start = time.perf_counter()
        try:
            kerf.KernelRidge(features=2048).fit(X, X[:, 0])
        except KeyboardInterrupt:
            print("interrupted", time.perf_counter() - start < 10)
        map = kerf.RFF(features=64).fit(X[:100])
        print(map.transform(X[:5]).shape)
    """)
    assert done.stdout.split("\n")[:2] == ["interrupted True", "(5, 64)"], done.stdout + done.stderr


def test_exceptions_of_a_progress_function_stop_the_fit(regression):
    def stop(stage, done, total):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        kerf.KernelRidge(features=64, progress=stop).fit(*regression)


def test_progress_is_told(regression):
    told = []
    kerf.KernelRidge(features=64, progress=lambda *event: told.append(event)).fit(*regression)
    assert {"reading", "features"} <= {stage for stage, _, _ in told}
    assert all(0 <= done and (total == 0 or done <= total) for _, done, total in told)


def test_progress_bar_of_tqdm(regression, capsys):
    pytest.importorskip("tqdm")
    kerf.KernelRidge(features=64, progress=True).fit(*regression)
    assert "features" in capsys.readouterr().err


def test_other_threads_run_meanwhile():
    X = np.random.default_rng(0).normal(size=(4000, 200)).astype(np.float32)
    map, counted, stop = kerf.RFF(features=4096).fit(X[:10]), [0], threading.Event()

    def count():
        while not stop.is_set():
            counted[0] += 1
            time.sleep(0)

    threading.Thread(target=count).start()
    before = counted[0]
    map._map.transform(X)
    counted_meanwhile = counted[0] - before
    stop.set()
    assert counted_meanwhile > 10


def test_blas_threads_are_as_before(regression):
    limits = pytest.importorskip("threadpoolctl").threadpool_info
    np.ones((64, 64)) @ np.ones((64, 64))
    before = [(pool["filepath"], pool["num_threads"]) for pool in limits()]
    for features in (64, 1024):
        kerf.KernelRidge(features=features).fit(*regression).predict(regression[0])
    kerf.kernels.ntk(regression[0])
    assert [(pool["filepath"], pool["num_threads"]) for pool in limits()] == before


def test_threads_do_not_change_bits(regression):
    X, y = regression
    count = kerf.threads()
    try:
        results = []
        for threads in (1, 2, 5):
            kerf.set_threads(threads)
            results.append(kerf.RFF(features=64).fit_transform(X))
    finally:
        kerf.set_threads(count)
    assert all(np.array_equal(results[0], r) for r in results[1:])
    with pytest.raises(ValueError, match="threads must be"):
        kerf.set_threads(0)


def test_numpy_is_enough(tmp_path):
    """With every other package hidden, everything but scikit-learn's own conveniences works."""
    hidden = "".join(f"sys.modules[{name!r}] = None\n" for name in ("sklearn", "scipy", "pandas", "tqdm", "matplotlib"))
    done = run(f"import sys\n{hidden}" + textwrap.dedent("""
        import pickle, numpy as np, kerf
        X = np.random.default_rng(0).normal(size=(300, 3)); y = X[:, 0] * X[:, 1]
        model = kerf.KernelRidge(map="rff", features=200).fit(X[:200], y[:200])
        assert model.score(X[200:], y[200:]) > 0.8, model.score(X[200:], y[200:])
        classes = kerf.KernelClassifier(features=200).fit(X, y > 0)
        assert classes.score(X, y > 0) > 0.9
        model.save("m.kerf")
        assert np.array_equal(kerf.load("m.kerf").predict(X), model.predict(X))
        assert np.array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))
        assert kerf.RFF(features=8).fit_transform(X).shape == (300, 8)
        assert len(kerf.RFF(features=8).fit(X).get_feature_names_out()) == 8
        assert kerf.kernels.NTK(depth=2)(X).shape == (300, 300)
        kerf.KernelRidge(features=8).set_params(features=16).partial_fit(X, y).predict(X)
        for bad in (lambda: model.predict(X[:, :2]), lambda: model.predict(X * np.nan), lambda: kerf.RFF().transform(X), lambda: model.set_params(gamma=2)):
            try:
                bad()
            except ValueError:
                continue
            raise AssertionError
        print(repr(model))
    """), cwd=tmp_path)
    assert done.stdout.strip() == "KernelRidge(features=200, map='rff')", done.stdout + done.stderr

"""A server that loads a model, then forks: gunicorn --preload."""
import concurrent.futures
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request

import pytest

APPLICATION = '''
import json, os, numpy as np, kerf
kerf.set_threads(2)
X = np.random.default_rng(0).normal(size=(600, 4)).astype(np.float32)
model = kerf.KernelRidge(map="rff", features=512, lambda_=1e-3, solver="cholesky").fit(X, X[:, 0])
before = model.predict(X).tolist()  # the threads are there before the fork
master = os.getpid()

def application(environ, start_response):
    fit = environ["PATH_INFO"] == "/fit"
    used = kerf.KernelRidge(map="rff", features=512, lambda_=1e-3, solver="cholesky").fit(X, X[:, 0]) if fit else model
    answer = {"pid": os.getpid(), "forked": os.getpid() != master, "same": used.predict(X).tolist() == before}
    start_response("200 OK", [("Content-Type", "application/json")])
    return [json.dumps(answer).encode()]
'''


def ask(port, path="/"):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=30) as answer:
        return json.load(answer)


@pytest.fixture(params=["--worker-class=sync", "--worker-class=gthread --threads=2"])
def server(request, tmp_path):
    (tmp_path / "served.py").write_text(APPLICATION)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = open(tmp_path / "log", "w+")
    process = subprocess.Popen([sys.executable, "-m", "gunicorn", "--preload", "--workers=2", f"--bind=127.0.0.1:{port}", "--worker-tmp-dir", str(tmp_path),
                                *request.param.split(), "served:application"], cwd=tmp_path, stdout=log, stderr=log)
    for _ in range(100):
        try:
            ask(port)
            break
        except OSError:
            assert process.poll() is None, (tmp_path / "log").read_text()
            time.sleep(0.2)
    yield process, port
    if process.poll() is None:
        process.terminate()
        process.wait(20)


def test_forked_workers_serve_and_are_replaced(server):
    process, port = server
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda path: ask(port, path), ["/", "/fit"] * 10))
    assert all(answer["forked"] and answer["same"] for answer in answers)
    killed = answers[0]["pid"]
    os.kill(killed, signal.SIGKILL)
    deadline = time.monotonic() + 30
    seen = set()
    while time.monotonic() < deadline and len(seen - {a["pid"] for a in answers}) == 0:  # until the one in its place has answered
        try:
            answer = ask(port, "/fit")
        except OSError:  # of the connection that the killed one had
            continue
        assert answer["same"]
        seen.add(answer["pid"])
    assert killed not in seen and seen - {a["pid"] for a in answers}, "no worker took the place of the killed one"
    process.terminate()
    assert process.wait(20) == 0

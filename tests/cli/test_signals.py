"""Signals at any moment of any command, little memory and none: the program ends soon, says one line and leaves nothing half-written."""
import json
import os
import pathlib
import random
import resource
import signal
import subprocess
import time

import numpy as np
import pytest

from conftest import DATA, PROGRAM

FAIL_MALLOC = pathlib.Path(os.environ.get("KERF_BUILD", pathlib.Path(PROGRAM).parents[1])) / "tests" / "libkerf_fail_malloc.so"
PATIENCE = 20  # seconds from a signal to the end on a machine that does much else; 2 is the promise, 1.0 the program's own timer


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Inputs of every command, large enough for half a second of work or more."""
    path = tmp_path_factory.mktemp("signals")
    x = np.random.default_rng(0).normal(size=(3000, 20)).astype(np.float32)
    np.savez(path / "rows.npz", X=x, y=np.sin(x[:, 0]).astype(np.float64))
    np.savez(path / "many.npz", X=np.repeat(x, 20, axis=0), y=np.repeat(np.sin(x[:, 0]), 20))
    subprocess.run([PROGRAM, "fit", "rows.npz", "-o", "old.kerf", "--map", "rff", "--features", "1024", "--solver", "cholesky", "--checkpoint", "sums",
                    "--quiet"], cwd=path, check=True)
    return path


# The output of each is OUT; a command without one prints.
COMMANDS = {
    "fit": ["fit", "rows.npz", "--map", "rff", "--features", "2048", "-o", "OUT"],
    "fit exact": ["fit", "rows.npz", "--map", "exact", "--kernel", "gaussian", "-o", "OUT"],
    "fit dual": ["fit", "rows.npz", "--map", "rff", "--features", "3072", "--solver", "dual", "-o", "OUT"],
    "fit --test": ["fit", "rows.npz", "--map", "rff", "--features", "64", "--lambda", "1e-3", "--test", "many.npz", "-o", "OUT"],
    "refit": ["refit", "old.kerf", "--checkpoint", "sums", "-o", "OUT"],
    "predict": ["predict", "old.kerf", "many.npz", "-o", "OUT"],
    "score": ["score", "old.kerf", "many.npz"],
    "transform": ["transform", "many.npz", "--map", "rff", "--features", "256", "-o", "OUT.npy"],
    "kernel": ["kernel", "rows.npz", "--kernel", "gaussian", "-o", "OUT.npy"],
    "diagnose": ["diagnose", "rows.npz", "--map", "rff"],
    "plan": ["plan", "rows.npz", "--map", "rff", "--kernel-error", "0.05"],
    "compare": ["compare", "rows.npz", "--maps", "rff,orf"],
    "select": ["select", "rows.npz", "--map", "rff", "--budget", "200", "-o", "OUT"],
    "skeleton": ["skeleton", "features", "circle 1, conv 5/2 relu, full relu", "--image", "24x24x3", "--features", "200000", "-o", "OUT"],
    "info": ["info", "old.kerf"],
    "maps": ["maps"],
    "completion": ["completion", "bash"],
}


def check_end(process, stop, output):
    out, err = process.communicate(timeout=PATIENCE)
    lines = [line for line in err.splitlines() if line.startswith("kerf: interrupted")]
    code = process.returncode
    if code == -stop:  # before main: the loader, OpenBLAS's start
        assert err == "" and not output.exists()
    elif code == 128 + stop:
        assert len(lines) == 1, err
        assert output.exists() == ("was written" in lines[0] and "nothing" not in lines[0]), err
    else:
        assert code == 0 and not lines, (code, err)


@pytest.mark.parametrize("name", COMMANDS)
def test_signals_at_ten_moments(folder, name):
    moments = random.Random(name)
    waiting = []
    for k in range(10):
        arguments = [argument.replace("OUT", f"{name.replace(' ', '')}{k}") for argument in COMMANDS[name]]
        output = folder / arguments[-1] if "-o" in arguments else folder / "no output"
        process = subprocess.Popen([PROGRAM, *arguments], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        waiting.append((time.monotonic() + moments.uniform(0, 0.8), k, process, [signal.SIGINT, signal.SIGTERM][k % 2], output))
    for moment, _, process, stop, _ in sorted(waiting):
        time.sleep(max(0, moment - time.monotonic()))
        process.send_signal(stop)
    for _, _, process, stop, output in waiting:
        check_end(process, stop, output)
        output.unlink(missing_ok=True)
    assert not [p.name for p in folder.iterdir() if p.name.startswith(name.replace(" ", ""))], "no temporary file is left"


def started(folder, *arguments, **options):
    return subprocess.Popen([PROGRAM, *arguments], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)


def test_a_signal_while_standard_input_is_spooled(folder):
    with started(folder, "fit", "-", "-o", "never.kerf", stdin=subprocess.PIPE) as process:
        process.stdin.write("a,b,y\n1,2,3\n")
        process.stdin.flush()
        time.sleep(0.5)
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=PATIENCE)
        assert process.stderr.read() == "kerf: interrupted: nothing was written\n" and process.returncode == 143


def test_a_second_signal_ends_at_once_and_json_says_so(folder):
    with started(folder, "fit", "rows.npz", "--map", "exact", "--kernel", "gaussian", "-o", "never.kerf", "--json") as process:
        time.sleep(0.6)
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130 and err == "kerf: interrupted: nothing was written\n", err
    assert json.loads(out) == {"error": "interrupted: nothing was written"}
    assert not list(folder.glob("never.kerf*"))


def test_scoring_after_a_fit_says_that_the_model_is_there(folder):
    """The model is written before --test is scored."""
    with started(folder, "fit", "rows.npz", "--map", "rff", "--features", "4096", "--lambda", "1e-3", "--solver", "sgd", "--epochs", "1",
                 "--test", *["many.npz"] * 40, "-o", "scored.kerf") as process:
        end = time.monotonic() + 60
        while not (folder / "scored.kerf").exists() and time.monotonic() < end:
            time.sleep(0.05)
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130 and err.splitlines()[-1] == "kerf: interrupted: the model was written to scored.kerf", err


@pytest.mark.parametrize("megabytes", [78, 150, 250, 300, 400, 700])
def test_a_low_limit_of_the_address_space(folder, megabytes):
    """OpenBLAS looks for room for ever where there is none."""
    limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))
    for arguments in (["fit", "rows.npz", "--map", "rff", "--features", "256", "-o", "limited.kerf"], ["info", "old.kerf"]):
        done = subprocess.run([PROGRAM, *arguments], cwd=folder, capture_output=True, text=True, timeout=60, preexec_fn=limit)
        assert done.returncode in (0, 1), done.stderr
        assert len(done.stderr.splitlines()) == done.returncode, done.stderr
        assert "core" not in done.stderr and (done.returncode == 0 or done.stderr.startswith("kerf: ")), done.stderr
    assert not list(folder.glob("limited.kerf.*"))


@pytest.mark.skipif(not FAIL_MALLOC.exists(), reason="the library that makes allocations fail is not built (sanitizers)")
@pytest.mark.parametrize("all_from_then_on", [False, True])
def test_allocations_that_fail(folder, tmp_path, all_from_then_on):
    fit = [PROGRAM, "fit", str(DATA / "iris_train.csv"), "--map", "rff", "--features", "16", "--threads", "2", "-o", "m.kerf"]
    ends = {}
    for k in range(24):
        number = int(1.36**k) + k  # 1 .. 1,600, closer at the beginning
        environment = {**os.environ, "LD_PRELOAD": str(FAIL_MALLOC), "KERF_FAIL_AT": str(number), **({"KERF_FAIL_ON": "1"} if all_from_then_on else {})}
        done = subprocess.run(fit, cwd=tmp_path, capture_output=True, text=True, timeout=60, env=environment)
        ends.setdefault(done.returncode, []).append((number, done.stderr))
        assert [p.name for p in tmp_path.iterdir()] in ([], ["m.kerf"]), number
        if done.returncode == 1:
            assert len(done.stderr.splitlines()) == 1 and done.stderr.startswith("kerf: "), (number, done.stderr)
    assert set(ends) <= {0, 1}, {code: of for code, of in ends.items() if code not in (0, 1)}
    assert len(ends.get(1, [])) >= 5

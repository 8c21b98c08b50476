#!/usr/bin/env python3
"""The table of the README: kerf against its peers, all in one run, alternately.

    /usr/bin/python3 bench/peers/table.py --data DIR [--write] [--nt-python PYTHON] [--rounds 3] [--kerf build/release/bin/kerf]

DIR holds the four gzipped idx files of MNIST.  Rows of the table:
  ridge on 4,096 random Fourier features at a fixed lambda (mnist_rff.py), the same with lambda chosen by 5 folds among 9 at 2,048 (lambda_choice.py),
  Nystroem features (experiments/mnist_time.py), and the exact NTK of 5,000 rows at depth 3 against neural-tangents, where PYTHON can import it
  (pip install neural-tangents "jax<0.4.25" "jaxlib<0.4.25" "numpy<2" "scipy<1.13").
Times are from the compressed file to the fitted model, medians of the rounds; the ratio is the median of the rounds' ratios.
--write puts the table into README.md, between its markers.
"""
import argparse
import datetime
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "bench" / "peers"), str(ROOT / "experiments")]
import lambda_choice  # noqa: E402
import mnist_rff  # noqa: E402
import mnist_time  # noqa: E402

BEGIN, END = "<!-- begin: bench/peers/table.py -->", "<!-- end: bench/peers/table.py -->"

NEURAL_TANGENTS = """
import sys, time, numpy as np, jax
from neural_tangents import stax
x = np.load(sys.argv[1])
layers = [stax.Dense(1), stax.Relu()] * 3 + [stax.Dense(1)]
kernel = jax.jit(stax.serial(*layers)[2], static_argnums=2)
kernel(x, None, "ntk").block_until_ready()
start = time.perf_counter()
kernel(x, None, "ntk").block_until_ready()
print(time.perf_counter() - start)
"""


def child(function, *arguments):
    """A peer in a process of its own, so that its memory is its own: calls this file."""
    done = subprocess.run([sys.executable, __file__, "--child", function, *map(str, arguments)], check=True, capture_output=True, text=True)
    return json.loads(done.stdout.strip().splitlines()[-1])


def peak():
    return next(int(line.split()[1]) * 1024 for line in open("/proc/self/status") if line.startswith("VmHWM"))


def fixed_lambda(arguments, seed):
    ours = mnist_rff.kerf_side(arguments.kerf, arguments.data, seed)
    return ours, child("rff", arguments.data, seed)


def chosen_lambda(arguments, seed):
    grid = ["--lambda-grid", ",".join(map(str, lambda_choice.GRID))]
    ours = lambda_choice.kerf_side([arguments.kerf], arguments.data, 2048, seed, grid)
    return ours, child("ridgecv", arguments.data, seed)


def best_accuracy(arguments, seed):
    with tempfile.TemporaryDirectory() as scratch:
        model = pathlib.Path(scratch) / "m.kerf"
        start = time.perf_counter()
        fit = subprocess.run([arguments.kerf, "fit", arguments.data / "train-images-idx3-ubyte.gz", "-o", model, "--scale", "unit", "--seed", str(seed), "--json",
                              *mnist_time.BEST], check=True, capture_output=True, text=True)
        seconds = time.perf_counter() - start
        score = subprocess.run([arguments.kerf, "score", model, arguments.data / "t10k-images-idx3-ubyte.gz", "--json"], check=True, capture_output=True, text=True)
    ours = {"seconds": seconds, "accuracy": json.loads(score.stdout)["accuracy"], "peak": json.loads(fit.stdout)["peak_memory_bytes"]}
    return ours, child("nystroem", arguments.data, seed)


def exact_kernel(arguments, _):
    import numpy as np
    from sklearn.preprocessing import normalize
    with tempfile.TemporaryDirectory() as scratch:
        rows, gram = pathlib.Path(scratch) / "x.npy", pathlib.Path(scratch) / "k.npy"
        x = normalize(mnist_time.read(arguments.data / "train-images-idx3-ubyte.gz", 16).reshape(-1, 784)[:5000].astype(np.float32))
        np.save(rows, x)
        start = time.perf_counter()
        subprocess.run([arguments.kerf, "kernel", rows, "--target", "none", "--kernel", "ntk", "--depth", "3", "--bias", "0", "--scale", "none", "-o", gram],
                       check=True, capture_output=True)
        ours = time.perf_counter() - start
        theirs = subprocess.run([arguments.nt_python, "-c", NEURAL_TANGENTS, rows], check=True, capture_output=True, text=True)
    return {"seconds": ours}, {"seconds": float(theirs.stdout)}


CHILDREN = {
    "rff": lambda folder, seed: mnist_rff.sklearn_side(pathlib.Path(folder), int(seed)),
    "ridgecv": lambda folder, seed: lambda_choice.sklearn_side(pathlib.Path(folder), 2048, int(seed)),
    "nystroem": lambda folder, seed: print(json.dumps(dict(zip(("seconds", "accuracy"), mnist_time.peer("nystroem", pathlib.Path(folder), 60000, int(seed))), peak=peak()))),
}


def line(what, peer, rounds):
    ours, theirs = zip(*rounds)
    median = lambda side, key: statistics.median(r[key] for r in side)
    mean = lambda side: f"{100 * statistics.mean(r['accuracy'] for r in side):.2f} %" if "accuracy" in side[0] else ""
    memory = lambda side: f"{max(r['peak'] for r in side) / 2**20:,.0f} MB" if "peak" in side[0] else ""
    ratio = statistics.median(t["seconds"] / o["seconds"] for o, t in rounds)
    cells = [what, peer, f"{median(ours, 'seconds'):.1f} s", f"{median(theirs, 'seconds'):.1f} s", f"{ratio:.2f}", mean(ours), mean(theirs), memory(ours), memory(theirs)]
    return "| " + " | ".join(cells) + " |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=pathlib.Path)
    parser.add_argument("--kerf", default=str(ROOT / "build" / "release" / "bin" / "kerf"))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--nt-python", help="a Python that imports neural_tangents")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--child", nargs="+", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        return CHILDREN[arguments.child[0]](*arguments.child[1:])
    table = ["| MNIST, 60,000 images, two cores | peer | kerf | peer | times as fast | accuracy, kerf | accuracy, peer | peak memory, kerf | peak memory, peer |", "|" + "---|" * 9]
    tasks = [("4,096 random Fourier features, ridge, lambda given", "scikit-learn RBFSampler + Ridge", fixed_lambda),
             ("2,048 features, lambda by 5 folds among 9", "scikit-learn RBFSampler + RidgeCV", chosen_lambda),
             ("the kernel with landmarks: " + mnist_time.BEST_NAME, "scikit-learn Nystroem 4,096 + Ridge", best_accuracy)]
    if arguments.nt_python:
        tasks.append(("exact NTK of 5,000 rows, depth 3 (ours with files read and written)", "neural-tangents, compiled before", exact_kernel))
    for what, peer, task in tasks:
        table.append(line(what, peer, [task(arguments, seed) for seed in range(1, arguments.rounds + 1)]))
        print(table[-1], file=sys.stderr, flush=True)
    command = f"/usr/bin/python3 bench/peers/table.py --data DIR --rounds {arguments.rounds}" + (" --nt-python PYTHON" if arguments.nt_python else "")
    text = "\n".join([*table, "", f"{datetime.date.today().isoformat()}, {os.cpu_count()} cores: `{command}`. Accuracies are means over the rounds (seeds), times medians."])
    print(text)
    if arguments.write:
        readme = ROOT / "README.md"
        before, _, rest = readme.read_text().partition(BEGIN)
        readme.write_text(before + BEGIN + "\n" + text + "\n" + END + rest.partition(END)[2])


if __name__ == "__main__":
    main()

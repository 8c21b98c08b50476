#!/usr/bin/env python3
"""kerf against scikit-learn on MNIST: 4,096 random Fourier features and ridge, from file to model, in one run.

    /usr/bin/python3 bench/peers/mnist_rff.py --data DIR [--seeds 5] [--kerf build/release/bin/kerf]

DIR holds the four gzipped idx files.  Unit rows, bandwidth 0.7071 (gamma 1), one cosine with a phase per feature (what RBFSampler does), the same fixed lambda on both sides
(alpha = n lambda).  Each side runs in a process of its own, alternately, so that both meet the same machine; times are
wall clock from the compressed file to the fitted model, memory is the peak of the process.  Prints a Markdown table.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

import mnist

LAMBDA = 1e-6
FEATURES = 4096


def sklearn_side(folder, seed):
    """Runs in a child process: prints JSON."""
    import time
    start = time.perf_counter()
    import numpy as np
    from sklearn.kernel_approximation import RBFSampler
    from sklearn.linear_model import Ridge
    from sklearn.preprocessing import normalize

    imported = time.perf_counter()
    x, y = normalize(mnist.images(folder, "train-images-idx3-ubyte.gz")), mnist.labels(folder, "train-labels-idx1-ubyte.gz")
    sampler = RBFSampler(gamma=1.0, n_components=FEATURES, random_state=seed)
    z = sampler.fit_transform(x)
    ridge = Ridge(alpha=LAMBDA * len(x), solver="cholesky").fit(z, np.eye(10, dtype=np.float32)[y])
    fitted = time.perf_counter()
    test, truth = normalize(mnist.images(folder, "t10k-images-idx3-ubyte.gz")), mnist.labels(folder, "t10k-labels-idx1-ubyte.gz")
    accuracy = float((ridge.predict(sampler.transform(test)).argmax(1) == truth).mean())
    peak = next(int(line.split()[1]) * 1024 for line in open("/proc/self/status") if line.startswith("VmHWM"))
    print(json.dumps({"seconds": fitted - imported, "import": imported - start, "accuracy": accuracy, "peak": peak}))


def kerf_side(program, folder, seed):
    import time
    with tempfile.TemporaryDirectory() as scratch:
        model = pathlib.Path(scratch) / "m.kerf"
        start = time.perf_counter()
        fit = subprocess.run([program, "fit", folder / "train-images-idx3-ubyte.gz", "-o", model, "--map", "rff", "--form", "phase", "--features", str(FEATURES),
                              "--bandwidth", "0.70710678", "--scale", "unit", "--lambda", str(LAMBDA), "--seed", str(seed), "--json"],
                             check=True, capture_output=True, text=True)
        seconds = time.perf_counter() - start
        report = json.loads(fit.stdout)
        score = subprocess.run([program, "score", model, folder / "t10k-images-idx3-ubyte.gz", "--json"], check=True, capture_output=True, text=True)
    return {"seconds": seconds, "accuracy": json.loads(score.stdout)["accuracy"], "peak": report["peak_memory_bytes"], "parts": report["seconds"]}


def ssyrk_rate(folder):
    """GFLOP/s of OpenBLAS SSYRK on a block of the same shape, in a child process of this run."""
    code = ("import numpy as np, time\nfrom scipy.linalg.blas import ssyrk\nz = np.random.rand(4096, 4096).astype(np.float32, order='F')\nssyrk(1.0, z)\n"
            "best = min((lambda t: (ssyrk(1.0, z), time.perf_counter() - t)[1])(time.perf_counter()) for _ in range(5))\nprint(4096.0 ** 3 / best / 1e9)")
    return float(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--kerf", default="build/release/bin/kerf")
    parser.add_argument("--sklearn-seed", type=int, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.sklearn_seed is not None:
        return sklearn_side(arguments.data, arguments.sklearn_seed)
    ours, theirs, rates = [], [], []
    for seed in range(1, arguments.seeds + 1):
        rates.append(ssyrk_rate(arguments.data))
        ours.append(kerf_side(arguments.kerf, arguments.data, seed))
        child = subprocess.run([sys.executable, __file__, "--data", arguments.data, "--sklearn-seed", str(seed)], check=True, capture_output=True, text=True)
        theirs.append(json.loads(child.stdout))
        print(f"seed {seed}: kerf {ours[-1]['seconds']:.1f} s {100 * ours[-1]['accuracy']:.2f} %, "
              f"scikit-learn {theirs[-1]['seconds']:.1f} s {100 * theirs[-1]['accuracy']:.2f} %", file=sys.stderr)
    print(f"| MNIST, {FEATURES} features, lambda {LAMBDA}, {arguments.seeds} seeds | kerf | scikit-learn |\n|---|---|---|")
    mean = lambda rows, key: statistics.mean(row[key] for row in rows)
    spread = lambda rows: 100 * statistics.stdev(row["accuracy"] for row in rows) if len(rows) > 1 else 0.0
    print(f"| accuracy: mean (standard deviation over seeds) | {100 * mean(ours, 'accuracy'):.2f} % ({spread(ours):.2f}) | {100 * mean(theirs, 'accuracy'):.2f} % ({spread(theirs):.2f}) |")
    print(f"| seconds from file to model, median | {statistics.median(r['seconds'] for r in ours):.1f} | {statistics.median(r['seconds'] for r in theirs):.1f} |")
    ratios = [t["seconds"] / o["seconds"] for o, t in zip(ours, theirs)]
    print(f"| times as fast, seed by seed: median (least) | {statistics.median(ratios):.2f} ({min(ratios):.2f}) | 1 |")
    print(f"| peak memory | {max(r['peak'] for r in ours) / 2**20:.0f} MB | {max(r['peak'] for r in theirs) / 2**20:.0f} MB |")
    share = [60000 * FEATURES**2 / r["parts"]["accumulate"] / 1e9 for r in ours]
    print(f"| sums over rows, GFLOP/s (SSYRK of the same run) | {statistics.median(share):.0f} ({statistics.median(rates):.0f}) | |")


if __name__ == "__main__":
    main()

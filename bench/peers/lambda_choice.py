#!/usr/bin/env python3
"""The choice of lambda by 5 folds among 9, on MNIST: kerf against scikit-learn's RBFSampler + RidgeCV(cv=5), same grid, in one run.

    /usr/bin/python3 bench/peers/lambda_choice.py --data DIR [--features 2048] [--seeds 3] [--kerf build/release/bin/kerf] [--json FILE]

DIR holds the four gzipped idx files.  From the compressed file to the fitted model: unit rows, bandwidth 0.7071 (gamma 1), a cosine with a phase per
feature on both sides, one-hot targets.  scikit-learn's alpha = n lambda with n the rows of a fold's training set (48,000).  Wall clock and CPU time of
each process; over the seeds means, the median lambda and the largest memory.  With --only kerf the choice is compared with a fit at a fixed lambda instead (what the choice costs besides one solve).
"""
import argparse
import json
import pathlib
import shlex
import statistics
import sys
import tempfile
import time

import mnist

GRID = [10.0 ** k for k in range(-9, 0)]


def sklearn_side(folder, features, seed):
    """Runs in a child process: prints JSON."""
    import numpy as np
    from sklearn.kernel_approximation import RBFSampler
    from sklearn.linear_model import RidgeCV
    from sklearn.preprocessing import normalize

    start = time.perf_counter()
    x, y = normalize(mnist.images(folder, "train-images-idx3-ubyte.gz")), mnist.labels(folder, "train-labels-idx1-ubyte.gz")
    sampler = RBFSampler(gamma=1.0, n_components=features, random_state=seed)
    ridge = RidgeCV(alphas=[0.8 * len(x) * value for value in GRID], cv=5).fit(sampler.fit_transform(x), np.eye(10, dtype=np.float32)[y])
    seconds = time.perf_counter() - start
    test, truth = normalize(mnist.images(folder, "t10k-images-idx3-ubyte.gz")), mnist.labels(folder, "t10k-labels-idx1-ubyte.gz")
    accuracy = float((ridge.predict(sampler.transform(test)).argmax(1) == truth).mean())
    peak = next(int(line.split()[1]) * 1024 for line in open("/proc/self/status") if line.startswith("VmHWM"))
    print(json.dumps({"seconds": seconds, "accuracy": accuracy, "peak": peak, "lambda": ridge.alpha_ / (0.8 * len(x))}))


def run(command):
    out, cpu = mnist.run(command)
    return json.loads(out), cpu


def kerf_side(program, folder, features, seed, choice):
    with tempfile.TemporaryDirectory() as scratch:
        model = pathlib.Path(scratch) / "m.kerf"
        fit, cpu = run([*program, "fit", folder / "train-images-idx3-ubyte.gz", "-o", model, "--map", "rff", "--form", "phase", "--features", str(features),
                        "--bandwidth", "0.70710678", "--scale", "unit", "--solver", "cholesky", "--seed", str(seed), "--json", *choice])
        score, _ = run([*program, "score", model, folder / "t10k-images-idx3-ubyte.gz", "--json"])
    return {"seconds": fit["seconds"]["total"], "solve": fit["seconds"]["solve"], "cpu": cpu, "accuracy": score["accuracy"], "peak": fit["peak_memory_bytes"],
            "estimated": fit["estimated_memory_bytes"], "lambda": fit["lambda"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("--features", type=int, default=2048)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--kerf", default="build/release/bin/kerf")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--only", choices=["kerf"])
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--sklearn", type=int, metavar="SEED", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.sklearn:
        return sklearn_side(arguments.data, arguments.features, arguments.sklearn)
    program = shlex.split(arguments.kerf)
    grid = ["--lambda-grid", ",".join(map(str, GRID))]
    runs = []
    for seed in range(1, arguments.seeds + 1):
        one = {"kerf": kerf_side(program, arguments.data, arguments.features, seed, grid)}
        one["kerf, lambda given"] = kerf_side(program, arguments.data, arguments.features, seed, ["--lambda", str(one["kerf"]["lambda"])])
        if arguments.only != "kerf":
            theirs, cpu = run([*shlex.split(arguments.python), __file__, "--data", arguments.data, "--features", str(arguments.features), "--sklearn", str(seed)])
            one["scikit-learn"] = {**theirs, "cpu": cpu}
        runs.append(one)
        print(f"seed {seed}:", {name: (round(r["seconds"], 1), r["accuracy"], r["lambda"]) for name, r in one.items()}, file=sys.stderr)
    summary = {"peak": max, "estimated": max, "lambda": statistics.median}
    results = {name: {key: summary.get(key, statistics.mean)([one[name][key] for one in runs]) for key in runs[0][name]} for name in runs[0]}
    if arguments.json:
        arguments.json.write_text(json.dumps({"command": shlex.join(sys.argv), "features": arguments.features, "results": results, "runs": runs}, indent=1) + "\n")
    print(f"| MNIST, {arguments.features} features, 5 folds x {len(GRID)} lambdas | seconds | CPU seconds | of which solving | accuracy | lambda | peak memory |\n|---|---|---|---|---|---|---|")
    for name, r in results.items():
        print(f"| {name} | {r['seconds']:.1f} | {r['cpu']:.1f} | {r.get('solve', float('nan')):.2f} | {100 * r['accuracy']:.2f} % | {r['lambda']:.1g} | {r['peak'] / 2**20:.0f} MB |")


if __name__ == "__main__":
    main()

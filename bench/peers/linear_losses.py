#!/usr/bin/env python3
"""Logistic and squared hinge losses on the same features: kerf against LIBLINEAR (through scikit-learn), in one run.

    /usr/bin/python3 bench/peers/linear_losses.py --data DIR [--rows 20000] [--features 1024] [--penalty 1e-5] [--kerf build/release/bin/kerf] [--json FILE]

DIR holds MNIST's four gzipped idx files.  kerf makes the features (kerf transform of its own model), both sides then train on them:
C = 1/(2 n lambda).  kerf's time is its whole fit, features included; LIBLINEAR's is its fit alone.  LIBLINEAR: one against the rest for both losses
(LogisticRegression(solver="liblinear"), LinearSVC(loss="squared_hinge", dual=False)); kerf's logistic loss is multinomial.
"""
import argparse
import gzip
import json
import pathlib
import shlex
import subprocess
import sys
import tempfile
import time

import numpy as np


def labels(path):
    with gzip.open(path) as file:
        return np.frombuffer(file.read()[8:], np.uint8)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("--rows", type=int, default=20000)
    parser.add_argument("--features", type=int, default=1024)
    parser.add_argument("--penalty", type=float, default=1e-5)
    parser.add_argument("--kerf", default="build/release/bin/kerf")
    parser.add_argument("--json", type=pathlib.Path)
    arguments = parser.parse_args()
    from sklearn.linear_model import LogisticRegression
    from sklearn.svm import LinearSVC
    program = shlex.split(arguments.kerf)
    train, test = arguments.data / "train-images-idx3-ubyte.gz", arguments.data / "t10k-images-idx3-ubyte.gz"
    y, truth = labels(arguments.data / "train-labels-idx1-ubyte.gz")[:arguments.rows], labels(arguments.data / "t10k-labels-idx1-ubyte.gz")
    c = 1 / (2 * arguments.rows * arguments.penalty)
    results = []
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)

        def kerf(*command):
            return subprocess.run([*program, *map(str, command)], check=True, capture_output=True, text=True).stdout

        for loss, peer in (("logistic", LogisticRegression(C=c, solver="liblinear", multi_class="ovr")), ("squared-hinge", LinearSVC(C=c, dual=False))):
            model = scratch / f"{loss}.kerf"
            fit = json.loads(kerf("fit", train, "-o", model, "--rows", arguments.rows, "--map", "rff", "--features", arguments.features, "--bandwidth", "0.7071",
                                  "--scale", "unit", "--loss", loss, "--lambda", arguments.penalty, "--json"))
            score = json.loads(kerf("score", model, test, "--json"))
            for source, name in ((train, "train"), (test, "test")):
                kerf("transform", source, "--model", model, "-o", scratch / f"{name}.npy", "--rows", arguments.rows)
            z, z_test = np.load(scratch / "train.npy").astype(np.float64), np.load(scratch / "test.npy").astype(np.float64)
            start, cpu = time.perf_counter(), time.process_time()
            peer.fit(z, y)
            seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
            results.append({"loss": loss, "kerf_seconds": fit["seconds"]["total"], "kerf_accuracy": score["accuracy"], "kerf_log_loss": score["log_loss"],
                            "kerf_passes": fit["passes"], "liblinear_seconds": seconds, "liblinear_cpu": cpu,
                            "liblinear_accuracy": float((peer.predict(z_test) == truth).mean())})
            print(json.dumps(results[-1]), file=sys.stderr, flush=True)
    if arguments.json:
        arguments.json.write_text(json.dumps({"command": shlex.join(sys.argv), "results": results}, indent=1) + "\n")
    print(f"| MNIST, {arguments.rows} rows, {arguments.features} features, lambda {arguments.penalty} | kerf: seconds | LIBLINEAR: seconds | kerf: accuracy | LIBLINEAR: accuracy |\n|---|---|---|---|---|")
    for r in results:
        print(f"| {r['loss']} | {r['kerf_seconds']:.1f} | {r['liblinear_seconds']:.1f} | {100 * r['kerf_accuracy']:.2f} % | {100 * r['liblinear_accuracy']:.2f} % |")


if __name__ == "__main__":
    main()

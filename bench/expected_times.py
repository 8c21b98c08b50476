#!/usr/bin/env python3
"""Expected times against true ones: what `kerf fit` says before it begins, and what it then took.

    bench/expected_times.py [--kerf PROGRAM] [--large]

One row a fit: what was said (expected_seconds), what features and solver took (everything of `seconds` but the first
look at the data, the choice of the kernel and calibration), and the ratio.
"""
import argparse
import json
import pathlib
import resource
import subprocess
import tempfile

import numpy as np

FITS = [  # rows, columns, features, options
    (1000, 10, 2048, ["--lambda", "1e-4"]),
    (1000, 10, 4096, ["--lambda", "1e-4"]),
    (1000, 10, 4096, []),
    (2000, 10, 4096, []),
    (10000, 10, 1024, []),
    (10000, 10, 4096, ["--lambda", "1e-4"]),
    (10000, 10, 4096, []),
    (20000, 50, 2048, ["--solver", "pcg"]),
    (20000, 50, 2048, ["--solver", "pcg", "--lambda", "1e-4"]),
    (20000, 50, 2048, ["--solver", "cholesky", "--validation", "gcv"]),
    (20000, 10, 1024, ["--loss", "logistic", "--task", "classification"]),
    (20000, 10, 1024, ["--solver", "sgd"]),
    (100000, 10, 1024, []),
    (100000, 10, 2048, ["--lambda", "1e-4"]),
    (100000, 10, 1024, ["--map", "arccos", "--lambda", "1e-4"]),
]
LARGE = [(100000, 10, 4096, []), (100000, 50, 8192, ["--lambda", "1e-4"])]
NOT_SAID = ("open", "choose", "calibrate", "total")


def table(folder, rows, columns, classes):
    path = pathlib.Path(folder) / f"{rows}x{columns}{'c' if classes else ''}.npz.csv"
    if not path.exists():
        rng = np.random.default_rng(rows)
        x = rng.normal(size=(rows, columns))
        y = np.sin(x[:, 0]) + x[:, 1] * x[:, 2] + 0.3 * rng.normal(size=rows)
        target = (y > 0).astype(int) if classes else y
        np.savetxt(path, np.column_stack([x, target]), delimiter=",", fmt="%.6g")
    return path


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kerf", default="build/release/bin/kerf")
    parser.add_argument("--threads", type=int, default=0, help="of each fit; the rest of the machine is left to others")
    parser.add_argument("--cpu", action="store_true", help="processor time in place of the clock, with one thread: for a machine with much else to do")
    parser.add_argument("--large", action="store_true", help="minutes of fits, too")
    arguments = parser.parse_args()
    if arguments.cpu:
        arguments.threads = 1
    ratios = []
    print("| rows | columns | features | options | solver | said, s | took, s | took / said |\n|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for rows, columns, features, options in FITS + (LARGE if arguments.large else []):
            data = table(folder, rows, columns, "classification" in options)
            map_options = [] if "--map" in options else ["--map", "rff"]
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            done = subprocess.run([arguments.kerf, "fit", data, "--features", str(features), "-o", f"{folder}/m.kerf", "--json", *map_options, *options, *(["--threads", str(arguments.threads)] if arguments.threads else [])],
                                  check=True, capture_output=True, text=True)
            fit = json.loads(done.stdout)
            took = sum(value for name, value in fit["seconds"].items() if name not in NOT_SAID)
            if arguments.cpu:
                after = resource.getrusage(resource.RUSAGE_CHILDREN)
                took *= (after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime) / fit["seconds"]["total"]
            ratio = took / fit["expected_seconds"]
            ratios.append(ratio)
            print(f"| {rows:,} | {columns} | {features:,} | {' '.join(options)} | {fit['solver']} | {fit['expected_seconds']:.3g} | {took:.3g} | {ratio:.2f} |",
                  flush=True)
    within = sum(0.5 <= ratio <= 2 for ratio in ratios)
    print(f"\n{within} of {len(ratios)} within a factor of 2; the worst is {max(max(r, 1 / r) for r in ratios):.2f}")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""What Python costs: transforms through the package against C++, in one run, alternating.

    PYTHONPATH=build/release/python /usr/bin/python3 bench/peers/python_overhead.py [--cpp build/release/bin/kerf_cpp_side]

10,000 x 784 float32 rows, random Fourier features: best of several, both sides allocate their result.  Then one row at a time, in microseconds.
"""
import argparse
import pathlib
import subprocess
import tempfile
import time
import timeit

import numpy as np

import kerf


def best(function, repeats):
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cpp", default="build/release/bin/kerf_cpp_side")
    parser.add_argument("--features", type=int, default=4096)
    parser.add_argument("--rounds", type=int, default=4)
    arguments = parser.parse_args()
    X = np.random.default_rng(0).normal(size=(10000, 784)).astype(np.float32)
    map = kerf.RFF(bandwidth=28.0, features=arguments.features).fit(X[:10])
    python, cpp = [], []
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "x"
        X.tofile(source)
        command = [arguments.cpp, source, pathlib.Path(folder) / "z", "10000", "784", "5", "rff", "bandwidth=28", f"features={arguments.features}"]
        for _ in range(arguments.rounds):
            cpp.append(float(subprocess.run(command, check=True, capture_output=True, text=True).stdout))
            python.append(best(lambda: map.transform(X), 5))
    print(f"| transform, 10,000 x 784, {arguments.features:,} features | C++ {min(cpp):.4f} s | Python {min(python):.4f} s | overhead {100 * (min(python) / min(cpp) - 1):+.1f} % |")
    for columns in (64, 784):
        rows = np.random.default_rng(1).normal(size=(100, columns)).astype(np.float32)
        map, row = kerf.RFF(bandwidth=8.0, features=1024).fit(rows), rows[:1].copy()
        seconds = min(timeit.repeat(lambda: map.transform(row), number=500, repeat=20)) / 500
        print(f"| one row, {columns} columns, 1,024 features | {1e6 * seconds:.1f} microseconds |")


if __name__ == "__main__":
    main()

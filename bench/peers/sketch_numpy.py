#!/usr/bin/env python3
"""Tensor sketches side by side with the same in NumPy and SciPy, in one run.

usage: bench/peers/sketch_numpy.py [build/bench/bin/sketch_bench]

Both sides sketch 256 pairs of 4,096-vectors into 4,096 dimensions in single precision, on one
thread and on two, best of several repetitions.  NumPy's TensorSketch: CountSketches as sparse
matrix products, scipy.fft on whole blocks.  NumPy's TensorSRHT: the Hadamard transform by reshaped
sums and differences, twelve passes over the block.  Times are CPU seconds for one thread (so that
other work on the machine counts less) and wall-clock seconds for two.
SPDX-License-Identifier: Apache-2.0
"""
import json
import os
import subprocess
import sys
import time

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
import numpy as np
import scipy.fft
import scipy.sparse

ROWS, N = 256, 4096


def best(function, clock, repetitions=5):
    times = []
    for _ in range(repetitions):
        start = clock()
        function()
        times.append(clock() - start)
    return min(times)


def count_matrix(rng):
    """A CountSketch as a sparse matrix (input x output)."""
    signs = rng.choice(np.float32([-1, 1]), N)
    return scipy.sparse.csr_matrix((signs, rng.integers(0, N, N), np.arange(N + 1)), shape=(N, N))


def hadamard(x):
    """All rows of x, unnormalised."""
    step = 1
    while step < N:
        pairs = x.reshape(len(x), -1, 2, step)
        x = np.stack((pairs[:, :, 0] + pairs[:, :, 1], pairs[:, :, 0] - pairs[:, :, 1]), axis=2)
        step *= 2
    return x.reshape(len(x), N)


def numpy_sides():
    rng = np.random.default_rng(1)
    x, y = (rng.standard_normal((ROWS, N), dtype=np.float32) for _ in range(2))
    c1, c2 = count_matrix(rng).T.tocsr(), count_matrix(rng).T.tocsr()
    d1, d2 = (rng.choice(np.float32([-1, 1]), N) for _ in range(2))
    p, r = rng.integers(0, N, N), rng.integers(0, N, N)

    def tensor_sketch(workers):
        fx = scipy.fft.rfft((c1 @ x.T).T, workers=workers)
        fy = scipy.fft.rfft((c2 @ y.T).T, workers=workers)
        return scipy.fft.irfft(fx * fy, N, workers=workers)

    def tensor_srht(_):
        return hadamard(x * d1)[:, p] * hadamard(y * d2)[:, r] * np.float32(N**-0.5)

    return {"BM_TensorSketch4096": tensor_sketch, "BM_TensorSrht4096": tensor_srht}


def kerf_times(program):
    out = subprocess.run([program, "--benchmark_filter=Tensor", "--benchmark_repetitions=5",
                          "--benchmark_min_time=0.1", "--benchmark_format=json"],
                         check=True, capture_output=True, text=True).stdout
    times = {}
    for run in json.loads(out)["benchmarks"]:
        if run["run_type"] == "iteration":
            name, threads = run["run_name"].split("/")[0], int(run["run_name"].split(":")[1].split("/")[0])
            # CPU time of the main thread says nothing about two threads.
            seconds = run["cpu_time" if threads == 1 else "real_time"] * 1e-9
            key = name, threads
            times[key] = min(seconds, times.get(key, seconds))
    return times


def main():
    program = sys.argv[1] if len(sys.argv) > 1 else "build/bench/bin/sketch_bench"
    kerf = kerf_times(program)
    print(f"{'sketch':<22}{'threads':>8}{'kerf rows/s':>14}{'numpy rows/s':>14}{'ratio':>8}")
    for name, function in numpy_sides().items():
        for threads in (1, 2):
            clock = time.process_time if threads == 1 else time.perf_counter
            peer = best(lambda: function(threads), clock)
            ours = kerf[name, threads]
            print(f"{name[3:]:<22}{threads:>8}{ROWS / ours:>14,.0f}{ROWS / peer:>14,.0f}{peer / ours:>8.1f}")


if __name__ == "__main__":
    main()

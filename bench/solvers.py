#!/usr/bin/env python3
"""pcg against cholesky on a synthetic table of MillionSongs' shape, in one run.

    /usr/bin/python3 bench/solvers.py [--rows 467000] [--features 8192] [--memory 16G] [--kerf build/release/bin/kerf] [--scratch DIR]

Rows of 90 Gaussian inputs, a smooth target with noise; rff with bandwidth 9.5 (about the median distance), lambda fixed.  Fits of n rows:
cholesky, pcg in the memory given (features kept, in 16 bits or not), pcg in little memory (features made again for each pass); and the first two
with half the rows.  The memory is touched once before.  Each fit is a process of its own; its wall clock and CPU time, peak memory beside the estimate, and the error on 20,000 fresh
rows go into a Markdown table, and as JSON to --json FILE.
"""
import argparse
import datetime
import json
import pathlib
import shlex
import sys
import tempfile

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parent / "peers"))
from mnist import run  # noqa: E402

INPUTS = 90


def write_rows(path, rows, seed):
    """inputs and target, float32, in pieces so that memory stays small."""
    weights = np.random.default_rng(0).normal(size=(INPUTS, 20)).astype(np.float32) / np.sqrt(INPUTS)
    random = np.random.default_rng(seed)
    out = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(rows, INPUTS + 1))
    for first in range(0, rows, 50000):
        count = min(50000, rows - first)
        x = random.standard_normal((count, INPUTS), dtype=np.float32)
        h = x @ weights
        y = np.sin(h[:, 0]) + np.abs(h[:, 1]) * h[:, 2] + np.cos(2 * h[:, 3]) + 0.3 * np.tanh(h[:, 4:]).sum(1)
        out[first:first + count, :INPUTS] = x
        out[first:first + count, INPUTS] = y + 0.5 * random.standard_normal(count, dtype=np.float32)


def measure(arguments, name, data, test, solver, memory):
    program = shlex.split(arguments.kerf)
    with tempfile.TemporaryDirectory(dir=arguments.scratch) as scratch:
        model = pathlib.Path(scratch) / "m.kerf"
        out, cpu = run([*program, "fit", data, "-o", model, "--task", "regression", "--map", "rff", "--features", str(arguments.features), "--bandwidth", "9.5",
                           "--lambda", str(arguments.penalty), "--solver", solver, "--memory", memory, "--json"])
        report = json.loads(out)
        score = json.loads(run([*program, "score", model, test, "--json"])[0])
    result = {"name": name, "rows": report["rows"], "seconds": report["seconds"]["total"], "cpu": cpu, "parts": report["seconds"], "mse": score["mse"],
              "estimated": report["estimated_memory_bytes"], "peak": report["peak_memory_bytes"], "passes": report.get("passes"),
              "residual": report.get("residual"), "notes": report["notes"]}
    print(json.dumps(result), file=sys.stderr, flush=True)
    return result


def touch(memory):
    """A virtual machine gets memory from its host at the first touch, which is slow and no solver's doing."""
    number, unit = float(memory[:-1]), {"M": 2**20, "G": 2**30}[memory[-1]]
    np.ones(int(number * unit), np.uint8)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=467000)
    parser.add_argument("--features", type=int, default=8192)
    parser.add_argument("--memory", default="16G")
    parser.add_argument("--little", default="2.5G", help="memory in which the features do not fit")
    parser.add_argument("--penalty", default="1e-6", help="lambda")
    parser.add_argument("--kerf", default="build/release/bin/kerf")
    parser.add_argument("--scratch", default=None)
    parser.add_argument("--json", type=pathlib.Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=arguments.scratch) as folder:
        folder = pathlib.Path(folder)
        write_rows(folder / "all.npy", arguments.rows, 1)
        write_rows(folder / "half.npy", arguments.rows // 2, 1)
        write_rows(folder / "test.npy", 20000, 2)
        results = []
        touch(arguments.memory)
        for name, rows, solver, memory in (("pcg", "all", "pcg", arguments.memory), ("cholesky", "all", "cholesky", arguments.memory),
                                           ("pcg, features made again", "all", "pcg", arguments.little), ("pcg, half the rows", "half", "pcg", arguments.memory),
                                           ("cholesky, half the rows", "half", "cholesky", arguments.memory)):
            results.append(measure(arguments, name, folder / f"{rows}.npy", folder / "test.npy", solver, memory))
    if arguments.json:
        arguments.json.write_text(json.dumps({"date": datetime.date.today().isoformat(), "command": shlex.join(sys.argv), "results": results}, indent=1) + "\n")
    direct = results[1]
    print(f"| n = {arguments.rows}, m = {arguments.features} | seconds | CPU seconds | times as fast as cholesky (CPU) | passes | test error | peak / estimate |\n|---|---|---|---|---|---|---|")
    for r in results:
        ratio = f"{direct['seconds'] / r['seconds']:.2f} ({direct['cpu'] / r['cpu']:.2f})" if r["rows"] == direct["rows"] else ""
        print(f"| {r['name']} ({', '.join(r['notes']) or 'sums only'}) | {r['seconds']:.0f} | {r['cpu']:.0f} | {ratio} | {r['passes'] or ''} | {r['mse']:.5f} | "
              f"{r['peak'] / 2**20:.0f} / {r['estimated'] / 2**20:.0f} MB |")


if __name__ == "__main__":
    main()

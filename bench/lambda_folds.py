#!/usr/bin/env python3
"""The choice of lambda from small spaces (kerf/learn/lambda/fold_path.h) against one Cholesky for each fold, on real tables.

    /usr/bin/python3 bench/lambda_folds.py --data DIR [--features 2048] [--program build/bench/bin/lambda_folds]

2,048 features and 1, 2, 4 and 16 times as many rows, drawn at random, as far as a table has them.  Prints a Markdown table: the lambdas that both choose among those
tried, the largest relative difference of their errors, and seconds (of the first way with the last solve, of the second without).
"""
import argparse
import gzip
import json
import pathlib
import random
import subprocess
import tempfile

SETS = {"regression": ["cpu_act", "pumadyn32nm", "parkinsons", "houses", "kin40k", "protein-tertiary-structure", "keggdirected"],
        "uci_fd": ["magic", "adult", "statlog-shuttle", "connect-4", "pendigits"]}

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--data", type=pathlib.Path, required=True)
parser.add_argument("--features", type=int, default=2048)
parser.add_argument("--program", default=str(pathlib.Path(__file__).resolve().parent.parent / "build/bench/bin/lambda_folds"))
arguments = parser.parse_args()

print("| set | map | rows | lambda | of folds | difference | lambdas | seconds | of folds |\n|---|---|---|---|---|---|---|---|---|", flush=True)
results = []
scratch = tempfile.TemporaryDirectory()
shuffled = pathlib.Path(scratch.name) / "rows.csv"
for folder, names in SETS.items():
    for name in names:
        with gzip.open(arguments.data / folder / f"{name}.csv.gz", "rt") as file:
            lines = file.read().splitlines()
        random.Random(1).shuffle(lines)
        shuffled.write_text("\n".join(lines) + "\n")
        before = 0
        for ratio in (1, 2, 4, 16):
            most, got = ratio * arguments.features, 0
            for map_ in ("rff", "ntk-rf"):
                task = "regression" if folder == "regression" else "classification"
                line = [arguments.program, str(shuffled), task, map_, str(arguments.features), str(most)]
                row = json.loads(subprocess.run(line, check=True, stdout=subprocess.PIPE, text=True).stdout)
                got = row["rows"]
                if got == before:
                    break  # the table has no more
                results.append(row)
                print(f"| {name} | {map_} | {got} | {row['lambda']:.3g} | {row['of_folds']:.3g} | {row['difference']:.0e} | {row['lambdas']} | "
                      f"{row['seconds']:.1f} | {row['seconds_of_folds']:.1f} |", flush=True)
            if got < most or got == before:
                break
            before = got
alike = sum(row["lambda"] == row["of_folds"] for row in results)
differences = sorted(row["difference"] for row in results)
ratios = sorted(row["seconds"] / row["seconds_of_folds"] for row in results)
print(f"\n{alike} of {len(results)} lambdas alike; errors differ by {differences[len(results) // 2]:.0e} (median), at most {differences[-1]:.0e}; "
      f"time {ratios[len(ratios) // 2]:.2f} of the other (median), {ratios[0]:.2f} to {ratios[-1]:.2f}")

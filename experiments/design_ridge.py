"""The ridge of `kerf select`: what its default was chosen by.

Five real sets, a pool of rows each.  A design is made of the pool without its labels for each c = budget x lambda (as a part of
the features' mean squared length); ridge regression on the rows chosen, with the lambda of least leave-one-out error, is judged on
the other rows of the pool.  No test rows are looked at.  Errors are parts of those of as many random rows (mean of five draws, the
same model), averaged over budgets (geometric mean): below 1 is better than random.
"""
import gzip

import numpy as np

from harness import Experiment

BUDGETS = (25, 50, 100, 200, 400)
RIDGES = (1.0, 0.1, 0.01, 1e-3, 1e-4, 1e-6)
MAP = ["--map", "ntk-rf", "--depth", 1]


def sets(data):
    """name, file, whether its last column is a class; columns of tables are standardised, images have unit rows."""
    yield "mnist", data / "mnist" / "train-images-idx3-ubyte.gz", True
    for name in ("letter", "statlog-landsat"):
        yield name, data / "uci_fd" / f"{name}.csv.gz", True
    for name in ("kin40k", "cpu_act"):
        yield name, data / "regression" / f"{name}.csv.gz", False


def targets_of(path, classes, rows):
    """One-hot columns, or one standardised column."""
    if path.name.endswith("ubyte.gz"):
        labels = path.with_name(path.name.replace("images-idx3", "labels-idx1"))
        y = np.frombuffer(gzip.decompress(labels.read_bytes()), np.uint8, offset=8)[:rows]
    else:
        y = np.loadtxt(path, delimiter=",", max_rows=rows)[:, -1]
    if classes:
        return np.eye(len(np.unique(y)))[np.unique(y, return_inverse=True)[1]]
    return ((y - y.mean()) / y.std())[:, None]


def pool_error(z, y, chosen, classes):
    """Error on the rows that were not chosen: share of wrong classes, or mean squared."""
    mean, level = z[chosen].mean(0), y[chosen].mean(0)
    zs, ys = z[chosen] - mean, y[chosen] - level
    values, vectors = np.linalg.eigh(zs @ zs.T)
    along, best = vectors.T @ ys, (np.inf, None)
    for ridge in values[-1] * 10.0 ** np.arange(-9, 1):
        inverse = (vectors / (np.maximum(values, 0) + ridge)) @ vectors.T
        left_out = np.mean(((inverse @ ys) / np.diag(inverse)[:, None]) ** 2)
        if left_out < best[0]:
            best = left_out, zs.T @ ((vectors / (np.maximum(values, 0) + ridge)) @ along)
    rest = np.setdiff1d(np.arange(len(z)), chosen)
    scores = (z[rest] - mean) @ best[1] + level
    if classes:
        return float(np.mean(scores.argmax(1) != y[rest].argmax(1)))
    return float(np.mean((scores - y[rest]) ** 2))


def run(experiment):
    rows, features = (2000, 256) if experiment.quick else (6000, 1024)
    for name, path, classes in sets(experiment.data):
        options = [*MAP, "--features", features, "--bias", 1, "--rows", rows]
        scale = ["--scale", "unit" if name == "mnist" else "standard"]
        target = [] if name == "mnist" else ["--target", "last"]
        experiment.kerf("transform", path, *options, *scale, *target, "-o", experiment.scratch / "z.npy")
        z = np.load(experiment.scratch / "z.npy").astype(float)[:, :features]
        y = targets_of(path, classes, rows)
        length = float(np.mean((z**2).sum(1)))
        random = {b: np.mean([pool_error(z, y, np.random.default_rng(seed).permutation(len(z))[:b], classes) for seed in range(5)]) for b in BUDGETS}
        for ridge in RIDGES:
            out, budget = experiment.scratch / "rows.txt", BUDGETS[-1]
            experiment.kerf("select", path, *options, *scale, *target, "--budget", budget, "--lambda", ridge * length / budget, "-o", out)
            chosen = np.loadtxt(out, dtype=int)
            ratios = {b: pool_error(z, y, chosen[:b], classes) / random[b] for b in BUDGETS}
            experiment.row(set=name, ridge=ridge, **{f"at {b}": ratios[b] for b in BUDGETS}, mean=float(np.exp(np.mean(np.log(list(ratios.values()))))))
    for ridge in RIDGES:
        means = [row["mean"] for row in experiment.rows if row["ridge"] == ridge]
        experiment.row(set="all five", ridge=ridge, **{f"at {b}": None for b in BUDGETS}, mean=float(np.exp(np.mean(np.log(means)))))
    experiment.note(f"{rows:,} rows a pool, {features:,} features of `ntk-rf`, depth 1; one design of {BUDGETS[-1]} rows for each ridge, its first rows for smaller budgets.  "
                    "Numbers: error on the pool's other rows over that of random rows.")


if __name__ == "__main__":
    Experiment(__file__, "The ridge of designs", run)

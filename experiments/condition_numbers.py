"""Generalised condition numbers of order-1 arc-cosine features on three UCI sets: Figure 1 of Han et al.

(A + sI)^-1/2 (ZZ' + sI) (A + sI)^-1/2 with s = 1e-4 n: the ratio of its extreme eigenvalues, mean of the seeds.
gaussian is Cho & Saul's map, gibbs the papers' sampling of leverage scores (one sweep), sphere the same exactly.
The paper gives a plot, no numbers; 1 is perfect.
"""
import gzip

import numpy as np

from harness import Experiment
from ntk_common import features, kernel, relative_eigenvalues

SETS = ["abalone", "statlog-image", "waveform"]


def rows_of(experiment, name, count):
    with gzip.open(experiment.data / "uci_fd" / f"{name}.csv.gz", "rt") as file:
        x = np.loadtxt(file, delimiter=",")[:, :-1]  # columns are standardised already
    return x[np.random.default_rng(3).choice(len(x), min(count, len(x)), replace=False)]


def run(experiment):
    sizes = [100, 1000] if experiment.quick else [100, 200, 400, 600, 800, 1000]
    seeds = range(1, 3 if experiment.quick else 6)
    for name in SETS:
        x = rows_of(experiment, name, 300 if experiment.quick else 1000)
        exact = kernel(experiment, x, "--kernel", "arccos", "--order", 1, "--bias", 0)
        for m in sizes:
            for directions in ("gaussian", "gibbs", "sphere", "orthogonal", "structured"):
                ratios = []
                for seed in seeds:
                    z = features(experiment, x, "--map", "arccos", "--order", 1, "--bias", 0, "--features", m, "--directions", directions, "--seed", seed)
                    smallest, largest = relative_eigenvalues(exact, z, 1e-4 * len(x))
                    ratios.append(largest / smallest)
                experiment.row(data=name, rows=len(x), columns=x.shape[1], features=m, directions=directions,
                               group=f"{name}, {directions}", condition_number=float(np.mean(ratios)))
    experiment.plot(x="features", y="condition_number", group="group", log_y=True)


if __name__ == "__main__":
    Experiment(__file__, "Condition numbers of order-1 features", run)

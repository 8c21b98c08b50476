"""Error of NTK features at equal dimension: 200 Gaussian rows of 16 columns, and 200 MNIST rows.

Relative Frobenius error of the kernel matrix and spectral epsilon at n lambda = 0.1 n, mean of the seeds, on rows that
no choice was made on.  Published: the PyTorch code of the papers with m0 = m1 = ms = half the features, Gaussian rows.
"""
import numpy as np

from harness import Experiment
from ntk_common import epsilon, features, inverse_root, kernel, mnist_rows, relative_frobenius

PUBLISHED = {(1, 8192): (0.049, 0.147), (2, 8192): (0.064, 0.30)}
MAPS = {
    "ntk-rf, published layers": ["--map", "ntk-rf", "--split", "false", "--signs", "false", "--sketch", "tensorsketch",
                                 "--directions", "gaussian", "--shared-directions", "false"],
    "ntk-rf, published layers, tensorsrht": ["--map", "ntk-rf", "--split", "false", "--signs", "false", "--directions", "gaussian",
                                             "--shared-directions", "false"],
    "ntk-rf": ["--map", "ntk-rf"],
    "ntk-rf, --split true": ["--map", "ntk-rf", "--split", "true"],
    "ntk-rf, split, orthogonal": ["--map", "ntk-rf", "--split", "true", "--directions", "orthogonal"],
    "ntk-rf, split, structured": ["--map", "ntk-rf", "--split", "true", "--directions", "structured"],
    "ntk-sketch": ["--map", "ntk-sketch"],
    "ntk-sketch, polysketch": ["--map", "ntk-sketch", "--powers", "polysketch"],
    "ntk-poly": ["--map", "ntk-poly"],
}


def run(experiment):
    m = 2048 if experiment.quick else 8192
    seeds = range(101, 103 if experiment.quick else 106)
    sets = {"Gaussian, d = 16": np.random.default_rng(2026).standard_normal((200, 16)), "MNIST, d = 784": mnist_rows(experiment, 200, 2026)}
    for data, x in sets.items():
        for depth in (1, 2):
            options = ["--depth", depth, "--bias", 0]
            exact = kernel(experiment, x, "--kernel", "ntk", *options)
            root = inverse_root(exact, 0.1 * len(x))
            for name, flags in MAPS.items():
                found = [(relative_frobenius(exact, z), epsilon(root, z, 0.1 * len(x)))
                         for z in (features(experiment, x, *flags, *options, "--features", m, "--seed", seed) for seed in seeds)]
                frobenius, eps = np.mean(found, axis=0)
                published = PUBLISHED.get((depth, m)) if data.startswith("Gaussian") else None
                experiment.row(data=data, depth=depth, map=name, features=m, relative_frobenius=float(frobenius), epsilon=float(eps),
                               published_frobenius=published and published[0], published_epsilon=published and published[1],
                               of_published=published and float(frobenius) / published[0])


if __name__ == "__main__":
    Experiment(__file__, "Error of NTK features at equal dimension", run)

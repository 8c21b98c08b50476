"""Active learning on MNIST (figure 3 of the first NTK paper): accuracy of greedy, k-means++ and random designs by budget.

Designs are made by `kerf select`, with its own ridge, from training images without their labels; the classifier is ridge regression
on the features of the chosen rows (lambda k = 1e-3 of the mean squared length), tested on the 10,000 test images.
"""
import gzip

import numpy as np

from harness import Experiment


def labels(path):
    return np.frombuffer(gzip.decompress(path.read_bytes()), np.uint8, offset=8)


def accuracy(z, y, z_test, y_test):
    """Ridge on few rows, solved among them."""
    mean = z.mean(0)
    z, z_test = z - mean, z_test - mean
    targets = np.eye(10)[y] - np.eye(10)[y].mean(0)
    k = z @ z.T
    weights = z.T @ np.linalg.solve(k + 1e-4 * np.trace(k) * np.eye(len(k)) / len(k) * 10, targets)
    return float(np.mean((z_test @ weights + np.eye(10)[y].mean(0)).argmax(1) == y_test))


def run(experiment):
    folder = experiment.data / "mnist"
    rows, features, budget = (10000, 512, 200) if experiment.quick else (60000, 4096, 1000)
    rows, features, budget = experiment.arguments.rows or rows, experiment.arguments.features or features, experiment.arguments.budget or budget
    images, test_images = folder / "train-images-idx3-ubyte.gz", folder / "t10k-images-idx3-ubyte.gz"
    y, y_test = labels(folder / "train-labels-idx1-ubyte.gz"), labels(folder / "t10k-labels-idx1-ubyte.gz")
    map_options = ["--map", "ntk-rf", "--depth", 1, "--features", features]
    rows_option = ["--rows", rows]
    for path, name in ((images, "z"), (test_images, "zt")):
        limit = rows_option if name == "z" else []
        experiment.kerf("transform", path, *map_options, "--bias", 1, "--scale", "unit", "--target", "none", *limit, "-o", experiment.scratch / f"{name}.npy")
    z, z_test = (np.load(experiment.scratch / f"{name}.npy", mmap_mode="r") for name in ("z", "zt"))
    budgets = [b for b in (25, 50, 100, 200, 400, 700, 1000) if b <= budget]
    for method in ("greedy", "kmeans++", "random"):
        seeds = range(1, 2 if method == "greedy" else 4)
        results = []
        for seed in seeds:
            out = experiment.scratch / "rows.txt"
            report = experiment.kerf("select", images, *map_options, "--bias", 1, "--budget", budget, "--method", method, "--seed", seed, *rows_option, "-o", out)
            chosen = np.loadtxt(out, dtype=int)
            results.append([accuracy(np.asarray(z[chosen[:b]], float), y[chosen[:b]], np.asarray(z_test, float), y_test) for b in budgets])
        for b, values in zip(budgets, np.transpose(results)):
            experiment.row(method=method, budget=b, accuracy=float(np.mean(values)), lowest=min(values), highest=max(values), seconds=report["seconds"],
                           peak_memory_bytes=report["peak_memory_bytes"])
    experiment.plot(x="budget", y="accuracy", group="method", x_label="labelled rows", y_label="test accuracy")
    experiment.note(f"{rows:,} rows, {features:,} features, all designs for a budget of {budget}; seconds are those of a whole design, reading and features included.  "
                    "k-means++ and random: mean of three seeds.")


if __name__ == "__main__":
    Experiment(__file__, "Active learning on MNIST", run, [(name, {"type": int}) for name in ("--rows", "--features", "--budget")])

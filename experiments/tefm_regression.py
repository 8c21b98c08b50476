"""Figures 2 and 3 of the TEFM paper: relative RMSE |y - y^| / |y| against the number of features, and against total time.

BlogFeedback (its own test rows) and protein (every tenth row held out), Gaussian kernel at the median distance, D = 4 l,
lambda by cross-validation; mean over seeds.  Times are whole fits, from the file to the model.
"""
import gzip

import numpy as np

from harness import Experiment

METHODS = {"rks": ["--map", "rff"], "quasi": ["--map", "qmc"], "comp": ["--map", "compact"], "ffood": ["--map", "fastfood"],
           "tefm-g": ["--map", "tefm"], "tefm-s": ["--map", "tefm", "--variant", "s"], "nystrom": ["--map", "nystrom"]}


def protein(experiment):
    with gzip.open(experiment.data / "regression" / "protein-tertiary-structure.csv.gz", "rt") as lines:
        rows = lines.read().splitlines()
    test = [row for i, row in enumerate(rows) if i % 10 == 0]
    train = [row for i, row in enumerate(rows) if i % 10 != 0]
    for name, part in (("train", train), ("test", test)):
        (experiment.scratch / f"protein_{name}.csv").write_text("\n".join(part) + "\n")
    return experiment.scratch / "protein_train.csv", experiment.scratch / "protein_test.csv"


def run(experiment):
    blog = experiment.data / "blogfeedback"
    sets = {"protein": protein(experiment), "blogfeedback": (blog / "blogfeedback_train.csv.gz", blog / "blogfeedback_test.csv.gz")}
    if experiment.quick:
        sets.pop("blogfeedback")
    for name, (train, test) in sets.items():
        for features in [64, 256] if experiment.quick else [64, 128, 256, 512, 1024]:
            for method, options in METHODS.items():
                errors, seconds = [], []
                for seed in range(1, 3 if experiment.quick else 11):
                    model = experiment.scratch / "m.kerf"
                    report = experiment.kerf("fit", train, "--task", "regression", *options, "--features", features, "--seed", seed, "-o", model)
                    score = experiment.kerf("score", model, test)
                    errors.append(score["relative_rmse"])
                    seconds.append(report["seconds"]["total"])
                experiment.row(data=name, method=method, features=features, relative_rmse=float(np.mean(errors)),
                               spread=float(np.std(errors)), seconds=float(np.mean(seconds)))
    for name in sets:
        experiment.plot(x="features", y="relative_rmse", group="method", log_x=True, title=name, where={"data": name})
        experiment.plot(x="seconds", y="relative_rmse", group="method", log_x=True, title=name, where={"data": name})


if __name__ == "__main__":
    Experiment(__file__, "Regression with few features: TEFM and its rivals (Figures 2 and 3)", run)

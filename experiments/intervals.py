"""Do 90 % intervals cover 90 %?  Normal ones (Bayesian linear regression on features, noise by leave-one-out or, with --noise likelihood, by marginal likelihood) and conformal ones; sets of classes.

For each regression set: a random quarter of the rows (at most 10,000) is the test set, up to 10,000 others train
`kerf fit --variance` and `kerf fit --intervals conformal` with --map auto; sets of fewer than 2,000 rows: five such splits.  Coverage: the share of
test targets inside the interval; `coverage`, `least` and `most` of the normal ones, `conformal` of the others, whose fits have a fifth fewer rows; `width`: mean width of these by
that of the normal ones.  Classes: `conformal` is the share of test rows whose class is in its 90 % set, `size` the mean number of classes in it.
"""
import numpy as np

from auto_map import load, split_files
from harness import Experiment

SETS = ["yacht", "bostonHousing", "energy", "concrete", "airfoil", "wine", "parkinsons", "cpu_act", "pumadyn32nm",
        "houses", "kin40k", "protein-tertiary-structure"]
CLASS_SETS = ["yeast", "contrac", "car", "abalone", "waveform"]
FEATURES, LEVEL = 1024, 0.9


def splits(experiment, table):
    for seed in range(1, 6 if len(table) < 2000 and not experiment.quick else 2):
        yield split_files(experiment, table, seed)


def at_level(scores, kind=None):
    return next(one for one in scores if one["promised"] == LEVEL and one.get("kind") == kind)


def regression(experiment, name):
    table = load(experiment.data / "regression" / f"{name}.csv.gz")
    covered, rmse, conformal, width = [], [], [], []
    for files in splits(experiment, table):
        common = [files["train"], "--task", "regression", "--test", files["test"], "--features", FEATURES, "--threads", 1]
        fit = experiment.kerf("fit", *common, "--variance", "--noise", experiment.arguments.noise)
        normal = at_level(fit["test"]["intervals"], "normal")
        other = at_level(experiment.kerf("fit", *common, "--intervals", "conformal")["test"]["intervals"], "conformal")
        covered.append(normal["coverage"])
        rmse.append(fit["test"]["rmse"])
        conformal.append(other["coverage"])
        width.append(other["mean_width"] / normal["mean_width"])
    experiment.row(set=name, rows=fit["rows"], splits=len(covered), map=fit["choice"]["tried"][0]["candidate"], rmse=float(np.mean(rmse)),
                   coverage=float(np.mean(covered)), least=min(covered), most=max(covered), conformal=float(np.mean(conformal)), width=float(np.mean(width)))
    return np.mean(covered), np.mean(conformal), np.mean(width)


def classes(experiment, name):
    table = load(experiment.data / "uci_fd" / f"{name}.csv.gz")
    accuracy, covered, size = [], [], []
    for files in splits(experiment, table):
        fit = experiment.kerf("fit", files["train"], "--task", "classification", "--test", files["test"], "--features", FEATURES, "--threads", 1, "--intervals", "conformal")
        one = at_level(fit["test"]["sets"])
        accuracy.append(fit["test"]["accuracy"])
        covered.append(one["coverage"])
        size.append(one["mean_size"])
    experiment.row(set=name, rows=fit["rows"], splits=len(covered), map=fit["choice"]["tried"][0]["candidate"], conformal=float(np.mean(covered)), accuracy=float(np.mean(accuracy)),
                   classes=len(fit["classes"]), size=float(np.mean(size)))
    return np.mean(covered), np.mean(size)


def run(experiment):
    normal, conformal, width = np.array([regression(experiment, name) for name in (SETS[:6] if experiment.quick else SETS)]).T
    sets = np.array([classes(experiment, name) for name in (CLASS_SETS[:2] if experiment.quick else CLASS_SETS)])
    experiment.note(f"Mean coverage of {len(normal)} sets: {100 * np.mean(normal):.1f} % (goal: 88 to 92 %); "
                    f"least {100 * min(normal):.1f} %, most {100 * max(normal):.1f} % (goal: each between 80 and 97 %).")
    experiment.note(f"Conformal: {100 * np.mean(conformal):.1f} % on average, {100 * min(conformal):.1f} to {100 * max(conformal):.1f} %; "
                    f"{np.mean(width):.2f} times as wide as the normal ones on average, {min(width):.2f} to {max(width):.2f} times. "
                    f"Sets of classes: {100 * np.mean(sets[:, 0]):.1f} % on average over {len(sets)} sets, {100 * min(sets[:, 0]):.1f} to {100 * max(sets[:, 0]):.1f} %.")


if __name__ == "__main__":
    Experiment(__file__, "Coverage of 90 % predictive intervals", run, [("--noise", {"default": "leave-one-out", "choices": ["leave-one-out", "likelihood"]})])

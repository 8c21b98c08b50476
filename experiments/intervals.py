"""Do 90 % predictive intervals cover 90 %?  Bayesian linear regression on features, noise by leave-one-out (--noise likelihood: by marginal likelihood).

For each regression set: a random quarter of the rows (at most 10,000) is the test set, up to 10,000 others train
`kerf fit --variance` with --map auto; sets of fewer than 2,000 rows: five such splits.  Coverage: the share of test targets inside
prediction +- 1.645 standard deviations.
"""
import numpy as np

from auto_map import load, split_files
from harness import Experiment

SETS = ["yacht", "bostonHousing", "energy", "concrete", "airfoil", "wine", "parkinsons", "cpu_act", "pumadyn32nm",
        "houses", "kin40k", "protein-tertiary-structure"]
FEATURES = 1024


def run(experiment):
    coverages = []
    for name in SETS[:6] if experiment.quick else SETS:
        table = load(experiment.data / "regression" / f"{name}.csv.gz")
        covered, rmse = [], []
        for seed in range(1, 6 if len(table) < 2000 and not experiment.quick else 2):
            files = split_files(experiment, table, seed)
            fit = experiment.kerf("fit", files["train"], "--task", "regression", "--test", files["test"], "--features", FEATURES, "--variance", "--noise", experiment.arguments.noise, "--threads", 1)
            covered.append(fit["test"]["coverage90"])
            rmse.append(fit["test"]["rmse"])
        coverages.append(np.mean(covered))
        experiment.row(set=name, rows=fit["rows"], splits=len(covered), map=fit["choice"]["tried"][0]["candidate"], rmse=float(np.mean(rmse)),
                       coverage=float(np.mean(covered)), least=min(covered), most=max(covered))
    experiment.note(f"Mean coverage of {len(coverages)} sets: {100 * np.mean(coverages):.1f} % (goal: 88 to 92 %); "
                    f"least {100 * min(coverages):.1f} %, most {100 * max(coverages):.1f} % (goal: each between 80 and 97 %).")


if __name__ == "__main__":
    Experiment(__file__, "Coverage of 90 % predictive intervals", run, [("--noise", {"default": "leave-one-out", "choices": ["leave-one-out", "likelihood"]})])

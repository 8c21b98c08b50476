"""`kerf fit` alone against boosted trees: hold-out error of the regression sets, with and without a learned metric.

A random quarter of the rows (at most 5,000) is the test set, up to 8,000 others train; three splits, the same for all.  Trees: scikit-learn's
HistGradientBoosting, and LightGBM and XGBoost where they are installed (pip install lightgbm xgboost), learning rate 0.05, early stopping on a fifth of
the training rows.  Errors are root mean squared errors over the standard deviation of the test targets; `ratio` is that of kerf over the best of the trees.
Rules of the metric were set with sight of the sets marked as tuned on.  Splits of a set that are done stand in --checkpoint DIR, from which another run goes on.
"""
import json
import pathlib
import time

import numpy as np

from auto_map import load
from harness import Experiment

SETS = ["airfoil", "bostonHousing", "concrete", "cpu_act", "energy", "houses", "keggdirected", "kin40k", "parkinsons", "protein-tertiary-structure", "pumadyn32nm",
        "wine", "yacht"]
TUNED_ON = {"airfoil", "concrete", "cpu_act", "houses", "kin40k", "parkinsons", "protein-tertiary-structure", "pumadyn32nm", "wine"}
MOST_TEST, MOST_TRAIN = 5000, 8000


def trees(train, test):
    """Relative error and seconds of each library that is there."""
    x, y, rate, most = train[:, :-1], train[:, -1], 0.05, 3000
    cut = len(train) // 5
    found = {}

    def add(name, fit):
        start = time.monotonic()
        predict = fit()
        found[name] = (float(np.sqrt(np.mean((predict(test[:, :-1]) - test[:, -1]) ** 2)) / test[:, -1].std()), time.monotonic() - start)

    from sklearn.ensemble import HistGradientBoostingRegressor
    add("sklearn", lambda: HistGradientBoostingRegressor(learning_rate=rate, max_iter=most, early_stopping=True, validation_fraction=0.2,
                                                         n_iter_no_change=50, random_state=0).fit(x, y).predict)
    try:
        import lightgbm
        add("lightgbm", lambda: lightgbm.LGBMRegressor(n_estimators=most, learning_rate=rate, verbose=-1).fit(
            x[cut:], y[cut:], eval_set=[(x[:cut], y[:cut])], callbacks=[lightgbm.early_stopping(50, verbose=False)]).predict)
    except ImportError:
        pass
    try:
        import xgboost
        add("xgboost", lambda: xgboost.XGBRegressor(n_estimators=most, learning_rate=rate, early_stopping_rounds=50).fit(
            x[cut:], y[cut:], eval_set=[(x[:cut], y[:cut])], verbose=False).predict)
    except ImportError:
        pass
    return found


def one_split(experiment, name, table, seed):
    order = np.random.default_rng(seed).permutation(len(table))
    cut = len(table) // 4
    most = 2000 if experiment.quick else MOST_TRAIN
    parts = {"test": table[order[:cut][:MOST_TEST]], "train": table[order[cut:][:most]]}
    for part, rows in parts.items():
        np.savetxt(experiment.scratch / f"{part}.csv", rows, delimiter=",", fmt="%.9g")
    common = [experiment.scratch / "train.csv", "--task", "regression", "--test", experiment.scratch / "test.csv"]
    result = {"rows": len(parts["train"]), "trees": trees(parts["train"], parts["test"])}
    for metric in ("none", "auto"):
        fit = experiment.kerf("fit", *common, "--metric", metric)
        result[metric] = (float(np.sqrt(max(0.0, 1 - fit["test"]["r2"]))), fit["seconds"]["total"])
    return result


def kept(experiment, name, table, seed):
    """The split's result, from the checkpoint where it is there."""
    folder = experiment.arguments.checkpoint
    path = folder and pathlib.Path(folder) / f"{name}-{seed}{'-quick' if experiment.quick else ''}.json"
    if path and path.exists():
        return json.loads(path.read_text())
    result = one_split(experiment, name, table, seed)
    if path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(result))
    return result


def run(experiment):
    names = ["airfoil", "concrete", "energy", "yacht"] if experiment.quick else SETS
    ratios, times = [], []
    for name in names:
        table = load(experiment.data / "regression" / f"{name}.csv.gz")
        splits = [kept(experiment, name, table, seed) for seed in range(1, 2 if experiment.quick else 4)]
        best = np.mean([min(error for error, _ in s["trees"].values()) for s in splits])
        slowest = np.mean([max(seconds for _, seconds in s["trees"].values()) for s in splits])
        none, auto = (np.mean([s[metric][0] for s in splits]) for metric in ("none", "auto"))
        seconds = np.mean([s["auto"][1] for s in splits])
        ratios.append(auto / best)
        times.append(seconds / slowest)
        experiment.row(set=name, rows=splits[0]["rows"], tuned_on=name in TUNED_ON, trees=best, no_metric=none, kerf=auto, ratio=auto / best,
                       seconds=seconds, slowest_tree=slowest)
    experiment.note(f"Geometric mean of kerf's error over that of the best tree: {np.exp(np.mean(np.log(ratios))):.3f} (goal: 0.95); "
                    f"{sum(r > 1.5 for r in ratios)} of {len(ratios)} sets above 1.5. Time over that of the slowest tree: "
                    f"{np.exp(np.mean(np.log(times))):.1f} (goal: 3).")


if __name__ == "__main__":
    Experiment(__file__, "kerf fit alone against boosted trees", run, [("--checkpoint", {"help": "folder of splits that are done"})])

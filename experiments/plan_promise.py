"""Does the number of features that `kerf plan` names keep its promise?

Each trial plans on one seed and looks at a map of that many features with a fresh seed: another sample of the rows,
another automatic bandwidth or bias, another map (epsilon, kernel error), or another fit on another split (validation
error).  Five data sets (two shipped, three UCI), 40 trials each: 16 with a target epsilon at lambda 1e-2, 16 with a
target kernel error, 8 with a target validation error; maps rff, arccos and ntk-rf in turn.  The targets of validation
are the mean plus two standard deviations of a pilot: three maps of 512 features, three other seeds; at most 2,048 features are tried for them, 8,192 for the others.  A plan that says "out of reach" promises nothing:
it is counted apart.  What a plan measured must be what a fit makes: options of the two are compared, up to 8,192 features.  `waste` is the median of target / value: how much better than asked.
"""
import statistics

from harness import Experiment, ROOT

MAPS = ["rff", "arccos", "ntk-rf"]
SAMPLE = 300
#       file, target column, target validation error
SETS = {"digits": ("digits_train.csv.gz", "digit", 0.065), "breast_cancer": ("breast_cancer_train.csv", "diagnosis", 0.07),
        "abalone": ("abalone", "-1", 0.37), "statlog-image": ("statlog-image", "-1", 0.08), "waveform": ("waveform", "-1", 0.15)}


def file_of(experiment, name):
    file = SETS[name][0]
    return ROOT / "data" / file if "." in file else experiment.data / "uci_fd" / f"{file}.csv.gz"


def trial(experiment, name, goal, number):
    """(planned features or None, met, target / value) of one trial."""
    file, column, validation = file_of(experiment, name), SETS[name][1], SETS[name][2]
    map_ = MAPS[number % len(MAPS)]
    seed, fresh = 1000 + 100 * number, 900_000 + number
    # Epsilons and errors from easy to demanding.
    target = {"epsilon": [0.8, 0.6, 0.5, 0.4][number % 4], "kernel-error": [0.2, 0.1, 0.07, 0.05][number % 4], "validation-error": validation}[goal]
    common = ["--target", column, "--map", map_]
    lambda_ = [] if goal == "validation-error" else ["--lambda", "1e-2"]
    plan = experiment.kerf("plan", file, *common, *lambda_, f"--{goal}", target, "--sample", SAMPLE, "--seed", seed,
                           "--most", 2048 if goal == "validation-error" else 8192)
    if plan["features"] is None:
        return None, False, 0, False
    if goal == "validation-error":
        fit = experiment.kerf("fit", file, *common, "--features", plan["features"], "--holdout", 0.2, "--seed", fresh)
        value = 1 - fit["holdout"]["accuracy"]
    else:
        if plan["features"] <= 8192:
            fit = experiment.kerf("fit", file, *common, "--features", plan["features"], "--lambda", "1e-2", "--seed", seed)
            if fit["options"] != plan["options"]:
                raise SystemExit(f"the plan looked at {plan['options']}, a fit has {fit['options']}")
        bias = [] if map_ == "rff" else ["--bias", "auto"]
        found = experiment.kerf("diagnose", file, *common, *lambda_, *bias, "--scale", "auto", "--features", plan["features"], "--sample", SAMPLE,
                                "--seed", fresh, "--seeds", 1)
        value = found["epsilon" if goal == "epsilon" else "relative_frobenius"]
    return plan["features"], value <= target, target / max(value, 1e-9), plan["extrapolated"]


def run(experiment):
    counts = {"epsilon": 2, "kernel-error": 2, "validation-error": 1} if experiment.quick else {"epsilon": 16, "kernel-error": 16, "validation-error": 8}
    promised = met = out = 0
    for name in SETS:
        for goal, count in counts.items():
            results = [trial(experiment, name, goal, number) for number in range(count)]
            kept = [r for r in results if r[0] is not None]
            promised, met, out = promised + len(kept), met + sum(r[1] for r in kept), out + count - len(kept)
            experiment.row(data=name, target=goal, trials=count, out_of_reach=count - len(kept), extrapolated=sum(r[3] for r in kept), met=sum(r[1] for r in kept),
                           median_features=int(statistics.median(r[0] for r in kept)) if kept else None,
                           waste=statistics.median(r[2] for r in kept) if kept else None)
    experiment.note(f"{met} of {promised} promises kept: {100 * met / promised:.1f} %; {out} plans said that the target is out of reach.")


if __name__ == "__main__":
    Experiment(__file__, "Does kerf plan keep its promise?", run)

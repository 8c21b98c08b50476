"""What --map auto is worth: its test error against every single candidate and against scikit-learn's usual recipe.

For each regression set: a random quarter of the rows is the test set (sets of fewer than 2,000 rows: three such splits,
squared errors averaged, because a dozen hard rows would decide otherwise); `kerf fit` chooses a map; then each of the
candidates that it chose from is fitted by its own name and options with as many features, and scored on the same test rows.
Beside them scikit-learn's RBFSampler (gamma = 1/d, as many features) + RidgeCV on the same standardised columns.
Large sets are cut to 10,000 training and 10,000 test rows, drawn at random, to keep the 45 fits affordable.
"""
import gzip

import numpy as np

from harness import Experiment

SETS = ["yacht", "bostonHousing", "energy", "concrete", "airfoil", "wine", "parkinsons", "cpu_act", "pumadyn32nm",
        "houses", "kin40k", "protein-tertiary-structure", "keggdirected"]
FEATURES, MOST_ROWS = 1024, 10000


def load(path):
    with gzip.open(path, "rt") as file:
        return np.loadtxt(file, delimiter=",")


def sklearn_rmse(train, test):
    from sklearn.kernel_approximation import RBFSampler
    from sklearn.linear_model import RidgeCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    model = make_pipeline(StandardScaler(), RBFSampler(gamma=1 / (train.shape[1] - 1), n_components=FEATURES, random_state=1),
                          RidgeCV(alphas=np.logspace(-6, 4, 21)))
    model.fit(train[:, :-1], train[:, -1])
    return np.sqrt(np.mean((model.predict(test[:, :-1]) - test[:, -1]) ** 2))


def split_files(experiment, table, seed):
    """A quarter of the rows to test on and the rest to train on, by names of files."""
    order = np.random.default_rng(seed).permutation(len(table))
    cut = len(table) // 4
    files = {}
    for part, rows in (("test", order[:cut][:MOST_ROWS]), ("train", order[cut:][:MOST_ROWS])):
        files[part] = experiment.scratch / f"{part}.csv"
        np.savetxt(files[part], table[rows], delimiter=",", fmt="%.9g")
    return files


def one_split(experiment, table, seed):
    """Squared test errors by candidate, with "auto" and "sklearn" among them, and the report of the fit that chose."""
    files = split_files(experiment, table, seed)
    train, test = (np.loadtxt(files[part], delimiter=",") for part in ("train", "test"))
    common = [files["train"], "--task", "regression", "--test", files["test"], "--features", FEATURES, "--threads", experiment.arguments.threads]
    fit = experiment.kerf("fit", *common)
    errors = {"auto": fit["test"]["mse"], "sklearn": sklearn_rmse(train, test) ** 2}
    for trial in fit["choice"]["tried"]:
        options = [text for key, value in trial["options"].items() for text in (f"--{key}", value)]
        errors[trial["candidate"]] = experiment.kerf("fit", *common, "--map", trial["map"], *options)["test"]["mse"]
    return errors, fit, len(train)


def run(experiment):
    log_best, log_peer = [], []
    for name in SETS[:4] if experiment.quick else SETS:
        table = load(experiment.data / "regression" / f"{name}.csv.gz")
        splits = [one_split(experiment, table, seed) for seed in range(1, 4 if len(table) < 2000 and not experiment.quick else 2)]
        # A grid that was extended in one split only has candidates that the others have not.
        shared = [key for key in splits[0][0] if all(key in split[0] for split in splits)]
        errors = {key: np.sqrt(np.mean([split[0][key] for split in splits])) for key in shared}
        auto, peer = errors.pop("auto"), errors.pop("sklearn")
        best = min(errors, key=errors.get)
        log_best.append(np.log(auto / errors[best]))
        log_peer.append(np.log(auto / peer))
        chosen = " / ".join(dict.fromkeys(split[1]["choice"]["tried"][0]["candidate"] for split in splits))
        experiment.row(set=name, rows=splits[0][2], splits=len(splits), chosen=chosen, auto_rmse=auto, best_candidate=best, best_rmse=errors[best],
                       median_rmse=float(np.median(list(errors.values()))), sklearn_rmse=peer, auto_over_best=auto / errors[best],
                       auto_over_sklearn=auto / peer, choice_seconds=splits[0][1]["choice"]["seconds"])
    experiment.note(f"Geometric means: auto / best single candidate = {np.exp(np.mean(log_best)):.3f} (goal: at most 1.03); "
                    f"auto / scikit-learn = {np.exp(np.mean(log_peer)):.3f} (goal: at most 0.85).  {FEATURES} features everywhere.")


if __name__ == "__main__":
    Experiment(__file__, "--map auto against every candidate", run, [("--threads", {"type": int, "default": 1})])

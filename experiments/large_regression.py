"""The large regressions of the two NTK papers: MillionSongs, WorkLoads, CT slice and SuperConduct (Table 2 of each).

Put the files into DIR/large_regression, as UCI has them (a .gz behind the name is fine):
  YearPredictionMSD.txt            MillionSongs: 515,345 rows, year in the first column; the official split, 463,715 rows train
  slice_localization_data.csv      CT slice: 53,500 rows, patientId dropped, target `reference`; every tenth row is test
  superconduct.csv                 train.csv of Superconductivity: 21,263 rows, target `critical_temp`; every tenth row is test
  workloads.csv                    the papers do not say which columns: target last; every tenth row is test
MSE is of the raw target, lambda by cross-validation.  Published: the paper of 2021 ("sketch": 8,192 features, 4 folds)
and its first version ("features": 10,000 features), on their own splits and machine.
Without a file a synthetic stand-in of the same shape shows time and memory; its MSE means nothing and is left out.
"""
import gzip

import numpy as np

from harness import Experiment

#          published MSE {map: (sketch, features)}
PUBLISHED = {"MillionSongs": {"rff": (109.50, 108.50), "ntk-rf": (94.27, 80.77), "ntk-poly": (92.83, None)},
             "WorkLoads": {"rff": (4.034e4, 7.05e4), "ntk-rf": (3.554e4, 2.43e4), "ntk-poly": (3.538e4, None)},
             "CT slice": {"rff": (48.20, None), "ntk-rf": (46.91, None), "ntk-poly": (46.52, None)},
             "SuperConduct": {"rff": (None, 1175.13), "ntk-rf": (None, 527.58)}}
#          file, rows, columns (of WorkLoads a guess), target, options
SETS = {"MillionSongs": ("YearPredictionMSD.txt", 515345, 90, "first", []),
        "WorkLoads": ("workloads.csv", 199539, 7, "last", []),
        "CT slice": ("slice_localization_data.csv", 53500, 384, "reference", ["--drop", "patientId"]),
        "SuperConduct": ("superconduct.csv", 21263, 81, "critical_temp", [])}
MAPS = ["rff", "ntk-rf", "ntk-poly"]
OFFICIAL = {"MillionSongs": 463715}  # the first so many rows train


def open_text(path):
    return gzip.open(path, "rt") if path.suffix == ".gz" else open(path)


def find(experiment, file):
    folder = experiment.data / "large_regression"
    return next((path for path in (folder / file, folder / f"{file}.gz") if path.exists()), None)


def split(experiment, name, path, part):
    """Training and test rows as files, the first `part` of the rows; a header goes to both."""
    train, test = experiment.scratch / "train.csv", experiment.scratch / "test.csv"
    with open_text(path) as lines, open(train, "w") as to_train, open(test, "w") as to_test:
        first = next(lines)
        header = any(character.isalpha() for character in first.replace("e", "").replace("E", ""))
        rows = lines if header else [first, *lines]
        if header:
            to_train.write(first)
            to_test.write(first)
        for number, line in enumerate(rows):
            if number >= part * SETS[name][1] and name not in OFFICIAL:
                break
            is_test = number >= OFFICIAL[name] if name in OFFICIAL else number % 10 == 9
            if name in OFFICIAL and not is_test and number >= part * OFFICIAL[name]:
                continue
            (to_test if is_test else to_train).write(line)
    return train, test


def stand_in(experiment, name, part):
    """Rows of the same shape; the target is a function that can be learned, and means nothing."""
    rows, columns = int(0.9 * part * SETS[name][1]), SETS[name][2]
    generator = np.random.default_rng(1)
    x = generator.standard_normal((rows, columns), dtype=np.float32)
    y = np.sin(x @ generator.standard_normal((columns, 3), dtype=np.float32)).sum(axis=1) + 0.1 * generator.standard_normal(rows)
    file = experiment.scratch / "stand_in.npz"
    np.savez(file, X=x, y=y)
    return file


def run(experiment):
    features, part = (512, 0.05) if experiment.quick else (8192, 1)
    kept = experiment.rows_before() if experiment.arguments.only else []
    for name, (file, _, columns, target, options) in SETS.items():
        if experiment.arguments.only and name not in experiment.arguments.only:
            for row in kept:
                if row["data"].startswith(name):
                    experiment.row(**row)
            continue
        path = find(experiment, file)
        if path:
            train, test = split(experiment, name, path, part)
            arguments = [train, "--target", target, *options, "--test", test]
        else:
            arguments = [stand_in(experiment, name, part)]
        for map_ in MAPS:
            report = experiment.kerf("fit", *arguments, "--task", "regression", "--map", map_, "--features", features)
            sketch, first = PUBLISHED[name].get(map_, (None, None))
            experiment.row(data=name if path else f"{name}, stand-in", rows=report["rows"], columns=report["columns"], map=map_, features=report["features"],
                           solver=report["solver"], mse=report["test"]["mse"] if path else None, published_8192=sketch, published_10000=first,
                           seconds=report["seconds"]["total"], memory_mb=round(report["peak_memory_bytes"] / 2**20))
    if kept:
        experiment.note(f"Run again: {', '.join(experiment.arguments.only)}. The other rows are of the run before.")
    experiment.note("Stand-in: synthetic rows of the same shape, because the file was not there; only time and memory mean something.")


if __name__ == "__main__":
    Experiment(__file__, "Large regressions: MillionSongs, WorkLoads, CT slice, SuperConduct (Table 2)", run, options=[
        ("--only", {"nargs": "+", "choices": list(SETS), "help": "sets to run; rows of the others stay as they are"})])

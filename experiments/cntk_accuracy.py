"""Ridge regression on convolutional NTK features of CIFAR-10, lambda by cross-validation on the training images.

Accuracy on the 10,000 test images against features, map, depth and preparation of the images.  Published: CNTKSketch and
GradRF on a GPU (Zandieh et al. 2021, table 1, depth 3), exact kernel 70.47 at depth 3 and 77.43 at depth 11 (Arora et al. 2019).

A stage is one fit.  The result file is written after every stage, and stages that it holds already are not run again; a fit
that was killed goes on from its checkpoint (OUT/cntk_accuracy.checkpoint).  --fresh starts anew.  Without further options
all stages of the table run; --map, --features, --depth, --prepare and --extra choose one or several:

    /usr/bin/python3 experiments/cntk_accuracy.py --data DIR --map cntk-rf --features 4096 --depth 3 --prepare whitened
"""
import json
import pathlib
import shutil

from harness import Experiment

PUBLISHED = {("cntk", 4096): 67.58, ("cntk", 8192): 70.46, ("cntk", 16384): 72.06,
             ("grad", 9328): 62.49, ("grad", 17040): 62.57, ("grad", 42816): 65.21}
PREPARE = {  # what is done to the images
    "channel": ["--scale", "channel"],
    "whitened": ["--zca", "0.1", "--scale", "none"],
    "whitened, flips": ["--zca", "0.1", "--scale", "none", "--flip"],
    "whitened, mirror": ["--zca", "0.1", "--scale", "none", "--mirror", "true"],
    "channel, flips": ["--scale", "channel", "--flip"],
}
STAGES = [(map, features, 3, prepare) for features in (4096, 8192, 16384) for map, prepare in
          [("cntk-rf", "channel"), ("cntk-rf", "whitened"), ("cntk-rf", "whitened, flips"), ("cntk-rf", "whitened, mirror"), ("cntk-sketch", "whitened")]]
QUICK = [("cntk-rf", 512, 3, "channel"), ("cntk-rf", 512, 3, "whitened")]


def chosen(arguments, quick):
    """The stages that the options ask for."""
    if not (arguments.map or arguments.features or arguments.depth or arguments.prepare):
        return QUICK if quick else STAGES
    return [(map, features, depth, prepare) for map in arguments.map or ["cntk-rf"] for features in arguments.features or [4096]
            for depth in arguments.depth or [3] for prepare in arguments.prepare or ["whitened"]]


def published(map, features, depth, rows):
    """Of the same dimension, depth and number of images only."""
    return PUBLISHED.get(("grad" if "grad" in map else "cntk", features)) if (depth, rows) == (3, 50000) else None


def run(experiment):
    arguments = experiment.arguments
    name = "cntk_accuracy" + ("-quick" if experiment.quick else "")
    result = arguments.out / f"{name}.json"
    if result.exists() and not arguments.fresh:
        experiment.rows += json.loads(result.read_text())["rows"]
    arguments.out.mkdir(parents=True, exist_ok=True)
    folder = experiment.data / "cifar10"
    rows = arguments.rows or (1000 if experiment.quick else 50000)
    extra = arguments.extra.split()
    for map, features, depth, prepare in chosen(arguments, experiment.quick):
        key = dict(map=map, features=features, depth=depth, prepare=prepare, options=arguments.extra, rows=rows)
        if any(all(row.get(column) == value for column, value in key.items()) for row in experiment.rows):
            continue
        checkpoint = pathlib.Path(arguments.checkpoint or arguments.out / f"{name}.checkpoint")
        report = experiment.kerf("fit", *sorted(folder.glob("data_batch_*.bin.xz")), "--rows", rows, "--map", map, "--features", features,
                                 "--depth", depth, *PREPARE[prepare], *extra, "--checkpoint", checkpoint, "--checkpoint-interval", 120,
                                 "--test", folder / "test_batch.bin.xz")
        seconds = report["seconds"]
        experiment.row(**key, accuracy=round(100 * report["test"]["accuracy"], 2), published=published(map, features, depth, rows),
                       minutes=round(seconds["total"] / 60, 1), feature_minutes=round(seconds["features"] / 60, 1),
                       cv_error=report["cv_error"], lambda_=report["lambda"], memory_gb=round(report["peak_memory_bytes"] / 2**30, 2))
        shutil.rmtree(checkpoint, ignore_errors=True)
        experiment.write()
    experiment.note("Published: CNTKSketch (cntk-rf, cntk-sketch) at the same dimension, all 50,000 images, depth 3, on a GPU; GradRF (cntk-grad-rf) "
                    "has 62.49, 62.57 and 65.21 at its own 9,328, 17,040 and 42,816.  Minutes: the whole fit on the "
                    "training images, of which feature minutes for the features; predicting the test images is not counted.")
    experiment.plot(x="minutes", y="accuracy", group="prepare", y_label="accuracy (%)", title="CIFAR-10")


if __name__ == "__main__":
    Experiment(__file__, "CIFAR-10 by ridge regression on convolutional NTK features", run, [
        ("--map", {"nargs": "+"}), ("--features", {"type": int, "nargs": "+"}), ("--depth", {"type": int, "nargs": "+"}),
        ("--prepare", {"nargs": "+", "choices": list(PREPARE)}), ("--rows", {"type": int, "help": "training images (default: all)"}),
        ("--extra", {"default": "", "help": "further options of kerf fit, in one string"}),
        ("--checkpoint", {"help": "file to go on from after a kill"}), ("--fresh", {"action": "store_true", "help": "forget earlier stages"})])

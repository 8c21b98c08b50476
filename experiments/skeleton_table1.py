"""Table 1 of the paper on compositional kernels: CIFAR-10, nine stacks of two convolutions and one full layer, all ReLU.

Random 24x24 crops, flips, brightness, contrast and saturation (other ones in every epoch), whitened images, patches of
the first convolution as principal components (10, 12, 16 of 4x4, 5x5, 6x6), logistic loss, AdaGrad straight from the
generator; test images are centre crops.  Published: 10^6 features and 120 epochs, the learning rate tuned by hand.
Here the rate is chosen on the first training images (auto), the scale of the circles of principal components was on images held out of training; that of `full` was not tuned.

Every finished row is written at once and every fit keeps a checkpoint in --work, so that a run that was stopped goes
on where it was: call it again with the same options.
"""
import json
import lzma
import pathlib
import shutil

import numpy as np

from harness import Experiment

PUBLISHED = {"4,5": 72.88, "6,4": 72.42, "6,6": 72.25, "4,4": 71.49, "5,4": 71.45, "4,6": 70.62, "5,6": 70.39, "6,5": 70.14, "5,5": 69.64, "full": 60.01}
COMPONENTS = {4: 10, 5: 12, 6: 16}
AUGMENTATION = ["--flip", "--shift", 4, "--brightness", 0.25, "--contrast", 0.5, "--saturation", 0.5]


def plain_files(experiment, work):
    """The five training files and the test file without compression: every epoch reads them."""
    files = []
    for name in [*(f"data_batch_{k}.bin" for k in range(1, 6)), "test_batch.bin"]:
        path = work / name
        if not path.exists():
            path.with_suffix(".part").write_bytes(lzma.open(experiment.data / "cifar10" / (name + ".xz")).read())
            path.with_suffix(".part").rename(path)
        files.append(path)
    return files[:-1], files[-1]


def flags_of(architecture, arguments):
    if architecture == "full":
        return ["--scale", "channel", "--skeleton", f"circle {arguments.full_circle}, full relu", "--learning-rate", arguments.full_rate]
    first, second = map(int, architecture.split(","))
    return ["--patch", first, "--patch-stride", 2, "--patch-components", COMPONENTS[first], "--scale", "channel",
            "--skeleton", f"circle {arguments.circle}, conv 1 relu, conv {second}/2 relu, full relu", "--learning-rate", arguments.rate]


def crops(files, rows):
    """Centre crops, each image minus its mean over its deviation, as the program makes them; and labels."""
    images, labels = [], []
    for file in files:
        data = np.frombuffer(pathlib.Path(file).read_bytes(), np.uint8).reshape(-1, 3073)
        labels.append(data[:, 0])
        images.append(data[:, 1:].reshape(-1, 3, 32, 32)[:, :, 4:28, 4:28].reshape(-1, 1728) / np.float32(255))
    x, y = np.concatenate(images)[:rows], np.concatenate(labels)[:rows]
    return (x - x.mean(1, keepdims=True)) / np.maximum(x.std(1, keepdims=True), 1728 ** -0.5), y


def linear_accuracy(train, test, rows):
    """Ridge regression of the classes on the crops themselves; lambda by the last tenth of the training images."""
    x, y = crops(train, rows)
    cut = len(x) * 9 // 10
    solve = lambda a, t, ridge: np.linalg.solve(a.T @ a + ridge * len(a) * np.eye(a.shape[1]), a.T @ (np.eye(10)[t] - 0.1))
    ridges = [10.0 ** k for k in range(-4, 2)]
    found = [float(np.mean((x[cut:] @ solve(x[:cut], y[:cut], ridge)).argmax(1) == y[cut:])) for ridge in ridges]
    weights = solve(x, y, ridges[int(np.argmax(found))])
    x, y = crops([test], 10000)
    return 100 * float(np.mean((x @ weights).argmax(1) == y))


def run(experiment):
    arguments = experiment.arguments
    features, epochs, rows = arguments.features, arguments.epochs, arguments.rows
    architectures = arguments.architectures
    if experiment.quick:
        features, epochs, rows, architectures = 4000, 2, 5000, ["4,5", "full"]
    work = arguments.work or experiment.scratch
    work.mkdir(parents=True, exist_ok=True)
    train, test = plain_files(experiment, work)
    settings = dict(features=features, epochs=epochs, rows=rows)
    kept = work / "rows.json"
    rows_so_far = json.loads(kept.read_text()) if kept.exists() else []
    done = lambda name: [row for row in rows_so_far if row["architecture"] == name and all(row[k] == v for k, v in settings.items())]
    experiment.rows = rows_so_far
    if not [row for row in rows_so_far if row["architecture"] == "linear" and row["rows"] == rows]:
        experiment.row(architecture="linear", features=1728, epochs=None, rows=rows, accuracy=linear_accuracy(train, test, rows))
        kept.write_text(json.dumps(experiment.rows))
    for name in architectures:
        if done(name):
            continue
        state = work / f"state-{name.replace(',', '-')}-{features}-{epochs}-{rows}"
        report = experiment.kerf("fit", *train, "--rows", rows, "--crop", "24x24", "--per-image", *AUGMENTATION, "--map", "skeleton", *flags_of(name, arguments),
                                 "--features", features, "--solver", "sgd", "--loss", "logistic", "--epochs", epochs, "--patience", 0,
                                 "--batch", arguments.batch, "--folds", 50, "--checkpoint", state, "--checkpoint-interval", 120,
                                 "-o", work / f"model-{name.replace(',', '-')}.kerf", "--test", test)
        notes = [note for note in report["notes"] if "held-out" in note]
        experiment.row(architecture=name, **settings, accuracy=100 * report["test"]["accuracy"], published=PUBLISHED[name],
                       held_out=100 * max(float(note.split()[-1]) for note in notes), minutes=report["seconds"]["total"] / 60)
        kept.write_text(json.dumps(experiment.rows))
        shutil.rmtree(state, ignore_errors=True)
        finish(experiment, write=True)
    finish(experiment)


def finish(experiment, write=False):
    """Ranks of the convolutions that were run with the same settings, beside the published ones."""
    convolutions = [row for row in experiment.rows if "," in row["architecture"]]
    for row in convolutions:
        peers = [peer for peer in convolutions if all(peer[k] == row[k] for k in ("features", "epochs", "rows"))]
        row["rank"] = 1 + sum(peer["accuracy"] > row["accuracy"] for peer in peers)
        row["published_rank"] = 1 + sum(peer["published"] > row["published"] for peer in peers)
    experiment.notes = ["The learning rate is chosen on the first training images, the scale of the circles of principal components was on held-out ones (2 % of the images are held out of every fit). "
                        "`linear`: ridge regression on the same whitened crops. `held out`: best accuracy of an epoch on augmented held-out images. "
                        "Minutes are since the last start, where a fit was resumed."]
    if write:
        experiment.write()


if __name__ == "__main__":
    Experiment(__file__, "Compositional kernels on CIFAR-10", run, [
        ("--features", {"type": int, "default": 100000}), ("--epochs", {"type": int, "default": 60}), ("--rows", {"type": int, "default": 50000}),
        ("--batch", {"type": int, "default": 256}), ("--circle", {"type": float, "default": 1.0, "help": "scale of the circles, principal components"}),
        ("--rate", {"default": "auto", "help": "learning rate"}), ("--full-circle", {"type": float, "default": 1.0, "help": "the same of pixels, for full"}),
        ("--full-rate", {"default": "auto"}),
        ("--architectures", {"nargs": "+", "default": list(PUBLISHED), "help": "pairs such as 4,5, and full"}),
        ("--work", {"type": pathlib.Path, "help": "folder for plain files, checkpoints and models"})])

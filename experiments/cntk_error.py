"""Error and bias of the maps of the convolutional NTK against the exact kernel: 16x16 crops of CIFAR-10, depth 3, 3x3 filters.

Relative Frobenius error of the kernel matrix of 60 images, mean of the seeds; bias: that of the mean of the seeds' matrices, less what
is left of the variance (sqrt(max(0, |mean - K|^2 - variance / seeds)) / |K|).  Inner sizes (width; m1 = m0/2, ms) grow with the map in the
first part and are the defaults in the second.  Milliseconds an image: all threads, one block.
"""
import lzma
import time

import numpy as np

from harness import Experiment

SIZES = {  # inner sizes: small, default, large
    "cntk-rf": {"small": ["--width", 48], "default": [], "large": ["--width", 192]},
    "cntk-sketch": {"small": ["--m1", 32, "--m0", 64, "--ms", 64], "default": [], "large": ["--m1", 128, "--m0", 256, "--ms", 256]},
    "cntk-grad-rf": {"default": []},
}


def crops(experiment, count, side=16, seed=2026):
    """Centre crops of training images, every channel standardised over the batch."""
    with lzma.open(experiment.data / "cifar10" / "data_batch_1.bin.xz") as file:
        images = np.frombuffer(file.read(), np.uint8).reshape(-1, 3073)[:, 1:].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)
    mean, deviation = images.reshape(-1, 3).mean(0), images.reshape(-1, 3).std(0)
    chosen = images[np.random.default_rng(seed).choice(len(images), count, replace=False)]
    first = (32 - side) // 2
    return ((chosen[:, first:first + side, first:first + side] - mean) / deviation).astype(np.float32)


def measure(experiment, exact, x, name, options, seeds):
    """Error, bias and seconds an image."""
    path, out = experiment.scratch / "x.npy", experiment.scratch / "z.npy"
    np.save(path, x)
    matrices, seconds = [], []
    for seed in seeds:
        start = time.monotonic()
        experiment.kerf("transform", path, "--target", "none", "--map", name, "--depth", 3, "--seed", seed, "-o", out, *options)
        seconds.append(time.monotonic() - start)
        z = np.load(out).astype(np.float64)
        matrices.append(z @ z.T)
    size = np.linalg.norm(exact)
    errors = [np.linalg.norm(matrix - exact) / size for matrix in matrices]
    mean = np.mean(matrices, axis=0)
    variance = np.sum(np.var(matrices, axis=0, ddof=1)) / len(matrices)
    bias = np.sqrt(max(0.0, np.sum((mean - exact) ** 2) - variance)) / size
    return float(np.mean(errors)), float(bias), min(seconds) / len(x)


def run(experiment):
    x = crops(experiment, 20 if experiment.quick else 60)
    np.save(experiment.scratch / "x.npy", x)
    experiment.kerf("kernel", experiment.scratch / "x.npy", "--target", "none", "--kernel", "cntk", "--depth", 3, "--precision", "double", "-o", experiment.scratch / "k.npy")
    exact = np.load(experiment.scratch / "k.npy")
    seeds = range(1, 4 if experiment.quick else 11)
    for name, sizes in SIZES.items():
        for features in [512, 4096] if experiment.quick else [256, 512, 1024, 2048, 4096, 8192, 16384]:
            for size, options in sizes.items():
                if experiment.quick and size == "large":
                    continue
                error, bias, seconds = measure(experiment, exact, x, name, [*options, "--features", features], seeds)
                experiment.row(map=name if len(sizes) == 1 else f"{name}, {size}", features=features, error=error, bias=bias, ms_image=round(1000 * seconds, 2))
        experiment.write()
    experiment.plot(x="features", y="error", group="map", log_x=True, log_y=True, title="error, 16x16 crops", y_label="relative Frobenius error")
    experiment.plot(x="ms_image", y="error", group="map", log_x=True, log_y=True, title="error against time", x_label="ms an image, with reading and writing", y_label="relative Frobenius error")


if __name__ == "__main__":
    Experiment(__file__, "Error of the maps of the convolutional NTK", run)

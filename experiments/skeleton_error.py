"""Figure 3 of the paper on compositional kernels: error of the kernel matrix against the number of features, CIFAR-10.

Ten batches of 128 training images, centre crops of 24x24 pixels in [0, 1], pixel x at exp(i pi x) on the circle.
shallow: one node exp((r - 1)/4).  deep: 5x5 convolutions, stride 2, exp((r - 1)/4); 4x4, stride 2, ReLU; full, ReLU.
RFS: products without duplicates; then the same with duplicates; RR: random Fourier features of the points on the
circles; RFS+RR: products down to the first convolution, random Fourier features on its patch.  Errors are over all
10 x 128^2 pairs.  Published as curves only: RFS is ahead of RR and of RFS+RR in every panel.
"""
import lzma

import numpy as np

from harness import Experiment

IMAGE, CIRCLE = "24x24x3", float(np.pi)
SKELETONS = {"shallow": f"circle {CIRCLE}, full exp 0.25", "deep": f"circle {CIRCLE}, conv 5/2 exp 0.25, conv 4/2 relu, full relu"}


def batches(experiment, count, size=128):
    """Rows of crops, one array a batch; images drawn without replacement."""
    data = b"".join(lzma.open(experiment.data / "cifar10" / f"data_batch_{k}.bin.xz").read() for k in range(1, 3))
    images = np.frombuffer(data, np.uint8).reshape(-1, 3073)[:, 1:].reshape(-1, 3, 32, 32)[:, :, 4:28, 4:28].transpose(0, 2, 3, 1)
    chosen = np.random.default_rng(2017).choice(len(images), count * size, replace=False)
    return images[chosen].reshape(count, size, 24 * 24 * 3).astype(np.float32) / 255


def gram(experiment, x, seed, *flags):
    np.save(experiment.scratch / "x.npy", x)
    experiment.kerf("transform", experiment.scratch / "x.npy", "--target", "none", "-o", experiment.scratch / "z.npy", "--seed", seed, *flags)
    z = np.load(experiment.scratch / "z.npy")
    return (z @ z.T).astype(np.float64)


def methods(kind):
    flags = ["--map", "skeleton", "--image", IMAGE, "--skeleton", SKELETONS[kind]]
    found = {"RFS": flags, "RFS, duplicates kept": [*flags, "--deduplicate=false"]}
    if kind == "shallow":  # exp(-(1/4)(1/2n) sum |z - z'|^2): a Gaussian kernel of width sqrt(4 n)
        found["RR"] = ["--map", "rff", "--bandwidth", float(np.sqrt(4 * 1728))]
    else:
        found["RFS+RR"] = [*flags, "--hybrid"]
    return found


def run(experiment):
    budgets = [100, 1000] if experiment.quick else [100, 1000, 10000, 100000]
    rows = batches(experiment, 2 if experiment.quick else 10)
    for kind, skeleton in SKELETONS.items():
        exact = []
        for x in rows:
            np.save(experiment.scratch / "x.npy", x)
            experiment.kerf("kernel", experiment.scratch / "x.npy", "--target", "none", "--image", IMAGE, "--kernel", "skeleton", "--skeleton", skeleton, "--precision", "double",
                            "-o", experiment.scratch / "k.npy")
            exact.append(np.load(experiment.scratch / "k.npy"))
        exact = np.array(exact).ravel()
        for budget in budgets:
            for name, flags in methods(kind).items():
                inputs = [np.concatenate([np.cos(CIRCLE * x), np.sin(CIRCLE * x)], 1) if name == "RR" else x for x in rows]
                found = np.array([gram(experiment, x, seed + 1, "--features", budget, *flags) for seed, x in enumerate(inputs)]).ravel()
                error = found - exact
                experiment.row(kernel=kind, method=name, features=budget, mean_abs=float(np.abs(error).mean()), rms=float(np.sqrt((error ** 2).mean())),
                               largest=float(np.abs(error).max()), correlation=float(np.corrcoef(found, exact)[0, 1]))
    for kind in SKELETONS:
        for column in ("mean_abs", "rms", "largest", "correlation"):
            experiment.plot("features", column, "method", log_x=True, log_y=column != "correlation", title=kind, where={"kernel": kind})


if __name__ == "__main__":
    Experiment(__file__, "Error of compositional random features", run)

"""What the experiments on NTK features share: exact kernels, features and errors as numpy arrays."""
import gzip

import numpy as np


def kernel(experiment, x, *options):
    """The exact kernel matrix of the rows of x, in double."""
    np.save(experiment.scratch / "x.npy", x.astype(np.float32))
    experiment.kerf("kernel", experiment.scratch / "x.npy", "--target", "none", "--precision", "double", "-o", experiment.scratch / "k.npy", *options)
    return np.load(experiment.scratch / "k.npy")


def features(experiment, x, *options):
    """The features of the rows of x; every option is the program's."""
    np.save(experiment.scratch / "x.npy", x.astype(np.float32))
    experiment.kerf("transform", experiment.scratch / "x.npy", "--target", "none", "-o", experiment.scratch / "z.npy", *options)
    return np.load(experiment.scratch / "z.npy").astype(np.float64)


def relative_frobenius(exact, z):
    return float(np.linalg.norm(z @ z.T - exact) / np.linalg.norm(exact))


def inverse_root(exact, ridge):
    """H with H'(K + sI)H = I, s = ridge."""
    values, vectors = np.linalg.eigh(exact)
    return vectors / np.sqrt(np.maximum(values, 0) + ridge)


def relative_eigenvalues(root, z, ridge):
    """Extreme eigenvalues of (K + sI)^-1/2 (ZZ' + sI) (K + sI)^-1/2, root = inverse_root(K, s)."""
    half = root.T @ z
    found = np.linalg.eigvalsh(half @ half.T + ridge * root.T @ root)
    return float(found[0]), float(found[-1])


def epsilon(root, z, ridge):
    smallest, largest = relative_eigenvalues(root, z, ridge)
    return max(largest - 1, 1 - smallest)


def mnist_rows(experiment, count, seed=1):
    """`count` training images of MNIST, drawn without replacement, as rows of length 1."""
    with gzip.open(experiment.data / "mnist" / "train-images-idx3-ubyte.gz") as file:
        images = np.frombuffer(file.read(), np.uint8, offset=16).reshape(-1, 784)
    x = images[np.random.default_rng(seed).choice(len(images), count, replace=False)].astype(np.float64)
    return x / np.linalg.norm(x, axis=1, keepdims=True)

"""The command lines that users script against, on real data sets: what KERF_SHARED/data holds (`make test-full DATA=DIR`)."""
import gzip
import os
import pathlib
import shutil

import numpy as np
import pytest

SHARED = pathlib.Path(os.environ.get("KERF_SHARED", "absent")) / "data"
MNIST, CIFAR, REGRESSION = SHARED / "mnist", SHARED / "cifar10", SHARED / "regression"
SMALL = ["--map", "arccos", "--features", "256", "--rows", "3000", "--lambda", "1e-4", "--json"]

pytestmark = pytest.mark.skipif(not SHARED.is_dir(), reason="needs the real data sets: KERF_SHARED=DIR")


def good(result):
    assert result.code == 0, result.err
    return result.json


def test_idx_images_find_their_labels(kerf):
    good(kerf("fit", MNIST / "train-images-idx3-ubyte.gz", "-o", "m.kerf", *SMALL))
    assert good(kerf("score", "m.kerf", MNIST / "t10k-images-idx3-ubyte.gz", "--json"))["accuracy"] > 0.85


def test_labels_from_a_file_of_their_own(kerf, tmp_path):
    shutil.copy(MNIST / "train-images-idx3-ubyte.gz", tmp_path / "pictures.gz")
    good(kerf("fit", "pictures.gz", "--labels", MNIST / "train-labels-idx1-ubyte.gz", "-o", "m.kerf", *SMALL))
    assert good(kerf("score", "m.kerf", MNIST / "t10k-images-idx3-ubyte.gz", "--json"))["accuracy"] > 0.85


def test_several_files_in_order(kerf):
    batches = sorted(CIFAR.glob("data_batch_*.bin.xz"))
    assert len(batches) == 5
    fit = good(kerf("fit", *batches, "-o", "c.kerf", "--map", "arccos", "--features", "256", "--lambda", "1e-4", "--json"))
    assert fit["rows"] == 50000
    assert good(kerf("score", "c.kerf", CIFAR / "test_batch.bin.xz", "--json"))["accuracy"] > 0.3


@pytest.mark.parametrize("folder", [MNIST, CIFAR])
def test_a_folder_of_training_and_test_files_is_refused(kerf, folder):
    result = kerf("fit", folder, "-o", "m.kerf")
    assert result.code in (1, 2) and result.err.count("\n") == 1 and "test" in result.err


def test_npz_holds_X_and_y(kerf, tmp_path):
    x = np.loadtxt(REGRESSION / "airfoil.csv.gz", delimiter=",", dtype=np.float32)
    np.savez(tmp_path / "airfoil.npz", X=x[:, :-1], y=x[:, -1])
    from_npz = good(kerf("fit", "airfoil.npz", "-o", "a.kerf", *SMALL))
    from_csv = good(kerf("fit", REGRESSION / "airfoil.csv.gz", "-o", "b.kerf", *SMALL))
    assert from_npz["rows"] == from_csv["rows"] == len(x)


def test_kernel_of_two_sources(kerf, tmp_path):
    result = kerf("kernel", MNIST / "t10k-images-idx3-ubyte.gz", "--against", MNIST / "train-images-idx3-ubyte.gz", "--rows", "50", "-o", "k.npy")
    assert result.code == 0, result.err
    assert np.load(tmp_path / "k.npy").shape[0] == 50


def test_targets_by_number_from_the_end_and_several(kerf, tmp_path):
    energy = REGRESSION / "energy.csv.gz"
    last = good(kerf("fit", energy, "-o", "a.kerf", *SMALL))
    same = good(kerf("fit", energy, "--target", "-1", "-o", "b.kerf", *SMALL))
    assert last["rows"] == same["rows"]
    assert kerf("predict", "a.kerf", energy).out == kerf("predict", "b.kerf", energy).out
    two = good(kerf("fit", energy, "--target", "-2,-1", "-o", "c.kerf", *SMALL))
    assert two["rows"] == last["rows"]
    assert all(len(line.split(",")) == 2 for line in kerf("predict", "c.kerf", energy).out.split())


def test_drop_weights_rows_and_delimiter(kerf, tmp_path):
    rows = [line.split(",") for line in gzip.open(REGRESSION / "concrete.csv.gz", "rt").read().split()]
    with open(tmp_path / "c.csv", "w") as file:
        for i, row in enumerate(rows):
            file.write(";".join([*row, str(1 + i % 3)]) + "\n")
    whole = good(kerf("fit", "c.csv", "--delimiter", ";", "--target", "8", "--weights", "9", "-o", "a.kerf", *SMALL))
    fewer = good(kerf("fit", "c.csv", "--delimiter", ";", "--target", "8", "--weights", "9", "--drop", "0,3-4", "-o", "b.kerf", *SMALL))
    assert whole["rows"] == len(rows)
    assert fewer["rows"] == len(rows)
    assert kerf("predict", "a.kerf", "c.csv").out != kerf("predict", "b.kerf", "c.csv").out


@pytest.mark.parametrize("word", ["", "NA", "NaN", "?", "null"])
def test_missing_values(kerf, tmp_path, word):
    rows = [line.split(",") for line in gzip.open(REGRESSION / "bostonHousing.csv.gz", "rt").read().split()]
    rows[6][3] = word
    (tmp_path / "b.csv").write_text("\n".join(map(",".join, rows)) + "\n")
    refused = kerf("fit", "b.csv", "-o", "a.kerf")
    assert refused.code == 1 and "b.csv:7:" in refused.err and refused.err.count("\n") == 1
    assert good(kerf("fit", "b.csv", "--missing", "mean", "-o", "a.kerf", *SMALL))["rows"] == len(rows)
    assert good(kerf("fit", "b.csv", "--missing", "drop", "-o", "a.kerf", *SMALL))["rows"] == len(rows) - 1


def test_sparse_rows(kerf):
    good(kerf("fit", SHARED / "a9a" / "a9a.gz", "-o", "a.kerf", *SMALL))
    assert good(kerf("score", "a.kerf", SHARED / "a9a" / "a9a.t.gz", "--json"))["accuracy"] > 0.8

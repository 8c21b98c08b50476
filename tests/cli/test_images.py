"""Images through the program: shape, crop, whitening, patches, augmentation, and the same model after a reload."""
import numpy as np
import pytest

from conftest import DATA

DIGITS = [DATA / "digits_train.csv.gz", "--image", "8x8x1", "--map", "arccos", "--features", "512"]


def accuracy(kerf, *options):
    fit = kerf("fit", *DIGITS, "-o", "m.kerf", "--quiet", *options)
    assert fit.code == 0, fit.err
    return kerf("score", "m.kerf", DATA / "digits_test.csv.gz", "--json").json["accuracy"]


@pytest.mark.parametrize("options, least", [
    (["--crop", "8x6"], 0.93),
    (["--per-image"], 0.93),
    (["--zca", "0.1"], 0.9),
    (["--patch", "3", "--patch-components", "4", "--scale", "unit"], 0.93),
    (["--shift", "1", "--copies", "3"], 0.93),
    (["--scale", "channel"], 0.93),
])
def test_each_step_trains_and_is_applied_again_at_prediction(kerf, options, least):
    assert accuracy(kerf, *options) > least


def test_augmented_copies_count_as_rows_and_stay_in_one_fold(kerf):
    fit = kerf("fit", *DIGITS, "--shift", "1", "--copies", "4", "-o", "m.kerf", "--json").json
    assert fit["rows"] == 4 * 1438
    # Copies of an image in other folds would make the cross-validation error far too small.
    plain = kerf("fit", *DIGITS, "-o", "p.kerf", "--json").json
    assert fit["cv_error"] > 0.7 * plain["cv_error"]


def test_transform_through_a_model_applies_the_steps(kerf, tmp_path):
    accuracy(kerf, "--zca", "0.1")
    assert kerf("transform", DATA / "digits_test.csv.gz", "--model", "m.kerf", "-o", "z.npy").code == 0
    assert np.load(tmp_path / "z.npy").shape == (359, 512)


@pytest.mark.parametrize("options, words", [
    (["--crop", "9x9"], "larger than the images"),
    (["--crop", "7"], "HEIGHTxWIDTH"),
    (["--patch", "9"], "larger than the images"),
    (["--zca", "0.1", "--patch", "3"], "take one"),
    (["--patch", "2", "--patch-components", "5"], "a patch has 4 values"),
])
def test_wrong_options_are_one_clear_line(kerf, options, words):
    result = kerf("fit", *DIGITS, *options)
    assert result.code == 2 and words in result.err and result.err.count("\n") == 1


def test_rows_that_are_no_images_are_refused(kerf):
    result = kerf("fit", DATA / "iris_train.csv", "--flip")
    assert result.code == 2 and "--image" in result.err
    result = kerf("fit", DATA / "iris_train.csv", "--scale", "channel")
    assert result.code == 2 and "--image" in result.err


def test_arrays_of_images_with_channels_first_are_not_misread(kerf, tmp_path):
    X = np.random.default_rng(0).random((60, 3, 8, 8)).astype(np.float32)
    y = (X.mean(axis=(1, 2, 3)) > 0.5).astype(int)
    np.savez(tmp_path / "first.npz", X=X, y=y)
    np.savez(tmp_path / "last.npz", X=np.ascontiguousarray(np.moveaxis(X, 1, -1)), y=y)
    options = ["--map", "arccos", "--features", "16", "-o", "m.kerf", "--quiet"]
    guessed = kerf("fit", "first.npz", *options)
    assert guessed.code == 2 and "--image 3x8x8" in guessed.err
    said = kerf("fit", "first.npz", "--image", "8x8x3", *options)
    assert said.code == 2 and "holds images of 3x8x8" in said.err
    assert kerf("fit", "first.npz", "--image", "3x8x8", *options).code == 0  # eight channels, if it is so
    assert kerf("fit", "last.npz", *options).code == 0


def test_a_model_of_images_takes_images_of_its_shape(kerf, tmp_path):
    X = np.random.default_rng(0).random((60, 8, 8)).astype(np.float32)
    np.savez(tmp_path / "train.npz", X=X, y=(X.mean(axis=(1, 2)) > 0.5).astype(int))
    assert kerf("fit", "train.npz", "--map", "arccos", "--features", "16", "-o", "m.kerf", "--quiet").code == 0
    for name, shape in (("wide", (60, 4, 16)), ("flat", (60, 64)), ("right", (60, 8, 8))):
        np.save(tmp_path / f"{name}.npy", X.reshape(shape))
    wrong = kerf("predict", "m.kerf", "wide.npy")
    assert wrong.code == 1 and "images of 4x16x1, but the training images were 8x8x1" in wrong.err
    assert kerf("predict", "m.kerf", "flat.npy").out == kerf("predict", "m.kerf", "right.npy").out != ""

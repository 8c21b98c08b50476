"""Pictures show the numbers they should."""
import numpy as np
import pytest

import kerf

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")


@pytest.fixture(autouse=True)
def close():
    yield
    matplotlib.pyplot.close("all")


def test_kernel_error_falls_as_the_root_of_features(rows):
    ax = kerf.plot.kernel_error([kerf.RFF(), kerf.ArcCosineFeatures()], rows, features=(64, 1024), seeds=(1, 2, 3, 4))
    for line in ax.get_lines():
        few, many = line.get_ydata()
        assert 2 < few / many < 8  # 4 is expected


def test_spectrum_of_kernel_and_features(rows):
    exact, estimated = kerf.plot.spectrum(kerf.RFF(features=4096, bandwidth=3.0), rows).get_lines()
    np.testing.assert_allclose(estimated.get_ydata()[0], exact.get_ydata()[0], rtol=0.1)


def test_learning_curve_rises(regression):
    (line,) = kerf.plot.learning_curve(kerf.KernelRidge(map="rff", features=128), *regression).get_lines()
    assert line.get_ydata()[-1] > line.get_ydata()[0]


def test_lambda_path(regression):
    model = kerf.KernelRidge(map="rff", features=64).fit(*regression)
    line = kerf.plot.lambda_path(model).get_lines()[0]
    assert model.best_lambda_ in line.get_xdata() and min(line.get_ydata()) == model.cv_error_
    with pytest.raises(ValueError):
        kerf.plot.lambda_path(kerf.KernelRidge(map="rff", features=64, lambda_=1e-3).fit(*regression))


def test_calibration_and_cooccurrence():
    p = np.linspace(0.01, 0.99, 2000)
    y = np.random.default_rng(0).random(2000) < p
    line = kerf.plot.calibration(y, p).get_lines()[1]
    np.testing.assert_allclose(line.get_xdata(), line.get_ydata(), atol=0.2)  # 200 a bin: six standard deviations
    ax = kerf.plot.cooccurrence(["a", "a", "b", "c"], ["a", "b", "b", "a"])
    assert [t.get_text() for t in ax.texts] == ["1", "1", "1", "1"] and [t.get_text() for t in ax.get_yticklabels()] == ["a", "b", "c"]

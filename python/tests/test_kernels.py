"""Exact kernels against numpy, scikit-learn and mathematics."""
import numpy as np
import pytest

import kerf

k = kerf.kernels


def distances(X, Y, norm):
    return np.linalg.norm(X[:, None].astype(float) - Y[None].astype(float), ord=norm, axis=2)


@pytest.mark.parametrize("name, formula", [
    ("gaussian", lambda X, Y: np.exp(-distances(X, Y, 2) ** 2 / (2 * 1.5**2))),
    ("laplacian", lambda X, Y: np.exp(-distances(X, Y, 1) / 1.5)),
    ("laplacian_l2", lambda X, Y: np.exp(-distances(X, Y, 2) / 1.5)),
    ("matern32", lambda X, Y: (1 + (r := np.sqrt(3) * distances(X, Y, 2) / 1.5)) * np.exp(-r)),
    ("matern52", lambda X, Y: (1 + (r := np.sqrt(5) * distances(X, Y, 2) / 1.5) + r**2 / 3) * np.exp(-r)),
    ("cauchy", lambda X, Y: np.prod(1 / (1 + (X[:, None].astype(float) - Y[None]) ** 2 / 1.5**2), axis=2)),
])
def test_shift_invariant_kernels(name, formula, rows):
    Y = rows[:20] + 0.25
    np.testing.assert_allclose(getattr(k, name)(rows, Y, bandwidth=1.5), formula(rows, Y), rtol=1e-11)
    single = getattr(k, name)(rows, Y, bandwidth=1.5, precision="single")
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, formula(rows, Y), atol=5e-6)


def test_linear_kernel_has_no_options(rows):
    X, Y = rows.astype(float), rows[:20].astype(float) + 0.25
    size = np.outer(np.linalg.norm(X, axis=1), np.linalg.norm(Y, axis=1))
    assert (np.abs(k.linear(X, Y) - X @ Y.T) <= 1e-14 * size).all()
    kernel = k.Linear()
    assert repr(kernel) == "Linear()" and kernel == k.Linear() and not kernel.is_stationary()
    np.testing.assert_allclose(kernel.diag(X), (X**2).sum(axis=1), rtol=1e-14)
    with pytest.raises(TypeError):
        k.Linear(bandwidth=1)


def test_matern_is_scikit_learns(rows):
    theirs = pytest.importorskip("sklearn.gaussian_process.kernels")
    rows = rows.astype(float)  # theirs divides rows of single precision in single precision
    for ours, nu in ((k.LaplacianL2, 0.5), (k.Matern32, 1.5), (k.Matern52, 2.5)):
        np.testing.assert_allclose(ours(bandwidth=0.7)(rows, rows[:9]), theirs.Matern(0.7, nu=nu)(rows, rows[:9]), rtol=1e-10)


def ntk(X, Y, depth, bias):
    X, Y = (np.hstack([A.astype(float), np.full((len(A), 1), bias)]) for A in (X, Y))
    norms = np.outer(np.linalg.norm(X, axis=1), np.linalg.norm(Y, axis=1))
    T = S = np.clip(X @ Y.T / norms, -1, 1)
    for _ in range(depth):
        angle = np.arccos(np.clip(S, -1, 1))
        S, T = (np.sqrt(1 - np.clip(S, -1, 1) ** 2) + S * (np.pi - angle)) / np.pi, T * (np.pi - angle) / np.pi
        T = T + S
    return norms * T, norms * S


@pytest.mark.parametrize("depth, bias", [(1, 0.0), (3, 0.0), (5, 1.5)])
def test_kernels_of_networks(depth, bias, rows):
    expected_ntk, expected_nngp = ntk(rows[:30], rows[30:], depth, bias)
    np.testing.assert_allclose(k.ntk(rows[:30], rows[30:], depth=depth, bias=bias), expected_ntk, rtol=1e-9)
    np.testing.assert_allclose(k.nngp(rows[:30], rows[30:], depth=depth, bias=bias), expected_nngp, rtol=1e-9)
    diagonal = k.ntk(rows, depth=depth, bias=bias).diagonal()
    np.testing.assert_allclose(diagonal, (depth + 1) * ((rows.astype(float) ** 2).sum(1) + bias**2), rtol=1e-12)


def test_symmetric_sparse_and_automatic(rows):
    sparse = pytest.importorskip("scipy.sparse")
    K = k.ntk(rows, depth=2)
    assert np.array_equal(K, K.T)
    np.testing.assert_allclose(k.ntk(sparse.csr_matrix(rows), depth=2), K, rtol=1e-12)
    bandwidth = kerf.RFF(features=2).fit(rows).options_["bandwidth"]
    assert np.array_equal(k.gaussian(rows), k.gaussian(rows, bandwidth=bandwidth))


def test_wrong_calls(rows):
    with pytest.raises(ValueError, match="did you mean 'gaussian'"):
        kerf.gram("gausian", rows)
    with pytest.raises(ValueError, match="5 and 4 columns"):
        k.ntk(rows, rows[:, :4])
    with pytest.raises(ValueError, match="2D"):
        k.ntk(rows[0])
    with pytest.raises(ValueError, match="precision"):
        k.ntk(rows, precision="half")
    with pytest.raises(ValueError, match="no option gamma"):
        kerf.gram("gaussian", rows, gamma=1.0)
    with pytest.raises(ValueError, match="auto"):
        k.Gaussian(bandwidth="auto")(rows)


def classes():
    return [thing for thing in vars(k).values() if isinstance(thing, type) and issubclass(thing, k.Kernel) and thing is not k.Kernel]


@pytest.mark.parametrize("kind", classes(), ids=lambda c: c.__name__)
def test_kernel_objects(kind, rows):
    kernel = kind()
    K = kernel(rows)
    np.testing.assert_allclose(kernel.diag(rows), K.diagonal(), rtol=1e-12)
    np.testing.assert_allclose(kernel(rows, rows[:7]), K[:, :7], rtol=1e-10, atol=1e-12)
    # A skeleton is stationary over some base spaces only, and does not say so.
    assert kernel.is_stationary() == np.allclose(kernel(rows + 1), K, rtol=1e-3) or kind is k.Skeleton
    assert kernel == kind() and repr(kernel).startswith(kind.__name__)
    assert np.linalg.eigvalsh(K).min() > -1e-9 * K.max()


def test_in_a_support_vector_machine():
    svm, datasets = pytest.importorskip("sklearn.svm"), pytest.importorskip("sklearn.datasets")
    X, y = datasets.make_moons(200, noise=0.15, random_state=0)
    theirs, ours = svm.SVC(kernel="rbf", gamma=2.0).fit(X[:150], y[:150]), svm.SVC(kernel=k.Gaussian(bandwidth=0.5)).fit(X[:150], y[:150])
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-3)
    assert svm.SVC(kernel=k.NTK(depth=3, bias=1.0), C=100).fit(X[:150], y[:150]).score(X[150:], y[150:]) > 0.95


def test_in_a_gaussian_process(regression):
    gp = pytest.importorskip("sklearn.gaussian_process")
    from sklearn.base import clone
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
    X, y = regression
    X, y = X[:80], y[:80]
    theirs = gp.GaussianProcessRegressor(ConstantKernel(1.0) * RBF(1.0, (0.1, 10)) + WhiteKernel(0.1)).fit(X, y)
    ours = gp.GaussianProcessRegressor(ConstantKernel(1.0) * k.Gaussian(bandwidth=1.0, bandwidth_bounds=(0.1, 10)) + WhiteKernel(0.1)).fit(X, y)
    assert ours.log_marginal_likelihood_value_ == pytest.approx(theirs.log_marginal_likelihood_value_, abs=1e-3)
    np.testing.assert_allclose(ours.predict(X, return_std=True)[1], theirs.predict(X, return_std=True)[1], atol=1e-3)
    _, gradient = k.Gaussian(bandwidth=0.7, bandwidth_bounds=(0.1, 10))(X, eval_gradient=True)
    np.testing.assert_allclose(gradient, RBF(0.7)(X, eval_gradient=True)[1], atol=1e-7)
    fixed = gp.GaussianProcessRegressor(k.NTK(depth=2, bias=1.0), alpha=1e-3).fit(X, y)
    assert fixed.score(X, y) > 0.95
    kernel = k.NTK(depth=2, bias=1.0, bias_bounds=(0.1, 10))
    assert len(kernel.theta) == 1 and clone(kernel) == kernel and kernel.clone_with_theta(np.log([2.0])).bias == pytest.approx(2.0)

"""What scikit-learn expects of estimators."""
import pickle

import numpy as np
import pytest
from conftest import transformers

import kerf

sklearn = pytest.importorskip("sklearn")
from sklearn.base import clone  # noqa: E402
from sklearn.datasets import load_digits  # noqa: E402
from sklearn.kernel_approximation import RBFSampler  # noqa: E402
from sklearn.linear_model import RidgeClassifier  # noqa: E402
from sklearn.model_selection import GridSearchCV, cross_val_score, train_test_split  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402
from sklearn.utils.estimator_checks import parametrize_with_checks  # noqa: E402

NEW = tuple(int(part) for part in sklearn.__version__.split(".")[:2]) >= (1, 6)

# The only expected failures, of scikit-learn 1.6 and later.  They demand that a row of weight 2 be the same as the row twice, to 1e-7, with
# the default parameters: but an automatic lambda is chosen by leaving out rows (a row of weight 2 is left out whole, of two equal rows one stays), and
# scaling and bias describe rows, not weights.  With lambda_, scale and bias given it holds: test_weights_are_repetitions runs these checks so.
ROWS_ARE_LEFT_OUT = "automatic lambda, scaling and bias look at rows, not at weights; with these given the check passes"
EXPECTED = {"check_sample_weight_equivalence_on_dense_data": ROWS_ARE_LEFT_OUT, "check_sample_weight_equivalence_on_sparse_data": ROWS_ARE_LEFT_OUT}


def estimators():
    return [*transformers(), kerf.KernelRidge(map="arccos", features=128), kerf.KernelClassifier(map="arccos", features=128)]


def expected_failures(estimator):
    return EXPECTED if not isinstance(estimator, kerf.features.FeatureTransformer) else {}


@parametrize_with_checks(estimators(), **({"expected_failed_checks": expected_failures} if NEW else {}))
def test_check_estimator(estimator, check):
    check(estimator)


class WithoutProbabilities(kerf.KernelClassifier):
    """Probabilities of the squared loss are fitted to rows left out: of a row that is there twice, one stays."""

    @property
    def predict_proba(self):
        raise AttributeError("not compared here")


@pytest.mark.skipif(not NEW, reason="the checks came with scikit-learn 1.6")
@pytest.mark.parametrize("check_name", sorted(EXPECTED))
@pytest.mark.parametrize("learner", [kerf.KernelRidge, WithoutProbabilities])
def test_weights_are_repetitions(learner, check_name):
    from sklearn.utils import estimator_checks
    estimator = learner(map="arccos", features=128, lambda_=0.1, scale="none", bias=1.0, precision="double")
    getattr(estimator_checks, check_name)(learner.__name__, estimator)


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return train_test_split(X, y, test_size=0.25, random_state=0)


def test_drop_in_for_the_sampler(digits):
    """A newcomer's pipeline; replacing the sampler is one line."""
    X, X_test, y, y_test = digits
    theirs = make_pipeline(StandardScaler(), RBFSampler(gamma=0.005, n_components=512, random_state=0), RidgeClassifier())
    ours = make_pipeline(StandardScaler(), kerf.RFF(bandwidth=10, features=512, random_state=0), RidgeClassifier())  # gamma = 1 / (2 bandwidth^2)
    assert ours.fit(X, y).score(X_test, y_test) > theirs.fit(X, y).score(X_test, y_test) - 0.02
    assert ours.score(X_test, y_test) > 0.93


@pytest.mark.parametrize("name", [name for name, _ in kerf.maps().values()])
def test_every_map_in_a_pipeline(name, digits):
    X, X_test, y, y_test = digits
    shape = {"image": "8x8x1"} if name.startswith("CNTK") else {}
    pipeline = make_pipeline(StandardScaler(), getattr(kerf, name)(features=512, **shape), RidgeClassifier())
    least = 0.6 if "Gradient" in name else 0.85  # 512 gradients of 64 inputs: a network of seven neurons, or of five channels
    assert pipeline.fit(X, y).score(X_test, y_test) > least
    assert np.array_equal(clone(pipeline).fit(X, y).predict(X_test), pipeline.predict(X_test))


def test_grid_search(digits):
    X, X_test, y, y_test = digits
    grid = {"bandwidth": [2.0, 8.0, 100.0], "lambda_": [1e-4]}
    search = GridSearchCV(kerf.KernelClassifier(map="rff", features=256), grid, cv=3).fit(X, y)
    assert search.best_params_["bandwidth"] == 8.0 and search.score(X_test, y_test) > 0.95
    nested = GridSearchCV(kerf.KernelClassifier(map=kerf.RFF(features=128), lambda_=1e-4), {"map__bandwidth": [8.0, 100.0]}, cv=2).fit(X, y)
    assert nested.best_params_ == {"map__bandwidth": 8.0}
    assert cross_val_score(kerf.KernelClassifier(map="arccos", features=256), X, y, cv=3).mean() > 0.9


def test_clone_repr_and_parameters():
    model = kerf.KernelRidge(map="rff", bandwidth=2.0, lambda_=1e-3)
    assert clone(model).get_params() == model.get_params()
    assert repr(model) == "KernelRidge(bandwidth=2.0, lambda_=0.001, map='rff')"
    with pytest.raises(ValueError):
        model.set_params(gamma=1)
    with pytest.raises(TypeError):
        kerf.RFF(gamma=1)


@pytest.mark.parametrize("estimator", estimators(), ids=lambda e: type(e).__name__)
def test_is_not_fitted_before_fit_nor_after_clone(estimator):
    from sklearn.exceptions import NotFittedError
    use = getattr(estimator, "transform", None) or estimator.predict
    with pytest.raises(NotFittedError):
        use(np.zeros((2, 2), np.float32))


@pytest.mark.parametrize("estimator", transformers(), ids=lambda e: type(e).__name__)
def test_set_output_and_names(estimator, rows):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(rows, columns=list("abcde"), index=range(100, 160))
    out = clone(estimator).set_output(transform="pandas").fit_transform(frame)
    assert isinstance(out, pd.DataFrame) and list(out.index) == list(frame.index) and (out.dtypes == np.float32).all()
    assert list(out.columns) == list(estimator.fit(frame).get_feature_names_out())
    assert out.columns[0] == type(estimator).__name__.lower() + "0"
    with pytest.raises(ValueError, match="feature names"):
        estimator.transform(frame[list("edcba")])


def test_transformer_on_a_frame_with_categories(rows):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(rows, columns=list("abcde")).assign(kind=pd.Categorical(["x", "y", "z"] * 20))
    map = kerf.RFF(features=64, bandwidth=2.0).fit(frame)
    by_hand = np.hstack([rows, (np.array(["x", "y", "z"] * 20)[:, None] == ["x", "y", "z"]).astype(np.float32)])
    assert np.array_equal(map.transform(frame), kerf.RFF(features=64, bandwidth=2.0).fit_transform(by_hand))
    assert map.n_features_in_ == 6
    assert np.array_equal(pickle.loads(pickle.dumps(map)).transform(frame), map.transform(frame))

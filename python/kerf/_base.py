"""scikit-learn's base classes and checks where scikit-learn is installed (any version from 1.2 on), small ones of the same
names where it is not: `import kerf` needs numpy alone."""
from __future__ import annotations

import inspect
import os
import sys
import warnings

import numpy as np

try:
    import sklearn
except ImportError:
    sklearn = None

_INNER = tuple(os.path.dirname(module.__file__) + os.sep for module in (sys.modules[__package__], sklearn) if module is not None)


def warn_user(words):
    """A warning at the line that called kerf, however many functions of kerf and scikit-learn (which wraps methods) stand between."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_INNER):
        level, frame = level + 1, frame.f_back
    warnings.warn(words, stacklevel=level)


if sklearn is not None:
    from sklearn.base import (BaseEstimator, ClassifierMixin, ClassNamePrefixFeaturesOutMixin, MultiOutputMixin, RegressorMixin,
                              TransformerMixin)
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import _check_sample_weight, check_is_fitted

    try:
        from sklearn.utils.validation import validate_data  # 1.6 and later
    except ImportError:

        def validate_data(estimator, X, y="no_validation", *, reset=True, skip_check_array=False, **options):
            if skip_check_array:
                estimator._check_feature_names(X, reset=reset)
                estimator._check_n_features(X, reset=reset)
                return X
            return estimator._validate_data(X, y, reset=reset, **options)

    _new = tuple(int(part) for part in sklearn.__version__.split(".")[:2]) >= (1, 6)
    ALLOW_NAN = {"ensure_all_finite" if _new else "force_all_finite": "allow-nan"}  # for validate_data

    def check_weights(sample_weight, X):
        if sample_weight is None:
            return None
        return np.ascontiguousarray(_check_sample_weight(sample_weight, X, dtype=np.float64))

else:
    ALLOW_NAN = {"ensure_all_finite": "allow-nan"}

    class NotFittedError(ValueError, AttributeError):
        """The estimator was used before fit()."""

    class BaseEstimator:
        """get_params, set_params and repr."""

        @classmethod
        def _get_param_names(cls):
            return sorted(p for p in inspect.signature(cls.__init__).parameters if p != "self")

        def get_params(self, deep=True):
            return {name: getattr(self, name) for name in self._get_param_names()}

        def set_params(self, **params):
            known = self._get_param_names()
            for name, value in params.items():
                if name not in known:
                    raise ValueError(f"Invalid parameter {name!r} for estimator {self}; valid ones are {known}")
                setattr(self, name, value)
            return self

        def __repr__(self):
            defaults = {p.name: p.default for p in inspect.signature(type(self).__init__).parameters.values()}
            changed = [f"{k}={v!r}" for k, v in self.get_params().items() if v is not defaults[k] and v != defaults[k]]
            return f"{type(self).__name__}({', '.join(changed)})"

    class TransformerMixin:
        def fit_transform(self, X, y=None, **fit_params):
            return self.fit(X, y, **fit_params).transform(X)

    class ClassNamePrefixFeaturesOutMixin:
        def get_feature_names_out(self, input_features=None):
            prefix = type(self).__name__.lower()
            return np.asarray([f"{prefix}{i}" for i in range(self._n_features_out)], dtype=object)

    class MultiOutputMixin:
        pass

    class RegressorMixin:
        def score(self, X, y, sample_weight=None):
            """R^2."""
            y, weight = np.asarray(y, float), 1.0 if sample_weight is None else np.asarray(sample_weight)
            if y.ndim == 2 and sample_weight is not None:
                weight = weight[:, None]
            error = (weight * (y - self.predict(X)) ** 2).sum()
            return 1 - error / (weight * (y - np.average(y, axis=0, weights=sample_weight)) ** 2).sum()

    class ClassifierMixin:
        def score(self, X, y, sample_weight=None):
            """Accuracy."""
            return float(np.average(self.predict(X) == np.asarray(y), weights=sample_weight))

    def check_classification_targets(y):
        pass

    def check_is_fitted(estimator):
        if not estimator.__sklearn_is_fitted__():
            raise NotFittedError(f"This {type(estimator).__name__} instance is not fitted yet: call fit first")

    def check_weights(sample_weight, X):
        if sample_weight is None:
            return None
        weights = np.ascontiguousarray(sample_weight, dtype=np.float64)
        if weights.shape != (X.shape[0],):
            raise ValueError(f"sample_weight has the shape {weights.shape}, not ({X.shape[0]},)")
        return weights

    def validate_data(estimator, X, y="no_validation", *, reset=True, skip_check_array=False, dtype=None, accept_sparse=None, order=None,
                      multi_output=False, y_numeric=False, ensure_min_samples=1, **others):
        columns = X.shape[1] if hasattr(X, "shape") and len(X.shape) == 2 else None
        if not skip_check_array and not hasattr(X, "tocsr"):
            X = np.ascontiguousarray(X, dtype=dtype[0] if np.asarray(X).dtype not in (dtype or []) else None)
            if X.ndim != 2:
                raise ValueError(f"Expected a 2D array, got one of {X.ndim} dimensions")
            if not (np.isfinite(X) | (np.isnan(X) if others == ALLOW_NAN else False)).all():
                raise ValueError("Input X contains NaN or infinity")
            columns = X.shape[1]
        if X.shape[0] < ensure_min_samples:
            raise ValueError(f"Found array with {X.shape[0]} sample(s) while a minimum of {ensure_min_samples} is required")
        if reset:
            estimator.n_features_in_ = columns
        elif columns != estimator.n_features_in_:
            raise ValueError(f"X has {columns} features, but {type(estimator).__name__} is expecting {estimator.n_features_in_} features as input")
        if isinstance(y, str) and y == "no_validation":
            return X
        if y is None:
            raise ValueError("requires y to be passed, but the target y is None")
        y = np.asarray(y, dtype=np.float64 if y_numeric else None)
        if len(y) != X.shape[0]:
            raise ValueError(f"X has {X.shape[0]} rows, but y has {len(y)}")
        return X, y


class available_if:
    """A method that is there only where `why_not(self)` gives None; otherwise an AttributeError with the words it gives.

    scikit-learn's decorator of the same name, in some versions, hides the words behind its own.
    """

    def __init__(self, why_not):
        self._why_not = why_not

    def __call__(self, method):
        self._method, self.__doc__ = method, method.__doc__
        return self

    def __get__(self, instance, owner=None):
        if instance is not None and (words := self._why_not(instance)) is not None:
            raise AttributeError(f"this {owner.__name__} has no {self._method.__name__}: {words}")
        return self._method if instance is None else self._method.__get__(instance, owner)


def is_frame(X):
    """A pandas frame, without importing pandas."""
    return hasattr(X, "columns") and hasattr(X, "dtypes") and hasattr(X, "iloc")


def is_sparse(X):
    return hasattr(X, "tocsr")

"""Learning on features: `KernelRidge` and `KernelClassifier`.

Both minimise ``(1/n) sum w_i |y_i - b - W' z(x_i)|^2 + lambda |W|^2`` (b unpenalised, n the sum of the weights) over the features z of a
map, so that scikit-learn's `alpha` is `n lambda_`.  Their keywords are the options of the library: those of the fit, and those of
the map (None: the map's own default).
"""
from __future__ import annotations

import json
import os

import numpy as np

from . import _kerf
from ._base import BaseEstimator, ClassifierMixin, MultiOutputMixin, RegressorMixin, available_if, check_classification_targets, check_is_fitted, check_weights, warn_user
from ._blocks import Blocks
from ._columns import check_rows, image_text, one_pixel, open_table, plain_image, refuse_what_would_be_lost, target_names, use_rows
from ._frames import columns_text
from ._labels import class_name, label_type_of
from ._options import make_init, python_name, seed_of, to_text
from ._parameters import AUGMENT_OPTIONS, DATA_OPTIONS, FIT_OPTIONS, IMAGE_OPTIONS, MAP_KEYWORDS, bytes_of, docstring, given, knows_image, options_from_text, parameters_of
from ._progress import Progress
from ._threads import with_n_jobs
from .features import MAPS, FeatureTransformer, convolves, ignores_offsets, warn_of_idle_options

__all__ = ["KernelRidge", "KernelClassifier"]


class _Learner(Blocks, BaseEstimator):
    """Fit and what a fitted model knows."""

    _task: str
    _has_images = False  # the training rows are images, whatever the map knows of them

    # ---- parameters to options -------------------------------------------------------------------

    def _name_of_map(self):
        """Or "", if it is no map at all."""
        name = self.map._map_name if isinstance(self.map, FeatureTransformer) else self.map
        return name if isinstance(name, str) else ""

    def _map_and_options(self):
        # `image` may be there to say what the images in X are like, to any map.
        if isinstance(self.map, FeatureTransformer):
            name, source = self.map._map_name, self.map
            twice = [n for n in MAP_KEYWORDS if getattr(self, n) is not None]
            if self._has_images and not hasattr(self.map, "image") and "image" in twice:
                twice.remove("image")
            if twice:
                raise ValueError(f"{twice[0]} is given twice: map is a transformer, which has its own options")
        elif isinstance(self.map, str):
            name, source = self.map, self
        else:
            raise ValueError(f"map is the name of a feature map or a transformer of kerf, not {self.map!r}")
        names = MAP_KEYWORDS if source is self else [python_name(o["name"]) for o in MAPS[name]["options"]]
        options = {n.replace("_", "-"): to_text(getattr(source, n)) for n in names if getattr(source, n) is not None}
        if self._has_images and not knows_image(name, options):
            options.pop("image", None)
        if "image" in options:
            options["image"] = plain_image(options["image"])
        _kerf.check_map_options(name, options)
        warn_of_idle_options(name, options)
        return name, options

    def _said_image(self):
        return getattr(self.map, "image", None) if self.image is None else self.image

    def _map_seed(self):
        """A transformer has its own seed."""
        return {"map-seed": str(seed_of(self.map.random_state))} if isinstance(self.map, FeatureTransformer) else {}

    def _fit_options(self):
        options = {"seed": str(self.seed_)}
        for option in FIT_OPTIONS:
            value = getattr(self, python_name(option["name"]), None)
            if option["name"] != "seed" and value is not None and not isinstance(value, dict):
                options[option["name"]] = to_text(value)
        return options

    def _row_weights(self, sample_weight, y):
        refuse_what_would_be_lost(sample_weight, "sample_weight")
        return check_weights(sample_weight, np.empty((len(y), 0)))

    def _memory(self):
        return bytes_of(self.memory_limit)

    def _ignores_offsets(self):
        """Whether large offsets may leave the columns though nothing will centre them."""
        kernel = self.map if isinstance(self.map, FeatureTransformer) else self
        named = {n: getattr(kernel, n) for n in ("kernel", "base") if getattr(kernel, n, None) is not None}
        return self.scale == "none" and ignores_offsets(self._name_of_map(), named)

    def _image_options(self):
        """Of the steps that a model keeps, and of the augmentation of its training rows."""
        return given(self, IMAGE_OPTIONS), given(self, AUGMENT_OPTIONS)

    def _command(self):
        return "python: " + " ".join(repr(self).split())

    # ---- learning -----------------------------------------------------------------------------------

    @with_n_jobs
    def fit(self, X, y, sample_weight=None):
        """Trains on all rows.

        Parameters
        ----------
        X : array, CSR matrix or frame (text and category columns are one-hot encoded), or images of shape (n, height, width, channels); `image` says what
            images of other shapes are, as in image='8x8x3' for (n, 3, 8, 8) or image='8x8x1' for (n, 8, 8); image='3x3x3, channels first' where both may be meant
        y : targets, one per row (a column each for several regression targets)
        sample_weight : weights of the rows, or None: every row counts once
        """
        for name in ("_model", "_incremental"):
            self.__dict__.pop(name, None)
        rows = self._check(X, y, sample_weight, ensure_min_samples=2)
        map, options, fit_options = self._asked_of_sums = (*self._map_and_options(), self._fit_options())
        with Progress(self.progress) as callback:
            data = self._open(*rows, callback)
            self._take(*_kerf.fit(data, map, options, {**fit_options, **self._map_seed()}, *self._image_options(), self._command(), self._memory(), callback))
        self._columns = data.encoding  # rows of an exact kernel may stay in double
        return self

    def _check(self, X, y, sample_weight=None, new_targets=True, **checks):
        """The rows as they were given, and the library's table of them with targets and weights."""
        rows, checked = check_rows(self, X, y, image=self._said_image(), takes_missing=self.missing != "error", **checks, **self._checks_of_y())
        name = self._name_of_map()
        if convolves(name, {"kernel": self.kernel}) and (words := one_pixel(f"map {name!r}", self._said_image(), rows.image)):
            raise ValueError(words)
        targets = self._learn_targets(checked) if new_targets else self._use_targets(checked)
        self._has_images = bool(rows.image or self._said_image() not in (None, "", "auto"))
        self.seed_ = seed_of(self.random_state)
        return rows, rows.table(targets, target_names(y, targets.shape[1]), self._class_names(), self._row_weights(sample_weight, checked))

    def _open(self, rows, table, callback):
        options = {"task": self._task, **given(self, DATA_OPTIONS)}
        if "categorical" in options:
            options["categorical"] = columns_text(self.categorical, rows)
        if self._has_images and not rows.image:
            options["image"] = plain_image(self._said_image())
        elif rows.image and self._said_image() not in (None, "", "auto"):
            options["image"] = image_text(rows.image)
        return open_table(self, rows, table, options, scale=self.scale, centre=self._ignores_offsets(), label_type=self._label_type(), seed=self.seed_,
                          memory=self._memory(), progress=callback)

    def _take(self, model, report):
        self._model, self._report = model, report
        if report and isinstance(getattr(self, "class_weight", None), dict):  # the library sees weights of rows
            weights = dict(zip(self._class_names(), self._weights_of_classes()))
            model.keep_class_weights([float(weights[name]) for name in model.describe()["classes"]])
        for warning in report["warnings"] if report else ():
            warn_user(warning)

    @with_n_jobs
    def _fitted(self):
        """The model; after partial_fit it is solved for when first needed."""
        if "_model" not in self.__dict__:
            if "_incremental" not in self.__dict__:
                check_is_fitted(self)
            with Progress(self.progress) as callback:
                self._take(*self._incremental.solve(self._command(), callback))
        return self._model

    # ---- what is known of the model; after partial_fit these solve for it ---------------------------

    @property
    def options_(self):
        about = self._fitted().describe()
        return {"map": about["map"], **options_from_text(about["map"], about["options"])}

    @property
    def best_lambda_(self):
        return self._fitted().describe()["lambda"]

    @property
    def cv_error_(self):
        return self._fitted().describe()["cv_error"]

    @property
    def feature_weights_(self):
        weights = self._fitted().weights
        return self._in_order(weights.T) if self._outputs_2d else weights[:, 0]

    @property
    def feature_importances_(self):
        """How much each column of X counts in the learned metric, as parts of 1.  AttributeError for a model without one."""
        shares = self._fitted().describe()["importance"]
        if shares is None:
            raise AttributeError("this model has no learned metric (metric='none', or none was better): sklearn.inspection.permutation_importance works for any model")
        return shares

    @property
    def intercept_(self):
        intercept = self._fitted().intercept
        return self._in_order(intercept) if self._outputs_2d else float(intercept[0])

    @property
    def report_(self):
        self._fitted()
        return self._report

    def _in_order(self, by_output):
        return by_output

    # ---- use ------------------------------------------------------------------------------------------

    @with_n_jobs
    def _scores(self, X):
        model = self._fitted()
        return model.scores(use_rows(self, X))

    @with_n_jobs
    def feature_map(self, X):
        """The features that the model is linear in: a float32 array of shape (rows, features), of the rows after scaling."""
        model = self._fitted()
        return model.features(use_rows(self, X))

    @with_n_jobs
    def evaluate(self, X, y, sample_weight=None, worst=0):
        """Every figure of `kerf score --json` as a dict: for classes accuracy, balanced accuracy, log loss, calibration, precision, recall and F1 by
        class, for two of them AUC and average precision; for numbers RMSE, MAE, median error and R2, of several targets each by itself; what a constant
        would have under "constant"; the `worst` rows that the model gets most wrong.
        """
        model = self._fitted()
        checked = np.asarray(y) if self._task == "classification" else np.asarray(y, dtype=np.float64)
        rows = use_rows(self, X)
        weights = check_weights(sample_weight, np.empty((len(checked), 0)))
        return json.loads(model.evaluate(rows, self._model_targets(checked), weights, int(worst)))

    def _model_targets(self, y):
        return self._use_targets(y)

    def save(self, path):
        """Writes a model file, which `kerf.load`, the program and C++ read."""
        self._fitted().save(os.fspath(path))

    @property
    def summary_(self):
        """What the model is and how it came to be: a dict, as `kerf info --json` shows it."""
        return {name: value for name, value in self._fitted().describe().items() if name != "has_checkpoint"}

    def __sklearn_is_fitted__(self):
        return "_model" in self.__dict__ or "_incremental" in self.__dict__

    def __getstate__(self):
        if "_incremental" in self.__dict__:
            self._fitted()
        state = super().__getstate__() if hasattr(super(), "__getstate__") else self.__dict__
        return {name: value for name, value in state.items() if name != "_incremental"}

    def _more_tags(self):  # scikit-learn before 1.6
        return {"multioutput": self._task == "regression", "allow_nan": self.missing != "error"}

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self.missing != "error"
        return tags


class _KernelRidge(MultiOutputMixin, RegressorMixin, _Learner):
    _task = "regression"

    def _checks_of_y(self):
        return {"y_numeric": True, "multi_output": True}

    def _class_names(self):
        return []

    def _label_type(self):
        return "column" if self._outputs_2d else None  # what a file cannot say of a single target

    def _learn_targets(self, y):
        self._outputs_2d = y.ndim == 2
        return self._use_targets(y)

    def _use_targets(self, y):
        return np.ascontiguousarray(y.reshape(len(y), -1), dtype=np.float64)

    @available_if(Blocks._why_no_blocks)
    def partial_fit(self, X, y, sample_weight=None):
        """Adds a block of rows.  The first block decides scaling, bandwidth and bias: give it some hundred rows.

        The model is the one that `fit` makes of all rows so far; it is solved for when it is first used.  It goes on from a `fit` that kept its sums
        (`solver='cholesky'` with a `checkpoint`); where they are not kept, and with parameters that need all rows at once, there is no `partial_fit`.
        """
        return self._partial_fit(X, y, sample_weight, self._is_first_block())

    @with_n_jobs
    def predict(self, X, return_std=False):
        """Predicted targets: shape (rows,), or (rows, targets) if y had two dimensions.

        With `return_std` (and a model trained with `variance=True`) also the standard deviation of the prediction, noise included, of the same shape.
        """
        if not return_std:
            scores = self._scores(X)
            return scores if self._outputs_2d else scores[:, 0]
        both, outputs = self._fitted().scores_and_variances(use_rows(self, X))
        mean, deviation = both[:, :outputs], np.sqrt(both[:, outputs:])
        return (mean, deviation) if self._outputs_2d else (mean[:, 0], deviation[:, 0])

    @with_n_jobs
    def predict_interval(self, X, level=0.9):
        """Where targets will lie: (lower, upper), each of the shape of `predict`.

        Of a model trained with `intervals='conformal'` they hold a new target with at least the probability `level`, on average over rows that are drawn as
        the training rows were, whatever the noise; of one with `variance=True` alone if its noise is Gaussian and of one size.
        """
        both, outputs = self._fitted().intervals(use_rows(self, X), float(level))
        lower, upper = both[:, :outputs], both[:, outputs:]
        return (lower, upper) if self._outputs_2d else (lower[:, 0], upper[:, 0])


class _KernelClassifier(ClassifierMixin, _Learner):
    _task = "classification"
    _outputs_2d = True
    _order = None  # of the model's classes, where a file has them in another one than scikit-learn; None: the same

    def _take_order(self, order):
        self._order = None if (order == np.arange(len(order))).all() else order

    def _take_labels(self, labels):
        order = np.argsort(labels, kind="stable")
        self.classes_ = labels[order]
        self._take_order(order)

    def _take(self, model, report):
        if report:
            place = {name: k for k, name in enumerate(model.describe()["classes"])}
            self._take_order(np.array([place[name] for name in self._class_names()]))
        super()._take(model, report)

    def _in_order(self, by_output):
        return by_output if self._order is None else by_output[self._order]

    def _scores(self, X):
        return self._in_order(super()._scores(X).T).T

    def _checks_of_y(self):
        return {}

    def _class_names(self):
        return [class_name(c) for c in self.classes_]

    def _label_type(self):
        return label_type_of(self.classes_)

    def _learn_targets(self, y):
        check_classification_targets(y)
        self.classes_ = np.unique(y)
        if len(self.classes_) < 2:
            raise ValueError(f"every row has the same class {self.classes_[0]!r}: classification needs at least two")
        return self._use_targets(y)

    def _use_targets(self, y):
        check_classification_targets(y)
        numbers = np.searchsorted(self.classes_, y)
        wrong = (numbers >= len(self.classes_)) | (self.classes_[np.minimum(numbers, len(self.classes_) - 1)] != y)
        if wrong.any():
            raise ValueError(f"y contains {np.asarray(y)[wrong][0]!r}, which is none of the classes {list(self.classes_)}")
        return np.ascontiguousarray(numbers.reshape(-1, 1), dtype=np.float64)

    def _model_targets(self, y):
        """Class numbers as the model counts them."""
        numbers = self._use_targets(y)
        return numbers if self._order is None else np.ascontiguousarray(self._order[numbers.astype(int)], dtype=np.float64)

    def _row_weights(self, sample_weight, y):
        """With weights of the classes, {label: weight}, multiplied in; the library does 'balanced'."""
        weights = super()._row_weights(sample_weight, y)
        if not isinstance(self.class_weight, dict):
            return weights
        of_row = self._weights_of_classes()[np.searchsorted(self.classes_, y)]
        return of_row if weights is None else weights * of_row

    def _weights_of_classes(self):
        known = self.classes_.tolist()
        for label in self.class_weight:
            if label not in known:
                raise ValueError(f"class_weight has a weight for {label!r}, which is none of the classes {known}")
        return np.array([self.class_weight.get(c, 1.0) for c in known], dtype=np.float64)

    @available_if(Blocks._why_no_blocks)
    def partial_fit(self, X, y, classes=None, sample_weight=None):
        """Adds a block of rows; the first call names all `classes`.  The first block decides scaling, bandwidth and bias.

        The model is the one that `fit` makes of all rows so far; it is solved for when it is first used.  It goes on from a `fit` that kept its sums
        (`solver='cholesky'` with a `checkpoint`); where they are not kept, and with parameters that need all rows at once, there is no `partial_fit`.
        """
        first = self._is_first_block()
        if first:
            if classes is None and not hasattr(self, "classes_"):
                raise ValueError("classes must be passed on the first call to partial_fit")
            self.classes_ = self.classes_ if classes is None else np.unique(classes)
        elif classes is not None and not np.array_equal(np.unique(classes), self.classes_):
            raise ValueError(f"classes={list(np.unique(classes))} is not the same as on the first call to partial_fit: {list(self.classes_)}")
        return self._partial_fit(X, y, sample_weight, first)

    def decision_function(self, X):
        """A score per class; for two classes that of the second minus that of the first."""
        scores = self._scores(X)
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    @with_n_jobs
    def predict_proba(self, X):
        """Probabilities of the classes: shape (rows, classes), each row sums to 1.

        Softmax of the scores times a factor fitted on rows left out, whether `lambda_` is given or chosen, after `partial_fit` too.
        """
        return self._in_order(self._fitted().probabilities(use_rows(self, X)).T).T

    @with_n_jobs
    def predict_set(self, X, level=0.9):
        """Sets of classes that hold the right one with at least the probability `level`: booleans of shape (rows, classes), in the order of `classes_`.

        Of a model trained with `intervals='conformal'`, on average over rows that are drawn as the training rows were.  The class predicted always belongs to
        its set; the names of row i are `classes_[sets[i]]`.
        """
        return self._in_order(self._fitted().sets(use_rows(self, X), float(level)).T).T.astype(bool)

    def predict(self, X):
        """The class with the largest score."""
        scores = self._scores(X)
        return self.classes_[scores.argmax(axis=1)]


def _make(name, base, what):
    parameters = parameters_of(base._task)
    return type(name, (base,), {"__module__": __name__, "__qualname__": name, "__doc__": docstring(name, what, parameters), "__init__": make_init(parameters, name),
                                "_parameters": parameters})


KernelRidge = _make("KernelRidge", _KernelRidge, "Kernel ridge regression at the cost of a linear model.")
KernelClassifier = _make("KernelClassifier", _KernelClassifier, "Classification with a kernel at the cost of a linear model: ridge regression on one column per class.")

"""Learning on features: `KernelRidge` and `KernelClassifier`, and `load` for models that the program (or C++) saved.

Both minimise ``(1/n) sum w_i |y_i - b - W' z(x_i)|^2 + lambda |W|^2`` (b unpenalised, n the sum of the weights) over the features z of a
map, so that scikit-learn's `alpha` is `n lambda_`.  Their keywords are the options of the library: those of the fit, and those of
the map (None: the map's own default).
"""
from __future__ import annotations

import json
import os
import re
import warnings

import numpy as np

from . import _kerf
from ._base import BaseEstimator, ClassifierMixin, MultiOutputMixin, RegressorMixin, available_if, check_classification_targets, check_is_fitted, check_weights
from ._blocks import Blocks
from ._columns import Columns, learn_rows, refuse_what_would_be_lost, target_names, use_rows
from ._options import RANDOM_STATE, Parameter, document, make_init, python_name, seed_of, to_text, type_of, values_from_text
from ._progress import Progress
from ._threads import N_JOBS, with_n_jobs
from . import features
from .features import MAPS, FeatureTransformer, ignores_offsets, warn_of_idle_options
from .kernels import KERNELS

__all__ = ["KernelRidge", "KernelClassifier", "load"]

FIT_OPTIONS = _kerf.fit_options()
_FOR_CLASSES = {"class-weight"}  # options that mean nothing in a regression


def _bytes(limit):
    """A memory limit as the library takes it; 0: what it allows by itself."""
    return 0 if limit is None else _kerf.parse_bytes(str(limit))


def _union_of_map_options():
    """(maps, option), each name once; those of map exact are those of the kernels, with `kernel` among all of them."""
    found = {}
    for entry in MAPS.values():
        for option in entry["options"]:
            found.setdefault(option["name"], []).append((entry["name"], option))
    for entry in KERNELS.values():
        for option in entry["options"]:
            if "exact" not in dict(found.get(option["name"], [])):
                found.setdefault(option["name"], []).append(("exact", option))
    found["kernel"].append(("exact", {**found["kernel"][0][1], "choices": list(KERNELS)}))
    for name, uses in found.items():
        choices = list(dict.fromkeys(choice for _, option in uses for choice in option["choices"]))
        yield [map for map, _ in uses], {**uses[0][1], "choices": choices}


_MAP_OPTIONS = list(_union_of_map_options())


def _map_parameters():
    for maps, option in _MAP_OPTIONS:
        name = option["name"]
        annotation = 'int | Literal["auto"] | None' if name == "features" else type_of(option) + " | None"
        help = option["help"] + "; auto: as many as pay" if name == "features" else option["help"]
        yield Parameter(python_name(name), None, annotation, "option of " + ", ".join(maps), help)


_MAP_KEYWORDS = [p.name for p in _map_parameters()]


def _options_from_text(map, texts):
    """The options of a model's map (or of its exact kernel) as Python values."""
    if map in MAPS:
        return values_from_text(MAPS[map]["options"], texts)
    return {"kernel": texts["kernel"], **values_from_text(KERNELS[texts["kernel"]]["options"], texts)}


def _knows_image(map, options):
    """Whether the map (or kernel) with these options is one of images."""
    entry = MAPS.get(map) or KERNELS.get(options.get("kernel"), {"options": []})
    return any(o["name"] == "image" for o in entry["options"])


def _parameters(task):
    first = [Parameter("map", _kerf.default_map, "str | FeatureTransformer", "str or transformer",
                       "name of a feature map (" + ", ".join(MAPS) + "); 'auto': chosen for the data, with its kernel and options; 'exact': no features but the "
                       "kernel itself, O(rows^2) memory; or a transformer such as kerf.RFF(...) whose options are taken")]
    fit = [Parameter.of(o) for o in FIT_OPTIONS if o["name"] != "seed" and not (task == "regression" and o["name"] in _FOR_CLASSES)]
    for parameter in fit:
        if parameter.name == "class_weight":  # scikit-learn's ways to say it
            parameter.default, parameter.annotation, parameter.words = None, 'dict[Any, float] | Literal["balanced"] | None', "dict, 'balanced' or None"
            parameter.help += "; a dict gives a weight to each class"
    last = [RANDOM_STATE, N_JOBS,
            Parameter("memory_limit", None, "int | str | None", "int, str or None", "most memory that a fit may need, in bytes or as '8G'; None: a quarter of what is available, or what the leanest solver needs, with a warning"),
            Parameter("progress", False, "bool | Callable[[str, int, int], None]", "bool or function",
                      "True shows a tqdm bar; a function is called with (stage, done, total)")]
    taken = {p.name for p in first + fit + last}
    return first + [p for p in _map_parameters() if p.name not in taken] + fit + last


class _Learner(Blocks, BaseEstimator):
    """Fit and what a fitted model knows."""

    _task: str

    # ---- parameters to options -------------------------------------------------------------------

    def _name_of_map(self):
        """Or "", if it is no map at all."""
        name = self.map._map_name if isinstance(self.map, FeatureTransformer) else self.map
        return name if isinstance(name, str) else ""

    def _map_and_options(self):
        # `image` may be there to say what the images in X are like, to any map.
        says_image = "_columns" in self.__dict__ and self._columns.image is not None
        if isinstance(self.map, FeatureTransformer):
            name, source = self.map._map_name, self.map
            given = [n for n in _MAP_KEYWORDS if getattr(self, n) is not None]
            if says_image and not hasattr(self.map, "image") and "image" in given:
                given.remove("image")
            if given:
                raise ValueError(f"{given[0]} is given twice: map is a transformer, which has its own options")
        elif isinstance(self.map, str):
            name, source = self.map, self
        else:
            raise ValueError(f"map is the name of a feature map or a transformer of kerf, not {self.map!r}")
        names = _MAP_KEYWORDS if source is self else [python_name(o["name"]) for o in MAPS[name]["options"]]
        options = {n.replace("_", "-"): to_text(getattr(source, n)) for n in names if getattr(source, n) is not None}
        if says_image and not _knows_image(name, options):
            options.pop("image", None)
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
        return _bytes(self.memory_limit)

    def _centres(self):
        """Whether columns will be centred, or need not be: then large offsets can go in double before rounding."""
        kernel = self.map if isinstance(self.map, FeatureTransformer) else self
        given = {n: getattr(kernel, n) for n in ("kernel", "base") if getattr(kernel, n, None) is not None}
        return self.scale in ("auto", "standard") or (self.scale == "none" and ignores_offsets(self._name_of_map(), given))

    def _stays_double(self):
        """Whether rows of float64 stay that: where the kernel itself is the model, in double."""
        return self.precision == "double" and self.map in ("exact", "auto")

    def _command(self):
        return "python: " + " ".join(repr(self).split())

    # ---- learning -----------------------------------------------------------------------------------

    @with_n_jobs
    def fit(self, X, y, sample_weight=None):
        """Trains on all rows.

        Parameters
        ----------
        X : array, CSR matrix or frame (text and category columns are one-hot encoded), or images of shape (n, height, width, channels); `image` says what
            images of other shapes are, as in image='8x8x3' for (n, 3, 8, 8) or image='8x8x1' for (n, 8, 8)
        y : targets, one per row (a column each for several regression targets)
        sample_weight : weights of the rows, or None: every row counts once
        """
        for name in ("_model", "_incremental"):
            self.__dict__.pop(name, None)
        problem, encoding = self._learn_problem(X, y, sample_weight)
        map, options, fit_options = self._asked_of_sums = (*self._map_and_options(), self._fit_options())
        with Progress(self.progress) as callback:
            self._take(*_kerf.fit(*problem, map, options, {**fit_options, **self._map_seed()}, encoding, self._command(), self._memory(), callback))
        return self

    def _learn_problem(self, X, y, sample_weight=None):
        """(rows, targets, weights, class names) as the library takes them, and how the rows came to be numbers."""
        rows, checked = learn_rows(self, X, y, centre=self._centres(), image=self._said_image(), wide=self._stays_double(), ensure_min_samples=2, **self._checks_of_y())
        targets = self._learn_targets(checked)
        weights = self._row_weights(sample_weight, checked)
        self.seed_ = seed_of(self.random_state)
        encoding = self._columns.to_json(self._task, self._class_names(), target_names(y, targets.shape[1]), self._label_type())
        return (rows, targets, weights, self._class_names()), encoding

    def _take(self, model, report):
        self._model, self._report = model, report
        if report and isinstance(getattr(self, "class_weight", None), dict):  # the library sees weights of rows
            model.keep_class_weights([float(weight) for weight in self._weights_of_classes()])
        for warning in report["warnings"] if report else ():
            warnings.warn(warning, stacklevel=4)  # past fit and its n_jobs

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
        return {"map": about["map"], **_options_from_text(about["map"], about["options"])}

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
        return model.scores(use_rows(self, X)[0])

    @with_n_jobs
    def feature_map(self, X):
        """The features that the model is linear in: a float32 array of shape (rows, features), of the rows after scaling."""
        model = self._fitted()
        return model.features(use_rows(self, X)[0])

    def save(self, path):
        """Writes a model file, which `kerf.load`, the program and C++ read."""
        self._fitted().save(os.fspath(path))

    @property
    def summary_(self):
        """What the model is and how it came to be: a dict, as `kerf info --json` shows it."""
        return {name: value for name, value in self._fitted().describe().items() if name not in ("encoding", "has_checkpoint")}

    def __sklearn_is_fitted__(self):
        return "_model" in self.__dict__ or "_incremental" in self.__dict__

    def __getstate__(self):
        if "_incremental" in self.__dict__:
            self._fitted()
        state = super().__getstate__() if hasattr(super(), "__getstate__") else self.__dict__
        return {name: value for name, value in state.items() if name != "_incremental"}

    def _more_tags(self):  # scikit-learn before 1.6
        return {"multioutput": self._task == "regression"}

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
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
        both, outputs = self._fitted().scores_and_variances(use_rows(self, X)[0])
        mean, deviation = both[:, :outputs], np.sqrt(both[:, outputs:])
        return (mean, deviation) if self._outputs_2d else (mean[:, 0], deviation[:, 0])


class _KernelClassifier(ClassifierMixin, _Learner):
    _task = "classification"
    _outputs_2d = True
    _order = None  # of the model's classes, where a file has them in another one than scikit-learn; None: the same

    def _take_labels(self, labels):
        order = np.argsort(labels, kind="stable")
        self.classes_, self._order = labels[order], None if (order == np.arange(len(order))).all() else order

    def _in_order(self, by_output):
        return by_output if self._order is None else by_output[self._order]

    def _scores(self, X):
        return self._in_order(super()._scores(X).T).T

    def _checks_of_y(self):
        return {}

    def _class_names(self):
        return [_class_name(c) for c in self.classes_]

    def _label_type(self):
        return _label_type(self.classes_)

    def _learn_targets(self, y):
        check_classification_targets(y)
        self.classes_, self._order = np.unique(y), None
        if len(self.classes_) < 2:
            raise ValueError(f"every row has the same class {self.classes_[0]!r}: classification needs at least two")
        return self._use_targets(y)

    def _use_targets(self, y):
        check_classification_targets(y)
        numbers = np.searchsorted(self.classes_, y)
        wrong = (numbers >= len(self.classes_)) | (self.classes_[np.minimum(numbers, len(self.classes_) - 1)] != y)
        if wrong.any():
            raise ValueError(f"y contains {np.asarray(y)[wrong][0]!r}, which is none of the classes {list(self.classes_)}")
        if self._order is not None:
            numbers = self._order[numbers]
        return np.ascontiguousarray(numbers.reshape(-1, 1), dtype=np.float64)

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
        return self._in_order(self._fitted().probabilities(use_rows(self, X)[0]).T).T

    def predict(self, X):
        """The class with the largest score."""
        scores = self._scores(X)
        return self.classes_[scores.argmax(axis=1)]


def _class_name(label):
    """As a CSV file would have it: whole numbers without a point."""
    if isinstance(label, bytes):
        return label.decode("latin-1")
    if isinstance(label, (float, np.floating)) and float(label).is_integer() and abs(label) < 2**53:
        return str(int(label))
    return str(label)


def _label_type(labels):
    """What a model file says of the labels, so that `_class_labels` makes the same of their names; None: it cannot."""
    if labels.dtype.kind == "U":
        return "str"
    if labels.dtype.kind == "S":
        return "bytes"
    if labels.dtype.kind != "O":
        return labels.dtype.name
    return "object" if all(isinstance(label, str) for label in labels) else None


_EXAMPLE = {
    "KernelRidge": """>>> import kerf, numpy as np
>>> X = np.random.default_rng(0).normal(size=(400, 3))
>>> y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2]
>>> model = kerf.KernelRidge(map="rff", features=300).fit(X[:300], y[:300])
>>> model.score(X[300:], y[300:]) > 0.9
True""",
    "KernelClassifier": """>>> import kerf, numpy as np
>>> X = np.random.default_rng(0).normal(size=(400, 2))
>>> y = np.where((X ** 2).sum(axis=1) > 1.4, "out", "in")
>>> model = kerf.KernelClassifier(map="arccos", features=256).fit(X[:300], y[:300])
>>> model.score(X[300:], y[300:]) > 0.9
True""",
}


def _make(name, base, what):
    parameters = _parameters(base._task)
    docstring = f"""{what}

Minimises ``(1/n) sum_i w_i |y_i - b - W' z(x_i)|^2 + lambda_ |W|^2`` over W and b: z the features of a map (z(x)' z(y) close to a kernel), n the
sum of the weights w, b unpenalised.  With `lambda_='auto'` the penalty is chosen by cross-validation (`folds`), from one pass over the
features, or by leave-one-out when there are fewer rows than features.  Memory does not grow with the rows.

{document(parameters)}

Attributes
----------
options_ : dict
    the map and its options, automatic ones worked out.
best_lambda_ : float
    the penalty that was given or chosen; `cv_error_` is its mean squared error on rows left out.
feature_weights_, intercept_ : array
    the linear model on the features (not on the columns of X: hence no `coef_`).
report_ : dict
    `quality`: accuracy or r2 on rows left out beside that of a constant; times, the lambdas tried and their errors, the solver, the memory
    estimated; None for a loaded model (whose quality is in `summary_`).  A fit that is no better than a constant warns.

Examples
--------
{_EXAMPLE[name]}
"""
    return type(name, (base,), {"__module__": __name__, "__qualname__": name, "__doc__": docstring, "__init__": make_init(parameters, name),
                                "_parameters": parameters})


KernelRidge = _make("KernelRidge", _KernelRidge, "Kernel ridge regression at the cost of a linear model.")
KernelClassifier = _make("KernelClassifier", _KernelClassifier, "Classification with a kernel at the cost of a linear model: ridge regression on one column per class.")


def load(path, memory_limit=None):
    """A model file, written by `save`, by the program or by C++, as a fitted `KernelRidge` or `KernelClassifier`.

    A model that was trained on a file with a header takes frames with those columns (`feature_names_in_`), or arrays in that order.
    Classes come back as they were in Python.  Those of a model that the program made of a file are numbers if every one is written as a
    number would be (7, 0.5, but not 007), and text otherwise.  `memory_limit` bounds what the model's map may take, in bytes or as "1G"; None: half of
    what is free.
    """
    path = os.fspath(path)
    if not os.path.exists(path):
        raise FileNotFoundError(f"there is no model file {path!r}")
    model = _kerf.Model.load(path, _bytes(memory_limit))
    about = model.describe()
    kind = KernelClassifier if about["task"] == "classification" else KernelRidge
    estimator = kind(**_parameters_asked(kind, about))
    estimator.seed_ = estimator.random_state
    estimator._take(model, None)
    columns = Columns.from_json(about["encoding"]) if about["encoding"] else Columns()
    columns.inputs = about["in_dim"]
    estimator._columns = columns
    if columns.image and estimator._said_image() is None:  # a fit like it has to know where channels are
        estimator.image = "x".join(str(side) for side in columns.image)
    estimator.n_features_in_ = len(columns.levels) if columns.levels else about["in_dim"]
    if columns.names and all(columns.names):
        estimator.feature_names_in_ = np.array(columns.names, dtype=object)
    else:
        columns.names = None
    if kind is KernelClassifier:
        labels = _class_labels(about["classes"], json.loads(about["encoding"] or "{}").get("label_type", ""))
        estimator._take_labels(labels)
        if about["asked"] and about["asked"]["class_weights"]:
            estimator.class_weight = dict(zip(labels.tolist(), about["asked"]["class_weights"]))
    else:
        estimator._outputs_2d = about["outputs"] > 1 or json.loads(about["encoding"] or "{}").get("label_type") == "column"
    return estimator


def _parameters_asked(kind, about):
    """The parameters that a model was trained with; of a file that does not say, what came of them."""
    asked = about["asked"]
    if asked is None or asked["map"] not in (*MAPS, "auto", "exact"):  # a later version's map
        return {"map": about["map"], "lambda_": about["lambda"], "random_state": about["seed"], **_options_from_text(about["map"], about["options"])}
    known = {p.name for p in kind._parameters}
    fit = {name: value for name, value in values_from_text(FIT_OPTIONS, asked["fit_options"]).items() if name in known}
    if fit.get("class_weight") == "none":
        fit["class_weight"] = None
    map = asked["map"]
    options = values_from_text(MAPS[map]["options"] if map in MAPS else [option for _, option in _MAP_OPTIONS], asked["map_options"])
    if asked["map_seed"] is not None:
        options, map = {}, getattr(features, MAPS[map]["python_name"])(**options, random_state=asked["map_seed"])
    return {"map": map, **options, **fit, "memory_limit": asked["memory_limit"] or None}


_MADE_OF_NAMES = {"b": lambda name: name == "True", "i": int, "u": int, "f": float}


def _class_labels(names, label_type):
    """The labels of a model's class names, in their order."""
    if label_type == "str":
        return np.array(names)
    if label_type == "bytes":
        return np.array([name.encode("latin-1") for name in names])
    if label_type == "object":
        return np.array(names, dtype=object)
    if label_type in ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64"):
        return np.array([_MADE_OF_NAMES[np.dtype(label_type).kind](name) for name in names], dtype=label_type)
    for written, make in ((r"-?(0|[1-9]\d*)", int), (r"-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?", float)):
        if all(re.fullmatch(written, name, re.ASCII) for name in names):
            values = np.array([make(name) for name in names])
            if (values[:-1] < values[1:]).all():  # else predictions would not find them
                return values
    return np.array(names)

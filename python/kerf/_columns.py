"""How the columns of what a user hands over become rows of float32: the counterpart of the library's Encoding, so that a model
trained on a pandas frame reads a CSV file with the program, and the reverse."""
from __future__ import annotations

import json
import warnings

import numpy as np

from ._base import is_frame, is_sparse, validate_data

_MOST_LEVELS = 256  # of a category, as in the program
_LARGE_OFFSET = 256  # standard deviations: beyond, values would lose digits as float32


def _natural(text):
    """Numbers by value before words by spelling: the library's order of levels and classes."""
    try:
        return (0, float(text), "")
    except ValueError:
        return (1, 0.0, text)


def _is_category(column):
    """Text, or a dtype of categories; objects that are all numbers are numbers."""
    if getattr(column.dtype, "kind", "O") not in "OSU":
        return False
    return column.dtype != object or any(isinstance(value, str) for value in column)


class Columns:
    """kind 'table' (numbers and categories), 'sparse' or 'pixels' (images)."""

    def __init__(self):
        self.kind = "table"
        self.names = None  # of the table's columns
        self.levels = None  # one list per column (None: a number), or None: numbers only
        self.offsets = None  # subtracted in double before rounding, or None
        self.means = None  # stand for missing values, or None: there may be none
        self.image, self.is_bytes = None, False
        self.wide = False  # dense rows stay float64: exact kernels in double
        self.inputs = 0

    @property
    def plain(self):
        """Rows of float32 can be taken as they are."""
        return not self.wide and self.levels is None and self.offsets is None and self.means is None

    # ---- learning ------------------------------------------------------------------------------

    @classmethod
    def learn(cls, X, centre):
        """From data as the user gave it (validated already unless it is a frame with categories)."""
        self = cls()
        if is_frame(X):
            self.names = [str(c) for c in X.columns]
            self.levels = [self._levels_of(X.iloc[:, j], self.names[j]) if _is_category(X.iloc[:, j]) else None for j in range(X.shape[1])]
            if all(level is None for level in self.levels):
                self.levels = None
            self.inputs = sum(1 if level is None else len(level) for level in self.levels or X.columns)
            return self
        self.inputs = X.shape[1]
        if is_sparse(X):
            self.kind = "sparse"
        elif centre and X.dtype == np.float64 and len(X) > 1:
            mean, deviation = X.mean(axis=0), X.std(axis=0)
            large = np.abs(mean) > _LARGE_OFFSET * deviation
            if (large & (deviation > 0)).any():
                self.offsets = np.where(large, mean, 0.0)
        return self

    @staticmethod
    def _levels_of(column, name):
        levels = sorted({str(v) for v in column.dropna().unique()}, key=_natural)
        if not levels or len(levels) > _MOST_LEVELS:
            raise ValueError(f"column {name!r} has {len(levels)} levels; a category has 1 to {_MOST_LEVELS}: drop it or make it a number")
        return levels

    # ---- use -------------------------------------------------------------------------------------

    def encode(self, X):
        """float32 rows (float64 if `wide`) in C order, or (values, columns, offsets, width) for sparse ones: what the module takes."""
        if is_sparse(X):
            X = X.tocsr()
            if not X.has_canonical_format:
                X = X.copy()
                X.sum_duplicates()
            values = np.ascontiguousarray(X.data, dtype=np.float32)
            return values, np.ascontiguousarray(X.indices, dtype=np.int32), np.ascontiguousarray(X.indptr, dtype=np.int64), X.shape[1]
        if is_frame(X):
            return self._encode_frame(X)
        if self.means is not None:
            X = np.where(np.isnan(X), self.means, X)
        if self.offsets is not None:
            X = np.asarray(X, dtype=np.float64) - self.offsets
        with np.errstate(over="ignore"):  # the module refuses infinities with the row's number
            return np.ascontiguousarray(X, dtype=np.float64 if self.wide else np.float32)

    def _encode_frame(self, frame):
        out = np.zeros((len(frame), self.inputs), dtype=np.float64 if self.wide else np.float32)
        at, unknown = 0, 0
        for j in range(frame.shape[1]):
            column, levels = frame.iloc[:, j], self.levels[j] if self.levels else None
            if levels is None:
                values = column.to_numpy(dtype=np.float64, na_value=np.nan)
                if self.means is not None:
                    values = np.where(np.isnan(values), self.means[j], values)
                if not np.isfinite(values).all():
                    raise ValueError(f"Input X contains NaN or infinity: column {frame.columns[j]!r}, row {int(np.argmin(np.isfinite(values)))}")
                out[:, at] = values - (self.offsets[j] if self.offsets is not None else 0.0)
                at += 1
                continue
            missing = column.isna().to_numpy()
            if missing.any():
                raise ValueError(f"Input X contains NaN: the category {frame.columns[j]!r} is missing in row {int(np.argmax(missing))}")
            place = {level: k for k, level in enumerate(levels)}
            number = np.array([place.get(str(v), -1) for v in column])
            known = number >= 0
            out[np.flatnonzero(known), at + number[known]] = 1
            unknown += int((~known).sum())
            at += len(levels)
        if unknown:
            warnings.warn(f"{unknown} cells have a level that training did not see: they count as zeros", stacklevel=4)
        return out

    # ---- the library's Encoding --------------------------------------------------------------------

    def to_json(self, task, classes, target_names, label_type=None):
        """The Encoding of a model with these targets; None if files cannot say it."""
        encoding = {"kind": self.kind, "inputs": self.inputs, "labelled": False, "missing": "error", "task": task, "classes": list(classes)}
        if label_type:
            encoding["label_type"] = label_type
        if self.wide and self.kind != "sparse":
            encoding["wide"] = True
        if self.kind != "table":
            if len(target_names) != 1:
                return None
            encoding["labelled"] = True
            if self.kind == "sparse":
                encoding["first_index"] = 1
            if self.is_bytes:
                encoding["bytes"] = True
            if self.image:
                encoding["image"] = list(self.image)
            return json.dumps(encoding)
        columns = len(self.levels) if self.levels else self.inputs
        roles = ["n" if not self.levels or self.levels[j] is None else "c" for j in range(columns)]
        encoding["roles"] = "".join(roles) + "t" * len(target_names)
        encoding["targets"] = list(range(columns, columns + len(target_names)))
        if self.names:
            encoding["names"] = self.names + [_free_name(name, self.names) for name in target_names]
        if self.levels:
            encoding["levels"] = [level for level in self.levels if level is not None]
        if self.offsets is not None:
            encoding["offsets"] = [*self.offsets.tolist(), *[0.0] * len(target_names)]
        return json.dumps(encoding)

    @classmethod
    def from_json(cls, text):
        """The inputs of an Encoding."""
        encoding, self = json.loads(text), cls()
        self.kind, self.inputs, self.is_bytes = encoding["kind"], encoding["inputs"], encoding.get("bytes", False)
        self.image = tuple(encoding["image"]) if "image" in encoding else None
        self.wide = encoding.get("wide", False)
        if self.kind != "table":
            return self
        inputs = [j for j, role in enumerate(encoding["roles"]) if role in "nc"]
        if "names" in encoding:
            self.names = [encoding["names"][j] for j in inputs]
        if "c" in encoding["roles"]:
            lists = iter(encoding["levels"])
            self.levels = [next(lists) if encoding["roles"][j] == "c" else None for j in inputs]
        for key in ("offsets", "means"):
            if key in encoding and (key == "offsets" or encoding["missing"] == "mean"):
                setattr(self, key, np.array([encoding[key][j] for j in inputs]))
        return self


def _refuse_vanished(X, rounded):
    """Columns below the range of float32 would become 0 without a word."""
    if not isinstance(X, np.ndarray) or X.dtype != np.float64 or rounded.dtype != np.float32 or not X.size:
        return
    size, left = np.abs(X).max(axis=0), np.abs(rounded).max(axis=0)
    if ((left == 0) & (size > 0) & (size < np.finfo(np.float32).tiny)).any():
        j = int(np.argmax((left == 0) & (size > 0)))
        raise ValueError(f"the values of column {j} are at most {size[j]:.2g}, below the range of single precision, in which features are computed: "
                         "multiply the column by a constant, or leave it out")


def _free_name(name, taken):
    while name in taken:
        name += "_"
    return name


def target_names(y, columns):
    """What the targets are called in a file."""
    if is_frame(y):
        return [str(c) for c in y.columns]
    name = getattr(y, "name", None)
    return [str(name)] if isinstance(name, str) and columns == 1 else (["target"] if columns == 1 else [f"target{j}" for j in range(columns)])


# ---- from what a user gives to what the module takes ------------------------------------------------


def learn_rows(estimator, X, y="no_validation", *, centre=False, image=None, wide=False, **checks):
    """Checks X (and y), remembers its columns in the estimator, and gives rows for the module; `wide`: dense ones in float64."""
    X, image = _flatten(X)
    rows, y = _validated(estimator, X, y, True, checks)
    columns = Columns.learn(rows, centre)
    if image:
        columns.kind, columns.image, columns.is_bytes, columns.offsets = "pixels", image, X.dtype == np.uint8, None
    if hasattr(estimator, "feature_names_in_") and columns.names is None:
        columns.names = [str(name) for name in estimator.feature_names_in_]
    columns.wide = wide
    estimator._columns = columns
    encoded = columns.encode(rows)
    _refuse_vanished(rows, encoded)
    return encoded, y


def use_rows(estimator, X, y="no_validation", **checks):
    """Checks X against the columns of the training rows, and gives rows for the module."""
    columns = estimator._columns
    if (type(X) is np.ndarray and X.dtype == np.float32 and X.ndim == 2 and X.flags.c_contiguous and columns.plain and columns.names is None
            and X.shape[1] == estimator.n_features_in_ and X.shape[0] > 0 and isinstance(y, str)):
        return X, y  # the module checks that the numbers are finite
    X, _ = _flatten(X)
    rows, y = _validated(estimator, X, y, False, checks)
    return columns.encode(rows), y


def _flatten(X):
    """Images (n, height, width[, channels]) as rows; the shape of an image, or None."""
    if isinstance(X, np.ndarray) and X.ndim in (3, 4):
        shape = (*X.shape[1:], 1) if X.ndim == 3 else X.shape[1:]
        return np.ascontiguousarray(X).reshape(len(X), -1), tuple(int(s) for s in shape)
    return X, None


def _validated(estimator, X, y, reset, checks):
    categories = is_frame(X) and (any(_is_category(X.iloc[:, j]) for j in range(X.shape[1])) if reset else estimator._columns.levels is not None)
    finite = {} if reset or estimator._columns.means is None else _allow_nan()
    if not categories:
        out = validate_data(estimator, X, y, reset=reset, accept_sparse="csr", dtype=[np.float64, np.float32], order="C", **finite, **checks)
        return out if isinstance(out, tuple) else (out, y)
    if len(X) < checks.get("ensure_min_samples", 1):
        raise ValueError(f"Found array with {len(X)} sample(s) while a minimum of {checks['ensure_min_samples']} is required.")
    validate_data(estimator, X, reset=reset, skip_check_array=True)
    if not isinstance(y, str):  # the same checks of y, beside an X without surprises
        _, y = validate_data(_Nobody(estimator), np.zeros((len(X), 1)), y, reset=True, dtype=[np.float64, np.float32], **checks)
    return X, y


def _allow_nan():
    import sklearn
    new = tuple(int(part) for part in sklearn.__version__.split(".")[:2]) >= (1, 6)
    return {"ensure_all_finite" if new else "force_all_finite": "allow-nan"}


def _Nobody(estimator):
    """A copy to be checked in the estimator's place, so that it does not learn the shape of a stand-in."""
    from copy import copy
    nobody = copy(estimator)
    for name in ("feature_names_in_", "n_features_in_"):
        nobody.__dict__.pop(name, None)
    return nobody

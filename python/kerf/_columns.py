"""How the columns of what a user hands over become rows of float32: the counterpart of the library's Encoding, so that a model
trained on a pandas frame reads a CSV file with the program, and the reverse."""
from __future__ import annotations

import json
import re
import warnings

import numpy as np

from ._base import is_frame, is_sparse, validate_data

_MOST_LEVELS = 256  # of a category, as in the program
_LARGE_OFFSET = 256  # standard deviations: beyond, values would lose digits as float32
_LOST = 2**14  # standard deviations: beyond, rounding to float32 is 1e-3 of one and more
_CONSTANT = 1e-14  # of the mean: a deviation that is rounding in double
_SMALLEST = float(np.finfo(np.float32).tiny)  # below, float32 has fewer digits, or none


def _natural(text):
    """Numbers by value before words by spelling: the library's order of levels and classes."""
    try:
        value = float(text)
    except ValueError:
        value = np.nan
    return (1, 0.0, text) if np.isnan(value) else (0, value, text)  # 1 and 01 are equal, and must not be in the order of a set


def _is_category(column):
    """Text, or a dtype of categories; objects that are all numbers are numbers."""
    if getattr(column.dtype, "kind", "O") not in "OSU":
        return False
    return column.dtype != object or any(isinstance(value, str) for value in column)


def _as_float(values, wide=False):
    with np.errstate(over="ignore"):  # the module refuses infinities with the row's number
        return np.ascontiguousarray(values, dtype=np.float64 if wide else np.float32)


def _numbers_of(column, name):
    """A column of a frame in double; missing ones are NaN."""
    try:
        return column.to_numpy(dtype=np.float64, na_value=np.nan)
    except (TypeError, ValueError) as error:
        raise ValueError(f"column {name!r} is taken for numbers, but {error}") from None


class Columns:
    """kind 'table' (numbers and categories), 'sparse' or 'pixels' (images)."""

    channels_first = False  # of the images that it learned from; rows are always channels last

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
        else:
            self.inputs = X.shape[1]
        if is_sparse(X):
            self.kind = "sparse"
        self._look_at_offsets(X, centre)
        return self

    def _look_at_offsets(self, X, centre):
        """Columns far from zero: their mean is taken off in double if that is harmless (`centre`), and if it is not, a warning."""
        if X.shape[0] < 2 or getattr(X, "dtype", None) == np.float32:  # what is gone is gone
            return
        mean, deviation = _moments(X, self.levels)
        varies = deviation > _CONSTANT * np.abs(mean)
        self._warn(varies & (deviation < _SMALLEST), "vary by less than float32 can hold: multiply them by a large number before")
        if centre and not is_sparse(X):
            large = np.abs(mean) > _LARGE_OFFSET * deviation
            if (large & varies).any():
                self.offsets = np.where(large, mean, 0.0)
            return
        self._warn(varies & (np.abs(mean) > _LOST * deviation),
                   "lie so far from zero that little of what varies in them is left in float32: subtract their means before (StandardScaler does)")

    def _warn(self, which, words):
        if which.any():
            first = int(np.argmax(which))
            warnings.warn(f"{which.sum()} columns (the first: {self.names[first] if self.names else first!r}) {words}", stacklevel=7)

    @staticmethod
    def _levels_of(column, name):
        levels = sorted({str(v) for v in column.dropna().unique()}, key=_natural)
        if not levels or len(levels) > _MOST_LEVELS:
            raise ValueError(f"column {name!r} has {len(levels)} levels; a category has 1 to {_MOST_LEVELS}: drop it or make it a number")
        return levels

    # ---- use -------------------------------------------------------------------------------------

    def encode(self, X):
        """float32 rows (float64 if `wide`) in C order, or (values, columns, offsets, width) for sparse ones: what the module takes."""
        if is_sparse(X) and self.levels is not None:
            raise ValueError("the model was trained on a table with categories, which sparse rows do not have: give a frame of the same columns")
        if is_sparse(X) and not self.plain:
            X = X.toarray()  # offsets and means are of zeros too
        if is_sparse(X):
            X = X.tocsr()
            if not X.has_canonical_format:
                X = X.copy()
                X.sum_duplicates()
            values = _as_float(X.data)
            return values, np.ascontiguousarray(X.indices, dtype=np.int32), np.ascontiguousarray(X.indptr, dtype=np.int64), X.shape[1]
        if is_frame(X):
            return self._encode_frame(X)
        if self.means is not None:
            X = np.where(np.isnan(X), self.means, X)
        if self.offsets is not None:
            X = np.asarray(X, dtype=np.float64) - self.offsets
        return _as_float(X, self.wide)

    def _encode_frame(self, frame):
        out = np.zeros((len(frame), self.inputs), dtype=np.float64 if self.wide else np.float32)
        at, unknown = 0, []
        for j in range(frame.shape[1]):
            column, levels = frame.iloc[:, j], self.levels[j] if self.levels else None
            if levels is None:
                values = _numbers_of(column, frame.columns[j])
                if self.means is not None:
                    values = np.where(np.isnan(values), self.means[j], values)
                if not np.isfinite(values).all():
                    raise ValueError(f"Input X contains NaN or infinity: column {frame.columns[j]!r}, row {int(np.argmin(np.isfinite(values)))}")
                out[:, at] = _as_float(values - (self.offsets[j] if self.offsets is not None else 0.0), self.wide)
                at += 1
                continue
            missing = column.isna().to_numpy()
            if missing.any():
                raise ValueError(f"Input X contains NaN: the category {frame.columns[j]!r} is missing in row {int(np.argmax(missing))}")
            place = {level: k for k, level in enumerate(levels)}
            number = np.array([place.get(str(v), -1) for v in column])
            known = number >= 0
            out[np.flatnonzero(known), at + number[known]] = 1
            if not known.all():
                first = str(column.iloc[int(np.argmin(known))])
                unknown.append(f"{int((~known).sum())} cells of {frame.columns[j]!r} (the first: {first!r})")
            at += len(levels)
        if unknown:
            warnings.warn(f"words that the training rows did not have count as none of the known ones: {', '.join(unknown)}", stacklevel=4)
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
            if self.channels_first:
                encoding["channels_first"] = True
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
        self.wide, self.channels_first = encoding.get("wide", False), encoding.get("channels_first", False)
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
    """Checks X (and y), remembers its columns in the estimator, and gives rows for the module.

    `image`: the shape "8x8x3" that was said of images, or None; `wide`: dense rows in float64.
    """
    given = X
    X, image = flatten_images(X, parse_image(image))
    rows, y = _validated(estimator, X, y, True, checks)
    columns = Columns.learn(rows, centre and not image)
    if image:
        columns.kind, columns.image, columns.is_bytes = "pixels", image, X.dtype == np.uint8
        columns.channels_first = given.ndim == 4 and given.shape[1:] != image
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
            and X.shape[1] == estimator.n_features_in_ and X.shape[0] > 0 and isinstance(y, str) and not columns.channels_first):
        return X, y  # the module checks that the numbers are finite
    if columns.channels_first and getattr(X, "ndim", 2) == 2:
        raise ValueError("the training images had their channels first: flat rows would be in another order, so pass images of that shape")
    if not columns.image and getattr(X, "ndim", 2) > 2:
        raise ValueError(f"X has the shape {X.shape}, but the training rows had {estimator.n_features_in_} columns: reshape it to two dimensions")
    if columns.levels is not None and not is_frame(X):
        raise ValueError(f"the model was trained on categories, which it finds by their columns: pass a frame with {columns.names or 'its columns'}")
    X, _ = flatten_images(X, columns.image)
    rows, y = _validated(estimator, X, y, False, checks)
    return columns.encode(rows), y


def parse_image(text):
    """(height, width, channels) of "8x8x3" or "8x8"; None for what is automatic (or wrong: the library says so)."""
    found = re.fullmatch(r"(\d+)x(\d+)(?:x(\d+))?", text) if isinstance(text, str) else None
    return None if found is None else tuple(int(side or 1) for side in found.groups())


def flatten_images(X, image=None):
    """Images as rows, channels last, and their (height, width, channels); X itself and None if it has two dimensions.

    `image` is the shape that was said or learned: it tells channels first from channels last.  Without it only what is plain is taken: a last axis
    of 1, 3 or 4 channels, or bytes of grey images.
    """
    if not isinstance(X, np.ndarray) or X.ndim not in (3, 4):
        return X, None
    sides = tuple(int(side) for side in X.shape[1:])
    shape = sides if X.ndim == 4 else (*sides, 1)
    channels_first = (*sides[1:], sides[0]) if X.ndim == 4 else None
    if image is None:
        _require_plain(X, sides, channels_first)
    elif shape != image and channels_first == image:
        return np.moveaxis(X, 1, -1).reshape(len(X), -1), image
    elif shape != image:
        raise ValueError(f"X has the shape {X.shape}: these are no images of {_text_of(image)}")
    return np.ascontiguousarray(X).reshape(len(X), -1), shape


def _text_of(image):
    return "x".join(str(side) for side in image)


def _require_plain(X, sides, channels_first):
    few = (1, 3, 4)
    if X.ndim == 3:
        if X.dtype == np.uint8 and sides[1] not in few:
            return
        raise ValueError(f"X has the shape {X.shape}: for grey images of {_text_of(sides)} say image='{_text_of(sides)}x1' (to models and maps of images) or pass "
                         f"X[..., None]; for anything else reshape it to two dimensions")
    if sides[2] in few and (sides[0] not in few or sides[2] == 1):
        return
    raise ValueError(f"X has the shape {X.shape}, in which it is not plain where the channels are: say image='{_text_of(channels_first)}' if they come first, "
                     f"image='{_text_of(sides)}' if they come last, or reshape X to two dimensions")


def _moments(X, levels=None):
    """Mean and standard deviation of the columns, in double; categories, and columns of sparse rows that are not full, count as not varying."""
    if is_sparse(X):
        X, (n, width) = X.tocsr(), X.shape
        full = np.bincount(X.indices, minlength=width) == n
        mean = np.bincount(X.indices, X.data, width) / n
        deviation = np.sqrt(np.bincount(X.indices, (X.data - mean[X.indices]) ** 2, width) / n)
        return mean * full, deviation * full
    with np.errstate(invalid="ignore", over="ignore"):  # what is not finite is refused later
        if not is_frame(X):
            mean, step = X.mean(axis=0), max(1, 2**20 // X.shape[1])  # no copy of all rows
            squares = sum(((X[i:i + step] - mean) ** 2).sum(axis=0) for i in range(0, len(X), step))
            return mean, np.sqrt(squares / len(X))
        mean, deviation = np.zeros(X.shape[1]), np.zeros(X.shape[1])
        for j in range(X.shape[1]):
            if levels is None or levels[j] is None:
                values = _numbers_of(X.iloc[:, j], X.columns[j])
                mean[j], deviation[j] = values.mean(), values.std()
    return mean, deviation


def refuse_what_would_be_lost(values, name="X"):
    """Imaginary parts, masks and the meaning of dates are no numbers, and would be dropped on the way to float32."""
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise ValueError(f"{name} has masked values: fill them in or leave these rows out")
    for column, dtype in values.dtypes.items() if is_frame(values) else [(None, getattr(values, "dtype", None))]:
        where = name if column is None else f"column {column!r} of {name}"
        if getattr(dtype, "kind", "O") == "c":
            raise ValueError(f"Complex data not supported: {where}; pass real and imaginary parts as columns of their own")
        if getattr(dtype, "kind", "O") in "mM" or type(dtype).__name__ == "PeriodDtype":
            raise ValueError(f"{where} holds dates or times: make numbers of them, such as seconds since the first one")


def _refuse_missing_targets(y):
    """None and pandas' NA have no place among classes, and no order."""
    if hasattr(y, "isna"):
        missing = np.asarray(y.isna())
    else:
        y = np.asarray(y)
        missing = np.array([[label is None for label in np.ravel(row)] for row in y]) if y.dtype == object and y.ndim else np.zeros(0, bool)
    if missing.any():
        raise ValueError(f"y has a missing value in row {int(np.argwhere(missing)[0][0])}: Input y contains NaN")


def _validated(estimator, X, y, reset, checks):
    refuse_what_would_be_lost(X)
    if not isinstance(y, str):
        refuse_what_would_be_lost(y, "y")
        _refuse_missing_targets(y)
    categories = is_frame(X) and (any(_is_category(X.iloc[:, j]) for j in range(X.shape[1])) if reset else estimator._columns.levels is not None)
    finite = {} if reset or estimator._columns.means is None else _allow_nan()
    if not categories:
        out = validate_data(estimator, X, y, reset=reset, accept_sparse="csr", dtype=[np.float64, np.float32], order="C", **finite, **checks)
        return out if isinstance(out, tuple) else (out, y)
    least = checks.get("ensure_min_samples", 1)
    if len(X) < least:
        raise ValueError(f"Found array with {len(X)} sample(s) while a minimum of {least} is required.")
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

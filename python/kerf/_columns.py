"""From what a user hands over (arrays, CSR matrices, pandas frames, images) to tables that the library reads, and the checks that are scikit-learn's.

What columns mean (levels, offsets, means, missing values, the order of names) is the library's `Encoding`, which an estimator keeps in `_columns`: here is
only where numbers and words lie.
"""
from __future__ import annotations

import re
from copy import copy

import numpy as np

from . import _kerf
from ._base import ALLOW_NAN, is_frame, is_sparse, validate_data, warn_user
from ._frames import columns_text, kind_of, part_of, readable

_NUMBERS = [np.float64, np.float32]


class Given:
    """Checked rows where they lie: a CSR matrix, an array, images (channels last) or a frame."""

    def __init__(self, X, names=None, image=None, channels_first=False, kinds=()):
        self.X, self.names, self.image, self.channels_first, self.kinds = X, names, image, channels_first, kinds

    def __len__(self):
        return self.X.shape[0]

    def _parts(self):
        if is_sparse(self.X):
            return [csr_parts(self.X)]
        if self.image:
            return [np.moveaxis(self.X, 1, -1) if self.channels_first else self.X.reshape(len(self), *self.image)]
        if not is_frame(self.X):
            return [readable(self.X)]
        columns = (self.X.iloc[:, j] for j in range(self.X.shape[1]))
        return [part_of(column, kind) for column, kind in zip(columns, self.kinds)]

    def table(self, targets=None, target_names=(), classes=(), weights=None):
        """For the library: with targets (numbers of `classes`, if there are some) and weights."""
        beside = is_sparse(self.X) or self.image or not self.names  # nothing here has names
        names = [] if beside else [*self.names, *(_free_name(name, self.names) for name in target_names)]
        return _kerf.Table(len(self), self._parts(), names, targets, list(classes), weights)

    def rows(self, encoding):
        """What maps and models take: float32 rows in C order (float64 if the encoding is wide), or the parts of sparse ones."""
        if is_sparse(self.X) and encoding.plain:
            return csr_rows(self.X)
        if is_sparse(self.X):
            self.X = self.X.toarray()  # offsets and means are of zeros too
        if encoding.is_sparse or (encoding.plain and isinstance(self.X, np.ndarray) and self.X.dtype == np.float32 and not self.channels_first):
            return as_float(self.X.reshape(len(self), -1))
        rows, notes = _kerf.encode(encoding, self.table(), len(self))
        for note in notes:
            warn_user(note)
        return rows


def as_float(values, wide=False):
    with np.errstate(over="ignore"):  # the module refuses infinities with the row's number
        return np.ascontiguousarray(values, dtype=np.float64 if wide else np.float32)


def csr_parts(X):
    """(values, columns, offsets, width), columns sorted and unique."""
    X = X.tocsr()
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    values = X.data if X.data.dtype in _NUMBERS else as_float(X.data, wide=True)
    return np.ascontiguousarray(values), np.ascontiguousarray(X.indices), np.ascontiguousarray(X.indptr), X.shape[1]


def csr_rows(X):
    values, columns, offsets, width = csr_parts(X)
    return as_float(values), np.ascontiguousarray(columns, dtype=np.int32), np.ascontiguousarray(offsets, dtype=np.int64), width


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


def open_table(estimator, given, table, options, *, scale="none", centre=False, label_type="", seed=1, memory=0, progress=None):
    """The library's look at all rows: a dataset for one call of the module.  The estimator learns what its columns are.

    `options` are those of data files; `scale` is how columns will be scaled; `centre`: large offsets may go in any case.
    """
    data = _kerf.Data(table, options, label_type or "", given.channels_first, scale, centre, seed, memory, progress)
    for words in (*data.notes, *data.warnings):
        warn_user(words)
    estimator._columns = data.encoding
    return data


def learn_rows(estimator, X, *, centre=False, image=None):
    """For maps, which have no targets: checks X, remembers its columns in the estimator, and gives rows for the module."""
    given, _ = check_rows(estimator, X, image=image)
    open_table(estimator, given, given.table(), {"target": "none"}, centre=centre)
    return given.rows(estimator._columns)


def use_rows(estimator, X):
    """Checks X against the columns of the training rows, and gives rows for the module."""
    columns = estimator._columns
    if (type(X) is np.ndarray and X.dtype == np.float32 and X.ndim == 2 and X.flags.c_contiguous and X.shape[1] == estimator.n_features_in_ and X.shape[0] > 0
            and columns.plain and columns.names is None and not columns.channels_first):
        return X  # the module checks that the numbers are finite
    return check_again(estimator, X)[0].rows(columns)


def check_rows(estimator, X, y="no_validation", *, image=None, takes_missing=False, **checks):
    """Rows to learn from, and y.  `image`: the shape "8x8x3" that was said of images, or None."""
    said = parse_image(image)
    if said is None and image not in (None, "", "auto"):
        raise ValueError(f"image={image!r} is no shape of images: say 'HEIGHTxWIDTHxCHANNELS' as in '8x8x3', with ', channels first' behind it where they come first")
    if channels_come_first(image) and getattr(X, "ndim", 2) == 2:
        raise ValueError(f"image={image!r}: flat rows are images whose channels come last; pass images of the shape (n, channels, height, width)")
    X, image, channels_first = _images(X, said, channels_come_first(image))
    warn_of_merged_numbers(X)
    kinds = [kind_of(X.iloc[:, j]) for j in range(X.shape[1])] if is_frame(X) else []
    if (categorical := getattr(estimator, "categorical", None)) and kinds:
        for j in columns_text(categorical, Given(X, [str(name) for name in X.columns])).split(","):
            kinds[int(j)] = "word"
    rows, y = _validated(estimator, X, y, True, any(kind != "number" for kind in kinds), takes_missing, checks)
    return Given(rows, _names_of(estimator, rows), image, channels_first, kinds), y


def check_again(estimator, X, y="no_validation", **checks):
    """The same of rows that come to a model."""
    columns = estimator._columns
    if columns.channels_first and getattr(X, "ndim", 2) == 2:
        raise ValueError("the training images had their channels first: flat rows would be in another order, so pass images of that shape")
    if not columns.image and getattr(X, "ndim", 2) > 2:
        raise ValueError(f"X has the shape {X.shape}, but the training rows had {estimator.n_features_in_} columns: reshape it to two dimensions")
    kinds = columns.kinds
    words = any(kind != "number" for kind in kinds)
    if words and not is_frame(X) and columns.names:
        raise ValueError(f"the model was trained on categories or dates, which it finds by their columns: pass a frame with {columns.names or 'its columns'}")
    if is_frame(X):
        found = [kind_of(X.iloc[:, j]) for j in range(X.shape[1])]
        if len(kinds) == len(found):  # else scikit-learn's check says what is wrong
            kinds = [has if has == "moment" or kind == "text" else kind for kind, has in zip(kinds, found)]
        words = words or "moment" in kinds
    X, image, channels_first = _images(X, columns.image, columns.channels_first, strict=False)
    rows, y = _validated(estimator, X, y, False, words and is_frame(X), columns.missing != "error", checks)
    return Given(rows, _names_of(estimator, rows), image, channels_first, kinds), y


def _names_of(estimator, rows):
    if is_frame(rows):
        return [str(name) for name in rows.columns]
    names = getattr(estimator, "feature_names_in_", None)
    return None if names is None else [str(name) for name in names]


_ORDERS = {", channels first": True, ", channels last": False}


def plain_image(text):
    """What the library takes of "8x8x3, channels first"."""
    for words in _ORDERS:
        if isinstance(text, str) and text.endswith(words):
            return text[:-len(words)]
    return text


def channels_come_first(text):
    """Whether it was said so; None: nothing was said."""
    return next((first for words, first in _ORDERS.items() if isinstance(text, str) and text.endswith(words)), None)


def parse_image(text):
    """(height, width, channels) of "8x8x3" or "8x8"; None for what is automatic (or wrong: the library says so)."""
    text = plain_image(text)
    found = re.fullmatch(r"(\d+)x(\d+)(?:x(\d+))?", text) if isinstance(text, str) else None
    return None if found is None else tuple(int(side or 1) for side in found.groups())


def one_pixel(name, said, image):
    """What is wrong with rows of a map that looks at neighbouring pixels: flat ones would be one pixel.  "": nothing."""
    if image or said not in (None, "auto"):
        return ""
    return (f"{name} looks at neighbouring pixels, and flat rows do not say which are: say image='HxWxC', as in image='8x8x3', or pass images of shape "
            "(n, height, width, channels)")


def _images(X, image, first=None, strict=True):
    """X, the (height, width, channels) of its images or None, and whether their channels come first.

    `image` is the shape that was said or learned: it tells channels first from channels last, where it fits one of them only; `first` says it in any
    case (`strict`), or where both fit.  Without a shape only what is plain is taken: a last axis of 1, 3 or 4 channels, or bytes of grey images.
    """
    if not isinstance(X, np.ndarray) or X.ndim not in (3, 4):
        return X, None, False
    sides = tuple(int(side) for side in X.shape[1:])
    shape = sides if X.ndim == 4 else (*sides, 1)
    channels_first = (*sides[1:], sides[0]) if X.ndim == 4 else None
    if image is None:
        _require_plain(X, sides, channels_first)
        return X, shape, False
    fits = [order for order, sides in ((False, shape), (True, channels_first)) if sides == image and (not strict or first in (None, order))]
    if not fits:
        order = "" if first is None or not strict else ", channels first" if first else ", channels last"
        raise ValueError(f"X has the shape {X.shape}: these are no images of {image_text(image)}{order}")
    if len(fits) == 2 and image[0] == image[1] == image[2] > 1 and first is None:
        raise ValueError(f"X has the shape {X.shape}, in which it is not plain where the channels are: say image='{image_text(image)}, channels first' or "
                         f"image='{image_text(image)}, channels last'")
    if (first if len(fits) == 2 else fits[0]):
        return X, image, True
    return X, shape, False


def flatten_images(X, image=None, first=None):
    """Images as rows, channels last; X itself if it has two dimensions."""
    X, shape, channels_first = _images(X, image, first)
    return X if shape is None else (np.moveaxis(X, 1, -1) if channels_first else np.ascontiguousarray(X)).reshape(len(X), -1)


def image_text(image):
    return "x".join(str(side) for side in image)


def _require_plain(X, sides, channels_first):
    few = (1, 3, 4)
    if X.ndim == 3:
        if X.dtype == np.uint8 and sides[1] not in few:
            return
        raise ValueError(f"X has the shape {X.shape}: for grey images of {image_text(sides)} say image='{image_text(sides)}x1' (to models and maps of images) or pass "
                         f"X[..., None]; for anything else reshape it to two dimensions")
    if sides[2] in few and (sides[0] not in few or sides[2] == 1):
        return
    raise ValueError(f"X has the shape {X.shape}, in which it is not plain where the channels are: say image='{image_text(channels_first)}, channels first' or "
                     f"image='{image_text(sides)}, channels last', or reshape X to two dimensions")


def refuse_what_would_be_lost(values, name="X"):
    """Imaginary parts, masks and the meaning of dates are no numbers, and would be dropped on the way to float32."""
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise ValueError(f"{name} has masked values: fill them in or leave these rows out")
    for column, dtype in values.dtypes.items() if is_frame(values) else [(None, getattr(values, "dtype", None))]:
        where = name if column is None else f"column {column!r} of {name}"
        if getattr(dtype, "kind", "O") == "c":
            raise ValueError(f"Complex data not supported: {where}; pass real and imaginary parts as columns of their own")
        if getattr(dtype, "kind", "O") == "m":
            raise ValueError(f"{where} holds lengths of time: make numbers of them, such as seconds (.dt.total_seconds())")
        dates = getattr(dtype, "kind", "O") == "M" or type(dtype).__name__ == "PeriodDtype"
        if dates and (column is None or name != "X"):
            raise ValueError(f"{where} holds dates or times: make numbers of them, such as seconds since the first one" + (", or pass a frame" if name == "X" else ""))


def _large_numbers(column):
    """The whole numbers from 2^53 on of a column, once each, ascending."""
    values = np.asarray(column)
    if values.dtype.kind == "O":
        values = [value for value in values if isinstance(value, (int, np.integer))]
    elif values.dtype.kind not in "iu" or values.size == 0 or max(-int(values.min()), int(values.max())) < 2**53:
        return []
    return sorted({int(value) for value in values if abs(int(value)) >= 2**53})


def warn_of_merged_numbers(X):
    """Whole numbers beyond 2^53 become doubles, in which neighbours are one: they may have been names."""
    if is_frame(X):
        columns = [(repr(str(name)), X.iloc[:, j]) for j, name in enumerate(X.columns) if getattr(X.dtypes.iloc[j], "kind", "O") in "iuO"]
    elif isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "iuO":
        columns = [(f"column {j}", X[:, j]) for j in range(X.shape[1])]
    else:
        return
    for name, column in columns:
        doubles = {}
        for value in _large_numbers(column):
            if (other := doubles.setdefault(float(value), value)) != value:
                warn_user(f"{name} has {other} and {value}, which are one number in double precision; if they are names, pass them as text")
                break


def _refuse_missing_targets(y):
    """None and pandas' NA have no place among classes, and no order."""
    if hasattr(y, "isna"):
        missing = np.asarray(y.isna())
    else:
        y = np.asarray(y)
        missing = np.array([[label is None for label in np.ravel(row)] for row in y]) if y.dtype == object and y.ndim else np.zeros(0, bool)
    if missing.any():
        raise ValueError(f"y has a missing value in row {int(np.argwhere(missing)[0][0])}: Input y contains NaN")


def _validated(estimator, X, y, reset, has_words, takes_missing, checks):
    """X and y as scikit-learn's checks leave them; a frame with words as it is."""
    refuse_what_would_be_lost(X)
    if not isinstance(y, str):
        refuse_what_would_be_lost(y, "y")
        _refuse_missing_targets(y)
    if not has_words:
        shape = X.shape if isinstance(X, np.ndarray) and X.ndim > 2 else None
        flat, types = (X, _NUMBERS) if shape is None else (X.reshape(len(X), -1), [np.uint8, *_NUMBERS])
        out = validate_data(estimator, flat, y, reset=reset, accept_sparse="csr", dtype=types, order="C", **(ALLOW_NAN if takes_missing else {}), **checks)
        rows, y = out if isinstance(out, tuple) else (out, y)
        return rows if shape is None else rows.reshape(shape), y
    least = checks.get("ensure_min_samples", 1)
    if len(X) < least:
        raise ValueError(f"Found array with {len(X)} sample(s) while a minimum of {least} is required.")
    validate_data(estimator, X, reset=reset, skip_check_array=True)
    if not isinstance(y, str):  # the same checks of y, beside an X without surprises
        _, y = validate_data(_nobody(estimator), np.zeros((len(X), 1)), y, reset=True, dtype=_NUMBERS, **checks)
    return X, y


def _nobody(estimator):
    """A copy to be checked in the estimator's place, so that it does not learn the shape of a stand-in."""
    nobody = copy(estimator)
    for name in ("feature_names_in_", "n_features_in_"):
        nobody.__dict__.pop(name, None)
    return nobody

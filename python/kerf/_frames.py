"""The columns of a frame: what each holds, and the part of a table that the library reads of it."""
from __future__ import annotations

import datetime

import numpy as np

from ._base import is_sparse


def readable(values):
    """The array itself if the library reads its numbers where they are."""
    fits = values.dtype.kind in "fiub" and values.dtype.itemsize <= 8 and values.dtype.isnative and 0 not in values.strides
    return values if fits else np.array(values, dtype=np.float64)


def kind_of(column):
    """What a column of a frame holds: "moment" (dates), "word" (a dtype of categories), "text" (which may be dates or amounts), or "number".

    Objects that are all numbers are numbers."""
    dtype = column.dtype
    if hasattr(column, "cat"):
        return "word"
    if getattr(dtype, "kind", "O") == "M" or type(dtype).__name__ == "PeriodDtype":
        return "moment"
    if getattr(dtype, "kind", "O") not in "OSU":
        return "number"
    if dtype != object or any(isinstance(value, str) for value in column):
        return "text"
    return "moment" if any(isinstance(value, (datetime.date, np.datetime64)) for value in column) else "number"


def part_of(column, kind):
    """What the module takes of a column."""
    if kind == "moment":
        return _moments_of(column)
    return _words_of(column, kind == "word") if kind in ("word", "text") else readable(_numbers_of(column))[:, None]


def _words_of(column, stay):
    """Codes and words of a column of a frame; -1: missing.  `stay`: words whatever they look like."""
    if hasattr(column, "cat"):
        codes, words = column.cat.codes.to_numpy(), column.cat.categories
    else:
        codes, words = column.factorize()
    return "words", np.ascontiguousarray(codes, dtype=np.int32), [str(word) for word in words], stay


def _moments_of(column):
    """Microseconds since 1970, those of UTC where there is a zone; numpy's NaT stays the least number of all."""
    if type(column.dtype).__name__ == "PeriodDtype":
        column = column.dt.to_timestamp()
    elif column.dtype == object:
        import pandas

        try:
            column = pandas.to_datetime(column)
        except (TypeError, ValueError) as error:
            raise ValueError(f"column {column.name!r} is taken for dates, but {error}") from None
    zone = getattr(column.dtype, "tz", None) is not None
    if zone:
        column = column.dt.tz_convert("UTC").dt.tz_localize(None)
    return "moments", column.to_numpy().astype("datetime64[us]").astype(np.int64), zone


def columns_text(columns, given):
    """Columns by name or number, as the library takes them: numbers."""
    names = given.names or []
    if isinstance(columns, str):
        columns = [columns] if columns in names else [word.strip() for word in columns.split(",") if word.strip()]
    elif not isinstance(columns, (list, tuple, set, np.ndarray)):
        columns = [columns]
    if is_sparse(given.X) or given.image:
        raise ValueError("categorical is for columns of tables")
    count, numbers = given.X.shape[1], []
    for column in columns:
        if isinstance(column, (int, np.integer)) and not isinstance(column, bool) and -count <= column < count:
            numbers.append(int(column) % count)
        elif str(column) in names and names.count(str(column)) == 1:
            numbers.append(names.index(str(column)))
        elif str(column).lstrip("-").isdigit() and -count <= int(str(column)) < count:
            numbers.append(int(str(column)) % count)
        else:
            raise ValueError(f"categorical={columns!r}: X has no such column, or several: {column!r}")
    return ",".join(str(number) for number in numbers)


def _numbers_of(column):
    """A column of a frame, as it is or in double; missing ones are NaN."""
    if isinstance(column.dtype, np.dtype) and column.dtype.kind in "fiub":
        return column.to_numpy()
    try:
        return column.to_numpy(dtype=np.float64, na_value=np.nan)
    except (TypeError, ValueError) as error:
        raise ValueError(f"column {column.name!r} is taken for numbers, but {error}") from None

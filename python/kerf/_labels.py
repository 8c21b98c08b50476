"""Labels of classes: their names in a model, and what they were in Python."""
from __future__ import annotations

import re

import numpy as np


def class_name(label):
    """As a CSV file would have it: whole numbers without a point."""
    if isinstance(label, bytes):
        return label.decode("latin-1")
    if isinstance(label, (float, np.floating)) and float(label).is_integer() and abs(label) < 2**53:
        return str(int(label))
    return str(label)


def label_type_of(labels):
    """What a model file says of the labels, so that `class_labels` makes the same of their names; None: it cannot."""
    if labels.dtype.kind == "U":
        return "str"
    if labels.dtype.kind == "S":
        return "bytes"
    if labels.dtype.kind != "O":
        return labels.dtype.name
    return "object" if all(isinstance(label, str) for label in labels) else None


_MADE_OF_NAMES = {"b": lambda name: name == "True", "i": int, "u": int, "f": float}


def class_labels(names, label_type):
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

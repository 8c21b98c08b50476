"""Models from files as fitted estimators."""
from __future__ import annotations

import os

import numpy as np

from . import _kerf
from ._columns import image_text
from ._labels import class_labels
from ._parameters import bytes_of, parameters_asked
from .learn import KernelClassifier, KernelRidge

__all__ = ["load"]


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
    model = _kerf.Model.load(path, bytes_of(memory_limit))
    about = model.describe()
    kind = KernelClassifier if about["task"] == "classification" else KernelRidge
    estimator = kind(**parameters_asked(kind, about))
    estimator.seed_ = estimator.random_state
    estimator._take(model, None)
    columns = estimator._columns = model.encoding
    estimator.missing, estimator._has_images = columns.missing, columns.image is not None
    if columns.image and estimator._said_image() is None:  # a fit like it has to know where channels are
        estimator.image = image_text(columns.image)
    estimator.n_features_in_ = len(columns.kinds)
    if columns.names:
        estimator.feature_names_in_ = np.array(columns.names, dtype=object)
    if kind is KernelClassifier:
        labels = class_labels(about["classes"], columns.label_type)
        estimator._take_labels(labels)
        if about["asked"] and about["asked"]["class_weights"]:
            estimator.class_weight = dict(zip(labels.tolist(), about["asked"]["class_weights"]))
    else:
        estimator._outputs_2d = about["outputs"] > 1 or columns.label_type == "column"
    return estimator

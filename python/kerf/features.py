"""Transformers: one class for every feature map of the library's registry.

A map sends a row x to z(x) with <z(x), z(y)> close to a kernel k(x, y).  The classes are made when the package is imported, from the
registry, so that a map that is added to the library appears here by itself.
"""
from __future__ import annotations


import numpy as np

from . import _kerf
from ._base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, check_is_fitted, warn_user
from ._columns import image_text, learn_rows, one_pixel, plain_image, use_rows
from ._options import RANDOM_STATE, Parameter, document, make_init, python_name, seed_of, to_text, values_from_text
from ._threads import N_JOBS, with_n_jobs

__all__ = []

MAPS = {entry["name"]: entry for entry in _kerf.list_maps()}


_CONVOLVES = {kernel["name"]: kernel["convolves"] for kernel in _kerf.list_kernels()}


def convolves(map, options):
    """Whether a map, or the kernel that the options name, looks at neighbouring pixels."""
    if options.get("kernel") in _CONVOLVES:
        return _CONVOLVES[options["kernel"]]
    entry = MAPS.get(map, {"convolves": False})
    return entry["convolves"] and all(o["name"] != "kernel" for o in entry["options"])  # those have a kernel of tables unless another is named


def ignores_offsets(map, given):
    """Whether the kernel of a map with these options (as text) depends on differences of rows alone: then a constant may be taken off every row."""
    return _kerf.ignores_offsets(map, given)


def warn_of_idle_options(map, given):
    """An option that was given (as text) and could not matter beside the others would be passed over in silence."""
    defaults = {o["name"]: o["default"] for o in MAPS[map]["options"]} if map in MAPS else {}
    words = _kerf.idle_option(map, {name: text for name, text in given.items() if text != defaults.get(name)})
    if words:
        warn_user(words)


class FeatureTransformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """What every feature map has in common; use the classes made from the registry (`kerf.RFF`, ...)."""

    _map_name: str
    _parameters: list

    @with_n_jobs
    def fit(self, X, y=None):
        """Works out automatic options from X (dense, sparse or a frame) and draws the map, which may learn from X.

        Parameters
        ----------
        X : array, CSR matrix or frame of shape (rows, columns); float32 in C order is not copied; or images of shape (n, height, width, channels)
        y : ignored
        """
        given = {o["name"]: to_text(getattr(self, python_name(o["name"]))) for o in MAPS[self._map_name]["options"]}
        rows = learn_rows(self, X, centre=ignores_offsets(self._map_name, given), image=given.get("image"))
        # No error: scikit-learn's contract is that any estimator takes any table.
        if convolves(self._map_name, given) and (words := one_pixel(type(self).__name__, given["image"], self._columns.image)):
            warn_user(words)
        if "image" in given:
            given["image"] = plain_image(given["image"])
        self.seed_ = seed_of(self.random_state)
        if self._columns.image and given.get("image") == "auto":
            given["image"] = image_text(self._columns.image)
        self._options = _kerf.resolve_map(self._map_name, given, rows, self.seed_)
        self._in_dim = rows[3] if isinstance(rows, tuple) else rows.shape[1]
        self.options_ = values_from_text(MAPS[self._map_name]["options"], self._options)
        warn_of_idle_options(self._map_name, given)
        self._map = _kerf.Map.fit(self._map_name, self._options, self.seed_, rows)
        self._n_features_out = self._map.out_dim
        return self

    def _make_map(self, learned):
        recipe = (self._map_name, self._options, self.seed_, self._in_dim)
        self._map = _kerf.Map(*recipe) if learned is None else _kerf.Map.restore(*recipe, learned)

    @with_n_jobs
    def transform(self, X):
        """The features of the rows of X: a float32 array of shape (rows, features)."""
        if not self.__sklearn_is_fitted__():
            check_is_fitted(self)
        return self._map.transform(use_rows(self, X))

    @with_n_jobs
    def exact_kernel(self, X, Y=None):
        """The exact kernel that the features estimate, of the rows of X against those of Y (default: X), in float64."""
        check_is_fitted(self)
        return self._map.kernel(use_rows(self, X), None if Y is None else use_rows(self, Y))

    @property
    def relative_variance(self):
        """v with Var <z(x), z(y)> <= v k(x, x) k(y, y), as the map's card states it."""
        check_is_fitted(self)
        return _kerf.relative_variance(self._map_name, self._options)

    @property
    def relative_bias(self):
        """b with |E <z(x), z(y)> - k(x, y)| <= b sqrt(k(x, x) k(y, y)); 0: unbiased."""
        check_is_fitted(self)
        return _kerf.relative_bias(self._map_name, self._options)

    def __sklearn_is_fitted__(self):
        return "_map" in self.__dict__

    def __getstate__(self):
        """The recipe and what a map learned, never the random matrix: the map is drawn again when it is loaded."""
        state = super().__getstate__() if hasattr(super(), "__getstate__") else self.__dict__
        kept = {name: value for name, value in state.items() if name != "_map"}
        if "_map" in self.__dict__:
            kept["_learned"] = self._map.state
        return kept

    def __setstate__(self, state):
        learned = state.pop("_learned", None)
        if hasattr(super(), "__setstate__"):
            super().__setstate__(state)
        else:
            self.__dict__.update(state)
        if "_options" in state:
            self._make_map(learned)

    def _more_tags(self):  # scikit-learn before 1.6
        return {"preserves_dtype": [np.float32]}

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float32"]
        return tags


def _docstring(entry, name, parameters):
    return f"""{entry["summary"][0].upper() + entry["summary"][1:]} (map `{entry["name"]}` of the program).

{entry["formula"]}

{document(parameters)}

Attributes
----------
options_ : dict
    every option with its value, automatic ones worked out.
seed_ : int
    the seed that `random_state` came to.
n_features_in_ : int
    columns of X.

Examples
--------
>>> import kerf, numpy as np
>>> X = np.random.default_rng(0).normal(size=(50, 8)).astype(np.float32)
>>> Z = kerf.{name}(features=512).fit_transform(X)
>>> Z.shape, Z.dtype
((50, 512), dtype('float32'))
"""


def make_transformer(entry):
    """The transformer of one line of the registry."""
    name = entry["python_name"]
    parameters = [Parameter.of(option) for option in entry["options"]] + [RANDOM_STATE, N_JOBS]
    return type(name, (FeatureTransformer,), {
        "__module__": __name__, "__qualname__": name, "__doc__": _docstring(entry, name, parameters),
        "__init__": make_init(parameters, name), "_map_name": entry["name"], "_parameters": parameters})


for _entry in MAPS.values():
    globals()[_entry["python_name"]] = make_transformer(_entry)
    __all__.append(_entry["python_name"])

del _entry

"""Training block by block: what `partial_fit` of the estimators has in common, and where there is none."""
from __future__ import annotations

from . import _kerf
from ._columns import check_again, target_names
from ._progress import Progress
from ._threads import with_n_jobs
from .features import MAPS

SOLVERS = _kerf.list_solvers()
_BLOCK_BY_BLOCK = tuple(name for name, traits in SOLVERS.items() if traits["block_by_block"])
_KEEPS_SUMS = next(name for name, traits in SOLVERS.items() if traits["keeps_sums"])


class Blocks:
    """The sums of the blocks so far are `_incremental`; `_model` is what was solved for last."""

    @with_n_jobs
    def _partial_fit(self, X, y, sample_weight, first):
        if first:
            block = self._check(X, y, sample_weight, new_targets=self._task == "regression")
        else:
            rows, checked = check_again(self, X, y, **self._checks_of_y())
            targets = self._use_targets(checked)
            block = rows.table(targets, target_names(y, targets.shape[1]), self._class_names(), self._row_weights(sample_weight, checked))
        incremental = self._blocks_so_far(first)
        with Progress(self.progress) as callback:
            if first:
                incremental.begin(self._open(*block, callback), callback)
            else:
                incremental.add(block, callback)
        self._incremental = incremental
        self.__dict__.pop("_model", None)  # made anew when it is asked for
        return self

    def _blocks_so_far(self, first):
        """The sums: none yet, those of a fit that kept them, or those of the blocks before."""
        asked = (*self._map_and_options(), self._fit_options())
        if not first and asked != self.__dict__.setdefault("_asked_of_sums", asked):
            raise ValueError("parameters have changed since the rows before, and their sums are those of the old ones: fit anew, or take a clone")
        if "_incremental" in self.__dict__:
            return self._incremental
        self._asked_of_sums = asked
        if not first:
            return _kerf.Incremental(self._model, self._fit_options(), self._memory())
        map, options, fit_options = asked
        return _kerf.Incremental(map, options, {**fit_options, **self._map_seed()}, self._memory())

    def _why_no_blocks(self):
        """Why partial_fit cannot be had, in words; None if it can."""
        map = self._name_of_map()
        if map == "exact":
            return "map='exact' needs all rows at once: take a feature map"
        if map in MAPS and MAPS[map]["learned"]:
            return f"the map {map!r} is learned from the rows and needs all of them at once"
        allowed = {"loss": ("squared",), "solver": ("auto", *_BLOCK_BY_BLOCK), "validation": ("folds",), "variance": (False,), "intervals": ("none",), "metric": ("auto", "none"), "class_weight": (None, "none")}
        for name, values in allowed.items():
            value = getattr(self, name, values[0])
            if value is not None and value not in values and not isinstance(value, dict):
                return f"{name}={value!r} needs all rows at once and cannot be had block by block"
        if any(self._image_options()):
            return "steps and augmentation of images need all rows at once"
        if "_incremental" in self.__dict__:
            return None
        if "_model" not in self.__dict__:
            return "sums are kept in a checkpoint by fit: begin with it, or leave checkpoint out" if self.checkpoint else None
        if self.checkpoint and self._model.describe()["has_checkpoint"] and SOLVERS[(self._report or {"solver": _KEEPS_SUMS})["solver"]]["keeps_sums"]:
            return None
        return (f"no sums of the rows so far were kept, so that it would begin anew: fit with solver={_KEEPS_SUMS!r} and a checkpoint keeps them; else fit all rows anew, or "
                "begin with partial_fit on a clone")

    def _is_first_block(self):
        return "_incremental" not in self.__dict__ and "_model" not in self.__dict__

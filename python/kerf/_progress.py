"""Progress of long work: a tqdm bar when it is asked for."""
from __future__ import annotations

import time


class Progress:
    """`with Progress(what) as callback:` what is False or None (nothing), True (a tqdm bar) or a function of (stage, done, total)."""

    def __init__(self, what):
        if what not in (True, False, None) and not callable(what):
            raise ValueError(f"progress is True, False or a function of (stage, done, total), not {what!r}")
        self._what, self._bar, self._part, self._stage = what, None, 0.0, None

    def __enter__(self):
        if self._what is True:
            from tqdm.auto import tqdm  # an optional package
            self._tqdm, self._start = tqdm, time.monotonic()
            return self._show
        if not self._what:
            return None
        return lambda stage, done, total, unit, left: self._what(stage, done, total)

    def _show(self, stage, done, total, unit, left):
        """One bar for all of the work: it never goes back, and its words say what is going on."""
        if self._bar is None:
            self._bar = self._tqdm(total=100, leave=False, bar_format="{percentage:3.0f}% |{bar}| {elapsed} {desc}")
        elapsed = time.monotonic() - self._start
        words = stage
        if unit and (done or total):
            words += f", {done:,} of {total:,} {unit}" if total else f", {done:,} {unit}"
        if left >= 0:
            self._part = max(self._part, min(99.0, 100 * elapsed / max(elapsed + left, 1e-9)))
            words += f", about {left:,.0f} s left"
        self._bar.set_description_str(words, refresh=stage != self._stage)  # a new stage is shown at once, however short it is
        self._stage = stage
        self._bar.update(self._part - self._bar.n)

    def __exit__(self, *error):
        if self._bar is not None:
            self._bar.close()

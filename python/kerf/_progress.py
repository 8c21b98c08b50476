"""Progress of long work: a tqdm bar when it is asked for."""
from __future__ import annotations


class Progress:
    """`with Progress(what) as callback:` what is False or None (nothing), True (a tqdm bar) or a function of (stage, done, total)."""

    def __init__(self, what):
        if what not in (True, False, None) and not callable(what):
            raise ValueError(f"progress is True, False or a function of (stage, done, total), not {what!r}")
        self._what, self._bar, self._stage = what, None, None

    def __enter__(self):
        if self._what is True:
            from tqdm.auto import tqdm  # an optional package
            self._tqdm = tqdm
            return self._show
        return self._what or None

    def _show(self, stage, done, total):
        if stage != self._stage:
            self._close()
            self._stage, self._bar = stage, self._tqdm(total=total or None, desc=stage, leave=False)
        if total and self._bar.total != total:
            self._bar.total = total
        self._bar.update(done - self._bar.n)

    def _close(self):
        if self._bar is not None:
            self._bar.close()

    def __exit__(self, *error):
        self._close()

"""Threads: `n_jobs` of the estimators, and a controller for threadpoolctl."""
from __future__ import annotations

import contextlib
import functools

from . import _kerf
from ._options import Parameter

N_JOBS = Parameter(
    "n_jobs", None, "int | None", "int or None",
    "threads for this estimator's work; -1: all cores, -2: all but one; None: kerf.threads(). Results do not depend on it")


@contextlib.contextmanager
def limited(n_jobs):
    """So many threads for what the calling thread asks the library to do."""
    if n_jobs is None:
        yield
        return
    if isinstance(n_jobs, bool) or int(n_jobs) != n_jobs or n_jobs == 0:
        raise ValueError(f"n_jobs is a number of threads, -1 for all cores, or None, not {n_jobs!r}")
    before = _kerf.limit_threads(int(n_jobs) if n_jobs > 0 else max(1, _kerf.cores() + 1 + int(n_jobs)))
    try:
        yield
    finally:
        _kerf.limit_threads(before)


def with_n_jobs(method):
    """A method of an estimator that keeps to its `n_jobs`."""

    @functools.wraps(method)
    def run(self, *arguments, **keywords):
        with limited(self.n_jobs):
            return method(self, *arguments, **keywords)

    return run


def _register():
    """Lets threadpoolctl see and limit kerf's threads, if it is there (from 3.1 on)."""
    try:
        import threadpoolctl
        base = threadpoolctl.LibController
    except (ImportError, AttributeError):
        return

    class KerfController(base):
        user_api = internal_api = "kerf"
        filename_prefixes = ("_kerf",)

        def get_num_threads(self):
            return _kerf.threads()

        def set_num_threads(self, num_threads):
            _kerf.set_threads(num_threads)

        def get_version(self):
            return _kerf.__version__

        def set_additional_attributes(self):
            pass

    if hasattr(threadpoolctl, "register"):  # 3.2 and later
        threadpoolctl.register(KerfController)
        return
    known = getattr(threadpoolctl, "_SUPPORTED_LIBRARIES", None)  # 3.1 has a table instead
    if isinstance(known, dict) and "_ALL_USER_APIS" in vars(threadpoolctl):
        threadpoolctl.KerfController = KerfController
        known["KerfController"] = {"user_api": "kerf", "internal_api": "kerf", "filename_prefixes": ("_kerf",)}
        threadpoolctl._ALL_USER_APIS.append("kerf")
        threadpoolctl._ALL_INTERNAL_APIS.append("kerf")
        threadpoolctl._ALL_PREFIXES.append("_kerf")


_register()

"""One BLAS thread during a solve: its matrices are mostly small blocks, for which threads cost more than they save."""

from __future__ import annotations

from contextlib import AbstractContextManager, ContextDecorator
from functools import cached_property
from threading import Lock
from typing import Any

import scipy.linalg  # noqa: F401  # the controller knows only libraries that are loaded before it is made
from threadpoolctl import ThreadpoolController

__all__ = ["single_thread"]


class _SingleThread(ContextDecorator):
    """A context, and a decorator, within which BLAS takes one thread; the first to enter sets it, the last restores it.

    The number of threads belongs to the process. So contexts of several threads of Python, which end in any order, are
    counted: restored by each, the number could stay at 1.
    """

    def __init__(self) -> None:
        self._lock, self._entered = Lock(), 0
        self._limit: AbstractContextManager[Any] | None = None

    def __enter__(self) -> None:
        with self._lock:
            if not self._entered:
                self._limit = self._controller.limit(limits=1, user_api="blas")
                self._limit.__enter__()
            self._entered += 1

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._entered -= 1
            if not self._entered and self._limit is not None:
                self._limit.__exit__(None, None, None)
                self._limit = None

    @cached_property
    def _controller(self) -> ThreadpoolController:
        """Finds the loaded libraries, which takes some milliseconds, once a process."""
        return ThreadpoolController()


single_thread = _SingleThread()

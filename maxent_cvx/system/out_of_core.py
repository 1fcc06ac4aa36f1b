"""Partitions that are worked on one after another, with what is not worked on in files that are mapped into memory."""

from __future__ import annotations

import itertools
import pickle
import weakref
from collections.abc import Callable, Sequence
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any

from ..errors import TableError
from .executors import LocalExecutor
from .files import path_of
from .temporary import TemporaryFolder

__all__ = ["OutOfCoreExecutor"]

#: Bytes: what holds less stays in memory.
LARGE = 2**20


class Stored:
    """A result in a file, which is deleted once nobody asks for it any more.

    Parameters
    ----------
    path : Path
    owner : object
        Whose folder it is in: that is there for as long as anything in it.
    """

    def __init__(self, path: Path, owner: object) -> None:
        self.path, self._owner = path, owner
        weakref.finalize(self, path.unlink, missing_ok=True)

    def load(self) -> Any:
        """The result, whose arrays are mapped from the file: they take memory as far as they are read."""
        import joblib

        return joblib.load(self.path, mmap_mode="c")


class OutOfCoreExecutor(LocalExecutor):
    """Threads of this process that write large results to a folder of the disk.

    Memory is then that of the partitions at work; the rest is in the operating system's cache of files, as far as there
    is room.

    Parameters
    ----------
    folder : str or path
        A folder for a temporary one inside, which is deleted with the last result.
    threads : int, optional
        As of :class:`LocalExecutor`.

    Raises
    ------
    TableError
        If the folder is not there, or cannot be written to.
    """

    def __init__(self, folder: str | PathLike[str], threads: int | None = None) -> None:
        super().__init__(threads)
        place = path_of(folder)
        try:
            self._folder = TemporaryFolder(place)
        except OSError as error:
            raise TableError(f"cannot write to the folder {str(place)!r}: {error.strerror}; name another") from error
        self._numbers = itertools.count()

    def gather(self, handles: Sequence[Any]) -> list[Any]:
        """The results themselves."""
        return [_loaded(handle) for handle in handles]

    def reduce(self, combine: Callable[[list[Any]], Any], handles: Sequence[Any]) -> Any:
        """Combine them, a few neighbours at a time."""
        return _loaded(super().reduce(partial(_combined, combine), handles))

    def _each(self, function: Callable[..., Any], arguments: list[tuple[Any, ...]]) -> list[Any]:
        """Apply a function to results that may be stored, and store its own if they are large."""
        return super()._each(partial(self._kept, function), arguments)

    def _kept(self, function: Callable[..., Any], *arguments: Any) -> Any:
        found, buffers = function(*map(_loaded, arguments)), list[pickle.PickleBuffer]()
        pickle.dumps(found, protocol=5, buffer_callback=buffers.append)  # arrays are listed, and not copied
        if sum(buffer.raw().nbytes for buffer in buffers) < LARGE:
            return found
        import joblib

        path = self._folder.path / f"{next(self._numbers)}.joblib"
        joblib.dump(found, path)
        return Stored(path, self)


def _combined(combine: Callable[[list[Any]], Any], some: list[Any]) -> Any:
    """Load results that may be stored, and combine them."""
    return combine([_loaded(one) for one in some])


def _loaded(handle: Any) -> Any:
    """A result, wherever it is."""
    return handle.load() if isinstance(handle, Stored) else handle

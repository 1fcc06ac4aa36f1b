"""Temporary files that do not outlive the process: they are also removed if it is killed."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["TemporaryFolder", "removed_if_killed"]

#: Waits until its input is closed, which the operating system does however the process ends, and removes its arguments.
#: A signal to a whole process group or service ends the process, and this must still follow.
WATCH = 'trap "" HUP INT QUIT TERM; read -r _; exec rm -rf -- "$@"'


class TemporaryFolder:
    """A folder that is removed with the last reference to it in the process that made it, or when that is killed.

    A copy of it that was sent to another process is a name only.

    Parameters
    ----------
    place : Path, optional
        The folder to make it in; by default that of the operating system.
    """

    def __init__(self, place: Path | None = None) -> None:
        self.path = Path(tempfile.mkdtemp(dir=place, prefix="maxent_cvx-")).absolute()
        self.remove = weakref.finalize(self, _remove, self.path, _watch(self.path))

    def __getstate__(self) -> dict[str, Path]:
        return {"path": self.path}


@contextmanager
def removed_if_killed(path: Path) -> Iterator[None]:
    """Remove a file or folder if the process is killed inside the block; otherwise leave it alone."""
    stop = _watch(path)
    try:
        yield
    finally:
        stop()


def _remove(path: Path, stop: Callable[[], None]) -> None:
    shutil.rmtree(path, ignore_errors=True)
    stop()


def _watch(path: Path) -> Callable[[], None]:
    """Start a shell that removes the path when this process is gone; give what stops it.

    No handler in this process could do so: SIGKILL cannot be handled, and the handlers of other signals belong to the
    application. Where no such shell can be started, as on Windows, nothing watches.
    """
    if os.name != "posix":
        return lambda: None
    quiet = subprocess.DEVNULL
    try:
        watcher = subprocess.Popen(
            ["/bin/sh", "-c", WATCH, "sh", str(path.absolute())],
            stdin=subprocess.PIPE, stdout=quiet, stderr=quiet, cwd="/", start_new_session=True,
        )  # fmt: skip
    except OSError:
        return lambda: None

    def stop() -> None:
        watcher.kill()  # its input may still be open in a fork of this process, so that closing it is not enough
        watcher.communicate()

    return stop

"""Files that are written completely or not at all, and temporary folders that are removed."""

from __future__ import annotations

import os
import secrets
import shutil
import stat
import subprocess
import tempfile
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from .errors import TableError
from .validation import check_path

# Temporary files, which are removed with the process, even if it is killed.

#: Waits until its input is closed, which the operating system does however the process ends, and removes its arguments.
#: It ignores signals, since a signal to a whole process group or service also ends the process, before this has run.
WATCH = 'trap "" HUP INT QUIT TERM; read -r _; exec rm -rf -- "$@"'


class TemporaryFolder:
    """A folder that is removed with its last reference in the process that created it, or if that is killed."""

    # A copy that was sent to another process contains the name only, and does not remove the folder.

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
    """Start a shell that removes the path when this process ends; return a function that stops the shell."""
    # A handler in this process cannot do this: SIGKILL cannot be handled, and the handlers of other signals belong to
    # the application. Where no such shell can be started, as on Windows, the path is not removed.
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
        watcher.kill()  # closing its input is not enough if a fork of this process still has it open
        watcher.communicate()

    return stop


#: Seconds between attempts to replace a file that another program reads, which Windows does not permit.
PAUSES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
#: Characters of the file's name that are used for its draft: names are limited to 255 bytes.
LONGEST = 50

#: Whether a file can be replaced while another program reads it: not on Windows.
_replaceable_while_read = os.name != "nt"


def path_of(path: object) -> Path:
    """Return the path of a file after checking that its name can be encoded."""
    name = check_path(path)
    try:
        os.fsencode(name)
    except UnicodeEncodeError:
        raise TableError(
            f"{str(name)!r} cannot be the name of a file: one of its characters cannot be encoded"
        ) from None
    return name


def write_beside(path: object, write: Callable[[Path], object]) -> None:
    """Write a draft in the same folder, and replace the file by it when the draft is complete and on the disk."""
    # A reader sees either the old file or the complete new one, at any time and after any failure, including
    # interrupts and power losses. If two processes write, the last one wins. The draft is a hidden file with the same
    # ending, whose name contains that of the file. It is removed if anything goes wrong, even if the process is killed.
    given_path = path_of(path)
    try:
        target = Path(os.path.realpath(given_path))  # so that the target of a symbolic link is replaced, not the link
        mode = _mode(target, given_path)
        draft = target.with_name(f".{target.stem[:LONGEST]}.{secrets.token_hex(8)}{target.suffix}")
        try:
            with removed_if_killed(draft):
                draft.touch(exist_ok=False)  # with the default permissions of new files
                if mode is not None:
                    draft.chmod(mode)
                write(draft)
                _to_disk(draft)
                _replace(draft, target)
        except BaseException:
            with suppress(OSError):  # the first error is the one to report
                draft.unlink()
            raise
        _folder_to_disk(target.parent)
    except OSError as error:
        raise TableError(
            f"cannot write {str(given_path)!r}: {_reason(error)}; an existing file is unchanged. Give another path, or "
            "free some space, and write again"
        ) from error


def _mode(target: Path, given_path: Path) -> int | None:
    """Return the permissions of an existing file; raise TableError if it is not a regular file or is protected."""
    try:
        mode = target.stat().st_mode
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(mode):
        kind = "a folder" if stat.S_ISDIR(mode) else "not a regular file"
        raise TableError(f"cannot write {str(given_path)!r}: it is {kind}; give the path of a file")
    if not os.access(target, os.W_OK):
        raise TableError(f"cannot write {str(given_path)!r}: it is write-protected; give another path, or permit it")
    return stat.S_IMODE(mode)


def _to_disk(path: Path) -> None:
    """Flush the content to the disk, so that the new name never precedes its content."""
    with path.open("rb+") as written:
        os.fsync(written.fileno())


def _folder_to_disk(folder: Path) -> None:
    """Flush the folder entry to the disk where folders can be opened; the file is complete in any case."""
    with suppress(OSError):  # Windows does not open folders, and some network drives do not flush them
        number = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)


def _replace(draft: Path, target: Path) -> None:
    """Replace the file by the draft; on Windows, retry while another program reads the file."""
    for pause in () if _replaceable_while_read else PAUSES:
        try:
            os.replace(draft, target)
        except PermissionError:
            time.sleep(pause)
        else:
            return
    os.replace(draft, target)


def _reason(error: OSError) -> str:
    """Return the reason why a file cannot be written."""
    if isinstance(error, PermissionError) and not _replaceable_while_read:
        return "another program has the file open; close it there"
    return error.strerror or " ".join(str(error).split()) or type(error).__name__

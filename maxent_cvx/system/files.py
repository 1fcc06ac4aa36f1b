"""Files that are written as a whole or not at all: beside the old file, which they then replace (C10)."""

from __future__ import annotations

import errno
import os
import secrets
import stat
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from ..errors import TableError, shown
from .temporary import removed_if_killed

__all__ = ["path_of", "write_beside"]

#: Seconds between attempts to replace a file that another program reads, which Windows refuses.
PAUSES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
#: Characters of the file's name in that of its draft: names may have 255 bytes.
LONGEST = 50

#: Whether a file can be replaced while another program reads it: not on Windows.
_replaceable_while_read = os.name != "nt"


def path_of(path: object) -> Path:
    """Read the name of a file.

    Raises
    ------
    TableError
        If it is neither a text nor a path, or no file can have the name.
    """
    if not isinstance(path, str | os.PathLike) or not isinstance(name := os.fspath(path), str):
        raise TableError(f"the name of a file must be text or a pathlib.Path, not {shown(path)}")
    if not name or "\0" in name:
        raise TableError(f"{name!r} is no name of a file; give a path such as 'posterior.parquet'")
    try:
        os.fsencode(name)
    except UnicodeEncodeError:
        raise TableError(f"{name!r} is no name of a file here: a character of it cannot be encoded") from None
    return Path(name)


def write_beside(path: object, write: Callable[[Path], object]) -> None:
    """Write a draft in the same folder, and put it in the place of the file when it is complete and on the disk.

    A reader sees either the old file or the new one, complete, at any time and after any failure, an interrupt
    and a loss of power included. Of two writers the last one wins. The draft, a hidden file that has the file's name in
    its own and the same ending, is removed if anything goes wrong, also if the process is killed.

    Parameters
    ----------
    path : str or path-like
        The file; through a symbolic link, what that points at.
    write : callable
        Writes the draft, whose path it is given.

    Raises
    ------
    TableError
        If the file cannot be written; what was there is unchanged.
    """
    found = path_of(path)
    try:
        target = _resolved(found)
        mode = _mode(target, found)
        draft = target.with_name(f".{target.stem[:LONGEST]}.{secrets.token_hex(8)}{target.suffix}")
        try:
            with removed_if_killed(draft):
                draft.touch(exist_ok=False)  # with the permissions that any new file has here
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
            f"cannot write {str(found)!r}: {_reason(error)}; what was there before is unchanged. "
            "Give another path, or make room, and write again"
        ) from error


def _resolved(path: Path) -> Path:
    """Follow symbolic links, so that they stay what they are."""
    try:
        return path.resolve()
    except RuntimeError as error:  # of Python before 3.13
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP)) from error


def _mode(target: Path, said: Path) -> int | None:
    """Read the permissions of an existing file; refuse to replace one that is not ordinary, or is protected."""
    try:
        mode = target.stat().st_mode
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(mode):
        what = "a folder" if stat.S_ISDIR(mode) else "no ordinary file"
        raise TableError(f"cannot write {str(said)!r}: it is {what}; give the path of a file")
    if not os.access(target, os.W_OK):
        raise TableError(f"cannot write {str(said)!r}: it is protected; give another path, or permit writing")
    return stat.S_IMODE(mode)


def _to_disk(path: Path) -> None:
    """Wait until the content is on the disk, so that no name can appear there before its content."""
    with path.open("rb+") as written:
        os.fsync(written.fileno())


def _folder_to_disk(folder: Path) -> None:
    """Write the new name to the disk as well, where folders can be opened; the file is complete either way."""
    try:
        number = os.open(folder, os.O_RDONLY)
    except OSError:  # Windows
        return
    try:
        os.fsync(number)
    except OSError:  # some network drives
        pass
    finally:
        os.close(number)


def _replace(draft: Path, target: Path) -> None:
    """Replace the file by the draft; on Windows retry while another program reads the file."""
    for pause in () if _replaceable_while_read else PAUSES:
        try:
            os.replace(draft, target)
        except PermissionError:
            time.sleep(pause)
        else:
            return
    os.replace(draft, target)


def _reason(error: OSError) -> str:
    """Say in a line why something cannot be written."""
    if isinstance(error, PermissionError) and not _replaceable_while_read:
        return "another program has the file open; close it there"
    return error.strerror or " ".join(str(error).split()) or type(error).__name__

"""Writing files: the old one or the new one, whole, whatever goes wrong."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from maxent_cvx import TableError
from maxent_cvx._utils import files
from maxent_cvx._utils.files import TemporaryFolder, path_of, removed_if_killed, write_beside
from support.saving import at_line, in_child, room_for, traced

posix = pytest.mark.skipif(os.name != "posix", reason="Windows has no such signals, limits, links or permissions")
OLD, NEW = b"old" * 100, b"new" * 200
#: More lines than writing a file takes.
EVERY = range(1, 1000)


@pytest.fixture
def path(tmp_path) -> Path:
    """A file that is there already."""
    (tmp_path / "some file.csv").write_bytes(OLD)
    return tmp_path / "some file.csv"


def write_new(path: Path) -> None:
    write_beside(path, lambda draft: draft.write_bytes(NEW))


def test_a_file_is_replaced(path):
    """A file is created or replaced, and no draft remains."""
    write_new(path)
    write_new(path.with_name("new.csv"))
    assert path.read_bytes() == path.with_name("new.csv").read_bytes() == NEW
    assert len(list(path.parent.iterdir())) == 2


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError, SystemExit, TableError])
def test_an_error_while_writing(path, error):
    """An error while writing is raised unchanged; the old file remains, without a draft."""

    def write(draft: Path) -> None:
        draft.write_bytes(NEW[:50])
        raise error("stop")

    with pytest.raises(error, match="stop"):
        write_beside(path, write)
    assert path.read_bytes() == OLD
    assert list(path.parent.iterdir()) == [path]


# A file that an interrupt in a `with` line leaves open is closed when it is forgotten, of which Python warns.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_an_interrupt_at_any_line(path):
    """An interrupt at any line leaves either the old or the new file complete, without a draft."""

    def interrupt() -> None:
        raise KeyboardInterrupt

    results = []
    for step in EVERY:
        path.write_bytes(OLD)
        try:
            with traced(at_line(files.__file__, step, interrupt)):
                write_new(path)
        except KeyboardInterrupt:
            results.append(path.read_bytes())
            assert list(path.parent.iterdir()) == [path], f"line {step}"
        else:
            break
    assert set(results) == {OLD, NEW}
    assert path.read_bytes() == NEW


@posix
def test_a_kill_at_any_line(path):
    """If the process is killed at any line, either the old or the new file is complete."""
    results = []

    def act(step: int) -> None:
        sys.settrace(at_line(files.__file__, step, lambda: os.kill(os.getpid(), signal.SIGKILL)))
        write_new(path)

    for step in EVERY:
        path.write_bytes(OLD)
        _, status = os.waitpid(in_child(partial(act, step)), 0)
        results.append(path.read_bytes())
        if status == 0:
            break
        assert os.WTERMSIG(status) == signal.SIGKILL
    assert set(results) == {OLD, NEW}
    assert len(results) > 10


@posix
@pytest.mark.parametrize("room", [0, 1, 300, len(NEW) - 1])
def test_a_full_disk(path, room):
    """If the disk is full, the old file remains, without a draft."""
    with pytest.raises(TableError), room_for(room):
        write_new(path)
    assert path.read_bytes() == OLD
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize(("times", "there"), [(3, NEW), (1000, OLD)])
def test_windows_waits_for_readers(path, monkeypatch, times, there):
    """Windows does not replace a file that is being read: this is tried again, and then raises TableError."""
    left, replace = times, os.replace

    def busy(draft: Path, target: Path) -> None:
        nonlocal left
        left -= 1
        if left >= 0:
            raise PermissionError(13, "Access is denied")
        replace(draft, target)

    monkeypatch.setattr(files, "_replaceable_while_read", False)
    monkeypatch.setattr(files.os, "replace", busy)
    monkeypatch.setattr(files.time, "sleep", lambda _: None)
    if there == OLD:
        with pytest.raises(TableError):
            write_new(path)
    else:
        write_new(path)
    assert path.read_bytes() == there
    assert list(path.parent.iterdir()) == [path]


@posix
def test_permissions_and_links_stay(path):
    """Permissions are those of the replaced file, or of any new file; a symbolic link remains a link."""
    path.chmod(0o640)
    link = path.with_name("link.csv")
    link.symlink_to(path.name)
    write_new(link)
    assert link.is_symlink()
    assert path.read_bytes() == NEW
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    other, usual = path.with_name("other.csv"), path.with_name("usual.csv")
    write_new(other)
    usual.touch()
    assert other.stat().st_mode == usual.stat().st_mode


@pytest.mark.parametrize("name", ["\ud800", None, 5, b"x.csv", "", "a\0b", ["x.csv"], object()])
def test_wrong_names(name):
    """A path that is not a string or cannot be a name is a TableError."""
    for use in (path_of, lambda name: write_beside(name, lambda draft: draft.touch())):
        with pytest.raises(TableError):
            use(name)


def test_wrong_places(tmp_path):
    """A folder, a path in a missing folder, and a path below a file are refused."""
    (tmp_path / "file").touch()
    for name in (".", "none/x.csv", "file/x.csv"):
        with pytest.raises(TableError):
            write_new(tmp_path / name)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


# -- temporary files: nothing of them is left when the process is killed ---------------------------------------------

SHUFFLE = """
import sys, numpy as np, pandas as pd, maxent_cvx as mx
from maxent_cvx.releases import partitioned as spilling
frame = pd.DataFrame({"Q": np.arange(3000) % 7, "S": np.arange(3000) % 5, "K": np.arange(3000) % 600})
frame.to_parquet("records.parquet", row_group_size=500)
if sys.argv[1] == "while the records are shuffled":
    schemas = [spilling.common_schema]  # of the files; the second call is of the shuffled records
    spilling.common_schema = lambda *given: schemas.pop()(*given) if schemas else (print("ready", flush=True), input())
release = mx.Release.from_parquet("records.parquet", qi="Q", sa="S", bucket="K", partitions=3)
if sys.argv[1] == "while an answer is written":
    from maxent_cvx.model import partitioned as writing
    writing.os.rename = lambda *given: (print("ready", flush=True), input())
    mx.MaxEnt(release).solve().to_parquet("answer")
print("ready", flush=True)
input()
"""


def eventually(holds: Callable[[], bool]) -> bool:
    """Whether something becomes true within some seconds."""
    for _ in range(200):
        if holds():
            return True
        time.sleep(0.05)
    return False


def names_below(folder: Path) -> list[str]:
    """The names of all files and folders, some of which may be removed meanwhile."""
    return sorted(name for _, folders, files in os.walk(folder) for name in (*folders, *files))


@posix
@pytest.mark.parametrize(
    ("moment", "number"),
    [
        ("while the records are shuffled", "SIGTERM"),
        ("with a shuffled release", "SIGHUP"),
        ("while an answer is written", "SIGKILL"),
    ],
)
def test_a_killed_process_leaves_nothing(tmp_path, moment, number):
    """Shuffled records and a half-written answer are removed, also if the signal is sent to the whole group."""
    (tmp_path / "temporary").mkdir()
    environment = {**os.environ, "TMPDIR": str(tmp_path / "temporary")}
    process = subprocess.Popen(
        [sys.executable, "-c", SHUFFLE, moment], cwd=tmp_path, env=environment, stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    assert list(tmp_path.glob("temporary/*/*/*.parquet"))
    assert bool(list(tmp_path.glob(".answer.*/*"))) == (moment == "while an answer is written")
    os.killpg(process.pid, getattr(signal, number))
    process.communicate()
    assert process.returncode == -getattr(signal, number)
    assert eventually(lambda: names_below(tmp_path) == ["records.parquet", "temporary"])


@posix
def test_what_is_finished_stays(tmp_path):
    """A file that was written in time is left alone, also by the process that watched over it."""
    path = tmp_path / "file"
    with removed_if_killed(path):
        path.touch()
    assert path.exists()


@posix
def test_a_folder_is_removed_with_its_owner(tmp_path):
    """The folder exists as long as an object refers to it."""
    folder = TemporaryFolder(tmp_path)
    Path(folder.path, "file").touch()
    del folder
    assert list(tmp_path.iterdir()) == []

"""Temporary files: nothing of them is left when the process is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from maxent_cvx._utils.files import TemporaryFolder, removed_if_killed

pytestmark = pytest.mark.skipif(os.name != "posix", reason="Windows has no such signals")

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


def test_what_is_finished_stays(tmp_path):
    """A file that was written in time is left alone, also by the process that watched over it."""
    path = tmp_path / "file"
    with removed_if_killed(path):
        path.touch()
    assert path.exists()


def test_a_folder_is_removed_with_its_owner(tmp_path):
    """The folder is there as long as somebody refers to it."""
    folder = TemporaryFolder(tmp_path)
    Path(folder.path, "file").touch()
    del folder
    assert list(tmp_path.iterdir()) == []

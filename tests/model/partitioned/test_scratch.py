"""Partitions whose results Dask writes to files have the answer of those in memory, and leave nothing behind."""

from __future__ import annotations

import gc
import os
from pathlib import Path

import numpy as np
import pytest

import maxent_cvx as mx
from maxent_cvx.views.partitioned.partitioned_release import PartitionedRelease, divided

STATEMENTS = ("P(HS-grad | sex=Male) = 0.32", "P(Bachelors | race=White) <= 0.2")


@pytest.fixture(scope="module")
def release() -> PartitionedRelease:
    adult = mx.datasets.load_adult().head(4_000)
    return divided(mx.disguise.anatomy(adult, qi=mx.datasets.ADULT_QI, sa="education", l=5, exempt=2), 4)


def stored_below(folder: Path) -> list[str]:
    """The files of results; Dask leaves its own locks."""
    return [name for _, _, files in os.walk(folder) for name in files if not name.endswith(".lock")]


def test_answers_from_files_are_those_from_memory(release, tmp_path: Path):
    pytest.importorskip("distributed")  # before its settings are changed, or they are lost afterwards
    import dask

    here = mx.MaxEnt(release).add(*STATEMENTS).solve(threads=1)
    stored = []
    with dask.config.set({"distributed.worker.memory.target": 1e-9}):  # of the memory, so that everything is stored
        there = mx.MaxEnt(release).add(*STATEMENTS).solve(
            scratch=tmp_path, threads=2, callback=lambda _: stored.append(len(stored_below(tmp_path)))
        )  # fmt: skip
    assert max(stored) > 2 * release.n_partitions
    assert there.certificate == here.certificate
    asked = {"sex": "Female", "salary": ">50K"}
    assert np.array_equal(there.conditional(asked), here.conditional(asked))
    assert mx.measures.exposed(there).people == mx.measures.exposed(here).people
    del there
    gc.collect()
    assert not stored_below(tmp_path)


def test_a_folder_that_is_not_there(release, tmp_path: Path):
    pytest.importorskip("distributed")
    with pytest.raises(mx.TableError, match="cannot write to the folder"):
        mx.MaxEnt(release).solve(scratch=tmp_path / "none")


def test_workers_have_folders_of_their_own(release, tmp_path: Path):
    with pytest.raises(mx.StatementError, match="leave scratch or client out"):
        mx.MaxEnt(release).solve(scratch=tmp_path, client=object())

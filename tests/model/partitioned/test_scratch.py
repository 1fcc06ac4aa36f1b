"""Partitions whose results are in files have the answer of those in memory, and leave nothing behind."""

from __future__ import annotations

import gc
from pathlib import Path

import numpy as np
import pytest

import maxent_cvx as mx
from maxent_cvx._utils import parallel as out_of_core
from maxent_cvx.releases.partitioned import PartitionedRelease, divided

STATEMENTS = ("P(HS-grad | sex=Male) = 0.32", "P(Bachelors | race=White) <= 0.2")


@pytest.fixture(scope="module")
def release() -> PartitionedRelease:
    adult = mx.datasets.load_adult().head(4_000)
    return divided(mx.anonymize.anatomy(adult, qi=mx.datasets.ADULT_QI, sa="education", l=5, exempt=2), 4)


def test_answers_from_files_are_those_from_memory(release, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(out_of_core, "LARGE", 1_000)  # bytes, so that nearly everything is stored
    here = mx.MaxEnt(release).add(*STATEMENTS).solve(threads=1)
    stored = []
    there = mx.MaxEnt(release).add(*STATEMENTS).solve(
        scratch=tmp_path, threads=2, callback=lambda _: stored.append(len(list(tmp_path.rglob("*.joblib"))))
    )  # fmt: skip
    assert max(stored) > 2 * release.n_partitions
    assert there.certificate == here.certificate
    asked = {"sex": "Female", "salary": ">50K"}
    assert np.array_equal(there.conditional(asked), here.conditional(asked))
    assert mx.measures.exposed(there).people == mx.measures.exposed(here).people
    del there
    gc.collect()
    assert not list(tmp_path.rglob("*.joblib"))


def test_a_folder_that_is_not_there(release, tmp_path: Path):
    with pytest.raises(mx.TableError, match="cannot write to the folder"):
        mx.MaxEnt(release).solve(scratch=tmp_path / "none")


def test_workers_have_folders_of_their_own(release, tmp_path: Path):
    with pytest.raises(mx.StatementError, match="leave scratch or client out"):
        mx.MaxEnt(release).solve(scratch=tmp_path, client=object())

"""Files that are not what Posterior.save wrote, forged ones, and saving that goes wrong: typed errors, nothing lost."""

from __future__ import annotations

import json
import os
import random
from contextlib import suppress
from pathlib import Path
from typing import Any

import cvxpy as cp
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import maxent_cvx as mx
from maxent_cvx import MaxEntError, TableError
from maxent_cvx.model import storage
from support.helpers import refused
from support.problems import PROBLEMS
from support.saving import forgeries, posteriors, room_for

posix = pytest.mark.skipif(os.name != "posix", reason="Windows has no such limits and files")


@pytest.fixture(scope="module")
def known() -> list[mx.Posterior]:
    """Two posteriors of one release."""
    return posteriors()


@pytest.fixture
def path(tmp_path, known) -> Path:
    """The first of them in a file."""
    known[0].save(tmp_path / "post.parquet")
    return tmp_path / "post.parquet"


def test_every_cut_is_refused(path):
    """A truncated file is refused, and so is a file with additional bytes."""
    whole = path.read_bytes()
    changed = [whole[:size] for size in (0, 1, 8, *range(40, len(whole), 97), len(whole) - 1)]
    for data in (*changed, whole + b"\0", whole + b"PAR1", whole + whole):
        path.write_bytes(data)
        with refused(TableError):
            mx.load_posterior(path)


@pytest.mark.parametrize("version", ["now", "0.2.0"])
def test_flipped_bits_are_refused(path, version):
    """Whichever bit is flipped, of labels, counts, sizes or the checksum itself: the file is refused."""
    whole, draw = path.read_bytes(), random.Random(17)
    if version != "now":
        whole = (Path(__file__).parents[1] / "support" / "saved" / version / "release.parquet").read_bytes()
    for at in (*draw.sample(range(len(whole)), 80), *range(len(whole) - 8, len(whole))):
        flipped = bytearray(whole)
        flipped[at] ^= 1 << draw.randrange(8)
        path.write_bytes(flipped)
        with refused(TableError):
            mx.load_posterior(path)


def test_nothing_is_decoded_before_the_checksum(path, monkeypatch):
    """A damaged file, which may claim any size, is refused before Parquet reads it."""
    whole = bytearray(path.read_bytes())
    whole[100] ^= 1
    path.write_bytes(whole)
    for reader in ("read_table", "read_metadata"):
        monkeypatch.setattr(pq, reader, lambda *_: pytest.fail("the file was decoded"))
    with refused(TableError):
        mx.load_posterior(path)


def test_rewritten_files(path, known, monkeypatch):
    """Files without a checksum, of another format, with other fields or with other counts are refused.

    The checksum is not a signature: who forges counts or the model with it is found out if the file is verified.
    """
    table, metadata = pq.read_table(path), pq.read_metadata(path).metadata[storage.METADATA]
    monkeypatch.setattr(storage, "POSTERIOR", 1)
    with refused(TableError):
        mx.load_posterior(path)
    monkeypatch.undo()
    space, counts, about, _ = storage.read_terms(path, "it")
    about["certificate"]["luck"] = 1.0
    storage.write_terms(path, space, counts, about)
    with refused(TableError):
        mx.load_posterior(path)
    pq.write_table(table.replace_schema_metadata({storage.METADATA: metadata}), path)  # as any program writes it
    with refused(TableError):
        mx.load_posterior(path)

    last = table.column_names[-1]
    shuffled = table.set_column(table.num_columns - 1, last, table[last].take(pa.array(range(len(table)))[::-1]))
    of_another_type = [json.dumps({**json.loads(metadata), "model": model}).encode() for model in ("text", 1, [])]
    for forged, said in ((shuffled, metadata), *((table, said) for said in of_another_type)):
        path.write_bytes(storage.sealed(forged.replace_schema_metadata({storage.METADATA: said})))
        with refused(TableError):
            mx.load_posterior(path, verify=True)
    path.write_bytes(storage.sealed(shuffled.replace_schema_metadata({storage.METADATA: metadata})))
    assert mx.load_posterior(path).certificate.holds


def test_what_is_no_file(tmp_path, known):
    """A folder, an empty file, a file in no folder and what is not the name of a file are refused."""
    (tmp_path / "empty.parquet").touch()
    for name in (None, b"post.parquet", "", "a\0b", tmp_path, tmp_path / "no" / "x"):
        with refused(TableError):
            mx.load_posterior(name)
        with refused(TableError):
            known[0].save(name)
    with refused(TableError):
        mx.load_posterior(tmp_path / "empty.parquet")


@posix
def test_devices_and_pipes(tmp_path, known):
    """Loading does not wait for a pipe or read an endless device, and saving does not replace them."""
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", "/dev/zero", "/dev/full"):
        with refused(TableError):
            mx.load_posterior(path)
        with refused(TableError):
            known[0].save(path)


@posix
def test_a_full_disk(path, known):
    """If the disk is full, the earlier posterior stays, and nothing is left beside it."""
    for room in (0, 5, 1000):
        with refused(TableError), room_for(room):
            known[1].save(path)
        assert mx.load_posterior(path).joint().equals(known[0].joint())
        assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("verify", [False, True])
def test_forged_posteriors(path, verify):
    """A file with a valid checksum is a posterior that can be used, or refused by type, whatever it contains."""
    for forged in forgeries(path.read_bytes(), 80, random.Random(1)):
        path.write_bytes(forged)
        try:
            post = mx.load_posterior(path, verify)
        except mx.TableError:
            continue
        assert post.conditional().to_numpy().min() >= 0
        assert str(post.certificate) in repr(post)
        assert not verify or post.certificate.holds


def test_forged_models(path, release):
    """A model from a file with a valid checksum can be solved, or is refused by type, whatever its rows are."""
    mx.MaxEnt(release).add("P(HIV | Gender=male) ~ 0.3 +- 0.1", lambda space: space.marginal("s") <= 0.5).save(path)
    for forged in forgeries(path.read_bytes(), 80, random.Random(1)):
        path.write_bytes(forged)
        with suppress(mx.TableError):
            model = mx.MaxEnt.load(path)
            assert len(model.describe()) == len(model.knowledge) + 1
            with suppress(MaxEntError):
                model.solve()


def test_what_was_saved_is_verified(tmp_path):
    """A saved posterior is certified again, with the knowledge of its model."""
    for problem in list(PROBLEMS.values())[::4]:
        model = problem.model()
        if not problem.feasible or model.convex:
            continue
        post = model.solve()
        post.save(tmp_path / "post.parquet")
        again = mx.load_posterior(tmp_path / "post.parquet", verify=True)
        assert again.certificate.holds
        assert np.array_equal(again.counts, post.counts)
        assert list(again.model.knowledge) == list(model.knowledge)
        assert list(again.multipliers) == list(post.multipliers)


def test_what_cannot_be_verified(path, release):
    """A file without the knowledge of its model, of a convex statement or an earlier version, is not verified."""
    mx.MaxEnt(release).add(lambda space: cp.sum(cp.entr(space.p)) >= 2).solve().save(path)
    assert mx.load_posterior(path).certificate.holds
    earlier = Path(__file__).parents[1] / "support" / "saved" / "0.2.0" / "release.parquet"
    for file in (path, earlier):
        with refused(TableError):
            mx.load_posterior(file, verify=True)


def test_what_does_not_come_back_is_not_written(path, known, monkeypatch):
    """A file is read again before it replaces another one: a view that would come back as another one is refused."""
    read = storage.read_view

    def another(parts: dict[str, Any]) -> mx.Release:
        frames = read(parts).to_frames()
        return mx.Release.from_frames({**frames, "sa_table": frames["sa_table"].assign(Disease="Flu")})

    monkeypatch.setattr(storage, "read_view", another)
    with refused(TableError):
        known[1].save(path)
    monkeypatch.undo()
    assert mx.load_posterior(path).joint().equals(known[0].joint())

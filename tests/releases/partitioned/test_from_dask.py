"""A release of a Dask DataFrame is the release of the whole table, whose partitions stay where they are."""

from __future__ import annotations

import gc
import os
import pickle
import tempfile

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import maxent_cvx as mx
from support.helpers import refused
from support.partitions import pieces, same_release
from support.strategies import PALETTES, microdata, publish, quasi

dask = pytest.importorskip("dask")
dd = pytest.importorskip("dask.dataframe")

HOSPITAL = mx.datasets.load_hospital()
ROLES = {"qi": ["Gender", "Degree"], "sa": "Disease", "bucket": "Bucket"}
OF_ONE_TYPE = [name for name in PALETTES if name != "mixed"]


def of_pieces(*tables: pd.DataFrame):
    """A Dask DataFrame of some partitions, whatever their types are."""
    return dd.from_delayed([dask.delayed(table) for table in tables], meta=tables[0].head(0), verify_meta=False)


@pytest.mark.parametrize("n", range(1, 8))
def test_hospital(n):
    """However the table is divided, and without a client."""
    release = mx.Release.from_dask(dd.from_pandas(HOSPITAL, npartitions=n), **ROLES)
    assert release.n_partitions == min(n, 3)
    same_release(mx.Release.from_partitions(release), mx.Release.from_buckets(HOSPITAL, **ROLES))


@settings(max_examples=30, deadline=None)
@given(table=microdata(OF_ONE_TYPE), n=st.integers(1, 7))
def test_random_tables(table, n):
    """Values of every type, buckets anywhere in partitions, some of which are empty."""
    release = mx.Release.from_dask(of_pieces(*pieces(table, n)), qi=quasi(table), sa="S", bucket="K")
    same_release(mx.Release.from_partitions(release), publish(table))


def test_whole_buckets_stay_where_they_are(monkeypatch):
    """Partitions of whole buckets are those of the release, in their order."""
    monkeypatch.setattr(tempfile, "mkdtemp", lambda **_: pytest.fail("nothing needs a temporary file"))
    table = of_pieces(*(people for _, people in HOSPITAL.groupby("Bucket")))
    release = mx.Release.from_dask(table, **ROLES)
    assert release.describe()["records"].to_list() == [4, 3, 3]
    part = dask.compute(release.makers[1])[0]  # a Delayed, which Dask computes where it likes
    assert part.buckets.to_list() == [2]
    same_release(mx.Release.from_partitions(release), mx.Release.from_buckets(HOSPITAL, **ROLES))


def test_temporary_files_go_with_the_release(tmp_path, monkeypatch):
    """Without a client records are shuffled through files, which nobody finds afterwards."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    release = mx.Release.from_dask(dd.from_pandas(HOSPITAL, npartitions=2), **ROLES)
    assert os.listdir(tmp_path)
    del release
    gc.collect()
    assert not os.listdir(tmp_path)


def test_counts():
    """A row stands for as many records as its count says, and a partition may hold nobody."""
    table = HOSPITAL.assign(many=[3, 0, 2, 1, 1, 1, 1, 4, 1, 1])
    nobody = table.assign(many=0)
    release = mx.Release.from_dask(of_pieces(nobody.head(3), table), **ROLES, count="many")
    same_release(mx.Release.from_partitions(release), mx.Release.from_buckets(table, **ROLES, count="many"))


@pytest.mark.parametrize(
    "change",
    [
        {"qi": ["Gendre"]},
        {"sa": "Gender"},
        {"bucket": "Ward"},
        {"qi": "s"},
        {"count": "Records"},
        {"table": HOSPITAL.assign(Degree=HOSPITAL["Degree"].where(HOSPITAL.index > 1))},
        {"table": HOSPITAL.assign(Bucket=HOSPITAL["Bucket"].where(HOSPITAL.index > 1))},
        {"table": HOSPITAL.assign(Bucket=np.nan)},
        {"table": HOSPITAL.assign(n=2)},
    ],
)
def test_errors_are_those_of_a_table_in_memory(change):
    """What from_buckets refuses is refused, in the same words but for the partition's name."""
    table = change.pop("table", HOSPITAL)
    with pytest.raises(mx.MaxEntError) as expected:
        mx.Release.from_buckets(table, **{**ROLES, **change})
    with pytest.raises(type(expected.value)) as found:
        mx.Release.from_dask(dd.from_pandas(table, npartitions=1), **{**ROLES, **change})
    assert str(found.value).replace("partition 0 of the table", "the table") == str(expected.value)


def test_what_is_no_dask_table():
    """A DataFrame of pandas is published in memory, and pseudonyms are for memory."""
    with refused(mx.TableError, "a Dask DataFrame", "a DataFrame"):
        mx.Release.from_dask(HOSPITAL, **ROLES)
    with refused(mx.StatementError, "no pseudonyms"):
        mx.Release.from_dask(dd.from_pandas(HOSPITAL, npartitions=1), **ROLES, id="Name")
    with refused(mx.StatementError, "PartitionedRelease"):
        mx.Release.from_partitions(HOSPITAL)


def of_two(first: object, second: object):
    """Two partitions of people in wards of their own, whose ages are of two types."""
    tables = [
        pd.DataFrame({"Age": ages, "Ward": [f"{name}{i}" for i in range(len(ages))], "Disease": "Flu"})
        for name, ages in (("a", first), ("b", second))
    ]
    return mx.Release.from_dask(of_pieces(*tables), qi="Age", sa="Disease", bucket="Ward")


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ([1, 2], ["1", "2"]),
        ([True, False], [1, 0]),
        ([1, "1"], [1, "1"]),
        ([2**53 + 1, 1], [2.0**53, 1.5]),
        (pd.Categorical(["x", "y"], ["x", "y"], ordered=True), pd.Categorical(["x", "y"], ["y", "x"], ordered=True)),
        (pd.to_datetime(["2020-01-01"]), pd.to_datetime(["2020-01-01"]).tz_localize("UTC")),
    ],
)
def test_types_that_cannot_be_compared(first, second):
    """1 and "1" are never two tuples in silence, also where Dask is told to leave objects as they are."""
    with dask.config.set({"dataframe.convert-string": False}), refused(mx.TableError, "column 'Age'"):
        of_two(first, second)


def test_buckets_of_two_types():
    """A ward that is 1 here and 1.0 there is one bucket, and "1" is refused."""
    tables = [HOSPITAL.head(4).assign(Bucket=1), HOSPITAL.tail(6).assign(Bucket=1.0)]
    release = mx.Release.from_dask(of_pieces(*tables), **ROLES)
    assert release.n_buckets == 1
    with refused(mx.TableError, "column 'Bucket'"):
        mx.Release.from_dask(of_pieces(tables[0], tables[1].assign(Bucket="1")), **ROLES)


def test_categories_of_different_partitions():
    """Unordered categories are the values that they stand for."""
    release = of_two(pd.Categorical(["x", "y"]), pd.Categorical(["z", "y"], ["z", "y"]))
    assert [age for (age,) in release.quasi_identifiers] == ["x", "y", "z"]
    assert release.n_q.tolist() == [1, 2, 1]


def test_intervals():
    """Ages that pandas has cut into intervals are in order."""
    cut = pd.cut(pd.Series([5, 25, 15, 25]), [0, 10, 20, 30])
    release = of_two(cut[:2], cut[2:])
    assert [age for (age,) in release.quasi_identifiers] == sorted(set(cut))
    assert release.n_q.tolist() == [1, 1, 2]
    table = pd.DataFrame({"Age": cut, "Ward": [1, 2, 1, 2], "Disease": "Flu"})  # which must be shuffled
    with refused(mx.TableError, "column 'Age' holds categories of", ".astype(str)"):
        mx.Release.from_dask(of_pieces(*pieces(table, 2)), qi="Age", sa="Disease", bucket="Ward")


def test_makers_can_be_sent():
    """A maker is a function or a Delayed, which pickle takes."""
    for n in (1, 2):
        release = mx.Release.from_dask(dd.from_pandas(HOSPITAL, npartitions=n), **ROLES)
        assert all(pickle.dumps(make) for make in release.makers)

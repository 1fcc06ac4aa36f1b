"""A release of Parquet files or of a Dask DataFrame is that of the whole table, in partitions of whole buckets."""

from __future__ import annotations

import datetime
import gc
import os
import pickle
import tempfile
from collections.abc import Iterator
from decimal import Decimal
from itertools import count
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import maxent_cvx as mx
from maxent_cvx._utils.parallel import LocalExecutor
from support.helpers import refused
from support.strategies import PALETTES, microdata, publish, quasi

dask = pytest.importorskip("dask")
dd = pytest.importorskip("dask.dataframe")

HOSPITAL = mx.datasets.load_hospital()
ROLES = {"qi": ["Gender", "Degree"], "sa": "Disease", "bucket": "Bucket"}
ADULT_ROLES = {"qi": ["age", "workclass", "sex", "race"], "sa": "education", "bucket": "Bucket"}
#: A Parquet file has one type a column.
OF_ONE_TYPE = [name for name in PALETTES if name != "mixed"]


def same_release(first: mx.Release, second: mx.Release) -> None:
    """Two releases have the same labels in the same order, and the same records in every bucket."""
    for name in ("quasi_identifiers", "sensitive_values", "buckets"):
        one, other = getattr(first, name), getattr(second, name)
        assert list(one) == list(other)
        assert list(one.names) == list(other.names)
    for name in ("n_qb", "n_sb"):
        one, other = getattr(first, name), getattr(second, name)
        assert one.shape == other.shape
        assert (one != other).nnz == 0


def pieces(table: pd.DataFrame, n: int) -> Iterator[pd.DataFrame]:
    """Cut a table into n tables of consecutive rows, some of which may be empty."""
    return (table.iloc[rows] for rows in np.array_split(np.arange(len(table)), n))


def of_pieces(*tables: pd.DataFrame):
    """A Dask DataFrame of some partitions, whatever their types are."""
    return dd.from_delayed([dask.delayed(table) for table in tables], meta=tables[0].head(0), verify_meta=False)


def write_files(table: pd.DataFrame, folder: Path, n: int = 1, rows: int | None = None) -> Path:
    """Write a table as n Parquet files, with so many rows in a row group, into a new folder."""
    folder.mkdir()
    for i, piece in enumerate(pieces(table, n)):
        piece.to_parquet(folder / f"{i}.parquet", row_group_size=rows, index=False)
    return folder


@pytest.fixture
def temporary(tmp_path, monkeypatch) -> Path:
    """The folder in which temporary files are made."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.fixture(scope="module")
def adult() -> pd.DataFrame:
    table = mx.datasets.load_adult()
    roles = {name: role for name, role in ADULT_ROLES.items() if name != "bucket"}
    return table.assign(Bucket=mx.anonymize.anatomy_buckets(table, **roles, l=5, exempt=2))


@given(table=microdata(OF_ONE_TYPE), files=st.integers(1, 4), rows=st.integers(1, 6), n=st.integers(1, 7))
def test_random_tables(tmp_path_factory, table, files, rows, n):
    """Values of every type, and buckets anywhere in files and row groups."""
    folder = write_files(table, tmp_path_factory.mktemp("random") / "people", files, rows)
    release = mx.Release.from_parquet(folder, qi=quasi(table), sa="S", bucket="K", partitions=n)
    same_release(mx.Release.from_partitions(release), publish(table))


def test_times_of_day(tmp_path):
    """Objects of one type that pandas does not know are compared, as in memory."""
    at = [datetime.time(8), datetime.time(9), datetime.time(8)]
    table = pd.DataFrame({"At": at, "S": ["a", "b", "a"], "B": [1, 1, 2]})
    folder = write_files(table, tmp_path / "people", 2, 1)
    whole = mx.Release.from_buckets(table, qi="At", sa="S", bucket="B")
    parts = mx.Release.from_parquet(folder, qi="At", sa="S", bucket="B", partitions=2)
    given = {"At": datetime.time(8)}
    assert mx.MaxEnt(parts).solve().prob("a", given=given) == pytest.approx(
        mx.MaxEnt(whole).solve().prob("a", given=given)
    )


def test_parts_have_the_labels_of_the_whole(tmp_path, adult):
    """P(q) and P(s) in a part are those of the whole; its tuples are tuples of the whole, with their numbers."""
    folder = write_files(adult, tmp_path / "people")
    release = mx.Release.from_parquet(folder, **ADULT_ROLES, partitions=3)
    whole = mx.Release.from_buckets(adult, **ADULT_ROLES)
    for size, make in zip(release.sizes, release.makers, strict=True):
        part = make()
        assert list(part.quasi_identifiers) == list(whole.quasi_identifiers[part.q_numbers])
        assert (part.n_q == whole.n_q[part.q_numbers]).all()
        assert (part.n_s == whole.n_s).all()
        assert part.n_records == len(adult)
        assert (part.n_qb.sum(), len(part.buckets), len(part.q_numbers)) == size
        levels = zip(part.quasi_identifiers.levels, whole.quasi_identifiers.levels, strict=True)
        assert all(list(level) == list(expected) for level, expected in levels)


def test_whole_buckets_are_not_shuffled(tmp_path, monkeypatch):
    """Files, and partitions of Dask, with whole buckets are read where they are, whatever groups of rows they have."""
    monkeypatch.setattr(tempfile, "mkdtemp", lambda **_: pytest.fail("no temporary file is needed"))
    for name, people in HOSPITAL.groupby(HOSPITAL["Bucket"] == 1):
        people.to_parquet(tmp_path / f"{name}.parquet", row_group_size=2)
    of_files = mx.Release.from_parquet(tmp_path, **ROLES, partitions=2)
    assert of_files.describe()["records"].to_list() == [6, 4]
    of_dask = mx.Release.from_dask(of_pieces(*(people for _, people in HOSPITAL.groupby("Bucket"))), **ROLES)
    assert of_dask.describe()["records"].to_list() == [4, 3, 3]
    assert dask.compute(of_dask.makers[1])[0].buckets.to_list() == [2]  # a Delayed
    for release in (of_files, of_dask):
        same_release(mx.Release.from_partitions(release), mx.Release.from_buckets(HOSPITAL, **ROLES))


def test_temporary_files_go_with_the_release(tmp_path, temporary):
    """They are there as long as the release, or one of its makers, and a copy elsewhere does not remove them."""
    release = mx.Release.from_parquet(write_files(HOSPITAL, tmp_path / "people"), **ROLES, partitions=3)
    maker = release.makers[0]
    sent = pickle.loads(pickle.dumps(maker))
    assert sent().n_qb.sum() == maker().n_qb.sum()
    del sent
    gc.collect()
    assert maker().n_records == 10
    del release
    gc.collect()
    assert maker().n_records == 10
    assert os.listdir(temporary)
    del maker
    gc.collect()
    assert not os.listdir(temporary)


def test_temporary_files_go_with_an_error(tmp_path, temporary, monkeypatch):
    """A full disk is an error, and nothing is left there."""
    folder, written, write = write_files(HOSPITAL, tmp_path / "people"), count(), pq.write_table

    def full(*given, **options):
        if next(written):
            raise OSError(28, "No space left on device")
        write(*given, **options)

    monkeypatch.setattr(pq, "write_table", full)
    with refused(mx.TableError):
        mx.Release.from_parquet(folder, **ROLES, partitions=3)
    assert not os.listdir(temporary)


def test_changed_files_are_noticed(tmp_path):
    """A part of a file that has changed since the records were counted is an error; a file without a column is named."""
    folder = write_files(HOSPITAL, tmp_path / "people")
    release = mx.Release.from_parquet(folder, **ROLES)
    changes = ({"Degree": "none"}, {"Disease": "Flu"}, {"Bucket": 1})
    lost = HOSPITAL.drop(columns="Disease")
    for changed in (*(HOSPITAL.assign(**change) for change in changes), pd.concat([HOSPITAL, HOSPITAL]), lost):
        changed.to_parquet(folder / "0.parquet")
        with refused(mx.TableError, "has changed"):
            release.makers[0]()
    with refused(mx.UnknownName, "0.parquet"):
        mx.Release.from_parquet(folder, **ROLES)
    HOSPITAL.to_parquet(folder / "0.parquet", row_group_size=5)
    release = mx.Release.from_parquet(folder, **ROLES)
    HOSPITAL.to_parquet(folder / "0.parquet")
    with refused(mx.TableError, "has changed"):
        release.makers[0]()


@pytest.mark.parametrize(
    ("table", "changes"),
    [
        (HOSPITAL.assign(many=[3, 0, 2, 1, 1, 1, 1, 4, 1, 1]), {"count": "many"}),
        (HOSPITAL, {"qi": "Gender", "sa": ["Disease", "Degree"]}),
        (HOSPITAL.rename(columns={"Gender": "a.b"}).assign(a=range(10)), {"qi": ["a.b", "Degree"]}),
    ],
    ids=["counts", "several sensitive attributes", "columns without a role"],
)
def test_roles(tmp_path, table, changes):
    """For any roles of columns, the partitions together are the release of the whole table."""
    release = mx.Release.from_parquet(write_files(table, tmp_path / "people", 2), **ROLES | changes, partitions=3)
    same_release(mx.Release.from_partitions(release), mx.Release.from_buckets(table, **ROLES | changes))
    assert release.n_records == (table["many"].sum() if "many" in table else 10)


def numbered(tmp_path: Path, first: object, second: object, n: int = 1) -> mx.PartitionedRelease:
    """Two files of people in wards of two, whose ages are of two types."""
    for name, ages in (("a", first), ("b", second)):
        wards = [f"{name}{i // 2}" for i in range(len(ages))]
        pd.DataFrame({"Age": ages, "Ward": wards, "Disease": "Flu"}).to_parquet(tmp_path / f"{name}.parquet")
    return mx.Release.from_parquet(tmp_path, qi="Age", sa="Disease", bucket="Ward", partitions=n)


@pytest.mark.parametrize(
    ("view", "first", "second"),
    [(pa.string_view(), ["x", "y"], ["x", "y"]), (pa.binary_view(), [b"x", b"y"], None)],
    ids=["texts", "bytes"],
)
def test_views(tmp_path, view, first, second):
    """Arrow's views of texts or of bytes are read like other texts and bytes, and texts beside them."""
    views = pd.Series(pa.array(first).cast(view), dtype=pd.ArrowDtype(view))
    release = numbered(tmp_path, views, views if second is None else second, n=4)
    assert release.quasi_identifiers.to_list() == [(value,) for value in first]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ([1, 2, 2, 3], ["1", "2", "2", "3"]),
        ([True, False, True, True], [1, 0, 1, 1]),
        ([2**53 + 1, 2**53, 1, 1], [2.0**53, 1.5, 1.0, 1.0]),
        (["x", "y"], pd.Categorical(["x", "y"], ["y", "x"], ordered=True)),
        (pd.Categorical(["x", "y"], ["x", "y"], ordered=True), pd.Categorical(["x", "y"], ["y", "x"], ordered=True)),
        (pd.to_datetime(["2020-01-01", "2020-01-02"]), ["2020-01-01", "2020-01-02"]),
    ],
)
def test_types_that_cannot_be_compared(tmp_path, first, second):
    """1 and "1" are an error, not two tuples, also if Dask does not convert objects."""
    for n in (1, 4):
        with refused(mx.TableError):
            numbered(tmp_path, first, second, n)
    with dask.config.set({"dataframe.convert-string": False}):
        for pair in ((first, second), ([1, "1"], [1, "1"])):
            with refused(mx.TableError):
                of_two(*pair)


def test_paths(tmp_path, monkeypatch):
    """A path without a Parquet file, or with one twice, is an error; hidden files and folders are not read."""
    write_files(HOSPITAL, tmp_path / "people")
    write_files(HOSPITAL, tmp_path / "people" / "_temporary")
    (tmp_path / "empty").mkdir()
    (tmp_path / "note.txt").write_text("a text")
    monkeypatch.chdir(tmp_path)
    assert mx.Release.from_parquet("p*", **ROLES).n_records == 10
    for path in ("nothing*", "empty", ["people/0.parquet", "people/../people/0.parquet"], [], 3, "note.txt"):
        with pytest.raises(mx.TableError):
            mx.Release.from_parquet(path, **ROLES)


@pytest.mark.parametrize(
    ("table", "change"),
    [
        (HOSPITAL, {"qi": ["Gendre"]}),
        (HOSPITAL, {"sa": "Gender"}),
        (HOSPITAL, {"bucket": "Ward"}),
        (HOSPITAL, {"qi": "s"}),
        (HOSPITAL, {"count": "Records"}),
        (HOSPITAL.assign(Degree=HOSPITAL["Degree"].where(HOSPITAL.index > 1)), {}),
        (HOSPITAL.assign(Bucket=HOSPITAL["Bucket"].where(HOSPITAL.index > 1)), {}),
        (HOSPITAL.assign(n=2), {}),
        (HOSPITAL.head(0), {}),
        (HOSPITAL.assign(many=0), {"count": "many"}),
    ],
)
def test_errors_are_those_of_a_table_in_memory(tmp_path, table, change):
    """An error of from_buckets is the same error for a file and for a Dask DataFrame."""
    roles = {**ROLES, **change}
    with pytest.raises(mx.MaxEntError) as expected:
        mx.Release.from_buckets(table, **roles)
    with refused(type(expected.value)):
        mx.Release.from_parquet(write_files(table, tmp_path / "people"), **roles)
    with refused(type(expected.value)):
        mx.Release.from_dask(dd.from_pandas(table, npartitions=1), **roles)


def test_wrong_tables(tmp_path):
    """A pandas DataFrame is not one of Dask, and pseudonyms are for releases in memory."""
    with refused(mx.TableError):
        mx.Release.from_dask(HOSPITAL, **ROLES)
    with refused(mx.StatementError):
        mx.Release.from_parquet(write_files(HOSPITAL, tmp_path / "people"), **ROLES, id="Name")
    with refused(mx.StatementError):
        mx.Release.from_partitions(HOSPITAL)


@given(table=microdata(OF_ONE_TYPE), n=st.integers(1, 7))
def test_random_dask_tables(table, n):
    """Values of every type, buckets anywhere in partitions, some of which are empty."""
    release = mx.Release.from_dask(of_pieces(*pieces(table, n)), qi=quasi(table), sa="S", bucket="K")
    assert all(pickle.dumps(make) for make in release.makers)
    same_release(mx.Release.from_partitions(release), publish(table))


def of_two(first: object, second: object):
    """Two Dask partitions of people in wards of their own, whose ages are of two types."""
    tables = [
        pd.DataFrame({"Age": ages, "Ward": [f"{name}{i}" for i in range(len(ages))], "Disease": "Flu"})
        for name, ages in (("a", first), ("b", second))
    ]
    return mx.Release.from_dask(of_pieces(*tables), qi="Age", sa="Disease", bucket="Ward")


def test_types_of_dask():
    """Categories are their values, intervals are in order, and a ward that is 1 here and 1.0 there is one bucket."""
    release = of_two(pd.Categorical(["x", "y"]), pd.Categorical(["z", "y"], ["z", "y"]))
    assert [age for (age,) in release.quasi_identifiers] == ["x", "y", "z"]
    assert release.n_q.tolist() == [1, 2, 1]
    cut = pd.cut(pd.Series([5, 25, 15, 25]), [0, 10, 20, 30])
    assert [age for (age,) in of_two(cut[:2], cut[2:]).quasi_identifiers] == sorted(set(cut))
    tables = [HOSPITAL.head(4).assign(Bucket=1), HOSPITAL.tail(6).assign(Bucket=1.0)]
    assert mx.Release.from_dask(of_pieces(*tables), **ROLES).n_buckets == 1
    with refused(mx.TableError):
        mx.Release.from_dask(of_pieces(tables[0], tables[1].assign(Bucket="1")), **ROLES)
    ages = pd.Categorical([40, 20], [40, 20], ordered=True)  # one ward in two pieces is shuffled through files
    ward = pd.DataFrame({"Age": ages, "Ward": 1, "Disease": "Flu"})
    roles = {"qi": "Age", "sa": "Disease", "bucket": "Ward"}
    with refused(mx.TableError):
        mx.Release.from_dask(of_pieces(ward, ward), **roles)
    whole, real = (ward.assign(Age=1, Ward=pd.interval_range(zero, periods=2)) for zero in (0, 0.0))
    with refused(mx.TableError):  # Arrow cannot unite them, although they are equal
        mx.Release.from_dask(of_pieces(whole, real), **roles)
    ward["Age"] = ward["Age"].cat.rename_categories(str)
    assert mx.Release.from_dask(of_pieces(ward, ward), **roles).quasi_identifiers.to_list() == [("40",), ("20",)]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (pd.to_datetime(["2024-05-01"]), pd.to_datetime(["2024-05-01 00:00", "2024-05-01 12:00"])),
        (pd.to_timedelta(["1D"]), pd.to_timedelta(["1D", "1D 00:00:00.5"])),
        (pd.Categorical(pd.to_datetime(["2024-05-01"])), pd.to_datetime(["2024-05-01 00:00", "2024-05-01 12:00"])),
        ([Decimal("1.0")], [Decimal("1.00"), Decimal("2.00")]),
    ],
    ids=["times", "durations", "categories", "decimals"],
)
def test_equal_buckets(first, second):
    """Two pieces share a bucket if its labels are equal, although they are written or stored differently."""
    tables = [pd.DataFrame({"Age": 1, "Ward": ward, "Disease": "Flu"}) for ward in (first, second)]
    with dask.config.set({"dataframe.convert-string": False}):  # of decimals
        assert mx.Release.from_dask(of_pieces(*tables), qi="Age", sa="Disease", bucket="Ward").n_buckets == 2


@pytest.fixture(scope="module")
def client() -> Iterator[object]:
    distributed = pytest.importorskip("distributed")
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": False, "dashboard_address": ":0"}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as dask_client:
        yield dask_client


def test_a_cluster_that_is_gone():
    """Partitions that its workers stored are an error without a client."""
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=1, processes=False, dashboard_address=":0") as cluster:
        with distributed.Client(cluster):
            release = mx.Release.from_dask(dd.from_pandas(HOSPITAL, npartitions=2), **ROLES)
        with refused(mx.StatementError):
            mx.Release.from_partitions(release)


def test_workers(client, tmp_path):
    """With a client the table is shuffled by Dask, and workers make the parts, also of files."""
    release = mx.Release.from_dask(dd.from_pandas(HOSPITAL, npartitions=2), **ROLES)
    assert sum(int(part.n_qb.sum()) for part in LocalExecutor(2).made(release.makers)) == 10
    HOSPITAL.to_parquet(tmp_path / "people.parquet")
    of_files = mx.Release.from_parquet(tmp_path, **ROLES, partitions=3)
    for one in (release, of_files):
        same_release(mx.Release.from_partitions(one), mx.Release.from_buckets(HOSPITAL, **ROLES))
    cut = pd.cut(pd.Series([5, 25, 15, 25]), [0, 10, 20, 30])
    table = pd.DataFrame({"Age": cut, "Ward": [1, 2, 1, 2], "Disease": "Flu"})
    with refused(mx.TableError):
        mx.Release.from_dask(dd.from_pandas(table, npartitions=2), qi="Age", sa="Disease", bucket="Ward")

"""With a client of Dask a table is shuffled and parts are made by its workers, threads or processes."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd
import pytest

import maxent_cvx as mx
from maxent_cvx._utils.parallel import LocalExecutor
from support.helpers import refused
from support.partitions import same_release

dask = pytest.importorskip("dask")
dd = pytest.importorskip("dask.dataframe")

HOSPITAL = mx.datasets.load_hospital()
ROLES = {"qi": ["Gender", "Degree"], "sa": "Disease", "bucket": "Bucket"}
ADULT = dd.from_pandas(mx.datasets.load_adult(), npartitions=3)
DEALT = {"qi": ["age", "sex"], "sa": "education", "l": 5, "exempt": 2}
#: Dealt before there is a client.
EXPECTED = mx.Release.from_partitions(mx.anonymize.anatomy(ADULT, **DEALT))


@pytest.fixture(params=[False, True], ids=["threads", "processes"], scope="module")
def client(request) -> Iterator[object]:
    distributed = pytest.importorskip("distributed")
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": request.param, "dashboard_address": ":0"}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as found:
        yield found


def test_workers_that_are_gone():
    """Parts that nobody holds any more are an error that says so."""
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=1, processes=False, dashboard_address=":0") as cluster:
        with distributed.Client(cluster):
            release = mx.Release.from_dask(dd.from_pandas(HOSPITAL, npartitions=2), **ROLES)
        with refused(mx.StatementError, "no client of it here any more"):
            mx.Release.from_partitions(release)


def test_workers(client):
    """With a client the table is shuffled by Dask, and parts are made by the workers."""
    table = dd.from_pandas(HOSPITAL, npartitions=2)
    release = mx.Release.from_dask(table, **ROLES)
    assert all(dask.is_dask_collection(make) for make in release.makers)
    same_release(mx.Release.from_partitions(release), mx.Release.from_buckets(HOSPITAL, **ROLES))


def test_parts_that_workers_hold(client):
    """What was shuffled is with the workers: threads here ask them for it, also where no client is named."""
    release = mx.Release.from_dask(dd.from_pandas(HOSPITAL, npartitions=2), **ROLES)
    parts = LocalExecutor(2).made(release.makers)
    assert sum(part.n_own for part in parts) == 10


def test_what_workers_cannot_shuffle(client):
    """Dask sends tables as Arrow does, which has no categories of intervals."""
    cut = pd.cut(pd.Series([5, 25, 15, 25]), [0, 10, 20, 30])
    table = pd.DataFrame({"Age": cut, "Ward": [1, 2, 1, 2], "Disease": "Flu"})
    with refused(mx.TableError, "Dask cannot shuffle the table by 'Ward'", ".astype(str)"):
        mx.Release.from_dask(dd.from_pandas(table, npartitions=2), qi="Age", sa="Disease", bucket="Ward")


def test_workers_read_temporary_files(client, tmp_path):
    """A release of files is made in this process, and its parts wherever the files can be seen."""
    HOSPITAL.to_parquet(tmp_path / "people.parquet")
    release = mx.Release.from_parquet(tmp_path, **ROLES, partitions=3)
    same_release(mx.Release.from_partitions(release), mx.Release.from_buckets(HOSPITAL, **ROLES))


def test_anatomy_by_workers(client):
    """Where buckets are dealt changes nothing of them."""
    same_release(mx.Release.from_partitions(mx.anonymize.anatomy(ADULT, **DEALT)), EXPECTED)

"""Anatomy by partition: buckets of l people of one partition, in which no value but the exempt ones occurs twice."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import maxent_cvx as mx

dask = pytest.importorskip("dask")
dd = pytest.importorskip("dask.dataframe")

ADULT = mx.datasets.load_adult()
ROLES = {"qi": ["age", "sex", "workclass"], "sa": "education"}


def published(table: pd.DataFrame, n: int, **options: object) -> mx.PartitionedRelease:
    return mx.anonymize.anatomy(dd.from_pandas(table, npartitions=n), **{**ROLES, "l": 5, "exempt": 2, **options})


@pytest.mark.parametrize("n", [1, 3, 7])
def test_promise(n):
    """Every bucket has l people or more, and no value twice but the two most frequent of the whole table."""
    release = mx.Release.from_partitions(published(ADULT, n))
    exempt = ADULT["education"].value_counts().index[:2]
    sizes = np.asarray(release.n_qb.sum(axis=0))
    assert sizes.min() >= 5
    assert sizes.sum() == len(ADULT)
    kept_apart = ~release.sensitive_values.isin(exempt)
    assert release.n_sb[np.flatnonzero(kept_apart)].max() == 1
    assert release.buckets.to_list() == list(range(1, len(release.buckets) + 1))
    whole = mx.Release.from_buckets(ADULT.assign(K=0), **ROLES, bucket="K")
    assert list(release.quasi_identifiers) == list(whole.quasi_identifiers)
    assert (release.n_q == whole.n_q).all()
    assert (release.n_s == whole.n_s).all()


def test_partitions_stay():
    """Each partition's people are in buckets of their own, as many as fit; the parts are those that were announced."""
    release = published(ADULT, 3)
    lengths = dd.from_pandas(ADULT, npartitions=3).map_partitions(len).compute().to_list()
    assert release.describe()["records"].to_list() == lengths
    assert release.describe()["buckets"].to_list() == [length // 5 for length in lengths]
    for maker, size in zip(release.makers, release.sizes, strict=True):
        part = maker.compute(scheduler="synchronous")
        assert (part.n_own, len(part.buckets), len(part.quasi_identifiers)) == size


def test_partitions_that_cannot_be_bucketized():
    """A partition that is too small, or too much alike, is refused; one without people is left out."""
    for parts, exempt in [
        ([ADULT.head(100), ADULT.head(0), ADULT.head(50), ADULT.head(3)], 16),
        ([ADULT, ADULT[ADULT["education"] == "Doctorate"]], 2),
        ([ADULT.head(0), ADULT.head(0)], 0),
    ]:
        with pytest.raises(mx.TableError):
            mx.anonymize.anatomy(_of(*parts), **ROLES, l=5, exempt=exempt)
    release = mx.anonymize.anatomy(_of(ADULT.head(100), ADULT.head(0)), **ROLES, l=5, exempt=3)
    assert release.n_partitions == 1


def _of(*tables: pd.DataFrame):
    return dd.from_delayed([dask.delayed(table) for table in tables], meta=tables[0].head(0))


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"l": 0}, mx.TableError),
        ({"exempt": -1}, mx.TableError),
        ({"seed": "x"}, mx.TableError),
        ({"qi": "wage"}, mx.UnknownName),
        ({"sa": "sex"}, mx.TableError),
    ],
)
def test_wrong_arguments(change, error):
    """They are refused with the errors of a table in memory; a column like counts, because each row is a person."""
    with pytest.raises(error):
        published(ADULT, 2, **change)
    with pytest.raises(mx.TableError):
        published(ADULT.assign(n=2), 2)

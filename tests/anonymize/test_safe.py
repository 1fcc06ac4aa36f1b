"""(c, k)-safety of what Anatomy and Mondrian publish: no k implications make anybody's value as likely as c."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import maxent_cvx as mx
from maxent_cvx import TableError
from maxent_cvx.anonymize.anatomy import SafeGroups
from maxent_cvx.worlds.worst_case import Safety

ROLES = {"qi": ["A", "B"], "sa": "S"}


def people(seed: int, n: int = 60) -> pd.DataFrame:
    """A random table."""
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "A": rng.integers(0, 50, n),
            "B": rng.integers(0, 9, n),
            "S": rng.choice(list("abcdefg"), n, p=rng.dirichlet([4] * 7)),
        }
    )


def disclosure(release: mx.Release, k: int, sensitive: object = None) -> float:
    """The worst that k implications can do."""
    return float(mx.attacks.worst_case(release, k, sensitive=sensitive)["disclosure"].item())


@pytest.mark.parametrize("seed", range(4))
def test_anatomy_takes_the_smallest_buckets_that_are_safe(seed: int) -> None:
    """They are safe, and of every smaller l from the given one on the buckets are not."""
    table, safe = people(seed), (0.55, 1 + seed % 2)
    frequent = table["S"].value_counts()
    exempt = int((frequent > 60 // 4).sum())
    sensitive = [value for value in frequent.index if value not in set(_exempt(table, exempt))]
    try:
        release = mx.anonymize.anatomy(table, **ROLES, l=2, exempt=exempt, safe=safe)
    except TableError:
        largest = 60 // frequent[sensitive].max()
        release = None
    else:
        largest = 60 // len(release.buckets)
        assert disclosure(release, safe[1], sensitive) < safe[0]
    for l in range(2, largest + (release is None)):
        smaller = mx.anonymize.anatomy(table, **ROLES, l=l, exempt=exempt)
        if release is None or len(smaller.buckets) > len(release.buckets):
            assert disclosure(smaller, safe[1], sensitive) >= safe[0]


def _exempt(table: pd.DataFrame, exempt: int) -> list[str]:
    """The most frequent values, of equally frequent ones the first."""
    return list(table["S"].value_counts().sort_index().sort_values(ascending=False, kind="stable").index[:exempt])


@pytest.mark.parametrize("seed", range(4))
def test_mondrian_is_safe_and_cuts_as_before_where_it_may(seed: int) -> None:
    """Its groups are safe together; where no cut does harm they are those of Mondrian without it."""
    table = people(seed)
    plain = mx.anonymize.mondrian(table, **ROLES, k=4)
    whole = disclosure(mx.Release.from_buckets(table.assign(Bucket=1), **ROLES, bucket="Bucket"), 1)
    for c in np.linspace(whole, 1, 4)[1:]:
        found = mx.anonymize.mondrian(table, **ROLES, k=4, safe=(float(c), 1))
        assert disclosure(found, 1) < c
        assert len(found.buckets) <= len(plain.buckets)
        assert np.asarray(found.n_sb.sum(axis=0)).min() >= 4
    lenient = disclosure(plain, 1)
    if lenient < 1:
        again = mx.anonymize.mondrian(table, **ROLES, k=4, safe=(float(np.nextafter(lenient, 1) + 1e-9), 1))
        assert again.buckets.equals(plain.buckets)


def disclosed(value: np.ndarray, groups: list[np.ndarray]) -> float:
    """The worst that an implication can do to a table in these groups."""
    number = np.repeat(np.arange(len(groups)), [len(records) for records in groups])
    table = pd.DataFrame({"A": 0, "S": value[np.concatenate(groups)], "Bucket": number})
    return disclosure(mx.Release.from_buckets(table, qi="A", sa="S", bucket="Bucket"), 1)


@pytest.mark.parametrize("seed", range(4))
def test_all_groups_are_judged_together(seed: int) -> None:
    """Whatever is cut and kept, all groups count, as the worst case of the table in groups says."""
    rng = np.random.default_rng(seed)
    shares = np.repeat([[0.7, 0.1, 0.1, 0.1], [0.25, 0.25, 0.25, 0.25]], 80, axis=0)  # cuts tell the two kinds apart
    value = (rng.random((160, 1)) > shares.cumsum(axis=1)).sum(axis=1).clip(max=3)
    groups, waiting, kept, elsewhere = SafeGroups(value, Safety(1.0, 1)), [np.arange(160)], [], 0
    while waiting:
        records = waiting.pop()
        middle = len(records) // 2
        halves, others = [records[:middle], records[middle:]], [*waiting, *kept]
        allowed = False
        if middle >= 8:
            elsewhere += disclosed(value, halves) < (expected := disclosed(value, [*halves, *others]))
            groups.safety = Safety(max(expected - 1e-9, 1e-9), 1)
            assert not groups.cut(halves)
            groups.safety = Safety(min(expected + 1e-9, 1.0), 1)
            allowed = groups.cut(halves)
            assert allowed == (expected < 1)
        if allowed:
            waiting += halves
        else:
            kept.append(records)
    assert elsewhere


def test_wrong_arguments() -> None:
    """What no l, and no group, can keep is refused; so is anything but a pair (c, k)."""
    table = people(0)
    with pytest.raises(TableError):
        mx.anonymize.anatomy(table, **ROLES, l=2, exempt=1, safe=(0.9, 6))
    for wrong in ((0.9, 6), 0.5, (0.5,), (1.5, 1), (0, 1), (0.5, -1)):
        with pytest.raises(TableError):
            mx.anonymize.mondrian_table(table, **ROLES, k=2, safe=wrong)
    dd = pytest.importorskip("dask.dataframe")
    with pytest.raises(TableError):
        mx.anonymize.anatomy(dd.from_pandas(table, npartitions=2), **ROLES, l=2, safe=(0.5, 1))

"""Anatomy (Xiao and Tao, 2006), in memory and in partitions, and (c, k)-safety of Anatomy and Mondrian."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import maxent_cvx as mx
from maxent_cvx import TableError, UnknownName
from maxent_cvx.anonymize.anatomy import SafeGroups, anatomy, anatomy_buckets
from maxent_cvx.worlds.worst_case import Safety

ROLES = {"qi": ["A"], "sa": "S"}


@st.composite
def people(draw: st.DrawFn) -> tuple[pd.DataFrame, int]:
    """Draw a table of 1 to 40 people with some frequent values, and an l that its size allows."""
    values = draw(st.lists(st.sampled_from("aaaaabbbccdefgh"), min_size=1, max_size=40))
    return pd.DataFrame({"A": np.arange(len(values)) % 3, "S": values}), draw(st.integers(1, min(6, len(values))))


def needed(frame: pd.DataFrame, l: int) -> int:
    """The number of values that are too frequent for one per bucket."""
    return int((frame["S"].value_counts() > len(frame) // l).sum())


@given(people(), st.integers(0, 2), st.integers(0, 10))
def test_buckets(drawn, more, seed):
    """There are floor(N/l) buckets of at least l records, and only the most frequent, exempt values occur twice."""
    frame, l = drawn
    exempt = needed(frame, l) + more
    bucket = anatomy_buckets(frame, **ROLES, l=l, exempt=exempt, seed=seed)
    assert bucket.name == "Bucket"
    assert sorted(bucket.unique()) == list(range(1, len(frame) // l + 1))
    sizes = bucket.value_counts()
    assert sizes.min() >= l
    assert sizes.sum() == len(frame)
    counts = frame["S"].value_counts()
    least = counts.iloc[min(exempt, len(counts)) - 1] if exempt else np.inf
    kept_apart = frame[frame["S"].map(counts) < least]
    repeats = kept_apart.groupby([bucket.loc[kept_apart.index], "S"]).size()
    assert (repeats == 1).all()
    ties = counts[counts == least].index  # of the values at the border as many repeat as are exempt
    twice = frame[frame["S"].isin(ties)].groupby([bucket, "S"]).size()
    assert twice[twice > 1].index.get_level_values("S").nunique() <= exempt - (counts > least).sum()
    release = anatomy(frame, **ROLES, l=l, exempt=exempt, seed=seed)
    expected = mx.Release.from_buckets(frame.assign(Bucket=bucket), **ROLES, bucket="Bucket")
    assert release.bucket == "Bucket"
    for name in ("n_qb", "n_sb"):
        assert np.array_equal(getattr(release, name).toarray(), getattr(expected, name).toarray())


def test_seeds_of_any_size():
    """A secret seed may have 128 bits, all of which matter."""
    frame = pd.DataFrame({"A": range(60), "S": list("abcdef") * 10})
    buckets = [anatomy_buckets(frame, **ROLES, l=3, seed=seed) for seed in (2**127, 2**127, 2**126, 0)]
    assert buckets[0].equals(buckets[1])
    assert not any(buckets[0].equals(other) for other in buckets[2:])
    for technique in (mx.sdc.Sampling(0.5, seed=2**127), mx.sdc.BinomialNoise(50, seed=2**127)):
        assert len(technique.publish(frame, "S"))


@given(people())
def test_eligibility(drawn):
    """A table with a value in more than 1/l of it is refused, unless the values that are too frequent are exempt."""
    frame, l = drawn
    k = needed(frame, l)
    for exempt in range(k):
        with pytest.raises(TableError, match=f"exempt the {k} "):
            anatomy_buckets(frame, **ROLES, l=l, exempt=exempt)
    assert len(anatomy_buckets(frame, **ROLES, l=l, exempt=k)) == len(frame)


def test_the_size_of_the_papers_experiment():
    """14,210 people of Adult, education, l = 5 but for two values: 2,842 buckets of five (section 7, footnote 3)."""
    adult = ADULT.head(14_210)
    roles = {"qi": list(mx.datasets.ADULT_QI), "sa": "education", "l": 5}
    bucket = anatomy_buckets(adult, **roles, exempt=2)
    assert bucket.value_counts().tolist() == [5] * 2842
    repeats = adult.groupby([bucket, "education"]).size()
    assert set(repeats[repeats > 1].index.get_level_values("education")) == {"HS-grad", "Some-college"}
    with pytest.raises(TableError, match="exempt the 2 "):
        anatomy_buckets(adult, **roles, exempt=1)


# -- in partitions -----------------------------------------------------------------------------------------------------

ADULT = mx.datasets.load_adult()


def dask_frame(table: pd.DataFrame, npartitions: int):
    return pytest.importorskip("dask.dataframe").from_pandas(table, npartitions=npartitions)


ADULT_ROLES = {"qi": ["age", "sex", "workclass"], "sa": "education"}


def in_partitions(table: pd.DataFrame, n: int, **options: object) -> mx.PartitionedRelease:
    return mx.anonymize.anatomy(dask_frame(table, npartitions=n), **{**ADULT_ROLES, "l": 5, "exempt": 2, **options})


def from_parts(*tables: pd.DataFrame):
    dask, dd = pytest.importorskip("dask"), pytest.importorskip("dask.dataframe")
    return dd.from_delayed([dask.delayed(table) for table in tables], meta=tables[0].head(0))


@pytest.mark.parametrize("n", [1, 3, 7])
def test_buckets_of_partitions(n):
    """Every bucket has at least l people, and only the two most frequent values of the whole table twice."""
    release = mx.Release.from_partitions(in_partitions(ADULT, n))
    exempt = ADULT["education"].value_counts().index[:2]
    sizes = np.asarray(release.n_qb.sum(axis=0))
    assert sizes.min() >= 5
    assert sizes.sum() == len(ADULT)
    kept_apart = ~release.sensitive_values.isin(exempt)
    assert release.n_sb[np.flatnonzero(kept_apart)].max() == 1
    assert release.buckets.to_list() == list(range(1, len(release.buckets) + 1))
    whole = mx.Release.from_buckets(ADULT.assign(K=0), **ADULT_ROLES, bucket="K")
    assert list(release.quasi_identifiers) == list(whole.quasi_identifiers)
    assert (release.n_q == whole.n_q).all()
    assert (release.n_s == whole.n_s).all()


def test_partitions_without_buckets():
    """A partition that is too small, or whose values are too frequent, is refused; an empty one is left out."""
    for parts, exempt in [
        ([ADULT.head(100), ADULT.head(0), ADULT.head(50), ADULT.head(3)], 16),
        ([ADULT, ADULT[ADULT["education"] == "Doctorate"]], 2),
        ([ADULT.head(0), ADULT.head(0)], 0),
    ]:
        with pytest.raises(mx.TableError):
            mx.anonymize.anatomy(from_parts(*parts), **ADULT_ROLES, l=5, exempt=exempt)
    release = mx.anonymize.anatomy(from_parts(ADULT.head(100), ADULT.head(0)), **ADULT_ROLES, l=5, exempt=3)
    assert release.n_partitions == 1


# -- safety ------------------------------------------------------------------------------------------------------------

TWO_QI = {"qi": ["A", "B"], "sa": "S"}


def random_people(seed: int, n: int = 60) -> pd.DataFrame:
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
    """The worst case of k implications."""
    return float(mx.attacks.worst_case(release, k, sensitive=sensitive)["disclosure"].item())


@pytest.mark.parametrize("seed", range(4))
def test_anatomy_takes_the_smallest_buckets_that_are_safe(seed: int) -> None:
    """The buckets are safe, and those of every smaller l from the given one on are not."""
    table, safe = random_people(seed), (0.55, 1 + seed % 2)
    frequent = table["S"].value_counts()
    exempt = int((frequent > 60 // 4).sum())
    sensitive = [value for value in frequent.index if value not in set(_exempt(table, exempt))]
    try:
        release = mx.anonymize.anatomy(table, **TWO_QI, l=2, exempt=exempt, safe=safe)
    except TableError:
        largest = 60 // frequent[sensitive].max()
        release = None
    else:
        largest = 60 // len(release.buckets)
        assert disclosure(release, safe[1], sensitive) < safe[0]
    for l in range(2, largest + (release is None)):
        smaller = mx.anonymize.anatomy(table, **TWO_QI, l=l, exempt=exempt)
        if release is None or len(smaller.buckets) > len(release.buckets):
            assert disclosure(smaller, safe[1], sensitive) >= safe[0]


def _exempt(table: pd.DataFrame, exempt: int) -> list[str]:
    """The most frequent values; of equally frequent ones, the first."""
    return list(table["S"].value_counts().sort_index().sort_values(ascending=False, kind="stable").index[:exempt])


@pytest.mark.parametrize("seed", range(4))
def test_mondrian_is_safe(seed: int) -> None:
    """All groups together are safe; if every cut is safe, they are those of Mondrian without safe."""
    table = random_people(seed)
    plain = mx.anonymize.mondrian(table, **TWO_QI, k=4)
    whole = disclosure(mx.Release.from_buckets(table.assign(Bucket=1), **TWO_QI, bucket="Bucket"), 1)
    for c in np.linspace(whole, 1, 4)[1:]:
        safe = mx.anonymize.mondrian(table, **TWO_QI, k=4, safe=(float(c), 1))
        assert disclosure(safe, 1) < c
        assert len(safe.buckets) <= len(plain.buckets)
        assert np.asarray(safe.n_sb.sum(axis=0)).min() >= 4
    lenient = disclosure(plain, 1)
    if lenient < 1:
        again = mx.anonymize.mondrian(table, **TWO_QI, k=4, safe=(float(np.nextafter(lenient, 1) + 1e-9), 1))
        assert again.buckets.equals(plain.buckets)


def test_floats_of_32_bits_are_in_the_cell_of_their_group() -> None:
    """As text too, the cell of a single value and the ends of an interval are the doubles that equal the values."""
    table = pd.DataFrame({"Dose": np.array([0.1, 0.2, 0.3, 0.3], "float32"), "S": list("xyxy")})
    texts = mx.anonymize.mondrian_table(table, qi="Dose", sa="S", k=2).astype(str)
    read = mx.Release.from_generalized(texts, qi="Dose", sa="S", population=table[["Dose"]])
    assert np.asarray(read.n_qb.sum(axis=0)).tolist() == [2, 2]


def disclosed(value: np.ndarray, groups: list[np.ndarray]) -> float:
    """The worst case of one implication for a table in these groups."""
    number = np.repeat(np.arange(len(groups)), [len(records) for records in groups])
    table = pd.DataFrame({"A": 0, "S": value[np.concatenate(groups)], "Bucket": number})
    return disclosure(mx.Release.from_buckets(table, qi="A", sa="S", bucket="Bucket"), 1)


@pytest.mark.parametrize("seed", range(4))
def test_all_groups_are_judged_together(seed: int) -> None:
    """A cut is allowed if the worst case of all groups after it is below c, whatever was cut before."""
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


# -- wrong arguments ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "change"),
    [
        (TableError, {"l": 0}),
        (TableError, {"exempt": -1}),
        (TableError, {"seed": "x"}),
        (UnknownName, {"qi": "wage"}),
        (TableError, {"sa": "sex"}),
    ],
)
@pytest.mark.parametrize(
    "publish", [lambda **options: anatomy(ADULT, **options), lambda **o: in_partitions(ADULT, 2, **o)]
)
def test_wrong_arguments(publish, error, change):
    """A table in memory and one in partitions are refused with the same errors."""
    with pytest.raises(error):
        publish(**{**ADULT_ROLES, "l": 5, "exempt": 2, **change})


def test_wrong_tables():
    """A bucket cannot have more people than the table, and each row is a person, not a count."""
    with pytest.raises(TableError):
        anatomy(ADULT.head(4), **ADULT_ROLES, l=5)
    with pytest.raises(TableError):
        in_partitions(ADULT.assign(n=2), 2)


def test_wrong_safety():
    """Safe is a pair (c, k) that some buckets or groups satisfy, of a table in memory."""
    table = random_people(0)
    with pytest.raises(TableError):
        anatomy(table, **TWO_QI, l=2, exempt=1, safe=(0.9, 6))
    for wrong in ((0.9, 6), 0.5, (1.5, 1), (0, 1), (0.5, -1)):
        with pytest.raises(TableError):
            mx.anonymize.mondrian_table(table, **TWO_QI, k=2, safe=wrong)
    with pytest.raises(TableError):
        anatomy(dask_frame(table, npartitions=2), **TWO_QI, l=2, safe=(0.5, 1))

"""Releases without pseudonyms: all worlds for one person in all of them, maximum entropy for a known overlap."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import combinations, permutations, product

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest

import maxent_cvx as mx

VALUES = list("xyz")
PI = {"x": 0.5, "y": 0.3, "z": 0.2}


def records(rng: np.random.Generator, n: int = 4) -> pd.DataFrame:
    """A few people of two QI tuples, in buckets of two or so."""
    return pd.DataFrame({"Q": rng.choice(list("ab"), n), "S": rng.choice(VALUES, n), "B": rng.integers(0, 2, n)})


def release(table: pd.DataFrame) -> mx.Release:
    return mx.Release.from_buckets(table, qi="Q", sa="S", bucket="B")


def dealings(table: pd.DataFrame) -> list[tuple[str, ...]]:
    """Every assignment of the values of buckets to their records."""
    every = []
    for _, part in table.groupby("B"):
        every.append([dict(zip(part.index, dealt, strict=True)) for dealt in set(permutations(part["S"]))])
    return [tuple({k: v for one in world for k, v in one.items()}[i] for i in table.index) for world in product(*every)]


def worlds(
    tables: list[pd.DataFrame], number: int, pi: dict[str, float]
) -> Iterator[tuple[float, list[tuple[str, str]]]]:
    """Every world in which a number of people are in all tables: its weight, and their QI and values."""
    dealt = [dealings(table) for table in tables]
    for world in product(*dealt):
        matches = [
            places
            for places in product(*(table.index for table in tables))
            if len({(table["Q"][i], values[i]) for table, values, i in zip(tables, world, places, strict=True)}) == 1
        ]
        for chosen in combinations(matches, number):
            if all(len(set(places)) == number for places in zip(*chosen, strict=True)):
                people = [(tables[0]["Q"][one[0]], world[0][one[0]]) for one in chosen]
                yield float(np.prod([pi[s] ** (1 - len(tables)) for _, s in people])), people


def enumerated(tables: list[pd.DataFrame], number: int, pi: dict[str, float] = PI) -> pd.DataFrame:
    """P(s | q, in all), from all worlds."""
    result: Counter[tuple[str, str]] = Counter()
    for weight, people in worlds(tables, number, pi):
        for one in people:
            result[one] += weight
    table = pd.Series(result, dtype=float).unstack(fill_value=0.0).reindex(columns=VALUES, fill_value=0.0)
    return table.div(table.sum(axis=1), axis=0)


def some_tables(seed: int, how_many: int = 2, n: int = 4) -> list[pd.DataFrame] | None:
    """Random tables that may have a person in common."""
    rng = np.random.default_rng(seed)
    tables = [records(rng, n) for _ in range(how_many)]
    return tables if any(True for _ in worlds(tables, 1, PI)) else None


@pytest.mark.parametrize("how_many", [2, 3])
def test_one_person_in_all_releases_is_judged_as_by_all_possible_worlds(how_many: int) -> None:
    """overlap=None equals enumeration, for two releases and for three; QI tuples that nobody can have are named."""
    checked = 0
    for seed in range(20 if how_many == 2 else 10):
        if (tables := some_tables(seed, how_many, 6 - how_many)) is None:
            continue
        result = mx.attacks.intersection([release(table) for table in tables], prior=PI)
        exact = enumerated(tables, 1)
        assert list(result.table.index) == list(exact.index)
        np.testing.assert_allclose(result.table.reindex(columns=VALUES, fill_value=0.0), exact, atol=1e-12)
        common = set.intersection(*(set(table["Q"]) for table in tables))
        assert {q for (q,) in result.impossible} == common - set(exact.index)
        high = result.bounds["high"].unstack(fill_value=0.0).reindex(columns=VALUES, fill_value=0.0)
        assert ((high > 0).to_numpy() == (exact > 0).to_numpy()).all()
        checked += 1
    assert checked >= (12 if how_many == 2 else 5)


def by_cvxpy(
    tables: list[pd.DataFrame], people: dict[object, int] | int, pi: dict[object, dict[str, float]] | None = None
) -> pd.DataFrame:
    """The maximum-entropy answer over single records: x(q, i, j, s) in both tables, x(i, s) in one; Q may be sets."""
    pi = {"a": PI, "b": PI} if pi is None else pi
    cells = [
        (q, i, j, s)
        for q in pi
        for i, j, s in product(*(table.index for table in tables), VALUES)
        if q in tables[0]["Q"][i]
        and q in tables[1]["Q"][j]
        and all(s in set(t["S"][t["B"] == t["B"][k]]) for t, k in zip(tables, (i, j), strict=True))
    ]
    both = cp.Variable(len(cells), nonneg=True)
    alone = [cp.Variable((len(t), 3), nonneg=True) for t in tables]
    rows = []
    for side, (table, x) in enumerate(zip(tables, alone, strict=True)):
        of = [np.array([cell[1 + side] == i for cell in cells], dtype=float) for i in table.index]
        rows += [of[i] @ both + cp.sum(x[i]) == 1 for i in table.index]
        for b, s in product(set(table["B"]), VALUES):
            inside = table.index[table["B"] == b]
            mask = np.array([cell[1 + side] in set(inside) and cell[3] == s for cell in cells], dtype=float)
            held = int((table["S"][inside] == s).sum())
            rows.append(mask @ both + cp.sum(x[list(inside), VALUES.index(s)]) == held)
    wanted = {"": people} if isinstance(people, int) else people
    for q, n in wanted.items():
        rows.append(np.array([q in ("", cell[0]) for cell in cells], dtype=float) @ both == n)
    entropy = cp.sum(cp.entr(both)) - np.log([pi[cell[0]][cell[3]] for cell in cells]) @ both
    program = cp.Problem(cp.Maximize(entropy + sum(cp.sum(cp.entr(x)) for x in alone)), rows)
    program.solve(solver="CLARABEL")
    assert program.status == "optimal"
    result = pd.Series(both.value, pd.MultiIndex.from_tuples([(c[0], c[3]) for c in cells])).groupby(level=[0, 1]).sum()
    table = result.unstack(fill_value=0.0).reindex(columns=VALUES, fill_value=0.0)
    return table.div(table.sum(axis=1), axis=0)


def overlapping(seed: int, n: int, number: int) -> tuple[list[pd.DataFrame], pd.DataFrame]:
    """Two tables with the same first people in different buckets, and these people."""
    rng = np.random.default_rng(seed)
    people = records(rng, 2 * n - number)
    tables = [people.iloc[:n], people.iloc[[*range(number), *range(n, 2 * n - number)]]]
    return [t.reset_index(drop=True).assign(B=rng.permutation(n) % 2) for t in tables], people.iloc[:number]


def test_a_known_overlap_has_the_maximum_entropy_answer() -> None:
    """For a number of people, a table of them or everybody, the answer is that of CVXPY over single records."""
    for seed in range(4):
        tables, people = overlapping(seed, 6, 3)
        releases = [release(table) for table in tables]
        who = people["Q"].value_counts().to_dict()
        for overlap, number in ((3, 3), (people[["Q"]], who)):
            result = mx.attacks.intersection(releases, overlap, prior=PI)
            expected = by_cvxpy(tables, number).loc[result.table.index]
            np.testing.assert_allclose(result.table.reindex(columns=VALUES, fill_value=0.0), expected, atol=2e-4)
            assert result.error < 1e-6
    tables, people = overlapping(1, 4, 4)
    result = mx.attacks.intersection([release(table) for table in tables], "everybody", prior=PI)
    assert "of 4 records in all releases" in result.sentence
    at_least = mx.attacks.intersection([release(table) for table in tables], 1, prior=PI)
    assert "that may be in all releases" in at_least.sentence  # a number says who may be in both, not who is
    assert result.records.to_dict() == people["Q"].value_counts().to_dict()
    same = mx.attacks.intersection([release(table) for table in tables], people[["Q"]], prior=PI)
    pd.testing.assert_frame_equal(result.table, same.table)


def test_a_known_overlap_is_near_to_all_worlds_and_inside_its_bounds() -> None:
    """The share in every world is within the bounds; P differs from that of all worlds by at most 0.1 on average."""
    distances = []
    for seed in range(12):
        tables, people = overlapping(seed, 4, 2)
        result = mx.attacks.intersection([release(table) for table in tables], people[["Q"]], prior=PI)
        n = people["Q"].value_counts().to_dict()
        shares: Counter[tuple[str, str]] = Counter()
        total = 0.0
        for weight, results in worlds(tables, 2, PI):
            if Counter(q for q, _ in results) == Counter(n):
                total += weight
                for (q, s), k in Counter(results).items():
                    shares[q, s] += weight * k / n[q]
                    assert result.bounds["low"][q, s] <= k / n[q] <= result.bounds["high"][q, s]
                for q, s in result.bounds.index[result.bounds["low"] > 0]:
                    assert (q, s) in results
        for q, s in shares:
            distances.append(abs(shares[q, s] / total - result.table.loc[q, s]))
    assert np.mean(distances) < 0.1


@pytest.mark.parametrize("size", [40, 60])
def test_generalised_releases_are_linked_by_a_population(size: int) -> None:
    """Everybody whom a group of Mondrian covers may have its values, as in a bucket, also if all are in the release."""
    rng = np.random.default_rng(3)
    people = pd.DataFrame({"Age": rng.integers(20, 60, 60), "S": rng.choice(VALUES, 60)})
    parts = [people.iloc[:size], people.iloc[-size:]]
    made = [mx.anonymize.mondrian_table(part, qi="Age", sa="S", k=4) for part in parts]
    releases = [mx.Release.from_generalized(table, qi="Age", sa="S", population=people[["Age"]]) for table in made]
    for prior in (PI, None):
        result = mx.attacks.intersection(releases, prior=prior)
        for age, row in result.table.iterrows():
            covers = [[age in c if isinstance(c, pd.Interval) else age == c for c in table["Age"]] for table in made]
            values = [table["S"][held] for table, held in zip(made, covers, strict=True)]
            weight = 1 / (pd.Series(PI) if prior else pd.concat(values).value_counts(normalize=True))
            for some in values:
                weight = weight * some.value_counts(normalize=True)
            expected = weight.fillna(0.0) / weight.sum()
            np.testing.assert_allclose(row, expected.reindex(VALUES, fill_value=0.0), atol=1e-12)


def test_generalised_releases_of_known_people_have_the_maximum_entropy_answer() -> None:
    """The answer is that of CVXPY over single records, with a prior from the groups that cover a person."""
    rng = np.random.default_rng(7)
    people = pd.DataFrame({"Age": np.arange(20, 30), "S": rng.choice(VALUES, 10)})
    parts = [people.iloc[:7], people.iloc[4:]]
    made = [mx.anonymize.mondrian_table(part, qi="Age", sa="S", k=2) for part in parts]
    releases = [mx.Release.from_generalized(one, qi="Age", sa="S", population=people[["Age"]]) for one in made]
    result = mx.attacks.intersection(releases, people.iloc[4:7][["Age"]])
    tables = [t.reset_index(drop=True).rename(columns={"Age": "Q"}).assign(B=lambda t: t["Q"].map(str)) for t in made]
    both = people.iloc[4:7]["Age"].tolist()
    pi = {
        age: pd.concat([t["S"][[age in q for q in t["Q"]]] for t in tables]).value_counts(normalize=True)
        for age in both
    }
    expected = by_cvxpy(tables, dict.fromkeys(both, 1), {age: dict(one) for age, one in pi.items()})
    np.testing.assert_allclose(result.table.reindex(columns=VALUES, fill_value=0.0), expected, atol=2e-4)
    assert result.records.tolist() == [1, 1, 1]


@pytest.mark.parametrize("overlap", [None, pd.DataFrame({"Age": [21]})])
def test_people_who_are_needed_in_one_group_are_not_in_an_overlapping_one(overlap: pd.DataFrame | None) -> None:
    """Only people of 21 and 24 can have the records of twenties, so that the suppressed record is of 45."""
    table = pd.DataFrame({"Age": ["20-29", "20-29", "*"], "S": list("xyz")})
    voters = pd.DataFrame({"Age": [21, 24, 45]})
    one = mx.Release.from_generalized(table, qi="Age", sa="S", population=voters)
    result = mx.attacks.intersection([one, one], overlap)
    for answer in (result.table, result.baseline):
        np.testing.assert_allclose(answer.loc[21], [0.5, 0.5, 0.0], atol=1e-6)
    assert result.bounds.loc[21].to_dict("list") == {"low": [0.0, 0.0], "high": [1.0, 1.0]}
    assert result.error < 1e-6


def test_wrong_arguments() -> None:
    """The overlap is a possible number or table of people, and the releases can be linked."""
    tables, people = overlapping(0, 6, 3)
    releases = [release(table) for table in tables]
    generalized = mx.anonymize.mondrian(people.assign(Q=[1, 2, 3]), qi="Q", sa="S", k=1)
    one = pd.DataFrame({"Q": ["a"], "S": ["x"], "B": [1]})
    contradictory = [release(one.assign(S=s)) for s in "xy"]
    with pytest.raises(mx.TableError, match="labels of 'Q' have different types"):
        mx.attacks.intersection([release(one.assign(Q=1))] * 2, pd.DataFrame({"Q": ["1"]}))
    for error, published, options in [
        *((mx.StatementError, releases, {"overlap": wrong}) for wrong in ("nobody", 0, (3, 2), (1, 2, 3), 7)),
        (mx.TableError, releases, {"overlap": pd.DataFrame({"Q": ["a", "a", "c", "b"]})}),
        (mx.StatementError, [*releases, releases[0]], {"overlap": 3}),
        (mx.UnknownName, releases, {"prior": {"x": 1.0}}),
        (mx.TableError, [generalized, generalized], {}),
        *((mx.TableError, [release(one.assign(**{name: label})) for label in (1, "1")], {}) for name in "QS"),
        (mx.Infeasible, contradictory, {}),
        (mx.Infeasible, [release(one.assign(Q=q)) for q in "ab"], {}),
        (mx.Infeasible, contradictory, {"overlap": pd.DataFrame({"Q": ["a"]})}),
    ]:
        with pytest.raises(error):
            mx.attacks.intersection(published, **options)

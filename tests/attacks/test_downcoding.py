"""Downcoding: what is inferred of exact QI is what the tables say of which the algorithm makes the release."""

from __future__ import annotations

import importlib
import itertools
import math
from functools import partial

import numpy as np
import pandas as pd
import pytest

import maxent_cvx as mx
from maxent_cvx.attacks.minimality import Cells, Column, McmcSampler, Minimal, downcoding

#: The module itself: the package has a function of that name.
MODULE = importlib.import_module("maxent_cvx.attacks.minimality")

QI = ["A", "B"]
Mondrian = partial[mx.Release]


def random_case(seed: int) -> tuple[mx.Release, Mondrian, dict[str, object], set[str]]:
    """Four to seven random people, Mondrian for 1 to 3, and a domain with values that nobody has."""
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(4, 8)), int(rng.integers(1, 4))
    people = pd.DataFrame({"A": rng.integers(0, 4, n), "B": rng.choice(list("uvw")[: rng.integers(1, 4)], n), "S": "x"})
    algorithm = partial(mx.anonymize.mondrian, qi=QI, sa="S", k=k)
    letters = sorted(people["B"].unique())
    weight = pd.Series(rng.random(6) + 0.1, index=range(-1, 5))
    domain = {"A": weight, "B": pd.Series(1.0 + np.arange(len(letters)), index=letters)}
    return algorithm(people), algorithm, domain, set(letters)


def same_as_every_table(seeds: range, most: int) -> tuple[int, int]:
    """How many cases were compared, and in how many of them the algorithm told something."""
    compared = told = 0
    for seed in seeds:
        release, algorithm, domain, letters = random_case(seed)

        def known(table: pd.DataFrame, run: Mondrian = algorithm, letters: set[str] = letters) -> mx.Release:
            if set(table["B"]) != letters:
                raise mx.TableError("another codebook")
            return run(table)

        if McmcSampler(Cells.of(release, domain, {}), known).n_tables > most:
            continue
        for of in QI:
            counted = downcoding(release, algorithm, of=of, domain=domain)
            asked = downcoding(release, known, of=of, domain=domain)
            pd.testing.assert_frame_equal(counted.table, asked.table, rtol=0, atol=1e-9)
            pd.testing.assert_frame_equal(counted.baseline, asked.baseline)
            assert counted.error == asked.error == 0
            compared += 1
            told += bool((counted.table - counted.baseline).abs().max(axis=None) > 1e-6)
    return compared, told


def test_counting_is_asking_mondrian_of_every_table() -> None:
    """P(exact value | group), of every table over a small domain whose records are in the published cells."""
    compared, told = same_as_every_table(range(25), most=40)
    assert compared > 10
    assert told > 5


@pytest.mark.slow
def test_counting_is_asking_mondrian_of_every_table_many() -> None:
    """The same of more than a hundred, with up to a hundred tables each."""
    compared, told = same_as_every_table(range(100, 400), most=100)
    assert compared > 100
    assert told > 50


def test_a_column_is_the_multinomial_distribution_on_its_conditions() -> None:
    """Weights and expected counts of a column, with a heavy value and without, from all ways to fill it."""
    p, n = np.array([0.1, 0.4, 0.0, 0.3, 0.2]), 6
    for least, heavy in (([1, 0, 0, 0, 1], None), ([0, 0, 0, 0, 0], 2), ([1, 0, 0, 0, 1], 3)):
        column = Column(n, p, np.array(least), np.full(5, 5), heavy)
        law = column.law([2, 4])
        found: dict[tuple[int, ...], tuple[float, np.ndarray]] = {}
        for below, weight, expected in zip(law.below, law.weight, law.expected, strict=True):
            total, held = found.get(tuple(below), (0.0, np.zeros(5)))
            found[tuple(below)] = total + weight, held + weight * expected
        wanted: dict[tuple[int, ...], tuple[float, np.ndarray]] = {}
        for count in itertools.product(range(n + 1), repeat=5):
            h = np.array(count)
            up = np.cumsum(h)
            is_heavy = heavy is None or any(up[v] - h[v] < heavy and n - up[v] < heavy for v in range(5))
            if h.sum() != n or (h < least).any() or (h > 5).any() or not is_heavy:
                continue
            weight = math.factorial(n) * float(np.prod(p**h / [math.factorial(one) for one in count]))
            key = (int(up[1]), int(up[3]))
            total, held = wanted.get(key, (0.0, np.zeros(5)))
            wanted[key] = total + weight, held + weight * h
        wanted = {key: one for key, one in wanted.items() if one[0] > 0}
        assert found.keys() == wanted.keys()
        for key, (total, held) in wanted.items():
            assert found[key][0] == pytest.approx(total)
            assert found[key][1] == pytest.approx(held)


def test_splitting_and_sampling_agree_with_counting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the sum over all tables is too much work, conditions are split into their alternatives: the same answer.

    Where that is not allowed either, some conditions decide which sampled tables are kept.
    """
    split = sampled = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        people = pd.DataFrame({"A": rng.integers(0, 6, 30), "B": rng.integers(0, 6, 30), "S": "x"})
        algorithm = partial(mx.anonymize.mondrian, qi=QI, sa="S", k=3)
        release = algorithm(people)
        exact = downcoding(release, algorithm, of="A")
        assert exact.error == 0
        for splits in (MODULE.MOST_SPLITS, 0):
            with monkeypatch.context() as patch:
                patch.setattr(MODULE, "MOST_STEPS", 100)
                patch.setattr(MODULE, "MOST_SPLITS", splits)
                try:
                    found = downcoding(release, algorithm, of="A")
                except mx.Inaccurate:
                    continue
            if isinstance(found.error, float):
                pd.testing.assert_frame_equal(found.table, exact.table, rtol=0, atol=1e-9)
                split += splits > 0
                split -= splits == 0
                continue
            sampled += splits == 0
            held = found.error > 0
            assert ((found.table - exact.table)[held] / found.error[held]).abs().max(axis=None) < 6
    assert split > 0  # more are exact with splitting than without
    assert sampled > 1


def tree() -> dict[str, dict[str, list[str]]]:
    """A hierarchy of two levels, one side of which is larger, and one of one level."""
    return {"Z": {"*": ["1*", "2*"], "1*": ["11", "12", "13"], "2*": ["21", "22"]}, "X": {"any": ["m", "w"]}}


def refined(cell: tuple[str, ...], nodes: list[dict[str, frozenset[str]]]) -> list[tuple[str, ...]]:
    """All cells inside a cell, itself included."""
    below = [
        [one for one in tree_of if tree_of[one] <= tree_of[node]] for node, tree_of in zip(cell, nodes, strict=True)
    ]
    return list(itertools.product(*below))


def is_minimal(table: tuple[tuple[str, str], ...], cell: tuple[str, str], k: int) -> bool:
    """Whether no other generalisation of a group's records inside its cell leaves k of each kind, by trying all."""
    nodes = []
    for name, values in (("Z", ["11", "12", "13", "21", "22"]), ("X", ["m", "w"])):
        inner = tree()[name]
        leaves = {value: frozenset([value]) for value in values}
        for node in ("1*", "2*", "*", "any"):
            if node in inner:
                leaves[node] = frozenset().union(*(leaves[one] for one in inner[node]))
        nodes.append(leaves)
    options = [
        [
            one
            for one in refined(cell, nodes)
            if all(v in tree_of[node] for v, node, tree_of in zip(record, one, nodes, strict=True))
        ]
        for record in table
    ]
    for choice in itertools.product(*options):
        if any(one != cell for one in choice) and min(choice.count(one) for one in choice) >= k:
            return False
    return True


@pytest.mark.parametrize(
    ("n", "k", "cell"), [(3, 2, ("*", "any")), (3, 2, ("1*", "any")), (3, 3, ("*", "w")), (6, 3, ("1*", "w"))]
)
def test_a_minimal_release_tells_what_trying_all_refinements_tells(n: int, k: int, cell: tuple[str, str]) -> None:
    """Of all tables of a group those of which no refinement has k records each, weighed by the domain."""
    prior = {
        "Z": pd.Series([5.0, 1, 1, 2, 1], index=["11", "12", "13", "21", "22"]),
        "X": pd.Series({"m": 3.0, "w": 1.0}),
    }
    table = pd.DataFrame({"Z": [cell[0]] * n, "X": [cell[1]] * n, "S": ["x"] * n})
    release = mx.Release.from_generalized(table, qi=["Z", "X"], sa="S", hierarchies=tree())
    assert isinstance(release, mx.Release)
    inside = {"*": list(prior["Z"].index), "1*": ["11", "12", "13"]}[cell[0]], ["m", "w"] if cell[1] == "any" else ["w"]
    total, held = 0.0, {"Z": dict.fromkeys(prior["Z"].index, 0.0), "X": {"m": 0.0, "w": 0.0}}
    for records in itertools.product(itertools.product(*inside), repeat=n):
        if is_minimal(records, cell, k):
            weight = float(np.prod([prior["Z"][z] * prior["X"][x] for z, x in records]))
            total += weight
            for z, x in records:
                held["Z"][z] += weight / n
                held["X"][x] += weight / n
    for of in ("Z", "X"):
        found = downcoding(release, Minimal(k), of=of, domain=prior, hierarchies=tree())
        assert found.error == 0
        assert found.table.iloc[0].to_dict() == pytest.approx({value: one / total for value, one in held[of].items()})


def test_a_rare_child_is_found_by_minimality_and_equal_children_are_not() -> None:
    """Not all five are below the frequent child: the rare one is likelier; of two that are alike nothing is learnt."""
    nodes = {"Z": {"*": ["a", "b"]}}
    release = mx.Release.from_generalized(
        pd.DataFrame({"Z": ["*"] * 5, "S": list("xyxyx")}), qi="Z", sa="S", hierarchies=nodes
    )
    assert isinstance(release, mx.Release)
    result = downcoding(release, Minimal(3), hierarchies=nodes, domain={"Z": pd.Series({"a": 0.9, "b": 0.1})})
    all_a, all_b = 0.9**5, 0.1**5
    assert result.table["b"].to_numpy() == pytest.approx((0.1 - all_b) / (1 - all_a - all_b))
    alike = downcoding(release, Minimal(3), hierarchies=nodes)
    pd.testing.assert_frame_equal(alike.table, alike.baseline)
    with pytest.raises(mx.Infeasible, match="can be refined"):
        downcoding(release, Minimal(1), hierarchies=nodes)


def adult_by_mondrian() -> tuple[pd.DataFrame, mx.Release, Mondrian, dict[str, object]]:
    """People of Adult in groups of five."""
    adult = mx.datasets.load_adult().sample(1_500, random_state=0)
    qi = ["age", "education-num", "sex"]
    algorithm = partial(mx.anonymize.mondrian, qi=qi, sa="salary", k=5)
    return adult, algorithm(adult), algorithm, {"sex": ["Female", "Male"]}


def test_mondrian_gives_away_exact_ages() -> None:
    """More right guesses than the cells alone allow, by many standard errors; calibrated if ages are as assumed."""
    adult, release, algorithm, domain = adult_by_mondrian()
    found = downcoding(release, algorithm, of="age", domain=domain).judge(adult)
    assert found.right - found.baseline > 4 * found.standard_error


def test_values_dealt_anew_are_not_found() -> None:
    """Exact values drawn at random inside the published cells, whatever the algorithm would have done: nothing."""
    adult, release, algorithm, domain = adult_by_mondrian()
    result = downcoding(release, algorithm, of="age", domain=domain)
    rng = np.random.default_rng(1)
    group = result._groups(adult[list(release.qi)])
    drawn = adult.assign(Group=group.to_numpy())
    cells = result.cells["age"]
    drawn["age"] = [rng.choice(cells.columns[cells.loc[one]]) for one in drawn["Group"]]
    found = result.judge(drawn)
    assert abs(found.right - found.baseline) < 3 * found.standard_error


def by_tens(table: pd.DataFrame) -> mx.Release:
    """Publish ages in tens, whatever they are."""
    low = table["A"] // 10 * 10
    cells = [pd.Interval(one, one + 9, closed="both") for one in low]
    found = mx.Release.from_generalized(table.assign(A=cells), qi="A", sa="S")
    assert isinstance(found, mx.Release)
    return found


def test_cells_that_do_not_depend_on_the_data_tell_nothing() -> None:
    """Tens of years, asked of every table."""
    release = by_tens(pd.DataFrame({"A": [21, 38], "S": list("xy")}))
    asked = downcoding(release, by_tens, domain={"A": range(20, 40)})
    pd.testing.assert_frame_equal(asked.table, asked.baseline, rtol=0, atol=1e-12)


def test_chains_agree_with_counting() -> None:
    """Of Mondrian, its condition asked as a function that is not recognised, within some standard errors."""
    algorithm = partial(mx.anonymize.mondrian, qi="A", sa="S", k=2)
    release = algorithm(pd.DataFrame({"A": [20, 20, 20, 24], "S": list("xyxy")}))
    other = algorithm(pd.DataFrame({"A": [20, 20, 24, 24], "S": list("xyxy")}))

    def faster(table: pd.DataFrame) -> mx.Release:
        first, second, third, fourth = sorted(table["A"])
        return release if (first, fourth) == (20, 24) and second == third else other

    exact = downcoding(release, algorithm)
    assert (exact.table - exact.baseline).abs().max(axis=None) > 0.05
    found = downcoding(release, faster, limit=1, n=6_000)
    assert isinstance(found.error, pd.DataFrame)
    assert 0 < found.error.max(axis=None) < 0.1
    assert ((found.table - exact.table) / found.error).abs().max(axis=None) < 5


def test_what_cannot_be() -> None:
    """Exact QI, unknown values, a k that cannot be, trees that are none, and records of nobody."""
    people = pd.DataFrame({"A": [1, 1, 2, 4, 4, 4], "B": list("uvwuvw"), "S": list("xyxyxy")})
    algorithm = partial(mx.anonymize.mondrian, qi=QI, sa="S", k=3)
    release = algorithm(people)
    domain = {"B": list("uvw")}
    with pytest.raises(mx.StatementError, match="of which attribute"):
        downcoding(release, algorithm)
    with pytest.raises(mx.UnknownName, match="'C'"):
        downcoding(release, algorithm, of="C")
    with pytest.raises(mx.StatementError, match=r"domain=\{'B'"):
        downcoding(release, algorithm, of="A")
    with pytest.raises(mx.StatementError, match="positive numbers"):
        downcoding(release, algorithm, of="A", domain={"B": pd.Series({"u": 1.0, "v": 0.0})})
    with pytest.raises(mx.Infeasible, match="of no table"):
        downcoding(release, partial(mx.anonymize.mondrian, qi=QI, sa="S", k=5), of="A", domain=domain)
    with pytest.raises(mx.StatementError, match="exact QI"):
        downcoding(mx.Release.from_buckets(people.assign(G=1), qi=QI, sa="S", bucket="G"), algorithm, of="A")
    with pytest.raises(mx.StatementError, match="pass one of 'A'"):
        downcoding(release, Minimal(3), of="A", domain=domain)
    with pytest.raises(mx.TableError, match="overlap"):
        downcoding(
            mx.Release.from_generalized(people, qi="B", sa="S"),
            Minimal(1),
            hierarchies={"B": {"1": ["u", "v"], "2": ["v", "w"]}},
        )
    with pytest.raises(mx.TableError, match="in no group or in several"):
        downcoding(release, algorithm, of="A", domain=domain).judge(people.assign(A=99))

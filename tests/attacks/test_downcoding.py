"""Downcoding: what is inferred of exact QI is what the tables say from which the algorithm makes the release."""

from __future__ import annotations

import itertools
from functools import partial

import numpy as np
import pandas as pd
import pytest

import maxent_cvx as mx
from maxent_cvx.attacks.minimality import Minimal, downcoding

QI = ["A", "B"]
#: A hierarchy of two values.
NODES = {"Z": {"*": ["a", "b"]}}


def test_posterior_is_that_of_the_tables_that_give_the_release() -> None:
    """Mondrian of three or four people, P(exact value | group, sensitive value) from a list of all tables."""
    told = 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        n, letters = ((3, "uv"), (4, "u"))[seed % 2]
        people = pd.DataFrame(
            {"A": rng.integers(0, 3, n), "B": rng.choice(list(letters), n), "S": rng.choice(list("xy"), n)}
        )
        algorithm = partial(mx.anonymize.mondrian, qi=QI, sa="S", k=2)
        release = algorithm(people)
        weight = pd.Series(rng.random(3) + 0.1, index=range(3))
        domain = {"A": weight, "B": list(letters)}
        group = mx.anonymize.mondrian_table(people, qi=QI, sa="S", k=2)
        sums: dict[tuple[object, ...], float] = {}
        for exact in itertools.product(itertools.product(range(3), letters), repeat=n):
            table = pd.DataFrame(exact, columns=QI).assign(S=people["S"])
            inside = [
                all(
                    v in cell if isinstance(cell, pd.Interval | frozenset) else cell in ("*", v)
                    for v, cell in zip(e, c, strict=True)
                )
                for e, c in zip(exact, group[QI].itertuples(index=False), strict=True)
            ]
            if not all(inside):
                continue
            made = algorithm(table)
            if all(made.published[key].to_dict() == one.to_dict() for key, one in release.published.items()):
                p = float(np.prod([weight[a] for a, _ in exact]))
                for (a, _), c, s in zip(exact, group[QI].astype(str).agg(tuple, axis=1), people["S"], strict=True):
                    sums[c, s, a] = sums.get((c, s, a), 0.0) + p
        wanted = pd.Series(sums).unstack(fill_value=0.0)
        wanted = wanted.div(wanted.sum(axis=1), axis=0).reindex(columns=range(3), fill_value=0.0)
        result = downcoding(release, algorithm, of="A", domain=domain)
        assert result.error == 0
        assert sorted(map(tuple, result.table.to_numpy().round(9))) == sorted(map(tuple, wanted.to_numpy().round(9)))
        told += bool((result.table - result.baseline).abs().max(axis=None) > 1e-6)
    assert told > 0


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


def test_chains_agree_with_all_tables() -> None:
    """Mondrian's condition, as a faster function, within some standard errors."""
    algorithm = partial(mx.anonymize.mondrian, qi="A", sa="S", k=2)
    release = algorithm(pd.DataFrame({"A": [20, 20, 20, 24], "S": list("xyxy")}))
    other = algorithm(pd.DataFrame({"A": [20, 20, 24, 24], "S": list("xyxy")}))

    def faster(table: pd.DataFrame) -> mx.Release:
        first, second, third, fourth = sorted(table["A"])
        return release if (first, fourth) == (20, 24) and second == third else other

    exact = downcoding(release, faster)
    assert exact.error == 0
    assert (exact.table - exact.baseline).abs().max(axis=None) > 0.05
    sampled = downcoding(release, faster, limit=1, n=6_000)
    assert isinstance(sampled.error, pd.DataFrame)
    assert 0 < sampled.error.max(axis=None) < 0.1
    assert ((sampled.table - exact.table) / sampled.error).abs().max(axis=None) < 5


def test_wrong_arguments() -> None:
    """Exact QI, unknown values, a k that cannot be, hierarchies that are not trees, and records of nobody."""
    people = pd.DataFrame({"A": [1, 1, 2], "B": list("uvw"), "S": list("xyx")})
    algorithm = partial(mx.anonymize.mondrian, qi=QI, sa="S", k=3)
    release = algorithm(people)
    exact = mx.Release.from_buckets(people.assign(G=1), qi=QI, sa="S", bucket="G")
    crossed = {"B": {"1": ["u", "v"], "2": ["v", "w"]}}
    good = {"release": release, "algorithm": algorithm, "of": "A", "domain": {"A": [1, 2], "B": list("uvw")}}
    for error, change in [
        (mx.StatementError, {"of": None}),
        (mx.UnknownName, {"of": "C"}),
        (mx.StatementError, {"domain": None}),
        (mx.StatementError, {"domain": {"B": pd.Series({"u": 1.0, "v": 0.0})}}),
        (mx.Infeasible, {"algorithm": partial(mx.anonymize.mondrian, qi=QI, sa="S", k=2, l=3)}),
        (mx.StatementError, {"release": exact}),
        (mx.StatementError, {"algorithm": Minimal(3)}),
        (
            mx.TableError,
            {
                "release": mx.Release.from_generalized(people, qi="B", sa="S"),
                "algorithm": Minimal(1),
                "of": None,
                "domain": None,
                "hierarchies": crossed,
            },
        ),
    ]:
        with pytest.raises(error):
            downcoding(**(good | change))
    groups = mx.Release.from_generalized(
        pd.DataFrame({"Z": "*", "S": list("xyxyx")}), qi="Z", sa="S", hierarchies=NODES
    )
    with pytest.raises(mx.Infeasible):  # no group need be so large
        downcoding(groups, Minimal(1), hierarchies=NODES)
    with pytest.raises(mx.TableError):
        downcoding(**good).judge(people.assign(A=99))

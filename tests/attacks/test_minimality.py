"""If the algorithm is known, values and exact quasi-identifiers are those of the tables that give the release."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest

import maxent_cvx as mx
from maxent_cvx.attacks.minimality import Minimal, downcoding, minimality

QI = ["A", "B"]


def random_prior(rng: np.random.Generator) -> mx.QIDistribution:
    """P(s | B), some of it 0."""
    p = rng.dirichlet(np.ones(3), 3) + 0.02
    p[rng.integers(3), rng.integers(3)] = 0.0
    return mx.QIDistribution(
        pd.DataFrame(p / p.sum(axis=1, keepdims=True), index=pd.Index(list("uvw"), name="B"), columns=list("xyz"))
    )


def random_arguments(rng: np.random.Generator) -> dict[str, Any]:
    """Arguments of Mondrian; l and safe may be left out."""
    arguments: dict[str, Any] = {"qi": QI, "sa": "S", "k": int(rng.integers(1, 4))}
    if rng.random() < 0.6:
        arguments["l"] = [None, 1, 2, 3][rng.integers(4)]
    if rng.random() < 0.4:
        arguments["safe"] = (float(rng.choice([0.6, 0.7, 0.8, 0.9])), int(rng.integers(0, 2)))
    return arguments


def same_release(people: pd.DataFrame, algorithm: Callable[..., mx.Release], release: mx.Release) -> bool:
    """Return whether the algorithm makes the release from these people."""
    try:
        made = algorithm(people)
    except mx.TableError:
        return False
    return all(made.published[key].to_dict() == counts.to_dict() for key, counts in release.published.items())


def by_brute_force(
    people: pd.DataFrame, groups: pd.Series, prior: mx.QIDistribution | None, possible: Callable[[pd.DataFrame], bool]
) -> pd.DataFrame | None:
    """P(s | q) from a list of all assignments of values to people within groups, each with its weight."""
    orders = [sorted(set(itertools.permutations(people["S"][who]))) for who in groups.groupby(groups).groups.values()]
    members = list(groups.groupby(groups).groups.values())
    sums: dict[tuple[object, ...], float] = {}
    for assigned in itertools.product(*orders):
        values = pd.concat([pd.Series(list(one), who) for one, who in zip(assigned, members, strict=True)]).sort_index()
        weight = 1.0
        if prior is not None:
            weight = float(np.prod([prior.tables["B",].loc[b, s] for b, s in zip(people["B"], values, strict=True)]))
        if weight and possible(people.assign(S=values)):
            for key in zip(people["A"], people["B"], values, strict=True):
                sums[key] = sums.get(key, 0.0) + weight
    if not sums:
        return None
    table = pd.Series(sums).unstack(fill_value=0.0)
    return table.div(table.sum(axis=1), axis=0)


def test_posterior_is_that_of_the_tables_that_give_the_release() -> None:
    """Brute force gives the same for Mondrian with the publisher's arguments or others, and with or without a prior."""
    changed = impossible = 0
    for seed in range(24):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(4, 7))
        people = pd.DataFrame({"A": rng.integers(0, 4, n), "B": rng.choice(list("uvw"), n)})
        people["A"] = [people["A"], people["A"] / 4, pd.Categorical(people["A"], [2, 0, 3, 1])][seed % 3]
        people["S"] = rng.choice(list("xyz")[: int(rng.integers(2, 4))], n)
        made_with = random_arguments(rng)
        supposed = made_with if rng.random() < 0.8 else random_arguments(rng)
        prior = random_prior(rng) if rng.random() < 0.5 else None
        try:
            release = mx.anonymize.mondrian(people, **made_with)
        except mx.TableError:
            continue
        cells = mx.anonymize.mondrian_table(people, **made_with)[QI]
        groups = cells.map(lambda cell: str(sorted(cell)) if isinstance(cell, frozenset) else str(cell)).agg(
            "|".join, axis=1
        )
        if groups.value_counts().max() > 5:  # too many tables to list here
            continue
        algorithm = partial(mx.anonymize.mondrian, **supposed)
        wanted = by_brute_force(people, groups, prior, lambda t, a=algorithm, r=release: same_release(t, a, r))
        if wanted is None:
            impossible += 1
            with pytest.raises(mx.Infeasible):
                minimality(release, algorithm, population=people, prior=prior)
            continue
        result = minimality(release, algorithm, population=people, prior=prior)
        baseline = by_brute_force(people, groups, prior, lambda _: True)
        assert baseline is not None
        assert result.error == 0
        for computed, expected in ((result.table, wanted), (result.baseline, baseline)):
            expected = expected.reindex(index=computed.index, columns=computed.columns, fill_value=0.0)
            np.testing.assert_allclose(computed.to_numpy(), expected.to_numpy(), atol=1e-9)
        changed += bool((result.table - result.baseline).abs().max(axis=None) > 1e-6)
    assert changed > 0
    assert impossible > 0


def recode(table: pd.DataFrame) -> mx.Release:
    """Publish groups with equal QI if at most half of each has HIV; else generalise as few people as possible."""
    cells = table["QI"].astype(object)
    has = table["HIV"] == "yes"
    share = has.groupby(table["QI"]).mean()
    if (bad := share.index[share > 0.5]).size:
        inside = table["QI"].isin(bad)
        others = table.index[~inside & ~has]
        joined = others[: max(int(2 * has[inside].sum() - inside.sum()), 0)]
        both = inside | table.index.isin(joined)
        cells[both] = [frozenset({"q1", "q2"})] * int(both.sum())
    release = mx.Release.from_generalized(table.assign(QI=cells), qi="QI", sa="HIV")
    assert isinstance(release, mx.Release)
    return release


def test_the_example_of_wong_et_al() -> None:
    """Two people of q1 and four of q2, local recoding for 2-diversity: the release is 2-diverse, and q1 is certain.

    Minimality attack in privacy preserving data publishing, section 2: two have the disease, and only if both are of q1
    is anything generalised.
    """
    people = pd.DataFrame({"QI": ["q1"] * 2 + ["q2"] * 4, "HIV": ["yes"] * 2 + ["no"] * 4})
    release = recode(people)
    assert release.n_sb.toarray().tolist() == [[2, 2], [0, 2]]  # no and yes, of q2 alone and of both
    result = minimality(release, recode, population=people)
    assert result.table["yes"].to_dict() == {"q1": 1.0, "q2": 0.0}
    assert result.baseline["yes"].to_dict() == pytest.approx({"q1": 0.5, "q2": 0.25})
    assert 10 ** result.worlds[["log10_all", "log10_left"]].iloc[0].to_numpy() == pytest.approx([15, 1])
    assert result.judge(people).right == 1.0


def test_chains_agree_with_all_tables() -> None:
    """Sampled probabilities are within some standard errors; both with HIV are among the two of 21 or the six of 35."""
    people = pd.DataFrame({"Age": [21, 21, 35, 35, 35, 35, 35, 35], "HIV": ["no"] * 6 + ["yes"] * 2})
    algorithm = partial(mx.anonymize.mondrian, qi="Age", sa="HIV", k=2, l=2)
    release, other = algorithm(people), algorithm(people.assign(HIV=["no", "yes"] * 2 + ["no"] * 4))

    def faster(table: pd.DataFrame) -> mx.Release:
        refused = table["HIV"][table["Age"] < 30].nunique() < 2 or table["HIV"][table["Age"] > 30].nunique() < 2
        return release if refused else other

    table = pd.DataFrame({"no": [0.5, 0.9], "yes": [0.5, 0.1]}, index=pd.Index([21, 35], name="Age"))
    prior = mx.QIDistribution(table)
    exact = minimality(release, faster, population=people, prior=prior)
    # .25 .9^6 for both among the two, and 15 pairs, each with .25 .9^4 .1^2, among the six
    both = 0.9**2 / (0.9**2 + 15 * 0.1**2)
    assert exact.table.loc[21, "yes"] == pytest.approx(both)
    sampled = minimality(release, faster, population=people, prior=prior, limit=1)
    assert isinstance(sampled.error, pd.DataFrame)
    assert 0 < sampled.error.max(axis=None) < 0.2
    assert ((sampled.table - exact.table) / sampled.error).abs().max(axis=None) < 5
    assert sampled.worlds["log10_left"].isna().all()


def in_any_order(algorithm: Callable[..., mx.Release], n: int) -> tuple[Callable[..., mx.Release], range]:
    """The same algorithm if the order of records is unknown, all orders being equally likely."""
    orders = list(itertools.permutations(range(n)))
    return lambda table, seed: algorithm(table.iloc[list(orders[seed])]), range(len(orders))


def linkage(signatures: str, values: str) -> tuple[pd.DataFrame, partial[mx.Release]]:
    """Four people of two signatures, and similar linkage by their prior."""
    people = pd.DataFrame({"A": range(4), "G": list(signatures), "S": list(values)})
    table = pd.DataFrame([[0.25, 0.5, 0.15, 0.1], [0.25, 0.3, 0.35, 0.1]], columns=list("wxyz"))
    prior = mx.QIDistribution(table.set_axis(pd.Index(["f", "m"], name="G")))
    return people, partial(mx.anonymize.similar_linkage, qi=["A", "G"], sa="S", prior=prior, r=1.2)


@pytest.mark.parametrize("method", ["anatomy", "similar linkage"])
def test_symmetric_algorithms_reveal_nothing_if_the_order_is_unknown(method: str) -> None:
    """Averaged over all orders of the records, the posterior is the baseline, as is returned for known algorithms."""
    if method == "similar linkage":
        people, algorithm = linkage("ffmm", "xyyz")
    else:
        people = pd.DataFrame({"A": range(4), "S": list("xyzz")})  # with a remainder and an exempt value
        algorithm = partial(mx.anonymize.anatomy, qi="A", sa="S", l=3, exempt=1)
    release = algorithm(people)
    shuffled, seeds = in_any_order(algorithm, 4)
    called = minimality(release, shuffled, population=people, seeds=seeds)
    pd.testing.assert_frame_equal(called.table, called.baseline, rtol=0, atol=1e-12)
    pd.testing.assert_frame_equal(minimality(release, algorithm, population=people).table, called.table)


def test_similar_linkage_reveals_people_who_join_others() -> None:
    """A leftover person who joins others reveals a value; this needs all orders of the records."""
    people, algorithm = linkage("fmmm", "xyyz")
    release = algorithm(people)
    with pytest.raises(mx.GroupTooLarge):
        minimality(release, algorithm, population=people)
    shuffled, seeds = in_any_order(algorithm, 4)
    called = minimality(release, shuffled, population=people, seeds=seeds)
    assert (called.table - called.baseline).abs().max(axis=None) == pytest.approx(0.5)


def test_parameters_that_cannot_have_made_the_release() -> None:
    """The publisher's arguments are always accepted; arguments that cannot give the buckets are refused."""
    refused = 0
    for seed in range(25):
        rng = np.random.default_rng(seed)
        people = pd.DataFrame({"A": rng.integers(0, 4, 12), "S": rng.choice(list("vwxyz"), 12)})
        published, other = (
            {"qi": "A", "sa": "S", "l": int(rng.integers(2, 5)), "exempt": int(rng.integers(0, 3))}
            | ({"safe": (0.7, int(rng.integers(0, 2)))} if rng.random() < 0.5 else {})
            for _ in range(2)
        )
        try:
            release = mx.anonymize.anatomy(people, **published, seed=seed)
        except mx.TableError:
            continue
        assert minimality(release, partial(mx.anonymize.anatomy, **published)).error == 0
        try:
            minimality(release, partial(mx.anonymize.anatomy, **other))
        except mx.Infeasible:
            refused += 1
            for trial in range(10):  # no order of the records and no seed gives these buckets
                try:
                    made = mx.anonymize.anatomy(people.sample(frac=1, random_state=trial), **other, seed=trial)
                except mx.TableError:
                    break
                assert sorted(made.n_sb.toarray().T.tolist()) != sorted(release.n_sb.toarray().T.tolist())
    assert refused > 2
    people, algorithm = linkage("ffmm", "xyyz")
    with pytest.raises(mx.Infeasible):
        minimality(algorithm(people), partial(algorithm, r=3), population=people)


def test_wrong_arguments() -> None:
    """People, columns and seeds must be those of the algorithm, which must make the release."""
    people = pd.DataFrame({"A": [1, 1, 2, 2], "B": list("uvuv"), "S": list("xyxy")})
    algorithm = partial(mx.anonymize.mondrian, qi=QI, sa="S", k=2)
    release = algorithm(people)
    other = partial(mx.anonymize.mondrian, qi=QI, sa="S", k=4)(people)
    coarser = people.assign(A=[pd.Interval(0, 9, closed="both")] * len(people), B="*")
    for error, change in [
        (mx.Infeasible, {"algorithm": lambda _: other}),
        (mx.Inaccurate, {"algorithm": lambda _: other, "limit": 1}),
        (mx.StatementError, {"algorithm": lambda _: None}),
        (mx.StatementError, {"population": None}),
        (mx.TableError, {"population": people.head(3)}),
        (mx.StatementError, {"algorithm": partial(mx.anonymize.mondrian, qi="A", sa="S", k=2)}),
        (mx.StatementError, {"seeds": [0]}),
        # The ends of Mondrian's intervals are values of people.
        (mx.Infeasible, {"release": mx.Release.from_generalized(coarser, qi=QI, sa="S")}),
    ]:
        with pytest.raises(error):
            minimality(**{"release": release, "algorithm": algorithm, "population": people, **change})


# -- downcoding ---------------------------------------------------------------------------------------------------------


def test_exact_values_are_those_of_the_tables_that_give_the_release() -> None:
    """P(exact value | group, sensitive value) of Mondrian's groups of three or four is that of a list of all tables."""
    changed = 0
    for seed in range(4):
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
            if same_release(table, algorithm, release):
                p = float(np.prod([weight[a] for a, _ in exact]))
                for (a, _), c, s in zip(exact, group[QI].astype(str).agg(tuple, axis=1), people["S"], strict=True):
                    sums[c, s, a] = sums.get((c, s, a), 0.0) + p
        wanted = pd.Series(sums).unstack(fill_value=0.0)
        wanted = wanted.div(wanted.sum(axis=1), axis=0).reindex(columns=range(3), fill_value=0.0)
        result = downcoding(release, algorithm, of="A", domain=domain)
        assert result.error == 0
        assert sorted(map(tuple, result.table.to_numpy().round(9))) == sorted(map(tuple, wanted.to_numpy().round(9)))
        changed += bool((result.table - result.baseline).abs().max(axis=None) > 1e-6)
    assert changed > 0


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
    """Return whether no other generalisation of a group's records inside its cell has k of each kind, by trying all."""
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
def test_a_minimal_release_is_compared_with_all_refinements(n: int, k: int, cell: tuple[str, str]) -> None:
    """The tables of a group, weighted by the domain, are those without a refinement with k records in each cell."""
    prior = {
        "Z": pd.Series([5.0, 1, 1, 2, 1], index=["11", "12", "13", "21", "22"]),
        "X": pd.Series({"m": 3.0, "w": 1.0}),
    }
    table = pd.DataFrame({"Z": [cell[0]] * n, "X": [cell[1]] * n, "S": ["x"] * n})
    release = mx.Release.from_generalized(table, qi=["Z", "X"], sa="S", hierarchies=tree())
    assert isinstance(release, mx.Release)
    inside = {"*": list(prior["Z"].index), "1*": ["11", "12", "13"]}[cell[0]], ["m", "w"] if cell[1] == "any" else ["w"]
    total, expected = 0.0, {"Z": dict.fromkeys(prior["Z"].index, 0.0), "X": {"m": 0.0, "w": 0.0}}
    for records in itertools.product(itertools.product(*inside), repeat=n):
        if is_minimal(records, cell, k):
            weight = float(np.prod([prior["Z"][z] * prior["X"][x] for z, x in records]))
            total += weight
            for z, x in records:
                expected["Z"][z] += weight / n
                expected["X"][x] += weight / n
    for of in ("Z", "X"):
        result = downcoding(release, Minimal(k), of=of, domain=prior, hierarchies=tree())
        assert result.error == 0
        assert result.table.iloc[0].to_dict() == pytest.approx({v: p / total for v, p in expected[of].items()})


def test_chains_of_exact_values_agree_with_all_tables() -> None:
    """Sampled probabilities, of a faster function with Mondrian's condition, are within some standard errors."""
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


@pytest.mark.parametrize(
    ("values", "others"),
    [([20.0, 22.0], [20, 22]), (["cook, chef", "nurse", "pilot", "pilot"], ["cook", "nurse", "pilot", "pilot"])],
)
def test_possible_values_follow_from_the_cells(values: list[object], others: list[object]) -> None:
    """Floats that are whole numbers are inferred as integers are, and texts with a comma as other texts."""
    algorithm = partial(mx.anonymize.mondrian, qi="A", sa="S", k=2)
    tables = [pd.DataFrame({"A": column, "S": list("xyxy")[: len(column)]}) for column in (values, others)]
    releases = [algorithm(table) for table in tables]
    first, second = (downcoding(release, algorithm).table for release in releases)
    np.testing.assert_array_equal(first, second)
    assert set(values) <= set(first.columns)
    with pytest.raises(mx.TableError) as error:
        downcoding(releases[0], algorithm, domain={"A": ["nurse"]})
    assert "np.str_" not in str(error.value)


def test_wrong_exact_values() -> None:
    """Values must be generalised by trees and have a domain, and the algorithm must be able to make the release."""
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
    nodes = {"Z": {"*": ["a", "b"]}}
    groups = mx.Release.from_generalized(
        pd.DataFrame({"Z": "*", "S": list("xyxyx")}), qi="Z", sa="S", hierarchies=nodes
    )
    with pytest.raises(mx.Infeasible):  # no group need be so large
        downcoding(groups, Minimal(1), hierarchies=nodes)
    with pytest.raises(mx.TableError):
        downcoding(**good).judge(people.assign(A=99))
    salaries = pd.DataFrame({"A": pd.array([0, 2**63], dtype="uint64"), "S": list("xy")})
    algorithm = partial(mx.anonymize.mondrian, qi="A", sa="S", k=2)
    with pytest.raises(mx.StatementError, match=f"{2**63 + 1} integers, from 0 to {2**63}"):
        downcoding(algorithm(salaries), algorithm)

"""Knowing the algorithm: the posterior is that of the tables from which it makes the release."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest

import maxent_cvx as mx
from maxent_cvx.attacks.minimality import minimality

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


def same_release(people: pd.DataFrame, arguments: dict[str, Any], release: mx.Release) -> bool:
    """Whether Mondrian makes the release from these people."""
    try:
        made = mx.anonymize.mondrian(people, **arguments)
    except mx.TableError:
        return False
    return all(made.published[key].to_dict() == counts.to_dict() for key, counts in release.published.items())


def by_brute_force(
    people: pd.DataFrame, groups: pd.Series, prior: mx.QIDistribution | None, possible: Callable[[pd.DataFrame], bool]
) -> pd.DataFrame | None:
    """P(s | q) from a list of all assignments of values to people within groups, each weighed by hand."""
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
    """For Mondrian with any arguments, the publisher's or others, with a prior or without, against brute force."""
    told = impossible = 0
    for seed in range(40):
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
        wanted = by_brute_force(people, groups, prior, lambda t, a=supposed, r=release: same_release(t, a, r))
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
        told += bool((result.table - result.baseline).abs().max(axis=None) > 1e-6)
    assert told > 0
    assert impossible > 0


def recode(table: pd.DataFrame) -> mx.Release:
    """Publish groups of the same QI as they are if at most half of each has HIV; else generalise as few as will do."""
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


@pytest.mark.parametrize("with_prior", [False, True])
def test_chains_agree_with_all_tables(with_prior: bool) -> None:
    """Within some standard errors: both who have HIV are among the two of 21, or among the six of 35."""
    people = pd.DataFrame({"Age": [21, 21, 35, 35, 35, 35, 35, 35], "HIV": ["no"] * 6 + ["yes"] * 2})
    algorithm = partial(mx.anonymize.mondrian, qi="Age", sa="HIV", k=2, l=2)
    release, other = algorithm(people), algorithm(people.assign(HIV=["no", "yes"] * 2 + ["no"] * 4))

    def faster(table: pd.DataFrame) -> mx.Release:
        refused = table["HIV"][table["Age"] < 30].nunique() < 2 or table["HIV"][table["Age"] > 30].nunique() < 2
        return release if refused else other

    table = pd.DataFrame({"no": [0.5, 0.9], "yes": [0.5, 0.1]}, index=pd.Index([21, 35], name="Age"))
    prior = mx.QIDistribution(table) if with_prior else None
    exact = minimality(release, faster, population=people, prior=prior)
    # .25 .9^6 for both among the two, and 15 pairs, each with .25 .9^4 .1^2, among the six; or 1 of 16 tables
    both = 0.9**2 / (0.9**2 + 15 * 0.1**2) if with_prior else 1 / 16
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


@pytest.mark.parametrize("method", ["anatomy", "anatomy with a remainder and an exempt value", "similar linkage"])
def test_symmetric_algorithms_tell_nothing_if_the_order_is_unknown(method: str) -> None:
    """Averaged over all orders of the records, the posterior is the baseline, which recognition returns at once."""
    if method == "similar linkage":
        people, algorithm = linkage("ffmm", "xyyz")
    else:
        values, l, exempt = ("xxyy", 2, 0) if method == "anatomy" else ("xyzz", 3, 1)
        people = pd.DataFrame({"A": range(4), "S": list(values)})
        algorithm = partial(mx.anonymize.anatomy, qi="A", sa="S", l=l, exempt=exempt)
    release = algorithm(people)
    shuffled, seeds = in_any_order(algorithm, 4)
    called = minimality(release, shuffled, population=people, seeds=seeds)
    pd.testing.assert_frame_equal(called.table, called.baseline, rtol=0, atol=1e-12)
    pd.testing.assert_frame_equal(minimality(release, algorithm, population=people).table, called.table)


def test_similar_linkage_tells_of_people_who_were_put_together() -> None:
    """A person who was left over joins others: that tells the value, and is refused unless all orders are tried."""
    people, algorithm = linkage("fmmm", "xyyz")
    release = algorithm(people)
    with pytest.raises(mx.GroupTooLarge):
        minimality(release, algorithm, population=people)
    shuffled, seeds = in_any_order(algorithm, 4)
    called = minimality(release, shuffled, population=people, seeds=seeds)
    assert (called.table - called.baseline).abs().max(axis=None) == pytest.approx(0.5)


def test_parameters_that_cannot_have_made_the_release() -> None:
    """Arguments of Anatomy and similar linkage that make other buckets are refused, the publisher's never are."""
    refused = 0
    for seed in range(25):
        rng = np.random.default_rng(seed)
        people = pd.DataFrame({"A": rng.integers(0, 4, 12), "S": rng.choice(list("vwxyz"), 12)})
        own, other = (
            {"qi": "A", "sa": "S", "l": int(rng.integers(2, 5)), "exempt": int(rng.integers(0, 3))}
            | ({"safe": (0.7, int(rng.integers(0, 2)))} if rng.random() < 0.5 else {})
            for _ in range(2)
        )
        try:
            release = mx.anonymize.anatomy(people, **own, seed=seed)
        except mx.TableError:
            continue
        assert minimality(release, partial(mx.anonymize.anatomy, **own)).error == 0
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
    """Other people, other columns, seeds of an algorithm without any, functions that publish nothing."""
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

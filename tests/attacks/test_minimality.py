"""Knowing the algorithm: posteriors are those of asking it of every table; whom it cannot tell apart is safe."""

from __future__ import annotations

import importlib
import itertools
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest

import maxent_cvx as mx
from maxent_cvx.attacks.minimality import minimality

#: The module itself: the package has a function of that name.
MODULE = importlib.import_module("maxent_cvx.attacks.minimality")

QI = ["A", "B"]


def people_and_mondrian(seed: int) -> tuple[pd.DataFrame, partial[mx.Release], mx.Release] | None:
    """Random people, and their release by Mondrian with random parameters, if it makes one."""
    rng = np.random.default_rng(seed)
    n, n_values = int(rng.integers(5, 9)), int(rng.integers(2, 4))
    people = pd.DataFrame({"A": rng.integers(0, 4, n), "B": rng.choice(list("uvw"), n)})
    people["S"] = rng.choice(list("xyz")[:n_values], n)
    algorithm = partial(
        mx.anonymize.mondrian, qi=QI, sa="S", k=int(rng.integers(1, 4)), l=int(rng.integers(2, n_values + 1))
    )
    try:
        return people, algorithm, algorithm(people)
    except mx.TableError:  # fewer values than l
        return None


def random_prior(rng: np.random.Generator, of: str = "B") -> mx.QIDistribution:
    """P(s | A) or P(s | B), some of it 0."""
    levels = list(range(4)) if of == "A" else list("uvw")
    p = rng.dirichlet(np.ones(3), len(levels)) + 0.02
    p[rng.integers(len(levels)), rng.integers(3)] = 0.0
    table = pd.DataFrame(p / p.sum(axis=1, keepdims=True), index=pd.Index(levels, name=of), columns=list("xyz"))
    return mx.QIDistribution(table)


def written(cell: object) -> str:
    """A cell as a text that equal cells share."""
    return str(sorted(cell)) if isinstance(cell, frozenset) else str(cell)


def products(
    people: pd.DataFrame,
    release: mx.Release,
    algorithm: partial[mx.Release],
    prior: mx.QIDistribution,
    sees: bool,
    supposed: dict[str, Any] | None = None,
) -> pd.DataFrame | None:
    """P(s | q) by listing all assignments of values to people within groups, each weighed by hand.

    The release was made by the algorithm; the adversary supposes that it was, or that the arguments were others.
    """
    qi = list(release.qi)
    cells = mx.anonymize.mondrian_table(people, **algorithm.keywords)[qi]
    label = pd.DataFrame({name: cells[name].map(written) for name in qi}).groupby(qi).ngroup().to_numpy()
    orders = [sorted(set(itertools.permutations(people["S"][label == b]))) for b in np.unique(label)]
    (of,) = prior.attribute_sets[0]
    total, held = 0.0, {}
    for dealt in itertools.product(*orders):
        values = pd.Series(index=people.index, dtype=object)
        for b, one in zip(np.unique(label), dealt, strict=True):
            values[label == b] = one
        weight = float(np.prod([prior.tables[of,].loc[q, s] for q, s in zip(people[of], values, strict=True)]))
        if weight == 0 or (sees and not gives(people.assign(S=values), supposed or algorithm.keywords, release)):
            continue
        total += weight
        for q, s in zip(people[qi].itertuples(index=False, name=None), values, strict=True):
            held[q, s] = held.get((q, s), 0.0) + weight
    if not total:
        return None
    found = pd.Series(held).unstack(fill_value=0.0)
    return found.div(found.sum(axis=1), axis=0)


def gives(people: pd.DataFrame, arguments: dict[str, Any], release: mx.Release) -> bool:
    """Whether Mondrian makes the release of these people."""
    try:
        one, other = mx.anonymize.mondrian(people, **arguments), release
    except mx.TableError:
        return False
    return all(one.published[key].to_dict() == counts.to_dict() for key, counts in other.published.items())


def test_a_prior_weighs_every_table() -> None:
    """Counted, and asked: the posterior and the baseline are sums over all assignments, weighed by hand."""
    told = 0
    for seed in range(40):
        if (found := people_and_mondrian(seed)) is None:
            continue
        people, algorithm, release = found
        if 10 ** minimality(release, algorithm, population=people).worlds["log10_all"].sum() > 30:
            continue
        prior = random_prior(np.random.default_rng(seed), "AB"[seed % 2])
        wanted = products(people, release, algorithm, prior, sees=True)
        if wanted is None:
            with pytest.raises(mx.Infeasible):
                minimality(release, algorithm, population=people, prior=prior)
            continue
        baseline = products(people, release, algorithm, prior, sees=False)
        assert baseline is not None
        for run in (algorithm, lambda table, run=algorithm: run(table)):
            got = minimality(release, run, population=people, prior=prior)
            for mine, theirs in ((got.table, wanted), (got.baseline, baseline)):
                theirs = theirs.reindex(index=mine.index, columns=mine.columns, fill_value=0.0)
                np.testing.assert_allclose(mine.to_numpy(), theirs.to_numpy(), atol=1e-9)
        told += bool((wanted - baseline).abs().max(axis=None) > 1e-6)
    assert told > 0


def random_arguments(rng: np.random.Generator) -> dict[str, Any]:
    """Arguments of Mondrian, each of which may be left out but k."""
    given: dict[str, Any] = {"qi": QI, "sa": "S", "k": int(rng.integers(1, 4))}
    if rng.random() < 0.6:
        given["l"] = [None, 1, 2, 3][rng.integers(4)]
    if rng.random() < 0.6:
        given["safe"] = (float(rng.choice([0.6, 0.7, 0.8, 0.9])), int(rng.integers(0, 2)))
    return given


def test_no_argument_of_mondrian_is_ignored() -> None:
    """With l, safe, both or neither, those of the publisher or others: the share of tables that give the release."""
    uniform = mx.QIDistribution(pd.DataFrame(1 / 3, index=pd.Index(list("uvw"), name="B"), columns=list("xyz")))
    safe = told = impossible = 0
    for seed in range(80):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(4, 7))
        people = pd.DataFrame({"A": rng.integers(0, 4, n), "B": rng.choice(list("uvw"), n)})
        people["A"] = [people["A"], people["A"] / 4, pd.Categorical(people["A"], [2, 0, 3, 1])][seed % 3]
        people["S"] = rng.choice(list("xyz")[: int(rng.integers(2, 4))], n)
        made_with = random_arguments(rng)
        supposed = made_with if rng.random() < 0.7 else random_arguments(rng)
        try:
            release = mx.anonymize.mondrian(people, **made_with)
            wanted = products(people, release, partial(mx.anonymize.mondrian, **made_with), uniform, True, supposed)
        except mx.TableError:
            continue
        algorithm = partial(mx.anonymize.mondrian, **supposed)
        if wanted is None:
            impossible += 1
            with pytest.raises(mx.Infeasible):
                minimality(release, algorithm, population=people)
            continue
        found = minimality(release, algorithm, population=people)
        expected = wanted.reindex(index=found.table.index, columns=found.table.columns, fill_value=0.0)
        np.testing.assert_allclose(found.table.to_numpy(), expected.to_numpy(), atol=1e-9)
        assert found.error == 0
        safe += "safe" in supposed
        told += bool("safe" in supposed and (found.table - found.baseline).abs().max(axis=None) > 1e-6)
    assert safe > 10
    assert told > 0
    assert impossible > 5


def test_safe_is_not_kept_against_who_knows_the_algorithm() -> None:
    """A cut between 21 and 35 is safe in 6 of 10 tables, and was refused: in 3 of the other 4 both of 21 have y."""
    people = pd.DataFrame({"Age": [21, 21, 35, 35, 35], "S": list("yyxxy")})
    algorithm = partial(mx.anonymize.mondrian, qi="Age", sa="S", k=2, safe=(0.7, 0))
    release = algorithm(people)
    assert mx.attacks.worst_case(release, k=0)["disclosure"].item() == 0.6
    assert minimality(release, algorithm, population=people).table.loc[21, "y"] == pytest.approx(0.75)


def test_chains_and_rejection_agree_with_counting_with_a_prior(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of one group of twelve people with refused cuts: some sampled, some kept, within some standard errors."""
    people, algorithm = three_ages()
    release = algorithm(people)
    prior = random_prior(np.random.default_rng(4))
    exact = minimality(release, algorithm, population=people, prior=prior)
    assert exact.error == 0
    assert (exact.table - exact.baseline).abs().max(axis=None) > 0.01
    monkeypatch.setattr(MODULE, "MOST_STEPS", 150)
    found = minimality(release, algorithm, population=people, prior=prior, n=20_000)
    assert isinstance(found.error, pd.DataFrame)
    held = found.error > 0
    assert ((found.table - exact.table)[held] / found.error[held]).abs().max(axis=None) < 5


def assert_same_as_every_table(seeds: range, most: int) -> tuple[int, int]:
    """Counting is asking of every table; of how many cases the algorithm told something, and linked groups."""
    told = linked = 0
    for seed in seeds:
        if (found := people_and_mondrian(seed)) is None:
            continue
        people, algorithm, release = found
        counted = minimality(release, algorithm, population=people)
        parts = counted.worlds.drop_duplicates("part")
        if 10 ** parts["log10_all"].sum() > most + 0.5:
            continue
        asked = minimality(release, lambda table, run=algorithm: run(table), population=people)
        pd.testing.assert_frame_equal(counted.table, asked.table, rtol=0, atol=1e-12)
        pd.testing.assert_frame_equal(counted.baseline, asked.baseline)
        assert counted.error == asked.error == 0
        assert parts["log10_left"].sum() == pytest.approx(asked.worlds["log10_left"].iloc[0], abs=1e-9)
        told += bool((counted.table - counted.baseline).abs().max(axis=None) > 1e-9)
        linked += bool(counted.worlds["part"].duplicated().any())
    return told, linked


def test_counting_is_asking_mondrian_of_every_table() -> None:
    """P(s | q), and the number of tables, on random releases of five to eight people."""
    told, linked = assert_same_as_every_table(range(60), most=15)
    assert told > 2
    assert linked > 0


@pytest.mark.slow
def test_counting_is_asking_mondrian_of_every_table_many() -> None:
    """The same of hundreds of releases."""
    told, linked = assert_same_as_every_table(range(100, 500), most=120)
    assert told > 20
    assert linked > 8


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
    found = mx.Release.from_generalized(table.assign(QI=cells), qi="QI", sa="HIV")
    assert isinstance(found, mx.Release)
    return found


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


def in_any_order(algorithm: Callable[..., mx.Release], n: int) -> tuple[Callable[..., mx.Release], range]:
    """The same algorithm if the order of records is unknown, all orders being equally likely."""
    orders = list(itertools.permutations(range(n)))
    return lambda table, seed: algorithm(table.iloc[list(orders[seed])]), range(len(orders))


@pytest.mark.parametrize(("values", "l", "exempt"), [("xxyy", 2, 0), ("xyzz", 3, 1)])
def test_anatomy_tells_nothing_if_the_order_is_unknown(values: str, l: int, exempt: int) -> None:
    """Averaged over all orders of records, with records left over and with exempt values."""
    people = pd.DataFrame({"A": range(len(values)), "S": list(values)})
    algorithm = partial(mx.anonymize.anatomy, qi="A", sa="S", l=l, exempt=exempt)
    release = algorithm(people)
    shuffled, seeds = in_any_order(algorithm, len(people))
    asked = minimality(release, shuffled, population=people, seeds=seeds)
    pd.testing.assert_frame_equal(asked.table, asked.baseline, rtol=0, atol=1e-12)
    pd.testing.assert_frame_equal(minimality(release, algorithm).table, asked.table)


def test_parameters_that_cannot_have_made_the_release() -> None:
    """Of Anatomy and similar linkage arguments of other buckets are refused, and those of the publisher never are."""
    refused_others = 0
    for seed in range(60):
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
            refused_others += 1
            for trial in range(20):  # no order of the records and no seed gives these buckets
                try:
                    found = mx.anonymize.anatomy(people.sample(frac=1, random_state=trial), **other, seed=trial)
                except mx.TableError:
                    break
                assert sorted(found.n_sb.toarray().T.tolist()) != sorted(release.n_sb.toarray().T.tolist())
    assert refused_others > 5
    people, algorithm = linkage("ffmm", "xyyz")
    with pytest.raises(mx.Infeasible, match="parameters"):
        minimality(algorithm(people), partial(algorithm, r=3), population=people)


def test_anatomy_tells_much_if_seed_and_order_are_known() -> None:
    """The default seed is no secret: who knows it, and the order of the table, guesses more people right."""
    gained = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        people = pd.DataFrame({"A": range(7), "S": rng.permutation(list("xxyyzzw"))})
        algorithm = partial(mx.anonymize.anatomy, qi="A", sa="S", l=2, seed=0)
        found = minimality(algorithm(people), algorithm, population=people).judge(people)
        gained.append(found.right - found.baseline)
    assert np.mean(gained) > 0.1


def linkage(signatures: str, values: str) -> tuple[pd.DataFrame, partial[mx.Release]]:
    """Four people of two signatures, and similar linkage by their prior."""
    people = pd.DataFrame({"A": range(4), "G": list(signatures), "S": list(values)})
    table = pd.DataFrame([[0.25, 0.5, 0.15, 0.1], [0.25, 0.3, 0.35, 0.1]], columns=list("wxyz"))
    prior = mx.QIDistribution(table.set_axis(pd.Index(["f", "m"], name="G")))
    return people, partial(mx.anonymize.similar_linkage, qi=["A", "G"], sa="S", prior=prior, r=1.2)


def test_similar_linkage_tells_nothing_of_people_of_one_signature() -> None:
    """Groups that the prior does not distinguish are as those of Anatomy, averaged over all orders."""
    people, algorithm = linkage("ffmm", "xyyz")
    release = algorithm(people)
    shuffled, seeds = in_any_order(algorithm, 4)
    asked = minimality(release, shuffled, population=people, seeds=seeds)
    pd.testing.assert_frame_equal(asked.table, asked.baseline, rtol=0, atol=1e-12)
    pd.testing.assert_frame_equal(minimality(release, algorithm, population=people).table, asked.table)


def test_similar_linkage_tells_of_people_who_were_put_together() -> None:
    """Who was left over joins others: that tells the value, and is refused where not all orders can be asked."""
    people, algorithm = linkage("fmmm", "xyyz")
    release = algorithm(people)
    with pytest.raises(mx.GroupTooLarge, match="put together people whom the prior distinguishes"):
        minimality(release, algorithm, population=people)
    shuffled, seeds = in_any_order(algorithm, 4)
    asked = minimality(release, shuffled, population=people, seeds=seeds)
    assert (asked.table - asked.baseline).abs().max(axis=None) == pytest.approx(0.5)


def three_ages() -> tuple[pd.DataFrame, partial[mx.Release]]:
    """Twelve people in one group, of which three cuts were refused."""
    people = pd.DataFrame({"A": [1] * 4 + [2] * 4 + [3] * 4, "B": ["u", "v"] * 6, "S": list("xxxyzyzzxyxx")})
    return people, partial(mx.anonymize.mondrian, qi=QI, sa="S", k=4, l=3)


def test_chains_of_swaps_agree_with_counting() -> None:
    """Within some standard errors; the chains start from tables that they have to find, one of sixteen."""
    people, algorithm = three_ages()
    release, other = algorithm(people), algorithm(people.assign(S=list("xyzxxyzxzyxx")))
    first = [people["A"] <= 2, people["A"] < 2, people["B"] == "u"]  # the cuts that Mondrian tries

    def faster(table: pd.DataFrame) -> mx.Release:
        values = table["S"].to_numpy()
        poor = [min(len(set(values[low])), len(set(values[~low]))) < 3 for low in first]
        return release if all(poor) else other

    exact = minimality(release, algorithm, population=people)
    assert (exact.table - exact.baseline).abs().max(axis=None) > 0.05
    found = minimality(release, faster, population=people, limit=1)
    assert isinstance(found.error, pd.DataFrame)
    assert found.error.max(axis=None) < 0.2
    assert ((found.table - exact.table) / found.error).abs().max(axis=None) < 5
    assert found.worlds["log10_left"].isna().all()


def test_rejection_agrees_with_counting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where counting with all cuts is too much work, some decide which of many sampled assignments are kept."""
    people, algorithm = three_ages()
    people = pd.concat([people, people.assign(B="w", S=people["S"].to_numpy()[::-1])], ignore_index=True)
    algorithm = partial(mx.anonymize.mondrian, qi=QI, sa="S", k=6, l=3)
    release = algorithm(people)
    exact = minimality(release, algorithm, population=people)
    assert exact.error == 0
    most = 0
    for most in (400, 200, 100, 50, 25):
        monkeypatch.setattr(MODULE, "MOST_STEPS", most)
        found = minimality(release, algorithm, population=people, n=20_000)
        if not isinstance(found.error, float):
            break
    assert isinstance(found.error, pd.DataFrame), most
    held = found.error > 0
    off = (found.table - exact.table)[held] / found.error[held]
    assert off.abs().max(axis=None) < 5
    assert found.worlds["log10_left"].to_numpy() == pytest.approx(exact.worlds["log10_left"].to_numpy(), abs=0.1)


def test_without_diversity_mondrian_tells_nothing() -> None:
    """Cuts that only QI decide: nothing is learnt, exactly, and no table is ruled out."""
    adult = mx.datasets.load_adult().head(2_000)
    algorithm = partial(mx.anonymize.mondrian, qi=["age", "sex"], sa="education", k=5)
    result = minimality(algorithm(adult), algorithm, population=adult)
    pd.testing.assert_frame_equal(result.table, result.baseline)
    assert (result.worlds["log10_left"] == result.worlds["log10_all"]).all()


def test_truth_permuted_within_groups_is_not_found() -> None:
    """Against values that are dealt anew within each group the attack is right as often as its baseline.

    Values that are shuffled before publishing are another table, of which the algorithm tells as much as of any; then
    the prior is the truth, and what the attack says is calibrated.
    """
    adult = mx.datasets.load_adult().sample(3_000, random_state=0)
    qi = ["age", "sex", "race", "marital-status"]
    adult["salary"] = np.random.default_rng(1).permutation(adult["salary"].to_numpy())
    algorithm = partial(mx.anonymize.mondrian, qi=qi, sa="salary", k=2, l=2)
    release = algorithm(adult)
    result = minimality(release, algorithm, population=adult)
    told = (result.table - result.baseline).abs().max(axis=1) > 1e-3
    assert told.sum() > 100
    label = mx.anonymize.mondrian_table(adult, qi=qi, sa="salary", k=2, l=2)[qi].astype(str).agg("|".join, axis=1)
    rng = np.random.default_rng(2)
    dealt = adult.assign(salary=adult.groupby(label)["salary"].transform(lambda one: rng.permutation(one.to_numpy())))
    found = result.judge(dealt)
    assert abs(found.right - found.baseline) < 3 * found.standard_error
    calibration = result.judge(adult).calibration
    calibration = calibration[calibration["records"] > 0]
    slack = 4 * calibration["standard_error"] + 1e-9
    assert ((calibration["said"] - calibration["right"]).abs() <= slack + 0.01).all()


def test_what_cannot_be() -> None:
    """Releases of other parameters or people, generalised ones without people, functions that publish nothing."""
    people, algorithm = three_ages()
    release = algorithm(people)
    few = people.head(4)
    of_few = mx.anonymize.mondrian(few, qi=QI, sa="S", k=2)
    with pytest.raises(mx.Infeasible, match="makes this release of no table"):
        minimality(release, partial(mx.anonymize.mondrian, qi=QI, sa="S", k=1, l=1), population=people)
    with pytest.raises(mx.Infeasible, match="makes this release of no table"):
        minimality(of_few, lambda _: release, population=few)
    with pytest.raises(mx.Inaccurate, match="no table was found"):
        minimality(of_few, lambda _: release, population=few, limit=1)
    with pytest.raises(mx.StatementError, match="what the algorithm returns must be a Release"):
        minimality(of_few, lambda _: None, population=few)
    with pytest.raises(mx.StatementError, match="pass population="):
        minimality(release, algorithm)
    with pytest.raises(mx.TableError, match="the population"):
        minimality(release, algorithm, population=people.head(11))
    with pytest.raises(mx.StatementError, match="the algorithm has qi="):
        minimality(release, partial(mx.anonymize.mondrian, qi="A", sa="S", k=2), population=people)
    coarser = people.assign(A=[pd.Interval(0, 9, closed="both")] * len(people), B="*")
    with pytest.raises(mx.Infeasible, match="makes this release of no table"):  # Mondrian's interval ends at people
        minimality(mx.Release.from_generalized(coarser, qi=QI, sa="S"), algorithm, population=people)
    with pytest.raises(mx.StatementError, match="draws nothing at random"):
        minimality(release, algorithm, population=people, seeds=[0])

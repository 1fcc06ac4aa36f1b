"""A model in partitions: what it accepts, and that rows, answer, prices, files and measures are those in memory."""

from __future__ import annotations

import gc
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest
from scipy import stats

import maxent_cvx as mx
from maxent_cvx import E, P, measures
from maxent_cvx._utils import parallel
from maxent_cvx.model import partitioned_system
from maxent_cvx.model.partitioned_system import own_space
from maxent_cvx.releases.partitioned import divided
from support.helpers import refused
from support.knowledge import KNOWLEDGE, KNOWLEDGE_ABOUT_PEOPLE, SCORES
from support.parts import QI, in_memory, in_parts, published, random_records, some_people, whole_of
from support.rules import correlated_table

RECORDS = random_records(np.random.default_rng(3))


def model(n: int = 3, people: Any = None, records: pd.DataFrame = RECORDS) -> Any:
    return mx.MaxEnt(divided(published(records), n), people)


def check_rows(records: pd.DataFrame, knowledge: list[Any], n: int, people: Any = None) -> None:
    """Compare the rows in partitions with those in memory, every number of which must be the same."""
    release, space = published(records), whole_of(published(records), n, people)
    problem, (memory, form) = in_parts(space, knowledge), in_memory(release, knowledge, people)
    first, k = form.n_published, form.shape[0] - form.n_published
    assert [problem.shared.name(i) for i in range(k)] == [form.name(first + i) for i in range(k)]
    roles, terms = list(memory.space.codes), []
    codes = [memory.space.codes[role].tolist() for role in roles]
    place = {term: i for i, term in enumerate(zip(*codes, strict=True))}
    columns, published_rows = form.known.rows(np.arange(k)).toarray(), form.published.toarray()
    for part, source in zip(problem.parts, space.parts, strict=True):
        here = dict(own_space(source, space.marginals(frozenset())).codes)
        here["q"] = source.q_numbers[here["q"]]
        here["bucket"] = release.buckets.get_indexer(source.buckets)[here["bucket"]]
        at = np.array([place[term] for term in zip(*(here[role].tolist() for role in roles), strict=True)])
        terms += at.tolist()
        m = part.form.n_published
        assert np.array_equal(part.form.known.rows(np.arange(k)).toarray(), columns[:, at])
        rows = np.column_stack([form.low[:first], published_rows[:, at]])
        rows = rows[np.abs(rows[:, 1:]).sum(axis=1) > 0]
        in_part = np.column_stack([part.form.low[:m], part.form.published.toarray()])
        assert sorted(map(tuple, in_part)) == sorted(map(tuple, rows))
        for side in ("low", "high", "scale", "side_error", "coefficient_error"):
            assert np.array_equal(getattr(part.form, side)[m:], getattr(form, side)[first:]), side
            assert np.array_equal(getattr(problem.shared, side), getattr(form, side)[first:]), side
        for number in ("n_facts", "n_hard"):
            assert getattr(part.form, number) - m == getattr(form, number) - first == getattr(problem.shared, number)
        if form.penalties is not None:
            for penalties in (part.form.penalties, problem.shared.penalties):
                assert np.array_equal(penalties.variance, form.penalties.variance)
                assert np.array_equal(penalties.slope, form.penalties.slope)
        assert np.array_equal(part.form.weights, form.weights[at])
        assert np.array_equal(part.closed_form.counts, memory.posed.closed_form.counts[at])
        groups = memory.posed.groups
        assert np.array_equal(part.groups.records[part.groups.of_term], groups.records[groups.of_term][at])
    assert sorted(terms) == list(range(form.shape[1]))


@pytest.mark.parametrize("kind", [*KNOWLEDGE, *KNOWLEDGE_ABOUT_PEOPLE])
def test_rows_of_every_kind_are_those_of_the_whole(kind: str) -> None:
    """The columns of partitions side by side are those of the model in memory, to the last digit."""
    records = random_records(np.random.default_rng(2))
    source = KNOWLEDGE[kind](records) if kind in KNOWLEDGE else KNOWLEDGE_ABOUT_PEOPLE[kind]
    check_rows(records, [source], 7, some_people(records))


def solved(view: Any, people: Any, kinds: list[str], records: pd.DataFrame) -> Any:
    """The answer, or the error if there is none."""
    try:
        model = mx.MaxEnt(view, people)
        for kind in kinds:
            model.add(KNOWLEDGE[kind](records), label=kind)
        return model.solve()
    except mx.MaxEntError as error:
        return error


def check_answer(seed: int) -> None:
    """Draw up to three kinds of knowledge, which may contradict each other, and compare with the answer in memory."""
    rng = np.random.default_rng(seed)
    records = random_records(rng)
    people = some_people(records) if seed % 3 == 0 else None
    release, kinds = published(records), rng.permutation(list(KNOWLEDGE))[: int(rng.integers(1, 4))].tolist()
    memory, partitions = (solved(view, people, kinds, records) for view in (release, divided(release, 1 + seed % 7)))
    if isinstance(memory, Exception):
        assert type(partitions) is type(memory)
        return
    bound, tuples = memory.certificate.bound + partitions.certificate.bound + 1e-12, release.quasi_identifiers
    assert np.abs(partitions.conditional(tuples).to_numpy() - memory.conditional().to_numpy()).max() <= bound
    assert partitions.entropy == pytest.approx(memory.entropy, abs=1e-6)
    assert list(partitions.multipliers) == list(memory.multipliers)[2:]
    age, first, last = pd.Interval(25, 45), records["s"].min(), records["s"].max()
    for probability in (P(first, given={"g": "m"}), P(first) - 2 * P(last), P(first, given={"age": age})):
        assert partitions.prob(probability) == pytest.approx(memory.prob(probability), abs=1e-6)
    if people:
        assert np.abs(partitions.people().to_numpy() - memory.people().to_numpy()).max() <= bound
    frame, expected = partitions.to_frame(), memory.joint()
    joint = frame.set_index([column for column in frame if not column.startswith(("N P", "P("))]).iloc[:, 1]
    assert len(joint) == len(expected)
    assert np.abs(joint.reindex(expected.index).to_numpy() - expected.to_numpy()).max() <= bound


@pytest.mark.parametrize("seeds", [range(4), (20, 26, 30), pytest.param(range(4, 200), marks=pytest.mark.slow)])
def test_answer_is_that_in_memory(seeds: Sequence[int]) -> None:
    """A model for each number of partitions, and three contradictions that only the solver finds."""
    for seed in seeds:
        check_answer(seed)


def test_an_implied_statement_beside_a_soft_one() -> None:
    """The release contains the overall mean and P(hiv): no statement about them changes the answer."""
    mean = E("s", values=SCORES) == RECORDS.s.map(SCORES).mean()
    soft = P("hiv").softly(0.3, weight=20)
    told, untold = (m.solve().conditional({"g": "m"}) for m in (model().add(mean, soft), model()))
    assert np.abs(told.to_numpy() - untold.to_numpy()).max() < 1e-8


def test_knowledge_is_stored_by_label() -> None:
    """Labels are those of the model in memory; functions are numbered."""
    flu = P("flu", given={"g": "m"}) <= 0.9
    parts = model().add(flu, lambda space: space.prob("flu") <= 0.9, lambda space: space.prob("hiv") <= 0.9)
    assert list(parts.knowledge) == ["P(flu | g=m) <= 0.9", "your own", "your own (2)"]
    with pytest.warns(mx.RepeatedStatement):
        parts.add(P("flu", given={"g": "m"}) <= 0.9)
    with pytest.raises(mx.DuplicateLabel):
        parts.add("P(hiv) <= 0.9", label="your own")
    assert list(parts.remove("your own").knowledge) == ["P(flu | g=m) <= 0.9", "your own (2)"]
    assert parts.describe()["rows"].to_list() == [1, 1]
    limits = (lambda space: space.marginal("s") <= 0.9, lambda space: space.marginal("s") >= 0.0001)
    memory, partitions = (m.add(*limits).solve().multipliers for m in (mx.MaxEnt(published(RECORDS)), model()))
    assert list(partitions) == list(memory)[2:]


@pytest.mark.parametrize(
    "make",
    [
        lambda: lambda space: space.conditional("s", given="g").loc[("flu", "m")].softly(0.1, sd=0.1),
        lambda: mx.NoisyMarginal(RECORDS.groupby(["g", "s"]).size(), stats.laplace(scale=1)),
        lambda: mx.soft(mx.PublishedTable(RECORDS.groupby(["g", "s"]).size().rename("n").reset_index()), sd=1.0),
    ],
)
def test_a_cell_that_runs_twice(make) -> None:
    """Equal functions and sources are the same knowledge, as in memory; their evidence counts once."""
    for m in (mx.MaxEnt(published(RECORDS)), model()):
        m.add(make())
        with pytest.warns(mx.RepeatedStatement):
            m.add(make())
        assert len(m.knowledge) == 1


def test_a_contradiction_by_zeros_names_them() -> None:
    """Without anybody who may have a published value, the error names the statements that exclude people."""
    with pytest.raises(mx.Infeasible, match="P\\(flu\\) = 0"):
        model().add(P("flu") == 0, P("hiv") <= 0.9).solve()


def test_errors_are_those_in_memory() -> None:
    """A source that does not fit the release raises the same error, and nothing is added."""
    parts = model()
    for wrong in (
        P("plague", given={"g": "m"}) <= 0.3,
        P("flu", given={"height": 3}) <= 0.3,
        P("flu", who="p0") <= 0.3,
        "P(flu | s=hiv) = 0.3",
        lambda space: space.conditional("s", given="g") <= 1.3,
        lambda space: space.marginal("s") == pd.Series({"flu": 0.3}),
        lambda space: 3,
    ):
        with pytest.raises(mx.MaxEntError) as expected:
            mx.MaxEnt(published(RECORDS)).add(wrong)
        with refused(type(expected.value)):
            parts.add(wrong)
        assert not parts.knowledge


def test_what_cannot_be_divided() -> None:
    """Rows of single terms and buckets, convex constraints, parameters, rows of another space, and priors are refused."""
    for wrong in (
        lambda space: space.p[3] <= 0.01,
        lambda space: space.marginal(["s", "bucket"]) <= 0.3,
        lambda space: space.marginal("b") <= 0.3,
        lambda space: cp.sum_squares(space.marginal("s").expr) <= 0.9,
        lambda space: space.prob("flu") <= cp.Parameter(value=0.9),
        lambda space: space.prob("flu") <= space.count(RECORDS).max(),
        mx.Space.of(published(RECORDS)).marginal("s") <= 0.9,
    ):
        with refused(mx.StatementError):
            model().add(wrong)
    with refused(mx.StatementError):
        mx.MaxEnt(divided(published(RECORDS), 2), prior=mx.QIDistribution.estimate(RECORDS, qi=["g"], sa="s"))


def test_a_stopped_solve_says_what_stopped_it() -> None:
    limited = model().add(P("flu", given={"g": "m"}) == 0.3)
    for options, reason in (({"time_limit": 0}, "time limit"), ({"callback": lambda _: True}, "callback")):
        with pytest.raises(mx.Inaccurate, match=f"{reason}.*Allow more time"):
            limited.solve(**options)


def test_sources_that_depend_on_the_partition_are_errors() -> None:
    """Sides that differ between partitions, and coefficients that differ on half of one, give no wrong answer."""

    def weighted(space: mx.Space) -> mx.Rows:
        weights = pd.Series(1 / len(space), index=space.view.sensitive_values, name="weights")
        return space.marginal("s") * weights <= 0.9

    for source in (lambda space: space.prob("flu") <= min(1.0, 0.1 + 0.01 * len(space)), weighted):
        with pytest.raises(mx.StatementError):
            model(2).add(source).solve()


def test_too_many_combinations(monkeypatch: pytest.MonkeyPatch) -> None:
    """Labels for too many combinations of values are an error; statements and mined associations are not."""
    monkeypatch.setattr(partitioned_system, "MOST_COMBINATIONS", 5)
    parts = model().add(P("flu", given={"g": "m", "d": "a", "age": 20}) <= 0.9)
    with pytest.raises(mx.StatementError):
        parts.add(lambda space: space.conditional("s", given=["d", "age"]) <= 0.9)
    source = mx.StrongestAssociations(RECORDS, positive=20, negative=20)
    memory, partitions = mx.MaxEnt(published(RECORDS)).add(source).solve(), model(4).add(source).solve()
    tuples = memory.space.view.quasi_identifiers
    assert np.abs(partitions.conditional(tuples).to_numpy() - memory.conditional().to_numpy()).max() < 1e-6
    others = RECORDS.assign(s=RECORDS.s.to_numpy()[::-1], g="m")
    with pytest.raises(mx.MaxEntError):
        model(4).add(mx.StrongestAssociations(others, positive=3, negative=3))


def test_tuples_in_several_forms() -> None:
    """A table, tuples and a description give the same rows; unknown ones are an error."""
    post = model().solve()
    asked = RECORDS[QI].drop_duplicates().iloc[[3, 0]]
    table = post.conditional(asked)
    assert table.equals(post.conditional(list(asked.itertuples(index=False, name=None))))
    assert table.index.to_list() == list(asked.itertuples(index=False, name=None))
    assert (post.conditional({"g": "m"}).index.get_level_values("g") == "m").all()
    for wrong in ([("x", "a", 20)], "m", 3, pd.DataFrame({"g": ["m"]}), {"g": "x"}):
        with pytest.raises(mx.MaxEntError):
            post.conditional(wrong)
    with pytest.raises(mx.StatementError):
        post.people()


@pytest.mark.parametrize(
    ("qi", "sa", "knowledge"),
    [
        ("g", "s", P("flu", given={"g": "m"}) <= 0.4),
        (["g", "age"], ["ill", "s2"], P({"ill": "flu"}, given={"age": [20, 30]}) <= 0.4),
        (["iv", "age"], "ill", lambda space: space.conditional("ill", given="age")["flu"].diff("age") >= -0.1),
    ],
)
def test_columns_of_every_kind(qi: Any, sa: Any, knowledge: Any) -> None:
    """One attribute or several, sensitive or not, ordered categories and intervals."""
    records = RECORDS.assign(
        ill=RECORDS.s, s2=np.where(RECORDS.index % 3, "x", "y"), iv=pd.cut(RECORDS.g.map({"m": 1, "f": 5}), [0, 3, 9])
    )
    records["age"] = pd.Categorical(records["age"], [50, 40, 30, 20], ordered=True)
    release = mx.Release.from_buckets(records.drop(columns="s" if sa != "s" else "ill"), qi=qi, sa=sa, bucket="b")
    one, other = (mx.MaxEnt(view).add(knowledge).solve() for view in (release, divided(release, 4)))
    result = other.conditional(release.quasi_identifiers)
    pd.testing.assert_frame_equal(result, one.conditional(), atol=1e-8, rtol=0)
    assert other.top(1)["P"].item() == pytest.approx(one.inferences()[0].to_numpy().max(), abs=1e-8)


@pytest.mark.parametrize(
    ("name", "method"), [("P(q, s, b)", "to_frame"), ("N P(q, s, b)", "to_frame"), ("P", "top"), ("people", "top")]
)
def test_an_attribute_named_like_a_column_of_the_answer(name: str, method: str) -> None:
    """Its values are never overwritten: the table is refused."""
    release = mx.Release.from_buckets(RECORDS.rename(columns={"s": name}), qi=QI, sa=name, bucket="b")
    with refused(mx.TableError):
        getattr(mx.MaxEnt(divided(release, 2)).solve(), method)()


def test_a_folder_is_written_as_a_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One file per partition is written; an existing folder is not changed, and a failure leaves no file."""
    post = model(3).solve()
    post.to_parquet(tmp_path / "answer")
    assert len(list((tmp_path / "answer").iterdir())) == 3
    assert pd.read_parquet(tmp_path / "answer")["N P(q, s, b)"].sum() == pytest.approx(len(RECORDS))
    write = pd.DataFrame.to_parquet

    def fails_once(frame: pd.DataFrame, path: Path, **options: Any) -> None:
        if "00001" in str(path):
            raise OSError("no space left")
        write(frame, path, **options)

    monkeypatch.setattr(pd.DataFrame, "to_parquet", fails_once)
    for name in ("answer", "other"):
        with pytest.raises(mx.TableError):
            post.to_parquet(tmp_path / name)
    assert [path.name for path in tmp_path.iterdir()] == ["answer"]


@pytest.mark.parametrize("seed", range(3))
def test_prices_are_those_in_memory(seed: int) -> None:
    """Shadow prices of equations, inequalities and soft statements, whatever the number of partitions."""
    rng = np.random.default_rng(seed)
    records = random_records(rng)
    men, young = (records[records.g == "m"].s == "flu").mean(), (records[records.age == 20].s == "hiv").mean()
    knowledge = [
        P("flu", given={"g": "m"}) == float(np.clip(men + rng.uniform(-0.03, 0.03), 0.02, 0.98)),
        P("hiv", given={"age": 20}) <= float(young + 0.05 * rng.uniform()),
        P("cold", given={"d": "a"}).softly(0.2, sd=0.05),
        P("lung", given={"d": "b"}) <= 0.999,
    ]
    release = published(records)
    expected, prices = (
        mx.MaxEnt(view).add(*knowledge).solve().prices() for view in (release, divided(release, 1 + seed % 7))
    )
    assert set(prices.index) == set(expected.index)
    assert prices["price"].to_numpy() == pytest.approx(expected.loc[prices.index, "price"].to_numpy(), abs=1e-5)
    assert (prices["side"] == expected.loc[prices.index, "side"]).all()
    with refused(mx.StatementError):
        mx.MaxEnt(divided(release, 2)).add(*knowledge).solve().prices(leave_one_out=True)


def test_scratch_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Results in files give the same answer, to the last digit, and are deleted with it."""
    monkeypatch.setattr(parallel, "LARGE", 1_000)  # bytes, so that nearly everything is stored
    adult = mx.datasets.load_adult().head(3_000)
    release = divided(mx.anonymize.anatomy(adult, qi=mx.datasets.ADULT_QI, sa="education", l=5, exempt=2), 4)
    here, there = (mx.MaxEnt(release).add("P(HS-grad | sex=Male) = 0.32") for _ in range(2))
    here, stored = here.solve(threads=1), []
    there = there.solve(
        scratch=tmp_path, threads=2, callback=lambda _: stored.append(len(list(tmp_path.rglob("*.joblib"))))
    )
    assert max(stored) > 2 * release.n_partitions
    assert there.certificate == here.certificate
    asked = {"sex": "Female", "salary": ">50K"}
    assert np.array_equal(there.conditional(asked), here.conditional(asked))
    del there
    gc.collect()
    assert not list(tmp_path.rglob("*.joblib"))
    with pytest.raises(mx.TableError):
        mx.MaxEnt(release).solve(scratch=tmp_path / "none")
    with pytest.raises(mx.StatementError):
        mx.MaxEnt(release).solve(scratch=tmp_path, client=object())


def test_zeros_that_no_single_statement_implies() -> None:
    """Two limits together force four terms to be zero; the first steps to them have multipliers of 1e9."""
    table = pd.DataFrame({"q": [1, 0, 1, 0, 1, 0, 1], "s": list("cfcfcfc"), "b": [3, 3, 3, 4, 2, 2, 3]})
    view = mx.Release.from_buckets(table, qi="q", sa="s", bucket="b")
    known = [P("c", given={"q": 0}) + 2 * P("c") <= 8 / 7, P("c") == 4 / 7, P(["c", "f"], given={"q": 0}) == 1]
    known += [P("f", given={"q": 0}) >= 0.9, P("f", given={"q": 1}) <= 0.1, P("c", given={"q": 1}) >= 0.98]
    for statements in (known, [known[0], *known[3:]]):  # the two left out are implied by the release
        post = mx.MaxEnt(divided(view, 3)).add(*statements).solve()
        bound = post.certificate.bound
        assert post.certificate.holds
        assert post.conditional([(0,), (1,)]).to_numpy() == pytest.approx(np.array([[0, 1], [1, 0]]), abs=bound)


@pytest.mark.parametrize(("seed", "limit"), [(45, 0), (50, 1_000_000)], ids=["in_partitions", "together"])
def test_zeros_that_hundreds_of_scores_force(seed: int, limit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Zeros are proved by the multipliers of the answer, or partitions are solved together; without that P is refused."""
    monkeypatch.setattr("maxent_cvx.solvers.partitions_certificate.MOST_TOGETHER", limit)
    table = correlated_table(seed)
    qi = [name for name in table if name != "S"]
    release = mx.anonymize.anatomy(table, qi=qi, sa="S", l=2, exempt=1, seed=0)
    rules = mx.anonymize.mine_rules(table, qi=qi, sa="S", support=0.05, confidence=0.6)
    source = mx.PublishedRules(rules, scores="confidence", non_rules=False)
    expected = mx.MaxEnt(release).add(source).solve()
    post = mx.MaxEnt(divided(release, 4)).add(source).solve()
    conditional, close = expected.conditional(), expected.certificate.bound + post.certificate.bound
    assert close < 1e-4
    assert post.conditional(list(conditional.index)).to_numpy() == pytest.approx(conditional.to_numpy(), abs=close)
    assert (conditional.to_numpy() < 1e-9).any()


@pytest.mark.parametrize(
    "told",
    [
        mx.PublishedMoments(26.67, 11.55, of="age", given={"s": "flu"}, decimals=2),
        mx.PublishedQuantile(20, of="age", given={"s": "flu"}),
        mx.PublishedCorrelation(-0.5, ("age", {"flu": 1}), decimals=1),
    ],
    ids=["moments", "quantile", "correlation"],
)
def test_statistics_that_depend_on_the_number_of_people_with_a_value(told: mx.Source) -> None:
    """How many people have flu is published for the whole release: the answer is that in memory."""
    values = ["flu", "cold", "flu", "cold", "cold", "flu", "cold", "cold"]
    table = pd.DataFrame({"age": [20, 40, 20, 40, 20, 40, 60, 60], "s": values, "b": [0, 0, 1, 1, 2, 2, 3, 3]})
    release = mx.Release.from_buckets(table, qi="age", sa="s", bucket="b")
    expected = mx.MaxEnt(release).add(told).solve().conditional()
    got = mx.MaxEnt(divided(release, 2)).add(told).solve().conditional([(age,) for age in expected.index])
    assert got.to_numpy() == pytest.approx(expected.to_numpy(), abs=1e-6)


def test_prices_of_a_release_too_large_for_memory(release: mx.Release, monkeypatch: pytest.MonkeyPatch) -> None:
    """The multipliers of the solver are the prices, but 0 for what the release implies and infinite for zeros."""
    knowledge = ["P(Flu | Gender=male) = 0.4", "P(Breast Cancer | Gender=male) = 0", "P(Flu) = 0.3"]
    expected = mx.MaxEnt(release).add(*knowledge).solve().prices()
    monkeypatch.setattr("maxent_cvx.solvers.partitions_certificate.MOST_TOGETHER", 0)
    prices = mx.MaxEnt(divided(release, 2)).add(*knowledge).solve().prices()
    pd.testing.assert_frame_equal(prices, expected, rtol=1e-6)
    assert prices["price"].tolist()[::2] == [np.inf, 0]


# What is measured of an answer in partitions is what is measured of the same answer in memory.


def both(seed: int, n: int, named: bool) -> tuple[mx.Posterior, Any]:
    """The answers in memory and in partitions, with knowledge by which some people are exposed."""
    records = random_records(np.random.default_rng(seed))
    people = some_people(records) if named else None
    men = records[records.g == "m"]
    knowledge = [P("flu", given={"g": "m"}) == (men.s == "flu").mean(), P("hiv", given={"age": [20, 30]}) <= 0.5]
    knowledge += [P("flu", who="p0") >= 0.7][:named]
    release = published(records)
    memory, partitions = (mx.MaxEnt(view, people).add(*knowledge).solve() for view in (release, divided(release, n)))
    return memory, partitions


@pytest.mark.parametrize(("seed", "n", "named"), [(0, 1, False), (1, 3, True), (2, 7, False)])
def test_measures_are_those_in_memory(seed: int, n: int, named: bool) -> None:
    """Groups that are in several partitions are measured once, by all of their terms."""
    memory, partitions = both(seed, n, named)
    worst, expected_worst = (measures.disclosure(post, worst=True) for post in (partitions, memory))
    numbers = expected_worst.columns.drop("value")
    assert worst[numbers].to_numpy(float) == pytest.approx(expected_worst[numbers].to_numpy(float), abs=1e-6)
    assert worst["value"].item() in set(expected_worst["value"]) or worst["max_p"].item() == pytest.approx(1)

    exposed, expected = (measures.exposed(post, 0.45) for post in (partitions, memory))
    assert exposed.people == expected.people
    assert exposed.histogram.equals(expected.histogram)
    assert set(exposed.who.index) == set(expected.who.index)
    assert list(exposed.who.columns) == list(expected.who.columns)
    assert exposed.who.index.names == expected.who.index.names
    assert exposed.who["P"].to_numpy() == pytest.approx(expected.who["P"].to_numpy(), abs=1e-6)

    (table, people), surest = memory.inferences(), partitions.top(5)
    assert surest["P"].to_numpy() == pytest.approx(np.sort(table.max(axis=1).to_numpy())[::-1][:5], abs=1e-6)
    for label, row in surest.iterrows():
        assert row["P"] == pytest.approx(table.loc[label, row["s"]], abs=1e-6)
        assert row["people"] == people[table.index.get_loc(label)]

    def mean(p: np.ndarray, people: np.ndarray, numbers: np.ndarray) -> float:
        return float(people @ p[:, 0])

    assert partitions.reduce(mean, sum) == pytest.approx(float(people @ table.iloc[:, 0].to_numpy()), abs=1e-6)


@pytest.mark.parametrize(("seed", "n"), [(0, 1), (2, 7)])
def test_divergence_is_that_in_memory(seed: int, n: int) -> None:
    """The divergence is from the records that were published; other records are refused."""
    memory, partitions = both(seed, n, False)
    records = random_records(np.random.default_rng(seed))
    divergence, expected = (measures.overall_divergence(post, records) for post in (partitions, memory))
    assert divergence == pytest.approx(expected, abs=1e-6)
    assert divergence > 0
    with pytest.raises(mx.TableError):
        measures.overall_divergence(partitions, records.iloc[1:])


def test_an_infinite_divergence_is_refused() -> None:
    """If knowledge excludes the truth, a count that only comes near to 0 makes no finite divergence."""
    records = random_records(np.random.default_rng(10022))
    knowledge = [P("flu", given={"g": "m"}) == 0.3, P("hiv", given={"age": pd.Interval(15, 35)}).about(0.2, eps=0.1)]
    release = published(records)
    memory, partitions = (mx.MaxEnt(view).add(*knowledge).solve() for view in (release, divided(release, 2)))
    assert measures.overall_divergence(memory, records) == np.inf
    with pytest.raises(mx.Inaccurate):
        measures.overall_divergence(partitions, records)


def test_tables_of_everybody_are_refused() -> None:
    """A table with one row per QI tuple is as long as the release, and some measures need the records in memory."""
    partitions = both(1, 3, True)[1]
    for measure in (
        measures.disclosure,
        lambda post: measures.exposed(post, original=pd.DataFrame()),
        lambda post: measures.overall_divergence(post, RECORDS),  # of named people
    ):
        with pytest.raises(mx.StatementError):
            measure(partitions)


def test_rounded_values_at_the_end_of_the_possible_ones():
    """A value typed with 14 digits, 3e-14 above the largest possible one, is taken for a rounded one, not for a contradiction."""
    records = pd.DataFrame({"g": ["m", "m", "f"], "S": ["y", "x", "y"], "B": [2, 1, 2]})
    release, people = mx.Release.from_buckets(records, qi="g", sa="S", bucket="B"), {"A": {"g": "m"}, "B": {"g": "f"}}
    for view in (release, divided(release, 2)):
        model = mx.MaxEnt(view, people=people)
        largest = 2 * mx.Count("y", who=["A", "B"]) - mx.Count("x", who=["A", "B"]) - P("x")
        assert model.add(largest == 3.6666666666667).solve().people()["y"].to_list() == pytest.approx([1, 1])
        with pytest.raises(mx.Infeasible):
            model.copy().add(largest >= 3.7).solve()

"""A model in partitions: what it takes and refuses, and that its answer is the one in memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest

import maxent_cvx as mx
from maxent_cvx import P
from maxent_cvx.releases.partitioned import divided
from maxent_cvx.terms import partitioned as marginals
from support.parts import QI, published, random_records, some_people

RECORDS = random_records(np.random.default_rng(3))


def model(n: int = 3, people: Any = None, records: pd.DataFrame = RECORDS) -> Any:
    return mx.MaxEnt(divided(published(records), n), people)


def truths(records: pd.DataFrame) -> list[Any]:
    """Knowledge that is true of the records, of several kinds."""
    men = records[records.g == "m"]
    shares = pd.crosstab(records.d, records.s, normalize="index").stack()
    return [
        P("flu", given={"g": "m"}) == (men.s == "flu").mean(),
        P("hiv", given={"age": [20, 30]}) <= 0.6,
        (P("flu", given={"g": "f"}) - P("cold", given={"d": "b"})).softly(0.3, sd=0.1),
        lambda space: space.conditional("s", given="d").about(shares, eps=0.05),
        mx.AnsweredQueries([{"g": "f", "s": "lung"}], [int(((records.g == "f") & (records.s == "lung")).sum())], eps=1),
    ]


@pytest.mark.parametrize(
    ("seed", "n", "named"), [(0, 1, False), (1, 2, True), (2, 3, False), (3, 5, True), (4, 7, False)]
)
def test_answer_is_that_in_memory(seed: int, n: int, named: bool) -> None:
    """Each P(s | q), P(s | i), the entropy and the multipliers agree, however the release is divided."""
    records = random_records(np.random.default_rng(seed))
    people = some_people(records) if named else None
    memory, parts = mx.MaxEnt(published(records), people), model(n, people, records)
    for i, one in enumerate(truths(records)):
        memory.add(one, label=f"{i}")
        parts.add(one, label=f"{i}")
    if named:
        memory.add(P("flu", who="p0") <= 0.3)
        parts.add(P("flu", who="p0") <= 0.3)
    one, other = memory.solve(), parts.solve(threads=1)
    assert other.certificate.holds
    bound = one.certificate.bound + other.certificate.bound + 1e-9
    tuples = memory.view.quasi_identifiers
    assert np.abs(other.conditional(tuples).to_numpy() - one.conditional().to_numpy()).max() <= bound
    assert other.conditional(tuples).index.equals(one.conditional().index)
    assert other.entropy == pytest.approx(one.entropy, abs=1e-6)
    for about in ({"g": "m"}, {"age": pd.Interval(25, 45), "d": "a"}):
        assert other.prob("flu", about) == pytest.approx(one.prob("flu", about), abs=1e-6)
    assert other.prob(P("flu") - 2 * P("hiv")) == pytest.approx(one.prob(P("flu") - 2 * P("hiv")), abs=1e-6)
    assert list(other.multipliers) == list(one.multipliers)[2:]
    if named:
        assert np.abs(other.people().to_numpy() - one.people().to_numpy()).max() <= bound
        assert other.prob("flu", who="p0") == pytest.approx(one.prob("flu", who="p0"), abs=1e-6)
    frame = other.to_frame()
    joint = frame.set_index([column for column in frame if not column.startswith(("N P", "P("))]).iloc[:, 1]
    difference = joint.reindex(one.joint().index).to_numpy() - one.joint().to_numpy()
    assert len(joint) == len(one.joint())
    assert np.abs(difference).max() <= bound


def test_knowledge_is_held_by_label() -> None:
    """Labels are those of the model in memory; functions are numbered."""
    flu = P("flu", given={"g": "m"}) <= 0.9
    held = model().add(flu, lambda space: space.prob("flu") <= 0.9, lambda space: space.prob("hiv") <= 0.9)
    assert list(held.knowledge) == ["P(flu | g=m) <= 0.9", "your own", "your own (2)"]
    with pytest.warns(mx.RepeatedStatement):
        held.add(P("flu", given={"g": "m"}) <= 0.9)
    with pytest.raises(mx.DuplicateLabel):
        held.add("P(hiv) <= 0.9", label="your own")
    assert list(held.remove("your own").knowledge) == ["P(flu | g=m) <= 0.9", "your own (2)"]
    assert held.describe()["rows"].to_list() == [1, 1]
    assert set(held.solve().multipliers) == {"P(flu | g=m) <= 0.9", "your own (2)"}


def test_two_sources_of_a_class_call_their_rows_apart() -> None:
    """Rows that would be called alike carry the label of their source."""
    parts, memory = model(), mx.MaxEnt(published(RECORDS))
    for one in (parts, memory):
        one.add(lambda space: space.marginal("s") <= 0.9, lambda space: space.marginal("s") >= 0.0001)
    assert list(parts.solve().multipliers) == list(memory.solve().multipliers)[2:]


@pytest.mark.parametrize(
    "said",
    [
        P("plague", given={"g": "m"}) <= 0.3,
        P("flu", given={"height": 3}) <= 0.3,
        P("flu", given={"g": "x"}) <= 0.3,
        P("flu", who="p0") <= 0.3,
        "P(flu | s=hiv) = 0.3",
        lambda space: space.conditional("s", given="g") <= 1.3,
        lambda space: space.marginal("height") <= 0.3,
        lambda space: space.marginal("s") == pd.Series({"flu": 0.3}),
        lambda space: 3,
        "nonsense",
    ],
)
def test_errors_are_those_in_memory(said: Any) -> None:
    """A source that does not fit is refused at once, with the same words."""
    with pytest.raises(mx.MaxEntError) as expected:
        mx.MaxEnt(published(RECORDS)).add(said)
    held = model()
    with pytest.raises(type(expected.value)) as found:
        held.add(said)
    assert str(found.value) == str(expected.value)
    assert not held.knowledge


@pytest.mark.parametrize(
    "said",
    [
        lambda space: space.marginal(["s", "bucket"]) <= 0.3,
        lambda space: space.marginal("b") <= 0.3,
        lambda space: cp.sum_squares(space.marginal("s").expr) <= 0.9,
        lambda space: space.prob("flu") <= cp.Parameter(value=0.9),
        lambda space: space.prob("flu") <= space.count(RECORDS).max(),
        mx.Space.of(published(RECORDS)).marginal("s") <= 0.9,
    ],
)
def test_what_cannot_be_divided_says_so(said: Any) -> None:
    """Rows of single buckets, convex constraints, parameters of CVXPY, and rows of another space are refused."""
    with pytest.raises(mx.StatementError, match="cannot be divided"):
        model().add(said)


def test_priors_and_other_views_are_refused() -> None:
    """A prior has no rows to divide."""
    release = divided(published(RECORDS), 2)
    prior = mx.QIDistribution.estimate(RECORDS, qi=["g"], sa="s")
    for said in ({"prior": prior}, {"people": None, "prior": prior}):
        with pytest.raises(mx.StatementError, match="cannot be divided"):
            mx.MaxEnt(release, **said)
    with pytest.raises(mx.StatementError, match="cannot be divided"):
        mx.MaxEnt(release, None, prior)


def test_a_source_that_looks_at_the_terms_is_found_out() -> None:
    """What says other things of different partitions is an error, and no wrong answer."""
    held = model().add(lambda space: space.prob("flu") <= min(1.0, 0.1 + 0.01 * len(space)))
    with pytest.raises(mx.StatementError, match="cannot be divided: of one partition it says other values"):
        held.solve()


def test_coefficients_that_depend_on_other_terms_are_found_out() -> None:
    """Where names and sides are the same in all partitions, what is said of half a partition shows the difference."""

    def weighted(space: mx.Space) -> mx.Rows:
        values = space.view.sensitive_values
        return space.marginal("s") * pd.Series(1 / len(space), index=values, name="weights") <= 0.9

    held = model(2).add(weighted)
    with pytest.raises(mx.StatementError, match="other coefficients"):
        held.solve()


def test_too_many_combinations_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Labels for more combinations of values than partitions can share are an error; a statement is not."""
    monkeypatch.setattr(marginals, "MOST_COMBINATIONS", 5)
    held = model().add(P("flu", given={"g": "m", "d": "a", "age": 20}) <= 0.9)
    with pytest.raises(mx.StatementError, match="12 combinations of their values occur, and up to 5"):
        held.add(lambda space: space.conditional("s", given=["d", "age"]) <= 0.9)


def test_sources_that_see_every_tuple_are_told_by_patterns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Mining needs all QI tuples, partitions only the values that associations are about, however many tuples."""
    monkeypatch.setattr(marginals, "MOST_COMBINATIONS", 5)
    source = mx.StrongestAssociations(RECORDS, positive=20, negative=20)
    one, other = mx.MaxEnt(published(RECORDS)).add(source).solve(), model(4).add(source).solve()
    tuples = one.space.view.quasi_identifiers
    assert np.abs(other.conditional(tuples).to_numpy() - one.conditional().to_numpy()).max() < 1e-6
    strangers = RECORDS.assign(s=RECORDS.s.to_numpy()[::-1], g="m")
    with pytest.raises(mx.MaxEntError, match="not the people of the release"):
        model(4).add(mx.StrongestAssociations(strangers, positive=3, negative=3))


def test_contradictions_have_no_answer() -> None:
    """Knowledge that cannot hold is an error."""
    with pytest.raises((mx.Infeasible, mx.Inaccurate)):
        model().add("P(flu | g=m) = 0.2", "P(flu | g=m) = 0.4").solve()


def test_asked_tuples_may_be_named_in_several_ways() -> None:
    """A table, tuples and a description give the same rows; who is not there is an error."""
    post = model().solve()
    asked = RECORDS[QI].drop_duplicates().iloc[[3, 0]]
    table = post.conditional(asked)
    assert table.equals(post.conditional(list(asked.itertuples(index=False, name=None))))
    assert table.index.to_list() == list(asked.itertuples(index=False, name=None))
    assert (post.conditional({"g": "m"}).index.get_level_values("g") == "m").all()
    for wrong in ([("x", "a", 20)], "m", 3, pd.DataFrame({"g": ["m"]}), {"g": "x"}):
        with pytest.raises(mx.MaxEntError):
            post.conditional(wrong)
    with pytest.raises(mx.StatementError, match="names nobody"):
        post.people()


@pytest.mark.parametrize(
    ("qi", "sa", "said", "people"),
    [
        ("g", "s", P("flu", given={"g": "m"}) <= 0.4, None),
        ("g", "s", P("flu", given={"g": "m"}) <= 0.4, {"Ann": {"g": "m"}}),
        (["g", "age"], ["ill", "s2"], P({"ill": "flu"}, given={"age": [20, 30]}) <= 0.4, None),
        (["iv", "age"], "ill", lambda space: space.conditional("ill", given="age")["flu"].diff("age") >= -0.1, None),
    ],
)
def test_columns_of_every_kind(qi: Any, sa: Any, said: Any, people: Any) -> None:
    """One attribute or several, sensitive or not, ordered categories and intervals are those of the model in memory."""
    records = RECORDS.assign(
        ill=RECORDS.s, s2=np.where(RECORDS.index % 3, "x", "y"), iv=pd.cut(RECORDS.g.map({"m": 1, "f": 5}), [0, 3, 9])
    )
    records["age"] = pd.Categorical(records["age"], [50, 40, 30, 20], ordered=True)
    release = mx.Release.from_buckets(records.drop(columns="s" if sa != "s" else "ill"), qi=qi, sa=sa, bucket="b")
    one, other = (mx.MaxEnt(view, people).add(said).solve() for view in (release, divided(release, 4)))
    expected = one.conditional()
    found = other.conditional(release.quasi_identifiers)
    pd.testing.assert_frame_equal(found, expected, atol=1e-8, rtol=0)
    assert other.entropy == pytest.approx(one.entropy, abs=1e-8)
    assert other.to_frame().iloc[:, -1].sum() == pytest.approx(1)
    assert other.top(1)["P"].item() == pytest.approx(one.inferences()[0].to_numpy().max(), abs=1e-8)


def test_folder_is_written_as_a_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file a partition; what is there is not touched, and a failure leaves nothing."""
    post = model(3).solve()
    post.to_parquet(tmp_path / "answer")
    assert len(list((tmp_path / "answer").iterdir())) == 3
    found = pd.read_parquet(tmp_path / "answer")
    assert found["N P(q, s, b)"].sum() == pytest.approx(len(RECORDS))
    with pytest.raises(mx.TableError, match="is there already"):
        post.to_parquet(tmp_path / "answer")
    write = pd.DataFrame.to_parquet

    def fails_once(frame: pd.DataFrame, path: Path, **more: Any) -> None:
        if "00001" in str(path):
            raise OSError("no space left")
        write(frame, path, **more)

    monkeypatch.setattr(pd.DataFrame, "to_parquet", fails_once)
    with pytest.raises(mx.TableError, match="cannot be written"):
        post.to_parquet(tmp_path / "other")
    assert [one.name for one in tmp_path.iterdir()] == ["answer"]

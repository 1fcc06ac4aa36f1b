"""Named people (Privacy-MaxEnt, section 6): pseudonyms, one term for all who have none."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import maxent_cvx as mx
from maxent_cvx import Count, Infeasible, P, StatementError, TableError, UnknownName
from maxent_cvx.terms import people
from support.fig_4 import FIG_4, described
from support.helpers import refused
from support.random_models import QI, SA, publish, random_people


@pytest.fixture
def model(release: mx.Release) -> mx.MaxEnt:
    return mx.MaxEnt(release, people=FIG_4)


def expanded(records: pd.DataFrame, statements: list[mx.Statement]) -> np.ndarray:
    """Solve the table with a pseudonym for every record, written down term by term: P(s | i), people x values."""
    n, values = len(records), sorted(set(records[SA]))
    tuples = [tuple(row) for row in records[list(QI)].to_numpy()]
    buckets = {b: (pd.Series(tuples)[records["Bucket"] == b], bucket[SA]) for b, bucket in records.groupby("Bucket")}
    terms = [
        (i, s, b) for i in range(n) for b, (qs, ss) in buckets.items() if tuples[i] in set(qs) for s in sorted(set(ss))
    ]
    x = cp.Variable(len(terms), nonneg=True)  # N P(i, s, b)

    def total(chosen) -> cp.Expression:
        return cp.sum(x[[t for t, term in enumerate(terms) if chosen(*term)]])

    rows = [total(lambda i, s, b, k=k: i == k) == 1 for k in range(n)]
    for b, (qs, ss) in buckets.items():
        rows += [total(lambda i, s, c, v=v, b=b: (s, c) == (v, b)) == m for v, m in ss.value_counts().items()]
        rows += [total(lambda i, s, c, q=q, b=b: (tuples[i], c) == (q, b)) == m for q, m in qs.value_counts().items()]
    for statement in statements:
        expression: cp.Expression = cp.Constant(0)
        for event, coefficient in statement.terms:
            wanted = next(choice.values for _, choice in event.value)
            if event.who is None:
                of = {name: next(iter(choice.values)) for name, choice in event.given}
                who = [i for i in range(n) if all(records.loc[i, name] == value for name, value in of.items())]
                share = len(who)
            else:
                who, share = [int(name[1:]) for name in event.who], 1
            expression += coefficient * total(lambda i, s, b, who=who, wanted=wanted: i in who and s in wanted) / share
        rows += [expression >= statement.low] * bool(np.isfinite(statement.low))
        rows += [expression <= statement.high] * bool(np.isfinite(statement.high))
    cp.Problem(cp.Maximize(cp.sum(cp.entr(x))), rows).solve(cp.CLARABEL)
    table = np.zeros((n, len(values)))
    for (i, s, _), count in zip(terms, x.value, strict=True):
        table[i, values.index(s)] += count
    return table


# -- what is true of naming --------------------------------------------------------------------------------


@given(seed=st.integers(0, 10_000))
def test_naming_alone_changes_nothing(seed: int):
    """A name is no knowledge: P(s | q) stays, everybody with q has it, and H rises by sum P(q) log n(q)."""
    records, named, _ = random_people(seed)
    release = publish(records)
    without = mx.MaxEnt(release).solve()
    post = mx.MaxEnt(release, people=described(records, named)).solve()
    np.testing.assert_allclose(post.conditional(), without.conditional(), atol=1e-9)
    for name, row in post.people().iterrows():
        who = records.loc[int(str(name)[1:]), list(QI)]
        np.testing.assert_allclose(row, without.conditional().loc[tuple(who)], atol=1e-9)
    n_q = release.n_q
    assert post.entropy - without.entropy == pytest.approx(n_q @ np.log(n_q) / release.n_records, abs=1e-9)


@given(seed=st.integers(0, 10_000))
def test_lumped_is_the_full_expansion(seed: int):
    """The answer is that of the paper's table with a pseudonym for every record, written down without this package.

    With everybody named, people and QI tuples have the same probabilities, and H is equal.
    """
    records, named, said = random_people(seed)
    release = publish(records)
    some = mx.MaxEnt(release, people=described(records, named)).add(*said).solve()
    table = expanded(records, said)
    np.testing.assert_allclose(some.people(), table[named], atol=2e-3)  # CLARABEL's own precision, near zeros
    every = mx.MaxEnt(release, people=described(records, list(range(len(records))))).add(*said).solve()
    assert len(every.people()) == len(records)
    bound = some.certificate.bound + every.certificate.bound + 1e-9
    np.testing.assert_allclose(every.people().loc[some.people().index], some.people(), atol=bound)
    np.testing.assert_allclose(every.conditional(), some.conditional(), atol=bound)
    assert every.entropy == pytest.approx(some.entropy, abs=1e-6)


# -- section 6 on Fig. 4 -----------------------------------------------------------------------------------


def terms_of(model: mx.MaxEnt, statement: mx.Statement) -> list[tuple[object, ...]]:
    """The terms of a statement's one row, as (person, value, bucket), each with the coefficient N."""
    (rows,) = statement.rows(model.space)
    assert rows.matrix.data.tolist() == [10.0] * rows.matrix.nnz
    labels = model.space.index[rows.matrix.indices]
    return sorted(zip(*(labels.get_level_values(name) for name in ("who", "Disease", "Bucket")), strict=True))


def test_one_person(model):
    """Section 6 (1) and (2): P(i1, q1, s1, 1) + P(i1, q1, s1, 2) = 0.2 / N; or Alice has s1 or HIV, three terms."""
    one, several = P("Breast Cancer", who="Alice") == 0.2, P(["Breast Cancer", "HIV"], who="Alice") == 1
    terms = [("Alice", "Breast Cancer", 1), ("Alice", "Breast Cancer", 2)]
    assert terms_of(model, one) == terms
    assert terms_of(model, several) == [*terms, ("Alice", "HIV", 2)]
    post = model.copy().add(one).solve()
    assert post.people().loc["Alice", "Breast Cancer"] == pytest.approx(0.2)
    assert post.prob("Breast Cancer", {"Gender": "male", "Degree": "college"}) > 0.2  # the other two make up for it
    alice = model.add(several).solve().people().loc["Alice"]
    assert alice["Breast Cancer"] + alice["HIV"] == pytest.approx(1)
    assert alice["Flu"] == alice["Pneumonia"] == 0


@pytest.mark.parametrize("relation", ["=", ">="])
def test_several_people(model, relation):
    """Section 6 (3): two of Alice, Bob and Charlie have HIV, or at least two.

    As HIV occurs once in bucket 2, where only Alice can be, and once in bucket 3, Alice has it for certain.
    """
    model.add(f"#(HIV: Alice, Bob, Charlie) {relation} 2")
    terms = [("Alice", "HIV", 2), ("Bob", "HIV", 3), ("Charlie", "HIV", 3)]
    assert terms_of(model, next(iter(model.knowledge.values()))) == terms
    people = model.solve().people()
    assert people["HIV"].sum() == pytest.approx(2)
    assert people.loc["Alice", "HIV"] == pytest.approx(1)
    assert model.bounds("P(HIV | Alice)")[0] == pytest.approx(1)


@pytest.mark.parametrize("statement", ["#(HIV: Alice, Bob, Charlie) >= 3", "P(Lung Cancer | Alice) = 0.1"])
def test_what_cannot_hold(model, statement):
    """Section 6: at least three with HIV is impossible, as two have it in all; so is Lung Cancer of Alice."""
    with refused(Infeasible):
        model.add(statement).solve()


# -- what else looks at people -----------------------------------------------------------------------------


def test_many_people_are_announced(release, monkeypatch):
    """A model of many terms is announced by a warning; people without a name have the same probabilities as others."""
    alice = {"Alice": dict(FIG_4["Alice"])}
    every, one = (mx.MaxEnt(release, people=named).add("P(HIV | Alice) = 0.5").solve() for named in (FIG_4, alice))
    np.testing.assert_allclose(every.conditional(), one.conditional(), atol=1e-9)
    np.testing.assert_allclose(every.people().loc["Alice"], one.people().loc["Alice"], atol=1e-9)
    monkeypatch.setattr(people, "MANY_TERMS", len(every.space))
    with pytest.warns(mx.LargeModel, match=f"{len(every.space)} terms") as caught:
        mx.MaxEnt(release, people=FIG_4)
    assert caught[0].filename == __file__
    mx.MaxEnt(release, people=alice)


# -- what is refused ---------------------------------------------------------------------------------------

MAN, JUNIOR = {"Gender": "male", "Degree": "college"}, {"Gender": "female", "Degree": "junior"}
WRONG = [
    (StatementError, {"Alice": {"Gender": "male", "Degree": "junior"}}),  # not in the release
    (UnknownName, {"Alice": MAN | {"Gender": "mael"}}),
    (StatementError, {"Alice": JUNIOR, "Bob": JUNIOR}),  # more than there are
    (StatementError, pd.DataFrame(MAN, index=["Alice", "Bob", "Alice"])),
    (StatementError, {"Alice": MAN, "Bob": {"Gender": "male"}}),
    (StatementError, {"Alice": {"Gender": "male"}}),
    (UnknownName, {"Alice": MAN | {"Disease": "Flu"}}),
    (StatementError, {"Alice": "male"}),
    (StatementError, ["Alice"]),
    (StatementError, {"Alice": MAN | {"Gender": ["male"]}}),
    (StatementError, {None: MAN}),
    (StatementError, {"(others)": MAN}),
    (StatementError, pd.DataFrame([["male", "male", "college"]], ["Alice"], ["Gender", "Gender", "Degree"])),
]


def test_wrong_descriptions(release, hospital):
    """People who are not described once and in full are refused, and a column that is called as they are."""
    for error, named in WRONG:
        with refused(error):
            mx.MaxEnt(release, people=named)
    renamed = hospital.rename(columns={"Gender": "who"})
    other = mx.Release.from_buckets(renamed, qi=["who", "Degree"], sa="Disease", bucket="Bucket")
    assert mx.MaxEnt(other).solve().prob("Flu") == pytest.approx(0.3)
    with refused(StatementError):
        mx.MaxEnt(other, people={"Alice": {"who": "male", "Degree": "college"}})


def test_a_column_is_called_who(hospital):
    """Where nobody is named, a column that is called who is a column like all others."""
    views = [
        mx.Release.from_buckets(table, qi=[name, "Degree"], sa="Disease", bucket="Bucket")
        for name, table in (("Gender", hospital), ("who", hospital.rename(columns={"Gender": "who"})))
    ]
    gender, who = (mx.Space.of(view).marginal([view.qi[0], "s"]) for view in views)
    assert who.index.to_list() == gender.index.to_list()
    assert who["male", ["Flu"]].index.to_list() == gender["male", ["Flu"]].index.to_list()


def test_wrong_statements(model, release, hospital):
    """People who are not known, counted twice, or described where they are named; records without names."""
    for error, call in (
        (UnknownName, lambda: model.add("P(HIV | Alicia) = 0.2")),
        (StatementError, lambda: mx.MaxEnt(release).add("P(HIV | Alice) = 0.2")),
        (StatementError, lambda: Count("HIV", who=["Alice", "Bob", "Alice"])),
        (StatementError, lambda: P("HIV", who=["Alice", "Bob"])),
        (StatementError, lambda: P("HIV", given={"Gender": "male"}, who="Alice")),
        (mx.BadProbability, lambda: Count("HIV", who=["Alice", "Bob"]).between(1, 3)),
        (StatementError, lambda: Count("HIV", who=[])),
        (StatementError, lambda: P("HIV", who=2.5)),
        (StatementError, lambda: mx.MaxEnt(release).solve().people()),
        (UnknownName, lambda: mx.MaxEnt(release).space.marginal("who")),
        (TableError, lambda: model.space.count(hospital)),
        (TableError, lambda: model.space.count(hospital, id="Name")),
    ):
        with refused(error):
            call()

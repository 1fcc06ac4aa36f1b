"""The model: knowledge goes in whole or not at all, under a label, and comes out again."""

from __future__ import annotations

import cvxpy as cp
import pandas as pd
import pytest

from maxent_cvx import (
    DuplicateLabel,
    LabelMismatch,
    MaxEnt,
    P,
    Release,
    RepeatedStatement,
    Source,
    Space,
    StatementError,
    StrongestAssociations,
    UnknownName,
)
from support.helpers import refused

FLU = P("Flu", given={"Gender": "male"})
PUBLISHED = "published buckets"


@pytest.fixture
def model(release):
    """A model that knows nothing yet."""
    return MaxEnt(release)


def test_published_data_come_first(model):
    """A model starts with the invariants of its release, and with no knowledge (section 3.4)."""
    assert model.knowledge == {}
    assert model.describe().loc[PUBLISHED, ["source", "rows", "terms"]].tolist() == ["BucketInvariants", 18, 27]


def test_nothing_is_half_added(model):
    """If one of several pieces of knowledge is bad none is added, and nothing that was known is lost."""
    model.add(P("HIV") <= 0.3)
    before = model.describe()
    for bad, error in ((P("Fluu") <= 0.3, UnknownName), (3, StatementError), (P("HIV") <= 0.3, None)):
        with pytest.raises(error) if error else pytest.warns(RepeatedStatement):
            model.add(FLU == 0.3, bad)
        if error:
            pd.testing.assert_frame_equal(model.describe(), before)
    assert list(model.knowledge) == ["P(HIV) <= 0.3", str(FLU == 0.3)]
    with pytest.raises(LabelMismatch):
        model.add(P("Flu") <= 0.4, lambda space: space.marginal("s") <= pd.Series({"Flu": 0.3}))
    assert len(model.knowledge) == 2


def test_repeated_knowledge(model, hospital):
    """Knowledge that is added again, under any label, is not stored again; a warning has the line of the caller."""
    model.add(FLU == 0.3, label="gossip")
    for again in ({}, {"label": "gossip"}, {"label": "news"}):
        with pytest.warns(RepeatedStatement) as caught:
            assert model.add(FLU == 0.3, **again) is model
        assert caught[0].filename == __file__
    with pytest.warns(RepeatedStatement):
        MaxEnt(model.view).add(FLU == 0.3, FLU == 0.3)
    for make in (lambda: lambda space: space.prob("HIV") <= 0.3, lambda: StrongestAssociations(hospital, 1, 1)):
        model.add(make())
        with pytest.warns(RepeatedStatement):
            model.add(make())
    model.add(lambda space: space.prob("HIV") <= 0.25)
    assert list(model.knowledge) == ["gossip", "your own", "Top-(1, 1) strongest associations", "your own (2)"]


def test_one_label_for_two_statements(model):
    """A different statement or source with a label that is already used is refused."""
    model.add(FLU == 0.3, label="gossip")
    for other in (FLU == 0.4, FLU <= 0.3, P("HIV") == 0.2, lambda space: space.prob("HIV") <= 0.3):
        with refused(DuplicateLabel):
            model.add(other, label="gossip")
    assert list(model.knowledge) == ["gossip"]
    assert model.knowledge["gossip"].same_as(FLU == 0.3)
    model.add(AtMost(0.4))
    with refused(DuplicateLabel):
        model.add(AtMost(0.3))
    assert list(model.add(AtMost(0.45), label="higher").knowledge) == ["gossip", "AtMost", "higher"]


def test_remove(model):
    """Removed knowledge is gone from knowledge, rows and problem; a mistyped label is refused."""
    model.add(FLU == 0.3, label="gossip").add(P("HIV") <= 0.3, label="news")
    assert model.form.shape[0] == 20
    with refused(UnknownName):
        model.remove("gosip")
    assert model.remove("gossip") is model
    assert model.form.shape[0] == 19
    model.add(FLU == 0.4, label="gossip")
    assert list(model.knowledge) == ["news", "gossip"]


def test_copy(model):
    """Copies are independent: what is added to or removed from one does not change the other."""
    model.add(FLU == 0.3, label="gossip")
    assert list(model.constraints) == ["published buckets", "gossip"]
    twin = model.copy().add(P("HIV") <= 0.3, label="news")
    model.remove("gossip")
    assert (list(model.knowledge), list(twin.knowledge)) == ([], ["gossip", "news"])
    assert (model.form.shape[0], twin.form.shape[0]) == (18, 20)
    assert twin.view is model.view


def test_describe_notes_what_touches_no_term(model):
    """A statement about a record that cannot exist touches no term, and is noted (Eq. (6))."""
    model.add(P("Lung Cancer", given={"Degree": "junior"}) <= 0.3, label="impossible")
    described = model.describe()
    assert described.loc["impossible", ["rows", "terms"]].tolist() == [1, 0]
    assert "redundant" in described.loc["impossible", "note"]
    assert described.loc[PUBLISHED, "note"] == ""


# What is knowledge.


class AtMost(Source):
    """P(s | q) <= limit for every q and s; the limit is not in the label."""

    def __init__(self, most):
        self.limit = most

    def rows(self, space):
        yield space.conditional("s", given="q") <= self.limit


def several(space):
    yield space.prob("HIV") <= 0.3
    yield P("Flu") == 0.3
    yield space.marginal("s") <= 0.9


def test_functions(release):
    """A function of the space may return rows, a statement, a CVXPY constraint, a source, or several of them."""
    for function, rows in [
        (lambda space: space.marginal("s") <= 0.9, 5),
        (lambda space: P("Flu") == 0.3, 1),
        (lambda space: space.prob("HIV") <= 0.3, 1),
        (lambda space: [space.prob(value) <= 0.5 for value in ("HIV", "Flu")], 2),
        (lambda space: (space.prob(value) <= 0.5 for value in ("HIV", "Flu")), 2),
        (lambda space: cp.abs(space.prob("HIV") - 0.2) <= 0.1, 2),
        (lambda space: cp.exp(space.prob("HIV")) <= 1.3, 0),
        (lambda space: AtMost(0.9), 22),  # 27 terms, of which 5 pairs of q and s are in two buckets
        (several, 7),
    ]:
        model, name = MaxEnt(release).add(function), "several" if function is several else "your own"
        assert list(model.knowledge) == [name]
        assert model.describe().loc[name, "rows"] == rows
        assert len(model.convex) == (rows == 0)


def test_what_is_no_knowledge(model):
    """Objects that are no statement about the terms, and a source that emits no rows, are refused."""
    sources = [
        type("Broken", (Source,), {"rows": lambda self, space, emitted=emitted: emitted})()
        for emitted in (None, 3, "text")
    ]
    for wrong in (None, 3, "gossip", FLU, [FLU == 0.3], P, StrongestAssociations, AtMost, *sources):
        with refused(StatementError):
            model.add(wrong)
    assert model.knowledge == {}
    bare = type("Bare", (Source,), {"rows": lambda self, space: space.marginal("s") <= 0.9})
    assert model.add(bare()).describe().loc["Bare", "rows"] == 5  # without a list


def test_rows_of_a_release_with_as_many_terms(model, hospital):
    """Rows over as many terms in another order would be read by position: refused."""
    hospital["Disease"] = hospital["Disease"].replace("Flu", "Zoster")
    other = Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    with refused(StatementError):
        model.add(Space.of(other).marginal("s") <= 0.9)

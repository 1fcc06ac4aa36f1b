"""What a view says: its published counts, unless its class says more; and what is wrong with a view is told."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given

import maxent_cvx as mx
from maxent_cvx import DuplicateLabel, P, StatementError, TableError
from maxent_cvx.sources.invariants import (
    BucketInvariants,
    PublishedCounts,
    PublishedRows,
    QIConstraints,
    published_sources,
)
from support.helpers import refused
from support.stored_views import KINDS
from support.strategies import microdata, publish


class Plain(mx.View):
    """A view that says what another does, and of which nothing is known but that."""

    noun = "view"
    n_q = n_s = published = axes = None

    def __init__(self, view: mx.View, **other: Any) -> None:
        for name in ("qi", "sensitive", "quasi_identifiers", "sensitive_values", "n_q", "n_s", "published", "axes"):
            setattr(self, name, other.get(name, getattr(view, name)))
        self.numbered = other.get("terms", view.terms())

    def terms(self) -> dict[str, np.ndarray]:
        return self.numbered


@given(frame=microdata(("text", "whole")))
def test_the_default_says_what_bucket_invariants_do(frame):
    """Counts alone, without a closed form, have the answer of Eq. (9)."""
    release = publish(frame)
    plain = mx.MaxEnt(Plain(release))
    assert [type(fact) for fact in plain.facts] == [PublishedCounts]
    ours, theirs = plain.solve(), mx.MaxEnt(release).solve()
    np.testing.assert_allclose(ours.joint(), theirs.joint(), atol=1e-9)
    assert ours.certificate.holds


def test_the_default_with_knowledge(release):
    """Bounds, certainties, prices, contradictions and names are those of a release."""
    said = ["P(Flu | Gender=male) = 0.4", "P(Breast Cancer | Gender=male) = 0"]
    one, other = (mx.MaxEnt(view).add(*said) for view in (release, Plain(release)))
    np.testing.assert_allclose(one.solve().joint(), other.solve().joint(), atol=1e-8)
    for asked in (P("HIV", given={"Gender": "male"}), P("Flu", given={"Degree": "college"})):
        assert one.bounds(asked) == pytest.approx(other.bounds(asked), abs=1e-7)
        assert mx.MaxEnt(release).bounds(asked) == pytest.approx(mx.MaxEnt(Plain(release)).bounds(asked), abs=1e-7)
    pd.testing.assert_frame_equal(one.solve().prices(), other.solve().prices(), atol=1e-7)
    certain = [post.certain(progress=False)[["probability", "people"]] for post in (one.solve(), other.solve())]
    assert set(certain[0].index) <= set(certain[1].index)
    clash = [model.copy().add("P(HIV | Gender=male) >= 0.6").diagnose().index for model in (one, other)]
    assert set(clash[0]) == set(clash[1])
    people = {"Allen": {"Gender": "male", "Degree": "college"}}
    named = [mx.MaxEnt(view, people=people).add("P(Flu | Allen) <= 0.2").solve() for view in (release, Plain(release))]
    np.testing.assert_allclose(*(post.people() for post in named), atol=1e-8)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in ("people", "prior")])
def test_the_default_for_every_kind(kind):
    """The counts of a view are what its own sources say, but for a series, whose releases say more than its counts."""
    model = KINDS[kind]()
    if kind == "series":
        return
    plain = mx.MaxEnt(Plain(model.view)).add(*model.knowledge.values())
    np.testing.assert_allclose(plain.solve().joint(), model.solve().joint(), atol=1e-7)


def test_one_table_has_a_closed_form():
    """Of one table the answer is known: who is counted together has any term alike; and so are bounds."""
    people = pd.DataFrame({"Q": ["x", "x", "x", "y"]})
    table = mx.QITable(people, qi="Q", sa="S", sa_values=["a", "b"])
    for who in (None, {"Ann": {"Q": "x"}}):
        model, ours = mx.MaxEnt(table, people=who), PublishedCounts(table)
        assert isinstance(model.invariants, QIConstraints)
        for mine, theirs in zip(ours.closed_form(model.space), model.invariants.closed_form(model.space), strict=True):
            np.testing.assert_allclose(mine, theirs)
    some = np.array([0, 2])  # a of x, and a of y
    assert ours.closed_bounds(mx.MaxEnt(table).space, some) == (0.0, 4.0)
    assert ours.closed_bounds(mx.MaxEnt(table).space, np.arange(2)) == (3.0, 3.0)
    assert mx.MaxEnt(Plain(table)).bounds("P(a)") == (0.0, 1.0)


def test_a_subclass_says_what_its_parent_does(hospital):
    """The rows of a release are those of its subclass, until that says more."""

    class Mine(mx.Release):
        pass

    roles = {"qi": ["Gender", "Degree"], "sa": "Disease", "bucket": "Bucket"}
    release = Mine.from_buckets(hospital, **roles)
    assert [type(fact) for fact in mx.MaxEnt(release).facts] == [BucketInvariants]

    class NoFluOfMen(mx.Source):
        """P(Flu | male) = 0."""

        def rows(self, space):
            yield space.prob("HIV", given={"Degree": "junior"}) == 0

    @published_sources.register(Mine)
    def _(view: Mine) -> tuple[PublishedRows, mx.Source]:
        return BucketInvariants(view), NoFluOfMen()

    model = mx.MaxEnt(release)
    assert model.solve().prob("HIV", given={"Degree": "junior"}) == pytest.approx(0, abs=1e-12)
    assert not model.knowledge

    @published_sources.register(Mine)
    def _(view: Mine) -> tuple[PublishedRows, mx.Source]:
        return PublishedCounts(view), PublishedCounts(view)

    with refused(DuplicateLabel, "Mine"):
        mx.MaxEnt(release)


def test_rows_without_a_closed_form(release):
    """Rows alone do: no closed form, no bounds of it; one without the other is told."""

    class Rows(PublishedRows):
        """As published."""

        def rows(self, space):
            yield from PublishedCounts(release).rows(space)

    class HalfKnown(Rows):
        """The answer is known, and what it bounds is not."""

        def closed_form(self, space):
            return BucketInvariants(release).closed_form(space)

    class Mine(Plain):
        pass

    expected = mx.MaxEnt(release).solve()
    published_sources.register(Mine)(lambda view: (Rows(),))
    np.testing.assert_allclose(mx.MaxEnt(Mine(release)).solve().joint(), expected.joint(), atol=1e-9)
    assert mx.MaxEnt(Mine(release)).bounds("P(Flu | Gender=male)") == pytest.approx((1 / 6, 0.5))
    published_sources.register(Mine)(lambda view: (HalfKnown(),))
    np.testing.assert_allclose(mx.MaxEnt(Mine(release)).solve().joint(), expected.joint(), atol=1e-12)
    with refused(StatementError, "HalfKnown", "closed_bounds"):
        mx.MaxEnt(Mine(release)).bounds("P(Flu | Gender=male)")


def changed(codes: dict[str, np.ndarray], role: str, at: int, to: int) -> dict[str, np.ndarray]:
    """Terms with one code exchanged."""
    code = codes[role].copy()
    code[at] = to
    return {**codes, role: code}


def wrong_views(release: mx.Release) -> dict[str, tuple[dict[str, Any], tuple[str, ...]]]:
    """What can be wrong with a view, and what is said of it."""
    terms, published = release.terms(), dict(release.published)
    qb, sb = ("q", "bucket"), ("s", "bucket")
    more = published[sb].copy()
    more.iloc[0] += 1
    n = len(terms["q"])
    return {
        "n_q is too short": ({"n_q": release.n_q[:-1]}, ("n_q", "6 counts")),
        "n_q is no count": ({"n_q": release.n_q / 3}, ("n_q", "integers")),
        "n_q is negative": ({"n_q": -release.n_q}, ("n_q", "at least 0")),
        "n_q counts nobody": ({"n_q": np.array([2, 1, 1, 4, 0, 2])}, ("n_q", "'male', 'graduate'")),
        "n_q is of others": ({"n_q": release.n_q[::-1]}, ("n_q and the table by", "do not go together")),
        "n_q is no array": ({"n_q": None}, ("n_q", "6 counts")),
        "n_s is too long": ({"n_s": np.append(release.n_s, 0)}, ("n_s", "5 counts")),
        "n_s is of others": ({"n_s": release.n_s[::-1]}, ("n_s and the table by", "do not go together")),
        "n_s is of more": ({"n_s": release.n_s + 1}, ("n_s", "15 records", "10")),
        "terms out of range": ({"terms": changed(terms, "s", 0, 5)}, ("terms()", "'s' from 0 to 4")),
        "terms below range": ({"terms": changed(terms, "q", 0, -1)}, ("terms()", "'q' from 0 to 5")),
        "terms twice": ({"terms": changed(terms, "s", 1, terms["s"][0])}, ("terms()", "each term once")),
        "terms turned round": ({"terms": {r: c[::-1] for r, c in terms.items()}}, ("sorted by bucket, then q",)),
        "terms of other lengths": ({"terms": {**terms, "q": terms["q"][:-1]}}, ("equally many",)),
        "no terms": ({"terms": {r: c[:0] for r, c in terms.items()}}, ("equally many",)),
        "terms without a role": ({"terms": {"q": terms["q"], "s": terms["s"]}}, ("codes of 'q', 's', 'bucket'",)),
        "terms in floating point": ({"terms": {**terms, "q": terms["q"] * 1.0}}, ("array of integers",)),
        "terms that are missing": (
            {"terms": {r: c[terms["q"] > 0] for r, c in terms.items()}},
            ("the table by ('q', 'bucket')", "counts", "no term"),
        ),
        "a role that is none": ({"published": {**published, ("who",): more}}, ("('who',)", "cannot be", "'who'")),
        "no Series": ({"published": {**published, sb: dict(more)}}, ("('s', 'bucket')", "Series")),
        "no mapping": ({"published": [more]}, ("dictionary",)),
        "counts of more people": ({"published": {**published, sb: more}}, ("11 records", "10")),
        "other labels": ({"published": {**published, sb: more.rename({"Flu": "Fluu"})}}, ("'Fluu'", "no term")),
        "a label lost": ({"published": {**published, qb: published[qb].iloc[1:]}}, ("lacks", "add 0")),
        "a label twice": (
            {"published": {**published, qb: pd.concat([published[qb], published[qb].head(1)])}},
            ("repeats", "one count per label"),
        ),
        "labels turned round": ({"published": {**published, qb: published[qb].iloc[::-1]}}, ("order", "sort")),
        "levels called otherwise": (
            {"published": {**published, qb: published[qb].rename_axis(["A", "B", "C"])}},
            ("['A', 'B', 'C']", "must have the names ['Gender', 'Degree', 'Bucket']"),
        ),
        "no table of people": ({"published": {sb: published[sb]}}, ("a table by 'q'", "pd.Series(n_q")),
        "n_s that nothing says": ({"published": {qb: published[qb]}}, ("has n_s", "let n_s be None")),
        "qi is no tuple": ({"qi": ["Gender", "Degree"]}, ("qi of a Plain", "tuple")),
        "other columns than axes have": ({"qi": ("Gender", "Grade")}, ("axes['q']", "['Gender', 'Grade']")),
        "labels of other columns": (
            {"sensitive": ("Illness",), "axes": {**release.axes, "s": (("Illness",), release.sensitive_values)}},
            ("'s'", "named ['Disease']"),
        ),
        "an Index for a MultiIndex": (
            {"quasi_identifiers": release.quasi_identifiers.to_flat_index()},
            ("quasi_identifiers", "MultiIndex"),
        ),
        "labels twice": (
            {"axes": {**release.axes, "bucket": (("Bucket",), release.buckets[[0, 0, 1]])}},
            ("'bucket'", "repeats 1"),
        ),
        "axes in another order": ({"axes": dict(reversed(release.axes.items()))}, ("'q' and 's' come first",)),
        "a column of two roles": (
            {"axes": {**release.axes, "bucket": (("Gender",), release.buckets)}},
            ("one role", "'Gender'"),
        ),
        "more terms than labels": ({"terms": {r: np.tile(c, n) for r, c in terms.items()}}, ("each term once",)),
    }  # fmt: skip


RELEASE = KINDS["release"]().view


@pytest.mark.parametrize("what", wrong_views(RELEASE))
def test_what_is_wrong_with_a_view(what):
    """It is told by what was found and expected, before anything is solved; and no other error is raised."""
    other, says = wrong_views(RELEASE)[what]
    for who in (None, {"Allen": {"Gender": "male", "Degree": "college"}}):
        with refused(TableError, *says):
            mx.MaxEnt(Plain(RELEASE, **other), people=who)


def test_a_label_that_nobody_has(release):
    """A count of 0 is said of the terms with the label, which are empty then; without terms it is refused."""
    published = dict(release.published)
    values = published["s", "bucket"].copy()
    values["Flu", 1], values["Pneumonia", 1] = 0, 3
    view = Plain(release, published={**published, ("s", "bucket"): values}, n_s=None)
    model = mx.MaxEnt(view)
    assert [fact.label for fact in model.facts] == ["published counts", "published zeros"]
    post = model.solve()
    flu = post.joint().xs("Flu", level="Disease")
    assert flu.xs(1, level="Bucket").max() < 1e-9
    assert flu.xs(3, level="Bucket").sum() == pytest.approx(0.1)
    more = pd.concat([values, pd.Series(0, pd.MultiIndex.from_tuples([("Flu", 9)], names=["Disease", "Bucket"]))])
    with refused(TableError, "0 for ('Flu', 9)"):
        mx.MaxEnt(Plain(release, published={**published, ("s", "bucket"): more}, n_s=None))

"""The sources of a view: its published counts, unless its class has others; and typed errors of wrong views."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given

import maxent_cvx as mx
from maxent_cvx import DuplicateLabel, StatementError, TableError
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


def test_one_table_has_a_closed_form():
    """The answer for one table is known, as people in one cell are alike; so are its bounds."""
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


def test_a_subclass_has_the_sources_of_its_parent(hospital):
    """The rows of a release are those of its subclass, until other sources are registered for it."""

    class Mine(mx.Release):
        pass

    class NoHIV(mx.Source):
        """P(HIV | junior) = 0."""

        def rows(self, space):
            yield space.prob("HIV", given={"Degree": "junior"}) == 0

    release = Mine.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    assert [type(fact) for fact in mx.MaxEnt(release).facts] == [BucketInvariants]
    published_sources.register(Mine)(lambda view: (BucketInvariants(view), NoHIV()))
    model = mx.MaxEnt(release)
    assert model.solve().prob("HIV", given={"Degree": "junior"}) == pytest.approx(0, abs=1e-12)
    assert not model.knowledge
    published_sources.register(Mine)(lambda view: (PublishedCounts(view), PublishedCounts(view)))
    with refused(DuplicateLabel):
        mx.MaxEnt(release)


def test_rows_without_a_closed_form(release):
    """Sources of rows need no closed form; one with a closed form, but without bounds, is refused by bounds."""

    class Rows(PublishedRows):
        """As published."""

        def rows(self, space):
            yield from PublishedCounts(release).rows(space)

    class HalfKnown(Rows):
        """The answer is known, and its bounds are not."""

        def closed_form(self, space):
            return BucketInvariants(release).closed_form(space)

    class Mine(Plain):
        pass

    expected = mx.MaxEnt(release).solve()
    for source in (Rows, HalfKnown):
        published_sources.register(Mine)(lambda view, source=source: (source(),))
        np.testing.assert_allclose(mx.MaxEnt(Mine(release)).solve().joint(), expected.joint(), atol=1e-9)
        if source is Rows:
            assert mx.MaxEnt(Mine(release)).bounds("P(Flu | Gender=male)") == pytest.approx((1 / 6, 0.5))
    with refused(StatementError):
        mx.MaxEnt(Mine(release)).bounds("P(Flu | Gender=male)")


def changed(codes: dict[str, np.ndarray], role: str, at: int, to: int) -> dict[str, np.ndarray]:
    """Terms with one code exchanged."""
    code = codes[role].copy()
    code[at] = to
    return {**codes, role: code}


RELEASE = KINDS["release"]().view
TERMS, PUBLISHED = RELEASE.terms(), dict(RELEASE.published)
QB, SB = ("q", "bucket"), ("s", "bucket")
MORE = PUBLISHED[SB].copy()
MORE.iloc[0] += 1


def tables(**other: Any) -> dict[str, Any]:
    """The published tables, of which one is another."""
    return {"published": {**PUBLISHED, **{{"qb": QB, "sb": SB}[name]: table for name, table in other.items()}}}


WRONG_VIEWS = {
    "n_q is too short": {"n_q": RELEASE.n_q[:-1]},
    "n_q is no count": {"n_q": RELEASE.n_q / 3},
    "n_q is negative": {"n_q": -RELEASE.n_q},
    "n_q counts nobody": {"n_q": np.array([2, 1, 1, 4, 0, 2])},
    "n_q is of others": {"n_q": RELEASE.n_q[::-1]},
    "n_q is no array": {"n_q": None},
    "n_s is too long": {"n_s": np.append(RELEASE.n_s, 0)},
    "n_s is of others": {"n_s": RELEASE.n_s[::-1]},
    "n_s is of more": {"n_s": RELEASE.n_s + 1},
    "terms out of range": {"terms": changed(TERMS, "s", 0, 5)},
    "terms below range": {"terms": changed(TERMS, "q", 0, -1)},
    "terms twice": {"terms": changed(TERMS, "s", 1, TERMS["s"][0])},
    "terms turned round": {"terms": {r: c[::-1] for r, c in TERMS.items()}},
    "terms of other lengths": {"terms": {**TERMS, "q": TERMS["q"][:-1]}},
    "no terms": {"terms": {r: c[:0] for r, c in TERMS.items()}},
    "terms without a role": {"terms": {"q": TERMS["q"], "s": TERMS["s"]}},
    "terms in floating point": {"terms": {**TERMS, "q": TERMS["q"] * 1.0}},
    "terms that are missing": {"terms": {r: c[TERMS["q"] > 0] for r, c in TERMS.items()}},
    "more terms than labels": {"terms": {r: np.tile(c, len(c)) for r, c in TERMS.items()}},
    "a role that is none": {"published": {**PUBLISHED, ("who",): MORE}},
    "no Series": tables(sb=dict(MORE)),
    "no mapping": {"published": [MORE]},
    "counts of more people": tables(sb=MORE),
    "other labels": tables(sb=MORE.rename({"Flu": "Fluu"})),
    "a label lost": tables(qb=PUBLISHED[QB].iloc[1:]),
    "a label twice": tables(qb=pd.concat([PUBLISHED[QB], PUBLISHED[QB].head(1)])),
    "labels turned round": tables(qb=PUBLISHED[QB].iloc[::-1]),
    "levels called otherwise": tables(qb=PUBLISHED[QB].rename_axis(["A", "B", "C"])),
    "no table of people": {"published": {SB: PUBLISHED[SB]}},
    "n_s that nothing says": {"published": {QB: PUBLISHED[QB]}},
    "qi is no tuple": {"qi": ["Gender", "Degree"]},
    "other columns than axes have": {"qi": ("Gender", "Grade")},
    "labels of other columns": {
        "sensitive": ("Illness",), "axes": {**RELEASE.axes, "s": (("Illness",), RELEASE.sensitive_values)}
    },
    "an Index for a MultiIndex": {"quasi_identifiers": RELEASE.quasi_identifiers.to_flat_index()},
    "more people than can be counted": {"n_q": np.full(len(RELEASE.n_q), 10**18)},
    "labels twice": {"axes": {**RELEASE.axes, "bucket": (("Bucket",), RELEASE.buckets[[0, 0, 1]])}},
    "axes in another order": {"axes": dict(reversed(RELEASE.axes.items()))},
    "a column of two roles": {"axes": {**RELEASE.axes, "bucket": (("Gender",), RELEASE.buckets)}},
}  # fmt: skip


@pytest.mark.parametrize("what", WRONG_VIEWS)
def test_what_is_wrong_with_a_view(what):
    """A wrong view is a typed error before anything is solved."""
    for who in (None, {"Allen": {"Gender": "male", "Degree": "college"}}):
        with refused(TableError):
            mx.MaxEnt(Plain(RELEASE, **WRONG_VIEWS[what]), people=who)


def test_a_label_that_nobody_has(release):
    """A count of 0 makes the terms with its label 0; a count of 0 without terms is refused."""
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


# A view of one's own: a class, and nothing else.


class TwoTables(mx.View):
    """How many people have each QI tuple, and how many with each value of one attribute have each disease."""

    noun = "pair of tables"
    n_q = n_s = published = None

    def __init__(self, people: pd.DataFrame, cross: pd.DataFrame) -> None:
        self.people, self.cross = people, cross
        self.qi, self.sensitive = tuple(people.columns[:-1]), (cross.columns[1],)
        counts = people.set_index(list(self.qi))["n"]
        self.quasi_identifiers, self.n_q = counts.index, counts.to_numpy()
        self.sensitive_values = pd.Index(sorted(cross.iloc[:, 1].unique()), name=cross.columns[1])
        self.published = {("q",): counts, (cross.columns[0], "s"): cross.set_index(list(cross.columns[:2]))["n"]}

    def terms(self) -> dict[str, np.ndarray]:
        n, m = len(self.quasi_identifiers), len(self.sensitive_values)
        return {"q": np.repeat(np.arange(n), m), "s": np.tile(np.arange(m), n)}

    def to_frames(self) -> dict[str, pd.DataFrame]:
        return {"people": self.people, "cross": self.cross}


def two_tables(records: pd.DataFrame, shared: str = "Gender", wrong: int = 0) -> TwoTables:
    """Publish the two tables of some records, with so many more men who have the flu instead of women with HIV."""
    people = records.groupby(["Gender", "Degree"]).size().rename("n").reset_index()
    cross = pd.crosstab(records[shared], records["Disease"])
    if wrong:
        cross.loc["male", "Flu"] += wrong
        cross.loc["female", "HIV"] -= wrong
    return TwoTables(people, cross.stack().rename("n").reset_index())


@pytest.mark.parametrize("shared", ["Gender", "Degree"])
def test_two_tables_are_independent_given_what_they_share(hospital, shared):
    """P(s | q) = n(g, s) / n(g), g being the shared attribute of q: the log-linear model of two overlapping margins."""
    view = two_tables(hospital, shared)
    of_shared = pd.crosstab(hospital[shared], hospital["Disease"], normalize="index")
    expected = of_shared.loc[view.quasi_identifiers.get_level_values(shared)].to_numpy()
    for options in ({}, {"solver": "CLARABEL", "polish": True}):
        np.testing.assert_allclose(mx.MaxEnt(view).solve(**options).conditional(), expected, atol=1e-6)
    assert mx.MaxEnt(view).solve().certificate.holds


def test_counts_of_16_bits_do_not_wrap():
    """Counts are those of 64 bits, whatever integers a view has: twice 20,000 people are 40,000."""
    cross = pd.DataFrame({"Sex": ["f", "f", "m", "m"], "S": list("xyxy"), "n": np.array([15_000, 5_000] * 2, "int16")})
    people = pd.DataFrame({"Sex": ["f", "m"], "Age": [30, 40], "n": np.array([20_000] * 2, "int16")})
    assert mx.MaxEnt(TwoTables(people, cross)).solve().certificate.bound < 1e-9


def test_a_view_of_ones_own_beside_everything(hospital, tmp_path):
    """Named people, priors and sources are taken, and certified; it comes back from a file as its own class."""
    view, allen = two_tables(hospital), {"Allen": {"Gender": "male", "Degree": "college"}}
    named = mx.MaxEnt(view, people=allen).add("P(Flu | Allen) = 0").solve().people()
    assert named.loc["Allen", "Flu"] == pytest.approx(0, abs=1e-9)
    assert named.sum(axis=1).tolist() == pytest.approx([1.0])
    prior = mx.QIDistribution.estimate(hospital, qi=["Gender"], sa="Disease", smoothing=0.5)
    for model in (
        mx.MaxEnt(view, prior=prior),
        mx.MaxEnt(view).add(mx.StrongestAssociations(hospital, positive=1, negative=2)),
        mx.MaxEnt(view).add(mx.AnsweredQueries([{"Degree": "college", "Disease": "Flu"}], [2.0])),
    ):
        assert model.solve().certificate.holds
    post = mx.MaxEnt(view).solve()
    post.save(tmp_path / "post.parquet")
    again = mx.load_posterior(tmp_path / "post.parquet")
    assert type(again.space.view) is TwoTables
    pd.testing.assert_series_equal(again.joint(), post.joint(), check_exact=True)

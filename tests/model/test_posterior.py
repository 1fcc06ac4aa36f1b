"""The posterior: what is inferred, labelled, and asked for in the paper's notation."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings

import maxent_cvx as mx
from maxent_cvx import P, StatementError, UnknownName
from support.helpers import refused
from support.posteriors import made
from support.strategies import microdata, publish, quasi, tally

PROPERTY = settings(deadline=None, max_examples=40)
MEN, WOMEN = {"Gender": "male"}, {"Gender": "female"}


@pytest.fixture
def post(release) -> mx.Posterior:
    """What follows from Fig. 1 and P(Flu | male) = 0.3 (section 4.1)."""
    return mx.MaxEnt(release).add(P("Flu", given=MEN) == 0.3).solve()


# -- what is inferred ------------------------------------------------------------------------------


@PROPERTY
@given(microdata())
def test_joint(frame):
    """P(q, s, b) is labelled by QI attributes, sensitive attribute and bucket, and sums to 1."""
    joint = mx.MaxEnt(publish(frame)).solve().joint()
    assert list(joint.index.names) == [*quasi(frame), "S", "K"]
    assert not joint.index.has_duplicates
    assert joint.sum() == pytest.approx(1, abs=1e-12)
    assert (joint >= 0).all()
    in_bucket = tally(frame, ["K"])
    for name, p in joint.groupby(level="K", observed=True).sum().items():
        assert p == pytest.approx(in_bucket[(name,)] / len(frame))


@PROPERTY
@given(microdata())
def test_conditional(frame):
    """P(s | q) has a row a QI tuple and a column a value; it is the sum of P(q, s, b) over b, by the share of q."""
    post = mx.MaxEnt(publish(frame)).solve()
    found, people = post.conditional(), tally(frame, quasi(frame))
    assert isinstance(found.index, pd.MultiIndex) == (len(quasi(frame)) > 1)
    assert list(found.index.names) == quasi(frame)
    assert found.columns.name == "S"
    assert set(found.columns) == set(frame["S"])
    expected = {(q, s): 0.0 for q in people for s in set(frame["S"])}
    for (*q, s, _), p in post.joint().items():
        expected[tuple(q), s] += p * len(frame) / people[tuple(q)]
    for (q, s), p in expected.items():
        assert found.loc[q if len(q) > 1 else q[0], s] == pytest.approx(p, abs=1e-12)


@pytest.mark.parametrize("solver", ["DUAL_NEWTON", "CLARABEL"])
def test_rows_sum_to_one(release, solver):
    """Each P(. | q) sums to 1 as closely as the certificate's residual says, whichever solver found it."""
    model = mx.MaxEnt(release).add(P("Flu", given=MEN) == 0.3)
    post = model.solve(solver=solver, allow_inaccurate=True)
    allowed = len(release.buckets) * post.certificate.residual / release.n_q + 1e-12
    assert (np.abs(post.conditional().sum(axis=1) - 1) <= allowed).all()


def test_nothing_is_renormalised():
    """What a solver left out of a row is seen to be missing."""
    assert made([[0.5, 0.4]], [10])[0].conditional().iloc[0].tolist() == pytest.approx([0.5, 0.4])


def test_index_of_one_attribute(hospital):
    """With one quasi-identifier the rows are its values, not tuples of one."""
    release = mx.Release.from_buckets(hospital, qi="Gender", sa="Disease", bucket="Bucket")
    found = mx.MaxEnt(release).solve().conditional()
    assert found.index.tolist() == ["female", "male"]
    assert found.index.name == "Gender"
    # Women: one of bucket 1's four, one of bucket 2's three, two of bucket 3's three (Eq. (1)).
    assert found.loc["female", "Flu"] == pytest.approx((2 / 4 + 0 + 2 * 1 / 3) / 4)


def test_entropy(release):
    """H(Q, S, B) is -sum p log p in nats, where an impossible term counts nothing (Eq. (3))."""
    post = mx.MaxEnt(release).add(P("Breast Cancer", given=MEN) == 0).solve()
    p = post.joint().to_numpy()
    assert (p == 0).any()
    assert post.entropy == pytest.approx(-sum(x * math.log(x) for x in p if x > 0))


# -- asking ----------------------------------------------------------------------------------------


def test_prob(post):
    """A probability is asked for as it was stated, or by value and given; no given is everybody."""
    assert post.prob("Flu", given=MEN) == pytest.approx(0.3, abs=1e-7)
    assert post.prob(P("Flu", given=MEN)) == pytest.approx(0.3, abs=1e-7)
    assert post.prob(P("Flu", MEN)) == post.prob("Flu", MEN)
    assert post.prob("Flu") == pytest.approx(3 / 10, abs=1e-9)
    assert post.prob({"Disease": ["Flu", "HIV"]}) == pytest.approx(5 / 10, abs=1e-9)
    assert isinstance(post.prob("Flu"), float)
    # 6 men have 0.3 * 6 of the three Flus, 4 women the rest.
    assert post.prob("Flu", WOMEN) == pytest.approx((3 - 6 * 0.3) / 4, abs=1e-6)


def test_prob_of_combinations(post):
    """Sums, multiples and constants of probabilities have the value that arithmetic gives them."""
    flu, hiv = post.prob("Flu", MEN), post.prob("HIV", WOMEN)
    assert post.prob(2 * P("Flu", MEN) - P("HIV", WOMEN) / 2 + 0.25) == pytest.approx(2 * flu - hiv / 2 + 0.25)
    assert post.prob(P(["Flu", "HIV"], MEN)) == pytest.approx(flu + post.prob("HIV", MEN))
    assert post.prob(1 - P("Flu", MEN)) == pytest.approx(1 - flu)


def test_prob_agrees_with_the_tables(post, hospital):
    """P(s | q) asked for is P(s | q) printed; weighted by people it is that of a wider group."""
    conditional = post.conditional()
    for gender, degree in conditional.index:
        for s in conditional.columns:
            asked = post.prob(s, {"Gender": gender, "Degree": degree})
            assert asked == pytest.approx(conditional.loc[(gender, degree), s], abs=1e-12)
    n = hospital.groupby(["Gender", "Degree"]).size()
    men = (conditional["HIV"] * n).xs("male").sum() / n["male"].sum()
    assert post.prob("HIV", MEN) == pytest.approx(men)


def test_prob_refusals(post):
    """What cannot be asked is refused as it is when stated, near misses included."""
    with refused(UnknownName, "'Fluu'"):
        post.prob("Fluu")
    with refused(UnknownName, "'Gendr'"):
        post.prob("Flu", {"Gendr": "male"})
    with refused(StatementError, "nobody", "Gender=male", "Degree=junior"):
        post.prob("Flu", {"Gender": "male", "Degree": "junior"})
    with refused(StatementError, "P(Flu | Gender=male)"):
        post.prob(P("Flu", MEN), MEN)


def test_frozen(post):
    """A posterior is not changed once it is found: neither by assignment nor through its tables."""
    with pytest.raises(dataclasses.FrozenInstanceError):
        post.counts = np.zeros(3)
    joint, conditional = post.joint(), post.conditional()
    joint.iloc[:] = 7
    conditional.iloc[:, :] = 7
    assert post.joint().max() <= 1
    assert post.conditional().max(axis=None) <= 1


# -- seeing ----------------------------------------------------------------------------------------


def test_repr(post):
    """In one line: entropy, terms, who solved it, how, and what it is worth, all of them numbers."""
    text = repr(post)
    assert "\n" not in text
    for piece in (f"{post.entropy:.6f} nats", f"{len(post.joint())} terms", "optimal", post.solver, "within"):
        assert piece in text
    assert "nan" not in text
    assert "inf" not in text


def test_html(post):
    """In a notebook: whose probabilities these are, the first rows as a table, the solver and the error bound."""
    html = post._repr_html_()
    for piece in ("P(Disease | Gender, Degree)", "6 QI tuples, 10 people", "optimal by", "certified", "<table"):
        assert piece in html
    for s in ("Breast Cancer", "Flu", "HIV", "Lung Cancer", "Pneumonia"):
        assert f"Disease = {s}" in html
    assert html.count("<tr") == 6 + 2  # two lines of headings
    assert "nan" not in html.lower()


def test_html_says_when_it_is_not_certified():
    """An answer without a certificate is shown as one."""
    assert "not certified" in made([[0.5, 0.5]], [4], bound=0.5)[0]._repr_html_()
    assert "not certified" not in made([[0.5, 0.5]], [4], bound=1e-9)[0]._repr_html_()


def test_html_escapes_names(hospital):
    """Column names and values are text, whatever is in them: a table cannot put markup into a notebook."""
    frame = hospital.rename(columns={"Disease": "<i>Disease</i>", "Gender": "<i>Gender</i>"}).replace("HIV", "<=50K")
    release = mx.Release.from_buckets(frame, qi="<i>Gender</i>", sa="<i>Disease</i>", bucket="Bucket")
    html = mx.MaxEnt(release).solve()._repr_html_()
    assert "&lt;=50K" in html
    assert "<i>" not in html

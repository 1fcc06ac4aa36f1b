"""Two people who probably have the same value: what linear rows can say of it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import maxent_cvx as mx
from maxent_cvx import SameValue, StatementError, UnknownName
from support.fig_4 import FIG_4, described
from support.helpers import refused
from support.random_models import publish, random_records


@given(seed=st.integers(0, 10_000))
def test_same_value_is_total_variation(seed: int):
    """The rows hold exactly where some joint distribution lets two people agree with probability c (Strassen, 1965)."""
    rng = np.random.default_rng(seed)
    records = random_records(rng)
    names = [int(n) for n in rng.choice(len(records), 2, replace=False)]
    model = mx.MaxEnt(publish(records), people=described(records, names))
    first, second = (f"i{n}" for n in names)
    p = rng.dirichlet(np.full(len(model.space), 0.3))
    who, s, n = model.space.codes["who"], model.space.codes["s"], model.view.n_sb.shape[0]
    people = np.array([np.bincount(s[who == i], p[who == i], n) for i in (0, 1)])
    p = p / np.append(people.sum(axis=1), 1)[who] / len(records)  # each person is one
    people = people / people.sum(axis=1, keepdims=True)
    agree = np.minimum(*people).sum()
    for c, holds in ((agree - 1e-6, True), (agree + 1e-6, False), (0.0, True), (1.0, agree > 1 - 1e-9)):
        if 0 <= c <= 1:
            (rows,) = SameValue(first, second, at_least=float(c)).rows(model.space)
            assert (rows.residual(p).max(initial=0) <= 1e-9) == holds


def test_prices_and_remedies_are_those_of_the_probability_as_typed():
    """The price is the slope of H in `at_least`, and a contradiction ends at the value that the error names."""
    view = mx.QITable(pd.DataFrame({"Q": ["a", "b"]}), qi="Q", sa="S", sa_values=["x", "y"])

    def alike(c: float) -> mx.MaxEnt:
        known = mx.MaxEnt(view, people={"p": {"Q": "a"}, "q": {"Q": "b"}}).add(mx.P("x", who="p") == 0.9)
        return known.add(SameValue("p", "q", c))

    slope = (alike(0.801).solve().entropy - alike(0.799).solve().entropy) / 0.002
    assert alike(0.8).solve().prices()["price"].iloc[1] == pytest.approx(slope, abs=1e-5)
    other = mx.P("x", who="q") == 0.3
    with pytest.raises(mx.Infeasible, match=r"to 0\.4 \(by 0\.2\)"):
        alike(0.6).add(other).solve()
    assert alike(0.4).add(other).solve().certificate.holds


def test_people_of_a_series():
    """Pseudonyms are names: if v's value is a, so is u's, who are never in the same bucket."""
    table = pd.DataFrame({"Id": list("uvwx"), "S": list("aabb"), "Bucket": [1, 2, 1, 2]})
    release = mx.Release.from_buckets(table, qi=[], sa="S", bucket="Bucket", id="Id")
    model = mx.MaxEnt(mx.ReleaseSeries([release])).add(SameValue("u", "v", at_least=0.9), mx.P("a", who="v") == 1)
    assert model.bounds(mx.P("a", who="u")) == pytest.approx((0.9, 1))


def test_refusals(release):
    """One person, no probability, or an unknown name."""
    for make, error in [
        (lambda: SameValue("Alice", "Alice"), StatementError),
        (lambda: SameValue("Alice", "Bob", at_least=1.5), mx.BadProbability),
        (lambda: mx.MaxEnt(release, people=FIG_4).add(SameValue("Alice", "Bbo")), UnknownName),
    ]:
        with refused(error):
            make()

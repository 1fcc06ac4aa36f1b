"""A bucket without knowledge has a closed form, n(q) n(s) / n: unless other terms share its rows."""

from __future__ import annotations

import numpy as np
import pandas as pd

import maxent_cvx as mx
from maxent_cvx.solvers.existence import closed_components


def closed(people: pd.DataFrame, fixed: list[tuple[str, str]]) -> tuple[pd.MultiIndex, np.ndarray]:
    """The terms that are said to have a closed form, and how far from it the maximum-entropy answer is.

    `fixed` are the terms with one feasible value, beside those that have to be 0 then.
    """
    release = mx.Release.from_buckets(people, qi="Q", sa="S", bucket="B")
    model = mx.MaxEnt(release)
    for q, s in fixed:
        n = int((people["Q"] == q).sum())
        model.add(mx.P(s, given={"Q": q}) == 1 / n)
    post = model.solve()
    labels = list(zip(model.space.index.get_level_values("Q"), model.space.index.get_level_values("S"), strict=True))
    free = np.array([label not in fixed for label in labels]) & (post.counts > 0)
    form = mx.MaxEnt(release).form
    found = closed_components(form, post.counts, free, *form.components(free)[:2])
    return model.space.index[found.terms], found.moves


def test_a_bucket_without_knowledge():
    """Two QI tuples and three values: all six terms, exactly."""
    terms, moves = closed(pd.DataFrame({"Q": list("aabb"), "S": list("xyyz"), "B": 1}), [])
    assert len(terms) == 6
    assert moves.max() < 1e-12


def test_rows_that_fixed_terms_share_have_no_closed_form():
    """One of the two a has x, and b has y: of the other a, and c, the sides of the rows count more than is left.

    These say 2 for a and 2 for y, where 1 and 1 is left, so that n(q) n(s) / n would be 4/3 for a count of 1/2.
    """
    people = pd.DataFrame({"Q": list("aabc"), "S": list("xyyz"), "B": 1})
    terms, _ = closed(people, [("a", "x"), ("b", "y")])
    assert len(terms) == 0

"""Posteriors whose P(s | q) the test has chosen, so that measures of them can be worked out by hand."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
import pandas as pd
from hypothesis import strategies as st

import maxent_cvx as mx


def posterior_with(
    p: Sequence[Sequence[float]],
    people: Sequence[int],
    values: Sequence[object] | None = None,
    bound: float | None = None,
) -> tuple[mx.Posterior, pd.DataFrame]:
    """A posterior with P(s | q) = p[q][s] for people[q] people with the QI value "q0", "q1", ..., and its records.

    There is one bucket. The sensitive values (sorted; "s0", "s1", ... by default) take turns in the
    records, so their overall shares are known as well. `bound` replaces the bound of the certificate.
    """
    values = [f"s{j}" for j in range(len(p[0]))] if values is None else values
    assert sum(people) >= len(values)
    q = np.repeat(np.arange(len(p)), people)
    frame = pd.DataFrame({"Q": [f"q{i}" for i in q], "K": 1})
    frame["S"] = pd.Series(values).take(np.arange(len(q)) % len(values)).array
    solved = mx.MaxEnt(mx.Release.from_buckets(frame, qi="Q", sa="S", bucket="K")).solve()
    chosen = {(f"q{i}", s): p[i][j] * people[i] for i in range(len(p)) for j, s in enumerate(values)}
    counts = np.array([chosen[q, s] for q, s, _ in solved.space.index])
    certificate = solved.certificate if bound is None else dataclasses.replace(solved.certificate, bound=bound)
    return dataclasses.replace(solved, counts=counts, certificate=certificate), frame


@st.composite
def chosen(draw: st.DrawFn, max_values: int = 5) -> tuple[list[list[float]], list[int]]:
    """Draw P(s | q) in simple fractions, with many zeros and ties, and how many people have each q."""
    n_values = draw(st.integers(2, max_values))
    row = st.lists(st.integers(0, 4), min_size=n_values, max_size=n_values).filter(any)
    weights = draw(st.lists(row, min_size=1, max_size=4))
    people = [draw(st.integers(5, 9)) for _ in weights]
    return [[w / sum(row) for w in row] for row in weights], people

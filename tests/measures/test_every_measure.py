"""Every measure, and measures of users, in quantify, sweep and prices."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import maxent_cvx as mx
from maxent_cvx import MaxEnt, StatementError, measures

STATEMENT = "P(Flu | Gender=male) = 0.4"

HOSPITAL = mx.datasets.load_hospital()

#: Numbers that stand for the hospital's diseases.
NUMBERS = {value: i for i, value in enumerate(sorted(HOSPITAL["Disease"].unique()))}

TOP = partial(measures.top_differences, original=HOSPITAL, k=1)
ERROR = partial(measures.query_error, original=HOSPITAL, queries=20)
MARGINALS = partial(measures.marginal_distance, original=HOSPITAL)

#: Measures that give a number or a Series, with the original bound.
AS_THEY_ARE: dict[str, Callable[..., Any]] = {
    "estimation_accuracy": partial(measures.estimation_accuracy, original=HOSPITAL),
    "individual_divergence": partial(measures.individual_divergence, original=HOSPITAL),
    "individual_entropy": measures.individual_entropy,
    "overall_divergence": partial(measures.overall_divergence, original=HOSPITAL, base=10),
    "term_divergence": partial(measures.term_divergence, original=HOSPITAL),
}

#: A number of the measures that give a table or an object.
PART_OF: dict[str, Callable[..., Any]] = {
    "disclosure": lambda post: measures.disclosure(post, worst=True)["max_p"].item(),
    "exposed": lambda post: measures.exposed(post, 0.5).people,
    "individual_equivocation": lambda post: measures.individual_equivocation(post, values=NUMBERS)["initial"],
    "leakage": lambda post: measures.leakage("overall", post)["value"]["min-entropy leakage"],
    "marginal_distance": lambda post: MARGINALS(post)["total_variation"].max(),
    "query_error": lambda post: ERROR(post)["error"].mean(),
    "reidentification": lambda post: measures.reidentification(post).measures["value"]["sample uniques"],
    "risk_utility": lambda post: measures.risk_utility(post)["value"]["inference risk", "largest probability"],
    "top_differences": lambda post: TOP(post, MaxEnt(post.space.view).solve())["divergence", "difference"].item(),
}


def numbers(given: object) -> np.ndarray:
    return np.atleast_1d(np.asarray(given, dtype=float))


@pytest.mark.parametrize("name", [*AS_THEY_ARE, *PART_OF])
def test_in_every_place(name, release):
    """quantify, sweep and prices call a measure with the posterior of each of their models."""
    measure = {**AS_THEY_ARE, **PART_OF}[name]
    model = MaxEnt(release).add(STATEMENT)
    nothing, known = (numbers(measure(one.solve())) for one in (MaxEnt(release), model))
    scored = mx.quantify(release, HOSPITAL, [(0, 0)], measure=measure)
    np.testing.assert_allclose(scored.filter(regex=r"^score(\[|$)").iloc[0], nothing, atol=1e-6)
    swept = mx.sweep(MaxEnt(release), "P(Flu | Gender=male)", value=0.4, measure={"it": measure})
    np.testing.assert_allclose(swept.filter(regex=r"^it(\[|$)").iloc[0], known, atol=1e-6)
    left = model.solve().prices(leave_one_out=True, measure=measure)
    np.testing.assert_allclose(left.filter(regex=r"^without(\[|$)").iloc[0], nothing, atol=1e-6)
    np.testing.assert_allclose(left.filter(regex=r"^change(\[|$)").iloc[0], nothing - known, atol=1e-6)


@pytest.mark.parametrize("measure", [measures.disclosure, measures.exposed, MARGINALS, measures.reidentification])
def test_a_measure_must_give_numbers(measure, release):
    """A measure that gives a table or an object is refused."""
    with pytest.raises(StatementError):
        mx.sweep(MaxEnt(release), "P(Flu | Gender=male)", value=0.4, measure=measure)


@pytest.mark.parametrize("name", ["individual_divergence", "term_divergence", "query_error"])
def test_the_earlier_protocol(name, release):
    """A measure with the original as a second argument is scored as in earlier versions, with a warning."""
    measure = getattr(measures, name)
    with pytest.warns(DeprecationWarning, match=rf"functools.partial\({name}, original=...\)"):
        score = mx.quantify(release, HOSPITAL, [(0, 0)], measure=measure)["score"].item()
    expected = measure(MaxEnt(release).solve(), HOSPITAL)
    assert score == pytest.approx(expected) if isinstance(expected, float) else expected.equals(score)

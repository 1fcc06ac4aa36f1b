"""Answers to soft statements: those of other solvers, of hard statements in the limit, of what is known already."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

import maxent_cvx as mx
from maxent_cvx import P
from support.softly import FEMALE, FLU, HIV, hospital
from support.solving import INSTALLED


@pytest.mark.parametrize("solver", INSTALLED)
@pytest.mark.parametrize("options", [{}, {"presolve": False}, {"polish": True}], ids=["", "as posed", "polished"])
def test_every_solver(solver: str, options: dict[str, bool]):
    """All costs at once have the answer of the dual solver, from every solver."""
    said = [
        FLU.softly(0.6, sd=0.05), FLU.softly(0.1, weight=1), HIV.softly(0.5, sd=0.05, delta=0.02),
        mx.soft(P("HIV", given=FEMALE) <= 0.1, weight=30), P("Pneumonia", given={"Degree": "college"}) >= 0.2,
    ]  # fmt: skip
    exact, post = hospital().add(*said).solve(), hospital().add(*said).solve(solver, **options)
    apart = np.abs(exact.conditional() - post.conditional()).to_numpy().max()
    assert apart <= exact.certificate.bound + post.certificate.bound
    assert exact.model.certify(exact.counts).bound <= 1e-6
    assert exact.model.certify(exact.counts, exact.multipliers).bound <= 1e-6
    again = exact.model.copy().add(FLU.softly(0.3, sd=1))
    assert again.solve(warm_start=exact).certificate.bound <= 1e-6


@pytest.mark.parametrize("seed", range(4))
def test_against_cvxpy(seed: int):
    """Random models, whose problem is written anew for CVXPY."""
    from support.soft_rows import compared

    found = compared(seed)
    if found is not None and found["word"] == "compared":
        assert max(found["objective"], found["problem"]) <= 1e-7
        assert found["probability"] <= 2e-4


def test_what_is_met_exactly():
    """An absolute cost is met as soon as its weight is N times the hard statement's price, and no sooner."""
    hard = hospital().add(FLU == 0.4).solve()
    price = 10 * abs(hard.prices()["price"].iloc[0])
    enough = hospital().add(FLU.softly(0.4, weight=price * 1.01)).solve()
    np.testing.assert_allclose(enough.conditional(), hard.conditional(), atol=1e-9)
    assert enough.penalties.iloc[0] == pytest.approx(0, abs=1e-9)
    assert 10 * abs(enough.prices()["price"].iloc[0]) == pytest.approx(price, rel=1e-6)
    short = hospital().add(FLU.softly(0.4, weight=price * 0.99)).solve()
    assert abs(short.prob(FLU) - 0.4) > 1e-4
    assert 10 * abs(short.prices()["price"].iloc[0]) == pytest.approx(price * 0.99, rel=1e-6)


@pytest.mark.parametrize("kind", ["sd", "weight", "delta"])
def test_growing_costs_tend_to_the_hard_answer(kind: str):
    """A square misses it by the variance times the multiplier, which tends to the hard statement's price times N."""
    price = 10 * abs(hospital().add(FLU == 0.4).solve().prices()["price"].iloc[0])
    for size in (1e4, 1e6, 1e8):
        cost = {"sd": {"sd": size**-0.5}, "weight": {"weight": size}, "delta": {"sd": size**-0.5, "delta": 1.0}}[kind]
        post = hospital().add(FLU.softly(0.4, **cost)).solve()
        missed = 0.0 if kind == "weight" else price / size
        assert 0.4 - post.prob(FLU) == pytest.approx(missed, rel=0.05, abs=1e-10)


CONTRADICTORY = [(FLU, 0.2), (FLU, 0.45), (FLU + HIV, 0.9), (P("Flu", given=FEMALE), 0.6), (P("Flu"), 0.1)]


@pytest.mark.parametrize("squared", [False, True], ids=["absolute", "squared"])
def test_contradictory_ones_tend_to_least_cost_then_most_entropy(squared: bool):
    """As costs grow together: the least cost by a linear or quadratic program, then most entropy among its solutions.

    Of convex costs, the sum of squares is least at unique misses, which are then equations. Of absolute costs there may
    be a whole face of solutions.
    """
    model = hospital()
    space, p = model.space, cp.Variable(len(model.space), nonneg=True)
    published = [rows.matrix @ p == rows.low for fact in model.facts for rows in fact.rows(space)]
    misses = cp.hstack(
        [sum(a * (event.row(space) @ p) for event, a in said.terms.items()) - v for said, v in CONTRADICTORY]
    )
    cost = cp.sum_squares(misses) if squared else cp.norm1(misses)
    least = cp.Problem(cp.Minimize(cost), published).solve(solver="CLARABEL", tol_gap_abs=1e-13, tol_gap_rel=1e-13)
    among = [misses == misses.value] if squared else [cost <= least * (1 + 1e-9) + 1e-10]
    cp.Problem(cp.Maximize(cp.sum(cp.entr(p))), [*published, *among]).solve(solver="CLARABEL")
    before = np.inf
    for weight in (1e1, 1e3, 1e5):
        costs = {"sd": weight**-0.5} if squared else {"weight": weight}
        post = hospital().add(*[said.softly(v, **costs) for said, v in CONTRADICTORY]).solve()
        apart = np.abs(post.counts / 10 - p.value).max()
        assert apart <= before * 1.001
        before = apart
    assert before < 2e-4
    assert post.penalties.sum() / weight * (2 if squared else 1) == pytest.approx(least, rel=1e-3)
    assert post.certificate.bound < 1e-5


@pytest.mark.parametrize("exponent", [-12, -4, 0, 4, 12])
@pytest.mark.parametrize("kind", ["sd", "weight"])
@pytest.mark.parametrize("value", [0.4, 3.0])
def test_costs_of_any_size(exponent: int, kind: str, value: float):
    """From 1e-12 to 1e12, for what can be met and for what cannot: certified, or, beyond doubles, refused."""
    model = hospital().add(FLU.softly(value, **{kind: 10.0**exponent}), HIV.softly(0.2, sd=0.1))
    beyond = value > 1 and exponent in ((-12, -8) if kind == "sd" else (12,))
    try:
        post = model.solve()
    except mx.Inaccurate:
        assert beyond
        return
    assert post.certificate.bound < 1e-4
    little = exponent > 3 if kind == "sd" else exponent < -3
    if little:
        plain = hospital().add(HIV.softly(0.2, sd=0.1)).solve()
        np.testing.assert_allclose(post.conditional(), plain.conditional(), atol=1e-3)
    elif abs(exponent) >= 4:
        assert post.prob(FLU) == pytest.approx(min(value, 0.5), abs=1e-3)


# -- rows on what is known already -------------------------------------------------------------------------------------

"""Monotone: probabilities that rise along an attribute."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import maxent_cvx as mx
from maxent_cvx import Monotone, P, StatementError, UnknownName
from support.helpers import refused
from support.strategies import publish, tables_and_assignments

STEPS = ["high school", "junior", "college", "graduate"]


def test_order_of_categories_and_of_groups(hospital):
    """An ordered categorical has its own order; groups are lists of values."""
    hospital["Degree"] = pd.Categorical(hospital["Degree"], STEPS, ordered=True)
    release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    space = mx.MaxEnt(release).space
    steps = list(Monotone(P("HIV"), along="Degree").rows(space))
    for step, name in zip(
        steps, ["junior after high school", "college after junior", "graduate after college"], strict=True
    ):
        assert step.label.endswith(name)
    same = Monotone(P("HIV"), along="Degree", order=STEPS).rows(space)
    assert all(step.same_as(other) for step, other in zip(steps, same, strict=True))
    groups = Monotone(P("HIV"), along="Degree", order=[["high school", "junior"], ["college", "graduate"]])
    (rows,) = groups.rows(space)
    (by_hand,) = (P("HIV", given={"Degree": STEPS[2:]}) - P("HIV", given={"Degree": STEPS[:2]}) >= 0).rows(space)
    np.testing.assert_allclose(rows.matrix.toarray(), by_hand.matrix.toarray())


@given(tables_and_assignments(palettes=("whole", "real", "ranked")), st.booleans())
def test_true_of_records_that_rise(drawn, increasing):
    """The rows hold of an assignment exactly if its own shares rise, or fall, along the values."""
    frame, other = drawn
    value, space = other["S"].iloc[0], mx.Space.of(publish(frame))
    shares = (other["S"] == value).groupby(other["A"], observed=True).mean().sort_index()
    source = Monotone(P(value), "A", increasing)
    if len(shares) < 2:
        with refused(StatementError):
            list(source.rows(space))
        return
    p = space.count(other) / len(other)
    steps = np.diff(shares) if increasing else -np.diff(shares)
    worst = max(rows.residual(p).max() for rows in source.rows(space))
    assert bool(worst < 1e-12) == bool((steps > -1e-12).all())


def test_steps_are_known_from_elsewhere():
    """A step that other statements determine is implied exactly, also if its coefficients, such as 20/3, are not doubles."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"a": rng.integers(1, 4, 20), "z": rng.integers(0, 2, 20), "S": rng.choice(list("xyz"), 20)})
    release = mx.Release.from_buckets(table.assign(b=rng.integers(0, 3, 20)), qi=["a", "z"], sa="S", bucket="b")
    one, two, three = (P("x", given={"a": a}) for a in (1, 2, 3))
    for equal in ([one - two == 0, two - three == 0], [one - two >= 0, one - two <= 0, three - two == 0]):
        alone = mx.MaxEnt(release).add(*equal).solve()
        for increasing in (True, False):
            both = mx.MaxEnt(release).add(*equal, Monotone(P("x"), "a", increasing)).solve()
            np.testing.assert_allclose(both.counts, alone.counts, atol=1e-6)


def test_an_exact_value_may_be_in_a_cell():
    """Of people with age * it is not known how many are 20, so that P(x | age = 20) has no known divisor."""
    cells = pd.DataFrame({"age": ["20", "20", "30", "30", "*", "*"], "S": list("xyxyxy")})
    release = mx.Release.from_generalized(cells, qi="age", sa="S")
    for rise in (Monotone(P("x"), "age", order=["20", "30"]), P("x", given={"age": "20"}) <= 0.6):
        with refused(StatementError):
            mx.MaxEnt(release).add(rise)
    bands = mx.Release.from_generalized(cells.replace({"age": {"*": "[20, 29]"}})[2:], qi="age", sa="S")
    assert len(list(Monotone(P("x"), "age", order=["[20, 29]", "30"]).rows(mx.Space.of(bands)))) == 1


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        (lambda: Monotone("Flu", "Degree"), StatementError),
        (lambda: Monotone(P("Flu"), "Degree"), StatementError),
        (lambda: Monotone(P("Flu"), "Degre", order=STEPS), UnknownName),
        (lambda: Monotone(P("Flu"), "Degree", order=["college", "Graduate"]), UnknownName),
        (lambda: Monotone(P("Flu"), "Degree", order=["college"]), StatementError),
        (lambda: Monotone(P("Flu"), "Degree", order=["college", ["junior", "college"]]), StatementError),
        (lambda: Monotone(P("Flu", given={"Degree": "college"}), "Degree"), StatementError),
        (lambda: Monotone(P("Flu"), "Degree", given={"Degree": "college"}), StatementError),
        (lambda: Monotone(P("Flu", who="Ann"), "Degree"), StatementError),
        (lambda: Monotone(P("Fluu"), "Degree", order=STEPS), UnknownName),
        (lambda: Monotone(P("Flu"), "Gender", order=["male", "female"], given={"Degree": "junior"}), StatementError),
    ],
)
def test_wrong_arguments(release, wrong, error):
    """A wrong argument is refused, at the latest when a model gets it."""
    with refused(error):
        mx.MaxEnt(release).add(wrong())


def test_means_of_a_release_of_a_population():
    """Means are over the people in the release, whose number at each value is unknown; probabilities are of all people."""
    records = pd.DataFrame({"Age": ["20-30"] * 3, "Pay": [10, 20, 30]})
    population = pd.DataFrame({"Age": [20, 20, 20, 30, 30]})
    release = mx.Release.from_generalized(records, qi="Age", sa="Pay", population=population)
    with refused(StatementError):
        mx.MaxEnt(release).add(Monotone(mx.E("Pay"), along="Age"))
    assert mx.MaxEnt(release).add(Monotone(P(10), along="Age")).bounds(P(10, given={"Age": 20}))[1] == pytest.approx(
        1 / 5
    )

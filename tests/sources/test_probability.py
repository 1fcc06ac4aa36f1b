"""P(...): the arithmetic of probabilities, and what it refuses."""

from __future__ import annotations

import math
import operator

import numpy as np
import pandas as pd
import pytest

from maxent_cvx import BadProbability, P, Statement, StatementError
from support.helpers import refused

FLU = P("Flu", given={"Gender": "male"})
HIV = P("HIV")
SERIES = pd.Series({"male": 0.6, "female": 0.4})
TABLES = [SERIES, SERIES.to_numpy(), SERIES.to_frame(), SERIES.index, [0.6]]


def test_equality_is_a_statement():
    """``==`` makes a statement, which is neither true nor false, so identity of probabilities has a name of its own."""
    assert FLU.same_as(P("Flu", given={"Gender": ["male"]}))
    assert hash(FLU) == hash(P("Flu", given={"Gender": "male"}))
    assert not FLU.same_as(2 * FLU)
    assert not FLU.same_as(FLU + 0.1)
    assert not FLU.same_as("P(Flu)")
    for undecided in (HIV, HIV == 0.3):
        with pytest.raises(TypeError):
            bool(undecided)


@pytest.mark.parametrize("operand", TABLES, ids=lambda operand: type(operand).__name__)
@pytest.mark.parametrize("operate", [operator.eq, operator.add])
def test_tables_are_refused_on_both_sides(operand, operate):
    """P(...) is one number: a Series, array or list on either side is refused, and not spread over elements."""
    for left, right in ((FLU, operand), (operand, FLU)):
        with refused(StatementError, f"a {type(operand).__name__};", "space.marginal"):
            operate(left, right)


def test_value_out_of_reach_of_a_sum():
    """A value that no probabilities add up to is refused with expression and reach; the boundary is accepted."""
    with refused(BadProbability):
        operator.ge(2 * FLU - HIV, 2.5)
    assert (2 * FLU - HIV >= 2).low == 2
    assert (FLU + HIV + P("Flu") == 3).low == 3
    assert isinstance(FLU <= 1 + 2**-52, Statement)  # what rounding adds to 1


@pytest.mark.parametrize(
    "no_knowledge",
    [
        lambda: FLU < 0.3,  # no maximum of the entropy on the boundary
        lambda: FLU > 0.3,
        lambda: FLU != 0.3,
        lambda: FLU * HIV,  # not linear (section 3.4)
        lambda: FLU / HIV / FLU,
        lambda: FLU == FLU,  # true of every distribution, or of none
        lambda: FLU - FLU <= 0.5,
        lambda: 0 * FLU >= 0,
    ],
)
def test_what_is_no_linear_statement(no_knowledge):
    """Strict comparisons, products, and what holds whatever the probabilities are, are refused."""
    with refused(StatementError):
        no_knowledge()


def test_vague_statements_and_intervals():
    """|P - value| <= eps; a side outside [0, 1] says nothing and is left out (section 4.5); the lower side is first."""
    assert (FLU.about(0.3, eps=0) == (FLU == 0.3)) is True
    assert FLU.about(0.02, eps=0.05).low == -math.inf
    assert FLU.about(0.98, eps=0.05).high == math.inf
    assert (FLU - HIV).about(0, eps=0.1).low == -0.1
    for value, eps in ((1.3, 0.5), (0.3, -0.1), (0.3, np.nan), (np.nan, 0.1)):
        with pytest.raises(BadProbability):
            FLU.about(value, eps=eps)
    with refused(BadProbability):
        FLU.between(0.4, 0.2)
    with refused(BadProbability):
        FLU.between(0.4, 1.2)


@pytest.mark.parametrize(
    "arguments",
    [(("Flu", "HIV"),), ([],), (None,), ("Flu", "male"), ("Flu", {"Gender": []}), ({"Disease": []},), ({},)],
)
def test_arguments_that_cannot_be_read(arguments):
    """What P(...) cannot read is refused when it is written, not when a model is solved."""
    with refused(StatementError):
        P(*arguments)

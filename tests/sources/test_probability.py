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
COMPARISONS = [operator.eq, operator.le, operator.ge]
SERIES = pd.Series({"male": 0.6, "female": 0.4})
TABLES = [SERIES, SERIES.to_numpy(), SERIES.to_frame(), SERIES.index, [0.6]]


def test_probabilities_compare_by_same_as():
    """``==`` makes a statement, so identity of probabilities has a name of its own."""
    assert FLU.same_as(P("Flu", given={"Gender": ["male"]}))
    assert hash(FLU) == hash(P("Flu", given={"Gender": "male"}))
    assert not FLU.same_as(2 * FLU)
    assert not FLU.same_as(FLU + 0.1)
    assert not FLU.same_as("P(Flu)")


def test_neither_true_nor_false():
    """Neither a probability nor a statement is true or false before anything is inferred."""
    with pytest.raises(TypeError):
        bool(HIV)
    with pytest.raises(TypeError):
        bool(HIV == 0.3)


@pytest.mark.parametrize("operand", TABLES, ids=lambda operand: type(operand).__name__)
@pytest.mark.parametrize("operate", [*COMPARISONS, operator.add, operator.sub])
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


@pytest.mark.parametrize(("compare", "write"), [(operator.lt, "<="), (operator.gt, ">="), (operator.ne, "<= or >=")])
def test_comparisons_that_are_no_knowledge(compare, write):
    """P < c has no maximum of the entropy on its boundary, and P != c is not linear: the remedy is said."""
    with refused(StatementError, f"write {write}"):
        compare(FLU, 0.3)


@pytest.mark.parametrize(
    "product", [lambda: FLU * HIV, lambda: FLU * FLU, lambda: FLU / HIV / FLU, lambda: (FLU + 1) * (HIV + 1)]
)
def test_products_are_not_linear(product):
    """ME constraints are linear (section 3.4): a product, or a ratio of ratios, is refused, and why is said."""
    with refused(StatementError, "maximum entropy cannot use it"):
        product()


@pytest.mark.parametrize("say", [lambda: FLU == FLU, lambda: FLU - FLU <= 0.5, lambda: 0 * FLU >= 0])
def test_statements_that_say_nothing(say):
    """What holds of every distribution, or of none, whatever the probabilities are, is refused."""
    with refused(StatementError):
        say()


def test_vagueness():
    """|P - value| <= eps; a side outside [0, 1] says nothing and is left out (section 4.5)."""
    assert (FLU.about(0.3, eps=0) == (FLU == 0.3)) is True
    assert FLU.about(0.02, eps=0.05).low == -math.inf
    assert FLU.about(0.98, eps=0.05).high == math.inf
    assert (FLU - HIV).about(0, eps=0.1).low == -0.1
    for value, eps in ((1.3, 0.5), (0.3, -0.1), (0.3, np.nan), (np.nan, 0.1)):
        with pytest.raises(BadProbability):
            FLU.about(value, eps=eps)


def test_between():
    """Both sides are probabilities, the lower first."""
    with refused(BadProbability, "between 0.4 and 0.2"):
        FLU.between(0.4, 0.2)
    with refused(BadProbability, "cannot be 1.2"):
        FLU.between(0.4, 1.2)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((("Flu", "HIV"),), ["('Flu', 'HIV')", "['Flu', 'HIV']"]),
        (([],), ["at least one"]),
        ((None,), ["missing value"]),
        (("Flu", "male"), ["given must be a dictionary", "'male'"]),
        (("Flu", {"Gender": []}), ["Gender = []"]),
        (({"Disease": []},), ["Disease = []"]),
        (({},), ["names no sensitive attribute", "{attribute: value}"]),
    ],
)
def test_arguments_that_cannot_be_read(arguments, says):
    """What P(...) cannot read is refused when it is written, not when a model is solved."""
    with refused(StatementError, *says):
        P(*arguments)

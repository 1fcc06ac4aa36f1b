"""Blocks: what cannot be selected, added or compared is refused, with what was expected."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest

from maxent_cvx import BadProbability, LabelMismatch, Space, StatementError, UnknownName
from support.helpers import refused

ERRORS = {
    "value": (lambda b: b["ye"], UnknownName, ["'ye'"]),
    "value in a tuple": (lambda b: b.loc["yes", 41], UnknownName, ["41", "'age'"]),
    "value in a list": (lambda b: b.loc["yes", [20, 41]], UnknownName, ["41", "'age'"]),
    "whole label": (lambda b: b.loc[[("yes", 41)]], UnknownName, ["41"]),
    "too many values": (lambda b: b.loc["yes", 20, 1], UnknownName, []),
    "level": (lambda b: b.xs(20, level="ag"), UnknownName, []),
    "level of a sum": (lambda b: b.sum(level="sex"), UnknownName, ["'sex'"]),
    "slice of another type": (lambda b: b.loc["yes", "a":"b"], StatementError, ["'a'", "'age'"]),
    "step": (lambda b: b.loc["yes", 20:40:2], StatementError, []),
    "product": (lambda b: b * b, StatementError, []),
    "quotient": (lambda b: 1 / b, StatementError, []),
    "quotient of blocks": (lambda b: b / b, StatementError, []),
    "division by zero": (lambda b: b / 0, BadProbability, []),
    "list": (lambda b: b + [1.0] * 8, LabelMismatch, ["list"]),
    "text": (lambda b: b + "a", LabelMismatch, ["str"]),
    "NaN": (lambda b: b + np.nan, BadProbability, ["finite"]),
    "NaN in a Series": (lambda b: b + pd.Series(np.nan, index=b.index), BadProbability, ["NaN"]),
    "infinity": (lambda b: 2 * b <= np.inf, BadProbability, ["finite"]),
    "short array": (lambda b: b + np.ones(3), StatementError, []),
    "unknown label": (
        lambda b: b["yes"] * pd.Series({20: 1, 30: 1, 40: 1, 50: 1, 60: 1}).rename_axis("age"),
        LabelMismatch,
        ["60"],
    ),
    "missing label": (lambda b: b["yes"] + pd.Series({20: 1.0}).rename_axis("age"), LabelMismatch, []),
    "level of a Series": (lambda b: b + pd.Series({"m": 1.0}).rename_axis("sex"), LabelMismatch, ["['sex']"]),
    "both sides": (lambda b: b == b, StatementError, []),
    "not convex": (lambda b: abs(b) >= 0.1, StatementError, []),
    "not convex, an equation": (lambda b: abs(b) == 0.1, StatementError, []),
    "negative": (lambda b: abs(b - 0.5) <= -0.1, BadProbability, []),
    "probabilities": (lambda b: b.value(np.ones(3)), StatementError, []),
    "fewer levels without a name": (
        lambda b: b * pd.Series({"yes": 1.0, "no": 0.0}),
        LabelMismatch,
        ["series.rename_axis('s')"],
    ),
    "weights without a name": (lambda b: b.sum() * pd.Series({20: 1.0}), LabelMismatch, ["rename_axis"]),
    "weights of another level": (lambda b: b.sum() * pd.Series({1: 1.0}).rename_axis("ag"), UnknownName, ["'age'"]),
    "weights of strangers": (lambda b: b.sum() * pd.Series({41: 1.0}).rename_axis("age"), LabelMismatch, ["41"]),
    "weights twice": (
        lambda b: b.sum() * pd.Series([1.0, 2.0], pd.Index([20, 20], name="age")),
        LabelMismatch,
        [],
    ),
    "weights of some": (
        lambda b: b["yes"] - pd.Series({20: 1.0}).rename_axis("age") * b.loc["yes", 40],
        LabelMismatch,
        [],
    ),
    "parameter": (lambda b: b <= cp.Parameter(value=0.3), StatementError, ["CVXPY", "block.expr"]),
    "a label twice": (lambda b: b["yes"].loc[[20, 20]], LabelMismatch, ["20"]),
    "a value of one level twice": (lambda b: b.loc["yes", [20, 20]], LabelMismatch, ["20"]),
    "an array without a dimension": (lambda b: b["yes"].loc[np.array(20)], StatementError, ["list of labels"]),
    "a position twice": (lambda b: b.at(np.array([0, 0])), LabelMismatch, ["no"]),
    "sum of a single one": (lambda b: b.sum().diff("age"), StatementError, []),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors(smokers, name):
    """What is wrong is told with what was expected, by an error of this package."""
    wrong, error, says = ERRORS[name]
    with refused(error, *says):
        wrong(Space.of(smokers).conditional("s", given="age"))


def test_two_models_do_not_mix(smokers, space):
    """Blocks of two releases have other terms."""
    with refused(StatementError):
        _ = Space.of(smokers).marginal("s") + space.marginal("s")


@pytest.mark.parametrize("use", [bool, list, lambda b: 1 in b])
def test_no_list_of_values(smokers, use):
    """A block is neither true nor false, and not gone through by position."""
    with pytest.raises(TypeError):
        use(Space.of(smokers).marginal("s"))

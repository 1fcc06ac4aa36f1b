"""Knowledge of every kind about the records of `support.parts`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cvxpy as cp
import numpy as np
import pandas as pd
import scipy.stats

import maxent_cvx as mx
from maxent_cvx import E, P

SCORES = {"flu": 1, "hiv": 3, "lung": 0.1, "cold": 2}
#: Knowledge about the records of `support.parts`, by kind.
KNOWLEDGE: dict[str, Callable[[pd.DataFrame], Any]] = {
    "statement": lambda t: P("flu", given={"g": "m"}) == 0.3,
    "of several groups": lambda t: P(["flu", "hiv"], given={"g": "m", "d": ["a", "b"]}) <= 0.3,
    "vague": lambda t: P("hiv", given={"age": pd.Interval(15, 35)}).about(0.2, eps=0.1),
    "combination": lambda t: P("hiv", given={"g": "m"}) - 3 * P("flu", given={"d": "a"}) <= 0.25,
    "text": lambda t: "P(cold) = 0.2",
    "soft": lambda t: (P("flu", given={"g": "f"}) - P("flu", given={"d": "b"})).softly(0.1, sd=0.2),
    "mean": lambda t: E("s", values=SCORES, given={"g": "m"}) <= 2,
    "mean of a quasi-identifier": lambda t: E("age", given={"s": "flu"}) == 33,
    "mean among those of a value": lambda t: E("age", given={"s": "hiv", "g": "m"}) <= 33,
    "conditional": lambda t: lambda space: space.conditional("s", given="g") <= 0.9,
    "differences": lambda t: lambda space: space.conditional("s", given="d").loc["flu"].diff("d") >= -0.7,
    "two blocks": lambda t: lambda space: (
        space.conditional("s", given="g")["flu"] - space.conditional("s", given="d")["flu"].xs("a", level="d") <= 0.8
    ),
    "absolute": lambda t: lambda space: (
        abs(space.marginal(["s", "g"]).xs("m", level="g") - space.marginal(["s", "g"]).xs("f", level="g")) <= 0.6
    ),
    "every tuple": lambda t: lambda space: space.conditional("s", given="q") <= 0.95,
    "constraints of CVXPY": lambda t: lambda space: [
        space.prob("flu", {"g": "m"}) <= 0.8, cp.abs(space.prob("hiv", {"d": "a"}) - 0.3) <= 0.8
    ],
    "a published table of shares": lambda t: lambda space: (
        space.conditional("s", given="g").softly(pd.crosstab(t.g, t.s, normalize="index").stack(), weight=3)
    ),
    "noisy counts": lambda t: mx.NoisyMarginal(
        t.groupby(["g", "s"]).size() + 0.3, scipy.stats.laplace(scale=2), confidence=0.9
    ),
    "likelihood of noise": lambda t: mx.NoisyMarginal(
        t.groupby(["g", "s"]).size() * 1.0, scipy.stats.norm(scale=2), how="likelihood"
    ),
    "counts": lambda t: mx.AnsweredQueries([{"g": "m", "s": "flu"}, {"age": pd.Interval(15, 35)}], [3, 4], eps=20),
    "means": lambda t: mx.AnsweredQueries([{"g": "m"}, {"d": "a"}], [1.5, 2], of="mean", values=SCORES, eps=2),
    "monotone": lambda t: mx.Monotone(P("flu"), along="age"),
    "associations": lambda t: mx.StrongestAssociations(t, positive=3, negative=3),
    "table": lambda t: mx.PublishedTable(t.groupby(["g", "s"]).size().rename("n").reset_index()),
    "rules": lambda t: mx.PublishedRules(
        mx.anonymize.mine_rules(t, qi=["g", "d"], sa="s", support=0.05, confidence=0.3)
    ),
    "rule list": lambda t: mx.PublishedRuleList(
        [({"g": "m"}, "flu", (t[t.g == "m"].s == "flu").mean()), ({}, "cold", None)]
    ),
    "quantile": lambda t: mx.PublishedQuantile(
        float(np.median(t[t.g == "m"].s.map(SCORES))), of="s", given={"g": "m"}, values=SCORES
    ),
    "mean and deviation": lambda t: mx.PublishedMoments(
        round(t[t.g == "m"].s.map(SCORES).mean(), 2), of="s", given={"g": "m"}, values=SCORES, decimals=2
    ),
    "covariance": lambda t: mx.Covariance("age", {"flu": 1, "hiv": 0, "lung": 0, "cold": 0}) >= -10,
    "correlation": lambda t: mx.PublishedCorrelation(
        0.1, ("age", {"flu": 1, "hiv": 0, "lung": 0, "cold": 0}), sd=0.4
    ),
    "largest": lambda t: mx.AnsweredQueries([{"g": "m"}], [2.6], of="max", values=SCORES, eps=0.5),
}  # fmt: skip
#: And of named people, p0, p1, ...
KNOWLEDGE_ABOUT_PEOPLE: dict[str, Any] = {
    "person": P("flu", who="p0") <= 0.4,
    "number": mx.Count("flu", who=["p0", "p1", "p2"]) >= 0.5,
    "alike": mx.SameValue("p0", "p1", at_least=0.3),
    "everybody with a name": lambda space: space.conditional("s", given="who") <= 0.9,
}

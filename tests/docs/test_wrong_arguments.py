"""Wrong arguments of public functions raise typed errors, which print nobody's record."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.stats

import maxent_cvx as mx
from maxent_cvx import P

QI, MEN = ["Gender", "Degree"], {"Gender": "male"}
ROLES: dict[str, Any] = {"qi": QI, "sa": "Disease"}
HOSPITAL = mx.datasets.load_hospital()
RELEASE = mx.Release.from_buckets(HOSPITAL, **ROLES, bucket="Bucket")
MODEL = mx.MaxEnt(RELEASE).add(P("Flu", given=MEN) == 0.3)
POST = MODEL.solve()
PRIOR = mx.QIDistribution.estimate(HOSPITAL, qi=["Gender"], sa="Disease", smoothing=0.5)
GROUP = pd.DataFrame({"x": [0.2, 0.5, 0.3], "y": [0.8, 0.5, 0.7]}, index=["a", "b", "c"])
CELLS = pd.DataFrame({"Age": ["[20, 29]", "[20, 29]", "*"], "S": ["a", "b", "a"]})
NAMED = mx.Release.from_buckets(HOSPITAL, qi=[], sa="Disease", bucket="Bucket", id="Name")
ALLEN = {"Allen": {"Gender": "male", "Degree": "college"}}
SCORES = pd.Series(range(5), index=sorted(HOSPITAL["Disease"].unique()))
SECRET = "Person 4711"


#: Valid calls, by name.
CALLS: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "Release.from_buckets": (mx.Release.from_buckets, {"table": HOSPITAL, **ROLES, "bucket": "Bucket", "id": "Name"}),
    "Release.from_generalized": (mx.Release.from_generalized, {"table": CELLS, "qi": "Age", "sa": "S"}),
    "QITable": (mx.QITable, {"people": HOSPITAL, "qi": QI, "sa": "S", "sa_values": ["a", "b"]}),
    "ReleaseSeries": (mx.ReleaseSeries, {"releases": [NAMED]}),
    "MaxEnt": (mx.MaxEnt, {"view": RELEASE, "people": ALLEN, "prior": PRIOR}),
    "MaxEnt.add": (lambda source, label: MODEL.copy().add(source, label=label), {"source": "P(HIV) = 0.2", "label": "gossip"}),
    "MaxEnt.remove": (lambda label: MODEL.copy().remove(label), {"label": "P(Flu | Gender=male) = 0.3"}),
    "MaxEnt.solve": (
        MODEL.solve,
        {"solver": "DUAL_NEWTON", "presolve": True, "polish": False, "tolerance": 1e-9, "max_iterations": 50,
         "callback": None, "time_limit": 60.0, "warm_start": None},
    ),
    "MaxEnt.bounds": (MODEL.bounds, {"integer": False, "time_limit": 60.0}),
    "MaxEnt.relax": (MODEL.relax, {"priority": {"P(Flu | Gender=male) = 0.3": 1}}),
    "P": (P, {"value": "Flu", "given": MEN}),
    "P.about": (P("Flu").about, {"value": 0.3, "eps": 0.1}),
    "P.between": (P("Flu").between, {"low": 0.3, "high": 0.4}),
    "P.softly": (P("Flu").softly, {"value": 0.3, "sd": 0.1}),
    "P ==": (P("Flu").__eq__, {"other": 0.3}),
    "Count": (mx.Count, {"value": "HIV", "who": ["Alice", "Bob"]}),
    "E": (mx.E, {"attribute": "Disease", "given": MEN, "values": {"Flu": 1, "HIV": 2}}),
    "soft": (lambda row, sd: mx.soft(row, sd=sd), {"row": P("Flu") == 0.3, "sd": 0.1}),
    "StrongestAssociations": (
        mx.StrongestAssociations, {"original": HOSPITAL, "positive": 1, "negative": 1, "min_support": 1}
    ),
    "AnsweredQueries": (mx.AnsweredQueries, {"queries": [MEN], "answers": [5.0], "eps": 0.5}),
    "AnsweredQueries of an attribute": (
        lambda **wrong: MODEL.copy().add(mx.AnsweredQueries([MEN], **wrong)),
        {"answers": [4.0], "of": "sum", "attribute": "Disease", "eps": 6, "values": SCORES},
    ),
    "PublishedMoments": (
        lambda **wrong: MODEL.copy().add(mx.PublishedMoments(**wrong)),
        {"mean": 1.0, "sd": 1.0, "of": "Disease", "given": MEN, "values": SCORES, "ddof": 1, "decimals": 0},
    ),
    "PublishedRegression.between": (
        mx.PublishedRegression({"intercept": 1.0, "Age": 0.1}, of="S").between, {"low": -1.0, "high": 1.0}
    ),
    "PublishedTable.without": (
        mx.PublishedTable(pd.DataFrame({"Gender": ["male"], "n": [6]})).without,
        {"record": MEN, "original": HOSPITAL},
    ),
    "PublishedTable": (mx.PublishedTable, {"table": HOSPITAL.groupby("Gender").size().rename("n").reset_index()}),
    "Posterior.conditional": (POST.conditional, {}),
    "Posterior.prob": (POST.prob, {"value": "Flu", "given": MEN}),
    "Posterior.prices": (POST.prices, {"leave_one_out": False, "time_limit": 60.0}),
    "Space.conditional": (MODEL.space.conditional, {"of": "s", "given": "Gender"}),
    "Space.marginal": (MODEL.space.marginal, {"by": ["Gender", "s"]}),
    "quantify": (
        mx.quantify,
        {"release": RELEASE, "original": HOSPITAL, "knowledge": [(1, 0)], "min_support": 1, "progress": False},
    ),
    "sweep": (mx.sweep, {"model": MODEL, "probability": P("Flu", given=MEN), "value": 0.3, "eps": 0.1}),
    "compare_solvers": (mx.compare_solvers, {"models": MODEL, "solvers": ["DUAL_NEWTON"]}),
    "measures.exposed": (
        mx.measures.exposed,
        {"post": POST, "threshold": 0.8, "sensitive": ["Flu"], "baseline": "overall", "within": None, "rho1": 0.2},
    ),
    "measures.overall_divergence": (mx.measures.overall_divergence, {"post": POST, "original": HOSPITAL}),
    "measures.disclosure": (mx.measures.disclosure, {"post": POST}),
    "measures.leakage": (mx.measures.leakage, {"prior": "overall", "post": POST}),
    "measures.reidentification": (mx.measures.reidentification, {"published": HOSPITAL, "qi": QI, "population": 100}),
    "measures.equivocation": (mx.measures.equivocation, {"values": [1, 2, 4], "probabilities": [0.5, 0.25, 0.25]}),
    "anonymize.anatomy": (mx.anonymize.anatomy, {"table": HOSPITAL, **ROLES, "l": 2, "exempt": 0, "seed": 0}),
    "anonymize.mondrian": (mx.anonymize.mondrian, {"table": HOSPITAL, **ROLES, "k": 2, "l": 2}),
    "anonymize.mine_rules": (
        mx.anonymize.mine_rules, {"table": HOSPITAL, **ROLES, "support": 0.2, "confidence": 0.3}
    ),
    "attacks.worst_case": (mx.attacks.worst_case, {"release": RELEASE, "k": [0, 1], "sensitive": ["Flu"]}),
    "attacks.definetti": (mx.attacks.definetti, {"release": RELEASE, "iterations": 2, "smoothing": 1.0}),
    "attacks.noisy": (
        mx.attacks.noisy,
        {"answers": pd.DataFrame({"who": [["a", "b"]], "values": [["x"]], "answer": [1]}), "people": ["a", "b"],
         "noise": scipy.stats.laplace(scale=2), "prior": pd.Series({"x": 0.5, "y": 0.5}), "knowledge": ["a=x or b=x"],
         "limit": 1e6},
    ),
    "attacks.intersection": (mx.attacks.intersection, {"releases": [RELEASE, RELEASE]}),
    "worlds.posterior": (mx.worlds.posterior, {"group": GROUP, "values": ["x", "y", "y"], "knowledge": ["a=x or b=x"]}),
    "worlds.linkage": (
        mx.worlds.linkage, {"release": RELEASE, "prior": PRIOR, "people": ALLEN, "knowledge": []}
    ),
    "sdc.Sampling": (mx.sdc.Sampling, {"factor": 0.5}),
    "plots.prices": (mx.plots.prices, {"table": POST.prices()}),
    "report": (mx.report, {"posts": POST, "path": None, "threshold": 0.7, "rows": 3, "progress": False}),
}  # fmt: skip


@dataclass
class Published:
    """A view of one's own, whose generated text prints its table."""

    people: pd.DataFrame


RECORDS = pd.DataFrame({"Name": [SECRET], "S": [1]})
WRONG = {
    "None": None, "-1": -1, "nan": np.nan, "inf": np.inf, "'x'": "x", "[]": [], "[None]": [None], "1e300": 1e300,
    "a dict": {"x": [1]}, "an object": object(), "an array": np.array([1.0, np.nan]), "records": RECORDS,
    "[records]": [RECORDS], "(records,)": (RECORDS,), "a dict of records": {"x": RECORDS},
    "a view of records": Published(RECORDS), "a queue of records": deque([RECORDS]),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_wrong_arguments(name: str, tmp_path, monkeypatch):
    """Each argument in turn is replaced by values of a wrong type or range: a value is accepted, or the error is typed."""
    monkeypatch.chdir(tmp_path)  # some calls write to the path "x"
    function, arguments = CALLS[name]
    function(**arguments)
    for argument, (wrong, value) in itertools.product(arguments, WRONG.items()):
        message = "accepted"
        try:
            function(**{**arguments, argument: value})
        except mx.MaxEntError as error:
            message = str(error)
        except Exception as error:
            pytest.fail(f"{name}({argument}={wrong}): {type(error).__name__}: {error}")
        assert message
        assert SECRET not in message


@pytest.mark.parametrize(
    ("error", "call"),
    [
        (mx.MaxEntError, lambda: MODEL.copy().add(P("male", given={"Disease": "Flu"}) == 0.3)),
        (mx.MaxEntError, lambda: MODEL.copy().add("P(Flu | Alice) = 0.3")),
        (mx.StatementError, lambda: MODEL.copy().add("P(Flu | Gender=male) = 30%")),
        (mx.StatementError, lambda: P("Flu") == P("HIV") * P("Flu", given=MEN)),
        (TypeError, lambda: 0.2 <= P("Flu") <= 0.4),
        (mx.LabelMismatch, lambda: MODEL.space.marginal("Gender").loc[["male", "male"]]),
        (ZeroDivisionError, lambda: mx.sweep(MODEL, P("Flu"), value=0.3, measure=lambda post: 1 / 0)),
    ],
)
def test_common_mistakes(error: type[Exception], call: Callable[[], Any]):
    """Each mistake has the error that callers catch; an error of a user's own function reaches the user."""
    with pytest.raises(error):
        call()

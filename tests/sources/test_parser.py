"""What people type: it is read, or refused with a line of Python that runs."""

from __future__ import annotations

import math

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest

import maxent_cvx as mx
from maxent_cvx import E, P, StatementError
from maxent_cvx.sources.parser import LINES, read_statement
from support.helpers import refused

MEN, WOMEN = P("Flu", given={"Gender": "male"}), P("Flu", given={"Gender": "female"})

READ = {
    "P(Flu | Gender=male) / P(Flu | Gender=female) between 2 and 3": (MEN / WOMEN).between(2, 3),
    "P(Flu | Gender=male) / P(Flu | Gender=female) in [2, 3]": (MEN / WOMEN).between(2, 3),
    "P(Flu | Gender=male) / (1 - P(Flu | Gender=male)) <= 0.5": MEN / (1 - MEN) <= 0.5,
    "(P(Flu) + P(HIV)) / P(Flu | Gender=male) >= 0.5": (P("Flu") + P("HIV")) / MEN >= 0.5,
    "P(Flu | Gender=male) between 0.2 and 0.4": MEN.between(0.2, 0.4),
    "P(Flu | Gender=male) in [0.2, 0.4]": MEN.between(0.2, 0.4),
    "-0.1 <= P(Flu | Gender=male) - P(Flu | Gender=female) <= 0.1": (MEN - WOMEN).between(-0.1, 0.1),
    "mean(age | Disease=Flu) = 40": E("age", given={"Disease": "Flu"}) == 40,
    "average(age | Disease=Flu) <= 40": E("age", given={"Disease": "Flu"}) <= 40,
}


@pytest.mark.parametrize("text", READ)
def test_what_is_read(text):
    """Intervals, relative risks, odds and means are read as the statement of Python, and written to be read again."""
    statement = read_statement(text)
    assert statement.identity == READ[text].identity
    assert read_statement(str(statement)).identity == statement.identity


#: What has no notation, and a piece of the line that says it.
REFUSED = {
    "odds ratio of men and women = 2": "1 - P(",
    "OR(Flu | Gender=male, Gender=female) = 2": "1 - P(",
    "(P(Flu) / (1 - P(Flu))) / (P(HIV) / (1 - P(HIV))) = 2": "1 - P(",
    "relative risk = 2.5": ".between(2, 3)",
    "RR in [2, 3]": ".between(2, 3)",
    "P(Flu | Gender=male) is twice P(Flu | Gender=female)": "== 2 *",
    "P(Flu | Gender=male) = 0.3 (95% CI 0.2 to 0.4)": ".softly(0.3, sd=0.05)",
    "entropy(Disease | Gender=male) >= 1": "cp.entr",
    "H(Disease) >= 1": "cp.entr",
    "I(Gender; Disease) <= 0.01": "cp.kl_div",
    "KL(P || Q) <= 0.1": "cp.kl_div",
    "gini(Disease) >= 0.3": "cp.sum_squares",
    "P(Flu) * P(HIV) = 0.1": "==",
    "P(Flu)^2 <= 0.1": "cp.square",
    "max(P(Flu), P(HIV)) <= 0.3": "cp.maximum",
    "|P(Flu) - P(HIV)| <= 0.1": ".between(-0.1, 0.1)",
    "abs(P(Flu) - P(HIV)) <= 0.1": ".between(-0.1, 0.1)",
    "median(age | Disease=Flu) = 40": "PublishedQuantile",
    "sd(age) = 3": "PublishedMoments",
    "corr(age, Flu) = 0.3": "PublishedCorrelation",
    "cov(age, Flu) >= 0": "Covariance",
    "logit(P(Flu)) = 0.2": "math.exp",
    "if Ann=Flu then Bob=Flu": "knowledge=",
    "Ann has Flu": 'who="Ann"',
    "count(Flu) = 3": "release.n_records",
    "#(Flu) = 3": "release.n_records",
}


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_refused_with_a_line(text):
    """The error points at the character, and has the line."""
    with refused(StatementError, "at character", "in Python, for example: ", REFUSED[text]):
        read_statement(text)


@pytest.mark.parametrize("line", [line for lines in LINES.values() for line in lines])
def test_lines_run(line):
    """Each line is knowledge that a model takes and can solve with, or an answer."""
    ages, genders = np.tile([20, 30, 40, 50, 60], 4), np.repeat(["male", "female"], 10)
    table = pd.DataFrame({"age": ages, "Gender": genders, "Disease": (["Flu"] * 3 + ["HIV"] * 7) * 2, "b": genders})
    release = mx.Release.from_buckets(table, qi=["age", "Gender"], sa="Disease", bucket="b")
    view = mx.QITable(table, qi=["age", "Gender"], sa="Disease", sa_values=["Flu", "HIV", "none"])
    people = {"Ann": {"age": 20, "Gender": "male"}, "Bob": {"age": 30, "Gender": "female"}}
    names = {
        "mx": mx, "P": P, "cp": cp, "math": math, "release": release, "people": people, "odds_of_women": 0.25,
        "reference": np.full(3, 1 / 3), "independent": np.full(6, 1 / 6),
    }  # fmt: skip
    said = eval(line, names)
    if isinstance(said, pd.DataFrame):
        assert np.allclose(said.sum(axis=1), 1)
    else:
        assert mx.MaxEnt(view, people=people).add(said).solve().certificate.holds


def test_a_ratio_in_a_file(tmp_path):
    """A file of knowledge may hold ratios, and errors of a model name its line."""
    path = tmp_path / "said.txt"
    path.write_text("2 <= P(Flu | Gender=male) / P(Flu | Gendre=female) <= 3\n", encoding="utf-8")
    (said,) = mx.read_knowledge(path)
    table = mx.datasets.load_hospital()
    release = mx.Release.from_buckets(table, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    with refused(mx.UnknownName, "said.txt, line 1", "Gendre"):
        mx.MaxEnt(release).add(said)

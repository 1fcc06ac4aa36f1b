"""QI-based distributions: the prior of an adversary (Probabilistic Inference Protection, section II)."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import maxent_cvx as mx
from maxent_cvx import BadProbability, QIDistribution, StatementError, TableError, UnknownName
from support.helpers import refused

#: Table IV.
CANCER = {"Male": {"yes": 0.1, "no": 0.9}, "Female": {"yes": 0.003, "no": 0.997}}


@pytest.fixture
def voters() -> pd.DataFrame:
    """Table II."""
    return pd.DataFrame(
        {"Gender": ["Male", "Female", "Female", "Female"], "Age": [41, 42, 63, 64]},
        index=["Alan", "Betty", "Catherine", "Diana"],
    )


def test_every_form_is_read_alike(voters):
    """A dictionary, a table in it, and a table whose index is named by its attributes are one prior."""
    frame = pd.DataFrame(CANCER).T
    for prior in (
        QIDistribution({"Gender": CANCER}),
        QIDistribution({("Gender",): frame}),
        QIDistribution(frame.rename_axis("Gender")),
        QIDistribution({"Gender": {sex: pd.Series(row) for sex, row in CANCER.items()}}),
    ):
        assert prior.attribute_sets == [("Gender",)]
        assert list(prior.values) == ["yes", "no"]
        assert prior["Gender"].loc["Male", "yes"] == 0.1
        assert prior.of(voters)["yes"].to_dict() == {"Alan": 0.1, "Betty": 0.003, "Catherine": 0.003, "Diana": 0.003}
    # 0.1 + 0.2 + 0.7 is not 1 in floating point.
    assert list(QIDistribution({"G": {"a": {"x": 0.1, "y": 0.2, "z": 0.7}}}).values) == ["x", "y", "z"]


def test_signatures(voters):
    """Every tuple has a signature by each attribute set (Definition 1), in whatever order it is named."""
    by_both = {(sex, age): {"yes": 0.5, "no": 0.5} for sex, age in zip(voters["Gender"], voters["Age"], strict=True)}
    prior = QIDistribution({"Gender": CANCER, ("Gender", "Age"): by_both})
    assert list(prior.signatures(voters, "Gender")) == [("Male",), ("Female",), ("Female",), ("Female",)]
    assert list(prior.signatures(voters, ["Age", "Gender"])) == list(by_both)
    assert prior.select("Gender").attribute_sets == [("Gender",)]
    with refused(StatementError):
        prior.of(voters)
    with refused(UnknownName):
        prior["Sex"]


@pytest.mark.parametrize("smoothing", [0.0, 1.0, 0.5])
def test_estimate(hospital, smoothing):
    """(n(s, x) + a) / (n(s) + a |X|), counted with pandas."""
    prior = QIDistribution.estimate(hospital, qi=[["Gender"], ["Gender", "Degree"]], sa="Disease", smoothing=smoothing)
    for attributes in ["Gender"], ["Gender", "Degree"]:
        n = hospital.groupby([*attributes, "Disease"]).size().unstack(fill_value=0)
        expected = (n + smoothing).div(n.sum(axis=1) + smoothing * n.shape[1], axis=0)
        table = prior[attributes]
        np.testing.assert_allclose(table.to_numpy(), expected[table.columns].to_numpy(), rtol=1e-14)
        assert list(table.index) == list(expected.index)
    assert repr(prior).startswith("<QIDistribution: Gender")


FRAME = pd.DataFrame(CANCER).T.rename_axis("Gender")


@pytest.mark.parametrize(
    ("tables", "error"),
    [
        ([{"G": {"a": {"x": 0.5, "y": 0.4}}}], BadProbability),
        ([{"G": {"a": {"x": 0.5, "y": 0.5}, "b": {"x": 1.0}}}], TableError),
        ([{"G": {"a": {"x": 1.5, "y": -0.5}}}], BadProbability),
        ([{"G": {"a": {"x": "often"}}}], BadProbability),
        ([FRAME.rename_axis(None)], TableError),
        ([pd.concat([FRAME, FRAME])], TableError),
        ([FRAME, FRAME], TableError),
        ([{("A", "B"): {(1, 2): {"y": 1.0}}}, {("B", "A"): {(2, 1): {"y": 1.0}}}], TableError),
        ([{frozenset(["Age", "Sex"]): {(1, "m"): {"y": 1.0}}}], TableError),
        ([FRAME, {"Age": {41: {"yes": 0.5, "maybe": 0.5}}}], TableError),
        ([5], TableError),
        ([{"G": {"a": 3}}], TableError),
        ([], TableError),
        ([{("A", "B"): {"a": {"x": 1.0}}}], TableError),
    ],
)
def test_what_is_no_prior(tables, error):
    """Rows that do not sum to 1, unnamed indices, repeated signatures, and other shapes or values are refused."""
    with refused(error):
        QIDistribution(*tables)


def test_wrong_questions(hospital, voters, release):
    """Smoothing below 0, people without a signature, and a release with values that the prior lacks are refused."""
    both = QIDistribution({("Gender", "Age"): {("Male", 41): {"x": 1.0}, ("Female", 42): {"x": 1.0}}})
    few = QIDistribution({"Gender": {"male": {"Flu": 1.0}, "female": {"Flu": 1.0}}})
    for ask, error in [
        (lambda: QIDistribution.estimate(hospital, qi="Gender", sa="Disease", smoothing=-1), BadProbability),
        (lambda: QIDistribution(FRAME).of(voters.assign(Gender="diverse")), UnknownName),
        (lambda: both.of(pd.DataFrame({"Gender": ["Male"], "Age": [42]})), UnknownName),
        (lambda: mx.MaxEnt(release, prior=few), UnknownName),
        (lambda: mx.worlds.r_robustness(release, few), UnknownName),
    ]:
        with refused(error):
            ask()

"""One contract for all information sources: each class of the package keeps it, and whoever breaks it is told how."""

from __future__ import annotations

import importlib
import inspect
import itertools
import pkgutil

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.stats import binom, norm
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

import maxent_cvx as mx
from maxent_cvx import BadProbability, P, Rows, Source, sources
from maxent_cvx.releases.generalized import OUTSIDE
from maxent_cvx.sources.base import Custom
from maxent_cvx.testing import check_source


def classes() -> dict[str, type[Source]]:
    """Every concrete Source that a module of maxent_cvx.sources defines."""
    found = {}
    for module in pkgutil.walk_packages(sources.__path__, sources.__name__ + "."):
        for name, value in vars(importlib.import_module(module.name)).items():
            is_source = inspect.isclass(value) and issubclass(value, Source) and value.__module__ == module.name
            if is_source and not inspect.isabstract(value):
                found[name] = value
    return found


def groups_of(hospital: pd.DataFrame) -> mx.GroupedRelease:
    """The hospital's genders, and degrees of some; a population with somebody who was not there."""
    records = hospital.assign(Degree=hospital["Degree"].where(hospital["Gender"] == "male", "*"))
    voters = pd.concat([hospital, hospital.head(1)])
    return mx.Release.from_generalized(records, qi=["Gender", "Degree"], sa="Disease", population=voters)


def voters_of(hospital: pd.DataFrame) -> pd.DataFrame:
    """Those ten, and an eleventh, with the groups that they are in."""
    group = "Gender=" + hospital["Gender"] + ", Degree=" + hospital["Degree"].where(hospital["Gender"] == "male", "*")
    absent = hospital.head(1).assign(Name="Zoe", Disease=OUTSIDE, Group=OUTSIDE)
    return pd.concat([hospital.assign(Group=group), absent])


def release_with_names(hospital: pd.DataFrame) -> mx.Release:
    """The release with everybody's name on it."""
    return mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket", id="Name")


def told(hospital: pd.DataFrame) -> pd.DataFrame:
    """The shares of both genders for each disease, as if it were reported so."""
    return pd.crosstab(hospital["Disease"], hospital["Gender"], normalize="index")


def table_of(hospital: pd.DataFrame) -> mx.QITable:
    """Everybody's QI, and how frequent the diseases are."""
    return mx.QITable(
        hospital, qi=["Gender", "Degree"], sa="Disease", sa_distribution=hospital["Disease"].value_counts()
    )


def table_with_margins(hospital: pd.DataFrame) -> pd.DataFrame:
    """How many of each gender have each disease, with all totals; small cells are suppressed."""
    counts = pd.crosstab(hospital["Gender"], hospital["Disease"], margins=True, margins_name="*").stack()
    return counts.where(counts >= 5, "<5").rename("n").reset_index()


def tree_of(hospital: pd.DataFrame) -> Pipeline:
    """A decision tree of the diseases, with two splits."""
    tree = make_pipeline(OneHotEncoder(), DecisionTreeClassifier(max_depth=2, random_state=0))
    return tree.fit(hospital[["Gender", "Degree"]], hospital["Disease"])


def hospital_flu(hospital: pd.DataFrame) -> dict[str, int]:
    """1 for those who have it."""
    return {disease: int(disease == "Flu") for disease in hospital["Disease"]}


#: A number for each disease; those of the men are 2, 2, 4, 4, 4, 6, and of the women 1, 6, 8, 8.
MONTHS = {"Lung Cancer": 1, "Pneumonia": 2, "Flu": 4, "HIV": 6, "Breast Cancer": 8}
SEX = {"male": 1, "female": 0}
#: How to make each of them, true of the hospital; a new class needs a line here.
TRUE = {
    "AnsweredQueries": lambda release, hospital: [
        sources.AnsweredQueries([{}, {"Gender": "male"}, {"Gender": "male", "Disease": "Flu"}], [10, 6, 3]),
        sources.AnsweredQueries([{"Disease": ["Flu", "HIV"]}, {"Gender": "male"}], [4, 2], eps=[2, 100]),
        sources.AnsweredQueries([{}, {"Degree": "college"}], [3, 1], of="sum", values=hospital_flu(hospital)),
        sources.AnsweredQueries([{"Gender": "male"}], [0.46], of="mean", eps=0.05, values=hospital_flu(hospital)),
    ],
    "BucketInvariants": lambda release, hospital: [sources.BucketInvariants(release)],
    "Custom": lambda release, hospital: [
        Custom(lambda space: space.conditional("s", given="q") <= 1),
        Custom(lambda space: space.prob("Flu") <= 0.3),
        Custom(lambda space: [P("Flu") == 0.3, space.marginal("s") >= 0.1]),
    ],
    "GroupInvariants": lambda release, hospital: [sources.GroupInvariants(groups_of(hospital))],
    "Population": lambda release, hospital: [sources.Population(groups_of(hospital))],
    "NoisyMarginal": lambda release, hospital: (
        [
            sources.NoisyMarginal(counts, binom(10, 0.5, loc=-5), confidence=confidence, integer=integer)
            for confidence, integer in [(1, True), (0.9, False)]
            for counts in [hospital.groupby(["Gender", "Disease"]).size() + 3, hospital.groupby("Disease").size() - 2]
        ]
        + [sources.NoisyMarginal(hospital.groupby("Disease").size() - 2.5, norm(scale=2), how="likelihood")]
    ),
    "Monotone": lambda release, hospital: [
        sources.Monotone(P("Breast Cancer"), "Gender", increasing=False, order=["female", "male"]),
        sources.Monotone(P("Flu"), "Degree", order=["junior", "college", "graduate", "high school"]),
    ],
    "NamedPeople": lambda release, hospital: [sources.NamedPeople()],
    "PublishedCorrelation": lambda release, hospital: [  # 3 of 6 men and 0 of 4 women: 0.12 / sqrt(0.24 0.21)
        sources.PublishedCorrelation(0.53, ("Gender=male", {"Flu": 1}), decimals=2),
        sources.PublishedCorrelation(0.12 / (0.24 * 0.21) ** 0.5, ("Gender=male", {"Flu": 1}), sd=0.21**0.5, ddof=0),
    ],
    "PublishedCounts": lambda release, hospital: [
        sources.PublishedCounts(release),
        sources.PublishedCounts(release, [("s", "bucket")]),
    ],
    "PublishedZeros": lambda release, hospital: [sources.PublishedZeros(release)],
    "PublishedMoments": lambda release, hospital: [  # squares sum to 92 of the men, to 257 of all
        sources.PublishedMoments(22 / 6, ((92 - 22**2 / 6) / 5) ** 0.5, values=MONTHS, given={"Gender": "male"}),
        sources.PublishedMoments(4.5, 2.3, values=MONTHS, ddof=0, decimals=1),
        sources.PublishedMoments(0.5, of="Gender", given={"Disease": "HIV", "Degree": "college"}, values=SEX),
    ],
    "PublishedQuantile": lambda release, hospital: (
        [  # of ten people 1, 2, 2, 4, 4, 4, 6, 6, 8, 8
            sources.PublishedQuantile(value, q, values=MONTHS, method=method)
            for value, q, method in [(1, 0, "linear"), (2.5, 0.25, "linear"), (4, 0.5, "lower"), (8, 1, "higher")]
        ]
        + [sources.PublishedQuantile(7, values=MONTHS, given={"Gender": "female"})]
    ),
    "PublishedRegression": lambda release, hospital: [  # three of six men, and none of four women
        sources.PublishedRegression({"intercept": 0.0, "Gender=male": 0.5}, of={"Flu": 1}),
        sources.PublishedRegression({"intercept": 0.0, "Gender=male": 0.5}, {"Flu": 1}, decimals=1),
        sources.PublishedRegression({"intercept": 0.0}, {"Flu": 1}, "logistic", given={"Gender": "male"}),
    ],
    "PublishedRuleList": lambda release, hospital: [
        sources.PublishedRuleList([({"Gender": "male"}, "Flu", 0.5), ({}, "HIV", 0.25)]),
        sources.PublishedRuleList([({"Degree": ["college", "graduate"]}, "Flu", 0.29), ({}, "HIV", None)], decimals=2),
    ],
    "PublishedTree": lambda release, hospital: [
        sources.PublishedTree(tree_of(hospital), leaves=leaves) for leaves in ("counts", "class")
    ],
    "PublishedTable": lambda release, hospital: (
        [
            sources.PublishedTable(table_with_margins(hospital), suppressed={"<5": (0, 4)}, **options)
            for options in [{}, {"base": 1}]
        ]
        + [sources.PublishedTable(hospital.value_counts(by).reset_index(name="n")) for by in (["Disease"], ["Gender"])]
    ),
    "PublishedRules": lambda release, hospital: [
        sources.PublishedRules(rules, **options)
        for options in [{}, {"integer": False}, {"scores": "support"}, {"prune": False}, {"non_rules": False}]
        for rules in [
            mx.anonymize.mine_rules(hospital, qi=["Gender", "Degree"], sa="Disease", support=0.1, confidence=0.3)
        ]
    ],
    "PriorZeros": lambda release, hospital: [sources.PriorZeros(("Gender",))],
    "QIConstraints": lambda release, hospital: [sources.QIConstraints(table_of(hospital))],
    "RandomizedResponse": lambda release, hospital: [  # whoever is male says so, whatever the disease
        sources.RandomizedResponse(told(hospital), reported="Gender", by=[[]], confidence=confidence)
        for confidence in (None, 0.9)
    ],
    "SAConstraints": lambda release, hospital: [sources.SAConstraints(table_of(hospital))],
    "OtherRelations": lambda release, hospital: [
        sources.OtherRelations(mx.ReleaseSeries([release_with_names(hospital)]))
    ],
    "SeriesConstraints": lambda release, hospital: [
        sources.SeriesConstraints(mx.ReleaseSeries([release_with_names(hospital)]))
    ],
    "SameValue": lambda release, hospital: [
        sources.SameValue("Allen", "David", at_least=0.5),
        sources.SameValue("Ethan", "Helen", at_least=1),
        sources.SameValue("Ethan", "Iris", at_least=0),
    ],
    "ParametricStatement": lambda release, hospital: [
        P("Flu", given={"Gender": "male"}) == cp.Parameter(value=0.5, name="half"),
        2 * P("Flu", given={"Gender": "male"}) + 0.1 >= 0.5 * cp.Parameter(value=2.0, name="two"),
    ],
    "SoftSource": lambda release, hospital: [
        mx.soft(sources.StrongestAssociations(hospital, 5, 5, min_support=1), sd=0.1),
        mx.soft(lambda space: space.conditional("Disease", given="Gender")["Flu"] <= 0.1, weight=20),
    ],
    "Statement": lambda release, hospital: [
        P("Flu", given={"Gender": "male"}).softly(0.9, sd=0.1),
        P("Flu", given={"Gender": "male"}) == 0.5,
        P("Flu", given={"Gender": "male"}).about(0.6, eps=0.1),
        P(["Flu", "HIV"], given={"Gender": "female"}) <= 0.25,
        P("Breast Cancer", given={"Gender": "male"}) <= P("Breast Cancer", given={"Gender": "female"}),
        P("Flu").about(0.5, eps=1),  # allows everything: no row
    ],
    "StrongestAssociations": lambda release, hospital: [
        sources.StrongestAssociations(hospital, positive, negative, min_support=1)
        for positive, negative in [(None, None), (5, 5), (5, 0), (0, 5), (0, 0)]
    ],
}


#: Whom these sources speak of, all with their own QI.
FIRST = {"Allen": "college", "Ethan": "college", "David": "high school"}
PEOPLE = {name: {"Gender": "male", "Degree": degree} for name, degree in FIRST.items()}
PEOPLE |= {
    name: {"Gender": "female", "Degree": degree} for name, degree in [("Helen", "college"), ("Iris", "graduate")]
}
KNOWN = {"NamedPeople": PEOPLE, "SameValue": PEOPLE}
#: What these sources are about; the others are tried on the release.
VIEWS = {"QIConstraints": table_of, "SAConstraints": table_of}
TRUTHS = dict.fromkeys(["GroupInvariants", "Population"], voters_of)
VIEWS |= dict.fromkeys(["GroupInvariants", "Population"], lambda hospital: groups_of(hospital))
VIEWS |= dict.fromkeys(
    ["OtherRelations", "SeriesConstraints"], lambda hospital: mx.ReleaseSeries([release_with_names(hospital)])
)


def test_every_source_is_tested():
    """Every class of the sources is made here, and nothing is made that does not exist."""
    assert set(TRUE) == set(classes())


@pytest.mark.parametrize("name", TRUE)
def test_sources_keep_the_contract(name, release, hospital):
    """Each source has a label and named rows of numbers, says the same twice, and is true of its data."""
    for source in TRUE[name](release, hospital):
        assert type(source) is classes()[name]
        view = VIEWS[name](hospital) if name in VIEWS else release
        prior = mx.QIDistribution.estimate(hospital, qi="Gender", sa="Disease") if name == "PriorZeros" else None
        space = mx.MaxEnt(view, people=KNOWN.get(name), prior=prior).space
        truth = TRUTHS[name](hospital) if name in TRUTHS else hospital
        assert check_source(source, space, truth=truth, id="Name") is None


def test_without_the_truth(release):
    """Without the original records knowledge is not compared with them."""
    check_source(P("Flu") == 0, mx.MaxEnt(release).space)


class Half(Source):
    """P(s) <= 1/2, for every s."""

    def rows(self, space):
        yield space.marginal("s") <= 0.5


#: As if somebody had written no docstring; Half's is not its own.
NoDocstring = type("NoDocstring", (Half,), {})


class EmptyLabel(Half):
    """P(s) <= 1/2, for every s."""

    label = ""


class NoLabel(Half):
    """P(s) <= 1/2, for every s."""

    label = None


class TooWide(Source):
    """A row over one term more than there is."""

    def rows(self, space):
        yield Rows(sp.csr_array(np.ones((1, len(space) + 1))), np.array([0.0]), np.array([1.0]), "too wide")


class TooShort(Source):
    """Two rows, and a value for one of them."""

    def rows(self, space):
        yield Rows(sp.csr_array(np.ones((2, len(space)))), np.array([0.0]), np.array([1.0]), "too short")


class NotANumber(Source):
    """P(s) = NaN, for every s."""

    def rows(self, space):
        yield space.marginal("s") == np.nan


class Infinite(Source):
    """A row with an infinite coefficient."""

    def rows(self, space):
        yield Rows(sp.csr_array(np.full((1, len(space)), np.inf)), np.array([0.0]), np.array([1.0]), "infinite")


class Boundless(Source):
    """A row from -inf to inf."""

    def rows(self, space):
        yield Rows(sp.csr_array(np.ones((1, len(space)))), np.array([-np.inf]), np.array([np.inf]), "boundless")


class Nameless(Source):
    """A row without a name."""

    def rows(self, space):
        yield Rows(sp.csr_array((1, len(space))), np.array([0.0]), np.array([1.0]), "")


class Falsehood(Source):
    """P(Flu) = 0.2, of ten people of whom three have it."""

    def rows(self, space):
        yield space.marginal("s") == pd.Series(0.2, index=space.view.sensitive_values)


class Moody(Source):
    """P(s) <= 0.6, then 0.7, then 0.8: another one each time."""

    def __init__(self):
        self.limits = itertools.count(0.6, 0.1)

    def rows(self, space):
        yield space.marginal("s") <= next(self.limits)


class Forgetful(Source):
    """Says it once."""

    def __init__(self):
        self.said = False

    def rows(self, space):
        if not self.said:
            self.said = True
            yield space.marginal("s") <= 0.5


class Chatter(Source):
    """Emits a number, which is neither rows nor a constraint."""

    def rows(self, space):
        yield 0.3


BROKEN = {
    NoDocstring: "docstring",
    EmptyLabel: "label",
    NoLabel: "label",
    TooWide: "one column a term",
    TooShort: "too short",
    Infinite: "finite",
    Boundless: "bounds nothing",
    Nameless: "name",
    Falsehood: "false of the original records",
    Moody: "asked again",
    Forgetful: "asked again",
    Chatter: "rows",
}


@pytest.mark.parametrize("broken", BROKEN, ids=lambda kind: kind.__name__)
def test_what_is_broken_is_said(broken, release, hospital):
    """A source that breaks the contract fails, and the error says in which point."""
    with pytest.raises(AssertionError, match=BROKEN[broken]):
        check_source(broken(), mx.MaxEnt(release).space, truth=hospital)


def test_nan_is_refused(release):
    """NaN does not even become a row."""
    with pytest.raises((AssertionError, BadProbability), match=r"(?i)nan"):
        check_source(NotANumber(), mx.MaxEnt(release).space)


def test_the_row_that_is_false_is_named(release, hospital):
    """Of false knowledge the row furthest from the truth is named: five diseases are not equally frequent."""
    with pytest.raises(AssertionError, match=r"Flu is false of the original records by 0\.1"):
        check_source(Falsehood(), mx.MaxEnt(release).space, truth=hospital)


@pytest.mark.parametrize(
    "said",
    [lambda space: P("Flu") <= 0.1, lambda space: [P("Flu") <= 0.1], lambda space: space.prob("Flu") <= 0.1],
    ids=["statement", "list", "constraint"],
)
def test_false_functions(said, release, hospital):
    """A function is held to the truth as well, whether it returns one statement, several, or a CVXPY constraint."""
    with pytest.raises(AssertionError, match="false of the original records"):
        check_source(Custom(said), mx.MaxEnt(release).space, truth=hospital)


def test_a_good_one_of_your_own(release, hospital):
    """Five lines make a source that keeps the contract, and a model takes it."""
    check_source(Half(), mx.MaxEnt(release).space, truth=hospital)
    assert list(mx.MaxEnt(release).add(Half()).knowledge) == ["Half"]

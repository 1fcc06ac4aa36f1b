"""The contract checks: what keeps the contract passes, and what breaks it is found."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import itertools
import pkgutil
from collections.abc import Callable, Iterator
from dataclasses import replace

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.optimize import nnls
from scipy.stats import binom, norm
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

import maxent_cvx as mx
from maxent_cvx import (
    Infeasible,
    P,
    QITable,
    Rows,
    SolverError,
    Source,
    StatementError,
    TableError,
    UnknownName,
    sources,
)
from maxent_cvx.releases.generalized import OUTSIDE
from maxent_cvx.solvers.answer import Answer, Status
from maxent_cvx.solvers.costs import Penalties
from maxent_cvx.sources.base import Custom, build_rows
from maxent_cvx.testing import check_backend, check_source, check_view
from support.helpers import refused
from support.linear_programs import extreme
from support.problems import CONTRADICTORY, PROBLEMS, SOLVABLE, Problem
from support.solving import CONIC, INSTALLED
from support.stored_views import KINDS

# -- solvers --------------------------------------------------------------------------------------------------------

NEWTON = mx.solvers.find("DUAL_NEWTON")
#: Enough to find out most of what can be wrong.
FEW = ["one equation", "one value or another", "active at most", "inactive at most", "two values"]


class Own:
    """The default solver, and something that goes wrong with its answers."""

    name = "OWN"
    takes_inequalities = takes_soft_rows = True

    def __init__(self, change: Callable[..., Answer] = lambda answer, form: answer) -> None:
        self.change = change

    def solve(self, form, start=None):
        return self.change(NEWTON.solve(form, start), form)


@pytest.mark.parametrize(
    ("solver", "step"),
    [*((solver, 4 if solver in CONIC else 1) for solver in INSTALLED)]
    + [pytest.param(solver, 1, marks=pytest.mark.slow) for solver in CONIC],
)
def test_solvers_of_the_package(solver: str, step: int):
    """Every solver keeps the contract on the problems that it takes, and no error exceeds its bound."""
    problems = list(PROBLEMS.values())[::step]
    report = check_backend(solver, problems)
    assert list(report.index) == list(PROBLEMS)[::step]
    taken = [PROBLEMS[name].suits(solver) for name in report.index]
    assert (report["outcome"] != "not taken").to_list() == taken
    feasible = np.array([problem.feasible for problem in problems]) & taken
    assert (report.loc[feasible, "outcome"].str.startswith("certified")).all()
    assert (report.loc[feasible, "error"] <= report.loc[feasible, "bound"] + 1e-6).all()
    assert report.loc[~feasible, ["bound", "error"]].isna().all(axis=None)


def raises(answer: Answer, form) -> Answer:
    raise ZeroDivisionError("division by zero")


def other_sign(answer: Answer, form) -> Answer:
    return replace(answer, multipliers=-answer.multipliers)


def returns_nothing(answer: Answer, form) -> None:
    return None


def with_exponent(exponent: Callable[..., np.ndarray]) -> Callable[..., Answer]:
    """Replace the multipliers m so that A' m is a function of the counts and the weights."""
    return lambda answer, form: replace(
        answer,
        multipliers=np.linalg.lstsq(form.matrix.toarray().T, exponent(answer.counts, form.weights), rcond=None)[0],
    )


#: What goes wrong, on which problem, and what the error names.
BROKEN = [
    (lambda answer, form: replace(answer, counts=answer.counts / answer.counts.sum()), FEW[1], "shares"),
    (other_sign, FEW[1], "wrong sign"),
    (with_exponent(lambda x, w: np.log(x / w)), FEW[1], "m - 1"),
    (with_exponent(lambda x, w: np.log(x) + 1), "believed and known", "with the weights w"),
    (with_exponent(lambda x, w: 0 * x), FEW[1], "the multipliers do not"),
    (
        lambda answer, form: replace(answer, counts=np.full(form.shape[1], answer.counts.mean())),
        FEW[1], "0.333333 records instead of 0.1; the row '.*' is off by",
    ),
    (lambda answer, form: Answer(Status.FAILED, None, None, message="out of luck"), FEW[0], "out of luck"),
    (lambda answer, form: replace(answer, status=Status.INFEASIBLE), FEW[0], "calls feasible knowledge infeasible"),
    (raises, FEW[0], "ZeroDivisionError: division by zero"),
    (raises, "two values", "ZeroDivisionError"),
    (returns_nothing, FEW[0], "Answer"),
    (lambda answer, form: replace(answer, counts=np.append(answer.counts, 0.0)), FEW[0], "array of 4 floats"),
]  # fmt: skip


def test_a_broken_solver():
    """The error of a solver that breaks the contract names the point and the problem."""
    for wrong, problem, says in BROKEN:
        with pytest.raises(AssertionError, match=f"1 of 1 problems. '{problem}': .*{says}"):
            check_backend(Own(wrong), [problem])
    with pytest.raises(AssertionError) as raised:  # a fault that all problems show is reported once
        check_backend(Own(returns_nothing), FEW)
    assert str(raised.value).count("must return") == 1


def test_inequalities_taken_for_equations():
    """A solver that takes an inequality with room for an equation is found out."""

    class Tight(Own):
        def solve(self, form, start=None):
            side = np.where(np.isfinite(form.high), form.high, form.low)
            return NEWTON.solve(replace(form, low=side, high=side), start)

    check_backend(Tight(), ["one equation", "active at most"])
    with pytest.raises(AssertionError, match=r"'inactive at most': .*all rows are true"):
        check_backend(Tight(), ["inactive at most"])


#: By problem, parts of the form without what a careless solver ignores; the last ignores convex constraints only.
IGNORED = {
    "active at least": lambda form: {"low": np.where(np.isinf(form.high), -np.inf, form.low)},
    "active between, from below": lambda form: {"low": np.where(form.is_equation, form.low, -np.inf)},
    "believed and published": lambda form: {"weights": np.ones(form.shape[1])},
    "missed at two prices": lambda form: {
        "penalties": form.penalties and replace(form.penalties, slope=form.penalties.slope * 2)
    },
    "within a parabola": lambda form: {},
}


@pytest.mark.parametrize("problem", IGNORED)
def test_what_a_solver_ignores(problem: str):
    """A solver that ignores sides, weights, costs or convex constraints is found out."""

    class Careless(Own):
        takes_convex = True

        def solve(self, form, start=None, convex=None):
            return NEWTON.solve(replace(form, **IGNORED[problem](form)), start)

    with pytest.raises(AssertionError, match=f"'{problem}'"):
        check_backend(Careless())


def test_multipliers_count_also_where_others_would_certify():
    """Fitted multipliers certify right counts; the check is about those that the solver returns."""
    wrong, right = Own(other_sign), Own(lambda answer, form: replace(answer, multipliers=None))
    assert mx.MaxEnt(PROBLEMS["one equation"].model().view).solve(wrong).certificate.holds
    with pytest.raises(AssertionError, match="wrong sign"):
        check_backend(wrong)
    assert (check_backend(right)["outcome"] == "certified").sum() >= 9


def test_what_is_not_tried(monkeypatch: pytest.MonkeyPatch):
    """Problems that the solver does not take, or that come after the time is over, are listed; others are refused."""
    equations, unlicensed = Own(), Own()
    equations.takes_inequalities = False
    assert check_backend(equations, FEW)["outcome"].value_counts()["not taken"] == 2
    with pytest.raises(AssertionError):
        check_backend(equations, ["active at most"])
    unlicensed.trouble = "no license found"
    with pytest.raises(AssertionError, match="no license found"):
        check_backend(unlicensed)
    monkeypatch.setattr("maxent_cvx.testing.MOST_SECONDS", -1.0)
    assert set(check_backend("DUAL_LBFGS")["outcome"]) <= {"not tried", "not taken"}
    assert set(check_backend("DUAL_LBFGS", ["one equation"])["outcome"]) == {"certified"}
    for error, call in [
        (UnknownName, ("CLARABELL",)),
        (SolverError, (Own,)),
        (UnknownName, ("DUAL_NEWTON", ["one equations"])),
        (StatementError, ("DUAL_NEWTON", "one equation")),
        (StatementError, ("DUAL_NEWTON", [])),
    ]:
        with refused(error):
            check_backend(*call)


# -- sources --------------------------------------------------------------------------------------------------------


def classes() -> dict[str, type[Source]]:
    """Every concrete Source that a module of maxent_cvx.sources defines; StoredSource only repeats rows of others."""
    results = {}
    for module in pkgutil.walk_packages(sources.__path__, sources.__name__ + "."):
        for name, value in vars(importlib.import_module(module.name)).items():
            is_source = inspect.isclass(value) and issubclass(value, Source) and value.__module__ == module.name
            if is_source and not inspect.isabstract(value) and name != "StoredSource":
                results[name] = value
    return results


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


#: A number for each disease; those of the men are 2, 2, 4, 4, 4, 6, and of the women 1, 6, 8, 8.
MONTHS = {"Lung Cancer": 1, "Pneumonia": 2, "Flu": 4, "HIV": 6, "Breast Cancer": 8}

#: 1 for those who have it.
FLU = {disease: int(disease == "Flu") for disease in MONTHS}
SEX = {"male": 1, "female": 0}

#: How to make each of them, true of the hospital; a new class needs a line here.
TRUE = {
    "AnsweredQueries": lambda release, hospital: [
        sources.AnsweredQueries([{}, {"Gender": "male"}, {"Gender": "male", "Disease": "Flu"}], [10, 6, 3]),
        sources.AnsweredQueries([{"Disease": ["Flu", "HIV"]}, {"Gender": "male"}], [4, 2], eps=[2, 100]),
        sources.AnsweredQueries([{}, {"Degree": "college"}], [3, 1], of="sum", values=FLU),
        sources.AnsweredQueries([{"Gender": "male"}], [0.46], of="mean", eps=0.05, values=FLU),
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
    "RatioStatement": lambda release, hospital: (
        (P("Flu", given={"Gender": "male"}) / P("Flu")).between(1.6, 1.7),
        (P("Flu") / P("Flu", given={"Gender": "male"})).about(0.6, eps=0.1),
    ),
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
        sources.PublishedRegression({"intercept": 0.0, "Gender=male": 0.5}, {"Flu": 1}).softly(sd=0.1),
        sources.PublishedRegression({"intercept": 0.1, "Gender=male": 0.4}, {"Flu": 1}).between(-0.1, 0.6),
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

#: People whom some of these sources are about, all with their own QI.
PEOPLE = {
    "Allen": {"Gender": "male", "Degree": "college"}, "Ethan": {"Gender": "male", "Degree": "college"},
    "David": {"Gender": "male", "Degree": "high school"}, "Helen": {"Gender": "female", "Degree": "college"},
    "Iris": {"Gender": "female", "Degree": "graduate"},
}  # fmt: skip


def model_of(name: str, release: mx.Release, hospital: pd.DataFrame) -> mx.MaxEnt:
    """A model that the sources of a class are about."""
    match name:
        case "QIConstraints" | "SAConstraints":
            return mx.MaxEnt(table_of(hospital))
        case "GroupInvariants" | "Population":
            return mx.MaxEnt(groups_of(hospital))
        case "OtherRelations" | "SeriesConstraints":
            return mx.MaxEnt(mx.ReleaseSeries([release_with_names(hospital)]))
        case "NamedPeople" | "SameValue":
            return mx.MaxEnt(release, people=PEOPLE)
        case "PriorZeros":
            return mx.MaxEnt(release, prior=mx.QIDistribution.estimate(hospital, qi="Gender", sa="Disease"))
    return mx.MaxEnt(release)


@pytest.mark.filterwarnings("ignore::maxent_cvx.RepeatedStatement", "ignore:Solution may be inaccurate")
@pytest.mark.parametrize("name", classes())
def test_sources_of_the_package(name, release, hospital):
    """Each source keeps the contract and is true of its data; its CVXPY constraints, and costs, are those of its rows."""
    for source in TRUE[name](release, hospital):
        assert type(source) is classes()[name]
        model = model_of(name, release, hospital)
        truth = voters_of(hospital) if name in ("GroupInvariants", "Population") else hospital
        assert check_source(source, model.space, truth=truth, id="Name") is None
        constraints_are_those_of_the_rows(source, model.space)
        constraints_give_the_answer(source, model)


def constraints_are_those_of_the_rows(source: Source, space: mx.Space) -> None:
    """At any point, constraints are violated and costs are paid as by the rows, in their unit."""
    group = build_rows(source, space)
    assert not group.convex
    unit, generator = space.n_records if source._counts_records else 1, np.random.default_rng(1)
    for _ in range(3):
        space.counts.value = generator.uniform(0, 2, len(space))
        missed, cost = [np.zeros(1)], 0.0
        for rows in group.rows:
            value = rows.matrix @ space.counts.value / space.n_records
            distance = np.maximum(np.maximum(rows.low - value, value - rows.high), 0)
            if rows.penalty is None:
                missed.append(unit * distance)
            else:
                cost += Penalties(*rows.penalty.variance_and_slope(len(rows))).cost(distance).sum()
        stated = [np.atleast_1d(one.constraint.violation()) for one in group.stated(space, "it")]
        missed, stated = np.concatenate(missed), np.concatenate([np.zeros(1), *stated])
        assert (stated.sum(), stated.max()) == pytest.approx((missed.sum(), missed.max()), rel=1e-9, abs=1e-8)
        assert sum(one.value for one in group.costs(space, "it")) == pytest.approx(cost, rel=1e-9)


def constraints_give_the_answer(source: Source, model: mx.MaxEnt) -> None:
    """CLARABEL's solution to the constraints of the release and of the source is the answer of the model."""
    tolerances = dict.fromkeys(["tol_gap_abs", "tol_gap_rel", "tol_feas"], 1e-11)
    published = [constraint for constraints in model.constraints.values() for constraint in constraints]
    model.add(source)
    cp.Problem(model.objective, published + source.constraints(model.space)).solve(solver="CLARABEL", **tolerances)
    assert model.space.counts.value == pytest.approx(model.solve().counts, abs=1e-5)


def broken(rows: Callable[..., object], **attributes: object) -> Source:
    """A source of these rows, and what else is wrong with its class."""
    return type("Broken", (Source,), {"__doc__": "Rows.", "rows": rows, **attributes})()


def at_most(limits: Iterator[float]) -> Callable[..., object]:
    """P(s) <= the next limit, for every s."""
    return lambda self, space: [space.marginal("s") <= limit for limit in itertools.islice(limits, 1)]


def balls(limits: Iterator[float]) -> Callable[..., object]:
    """The sum of squares of all P(s) is at most the next limit."""
    return lambda self, space: [cp.sum_squares(space.marginal("s").expr) <= next(limits)]


def of_sides(n: int, low: float, high: float, label: str) -> Callable[..., object]:
    """Rows of n events, and one pair of sides."""
    sides = np.array([low]), np.array([high])
    return lambda self, space: [Rows(sp.csr_array(np.ones((n, len(space)))), *sides, label)]


#: What is wrong with a source, and what the error names.
BROKEN_SOURCES = [
    (broken(at_most(itertools.repeat(0.5)), __doc__=None), "docstring"),
    (broken(at_most(itertools.repeat(0.5)), label=None), "label"),
    (broken(of_sides(2, 0.0, 1.0, "too short")), "too short"),
    (broken(of_sides(1, -np.inf, np.inf, "boundless")), "no finite side"),
    (broken(of_sides(1, 0.0, 1.0, "")), "name"),
    (broken(lambda self, space: [space.prob("Flu") == 0.2]), "original records"),  # three of ten people have it
    (broken(lambda self, space: [cp.sum_squares(space.marginal("s").expr) <= 0.2]), "original records"),  # it is 0.22
    (broken(lambda self, space: [cp.sum(cp.entr(space.marginal("s").expr)) >= 1.6]), "original records"),  # it is 1.56
    (broken(at_most(itertools.count(0.6, 0.1))), "second call"),
    (broken(balls(itertools.count(0.3, 0.1))), "second call"),
    (broken(at_most(iter([0.6]))), "second call"),
    (broken(lambda self, space: {}["Flu"]), "the rows of Broken cannot be built: KeyError: 'Flu'"),
]


def test_a_broken_source(release, hospital):
    """The error of a source that breaks the contract names the point; a function is compared with the truth as well."""
    space = mx.MaxEnt(release).space
    for source, says in BROKEN_SOURCES:
        with pytest.raises(AssertionError, match=says):
            check_source(source, space, truth=hospital)
    check_source(broken(balls(itertools.repeat(0.22))), space, truth=hospital)
    for false in (lambda _: P("Flu") <= 0.1, lambda _: [P("Flu") <= 0.1], lambda space: space.prob("Flu") <= 0.1):
        with pytest.raises(AssertionError, match="original records"):
            check_source(Custom(false), space, truth=hospital)


# -- views ----------------------------------------------------------------------------------------------------------

PEOPLE_VIEW = pd.DataFrame({"Ward": ["A", "A", "B"], "Age": [20, 30, 30]})

VALUES = pd.Series({"Flu": 2, "HIV": 1})


def test_views_of_the_package():
    """Every kind of view keeps its promises."""
    for make in KINDS.values():
        check_view(make().view)


def test_truth(release: mx.Release, hospital: pd.DataFrame):
    """The published counts of a view are true of its own records; a view is refused beside other records."""
    check_view(release, truth=hospital)
    check_view(made(Table), truth=PEOPLE_VIEW.assign(Disease=["Flu", "HIV", "Flu"]))
    with refused(TableError):
        check_view(made(Table), truth=PEOPLE_VIEW.assign(Disease=["Flu", "HIV", "HIV"]))


class Table(QITable):
    """People and values, each with how many there are."""


def made(kind: type[QITable]) -> QITable:
    """Three people, two of whom have the flu."""
    return kind(PEOPLE_VIEW, qi=["Ward", "Age"], sa="Disease", sa_distribution=VALUES)


def terms_of(change):
    """A method that changes the terms of a table: a function from their codes to others."""
    return {"terms": lambda self: change(QITable.terms(self))}


def published_of(counts: pd.Series):
    """A property that publishes other counts of the values."""
    return {"published": property(lambda self: {**QITable.published.func(self), ("s",): counts})}


def alternating():
    """Terms of which every second time the first is missing."""
    first = itertools.cycle([0, 1])

    def change(terms):
        start = next(first)
        return {role: codes[start:] for role, codes in terms.items()}

    return change


def read_back(from_frames):
    """Methods that write a table, and read another one."""
    return {"to_frames": lambda self: {"people": PEOPLE_VIEW}, "from_frames": classmethod(from_frames)}


def shrunk(cls, frames):
    twin = made(cls)
    twin._n_q = np.array([1, 1, 0])
    return twin


#: What is wrong with a kind of table: attributes of its class, and what the error names.
BROKEN_VIEW = [
    ({"__doc__": None}, "no docstring"),
    ({"noun": ""}, "noun must not be empty"),
    ({"n_q": property(lambda self: np.ones(3))}, "n_q must be an array of 3 integers"),
    ({"n_s": property(lambda self: np.array([3]))}, "n_s must be an array of 2 integers"),
    ({"n_s": property(lambda self: np.array([4, -1]))}, "n_s has a negative count"),
    ({"axes": property(lambda self: dict(reversed(QITable.axes.fget(self).items())))}, "axes must begin with"),
    (terms_of(lambda terms: {role: codes[2:] for role, codes in terms.items()}), "no terms for 1 QI tuples"),
    (terms_of(lambda terms: {role: codes[::-1] for role, codes in terms.items()}), "not sorted by q, s, at term 1"),
    (terms_of(lambda terms: {role: np.repeat(codes, 2) for role, codes in terms.items()}), "a duplicate at term 1"),
    (terms_of(lambda terms: {**terms, "s": terms["s"] + 1}), "a code of s"),
    (terms_of(lambda terms: {**terms, "s": terms["s"][1:]}), "codes of different lengths"),
    (terms_of(alternating()), "differ in a second call"),
    (published_of(VALUES + 1), r"published\['s'\] does not add up to n_s"),
    (published_of(VALUES - 2), r"published\['s'\] has a negative count"),
    (published_of(pd.Series({"Flu": 2, "Gout": 1})), "an unknown label of s"),
    (terms_of(lambda terms: {role: codes[terms["s"] == 0] for role, codes in terms.items()}), "without a term"),
    ({"described": lambda self, attribute, chosen: np.array([True])}, "None or 3 bools"),
    ({"described": lambda self, attribute, chosen: {}[attribute]}, "Broken raises KeyError: 'Ward'"),
    (read_back(lambda cls, frames: made(QITable)), "is a QITable"),
    (read_back(lambda cls, frames: frames["values"]), "KeyError: 'values'"),
    (read_back(shrunk), "other published counts"),
]


def test_a_broken_view():
    """The error of a view that breaks the contract names the point."""
    for attributes, says in BROKEN_VIEW:
        kind = type("Broken", (Table,), {"__doc__": "A table that breaks the contract.", **attributes})
        with pytest.raises(AssertionError, match=says):
            check_view(made(kind))


def test_saved_and_loaded():
    """A view that can be written comes back from a file, and a posterior of it with the same counts."""

    @dataclasses.dataclass(frozen=True, eq=False)
    class Written(mx.View):
        """Two margins, in a dataclass of tables."""

        wards: pd.DataFrame
        diseases: pd.DataFrame
        qi, sensitive, noun = ("ward",), ("disease",), "pair of margins"
        quasi_identifiers = property(lambda self: pd.MultiIndex.from_frame(self.wards[["ward"]]))
        sensitive_values = property(lambda self: pd.Index(self.diseases["disease"]))
        n_q = property(lambda self: self.wards["n"].to_numpy())
        n_s = property(lambda self: self.diseases["n"].to_numpy())

        @property
        def published(self):
            return {("q",): self.wards.set_index("ward")["n"], ("s",): self.diseases.set_index("disease")["n"]}

        def terms(self):
            return {"q": np.repeat(np.arange(2), 2), "s": np.tile(np.arange(2), 2)}

    wards, diseases = ({name: ["x", "y"], "n": n} for name, n in (("ward", [3, 1]), ("disease", [2, 2])))
    check_view(Written(pd.DataFrame(wards), pd.DataFrame(diseases)))


# -- the depot: its answers satisfy the conditions of optimality, whatever the solvers say ----------------------------

#: Rounding of sums of a few numbers, relative to the largest.
ROUNDING = 1e-12


def slopes_of_costs(problem: Problem) -> np.ndarray:
    """Minus the gradient of the costs of soft rows; where they have a kink, that of the depot, if it is one."""
    form, result = problem.model().form, np.zeros(problem.model().form.shape[1])
    if not problem.needs_soft_rows:
        return result
    soft = [(said, m) for said, m in zip(problem.knowledge, problem.dual, strict=True) if said.penalty is not None]
    x = problem.expected(problem.model().space)
    for row, (said, m) in enumerate(soft, start=form.n_hard):
        a = form.matrix[[row]].toarray()[0]
        value, scale = a @ x / form.scale[row], form.scale[row]  # as typed; of a unit, records
        missed = max(said.low - value, 0.0) - max(value - said.high, 0.0)
        sd, weight, delta = said.penalty.sd, said.penalty.weight, said.penalty.delta
        if abs(missed) < 1e-12 and weight is not None:
            assert abs(m) * scale <= weight
        else:
            slope = np.sign(missed) * weight if sd is None else np.clip(missed, -(delta or 9), delta or 9) / sd**2
            assert m * scale == pytest.approx(slope, abs=1e-9)
        result += a * m
    return result


@pytest.mark.parametrize("problem", SOLVABLE, ids=lambda problem: problem.name)
def test_answers_are_optimal(problem: Problem):
    """Rows hold, and the gradient of the entropy is a combination of them, of inequalities only those that bind.

    Where a term is zero it can be nothing else, and where all others are positive these conditions (Karush, Kuhn,
    Tucker) are sufficient, since the entropy is concave. The combination is found by non-negative least squares.
    """
    model = problem.model()
    form, hard = model.form, model.form.hard
    x = problem.expected(model.space)
    assert (x >= 0).all()
    assert (hard.residual(x) <= ROUNDING * x.sum()).all()
    held = x > 0
    for term in np.flatnonzero(~held):
        assert -extreme(hard, -np.eye(len(x))[term]).fun <= 1e-9
    a, value = hard.matrix.toarray(), hard.matrix @ x
    above, below = (slack <= ROUNDING * x.sum() for slack in (hard.high - value, value - hard.low))
    gradient = -np.log(x[held] / form.weights[held]) - 1 + slopes_of_costs(problem)[held]
    _, off = nnls(np.vstack([a[above], -a[below]])[:, held].T, gradient)
    assert off <= 1e-7 * max(1.0, np.abs(gradient).max())
    if problem.dual is not None:  # with these multipliers of what is known, x = w exp(A' m - 1)
        known, published = form.matrix[form.n_published :].toarray(), form.matrix[: form.n_published].toarray()
        assert len(problem.dual) == len(known)
        left = np.log(x / form.weights) + 1 - known.T @ problem.dual
        result = np.linalg.lstsq(published.T, left, rcond=None)[0]
        np.testing.assert_allclose(published.T @ result, left, atol=1e-9)


def test_contradictions_contradict():
    """Nothing satisfies the rows of a contradictory problem, by a linear program; or the model is refused."""
    for problem in CONTRADICTORY:
        try:
            form = problem.model().form.hard
        except Infeasible:
            continue
        assert extreme(form, np.zeros(form.shape[1])).status == 2, problem


def test_convex_problems():
    """Each constraint is an interval of the one free number, P(s1 | q1); the entropy, largest at 0.5, is concave in it.

    The answer is the point nearest to 0.5; there is none if the interval has nothing of [1/4, 3/4]. One constraint is
    not equivalent to rows: 5 x^2 - 2.4 x + 0.27 <= 0.
    """
    assert PROBLEMS["within a parabola"].model().posed.convex
    intervals = {"within a parabola": (0.18, 0.3), "within a wide parabola": (-0.2, 0.6), "beyond a parabola": (0, 0.2)}
    assert set(intervals) == {problem.name for problem in PROBLEMS.values() if problem.needs_convex}
    for name, interval in intervals.items():
        problem, (low, high) = PROBLEMS[name], np.clip(interval, [0.25, 0], [1, 0.75])
        assert problem.feasible == (low <= high)
        if problem.feasible:
            assert problem.joint[0][0][0] / 4 == pytest.approx(np.clip(0.5, low, high), abs=1e-15)


def test_printed_digits():
    """Jaynes printed the loaded die to five places."""
    printed = [0.05435, 0.07877, 0.11416, 0.16545, 0.23977, 0.34749]
    np.testing.assert_allclose(PROBLEMS["loaded die"].joint[0][0], printed, atol=5e-6)

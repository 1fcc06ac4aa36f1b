"""PublishedRegression of fits: statsmodels and scikit-learn give what hand-written coefficients give, and true rows."""

from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest
import scipy.optimize
import statsmodels.api as sm
import statsmodels.formula.api as smf
from scipy.special import expit
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import maxent_cvx as mx
from maxent_cvx import P, PublishedRegression, StatementError, UnknownName
from support.helpers import refused

QI = ["age", "sex", "zone", "marital status"]
LOGIT, BINOMIAL = {"method": "newton", "disp": 0}, sm.families.Binomial()


def records(seed: int, n: int = 70) -> pd.DataFrame:
    """People with a truth value, the same as a text, and an income."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "age": rng.integers(18, 70, n),
            "sex": rng.choice(["F", "M"], n),
            "zone": rng.integers(1, 4, n),
            "marital status": rng.choice(["single", "a: b", "once [x]"], n),
        }
    )
    table["ill"] = (rng.random(n) < expit(table["age"] / 30 - 1.5 + (table["sex"] == "M"))).astype(int)
    table["answer"] = np.where(table["ill"] == 1, "yes", "no")
    table["income"] = rng.integers(10, 25, n)
    table["bucket"] = rng.integers(0, 7, n)
    return table


def dummies(table: pd.DataFrame) -> pd.DataFrame:
    """The columns that pandas and people make for scikit-learn."""
    return pd.get_dummies(table[["age", "sex"]], drop_first=True).astype(float)


def columns(table: pd.DataFrame) -> pd.DataFrame:
    """Age and sex for statsmodels."""
    return sm.add_constant(dummies(table))


#: A fit of a table, its sensitive attribute, further arguments, and the same by hand: names, `of`, kind, penalty.
AGE_SEX = ["intercept", "age", "sex=M"]
FITS = {
    "OLS": (lambda t: sm.OLS(t["income"], columns(t)).fit(), "income", {}, (AGE_SEX, "income", "linear", 0)),
    "OLS of arrays": (
        lambda t: sm.OLS(t["income"].to_numpy(), columns(t).to_numpy()).fit(),
        "income",
        {"of": "income", "names": {"x1": "age", "x2": "sex=M"}},
        (AGE_SEX, "income", "linear", 0),
    ),
    "ols": (
        lambda t: smf.ols("income ~ age + sex", t).fit(cov_type="HC1"),
        "income",
        {},
        (["intercept", "sex=M", "age"], "income", "linear", 0),
    ),
    "formula": (
        lambda t: smf.ols("income ~ C(sex, Treatment('M')) * age + C(zone) + I(age ** 2) + Q('marital status')", t).fit(),
        "income",
        {},
        (
            ["intercept", "sex=F", "zone=2", "zone=3", "marital status=once [x]", "marital status=single", "age",
             "sex=F:age", "age:age"],
            "income", "linear", 0,
        ),
    ),
    "no intercept": (
        lambda t: smf.ols("income ~ sex - 1", t).fit(), "income", {}, (["sex=F", "sex=M"], "income", "linear", 0)
    ),
    "some": (
        lambda t: smf.ols("income ~ age", t[t["sex"] == "F"]).fit(),
        "income",
        {"given": {"sex": "F"}},
        (["intercept", "age"], "income", "linear", 0),
    ),
    "Gaussian": (
        lambda t: smf.glm("income ~ age", t).fit(), "income", {}, (["intercept", "age"], "income", "linear", 0)
    ),
    "Logit": (
        lambda t: sm.Logit(t["ill"], columns(t)).fit(**LOGIT), "ill", {}, (AGE_SEX, {1: 1}, "logistic", 0)
    ),
    "logit by BFGS": (
        lambda t: smf.logit("ill ~ age", t).fit(method="bfgs", disp=0),
        "ill",
        {},
        (["intercept", "age"], {1: 1}, "logistic", 0),
    ),
    "logit of numbers, released as texts": (
        lambda t: smf.logit("ill ~ age", t).fit(**LOGIT),
        "answer",
        {"of": {"yes": 1}},
        (["intercept", "age"], {"yes": 1}, "logistic", 0),
    ),
    "Binomial": (
        lambda t: smf.glm("ill ~ age + sex", t, family=BINOMIAL).fit(),
        "ill",
        {},
        (["intercept", "sex=M", "age"], {1: 1}, "logistic", 0),
    ),
    "Binomial of texts models the first": (
        lambda t: smf.glm("answer ~ age", t, family=BINOMIAL).fit(),
        "answer",
        {},
        (["intercept", "age"], {"no": 1}, "logistic", 0),
    ),
    "LinearRegression": (
        lambda t: LinearRegression().fit(dummies(t), t["income"]),
        "income",
        {"of": "income"},
        (AGE_SEX, "income", "linear", 0),
    ),
    "Ridge": (
        lambda t: Ridge(alpha=3).fit(dummies(t), t["income"]), "income", {"of": "income"}, (AGE_SEX, "income", "linear", 3)
    ),
    "LogisticRegression": (
        lambda t: LogisticRegression(max_iter=1000).fit(dummies(t), t["answer"]),
        "answer",
        {},
        (AGE_SEX, {"yes": 1}, "logistic", 1),
    ),
    "LogisticRegression of arrays, C=0.1": (
        lambda t: LogisticRegression(C=0.1, solver="newton-cholesky", tol=1e-9).fit(dummies(t).to_numpy(), t["ill"]),
        "ill",
        {"names": {"x0": "age", "x1": "sex=M"}},
        (AGE_SEX, {1: 1}, "logistic", 10),
    ),
    "LogisticRegression without penalty or intercept": (
        lambda t: LogisticRegression(C=np.inf, fit_intercept=False).fit(dummies(t), t["ill"]),
        "answer",
        {"of": {"yes": 1}},
        (["age", "sex=M"], {"yes": 1}, "logistic", 0),
    ),
}  # fmt: skip


def release_of(table: pd.DataFrame, sensitive: str) -> mx.Release:
    """The table in buckets."""
    return mx.Release.from_buckets(table, qi=QI, sa=sensitive, bucket="bucket")


def truth(space: mx.Space, table: pd.DataFrame, sensitive: str) -> np.ndarray:
    """P(q, s, b) of the records."""
    counts = table.groupby([*QI, sensitive, "bucket"]).size().reindex(space.index, fill_value=0)
    assert counts.sum() == len(table)
    return counts.to_numpy() / len(table)


@pytest.mark.parametrize("name", FITS)
@pytest.mark.parametrize("seed", [0, 1])
def test_a_fit_is_its_coefficients(name, seed):
    """The records satisfy the rows; these are those of the same coefficients by hand; the answer has the same fit."""
    make, sensitive, options, (names, of, kind, penalty) = FITS[name]
    table = records(seed)
    fit, model = make(table), mx.MaxEnt(release_of(table, sensitive))
    source = PublishedRegression(fit, **options)
    values = np.ravel(fit.params if hasattr(fit, "params") else fit.coef_)
    if hasattr(fit, "coef_") and fit.fit_intercept:
        values = np.append(np.ravel(fit.intercept_), values)
    by_hand = PublishedRegression(
        dict(zip(names, values, strict=True)), of, kind, penalty=penalty, given=options.get("given"),
        tolerance=source.tolerance or (1e-5 if "BFGS" in name else None),
    )  # fmt: skip
    p = truth(model.space, table, sensitive)
    for rows, same in zip(source.rows(model.space), by_hand.rows(model.space), strict=True):
        assert rows.residual(p).max() < 1e-12
        assert abs(rows.matrix - same.matrix).max() == 0
        np.testing.assert_allclose(rows.low, same.low, rtol=1e-6, atol=1e-4 if rows.exact else 1e-2)
        if penalty == 0:  # sums of whole numbers are known
            np.testing.assert_array_equal(rows.low, rows.high)
    post = model.add(source).solve()
    for rows in source.rows(model.space):
        assert (rows.residual(post.counts / len(table)) < 1e-9 * (1 + np.abs(rows.high))).all()


@pytest.mark.parametrize("places", [1, 3])
def test_a_fit_is_rounded(places):
    """With decimals= the coefficients are rounded here, and the records satisfy what is left, however they were fitted."""
    for seed in range(5):
        table = records(seed)
        space = mx.MaxEnt(release_of(table, "answer")).space
        for fit in (
            LogisticRegression().fit(dummies(table), table["answer"]),
            sm.Logit(table["ill"], columns(table)).fit(**LOGIT),
        ):
            source = PublishedRegression(fit, of="answer" if hasattr(fit, "coef_") else {"yes": 1}, decimals=places)
            assert all(round(b, places) == b for b in source.coefficients.values())
            assert max(rows.residual(truth(space, table, "answer")).max() for rows in source.rows(space)) < 1e-12


def test_standard_errors_as_costs():
    """Softly, the answer maximises N H less the squared distance of the coefficients in standard errors."""
    study, table = records(3), records(4, 30)
    fit = smf.ols("ill ~ age + sex", study).fit()
    table["answer"] = "unknown"
    view = mx.QITable(table, qi=["age", "sex"], sa="ill", sa_values=[0, 1])
    source = PublishedRegression(fit).softly()
    post = mx.MaxEnt(view).add(source).solve()

    X = np.column_stack([np.ones(30), table["sex"] == "M", table["age"]]).astype(float)
    y = cp.Variable(30)
    b = np.linalg.solve(X.T @ X, X.T) @ y
    cost = cp.sum_squares((b - fit.params.to_numpy()) / fit.bse.to_numpy()) / 2
    # N H of people with the same description is that of each: records are interchangeable
    cp.Problem(cp.Maximize(cp.sum(cp.entr(y) + cp.entr(1 - y)) - cost)).solve(
        "CLARABEL", tol_gap_abs=1e-11, tol_gap_rel=1e-11
    )
    ours = post.conditional()[1].reindex(pd.MultiIndex.from_frame(table[["age", "sex"]])).to_numpy()
    np.testing.assert_allclose(ours, y.value, atol=1e-5)
    assert post.penalties.sum() == pytest.approx(cost.value, abs=1e-5)
    twice = PublishedRegression(fit).softly(sd=2 * fit.bse)
    again = PublishedRegression(dict(zip(source.coefficients, fit.params, strict=True)), of="ill").softly(
        sd=dict(zip(source.coefficients, 2 * fit.bse, strict=True))
    )
    np.testing.assert_allclose(mx.MaxEnt(view).add(twice).solve().counts, mx.MaxEnt(view).add(again).solve().counts)


def test_intervals_of_a_linear_fit():
    """Between limits, bounds are those of a linear program over the responses."""
    fit, table = smf.ols("ill ~ age + sex", records(5)).fit(), records(6, 12)
    view = mx.QITable(table, qi=["age", "sex"], sa="ill", sa_values=[0, 1])
    X = np.column_stack([np.ones(12), table["sex"] == "M", table["age"]]).astype(float)
    T, eldest = np.linalg.solve(X.T @ X, X.T), np.flatnonzero(table["age"] == table["age"].max())
    ends = fit.conf_int()
    for source, (low, high) in [
        (PublishedRegression(fit).between(), (ends[0], ends[1])),
        (PublishedRegression(fit).between(fit.params - 0.1, fit.params + 0.05), (fit.params - 0.1, fit.params + 0.05)),
    ]:
        model = mx.MaxEnt(view).add(source)
        ours = model.bounds(P(1, given={"age": int(table["age"].max())}))
        goal = np.isin(np.arange(12), eldest) / len(eldest)
        G, h = np.vstack([T, -T]), np.append(high, -low)
        theirs = [scipy.optimize.linprog(sign * goal, A_ub=G, b_ub=h, bounds=(0, 1)).fun * sign for sign in (1, -1)]
        np.testing.assert_allclose(ours, theirs, atol=1e-6)


def test_intervals_of_a_logistic_fit_are_sound():
    """Whoever has a fit between the limits satisfies the rows."""
    rng, table = np.random.default_rng(7), records(8, 40)
    space = mx.MaxEnt(mx.QITable(table, qi=["age", "sex"], sa="ill", sa_values=[0, 1])).space
    published = smf.logit("ill ~ age + sex", table).fit(**LOGIT)
    low, high = published.params - published.bse, published.params + published.bse
    rows = list(PublishedRegression(published).between(low, high).rows(space))
    inside = 0
    for _ in range(60):
        world = table.assign(ill=(rng.random(40) < published.predict(table)).astype(int))
        b = smf.logit("ill ~ age + sex", world).fit(**LOGIT).params
        if ((low <= b) & (b <= high)).all():
            inside += 1
            counts = world.groupby(["age", "sex", "ill"]).size().reindex(space.index, fill_value=0).to_numpy()
            assert max(one.residual(counts / 40).max() for one in rows) < 1e-12
    assert inside > 5


def test_of_other_people_it_is_refused():
    """A fit of other records than those described is no equation: of others in number, or in their columns."""
    table = records(9)
    model = mx.MaxEnt(release_of(table, "ill"))
    swapped = table.assign(sex=table["sex"].to_numpy()[::-1])
    assert (swapped["sex"] != table["sex"]).any()
    for other, says in [(table[:-1], "69 records"), (swapped, "'sex=M'"), (records(10), "'age'")]:
        fit = smf.logit("ill ~ age + sex", other).fit(**LOGIT)
        with refused(StatementError, says, ".softly()"):
            model.add(PublishedRegression(fit))
        assert model.copy().add(PublishedRegression(fit).softly()).solve().certificate.holds
    mislabelled = sm.OLS(table["ill"], columns(table).rename(columns={"sex_M": "sex_F"})).fit()
    with refused(StatementError, "'sex_F'"):
        model.add(PublishedRegression(mislabelled))


TABLE = records(11)
X, Y = dummies(TABLE), TABLE["answer"]


@pytest.mark.parametrize(
    ("make", "error", "says"),
    [
        (lambda: smf.ols("ill ~ bs(age, df=4)", TABLE).fit(), UnknownName, ["bs(age", "quasi-identifier itself"]),
        (lambda: smf.ols("ill ~ np.log(age)", TABLE).fit(), UnknownName, ["np.log(age)", "quasi-identifier itself"]),
        (lambda: smf.ols("ill ~ C(sex, Sum)", TABLE).fit(), UnknownName, ["S.F", "Treatment"]),
        (lambda: sm.OLS(TABLE["ill"], X.to_numpy()).fit(), UnknownName, ["'x1'", "names="]),
        (lambda: smf.ols("np.log(income) ~ age", TABLE).fit(), UnknownName, ["np.log(income)", "of="]),
        (lambda: smf.ols("ill ~ age", TABLE), StatementError, ["fit()"]),
        (lambda: smf.wls("ill ~ age", TABLE, weights=TABLE["age"]).fit(), StatementError, ["WLS"]),
        (lambda: smf.glm("ill ~ age", TABLE, family=BINOMIAL, freq_weights=TABLE["zone"]).fit(), StatementError, ["weights"]),
        (lambda: smf.glm("ill ~ age", TABLE, family=BINOMIAL, offset=TABLE["zone"]).fit(), StatementError, ["offset"]),
        (lambda: smf.logit("ill ~ age", TABLE).fit_regularized(alpha=2, disp=0), StatementError, ["penalty"]),
        (lambda: smf.probit("ill ~ age", TABLE).fit(disp=0), StatementError, ["Probit", "Logit"]),
        (lambda: smf.glm("ill ~ age", TABLE, family=sm.families.Poisson()).fit(), StatementError, ["Poisson"]),
        (lambda: smf.mnlogit("zone ~ age", TABLE).fit(disp=0), StatementError, ["MNLogit", "against the rest"]),
        (lambda: LogisticRegression().fit(X, TABLE["zone"]), StatementError, ["against the rest"]),
        (lambda: LinearRegression().fit(X, TABLE["ill"]), StatementError, ["of='income'"]),
        (lambda: LogisticRegression(), StatementError, ["call fit"]),
        (lambda: LogisticRegression(solver="liblinear").fit(X, Y), StatementError, ["'liblinear'", "'lbfgs'"]),
        (lambda: LogisticRegression(solver="saga", max_iter=9).fit(X, Y), StatementError, ["'saga'"]),
        (lambda: LogisticRegression(class_weight="balanced").fit(X, Y), StatementError, ["class_weight"]),
        (lambda: LogisticRegression(l1_ratio=1, solver="saga").fit(X, Y), StatementError, ["L1"]),
        (lambda: LogisticRegression(max_iter=2).fit(X, Y), StatementError, ["max_iter"]),
        (lambda: make_pipeline(StandardScaler(), LogisticRegression()).fit(X, Y), StatementError, ["last step"]),
        (lambda: object(), StatementError, ["statsmodels or scikit-learn"]),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore")
def test_what_cannot_be_read_says_what_to_do(make, error, says):
    """Other models and computed columns are refused, at the latest when a model gets them."""
    with refused(error, *says):
        mx.MaxEnt(release_of(TABLE, "ill")).add(PublishedRegression(make()))


def test_arguments_of_fits():
    """What the fit says need not be said again, and must not be said otherwise."""
    fit, texts = smf.logit("ill ~ age", TABLE).fit(**LOGIT), LogisticRegression().fit(X, Y)
    for make, error, says in [
        (lambda: PublishedRegression(fit, kind="logistic"), StatementError, "leave kind="),
        (lambda: PublishedRegression(texts, penalty=2), StatementError, "penalty="),
        (lambda: PublishedRegression(texts, of={"no": 1}), StatementError, "'yes'"),
        (lambda: PublishedRegression(fit, names={"agee": "age"}), UnknownName, "'agee'"),
        (lambda: PublishedRegression(fit, names={"age": "intercept"}), StatementError, "names="),
        (lambda: PublishedRegression({"age": 1}, {"yes": 1}, names={"age": "x"}), StatementError, "of fits"),
        (lambda: PublishedRegression({"age": 1}), StatementError, "of="),
        (lambda: PublishedRegression(texts).softly(), StatementError, "sd="),
        (lambda: PublishedRegression(texts).between(), StatementError, "low and high"),
        (lambda: PublishedRegression(fit).softly().between(), StatementError, "once"),
        (lambda: PublishedRegression(fit, decimals=2).softly(), StatementError, "once"),
        (lambda: PublishedRegression(fit).between(1, 0), mx.BadProbability, "swap"),
        (lambda: PublishedRegression(fit).softly(sd={"age": 1}), StatementError, "intercept, age"),
    ]:
        with refused(error, says):
            make()


def test_no_package_is_needed():
    """What looks like results is read, without statsmodels; importing this package imports neither."""
    OLS = type("OLS", (), {"exog_names": ["const", "age"], "endog_names": "income"})
    result = SimpleNamespace(model=OLS(), params=[20.0, -0.05], nobs=70.0)
    assert PublishedRegression(result).label == "linear regression of income on intercept, age"
    code = "import sys, maxent_cvx as mx; mx.PublishedRegression; print({'statsmodels', 'sklearn'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "set()\n"

"""PublishedRegression: records satisfy the rows of their own fit, and only records with that fit do."""

from __future__ import annotations

import itertools
import warnings

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest
import scipy.optimize
import statsmodels.api as sm
import statsmodels.formula.api as smf
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.special import expit
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler, TargetEncoder
from sklearn.tree import DecisionTreeClassifier

import maxent_cvx as mx
from maxent_cvx import BadProbability, P, PublishedRegression, StatementError, UnknownName
from maxent_cvx.releases.partitioned import divided
from support.helpers import refused

# Coefficients by hand.


def view_of(people: pd.DataFrame) -> mx.QITable:
    """Known quasi-identifiers; of the sensitive value no more than what it can be."""
    return mx.QITable(people, qi=list(people.columns), sa="income", sa_values=["low", "high"])


def logit(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Maximum likelihood by Newton's method, without a penalty."""
    b = np.zeros(X.shape[1])
    for _ in range(60):
        mean = 1 / (1 + np.exp(-X @ b))
        b = b + np.linalg.solve((X.T * (mean * (1 - mean))) @ X, X.T @ (y - mean))
    return b


def violations(source: mx.Source, people: pd.DataFrame, worlds: np.ndarray) -> np.ndarray:
    """The largest violation of the rows by records with these responses, one per world."""
    space = mx.Space.of(view_of(people))
    keys = people.to_numpy(dtype=object).tolist()
    low, high = (space.index.get_indexer([(*key, value) for key in keys]) for value in ("low", "high"))
    p = np.zeros((len(space), len(worlds)))
    for i in range(len(people)):
        np.add.at(p, (np.where(worlds[:, i] == 1, low[i], high[i]), np.arange(len(worlds))), 1 / len(people))
    return np.max([[rows.residual(point).max() for point in p.T] for rows in source.rows(space)], axis=0)


@given(st.lists(st.tuples(st.integers(18, 60), st.booleans()), min_size=4, max_size=7), st.data())
def test_all_worlds_of_small_tables(people, data):
    """The rows hold of exactly those assignments whose least-squares fit is the published one, or is rounded to it."""
    people = pd.DataFrame(people, columns=["age", "smoker"])
    X = np.column_stack([np.ones(len(people)), people["age"], people["smoker"].astype(float)])
    assume(np.linalg.matrix_rank(X) == 3)
    y = np.array(data.draw(st.lists(st.integers(0, 1), min_size=len(people), max_size=len(people))))
    fit, names = np.linalg.lstsq(X, y, rcond=None)[0], ["intercept", "age", "smoker"]
    worlds = np.array(list(itertools.product([0, 1], repeat=len(people))))
    fits = np.linalg.lstsq(X, worlds.T, rcond=None)[0].T
    same, other = np.abs(fits - fit).max(axis=1) < 1e-10, np.abs((worlds - y) @ X).max(axis=1) > 0.5
    violated = violations(PublishedRegression(dict(zip(names, fit, strict=True)), {"low": 1}), people, worlds)
    assert (violated[same] < 1e-9).all()
    assert (violated[other] > 0.5).all()
    assert (same | other).all()
    places = data.draw(st.sampled_from([1, 2, 3]))
    rounded = {name: round(float(b), places) for name, b in zip(names, fit, strict=True)}
    violated = violations(PublishedRegression(rounded, {"low": 1}, decimals=places), people, worlds)
    off = np.abs(fits - list(rounded.values())).max(axis=1) - 0.5 * 10.0**-places
    assert (violated[off < -1e-12] == 0).all()
    assert (violated[off > 1e-6] > 0).all()


@given(
    st.lists(st.tuples(st.integers(18, 60), st.sampled_from("FM"), st.integers(0, 1)), min_size=6, max_size=12),
    st.sampled_from([None, 0, 1, 2, 4]),
)
def test_logistic_fits_are_feasible(people, places):
    """Records satisfy the rows of their own logistic fit, however it is rounded; none of many worlds is lost."""
    frame = pd.DataFrame(people, columns=["age", "sex", "y"])
    X = np.column_stack([np.ones(len(frame)), frame["age"], (frame["sex"] == "M").astype(float)])
    assume(np.linalg.matrix_rank(X) == 3)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            b = logit(X, frame["y"].to_numpy(float))
        except np.linalg.LinAlgError:
            assume(False)
    assume(np.isfinite(b).all() and np.abs(X @ b).max() < 20)  # else the classes are separable
    if places is not None:
        b = np.array([round(float(one), places) for one in b])
    said = PublishedRegression(
        dict(zip(["intercept", "age", "sex=M"], b, strict=True)), {"low": 1}, "logistic", decimals=places
    )
    assert violations(said, frame[["age", "sex"]], frame[["y"]].to_numpy().T)[0] < 1e-9


# Fits of statsmodels and scikit-learn.

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


AGE, AGE_SEX = ["intercept", "age"], ["intercept", "age", "sex=M"]
#: A fit of a table, its sensitive attribute and further arguments; the same by hand: names, `of`, kind, penalty.
FITS = {
    "OLS of arrays": (
        lambda t: sm.OLS(t["income"].to_numpy(), columns(t).to_numpy()).fit(),
        "income", {"of": "income", "names": {"x1": "age", "x2": "sex=M"}}, AGE_SEX, "income", "linear", 0,
    ),
    "formula": (
        lambda t: smf.ols("income ~ C(sex, Treatment('M')) * age + C(zone) + I(age ** 2) + Q('marital status')", t).fit(),
        "income", {},
        ["intercept", "sex=F", "zone=2", "zone=3", "marital status=once [x]", "marital status=single", "age",
         "sex=F:age", "age:age"],
        "income", "linear", 0,
    ),
    "nobody of some ages is ill": (
        lambda t: smf.ols("ill ~ C(age)", t).fit(),
        "ill", {}, ["intercept", *(f"age={age}" for age in sorted(set(records(1)["age"]))[1:])], "ill", "linear", 0,
    ),
    "no intercept": (
        lambda t: smf.ols("income ~ sex - 1", t).fit(), "income", {}, ["sex=F", "sex=M"], "income", "linear", 0
    ),
    "some": (
        lambda t: smf.ols("income ~ age", t[t["sex"] == "F"]).fit(),
        "income", {"given": {"sex": "F"}}, AGE, "income", "linear", 0,
    ),
    "Gaussian": (lambda t: smf.glm("income ~ age", t).fit(), "income", {}, AGE, "income", "linear", 0),
    "logit by BFGS": (
        lambda t: smf.logit("ill ~ age", t).fit(method="bfgs", disp=0), "ill", {}, AGE, {1: 1}, "logistic", 0
    ),
    "logit of columns of 32 bits": (
        lambda t: sm.Logit(t["ill"].to_numpy(), columns(t).to_numpy("float32")).fit(**LOGIT),
        "ill", {"of": {1: 1}, "names": {"x1": "age", "x2": "sex=M"}}, AGE_SEX, {1: 1}, "logistic", 0,
    ),
    "logit of numbers, released as texts": (
        lambda t: smf.logit("ill ~ age", t).fit(**LOGIT),
        "answer", {"of": {"yes": 1}}, AGE, {"yes": 1}, "logistic", 0,
    ),
    "Binomial of texts models the first": (
        lambda t: smf.glm("answer ~ age", t, family=BINOMIAL).fit(), "answer", {}, AGE, {"no": 1}, "logistic", 0
    ),
    "Ridge": (
        lambda t: Ridge(alpha=3).fit(dummies(t), t["income"]),
        "income", {"of": "income"}, AGE_SEX, "income", "linear", 3,
    ),
    "LogisticRegression of arrays, C=0.1": (
        lambda t: LogisticRegression(C=0.1, solver="newton-cholesky", tol=1e-9).fit(dummies(t).to_numpy(), t["ill"]),
        "ill", {"names": {"x0": "age", "x1": "sex=M"}}, AGE_SEX, {1: 1}, "logistic", 10,
    ),
    "LogisticRegression without penalty or intercept": (
        lambda t: LogisticRegression(C=np.inf, fit_intercept=False).fit(dummies(t), t["ill"]),
        "answer", {"of": {"yes": 1}}, ["age", "sex=M"], {"yes": 1}, "logistic", 0,
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
def test_a_fit_is_its_coefficients(name):
    """The records satisfy the rows, also of rounded coefficients; the same coefficients by hand have the same rows."""
    make, sensitive, options, names, of, kind, penalty = FITS[name]
    table = records(1)
    fit, model = make(table), mx.MaxEnt(release_of(table, sensitive))
    source = PublishedRegression(fit, **options)
    values = np.ravel(fit.params if hasattr(fit, "params") else fit.coef_)
    if hasattr(fit, "coef_") and fit.fit_intercept:
        values = np.append(np.ravel(fit.intercept_), values)
    said = {"given": options.get("given"), "tolerance": source.tolerance or (1e-5 if "BFGS" in name else None)}
    coefficients = dict(zip(names, values, strict=True))
    by_hand = PublishedRegression(coefficients, of, kind, penalty=penalty, **said)
    p = truth(model.space, table, sensitive)
    for rows, same in zip(source.rows(model.space), by_hand.rows(model.space), strict=True):
        assert rows.residual(p).max() < 1e-12
        assert abs(rows.matrix - same.matrix).max() == 0
        np.testing.assert_allclose(rows.low, same.low, rtol=1e-6, atol=1e-4 if rows.exact else 1e-2)
        if penalty == 0:  # sums of whole numbers are known
            np.testing.assert_array_equal(rows.low, rows.high)
    if penalty:  # as if it were not penalised, it is false of the records
        plain = PublishedRegression(coefficients, of, kind, **said)
        assert max(rows.residual(p).max() for rows in plain.rows(model.space)) > 1e-3
    post = model.copy().add(source).solve()
    for rows in source.rows(model.space):
        assert (rows.residual(post.counts / len(table)) < 1e-9 * (1 + np.abs(rows.high))).all()
    for places in (1, 3):
        rounded = PublishedRegression(fit, **options, decimals=places)
        assert all(round(b, places) == b for b in rounded.coefficients.values())
        assert max(rows.residual(p).max() for rows in rounded.rows(model.space)) < 1e-12


def encoders(drop: str | None = "first") -> Pipeline:
    """Standardised ages, and indicators."""
    encoder = OneHotEncoder(drop=drop)
    return make_pipeline(
        make_column_transformer((StandardScaler(), ["age"]), (encoder, ["sex", "zone"]), (encoder, ["marital status"]))
    )


@pytest.mark.parametrize(
    ("last", "y", "drop"),
    [
        (LinearRegression(), "income", "first"),
        (LinearRegression(), "income", None),  # the columns depend on each other
        (Ridge(alpha=3), "income", None),
        (LogisticRegression(tol=1e-9), "ill", None),
        (LogisticRegression(C=np.inf, tol=1e-9, fit_intercept=False), "ill", "first"),
    ],
)
def test_a_pipeline_is_the_regression_on_its_columns(last, y, drop):
    """The score equations are those of the columns that its transformers make; its records satisfy them."""
    table = records(12)
    pipeline = make_pipeline(encoders(drop), clone(last)).fit(table[QI], table[y])
    source, model = PublishedRegression(pipeline, y), mx.MaxEnt(release_of(table, y))
    p = truth(model.space, table, y)
    (rows,) = source.rows(model.space)
    assert rows.residual(p).max() < 1e-12

    people = model.space.index.to_frame(index=False)
    X = pipeline[:-1].transform(people[QI])
    X = X.toarray() if hasattr(X, "toarray") else X
    X = np.column_stack([np.ones(len(X)), X]) if last.fit_intercept else X
    expected = X * people[[y]].to_numpy()  # one column per row of the source, up to the unit
    matrix = rows.matrix.toarray()
    scale = np.abs(matrix).max(axis=1) / np.abs(expected).max(axis=0)
    np.testing.assert_allclose(matrix / scale[:, None], expected.T, atol=1e-9)

    assert model.copy().add(source).solve().certificate.holds
    if drop:
        rounded = PublishedRegression(pipeline, y, decimals=2)
        assert max(one.residual(p).max() for one in rounded.rows(model.space)) < 1e-12
    with refused(StatementError):  # without a record, the transformers would be others
        source.refitted(table[1:], model.space.view)


def test_a_pipeline_of_some_people():
    """Only the fitted people need to have values that its encoders know."""
    table = records(13).assign(zone=lambda t: t["zone"].where(t["sex"] == "F", 4))
    women = table[table["sex"] == "F"]
    pipeline = make_pipeline(OneHotEncoder(), LogisticRegression()).fit(women[["zone"]], women["ill"])
    model = mx.MaxEnt(release_of(table, "ill"))
    source = PublishedRegression(pipeline, given={"sex": "F"})
    (rows,) = source.rows(model.space)
    assert rows.residual(truth(model.space, table, "ill")).max() < 1e-12
    assert (np.asarray(model.space.index.get_level_values("sex"))[rows.matrix.indices] == "F").all()
    with refused(StatementError):
        model.add(PublishedRegression(pipeline))


def test_standard_errors_as_costs():
    """Softly, the answer maximises N H less the squared distance of the coefficients in standard errors."""
    study, table = records(3), records(4, 30)
    fit = smf.ols("ill ~ age + sex", study).fit()
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
    T, age = np.linalg.solve(X.T @ X, X.T), int(table["age"].max())
    goal = (table["age"] == age).to_numpy() / (table["age"] == age).sum()
    for limits in ((), (fit.params - 0.1, fit.params + 0.05)):
        low, high = limits or fit.conf_int().T.to_numpy()
        ours = mx.MaxEnt(view).add(PublishedRegression(fit).between(*limits)).bounds(P(1, given={"age": age}))
        G, h = np.vstack([T, -T]), np.append(high, -low)
        theirs = [scipy.optimize.linprog(sign * goal, A_ub=G, b_ub=h, bounds=(0, 1)).fun * sign for sign in (1, -1)]
        np.testing.assert_allclose(ours, theirs, atol=1e-6)


def test_intervals_of_a_logistic_fit_are_sound():
    """Records whose fit is between the limits satisfy the rows."""
    rng, table = np.random.default_rng(7), records(8, 40)
    space = mx.MaxEnt(mx.QITable(table, qi=["age", "sex"], sa="ill", sa_values=[0, 1])).space
    published = smf.logit("ill ~ age + sex", table).fit(**LOGIT)
    low, high = published.params - published.bse, published.params + published.bse
    rows = list(PublishedRegression(published).between(low, high).rows(space))
    inside = 0
    for _ in range(40):
        world = table.assign(ill=(rng.random(40) < published.predict(table)).astype(int))
        b = smf.logit("ill ~ age + sex", world).fit(**LOGIT).params
        if ((low <= b) & (b <= high)).all():
            inside += 1
            counts = world.groupby(["age", "sex", "ill"]).size().reindex(space.index, fill_value=0).to_numpy()
            assert max(one.residual(counts / 40).max() for one in rows) < 1e-12
    assert inside > 5


@pytest.mark.parametrize("in_partitions", [False, True])
def test_a_rounded_logistic_regression_of_both_classes(in_partitions: bool):
    """The regression of the other class says the same, in rows that differ in the last digits of their coefficients."""
    people = pd.DataFrame({"age": [20, 23, 31, 35, 42, 47, 55, 58, 63, 66], "ill": list("nnynnynyyy"), "b": [0, 1] * 5})
    release = mx.Release.from_buckets(people, qi="age", sa="ill", bucket="b")
    one, both = (mx.PartitionedMaxEnt(divided(release, 2)) if in_partitions else mx.MaxEnt(release) for _ in range(2))
    for model, classes in ((one, "y"), (both, "yn")):
        for value in classes:
            sign = 1 if value == "y" else -1
            coefficients = {"intercept": -4.12 * sign, "age": 0.09 * sign}
            model.add(PublishedRegression(coefficients, of={value: 1}, kind="logistic", decimals=2))
    posteriors = one.solve(), both.solve()
    within = sum(post.certificate.bound for post in posteriors)
    assert within < 1e-5
    assert abs(posteriors[0].prob("y", {"age": 20}) - posteriors[1].prob("y", {"age": 20})) <= within


def test_a_fit_of_other_people():
    """A fit of other records, or of other columns, is refused as an equation, but not as a soft statement."""
    table = records(9)
    model = mx.MaxEnt(release_of(table, "ill"))
    swapped = table.assign(sex=table["sex"].to_numpy()[::-1])
    for other in (table[:-1], swapped, records(10)):
        fit = smf.logit("ill ~ age + sex", other).fit(**LOGIT)
        with refused(StatementError):
            model.add(PublishedRegression(fit))
        assert model.copy().add(PublishedRegression(fit).softly()).solve().certificate.holds
    mislabelled = sm.OLS(table["ill"], columns(table).rename(columns={"sex_M": "sex_F"})).fit()
    with refused(StatementError):
        model.add(PublishedRegression(mislabelled))


TABLE = records(11)
X, Y = dummies(TABLE), TABLE["answer"]


def text_logit() -> LogisticRegression:
    return LogisticRegression().fit(X, Y)


def ill_by_age() -> object:
    return smf.logit("ill ~ age", TABLE).fit(**LOGIT)


#: Coefficients, fits that cannot be read, and arguments beside a fit.
WRONG = {
    UnknownName: [
        lambda: PublishedRegression({"agee": 0.1}, {1: 1}),
        lambda: PublishedRegression({"sex=X": 0.1}, {1: 1}),
        lambda: PublishedRegression({"age": 0.1}, {2: 1}),
        lambda: PublishedRegression({"age": 0.1}, {1: 1}, given={"sex": "X"}),
        lambda: smf.ols("ill ~ bs(age, df=4)", TABLE).fit(),
        lambda: sm.OLS(TABLE["ill"], X.to_numpy()).fit(),
        lambda: smf.ols("np.log(income) ~ age", TABLE).fit(),
        lambda: make_pipeline(StandardScaler(), LogisticRegression()).fit(X, Y),  # sex_M is no quasi-identifier
        lambda: PublishedRegression(ill_by_age(), names={"agee": "age"}),
    ],
    BadProbability: [
        lambda: PublishedRegression({"age": np.nan}, {1: 1}),
        lambda: PublishedRegression({"age": 0.123}, {1: 1}, decimals=2),
        lambda: PublishedRegression(ill_by_age()).between(1, 0),
    ],
    mx.TableError: [lambda: mx.MaxEnt(release_of(TABLE, "answer")).add(PublishedRegression({"age": 0.1}, "answer"))],
    StatementError: [
        lambda: PublishedRegression({}, {1: 1}),
        lambda: PublishedRegression({"age": 0.1}, {1: 1}, decimals={"Age": 1}),
        lambda: PublishedRegression({"age": 0.1}, {1: 1}, "probit"),
        lambda: PublishedRegression({"age": 0.1}, {1: 1}, tolerance=1, decimals=1),
        lambda: PublishedRegression({"sex": 0.1}, {1: 1}),
        lambda: PublishedRegression({"age": 0.1}, {1: 2}, "logistic"),
        lambda: PublishedRegression({"age": 1, "age:intercept": 1}, {1: 1}, decimals=1),
        lambda: PublishedRegression({"age": 1}),
        lambda: smf.ols("ill ~ age", TABLE),
        lambda: smf.glm("ill ~ age", TABLE, family=BINOMIAL, freq_weights=TABLE["zone"]).fit(),
        lambda: smf.logit("ill ~ age", TABLE).fit_regularized(alpha=2, disp=0),
        lambda: smf.glm("ill ~ age", TABLE, family=sm.families.Poisson()).fit(),
        lambda: LogisticRegression().fit(X, TABLE["zone"]),
        lambda: LinearRegression().fit(X, TABLE["ill"]),
        lambda: LogisticRegression(),
        lambda: PublishedRegression(LinearRegression().fit(X.astype("float32"), TABLE["ill"]), "ill"),
        lambda: LogisticRegression(solver="liblinear").fit(X, Y),
        lambda: LogisticRegression(l1_ratio=1, solver="saga").fit(X, Y),
        lambda: LogisticRegression(max_iter=2).fit(X, Y),
        lambda: make_pipeline(TargetEncoder(), LogisticRegression()).fit(TABLE[["sex"]], Y),  # others in the fit
        lambda: make_pipeline(FunctionTransformer(np.log), LogisticRegression()).fit(TABLE[["age"]], Y),
        lambda: make_pipeline(StandardScaler(), LogisticRegression()).fit(X.to_numpy(), Y),
        lambda: make_pipeline(OneHotEncoder(handle_unknown="ignore"), LogisticRegression()).fit(TABLE[["sex"]], Y),
        lambda: make_pipeline(StandardScaler(), LogisticRegression()),
        lambda: make_pipeline(OneHotEncoder(), LogisticRegression()).fit(
            TABLE[["sex"]].replace("M", "m"), TABLE["ill"]
        ),
        lambda: make_pipeline(StandardScaler(), DecisionTreeClassifier()).fit(TABLE[["age"]], Y),
        lambda: object(),
        lambda: PublishedRegression(ill_by_age(), kind="logistic"),
        lambda: PublishedRegression(text_logit(), penalty=2),
        lambda: PublishedRegression(text_logit(), of={"no": 1}),
        lambda: PublishedRegression(ill_by_age(), names={"age": "intercept"}),
        lambda: PublishedRegression(text_logit()).softly(),
        lambda: PublishedRegression(text_logit()).between(),
        lambda: PublishedRegression(ill_by_age(), decimals=2).softly(),
        lambda: PublishedRegression(ill_by_age()).between(np.array([0.1]), 1),
        lambda: PublishedRegression(ill_by_age()).between(np.array([0.1, np.nan]), 1),
        lambda: PublishedRegression(ill_by_age()).softly(sd={"age": 1}),
    ],
}


@pytest.mark.parametrize(("error", "make"), [(error, make) for error, several in WRONG.items() for make in several])
@pytest.mark.filterwarnings("ignore")
def test_wrong_arguments(error, make):
    """Other models, computed columns and wrong arguments are refused, at the latest when a model gets them."""
    with refused(error):
        made = make()
        mx.MaxEnt(release_of(TABLE, "ill")).add(
            made if isinstance(made, PublishedRegression) else PublishedRegression(made)
        )

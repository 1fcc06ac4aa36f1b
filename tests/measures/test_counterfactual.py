"""P(s | q) without a person's own record equals what is inferred from the publication without it."""

from __future__ import annotations

import tracemalloc
import warnings
from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.linear_model import LogisticRegression

import maxent_cvx as mx
from maxent_cvx.measures.counterfactual import without_each

SMALL, ALL = 10, 200


def random_case(seed):
    """A small table in buckets, and up to three statements that are true of it."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 14))
    table = pd.DataFrame(
        {
            "a": rng.integers(0, 2, n).astype(str),
            "c": rng.integers(0, 3, n).astype(str),
            "s": np.array(list("xyzw"))[rng.integers(0, 4, n)],
            "b": rng.integers(0, int(rng.integers(1, max(2, n // 3))), n),
        }
    )
    statements = []
    for _ in range(rng.integers(0, 4)):
        record = table.iloc[rng.integers(n)]
        given = {name: record[name] for name in "ac" if rng.random() < 0.6}
        group = table[(table[list(given)] == pd.Series(given, dtype=object)).all(axis=1)] if given else table
        value = str(rng.choice(table["s"].unique()))
        share, kind = float((group["s"] == value).mean()), rng.random()
        left = mx.P(value, given=given or None)
        statements.append(
            left == share if kind < 0.6 else left <= min(1, share + 0.1) if kind < 0.8 else left >= max(0, share - 0.1)
        )
    return table, statements


def solved(table, statements):
    model = mx.MaxEnt(mx.Release.from_buckets(table, qi=["a", "c"], sa="s", bucket="b"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", mx.RepeatedStatement)
        model.add(*statements)
    return model.solve()


def _value(statement):
    ((event, _),) = statement.terms
    return next(iter(dict(event.value)[None].values))


def published_without(table, statements, at):
    """Remove the record, publish the rest, and solve: P(s) in the order of the fallback; None for a contradiction.

    Statements that allow 0 are true of a value that none of the others has.
    """
    rest, record = table.drop(index=table.index[at]), table.iloc[at]
    values = sorted(table["s"].unique())
    if ((rest["a"] == record["a"]) & (rest["c"] == record["c"])).any():
        here = set(rest["s"])
        statements = [known for known in statements if _value(known) in here or known.low > 0]
        try:
            post = solved(rest, statements)
        except (mx.Infeasible, mx.UnknownName, mx.StatementError):
            return None
        return post.conditional().loc[(record["a"], record["c"])].reindex(values).fillna(0).to_numpy()
    others = rest[rest["b"] == record["b"]]
    others = others if len(others) else rest
    return others["s"].value_counts(normalize=True).reindex(values).fillna(0).to_numpy()


@pytest.mark.parametrize(
    "seeds", [range(SMALL), pytest.param(range(SMALL, ALL), marks=pytest.mark.slow)], ids=["10", "190 more"]
)
def test_equals_removing_the_record_publishing_and_solving(seeds):
    how = set()
    for seed in seeds:
        table, statements = random_case(seed)
        post = solved(table, statements)
        kinds = without_each(post, table, solves=6, progress=False)
        answer = kinds.table(table.index)
        for at in range(seed % 3, len(table), 3):
            row, kind = answer.iloc[at], kinds.kind[at]
            if row["how"] == "first order":
                continue
            expected = published_without(table, statements, at)
            how.add(row["how"])
            if expected is None:
                assert np.isnan(row["without"])
                assert row["because"]
                continue
            np.testing.assert_allclose(kinds.without[kind], expected, atol=2e-6)
            s = sorted(table["s"].unique()).index(row["value"])
            p = post.conditional().loc[tuple(table.iloc[at][["a", "c"]])].to_numpy()
            assert row["with"] == pytest.approx(p[s])
            assert row["difference"] == pytest.approx(p[s] - expected[s], abs=2e-6)
            assert row["largest"] == pytest.approx(np.abs(p - expected).max(), abs=2e-6)
    assert how == {"closed form", "solved"}


def test_first_order_answer_is_wrong_by_the_second_order_only():
    """A record of m copies of a table moves the answer by about 1/m, and the error of the first order by 1/m^2."""
    table, errors, moves = random_case(1)[0], [], []
    for m in (2, 8):
        copies = pd.concat([table] * m, ignore_index=True)
        group = copies[copies["a"] == "0"]["s"]
        statement = mx.P(group.iloc[0], given={"a": "0"}) == round(float((group == group.iloc[0]).mean()) * 0.95, 3)
        post = solved(copies, [statement])
        linear = without_each(post, copies, solves=0, progress=False)
        exact = without_each(post, copies, progress=False)
        is_linear = linear.how == "first order"
        assert is_linear.any()
        errors.append(np.abs(linear.without - exact.without)[is_linear].max())
        moves.append(exact.largest[is_linear].max())
    assert errors[1] < errors[0] / 8
    assert moves[1] < moves[0] / 2
    assert errors[1] < moves[1] / 20


def test_memory_does_not_grow_with_the_square_of_the_records_of_a_bucket(monkeypatch):
    """Few records of a large bucket are computed at a time, and the answer is that of all at once."""
    table = pd.DataFrame({"a": np.arange(400) % 150, "s": np.arange(400) % 7, "b": 0})
    post = mx.MaxEnt(mx.Release.from_buckets(table, qi="a", sa="s", bucket="b")).add("P(1 | a=3) = 0").solve()
    at_once = mx.measures.counterfactual(post, table, solves=0, progress=False)
    monkeypatch.setitem(without_each.__globals__, "NUMBERS", 10_000)
    tracemalloc.start()
    try:
        few = mx.measures.counterfactual(post, table, solves=0, progress=False)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    pd.testing.assert_frame_equal(few, at_once)
    assert peak < 400 * 1050 * 8, "a number per record and term of the bucket"


@pytest.fixture
def people():
    rng = np.random.default_rng(7)
    n = 26
    table = pd.DataFrame({"sex": rng.choice(["f", "m"], n), "age": rng.integers(2, 6, n) * 10})
    table["ill"] = np.where(rng.random(n) < 0.2 + table["age"] / 100, "yes", "no")
    return table


def rules_of(table):
    return mx.PublishedRules(
        mx.anonymize.mine_rules(table, qi=["sex", "age"], sa="ill", support=0.05, confidence=0.6), scores="confidence"
    )


def cells_of(table):
    cells = pd.concat(
        [
            table.groupby(["sex", "ill"]).size().rename("n").reset_index(),
            table.groupby("sex").size().rename("n").reset_index(),
        ]
    ).fillna("*")
    cells["n"] = cells["n"].astype(object).where(cells["n"] >= 5, "<5")
    return mx.PublishedTable(cells)


def line_of(table):
    X = np.column_stack([np.ones(len(table)), table["age"]])
    b = np.linalg.lstsq(X, (table["ill"] == "yes").astype(float), rcond=None)[0]
    return mx.PublishedRegression({"intercept": b[0], "age": b[1]}, of={"yes": 1})


def soft_cells_of(table):
    return mx.soft(cells_of(table), sd=0.02)


def logistic_of(table):
    fit = LogisticRegression(C=1.0, tol=1e-10).fit(table[["age"]], table["ill"])
    coefficients = {"intercept": float(fit.intercept_[0]), "age": float(fit.coef_[0, 0])}
    return mx.PublishedRegression(coefficients, of={"yes": 1}, kind="logistic", penalty=1.0, tolerance=1e-6)


@pytest.mark.parametrize(
    ("published", "error"),
    [(rules_of, 2e-6), (cells_of, 2e-6), (soft_cells_of, 2e-6), (line_of, 2e-6), (logistic_of, 1e-4)],
)
def test_published_numbers_are_those_of_the_others(people, published, error):
    """Rules are mined again, cells counted and suppressed, and regressions fitted."""

    def post_of(table):
        view = mx.QITable(table, qi=["sex", "age"], sa="ill", sa_values=["no", "yes"])
        return mx.MaxEnt(view).add(published(table)).solve()

    answer = mx.measures.counterfactual(post_of(people), people, progress=False)
    is_shared = people.duplicated(["sex", "age"], keep=False)
    for at in people.index[is_shared][::6]:
        rest, record = people.drop(index=at), people.loc[at]
        p = post_of(rest).conditional().loc[(record["sex"], record["age"]), record["ill"]]
        assert answer.loc[at, "without"] == pytest.approx(p, abs=error)


def test_published_numbers_of_cells_are_those_of_the_others():
    """Cells are counted again, however the records state them: as texts, as numbers, or by exact ages."""
    rng = np.random.default_rng(1)
    ages, zips = rng.integers(20, 40, 12), rng.choice([13053, 13068], 12)
    exact = pd.DataFrame({"age": ages, "zip": zips, "s": rng.choice(["x", "y"], 12)})
    cells = exact.assign(age=np.where(ages < 30, "20-29", "30-39"))

    def post_of(table):
        counts = table.assign(zip=table["zip"].map(str)).groupby(["zip", "s"]).size().rename("n").reset_index()
        release = mx.Release.from_generalized(table, qi=["age", "zip"], sa="s")
        return mx.MaxEnt(release).add(mx.PublishedTable(counts)).solve()

    expected = np.full(12, np.nan)
    for at in np.flatnonzero(cells.duplicated(["age", "zip"], keep=False)):
        p = post_of(cells.drop(index=at)).conditional()
        expected[at] = p.loc[(cells.loc[at, "age"], str(cells.loc[at, "zip"])), cells.loc[at, "s"]]
    is_shared = ~np.isnan(expected)
    assert 0 < is_shared.sum() < 12
    for records in (cells.astype(str), cells, exact):
        answer = mx.measures.counterfactual(post_of(cells), records, progress=False)
        assert answer["without"].notna().all()
        assert answer["without"].to_numpy()[is_shared] == pytest.approx(expected[is_shared], abs=2e-6)


def test_laplace_noise_limits_the_ratio():
    """|ln P_with / P_without| <= eps of all answers: another value of a person moves two cells of each histogram."""
    for seed in range(SMALL):
        rng = np.random.default_rng(seed)
        n, scale = int(rng.integers(3, 12)), float(rng.choice([0.5, 1, 2, 4]))
        table = pd.DataFrame({"a": rng.choice(["p", "q"], n), "s": rng.choice(list("xyz"), n)})
        view = mx.QITable(table, qi="a", sa="s", sa_values=list("xyz"))
        model, eps = mx.MaxEnt(view), 0.0
        for by in (["s"], ["a", "s"])[: rng.integers(1, 3)]:
            labels = pd.Index(list("xyz"), name="s")
            if len(by) > 1:
                labels = pd.MultiIndex.from_product([sorted(table["a"].unique()), list("xyz")], names=by)
            counts = table.groupby(by if len(by) > 1 else by[0]).size().reindex(labels, fill_value=0)
            counts = counts + rng.laplace(0, scale, len(counts))
            model.add(mx.NoisyMarginal(counts, stats.laplace(scale=scale), how="likelihood"))
            eps += 2 / scale
        kinds = without_each(model.solve(), table, progress=False)
        has_others = view.n_q[kinds.q] > 1
        assert not kinds.because.any()
        with np.errstate(divide="ignore"):
            ratio = np.abs(np.log(kinds.p) - np.log(kinds.without))[has_others]
        assert ratio.max(initial=0.0) <= eps + 1e-6


def test_exposed_without_her_agrees_with_the_table():
    for seed in range(6):
        table, statements = random_case(seed)
        post = solved(table, statements)
        kinds = without_each(post, table, progress=False)
        exposure = mx.measures.exposed(post, 0.5, table, baseline="without her")
        p0 = np.nan_to_num(kinds.without)
        is_exposed = ((kinds.p >= 0.5 - post.certificate.bound) & (p0 < 0.5 - 1e-6)).any(axis=1)
        assert exposure.people == kinds.n_kind[is_exposed].sum()
        assert exposure.who["people"].sum() == exposure.people
        which = np.where(p0 < 0.5 - 1e-6, kinds.p, -1).argmax(axis=1)[:, None]
        total = np.take_along_axis(p0, which, axis=1)[is_exposed, 0] @ kinds.n_kind[is_exposed]
        assert exposure.who["baseline"] @ exposure.who["people"] == pytest.approx(total, abs=1e-9)


def test_wrong_arguments(people):
    view = mx.QITable(people, qi=["sex", "age"], sa="ill", sa_values=["no", "yes"])
    ages, published = mx.QITable(people, qi="sex", sa="age", sa_values=[20, 30, 40, 50]), mx.PublishedQuantile(30)
    median, softly = mx.MaxEnt(ages).add(published), mx.MaxEnt(ages).add(mx.soft(published, sd=0.1))
    share = float((people.loc[people["sex"] == "f", "ill"] == "yes").mean())
    rule_list = mx.MaxEnt(view).add(mx.PublishedRuleList([({"sex": "f"}, "yes", share), ({}, "no", None)]))
    named = mx.MaxEnt(view, people={"Ann": dict(people.loc[0, ["sex", "age"]])})
    spread = people.assign(b=np.arange(len(people)) % 5)
    release = mx.Release.from_buckets(spread, qi=["sex", "age"], sa="ill", bucket="b")
    for error, model, original, publish in [
        (mx.TableError, mx.MaxEnt(view), people.iloc[1:], None),
        (mx.StatementError, mx.MaxEnt(view), people, "anatomy"),
        (mx.StatementError, median, people, None),
        (mx.StatementError, softly, people, None),
        (mx.StatementError, rule_list, people, None),
        (mx.StatementError, named, people, None),
        (mx.TableError, mx.MaxEnt(release), people, None),  # people with the same tuple are in several buckets
    ]:
        with pytest.raises(error):
            mx.measures.counterfactual(model.solve(), original, publish=publish)
    with pytest.raises(mx.StatementError):
        mx.measures.counterfactual(mx.MaxEnt(view).solve(), people, progress="no")


#: Two groups whose values of a and c are exchanged: matched by position, the one is taken for the other.
EXCHANGED = pd.DataFrame(
    {"a": [1, 1, 1, 2, 2, 2], "c": [2, 2, 2, 1, 1, 1], "s": list("xxyzzy"), "b": [1] * 3 + [2] * 3}
)


@pytest.mark.parametrize(
    "publish",
    [
        lambda rest: rest,
        lambda rest: mx.Release.from_buckets(rest, qi="a", sa="c", bucket="b"),
        lambda rest: mx.Release.from_buckets(rest, qi="c", sa="s", bucket="b"),
    ],
)
def test_publish_must_give_a_view_of_the_same(publish):
    post = mx.MaxEnt(mx.Release.from_buckets(EXCHANGED, qi="a", sa="s", bucket="b")).solve()
    with pytest.raises(mx.StatementError):
        mx.measures.counterfactual(post, EXCHANGED, publish, progress=False)


def test_anatomy_needs_no_buckets_of_the_original_records():
    """Publish makes new buckets without the record; the original records have none."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"q": rng.integers(0, 3, 24), "s": rng.choice(list("xyz"), 24, p=[0.4, 0.3, 0.3])})
    publish = partial(mx.anonymize.anatomy, qi="q", sa="s", l=2, seed=0)
    answer = mx.measures.counterfactual(mx.MaxEnt(publish(table)).solve(), table, publish, progress=False)
    p = mx.MaxEnt(publish(table.drop(index=5))).solve().conditional()
    assert answer.loc[5, "without"] == pytest.approx(p.loc[table.loc[5, "q"], table.loc[5, "s"]])
    assert answer["bucket"].isna().all()


def test_generalised_records_are_found_in_their_cells():
    """The answer is the share in the cell of the record's age and sex, in the cells that are formed without it."""
    rng = np.random.default_rng(0)
    n = 24
    table = pd.DataFrame(
        {"age": rng.integers(20, 60, n), "sex": rng.choice(["m", "f"], n), "s": rng.choice(list("abc"), n)}
    )

    def publish(rest):
        return mx.anonymize.mondrian(rest, qi=["age", "sex"], sa="s", k=4)

    def share(release, record):
        for (age, sex), p in mx.MaxEnt(release).solve().conditional().iterrows():
            ends = [float(end) for end in age.strip("[]").split(",")]
            if ends[0] <= record["age"] <= ends[-1] and (sex == "*" or record["sex"] in sex):
                return p[record["s"]]
        return None

    release = publish(table)
    post = mx.MaxEnt(release).solve()
    answer = mx.measures.counterfactual(post, table, publish, progress=False)
    n_cells = 0
    for at, record in table.iterrows():
        assert answer.loc[at, "with"] == pytest.approx(share(release, record))
        expected = share(publish(table.drop(index=at)), record)
        if expected is not None:
            n_cells += 1
            assert answer.loc[at, "without"] == pytest.approx(expected)
    assert n_cells > n / 2
    # Without publish, the cells stay as they are and lose the record.
    size = answer.groupby("group")["with"].transform("size")
    fixed = mx.measures.counterfactual(post, table)
    assert fixed["without"].to_numpy() == pytest.approx((answer["with"] * size - 1) / (size - 1))


def test_a_series_is_refused():
    """Without the person's record nobody has the pseudonym, so a series is refused."""
    first = pd.DataFrame({"i": list("1234"), "q": list("abab"), "s": list("xyxy"), "b": [1, 1, 2, 2]})
    tables = [first, first.assign(b=[1, 2, 2, 1])]

    def publish(rest):
        return mx.ReleaseSeries(
            [mx.Release.from_buckets(t[t["i"].isin(rest["i"])], qi="q", sa="s", bucket="b", id="i") for t in tables]
        )

    with pytest.raises(mx.StatementError):
        mx.measures.counterfactual(mx.MaxEnt(publish(first)).solve(), first, publish)


@pytest.mark.filterwarnings("error")
def test_publish_may_give_groups_of_a_population():
    """P(s | q) is that of people in the release: nobody else has age 4, and one of three others in that bucket has y."""
    table = pd.DataFrame({"age": [1, 1, 2, 3, 3, 4], "s": list("xyxyyy"), "b": [1, 1, 1, 2, 2, 1]})
    voters = pd.DataFrame({"age": [1, 1, 1, 2, 3, 3, 4, 5]})

    def publish(rest):
        cells = rest.assign(age=rest["age"].map({1: "1-2", 2: "1-2", 3: "3", 4: "4"}))
        return mx.Release.from_generalized(cells, qi="age", sa="s", population=voters)

    post = mx.MaxEnt(mx.Release.from_buckets(table, qi="age", sa="s", bucket="b")).solve()
    answer = mx.measures.counterfactual(post, table, publish, progress=False)
    # Of the others in the cell 1-2 one has x and one has y, or both have x; those of 3 have y; of bucket 1, x, y and x.
    assert answer["without"].to_list() == pytest.approx([1 / 2, 0, 1 / 2, 1, 1, 1 / 3], abs=1e-6)


def test_a_column_called_group():
    """The cell of a generalised record determines its group, whatever a column of the table is called."""
    table = pd.DataFrame({"age": [21, 25, 28, 22, 31, 35, 38, 33], "s": list("xyxxyyxy"), "Group": list("ABABABAB")})
    release = mx.anonymize.mondrian(table, qi="age", sa="s", k=2)
    post = mx.MaxEnt(release).solve()
    first, second = (mx.measures.counterfactual(post, t)["without"] for t in (table, table.drop(columns="Group")))
    assert first.to_list() == second.to_list()
    scores = [mx.quantify(release, t, [(0, 0)], progress=False)["score"] for t in (table, table.drop(columns="Group"))]
    assert scores[0].to_list() == scores[1].to_list()
    # A generalised release of records without one gets this name for its own groups.
    cells = mx.anonymize.mondrian_table(table.drop(columns="Group"), qi="age", sa="s", k=2)
    release = mx.Release.from_generalized(cells, qi="age", sa="s")
    post = mx.MaxEnt(release).solve()
    first, second = (mx.measures.counterfactual(post, t)["without"] for t in (cells, cells.assign(Group="no")))
    assert first.to_list() == second.to_list()


@pytest.mark.parametrize("knowledge", [(), (mx.P("x").softly(0.5, sd=0.1),)])
def test_labels_of_buckets_that_the_release_does_not_have(knowledge):
    """Buckets numbered 1 and 2 are not called "1" and "2", as with a column that another step has made."""
    table = pd.DataFrame({"q": list("aabb"), "s": list("xyxx"), "b": [1, 1, 2, 2]})
    post = mx.MaxEnt(mx.Release.from_buckets(table, qi="q", sa="s", bucket="b")).add(*knowledge).solve()
    with pytest.raises(mx.TableError):
        mx.measures.counterfactual(post, table.assign(b=table["b"].astype(str)))

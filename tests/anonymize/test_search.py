"""The search finds the best of all nodes, and its release exposes nobody."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from matplotlib.figure import Figure

import maxent_cvx as mx
from maxent_cvx.anonymize.search import Attribute, _made_levels

AGE = {i: [f"a{i // 2}", f"b{i // 4}", "*"] for i in range(8)}
SEX = {"f": ["*"], "m": ["*"]}
LEVELS = {"age": AGE, "sex": SEX}


def random_table(rng):
    n = int(rng.integers(6, 30))
    return pd.DataFrame(
        {
            "age": rng.integers(0, 8, n),
            "sex": rng.choice(["f", "m"], n),
            "S": rng.choice(list("xyz"), n, p=[0.6, 0.25, 0.15]),
        }
    )


def every_node(table):
    """The cells of every node of the lattice, and NCP of each cell."""
    for i, j in itertools.product(range(4), range(2)):
        age = table["age"].map(lambda v, i=i: [v, *AGE[v]][i])
        sex = table["sex"].map(lambda v, j=j: [v, *SEX[v]][j])
        ncp = (np.full(len(table), [0, 2 / 8, 4 / 8, 1][i]) + np.full(len(table), [0.0, 1.0][j])) / 2
        yield table.assign(age=age, sex=sex), ncp


def loss_of(cells, ncp, loss, n, kept):
    """The definition of each loss."""
    sizes = cells[kept].groupby(["age", "sex"])["S"].size()
    lost = n - int(kept.sum())
    if loss == "ncp":
        return float((ncp[kept].sum() + lost) / n)
    if loss == "discernibility":
        return float(((sizes**2).sum() + n * lost) / n**2)
    most = cells[kept].groupby(["age", "sex"])["S"].agg(lambda s: s.value_counts().iloc[0])
    return float((sizes.sum() - most.sum() + lost) / n)


@pytest.mark.parametrize(
    ("loss", "suppression"), [("ncp", 0.0), ("ncp", 0.3), ("discernibility", 0.0), ("classification", 0.2)]
)
def test_the_best_of_all_nodes(loss, suppression):
    """The losses of 20 random tables, with suppressed groups, are those of the best node by brute force."""
    for seed in range(20):
        table = random_table(np.random.default_rng(seed))
        n, best = len(table), np.inf
        for cells, ncp in every_node(table):
            share = cells.groupby(["age", "sex"])["S"].transform(lambda s: s.value_counts(normalize=True).iloc[0])
            is_unsafe = (share >= 0.7 - 1e-12).to_numpy()
            if is_unsafe.sum() <= suppression * n and not is_unsafe.all():
                best = min(best, loss_of(cells, ncp, loss, n, ~is_unsafe))
        settings = {"hierarchies": LEVELS, "threshold": 0.7, "methods": ["full-domain"]}
        try:
            result = mx.anonymize.search(
                table, ["age", "sex"], "S", loss=loss, suppression=suppression, **settings, progress=False
            )
        except mx.TableError:
            assert best == np.inf
            continue
        assert result.loss == pytest.approx(best)
        assert result.optimal
        assert mx.measures.exposed(mx.MaxEnt(result.release).solve(), 0.7).people == 0
        assert result.release.n_records == n - result.suppressed


@pytest.mark.parametrize(
    ("pay", "threshold"),
    [
        ([5000 + 10 * i for i in range(8)] + [30_000, 60_000] + [5000, 20_000, 35_000, 50_000, 65_000] * 2, 0.8),
        (list("aaabbccddeeefffgghhb"), 0.1 * 3),
    ],
    ids=["0.7999999999999999", "0.3"],
)  # fmt: skip
def test_a_share_reaches_the_threshold_up_to_rounding(pay, threshold):
    """Eight of ten, as a difference of sums, reach 0.8, and three of ten reach 0.1 * 3 = 0.30000000000000004."""
    table = pd.DataFrame({"sex": ["f"] * 10 + ["m"] * 10, "pay": pay})
    found = mx.anonymize.search(table, "sex", "pay", threshold=threshold, methods=["full-domain"], progress=False)
    assert found.levels == {"sex": 1}
    assert mx.measures.exposed(mx.MaxEnt(found.release).solve(), threshold).people == 0


def test_the_best_of_all_nodes_with_knowledge():
    """With a statement, the loss is that of the best node whose model exposes nobody."""
    for seed in range(6):
        table = random_table(np.random.default_rng(100 + seed))
        women = table.loc[table["sex"] == "f", "S"]
        if women.empty:
            continue
        know = mx.P("x", given={"sex": "f"}) == float((women == "x").mean())
        best = np.inf
        for cells, ncp in every_node(table):
            group = cells.groupby(["age", "sex"]).ngroup()
            release = mx.Release.from_buckets(table.assign(b=group), qi=["age", "sex"], sa="S", bucket="b")
            if mx.measures.exposed(mx.MaxEnt(release).add(know).solve(), 0.7, baseline="overall").people == 0:
                best = min(best, float(ncp.mean()))
        settings = {"hierarchies": LEVELS, "threshold": 0.7, "baseline": "overall", "methods": ["full-domain"]}
        try:
            result = mx.anonymize.search(table, ["age", "sex"], "S", knowledge=know, **settings, progress=False)
        except mx.TableError:
            assert best == np.inf
        else:
            assert result.loss == pytest.approx(best)


@pytest.mark.parametrize(
    "values",
    [
        pd.Series(range(18, 91)), pd.Series([-7.5, -1.0, 0.0, 0.25, 12.0, 80.0]), pd.Series(["a", "b"]),
        pd.Series(pd.date_range("1999-11-03", periods=50, freq="17D")), pd.Series([True, False]), pd.Series([3, 3]),
        *(pd.Series(np.round(np.arange(40) * step, 12)) for step in (0.1, 0.03, 1e-9)),
    ],
)  # fmt: skip
def test_made_hierarchies_nest(values):
    """A node contains its values and is below one node of the next level; the last level is one node.

    Although 0.3 / 0.1 is less than 3, the ends of ranges are short decimals.
    """
    levels = _made_levels(pd.Index(values).unique())
    for fine, coarse in itertools.pairwise(levels.columns):
        assert levels.groupby(levels[fine].map(str))[coarse].agg(lambda nodes: len({str(n) for n in nodes})).max() == 1
    assert levels.iloc[:, -1].nunique() == 1
    assert set(levels[0]) == set(values)
    for _, (value, *cells) in levels.iterrows():
        for cell in cells[:-1]:
            if isinstance(cell, pd.Interval):
                assert value in cell
                assert isinstance(value, pd.Timestamp) or max(len(str(end)) for end in (cell.left, cell.right)) <= 7


@pytest.mark.parametrize(
    ("values", "n_levels"),
    [
        (pd.Series([5, 2**63, 2**64 - 1], dtype="uint64"), 3), (pd.Series([-1e300, -5e299, -1e299]), 3),
        (2**60 + pd.Series([0, 1, 2]), 2), (10**15 + pd.Series(range(0, 16, 2)) / 16, 2),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("error")
def test_ranges_of_large_numbers_contain_their_values(values, n_levels):
    """Where doubles are too coarse for the ends of ranges, there are none."""
    levels = _made_levels(pd.Index(values).unique())
    assert levels.shape[1] == n_levels
    assert all(value in cell for _, (value, *cells, _) in levels.iterrows() for cell in cells)
    table = pd.DataFrame({"Q": values, "S": ["a", "b", *"c" * (len(values) - 2)]})
    for loss in ("ncp", "queries"):
        best = mx.anonymize.search(table, qi="Q", sa="S", threshold=0.99, methods=["full-domain"], loss=loss)
        assert best.release.n_records == len(values)


def groups_of_arx():
    """Adult with the groups of the first level of two hierarchies of ARX, and ages in steps of five years."""
    adult = mx.datasets.load_adult()
    education = {
        "Undergraduate": ["Bachelors", "Some-college"],
        "High School": ["HS-grad", "12th", "11th", "10th", "9th", "7th-8th"],
        "Professional Education": ["Prof-school", "Assoc-acdm", "Assoc-voc"],
        "Graduate": ["Masters", "Doctorate"],
        "Primary School": ["5th-6th", "1st-4th", "Preschool"],
    }
    return pd.DataFrame(
        {
            "age": (adult["age"] - 1) // 5,  # ARX's "15-19" has the people aged 16 to 20
            "education": adult["education"].map(
                {value: group for group, values in education.items() for value in values}
            ),
            "spouse present": adult["marital-status"].isin(["Married-civ-spouse", "Married-AF-spouse"]),
            "marital-status": adult["marital-status"],
            "occupation": adult["occupation"],
        }
    )


@pytest.mark.parametrize(
    ("qi", "published"),
    [(["spouse present"], 456853172), (["age"], 97868020), (["spouse present", "education"], 162312130)],
    ids=["spouse", "age", "spouse, education"],
)
def test_discernibility_is_what_arx_publishes(qi, published):
    """The sums of squares are those of ARX's tests of t-closeness for nodes of Adult with "*" elsewhere."""
    table = groups_of_arx()
    result = mx.anonymize.search(
        table, qi, "occupation", threshold=1.0, loss="discernibility", methods=["full-domain"], progress=False
    )
    assert set(result.levels.values()) == {0}
    assert result.loss * len(table) ** 2 == pytest.approx(published, rel=1e-12)


def test_ncp_is_what_arx_publishes():
    """ARX's Loss has 1/leaves for an exact value where NCP has 0, is scaled to [0, 1], and averaged geometrically.

    Its test of beta-likeness expects 0.759... for a node of Adult with six attributes at "*", one exact, and this one.
    """
    table = groups_of_arx()
    hierarchy = {value: ["present" if spouse else "not present"] for spouse, value in
                 table[["spouse present", "marital-status"]].drop_duplicates().itertuples(index=False)}  # fmt: skip
    ncp = float(Attribute.of(table["marital-status"], hierarchy).ncp(1).mean())
    scaled = (ncp - 1 / len(hierarchy)) / (1 - 1 / len(hierarchy))
    assert (2**6 * (1 + scaled)) ** (1 / 8) - 1 == pytest.approx(0.759176305345683, abs=1e-10)


def test_wrong_arguments():
    table = random_table(np.random.default_rng(4))
    crossed = {value: [f"a{value % 2}", f"b{value // 4}"] for value in range(8)}
    for error, change in [
        (mx.TableError, {"table": table.assign(S="x")}),
        (mx.NotDecided, {"table": table.assign(S="x"), "time_limit": 0}),
        (mx.TableError, {"hierarchies": {"age": {0: ["*"]}}}),
        (mx.TableError, {"hierarchies": {"age": crossed}}),
        (mx.TableError, {"hierarchies": {"age": {value: [None] for value in range(8)}}}),
        (mx.TableError, {"hierarchies": {"age": {value: [["a"]] for value in range(8)}}}),
        (mx.UnknownName, {"hierarchies": {"agee": AGE}}),
        (mx.StatementError, {"knowledge": ["P(x | age=0) <= 0.5"], "suppression": 0.1}),
        (mx.Infeasible, {"knowledge": ["P(x) = 1"]}),
        (mx.StatementError, {"loss": "entropy"}),
        (mx.StatementError, {"methods": []}),
    ]:
        with pytest.raises(error):
            mx.anonymize.search(**{"table": table, "qi": "age", "sa": "S", "progress": False, **change})


def test_every_release_is_in_the_plot():
    """The plot has one point per candidate; the title counts those without a loss: of unsafe ones, queries are not asked."""
    how = random_table(np.random.default_rng(5)), ["age", "sex"], "S", LEVELS, 0.9
    for loss in ("ncp", "queries"):
        result = mx.anonymize.search(*how, loss=loss, methods=["full-domain"], progress=False)
        ax = result.plot(Figure().subplots())
        points = sum(len(line.get_xdata()) for line in ax.get_lines() if line.get_linestyle() == "None")
        missing = len(result.candidates) - points
        assert points == len(result.candidates.dropna(subset=["loss", "largest"]))
        assert bool(missing) == (loss == "queries")
        assert ax.get_title().count(f" {missing} ") == bool(missing)


def test_dates_lose_the_share_of_the_dates_in_their_range():
    """The NCP of a range is the number of dates in it, relative to all; of a single date it is 0."""
    table = pd.DataFrame({"born": pd.date_range("1950-01-01", periods=20, freq="30D"), "disease": ["flu", "cold"] * 10})
    result = mx.anonymize.search(table, "born", "disease", threshold=0.9, methods=["mondrian"])
    sizes = np.asarray(result.release.n_qb.sum(axis=0))
    assert result.loss == pytest.approx((sizes[sizes > 1] ** 2).sum() / 20 / 20)


@pytest.mark.parametrize("zone", [None, "UTC", "America/Havana"])  # in Havana, 1 April 2012 began at 1 o'clock
def test_months_years_and_decades_are_read_back(zone):
    """The reader finds everybody born in a month, a year or a decade in their cell, in years 1 and 9999 too."""
    born = pd.Series(pd.date_range("2009-12-02 09:00", "2012-04-30 09:00", freq="13D", unit="s"))
    if zone != "America/Havana":
        born = pd.concat([born, pd.Series(pd.to_datetime(["0001-01-01", "9999-12-31 23:00"], format="ISO8601"))])
    born = born.sort_values(ignore_index=True).dt.tz_localize(zone)
    levels = _made_levels(pd.Index(born)).set_index(0).loc[born]
    year, month = born.dt.year, born.dt.month
    for level, code in enumerate((12 * year + month, year, year // 10), start=1):
        table = pd.DataFrame({"born": levels[level].to_numpy(), "S": "a"})
        release = mx.Release.from_generalized(table, qi="born", sa="S", population=pd.DataFrame({"born": born}))
        assert release.matched
        groups = sorted(np.flatnonzero(column).tolist() for column in release.n_qb.toarray().T)
        assert groups == [rows.tolist() for rows in born.groupby(code).indices.values()]


DAYS = pd.Series(pd.to_datetime(["2024-01-05", "2024-01-20", "2024-02-03", "9999-12-31"]))


@pytest.mark.parametrize(
    ("column", "texts"),
    [
        (DAYS, ["2024-01-05", "2024-01-20", "2024-02-03", "9999-12-31"]),
        (DAYS.dt.date.astype("date32[day][pyarrow]"), ["2024-01-05", "2024-01-20", "2024-02-03", "9999-12-31"]),
        (pd.Series([20.0, 21.0, 30.0, 35.0]), ["20", "21", "30", "35"]),
        (pd.Series([1.5, 1.25, 2, 3]), ["1.50", "1.25", "2.00", "3.00"]),
    ],
)
def test_files_of_hierarchies_contain_texts(tmp_path, column, texts):
    """Dates, those that nanoseconds cannot represent too, and numbers match the texts in a file, in every search."""
    path = tmp_path / "hierarchy.csv"
    path.write_text("".join(f"{text};{text[:3]};*\n" for text in texts))
    table = pd.DataFrame({"A": column, "S": list("abab")})
    by_text = mx.anonymize.search(table.assign(A=texts), "A", "S", hierarchies={"A": path})
    for how in ({"hierarchies": {"A": path}}, {"loss": "queries"}):
        result = mx.anonymize.search(table, "A", "S", **how)
        assert mx.measures.exposed(mx.MaxEnt(result.release).solve(), 0.8).people == 0
    assert mx.anonymize.search(table, "A", "S", hierarchies={"A": path}).loss == by_text.loss
    cells = mx.anonymize.mondrian_table(table, qi="A", sa="S", k=2)
    read = mx.Release.from_generalized(cells, qi="A", sa="S", population=table[["A"]])
    assert np.asarray(read.n_qb.sum(axis=0)).tolist() == [2, 2]


@pytest.mark.parametrize("method", ["full-domain", "mondrian", "anatomy"])
def test_the_index_of_the_table_does_not_matter(method):
    """Repeated labels of a concatenated table change nothing."""
    half = pd.DataFrame({"A": [1, 1, 2, 2], "S": list("FHHF")})
    how = {"qi": "A", "sa": "S", "threshold": 0.6, "methods": [method], "progress": False}
    twice = mx.anonymize.search(pd.concat([half, half]), **how)
    once = mx.anonymize.search(pd.concat([half, half], ignore_index=True), **how)
    assert (twice.loss, twice.nodes) == (once.loss, once.nodes)


@pytest.mark.parametrize(
    ("values", "dtype"),
    [(list("BBAACC"), pd.ArrowDtype(pa.dictionary(pa.int32(), pa.string()))), ([3, 1, 2, 3, 5, 4], "float16")],
    ids=["dictionary", "float16"],
)
def test_types_that_cannot_be_sorted_or_indexed(values, dtype):
    """The search for Arrow's dictionaries and for numbers of 16 bits is that for their texts and numbers."""
    table = pd.DataFrame({"A": values, "S": list("xyxyxy")})
    tables = table, table.astype({"A": dtype})
    plain, other = (mx.anonymize.search(t, "A", "S", methods=["full-domain"], progress=False) for t in tables)
    assert (other.loss, other.levels) == (plain.loss, plain.levels)


def test_lattices_too_large_to_be_listed():
    """With twelve numeric attributes, and 10^10 nodes, the time limit ends the search with a safe release."""
    rng = np.random.default_rng(0)
    qi = [f"q{i}" for i in range(12)]
    table = pd.DataFrame(rng.integers(0, 1000, (60, 12)), columns=qi).assign(s=rng.choice(list("abc"), 60))
    result = mx.anonymize.search(table, qi=qi, sa="s", methods=["full-domain"], time_limit=0.5)
    assert mx.measures.exposed(mx.MaxEnt(result.release).solve(), 0.8).people == 0
    assert not result.optimal


def test_two_rows_of_a_hierarchy_for_one_number():
    """1.50 and 1.500 are both 1.5, whose levels would be ambiguous."""
    hierarchy = pd.DataFrame({0: ["1.50", "1.500", "2"], 1: ["low", "high", "high"], 2: "*"})
    table = pd.DataFrame({"pay": [1.5, 2.0], "d": ["a", "b"]})
    with pytest.raises(mx.TableError):
        mx.anonymize.search(table, "pay", "d", {"pay": hierarchy}, methods=["full-domain"], progress=False)

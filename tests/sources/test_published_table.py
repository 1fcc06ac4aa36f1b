"""Published contingency tables: margins, suppressed cells and rounded counts, as rows in people."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import maxent_cvx as mx
from maxent_cvx import MaxEnt, PublishedTable
from maxent_cvx.testing import check_source
from support.helpers import refused
from support.series import patients


def table_of(*cells: tuple, by: str = "Gender Disease", **options: object) -> PublishedTable:
    """A table of cells, each with its labels and its count."""
    return PublishedTable(pd.DataFrame(cells, columns=[*by.split(), "n"]), **options)


def sides(table: PublishedTable) -> list[tuple[float, float]]:
    """The interval of every cell."""
    return list(table.cells[["low", "high"]].itertuples(index=False, name=None))


def test_intervals_of_cells():
    """Design, section 8: "<5" is 0 to 4, or 1 to 4 where zeros are shown; base b is b // 2 or b - 1; "*" is anything."""
    for printed, options, *ends in [
        (7, {}, 7, 7),
        ("7", {}, 7, 7),
        ("<5", {"zeros_shown": True}, 1, 4),
        ("<=4", {"suppressed": "<=4"}, 0, 4),
        ("<10", {"suppressed": "< 10", "zeros_shown": True}, 1, 9),
        ("*", {}, 0, np.inf),
        ("c", {"suppressed": {"c": (1, 9)}}, 1, 9),
        ("*", {"suppressed": {"<5": (1, 4), "*": (5, None)}}, 5, np.inf),
        (10, {"base": 5}, 8, 12),
        (10, {"base": 10}, 5, 15),
        (3, {"base": 3, "rounding": "random"}, 1, 5),
        ("<5", {"base": 5}, 0, 4),
        (4, {"base": 1, "rounding": "random"}, 4, 4),
    ]:
        assert sides(table_of(("male", "Flu", printed), **options)) == [tuple(ends)]


def test_rows_are_exact_numbers_of_people(release, hospital):
    """Every coefficient of the system that is solved is 1, and every side the integer that was printed."""
    table = table_of(("male", "Flu", 3), ("male", "*", 6), ("*", "*", 10), ("*", "HIV", "<5"), ("female", "Flu", "*"))
    model = MaxEnt(release).add(table)
    form, first = model.form, model.form.n_facts
    assert set(form.matrix[np.arange(first, form.shape[0])].data) == {1.0}
    assert form.low[first:].tolist() == [3, 6, 10, -np.inf]
    assert form.high[first:].tolist() == [3, 6, 10, 4]
    names = [f"published table by Gender, Disease: {cell}" for cell in ("male, Flu", "male, *", "*, *")]
    assert [form.name(row) for row in range(first, first + 3)] == names
    n_ill_men = ((hospital["Gender"] == "male") & (hospital["Disease"] == "Flu")).sum()
    assert (table.matrix(model.space) @ model.space.count(hospital)).tolist()[:3] == [n_ill_men, 6, 10]


# -- rows ----------------------------------------------------------------------------------------


def test_views_of_every_kind(hospital, release):
    """Beside QI tables, generalised groups with a population, series and named people."""
    qi_table = mx.QITable(hospital, qi=["Gender"], sa="Disease", sa_values=sorted(set(hospital["Disease"])))
    cells = table_of(("male", "Flu", 2), ("*", "HIV", 2))
    post = MaxEnt(qi_table).add(cells).solve()
    assert 10 * post.joint()["male", "Flu"] == pytest.approx(2, abs=1e-6)

    records = pd.DataFrame({"Age": ["*"] * 4, "Sex": list("FFMM"), "Salary": [30, 80, 40, 50]})
    everybody = pd.DataFrame({"Age": [21, 25, 30, 45, 50, 55, 30, 45], "Sex": list("FFFMMMMF")})
    grouped = MaxEnt(mx.Release.from_generalized(records, qi=["Age", "Sex"], sa="Salary", population=everybody))
    of_young = table_of((21, 1), (25, 1), ("*", 4), by="Age")  # of those in the release
    joint = grouped.add(of_young).solve().joint().reset_index(name="p")
    inside = joint[joint["Salary"].isin([30, 40, 50, 80])]
    assert 8 * inside.groupby("Age")["p"].sum()[21] == pytest.approx(1, abs=1e-6)

    series = patients(["Gender"])
    model = MaxEnt(series).add(table_of(("male", "Diabetes", 1)))
    men = model.space.described({"Gender": "male"}).sum()
    assert model.solve().prob("Diabetes", given={"Gender": "male"}) * men == pytest.approx(1, abs=1e-6)

    people = {"Ann": {"Gender": "female", "Degree": "college"}}
    named = MaxEnt(release, people=people).add(table_of(("female", "HIV", 0))).solve()
    assert named.people().loc["Ann", "HIV"] == pytest.approx(0, abs=1e-9)


# -- the view of a table -------------------------------------------------------------------------


def test_nothing_but_a_table(hospital):
    """A table alone, with its totals, makes a view; if its cells are exact, the answer is the table."""
    counts = pd.crosstab(hospital["Gender"], hospital["Disease"], margins=True, margins_name="Total")
    cells = counts.stack().rename("n").reset_index()
    table = PublishedTable(cells, suppressed=None, total="Total")
    for sa in ("Disease", ["Gender", "Disease"]):
        post = MaxEnt(table.to_view(sa=sa)).add(table).solve()
        joint = 10 * post.joint().groupby(["Gender", "Disease"]).sum()
        expected = counts.drop(index="Total", columns="Total").stack()
        assert abs(joint - expected).max() < 1e-6
    assert table.to_view(sa="Disease").n_q.tolist() == [4, 6]


# -- errors --------------------------------------------------------------------------------------

FRAME = pd.DataFrame({"A": ["x", "y"], "n": [1, 2]})


@pytest.mark.parametrize(
    "table",
    [
        [1],
        FRAME[["n"]],
        FRAME.head(0),
        pd.concat([FRAME, FRAME.head(1)]),
        FRAME.assign(n=[1, -2]),
        FRAME.assign(n=[1, 2.5]),
        FRAME.assign(n=[1, None]),
        FRAME.assign(A=["x", None]),
        FRAME.assign(n=["1", "<10"]),
        FRAME.assign(n=pd.to_datetime(["2020", "2021"])),
    ],
)
def test_tables_that_cannot_be_read(table):
    """A table with other cells than counts is refused."""
    with refused(mx.TableError):
        PublishedTable(table)


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"count": "m"}, mx.UnknownName),
        ({"count": 3}, mx.TableError),
        ({"base": 5}, mx.TableError),
        ({"base": 0}, mx.StatementError),
        ({"rounding": "up"}, mx.StatementError),
        ({"suppressed": "small"}, mx.StatementError),
        ({"suppressed": "<1", "zeros_shown": True}, mx.StatementError),
        ({"suppressed": 5}, mx.StatementError),
        ({"suppressed": {"c": (4, 1)}}, mx.StatementError),
        ({"suppressed": {"c": 4}}, mx.StatementError),
        ({"suppressed": {"7": (0, 4)}}, mx.StatementError),
        ({"suppressed": {"c": (0, 4)}, "zeros_shown": True}, mx.StatementError),
        ({"zeros_shown": 1}, mx.StatementError),
        ({"total": None}, mx.StatementError),
    ],
)
def test_wrong_options(options, error):
    """A wrong option is refused."""
    with refused(error):
        PublishedTable(FRAME.assign(n=[5, 12]), **options)


# -- any table -----------------------------------------------------------------------------------


@given(
    seed=st.integers(0, 10**6),
    rounding=st.sampled_from(["nearest", "random"]),
    base=st.sampled_from([None, *range(1, 11)]),
)
def test_a_published_table_is_true(seed: int, rounding: str, base: int | None):
    """Microdata satisfy every row of a table made of them, however it is suppressed and rounded."""
    rng = np.random.default_rng(seed)
    people = pd.DataFrame(rng.integers(0, 3, (40, 3)), columns=list("ABC")).astype(str)
    counts = pd.concat(
        [
            people.assign(**dict.fromkeys(over, "*")).value_counts(list("ABC")).rename("n").reset_index()
            for over in ([], ["A"], ["B"], ["C"], ["A", "B"], ["A", "B", "C"])
        ]
    )
    n = counts["n"].to_numpy()
    printed = n
    if base:
        rest, either = n % base, rng.random(len(n)) < 0.5
        up = either if rounding == "random" else (2 * rest > base) | ((2 * rest == base) & either)  # ties go either way
        printed = n - rest + base * (up & (rest > 0))
    counts["n"] = np.where(n < 5, "<5", printed.astype(str))
    table = PublishedTable(counts, base=base, rounding=rounding, zeros_shown=True)
    view = mx.QITable(people, qi=["A", "B"], sa="C", sa_values=list("012"))
    check_source(table, MaxEnt(view).space, people)


def test_without_a_record():
    """A margin that prints small numbers is not suppressed without a record; only an original record can be removed."""
    people = pd.DataFrame({"Gender": ["male"] * 9 + ["female"] * 5, "Disease": ["Flu"] * 6 + ["HIV"] * 3 + ["Flu"] * 5})
    hers, his = people.iloc[-1], people.iloc[6]
    for cells, record, expected in [
        ([("male", "HIV", 3), ("female", "Flu", 5)], hers, [(3, 3), (4, 4)]),
        ([("female", "HIV", 0), ("female", "Flu", 5)], hers, [(0, 0), (4, 4)]),
        ([("male", "HIV", "<5"), ("female", "HIV", 0), ("female", "Flu", 5)], hers, [(0, 4), (0, 0), (0, 4)]),
        ([("male", "HIV", "<5"), ("male", "*", 9), ("*", "HIV", 3)], his, [(0, 4), (8, 8), (2, 2)]),
    ]:
        assert sides(table_of(*cells).without(record, people)) == expected
    for record in ({"Age": "30"}, {"Age": 99}):
        with refused(mx.TableError):
            table_of((30, 5), ("*", 5), by="Age").without(record, pd.DataFrame({"Age": [30] * 5}))

"""The disclosure audit of a published table: which suppressed cells can be worked out, and how closely the others."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import Bounds, LinearConstraint, milp

import maxent_cvx as mx
from maxent_cvx import MaxEnt, PublishedTable
from support.helpers import refused


def with_totals(counts: np.ndarray) -> pd.DataFrame:
    """A table of any number of attributes in long form, with all margins; "*" is a total."""
    names = list("ABCDEF")[: counts.ndim]
    values = [[*(f"{name.lower()}{i}" for i in range(n)), "*"] for name, n in zip(names, counts.shape, strict=True)]
    for axis in range(counts.ndim):
        counts = np.concatenate([counts, counts.sum(axis=axis, keepdims=True)], axis=axis)
    return pd.DataFrame(list(itertools.product(*values)), columns=names).assign(n=counts.ravel())


def suppress(table: pd.DataFrame, cells: set[tuple], limit: int = 5) -> pd.DataFrame:
    """Replace cells: "<5" if they are small, "*" if they are suppressed to protect others."""
    labels = list(table.drop(columns="n").itertuples(index=False, name=None))
    n = [(f"<{limit}" if n < limit else "*") if of in cells else n for of, n in zip(labels, table["n"], strict=True)]
    return table.assign(n=pd.Series(n, dtype=object))


def matrix_of(frame: pd.DataFrame) -> np.ndarray:
    """Every row of the table, whatever margin it is of, is the sum of the inner cells that agree with it."""
    inner = list(itertools.product(*(sorted(set(frame[name]) - {"*"}) for name in frame)))
    labels = frame.itertuples(index=False, name=None)
    return np.array(
        [[all(a in ("*", b) for a, b in zip(of, cell, strict=True)) for cell in inner] for of in labels], float
    )


def ends_of(row: np.ndarray, matrix: np.ndarray, low: np.ndarray, high: np.ndarray, integer: bool) -> list[float]:
    """The least and largest value of a row between the sides of all rows, by two programs of HiGHS."""
    found = []
    for sign in (1, -1):
        rows, whole = LinearConstraint(matrix, low, high), np.full(len(row), int(integer))
        answer = milp(sign * row, constraints=rows, bounds=Bounds(0, np.inf), integrality=whole)
        assert answer.status == 0, answer.message
        found.append(sign * answer.fun)
    return found


def by_hand(
    table: pd.DataFrame, limit: int = 5, zeros_shown: bool = False, integer: bool = False
) -> dict[tuple, tuple[float, float]]:
    """The feasibility interval of every suppressed cell, over the inner cells."""
    matrix = matrix_of(table.drop(columns="n"))
    ends = [{f"<{limit}": (int(zeros_shown), limit - 1), "*": (0, np.inf)}.get(n, (n, n)) for n in table["n"]]
    low, high = np.array(ends, dtype=float).T
    labels = table.drop(columns="n").itertuples(index=False, name=None)
    return {
        label: tuple(ends_of(row, matrix, low, high, integer))
        for label, n, row in zip(labels, table["n"], matrix, strict=True)
        if isinstance(n, str)
    }


def equal(audit: pd.DataFrame, expected: dict[tuple, tuple[float, float]]) -> None:
    """The same intervals of the same cells."""
    assert audit.index.to_list() == list(expected)
    np.testing.assert_allclose(audit[["low", "high"]], list(expected.values()), atol=1e-6)


def test_zeros_shown_decide_all_of_seven_cells_or_none():
    """Seven cells, one person each. If "<5" is 1 to 4, totals of 3 and 2 leave nothing open; if 0 to 4, every cell."""
    counts = np.array([[1, 1, 1], [1, 1, 8], [1, 6, 1]])
    small = {(f"a{i}", f"b{j}") for i, j in np.argwhere(counts < 5)}
    frame = suppress(with_totals(counts), small)
    assert len(small) == 7
    for zeros_shown, n_certain in ((False, 0), (True, 7)):
        table = PublishedTable(frame, zeros_shown=zeros_shown)
        audit = MaxEnt(table.to_view(sa="B")).audit(table)
        assert audit["certain"].sum() == n_certain
        equal(audit, by_hand(frame, zeros_shown=zeros_shown))
        assert len(audit) == 7
        if zeros_shown:
            np.testing.assert_allclose(audit[["low", "high"]], 1, atol=1e-6)


@given(seed=st.integers(0, 10**6), zeros_shown=st.booleans())
def test_random_tables_of_three_attributes(seed: int, zeros_shown: bool):
    """Any cells and any margins suppressed, some not published at all: equal to linear programs over the cells."""
    rng = np.random.default_rng(seed)
    counts = rng.integers(int(zeros_shown), 9, rng.integers(2, 4, 3))
    frame = with_totals(counts)
    labels = list(frame.drop(columns="n").itertuples(index=False, name=None))
    chosen = {of for of in labels if rng.random() < 0.4} - {labels[-1]}
    frame = suppress(frame, chosen)
    frame = frame[(rng.random(len(frame)) < 0.9) | (frame["A"] + frame["B"] + frame["C"] == "***")]
    whole = pd.concat([frame, with_totals(counts).assign(n="*")]).drop_duplicates(["A", "B", "C"])  # "*" says nothing
    table = PublishedTable(whole, zeros_shown=zeros_shown)
    audit = MaxEnt(table.to_view(sa=["A", "B", "C"])).audit(table)
    equal(audit, by_hand(whole, zeros_shown=zeros_shown))


@given(seed=st.integers(0, 10**6))
def test_whole_tables(seed: int):
    """With integer=True the ends are those of integer programs by hand, and within the linear ones."""
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 7, (2, 3, 2))
    frame = with_totals(counts)
    cells = {of for of in frame.drop(columns="n").itertuples(index=False, name=None) if rng.random() < 0.5}
    frame = suppress(frame, cells - {("*", "*", "*")})
    table = PublishedTable(frame)
    model = MaxEnt(table.to_view(sa=["A", "B", "C"]))
    whole, linear = model.audit(table, integer=True), model.audit(table)
    equal(whole, by_hand(frame, integer=True))
    assert (whole["low"] >= linear["low"] - 1e-6).all()
    assert (whole["high"] <= linear["high"] + 1e-6).all()
    assert set(linear.index[linear["certain"]]) <= set(whole.index[whole["certain"]])


@given(seed=st.integers(0, 10**6), base=st.sampled_from([3, 5]), rounding=st.sampled_from(["nearest", "random"]))
def test_rounded_tables(seed: int, base: int, rounding: str):
    """Each number within its rounding, margins rounded by themselves: intervals of the linear program by hand."""
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 15, (3, 3))
    exact = with_totals(counts)
    n = exact["n"].to_numpy()
    up = n % base > base // 2 if rounding == "nearest" else (n % base > 0) & (rng.random(len(n)) < 0.5)
    table = PublishedTable(exact.assign(n=n - n % base + base * up), base=base, rounding=rounding)
    model = MaxEnt(table.to_view(sa=["A", "B"], n_records=int(counts.sum())))
    audit = model.audit(table)
    assert len(audit) == len(exact)
    width = base // 2 if rounding == "nearest" else base - 1
    matrix, printed = matrix_of(audit.index.to_frame(index=False)), n - n % base + base * up
    sides = np.maximum(printed - width, 0), printed + width
    rows = np.vstack([matrix, np.ones(9)]), *(np.append(side, counts.sum()) for side in sides)
    for i, (low, high) in enumerate(audit[["low", "high"]].to_numpy()):
        assert (low, high) == pytest.approx(ends_of(matrix[i], *rows, False), abs=1e-6)
        assert low - 1e-6 <= n[i] <= high + 1e-6


def test_what_cannot_be_audited(release):
    """Contradictory tables, what is no table, and tables of other people are refused."""
    table = PublishedTable(pd.DataFrame([("a", "x", "<5"), ("a", "*", 9), ("*", "*", 9)], columns=["A", "B", "n"]))
    with refused(mx.Infeasible):
        MaxEnt(table.to_view(sa="B")).audit(table)  # x is the only value of B
    with refused(mx.UnknownName):
        MaxEnt(release).audit(table)
    with refused(mx.StatementError):
        MaxEnt(release).audit("P(Flu)")
    by_gender = PublishedTable(pd.DataFrame({"Gender": ["male"], "n": ["<7"]}), suppressed="<7")
    with refused(mx.SolverError):
        MaxEnt(release).add(lambda space: sum(space.p**2) <= 1).audit(by_gender, integer=True)
    audit = MaxEnt(release).audit(by_gender)
    assert audit.loc["male"].to_dict() == {"low": pytest.approx(6), "high": pytest.approx(6), "certain": True}
    exact = PublishedTable(pd.DataFrame({"Gender": ["male"], "n": [6]}))
    assert MaxEnt(release).audit(exact).empty

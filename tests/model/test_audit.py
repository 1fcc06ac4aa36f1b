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
    ends = []
    for sign in (1, -1):
        rows, integrality = LinearConstraint(matrix, low, high), np.full(len(row), int(integer))
        answer = milp(sign * row, constraints=rows, bounds=Bounds(0, np.inf), integrality=integrality)
        assert answer.status == 0, answer.message
        ends.append(sign * answer.fun)
    return ends


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
    """The audit has these cells with these intervals; a cell is certain if its interval contains one integer."""
    assert audit.index.to_list() == list(expected)
    np.testing.assert_allclose(audit[["low", "high"]], list(expected.values()), atol=1e-6)
    n_integers = [np.floor(high + 1e-6) - np.ceil(low - 1e-6) + 1 for low, high in expected.values()]
    np.testing.assert_array_equal(audit["certain"], np.array(n_integers) <= 1)


@given(seed=st.integers(0, 10**6), zeros_shown=st.booleans())
def test_random_tables_of_three_attributes(seed: int, zeros_shown: bool):
    """Whatever cells and margins are suppressed or not published, the intervals are those of programs over the cells.

    With integer=True they are those of integer programs, which are within those of linear programs.
    """
    rng = np.random.default_rng(seed)
    counts = rng.integers(int(zeros_shown), 9, rng.integers(2, 4, 3))
    frame = with_totals(counts)
    labels = list(frame.drop(columns="n").itertuples(index=False, name=None))
    frame = suppress(frame, {label for label in labels if rng.random() < 0.4} - {labels[-1]})
    frame = frame[(rng.random(len(frame)) < 0.9) | (frame["A"] + frame["B"] + frame["C"] == "***")]
    frame = pd.concat([frame, with_totals(counts).assign(n="*")]).drop_duplicates(["A", "B", "C"])
    table = PublishedTable(frame, zeros_shown=zeros_shown)
    model = MaxEnt(table.to_view(sa=["A", "B", "C"]))
    linear, integer = model.audit(table), model.audit(table, integer=True)
    equal(linear, by_hand(frame, zeros_shown=zeros_shown))
    equal(integer, by_hand(frame, zeros_shown=zeros_shown, integer=True))
    assert (integer["low"] >= linear["low"] - 1e-6).all()
    assert (integer["high"] <= linear["high"] + 1e-6).all()


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
    """An audit refuses contradictory tables, tables of other people, other objects, and integers beside a curve."""
    table = PublishedTable(pd.DataFrame([("a", "x", "<5"), ("a", "*", 9), ("*", "*", 9)], columns=["A", "B", "n"]))
    by_gender = PublishedTable(pd.DataFrame({"Gender": ["male"], "n": ["<7"]}), suppressed="<7")
    curved = MaxEnt(release).add(lambda space: sum(space.p**2) <= 1)
    for error, model, audited, options in [
        (mx.Infeasible, MaxEnt(table.to_view(sa="B")), table, {}),  # x is the only value of B
        (mx.UnknownName, MaxEnt(release), table, {}),
        (mx.StatementError, MaxEnt(release), "P(Flu)", {}),
        (mx.SolverError, curved, by_gender, {"integer": True}),
    ]:
        with refused(error):
            model.audit(audited, **options)
    assert MaxEnt(release).audit(by_gender).loc["male"].tolist() == pytest.approx([6, 6, True])  # the release says so
    assert MaxEnt(release).audit(PublishedTable(pd.DataFrame({"Gender": ["male"], "n": [6]}))).empty

"""Blocks as tables: a label, how many terms it is a sum of, their coefficients, and the constant."""

from __future__ import annotations

import numpy as np
import pandas as pd
import scipy.sparse as sp

from ...display import FirstRows
from ...display import as_html as shown_as_html
from ...errors import amount

__all__ = ["as_html", "as_text"]

#: Rows that a table shows.
SHOWN = 10


def as_text(title: str, matrix: sp.csr_array, constant: np.ndarray, index: pd.Index | None) -> str:
    """Write the first rows as plain text."""
    table = f"\n{_table(matrix, constant, index).to_string()}" if len(constant) else ""
    return f"<Block: {title}, {_size(index, matrix)}>{table}{_more(len(constant), chr(10) + '...')}"


def as_html(title: str, matrix: sp.csr_array, constant: np.ndarray, index: pd.Index | None) -> str:
    """Write the first rows as HTML."""
    table = FirstRows(_table(matrix, constant, index), "rows", len(constant))
    return shown_as_html(f"<{title}: {_size(index, matrix)}>", table)


def _size(index: pd.Index | None, matrix: sp.csr_array) -> str:
    return "a single expression" if index is None else f"{amount(matrix.shape[0], 'row')} by {list(index.names)}"


def _more(n: int, dots: str) -> str:
    return dots if n > SHOWN else ""


def _table(matrix: sp.csr_array, constant: np.ndarray, index: pd.Index | None) -> pd.DataFrame:
    """Describe the first rows."""
    first = matrix[: min(SHOWN, matrix.shape[0])]
    rows = [first.data[begin:end] for begin, end in zip(first.indptr, first.indptr[1:], strict=False)]
    table = pd.DataFrame({"terms": [len(row) for row in rows], "coefficients": [_range(row) for row in rows]})
    if constant.any():
        table["constant"] = constant[: len(rows)]
    table.index = pd.Index([""]) if index is None else index[: len(rows)]
    return table


def _range(coefficients: np.ndarray) -> str:
    """Write a number, two, or the range of several."""
    if not len(coefficients):
        return "0"
    low, high = f"{coefficients.min():.4g}", f"{coefficients.max():.4g}"
    return low if low == high else f"{low} to {high}"

"""Counts as they are printed in tables: numbers, perhaps rounded, and symbols of suppressed cells, as intervals."""

from __future__ import annotations

import re
from collections.abc import Mapping
from numbers import Integral

import numpy as np
import pandas as pd

from ...errors import StatementError, TableError, arguments, listing, shown

__all__ = ["OPEN", "cell_intervals", "symbol_intervals"]

#: The symbol of a cell that says nothing, as it was suppressed to protect another one (complementary suppression).
OPEN = "*"
#: The largest count, records: beyond it floating point does not hold every integer.
LARGEST_COUNT = 2**53
#: How far from the number that is printed the true one may be, with base b.
HALF_WIDTHS = {"nearest": lambda base: base // 2, "random": lambda base: base - 1}

Intervals = dict[str, tuple[float, float]]


def symbol_intervals(suppressed: object, zeros_shown: bool) -> Intervals:
    """Read what the symbols of suppressed cells stand for: from how many people to how many.

    Parameters
    ----------
    suppressed : str, dict or None
        "<5" or "<=4"; or every symbol to (least, most), None for no limit.
    zeros_shown : bool
        Whether zeros are printed, so that "<5" begins at 1.
    """
    least = 1.0 if zeros_shown else 0.0
    if suppressed is None:
        return {OPEN: (0.0, np.inf)}
    if isinstance(suppressed, str):
        symbol = _plain(suppressed)
        if symbol == OPEN:
            return {OPEN: (0.0, np.inf)}
        if (found := re.fullmatch(r"(<=?|≤)(\d{1,15})", symbol)) is None:
            raise StatementError(
                f"suppressed={shown(suppressed)}: a limit such as '<5' or '<=4' is expected, or every symbol with what "
                "it stands for, {'c': (0, 4)}"
            )
        most = float(found[2]) - (found[1] == "<")
        if most < least:
            raise StatementError(f"suppressed={suppressed!r}: no count is so small; a limit above it is expected")
        return {symbol: (least, most), OPEN: (0.0, np.inf)}
    if not isinstance(suppressed, Mapping):
        raise StatementError(f"suppressed={shown(suppressed)}: a limit such as '<5', a dictionary or None is expected")
    if zeros_shown:
        raise StatementError("zeros_shown is of a limit such as '<5'; in a dictionary say so yourself, {'<5': (1, 4)}")
    return {OPEN: (0.0, np.inf), **{_symbol(key): _limits(key, value) for key, value in suppressed.items()}}


def cell_intervals(
    counts: pd.Series, symbols: Intervals, base: int | None, rounding: str
) -> tuple[np.ndarray, np.ndarray]:
    """The least and the most people of every cell; the most is infinite where nothing is said.

    Raises
    ------
    TableError
        If something is neither a count nor a symbol, or no multiple of the base.
    """
    name = counts.name
    if not (pd.api.types.is_numeric_dtype(counts) or pd.api.types.is_object_dtype(counts) or _is_text(counts)):
        raise TableError(f"column {name!r} of the published table must hold counts, not {counts.dtype}")
    if pd.api.types.is_bool_dtype(counts) or pd.api.types.is_complex_dtype(counts):
        raise TableError(f"column {name!r} of the published table must hold counts, not {counts.dtype}")
    as_typed = counts.astype(object)
    strange = as_typed.map(lambda one: isinstance(one, bool | np.bool_ | complex)).to_numpy(dtype=bool)
    values = pd.to_numeric(as_typed.where(~strange), errors="coerce").to_numpy(dtype=float)
    is_number = ~np.isnan(values)
    bad = is_number & ~((values >= 0) & (values <= LARGEST_COUNT) & (values == np.floor(values)))
    if bad.any():
        raise TableError(
            f"column {name!r} of the published table holds {listing(as_typed[bad].unique())}; whole numbers of people, "
            "none negative, are expected"
        )
    low, high = values.copy(), values.copy()
    if base is not None:
        if (off := is_number & (values % base != 0)).any():
            raise TableError(
                f"column {name!r} of the published table holds {listing(as_typed[off].unique())}, no multiple of "
                f"base={base}; rounded counts are expected, all of them"
            )
        width = HALF_WIDTHS[rounding](base)
        low, high = np.maximum(low - width, 0), high + width
    said, which = np.unique(as_typed[~is_number].map(_plain_if_text).to_numpy(dtype=str), return_inverse=True)
    if unknown := [symbol for symbol in said.tolist() if symbol not in symbols]:
        raise TableError(
            f"column {name!r} of the published table holds {listing(unknown)}, which is neither a whole number nor a "
            f"symbol of a suppressed cell: {listing(symbols)}; say with suppressed={{symbol: (least, most)}} what it "
            "stands for"
        )
    ends = np.array([symbols[symbol] for symbol in said.tolist()]).reshape(-1, 2)
    low[~is_number], high[~is_number] = ends[which].T if len(which) else (0.0, 0.0)
    return low, high


def _is_text(counts: pd.Series) -> bool:
    """Whether a column is one of texts; symbols of a Categorical are."""
    is_category = isinstance(counts.dtype, pd.CategoricalDtype)
    return is_category or pd.api.types.is_string_dtype(counts)


def _plain(text: str) -> str:
    """A symbol without the blanks in it."""
    return "".join(text.split())


def _plain_if_text(value: object) -> str:
    return _plain(value) if isinstance(value, str) else shown(value)


def _symbol(key: object) -> str:
    """Read a symbol: a text that is no number."""
    symbol = _plain(arguments.text(key, "a symbol of suppressed="))
    try:
        float(symbol)
    except ValueError:
        return symbol
    raise StatementError(
        f"suppressed={{{key!r}: ...}}: a number counts people; a symbol of suppressed cells is no number"
    )


def _limits(key: object, value: object) -> tuple[float, float]:
    """Read (least, most), None for no limit."""
    pair = value if isinstance(value, tuple | list) and len(value) == 2 else ()
    least, most = pair or (-1, -1)
    whole = all(one is None or (isinstance(one, Integral) and not isinstance(one, bool)) for one in (least, most))
    if whole:
        ends = (0.0 if least is None else float(least), np.inf if most is None else float(most))
        if 0 <= ends[0] <= ends[1]:
            return ends
    raise StatementError(
        f"suppressed={{{key!r}: {shown(value)}}}: (least, most) people are expected, whole numbers, or None where "
        "there is no limit"
    )

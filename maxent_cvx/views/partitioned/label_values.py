"""Values of one column in several partitions: the same label wherever they are, or an error."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from ...errors import TableError
from ...tables.coding import factorize

__all__ = ["LARGEST_EXACT", "kind_of", "plain", "united_values"]

#: The largest whole number up to which floating point holds all of them.
LARGEST_EXACT = 2**53
#: Kinds of values, as pandas infers them, that can be compared with those of another partition.
COMPARABLE = {
    "integer": "numbers", "floating": "numbers", "mixed-integer-float": "numbers", "string": "texts",
    "boolean": "truth values", "datetime64": "times", "datetime": "times", "date": "dates", "timedelta": "durations",
    "timedelta64": "durations", "period": "periods", "interval": "intervals", "decimal": "decimals", "bytes": "bytes",
}  # fmt: skip


def plain(column: pd.Series) -> pd.Series:
    """A column as values of its own type; an ordered Categorical, whose order says something, stays one."""
    if isinstance(column.dtype, pd.CategoricalDtype) and not column.dtype.ordered:
        return column.astype(column.cat.categories.dtype)
    return column


def kind_of(values: pd.Index) -> str:
    """What sort of values the distinct values of a column are.

    Raises
    ------
    TableError
        If they are of several sorts, so that no partition can say whether 1 and "1" are the same.
    """
    if isinstance(values.dtype, pd.CategoricalDtype):
        return f"ordered {kind_of(values.dtype.categories.rename(values.name))}"
    found = pd.api.types.infer_dtype(values)
    if found not in COMPARABLE:
        raise TableError(
            f"column {values.name!r} holds values of several types ({found}), which partitions cannot compare; "
            "make them one type before, .astype(str)"
        )
    zone = getattr(values.dtype, "tz", None)
    return COMPARABLE[found] if zone is None else f"{COMPARABLE[found]} in {zone}"


def united_values(several: Sequence[pd.Index]) -> tuple[list[np.ndarray], pd.Index]:
    """Number the values of one column in several partitions together, in sorted order.

    Parameters
    ----------
    several : list of Index
        The distinct values in each partition.

    Returns
    -------
    codes : list of ndarray of int
        For each partition the number of each of its values.
    values : Index
        The distinct values of all, sorted.

    Raises
    ------
    TableError
        If they are of different sorts, or numbers that are whole here and real there are too large to compare.
    """
    if len(kinds := {kind_of(values): None for values in several}) > 1:
        raise TableError(
            f"column {several[0].name!r} holds {' in some partitions, and '.join(list(kinds)[:2])} in others; "
            "make them one type before"
        )
    if any(isinstance(values.dtype, pd.CategoricalDtype) and values.dtype != several[0].dtype for values in several):
        raise TableError(
            f"column {several[0].name!r} has ordered categories that differ between partitions; "
            "give it the same ones in all of them"
        )
    together = pd.concat([pd.Series(values) for values in several], ignore_index=True)
    if together.dtype.kind == "f":
        for values in several:
            if (
                values.dtype.kind in "iu"
                and len(values)
                and max(abs(int(values.min())), int(values.max())) > LARGEST_EXACT
            ):
                raise TableError(
                    f"column {values.name!r} holds whole numbers beyond 2^53 in some partitions, and floating-point "
                    "numbers in others, which do not hold them; make them one type before"
                )
    codes, united = factorize(together.rename(str(several[0].name)))
    ends = np.cumsum([len(values) for values in several])
    return np.split(codes, ends[:-1]), united

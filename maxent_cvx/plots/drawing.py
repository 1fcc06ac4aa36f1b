"""What every plot needs: Axes to draw in, as large as its text needs; a check of the table; names cut to a length."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pandas as pd

from ..errors import StatementError, TableError, arguments, listing
from ..errors import shown as written
from ..tables.columns import check_labels
from .fitting import ROOM, as_written, fit

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["LINES", "LONGEST", "READABLE", "axes_for", "check_table", "shortened"]

#: QI tuples that a heat map still shows with readable labels.
READABLE = 40
#: The size of the box of lines or points, inches, without its labels and legend.
LINES = (5.4, 3.6)
#: Characters of a name beside an axis: a third of what a page is wide.
LONGEST = 44


def check_table(table: object, columns: tuple[str, ...], maker: str, numbers: tuple[str, ...] = ()) -> None:
    """Check that something is the table that another function makes; `numbers` are its columns of numbers."""
    arguments.table(table, f"what is drawn, a table of {maker},")
    if missing := [name for name in columns if name not in table.columns]:  # type: ignore[attr-defined]
        raise TableError(f"the table has no column {listing(missing)}; what {maker} returns is drawn")
    assert isinstance(table, pd.DataFrame)
    for name in columns:
        column = table[name]
        if isinstance(column, pd.DataFrame):
            raise TableError(f"the table has more than one column {name!r}; what {maker} returns is drawn")
        check_labels(column, f"a cell of column {name!r} of the table")
        if name in numbers and (column.dtype == object or column.dtype.kind not in "fiub"):
            raise TableError(f"column {name!r} of the table must hold numbers, not {column.dtype}")


@contextmanager
def axes_for(ax: Axes | None, width: float, height: float) -> Iterator[Axes]:
    """Lend the given axes, or new ones whose figure in the end has room for all text around a box of this size, inches.

    Where drawing fails, no figure is left behind.
    """
    if ax is not None:
        if not callable(getattr(ax, "set_xlabel", None)):
            raise StatementError(f"ax must be Axes of Matplotlib, not {written(ax)}")
        yield ax
        as_written(ax)
        return
    import matplotlib.pyplot as plt  # half a second to load, which no other part needs

    figure, new = plt.subplots(figsize=(width + ROOM, height + ROOM), layout="constrained")
    try:
        yield new
        as_written(new)
        fit(new, width, height)
    except BaseException:
        plt.close(figure)
        raise


def shortened(name: object, longest: int = LONGEST) -> str:
    """Write a name; of a long one its beginning and its end, which often is what tells two names apart.

    >>> shortened("P(Flu | Degree=graduate, Gender=male) = 0.3", 20)
    'P(Flu | Degre…= 0.3'
    """
    text = " ".join(str(name).split())
    if len(text) <= longest:
        return text
    end = (longest - 1) // 3
    return f"{text[: longest - 1 - end].rstrip()}…{text[-end:].lstrip()}"

"""What every plot needs: Axes to draw in, a check of the table, sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import StatementError, TableError, arguments, listing
from ..errors import shown as written

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["LINES", "READABLE", "STYLES", "axes_or_new", "check_table"]

#: QI tuples that a heat map still shows with readable labels.
READABLE = 40
#: The size of a picture of lines or points, inches.
LINES = (6.4, 4.2)
#: Line styles in turn: lines often lie on each other, and not everybody tells colours apart.
STYLES = ("-", "--", "-.", ":")


def check_table(table: object, columns: tuple[str, ...], maker: str) -> None:
    """Check that something is the table that another function makes."""
    arguments.table(table, f"what is drawn, a table of {maker},")
    if missing := [name for name in columns if name not in table.columns]:  # type: ignore[attr-defined]
        raise TableError(f"the table has no column {listing(missing)}; what {maker} returns is drawn")


def axes_or_new(ax: Axes | None, size: tuple[float, float]) -> Axes:
    """Take the given axes, or make a figure."""
    if ax is not None:
        if not callable(getattr(ax, "set_xlabel", None)):
            raise StatementError(f"ax must be Axes of Matplotlib, not {written(ax)}")
        return ax
    import matplotlib.pyplot as plt  # half a second to load, which no other part needs

    return plt.subplots(figsize=size, layout="constrained")[1]

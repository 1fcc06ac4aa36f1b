"""What a command writes: files whole or not at all, refused before any work where they cannot be written."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import TableError
from ..system.files import write_beside
from .streams import DASH, data_stream, say

if TYPE_CHECKING:
    import argparse

    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["PICTURES", "check_output", "draw", "not_a_formula", "without_formulas", "write"]

#: Endings of files that a plot is drawn to.
PICTURES = {".png", ".pdf", ".svg"}
#: What formulas begin with in spreadsheets; of some languages with the wide form of a sign.
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")


def check_output(path: str | None, endings: set[str]) -> None:
    """Refuse a file that cannot be written, before any work."""
    if path is None or (path == DASH and ".csv" in endings):
        return
    folder = Path(path).resolve().parent
    if not folder.is_dir() or not os.access(folder, os.W_OK):
        raise TableError(f"cannot write {path!r}: there is no writable folder {str(folder)!r}")
    if Path(path).is_dir():
        raise TableError(f"cannot write {path!r}: it is a folder")
    if Path(path).suffix not in endings:
        raise TableError(f"cannot write {path!r}: the name must end in {' or '.join(sorted(endings))}")


def without_formulas(table: pd.DataFrame, options: argparse.Namespace) -> pd.DataFrame:
    """Put an apostrophe before each text, name or label that a spreadsheet would take for a formula, if asked for."""
    if not options.escape_formulas:
        return table
    changed = table.map(not_a_formula).rename(index=not_a_formula, columns=not_a_formula)
    if (changed.nunique().to_numpy() < table.nunique().to_numpy()).any() or changed.columns.has_duplicates:
        raise TableError("--escape-formulas: a text is there both with and without an apostrophe before it; rename one")
    return changed.rename_axis(index=not_a_formula, columns=not_a_formula)


def not_a_formula(cell: object) -> object:
    """Put an apostrophe before a text that a spreadsheet would take for a formula.

    >>> not_a_formula("=1+1"), not_a_formula("'=1"), not_a_formula(-1)
    ("'=1+1", "'=1", -1)
    """
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(FORMULA) else cell


def draw(path: str, axes: Axes) -> None:
    """Write a plot."""
    import matplotlib.pyplot as plt

    figure = axes.get_figure(root=True)
    assert figure is not None
    write(path, lambda to: figure.savefig(to, dpi=150))
    plt.close(figure)


def write(path: str, save: Callable[[Any], object], what: str = "") -> None:
    """Write a file whole or not at all; for a dash, to standard output."""
    if path == DASH:
        save(data_stream())
        return
    write_beside(path, save)
    say(f"wrote {path}{what}")

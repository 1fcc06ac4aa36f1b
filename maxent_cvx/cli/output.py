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
    from matplotlib.axes import Axes

__all__ = ["PICTURES", "check_output", "draw", "write"]

#: Endings of files that a plot is drawn to.
PICTURES = {".png", ".pdf", ".svg"}


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

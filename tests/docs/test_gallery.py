"""The gallery shows every public plot, and the code beside each picture draws it, whole."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import pytest

from maxent_cvx import plots
from support.layout import on_canvas, texts

GALLERY = (Path(__file__).parents[2] / "docs" / "gallery.rst").read_text(encoding="utf-8")
#: What is below each directive: options, then code.
BLOCKS = re.findall(r"^\.\. plot::\n((?:   .*\n|\n)+)", GALLERY, re.MULTILINE)


def code(block: str) -> str:
    return "\n".join(line for line in textwrap.dedent(block).splitlines() if not line.startswith(":"))


def test_every_plot_is_in_the_gallery() -> None:
    """Each is named above a picture, once, and called in it."""
    named = re.findall(r":func:`~maxent_cvx\.plots\.(\w+)`", GALLERY)
    assert sorted(named) == sorted(plots.__all__)
    called = [name for block in BLOCKS for name in re.findall(r"mx\.plots\.(\w+)\(", block)]
    assert called == named


def test_the_code_draws_whole_pictures() -> None:
    """From the first block to the last in one session, as the pages are built: a figure each, with all of its text."""
    session: dict[str, object] = {}
    for block in BLOCKS:
        plt.close("all")
        exec(compile(code(block), "gallery.rst", "exec"), session)
        figures = [plt.figure(number) for number in plt.get_fignums()]
        assert len(figures) == ("mx.plots" in block), block
        for figure in figures:
            figure.draw_without_rendering()
            for text in texts(figure):
                assert on_canvas(text.get_window_extent(), figure), (text.get_text(), block)
    plt.close("all")


def test_lines_of_code_fit_into_the_page() -> None:
    """No line of code is longer than the page shows."""
    assert BLOCKS
    assert max(len(line) for block in BLOCKS for line in block.splitlines()) <= 120


@pytest.mark.parametrize("option", ["include_source", "formats"])
def test_the_pages_are_built_with_pictures(option) -> None:
    """The directive is one that Matplotlib brings, and code is shown."""
    conf = (Path(__file__).parents[2] / "docs" / "conf.py").read_text(encoding="utf-8")
    assert "matplotlib.sphinxext.plot_directive" in conf
    assert f"plot_{option} =" in conf

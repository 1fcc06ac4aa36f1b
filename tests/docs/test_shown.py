"""The comparison of two runs of a notebook ignores what depends on the computer, and nothing else."""

from __future__ import annotations

import nbformat
import pytest

from support.shown import VARIES, differences, shown


def showing(*lines, html="", tags=(), picture=False):
    """The outputs of a notebook with one cell: printed lines, a table, a picture."""
    cell = nbformat.v4.new_code_cell("", metadata={"tags": list(tags)})
    if lines:
        cell.outputs.append(nbformat.v4.new_output("stream", name="stdout", text="\n".join(lines)))
    if html:
        cell.outputs.append(nbformat.v4.new_output("execute_result", data={"text/html": html, "text/plain": "?"}))
    if picture:
        cell.outputs.append(nbformat.v4.new_output("display_data", data={"image/png": "", "text/plain": "<Figure>"}))
    return shown(nbformat.v4.new_notebook(cells=[cell]))


def table(k, score, seconds):
    """A table with a column of seconds."""
    head = "<thead><tr><th>K</th><th>score</th><th>seconds</th></tr></thead>"
    return showing(html=f"<table>{head}<tr><th>{k}</th><td>{score}</td><td>{seconds}</td></tr></table>")


@pytest.mark.parametrize(
    ("stored", "now"),
    [
        (showing("P(Flu) = 0.30560"), showing("P(Flu) = 0.30561")),  # the last digit
        (showing("certified within 3e-09"), showing("certified within 2e-11")),
        (showing("{'solve it': '0.13 s'}, 12 seconds"), showing("{'solve it': '1.02 s'}, 9 seconds")),
        (table(10, 0.8238, 0.13), table(10, 0.8239, 77.5)),
        (showing("12 solvers", tags=[VARIES]), showing("13 solvers, other words", tags=[VARIES])),
    ],
)
def test_the_same(stored, now):
    """Rounding, times and error bounds that are small enough are not differences."""
    assert differences(stored, now) == []


@pytest.mark.parametrize(
    ("stored", "now"),
    [
        (showing("P(Flu) = 0.3056"), showing("P(Flu) = 0.3066")),
        (showing("62 people"), showing("63 people")),
        (showing("certified within 3e-09"), showing("certified within 3e-03")),
        (showing("one must change"), showing("one may change")),
        (table(10, 0.8238, 0.13), table(10, 0.8338, 0.13)),
        (table(10, 0.8238, 0.13), table(20, 0.8238, 0.13)),
        (showing("a", picture=True), showing("a")),
        (showing("a"), {}),
    ],
)
def test_not_the_same(stored, now):
    """Another probability, count, word, row or picture, or a larger error, is a difference."""
    assert differences(stored, now)

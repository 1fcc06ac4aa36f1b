"""The judge of what notebooks show: it lets pass what computers differ in, and nothing else."""

from __future__ import annotations

import nbformat
import pytest

from support.shown import VARIES, differences, shown


def showing(*lines, html="", tags=(), picture=False):
    """What a notebook of one cell shows: printed lines, a table, a picture."""
    cell = nbformat.v4.new_code_cell("", metadata={"tags": list(tags)})
    if lines:
        cell.outputs.append(nbformat.v4.new_output("stream", name="stdout", text="\n".join(lines)))
    if html:
        cell.outputs.append(nbformat.v4.new_output("execute_result", data={"text/html": html, "text/plain": "?"}))
    if picture:
        cell.outputs.append(nbformat.v4.new_output("display_data", data={"image/png": "", "text/plain": "<Figure>"}))
    return shown(nbformat.v4.new_notebook(cells=[cell]))


TABLE = (
    "<table><thead><tr><th>K</th><th>score</th><th>seconds</th></tr></thead>"
    "<tr><th>{}</th><td>{}</td><td>{}</td></tr></table>"
)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (showing("P(Flu) = 0.30560"), showing("P(Flu) = 0.30561")),  # the last digit
        (showing("entropy 1234.5678"), showing("entropy 1234.6000")),  # a ten-thousandth
        (showing("certified within 3e-09"), showing("certified within 2e-11")),  # errors, small enough
        (showing("{'solve it': '0.13 s'}, 12 seconds"), showing("{'solve it': '1.02 s'}, 9 seconds")),
        (showing("bits 0.5, seconds 0.2"), showing("bits 0.5, seconds 1.31")),
        (showing(html=TABLE.format(10, 0.8238, 0.13)), showing(html=TABLE.format(10, 0.8239, 77.5))),
        (showing("12 solvers", tags=[VARIES]), showing("13 solvers, other words", tags=[VARIES])),
        (showing("a\n", "b"), showing("a", "b")),
    ],
)
def test_the_same(one, other):
    """Rounding, times and errors that are small enough are no differences."""
    assert differences(one, other) == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (showing("P(Flu) = 0.3056"), showing("P(Flu) = 0.3066")),
        (showing("62 people"), showing("63 people")),
        (showing("certified within 3e-09"), showing("certified within 3e-03")),
        (showing("one would have to move"), showing("one has to move")),
        (showing(html=TABLE.format(10, 0.8238, 0.13)), showing(html=TABLE.format(10, 0.8338, 0.13))),
        (showing(html=TABLE.format(10, 0.8238, 0.13)), showing(html=TABLE.format(20, 0.8238, 0.13))),
        (showing("a", "b"), showing("a")),
        (showing("a", picture=True), showing("a")),
        (showing("a", tags=[VARIES], picture=True), showing("a", tags=[VARIES])),
        (showing("a"), {}),
    ],
)
def test_not_the_same(one, other):
    """Another probability, count, word, row or picture, a larger error, or nothing at all, is named with its cell."""
    (said, *_) = differences(one, other)
    assert said.startswith("[1] ")

"""What a notebook shows, and whether two runs of it show the same.

Words are compared one by one, numbers to the digits that are printed and to a ten-thousandth; what a computer's speed
decides (seconds, memory, iterations) is masked, and of a picture it matters that it is there.
"""

from __future__ import annotations

import re
from html.parser import HTMLParser
from itertools import zip_longest

from maxent_cvx.solvers.certificate import ACCURACY

#: A share of a number: what every answer is certified to, or it is refused.
RELATIVE = ACCURACY
#: Below that a decimal number is no news.
ABSOLUTE = 1e-6
#: The tag of a cell in whose output nothing but the kind of output is the same on every computer.
VARIES = "varies"

NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:e[+-]?\d+)?")
TIMED = re.compile(
    r"(?<![\w.])\d+(?:\.\d+)?(?= ?(?:seconds?|s|ms|minutes?|MiB|MB|GB)\b)|(?<=\bseconds )\d+(?:\.\d+)?(?:e[+-]?\d+)?"
)
#: A column or a row of a table with one of these words is masked.
OF_THE_COMPUTER = re.compile(r"\b(?:seconds?|minutes?|milliseconds?|MiB|iterations?)\b")
MASKED = "#"


class Table(HTMLParser):
    """The cells of an HTML table, a list a row; one over several columns is repeated. Other text is a row by itself."""

    def __init__(self, html):
        super().__init__()
        self.rows, self.head, self.cell, self.span, self.silent = [], 0, None, 1, False
        self.feed(html)
        self.rows = [row for row in self.rows if any(row)]

    def handle_starttag(self, tag, attrs):
        self.silent = self.silent or tag == "style"
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.cell, self.span = "", int(dict(attrs).get("colspan") or 1)

    def handle_endtag(self, tag):
        self.silent = self.silent and tag != "style"
        if tag in ("td", "th") and self.cell is not None:
            self.rows[-1] += [" ".join(self.cell.split())] * self.span
            self.cell = None
        if tag == "thead":
            self.head = len(self.rows)

    def handle_data(self, data):
        if self.cell is not None:
            self.cell += data
        elif data.strip() and not self.silent:
            self.rows.append([" ".join(data.split())])


def masked_table(html):
    """The rows of a table, without the numbers of columns and rows that are about the computer."""
    table = Table(html)
    # Rows are aligned at the right: below a label of several rows the label is not repeated.
    width = max(map(len, table.rows), default=0)
    of_computer = {
        width - len(row) + place
        for row in table.rows[: table.head]
        for place, cell in enumerate(row)
        if OF_THE_COMPUTER.search(cell)
    }
    rows = []
    for number, row in enumerate(table.rows):
        whole = number >= table.head and len(row) > 1 and bool(OF_THE_COMPUTER.search(row[0]))
        rows.append(
            [
                NUMBER.sub(MASKED, cell)
                if number >= table.head and (whole or width - len(row) + place in of_computer)
                else TIMED.sub(MASKED, cell)
                for place, cell in enumerate(row)
            ]
        )
    return [" | ".join(row) for row in rows]


def shown_by(cell):
    """The outputs of a cell, each a list of lines or the word "picture"; what goes to stderr is not counted."""
    found, text = [], ""
    for output in [*cell.outputs, None]:
        if output is not None and output.output_type == "stream":
            text += output.text if output.name == "stdout" else ""
            continue
        if text.strip():
            found.append([" ".join(TIMED.sub(MASKED, line).split()) for line in text.splitlines() if line.strip()])
        text = ""
        data = {} if output is None else output.get("data", {})
        if "image/png" in data:
            found.append("picture")
        elif "text/html" in data:
            found.append(masked_table(data["text/html"]))
        elif "text/plain" in data:
            lines = data["text/plain"].splitlines()
            found.append([" ".join(TIMED.sub(MASKED, line).split()) for line in lines if line.strip()])
    if VARIES in cell.metadata.get("tags", []):
        return ["picture" if one == "picture" else [MASKED] for one in found]
    return found


def shown(notebook):
    """By the number of a code cell, from 1 on, as Jupyter writes it beside the cell: what it shows."""
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    return {str(number): outputs for number, cell in enumerate(code, 1) if (outputs := shown_by(cell))}


def last_digit(text):
    """One unit of the last digit of a number that is printed, and a little for the rounding of the difference."""
    digits, _, power = text.partition("e")
    return 1.001 * 10.0 ** (int(power or 0) - len(digits.partition(".")[2]))


def same_number(one, other):
    """Whether two numbers, as printed, are the same: within their last digit, or a ten-thousandth, or both tiny."""
    a, b = float(one), float(other)
    if "e" in one and "e" in other and max(abs(a), abs(b)) <= ACCURACY:
        return True  # bounds on errors, like 3e-09: of those it matters that they are small enough
    if "." not in one + other and "e" not in one + other:
        return a == b
    return abs(a - b) <= max(ABSOLUTE, RELATIVE * max(abs(a), abs(b)), last_digit(one), last_digit(other))


def same_line(one, other):
    """Whether two lines have the same words, and the same numbers to what is printed."""
    if NUMBER.sub(MASKED, one) != NUMBER.sub(MASKED, other):
        return False
    return all(map(same_number, NUMBER.findall(one), NUMBER.findall(other)))


def differences(stored, found):
    """What two runs show differently: a sentence each, with the number of the cell, what was stored, what was found."""
    said = []
    for number in sorted({*stored, *found}, key=int):
        for before, now in zip_longest(stored.get(number, []), found.get(number, []), fillvalue="nothing"):
            if "picture" in (before, now) or "nothing" in (before, now):
                if before != now:
                    said.append(f"[{number}] {before} is stored, and {now} is shown")
                continue
            for old, new in zip_longest(before, now, fillvalue=""):
                if not same_line(old, new):
                    said.append(f"[{number}] {old!r} is stored, and {new!r} is shown")
    return said

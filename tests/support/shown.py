"""Compare the outputs of two runs of a notebook.

Words are compared one by one, numbers to the digits that are printed and to a ten-thousandth. Seconds, memory and iterations
are masked. A picture must be there; its content is not compared.
"""

from __future__ import annotations

import re
from html.parser import HTMLParser
from itertools import zip_longest

from maxent_cvx.solvers.certificate import ACCURACY

#: Relative difference that is ignored: the error that every answer is certified to.
RELATIVE = ACCURACY
#: Absolute difference of decimal numbers that is ignored.
ABSOLUTE = 1e-6
#: Tag of a cell of whose output only the kind is compared.
VARIES = "varies"

NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:e[+-]?\d+)?")
TIMED = re.compile(
    r"(?<![\w.])\d+(?:\.\d+)?(?= ?(?:seconds?|s|ms|minutes?|MiB|MB|GB)\b)|(?<=\bseconds )\d+(?:\.\d+)?(?:e[+-]?\d+)?"
)
#: Columns and rows of a table with one of these words are masked.
OF_THE_COMPUTER = re.compile(r"\b(?:seconds?|minutes?|milliseconds?|MiB|iterations?)\b")
MASKED = "#"


class Table(HTMLParser):
    """The cells of an HTML table, one list per row; a cell over several columns is repeated. Other text is a row."""

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
    """The rows of a table, with masked numbers in columns and rows about the computer."""
    table = Table(html)
    # A row below a label that spans several rows lacks the label, so rows are aligned at the right.
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
    """The outputs of a cell, each a list of lines or the word "picture"; stderr is ignored."""
    outputs, text = [], ""
    for output in [*cell.outputs, None]:
        if output is not None and output.output_type == "stream":
            text += output.text if output.name == "stdout" else ""
            continue
        if text.strip():
            outputs.append([" ".join(TIMED.sub(MASKED, line).split()) for line in text.splitlines() if line.strip()])
        text = ""
        data = {} if output is None else output.get("data", {})
        if "image/png" in data:
            outputs.append("picture")
        elif "text/html" in data:
            outputs.append(masked_table(data["text/html"]))
        elif "text/plain" in data:
            lines = data["text/plain"].splitlines()
            outputs.append([" ".join(TIMED.sub(MASKED, line).split()) for line in lines if line.strip()])
    if VARIES in cell.metadata.get("tags", []):
        return ["picture" if output == "picture" else [MASKED] for output in outputs]
    return outputs


def shown(notebook):
    """Map the number of each code cell, from 1 on, to its outputs."""
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    return {str(number): outputs for number, cell in enumerate(code, 1) if (outputs := shown_by(cell))}


def last_digit(text):
    """One unit of the last printed digit, with an allowance for rounding of the difference."""
    digits, _, power = text.partition("e")
    return 1.001 * 10.0 ** (int(power or 0) - len(digits.partition(".")[2]))


def same_number(a, b):
    """Whether two printed numbers agree: to their last digit or a ten-thousandth, or both are tiny."""
    difference, size = abs(float(a) - float(b)), max(abs(float(a)), abs(float(b)))
    if "e" in a and "e" in b and size <= ACCURACY:
        return True  # error bounds such as 3e-09 need only be small enough
    if "." not in a + b and "e" not in a + b:
        return difference == 0
    return difference <= max(ABSOLUTE, RELATIVE * size, last_digit(a), last_digit(b))


def same_line(a, b):
    """Whether two lines have the same words and numbers."""
    same_words = NUMBER.sub(MASKED, a) == NUMBER.sub(MASKED, b)
    return same_words and all(map(same_number, NUMBER.findall(a), NUMBER.findall(b)))


def differences(stored, now):
    """Describe each difference in a sentence, with the number of the cell."""
    sentences = []
    for number in sorted({*stored, *now}, key=int):
        for before, after in zip_longest(stored.get(number, []), now.get(number, []), fillvalue="nothing"):
            if "picture" in (before, after) or "nothing" in (before, after):
                if before != after:
                    sentences.append(f"[{number}] {before} is stored, and {after} is shown")
                continue
            for old, new in zip_longest(before, after, fillvalue=""):
                if not same_line(old, new):
                    sentences.append(f"[{number}] {old!r} is stored, and {new!r} is shown")
    return sentences

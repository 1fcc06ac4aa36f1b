"""Sentences as text: ``Ann=HIV or Bob=HIV``.

::

    sentence     =  either ["->" sentence]
    either       =  both {"or" both}
    both         =  one {"and" one}
    one          =  "not" one | "(" sentence ")" | amount | atom
    amount       =  ("exactly" | "at least" | "at most") number "of" "(" sentence {"," sentence} ")"
    atom         =  person "=" value
    person, value  =  words | "text in quotes" | 'text in quotes'

Words are anything without ``, | ( ) = : # ->`` and quotes, spaces inside included; and, or, not stand for themselves
only in quotes. A person or value that reads as a number, True or False is one unless it is quoted. ``not`` binds more
than ``and``, that more than ``or``, and all more than ``->``.
"""

from __future__ import annotations

import re

from ...errors import StatementError, arguments, shown
from ...tables.selection import constant
from .syntax import DEEPEST, PLAIN_WORD, RESERVED, Counted, Has, Implication, Sentence

__all__ = ["listed", "read_sentence"]

#: Digits of the number of an amount; no list of sentences is as long as a larger one.
MOST_DIGITS = 18
#: What comes after a word that joins sentences: no more of the same word.
ENDS = r"(?=[\s(),=\"']|->|\Z)"
WORD = rf"(?!(?:{'|'.join(RESERVED)}){ENDS}){PLAIN_WORD}"
WORDS = re.compile(rf"{WORD}(?:[ \t]+{WORD})*")
QUOTED = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'")
AMOUNT = re.compile(rf"(?:exactly|at\s+least|at\s+most)(?=\s+\d+\s+of{ENDS})")
AND, OR, NOT, OF = (re.compile(rf"{word}{ENDS}") for word in ("and", "or", "not", "of"))
OPEN, CLOSE, COMMA, EQUALS, ARROW, NUMBER = map(re.compile, (r"\(", r"\)", ",", "=", "->", r"\d+"))


def read_sentence(text: str) -> Sentence:
    """Read a sentence: atoms "person=value" with and, or, not, ->, exactly (at least, at most) k of (...), and ( ).

    Parameters
    ----------
    text : str
        Names and values with spaces need no quotes, those with ``and``, ``or``, ``not`` or punctuation do.

    Returns
    -------
    Sentence

    Raises
    ------
    StatementError
        If it cannot be read, pointing at the character.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> mx.worlds.read_sentence("exactly 1 of (Ann=HIV, Mary Ann = 'Flu, mild')")
    <Sentence: exactly 1 of (Ann=HIV, Mary Ann="Flu, mild")>
    >>> mx.worlds.read_sentence("Ann=HIV or Bob")
    Traceback (most recent call last):
    ...
    maxent_cvx.errors.StatementError: '=' is expected at character 15, where the end stands, of 'Ann=HIV or Bob'
    """
    reader = Reader(text)
    found = reader.sentence()
    if reader.at < len(reader.text):
        raise reader.error("'and', 'or', '->' or the end is expected")
    return found


def listed(sentences: object, what: str = "knowledge") -> list[Sentence]:
    """Read a list of sentences, texts or objects; one alone is a list."""
    if isinstance(sentences, str | Sentence):
        sentences = [sentences]
    found = arguments.list_of(sentences, what, "sentences, such as 'Ann=HIV or Bob=HIV'")
    if strange := [one for one in found if not isinstance(one, str | Sentence)]:
        raise StatementError(f"{shown(strange[0])} is no sentence; write 'Ann=HIV or Bob=HIV', or worlds.has(...)")
    return [read_sentence(one) if isinstance(one, str) else one for one in found]


class Reader:
    """Reads one sentence, by recursive descent over one text."""

    def __init__(self, text: str) -> None:
        self.text = arguments.text(text, "sentence").rstrip()
        self.at = self.depth = 0

    # -- grammar ---------------------------------------------------------------------------------

    def sentence(self) -> Sentence:
        """``either ["->" sentence]``."""
        self.depth += 1
        if self.depth > DEEPEST:
            raise self.error(f"no more than {DEEPEST} levels are expected")
        left = self.either()
        found = Implication(left, self.sentence()) if self.take(ARROW) else left
        self.depth -= 1
        return found

    def either(self) -> Sentence:
        """``both {"or" both}``."""
        parts = [self.both()]
        while self.take(OR):
            parts.append(self.both())
        return parts[0] if len(parts) == 1 else Counted(1, len(parts), tuple(parts))

    def both(self) -> Sentence:
        """``one {"and" one}``."""
        parts = [self.one()]
        while self.take(AND):
            parts.append(self.one())
        return parts[0] if len(parts) == 1 else Counted(len(parts), len(parts), tuple(parts))

    def one(self) -> Sentence:
        """``"not" one | "(" sentence ")" | amount | atom``."""
        if self.take(NOT):
            self.depth += 1
            if self.depth > DEEPEST:
                raise self.error(f"no more than {DEEPEST} levels are expected")
            found: Sentence = Counted(0, 0, (self.one(),))
            self.depth -= 1
            return found
        if self.take(OPEN):
            found = self.sentence()
            self.need(CLOSE, "'and', 'or', '->' or ')'")
            return found
        return self.amount(how) if (how := self.take(AMOUNT)) else self.atom()

    def amount(self, how: str) -> Sentence:
        """``number "of" "(" sentence {"," sentence} ")"``, after "exactly", "at least" or "at most"."""
        begun = self.next()
        digits = self.need(NUMBER, "a number")
        self.need(OF, "'of'")
        self.need(OPEN, "'('")
        parts = [self.sentence()]
        while self.take(COMMA):
            parts.append(self.sentence())
        self.need(CLOSE, "',' or ')'")
        k = int(digits) if len(digits) <= MOST_DIGITS else len(parts) + 1
        if k > len(parts):
            raise self.error(f"a number up to {len(parts)}, of so many sentences, is expected", begun)
        low, high = {"exactly": (k, k), "least": (k, len(parts)), "most": (0, k)}[how.split()[-1]]
        return Counted(low, high, tuple(parts))

    def atom(self) -> Sentence:
        """``person "=" value``."""
        person = self.label("a person")
        self.need(EQUALS, "'='")
        return Has(person, self.label("a value"))

    # -- tokens ----------------------------------------------------------------------------------

    def label(self, what: str) -> object:
        """Read a text in quotes, or words, which may be a number."""
        if quoted := self.take(QUOTED):
            return re.sub(r"\\(.)", r"\1", quoted[1:-1], flags=re.DOTALL)
        return constant(self.need(WORDS, what))

    def take(self, token: re.Pattern[str]) -> str | None:
        """Go past a token if it comes next."""
        if (found := token.match(self.text, self.next())) is None:
            return None
        self.at = found.end()
        return found[0]

    def need(self, token: re.Pattern[str], what: str) -> str:
        """Go past a token that must come next."""
        if (found := self.take(token)) is None:
            raise self.error(f"{what} is expected")
        return found

    def next(self) -> int:
        """Where the next character is that is no space."""
        return len(self.text) - len(self.text[self.at :].lstrip())

    def error(self, what: str, at: int | None = None) -> StatementError:
        """Point at a character; by default the next one."""
        at = self.next() if at is None else at
        found = shown(self.text[at:]) if at < len(self.text) else "the end"
        return StatementError(f"{what} at character {at + 1}, where {found} stands, of {shown(self.text)}")

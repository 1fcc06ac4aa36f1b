"""The parser of statements: recursive descent over one text; the grammar is in :mod:`.notation`."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable
from typing import Any

import pandas as pd

from ...errors import StatementError
from ...tables import selection
from ...tables.selection import PLAIN, constant
from ...terms.penalty import Penalty
from .events import Count, P
from .expectation import E
from .probability import Probability
from .statement import Statement

__all__ = ["Reader", "without_comments"]

NUMBER, END = re.compile(selection.NUMBER), re.compile(rf"{selection.NUMBER}|inf")
RELATION = re.compile(r"<=|>=|==|=|<~|>~|~|<|>|≤|≥")
COST = re.compile(r",\s*(weight|delta)\b")
ANYTHING = re.compile(r"is\s+anything\b")
GIVE_OR_TAKE, MINUS, TIMES = re.compile(r"\+-|±"), re.compile(r"-"), re.compile(r"\*")
SIGN = re.compile(r"\+(?!-)|-")
OPEN, CLOSE, BAR, COMMA, COLON, EQUALS = map(re.compile, (r"[PE]\s*\(|#\(", r"\)", r"\|", ",", ":", "="))
OR, IN, IN_INTERVAL = (re.compile(word) for word in (r"or\b", r"in\b", r"in(?=\s*[\[(])"))
WORDS, NAME = (re.compile(rf"(?!{word}\b){PLAIN}(?:[ \t]+(?!{word}\b){PLAIN})*") for word in ("or", "in"))
QUOTED = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'")
LONE = re.compile(rf"(?:{QUOTED.pattern}|{NAME.pattern})(?=\s*\))")
COMMENT = re.compile(rf"({QUOTED.pattern})|#(?!\()[^\n]*")
BOTH = (("<=", "<="), ("<~", "<~"))
RELATE = {"=": operator.eq, "<=": operator.le, ">=": operator.ge}
OFF = "a number, by how much it may be off,"
CLOSED: dict[str, Any] = {"[]": "both", "[)": "left", "(]": "right", "()": "neither"}


def without_comments(text: str) -> str:
    """Blank out what follows a # to the end of its line, unless it is quoted or begins a count; positions stay."""
    return COMMENT.sub(lambda found: found[1] or " " * len(found[0]), text)


class Reader:
    """Reads one statement from a text."""

    def __init__(self, text: str) -> None:
        if not isinstance(text, str):
            raise StatementError(f"a statement is a text, not a {type(text).__name__}")
        self.text, self.at = without_comments(text).rstrip(), 0
        self.begun = 0  # where the last token begins

    # -- grammar ---------------------------------------------------------------------------------

    def statement(self) -> Statement:
        """Read the whole text."""
        relate, *sides = self.relation()
        if self.at < len(self.text):
            raise self.error("the end is expected" + ": write 0.3 for 30%" * (self.text[self.next()] == "%"))
        return relate(*sides)

    def relation(self) -> tuple[Callable[..., Statement], Any, *tuple[Any, ...]]:
        """``sum relation sum ["+-" number] | number "<=" sum "<=" number | sum "is anything"``: what relates what.

        With ``~``, ``<~`` or ``>~`` for the relation it ends in what it costs to be missed.
        """
        left = self.sum()
        if self.take(ANYTHING):
            return Probability.anything, left
        relation, right = self.sign(), self.sum()
        if self.sees(RELATION):
            if (relation, self.sign()) not in BOTH or left.terms or not right.terms:
                raise self.error("two relations are read as number <= P(...) <= number only", self.begun)
            highest = self.signed("the upper value")
            return (self.softly() if "~" in relation else Probability.between), right, left.constant, highest
        if "~" in relation:
            low, high = -math.inf if relation == "<~" else 0.0, math.inf if relation == ">~" else 0.0
            return self.softly(), left - right, low, high
        if self.take(GIVE_OR_TAKE):
            if relation != "=" or right.terms:
                raise self.error("+- is read after P(...) = number only", self.begun)
            return Probability.about, left, right.constant, float(self.need(NUMBER, OFF))
        return RELATE[relation], left, right

    def softly(self) -> Callable[..., Statement]:
        """``"+-" number ["," "delta" number] | "," "weight" number``: what it costs to miss a soft statement."""
        costs = {}
        if self.take(GIVE_OR_TAKE):
            costs["sd"] = float(self.need(NUMBER, "a number, the standard deviation,"))
        elif not self.sees(COST):
            raise self.error("a cost is expected after ~: '+- 0.05' or ', weight 50'")
        if named := self.take(COST):
            name = "delta" if named.endswith("delta") else "weight"
            costs[name] = float(self.need(NUMBER, f"a number, the {name},"))
        penalty = Penalty(**costs)
        return lambda probability, low, high: probability.missable(low, high, penalty)

    def sum(self) -> Probability:
        """``["-"] term { ("+" | "-") term }``."""
        total = -self.term() if self.take(MINUS) else self.term()
        while sign := self.take(SIGN):
            total = total - self.term() if sign == "-" else total + self.term()
        return total

    def term(self) -> Probability:
        """``number | [number ["*"]] (probability | mean | count)``."""
        factor = self.take(NUMBER)
        if factor is None or self.take(TIMES) or self.sees(OPEN):
            opened = self.need(OPEN, "a number, P(, E( or #(")
            return float(factor or 1) * {"#": self.count, "E": self.mean, "P": self.probability}[opened[0]]()
        return Probability({}, float(factor))

    def probability(self) -> Probability:
        """``"P(" choice ["|" (person | condition {"," condition})] ")"``, from the choice on."""
        return P(self.sensitive(), **self.among())

    def mean(self) -> Probability:
        """``"E(" name ["|" (person | condition {"," condition})] ")"``, from the name on."""
        return E(self.text_of(NAME, "an attribute"), **self.among())

    def among(self) -> dict[str, Any]:
        """``["|" (person | condition {"," condition})] ")"``."""
        given, who = None, None
        if self.take(BAR):
            if self.sees(LONE):
                who = self.word(NAME, "a person")
            else:
                given = self.conditions({})
        self.need(CLOSE, "')'" if given else "'|' or ')'")
        return {"given": given, "who": who}

    def count(self) -> Probability:
        """``"#(" choice ":" person {"," person} ")"``, from the choice on."""
        value = self.sensitive()
        self.need(COLON, "'or' or ':'")
        names = self.words(NAME, "a person", COMMA)
        self.need(CLOSE, "',' or ')'")
        return Count(value, who=names)

    def sensitive(self) -> object:
        """``choice {"," choice}``; of several, each names its attribute."""
        attribute, value = self.choice(named=False)
        return value if attribute is None else self.conditions({attribute: value})

    def conditions(self, found: dict[str, object]) -> dict[str, object]:
        """``condition {"," condition}``, or what follows the first."""
        while not found or self.take(COMMA):
            begun = self.next()
            name, chosen = self.choice(named=True)
            if name in found:
                raise self.error(f"{name!r} is named twice; write {name}=one or other", begun)
            found[str(name)] = chosen
        return found

    def choice(self, *, named: bool) -> tuple[str | None, object]:
        """Read ``name = value or value``, ``name in interval``, or, where no name is needed, values only."""
        begun = self.at
        if not named and self.take(IN_INTERVAL):
            return None, self.interval()
        name: str | None = self.text_of(NAME, "an attribute" if named else "a value")
        if self.take(IN if named else IN_INTERVAL):
            return name, self.interval()
        if self.take(EQUALS) is None:
            if named:
                raise self.error("'=' or 'in' is expected")
            name, self.at = None, begun
        return name, self.words(WORDS, "a value", OR)

    def interval(self) -> pd.Interval:
        """``("[" | "(") number "," number ("]" | ")")``."""
        left = self.need(re.compile(r"[\[(]"), "'[' or '('")
        low = self.signed("the lower end")
        self.need(COMMA, "','")
        begun, high = self.next(), self.signed("the upper end")
        right = self.need(re.compile(r"[\])]"), "']' or ')'")
        if low > high:
            raise self.error("the lower end comes first", begun)
        return pd.Interval(low, high, CLOSED[left + right])

    # -- tokens ----------------------------------------------------------------------------------

    def words(self, plain: re.Pattern[str], what: str, between: re.Pattern[str]) -> list[object]:
        """Read one or several."""
        found = [self.word(plain, what)]
        while self.take(between):
            found.append(self.word(plain, what))
        return found

    def word(self, plain: re.Pattern[str], what: str) -> object:
        """Read a text in quotes, or words, which may be a number."""
        is_text = self.sees(QUOTED)
        found = self.text_of(plain, what)
        return found if is_text else constant(found)

    def text_of(self, plain: re.Pattern[str], what: str) -> str:
        """Read a text in quotes, or words."""
        if quoted := self.take(QUOTED):
            return re.sub(r"\\(.)", r"\1", quoted[1:-1], flags=re.DOTALL)
        return self.need(plain, what)

    def signed(self, what: str) -> float:
        """Read a number, whole if it is written so."""
        sign = self.take(MINUS) or ""
        return constant(sign + self.need(END, f"a number, {what},"))  # type: ignore[return-value]

    def sign(self) -> str:
        """Read =, <=, >= or a soft one, however they are written."""
        found = self.need(RELATION, "=, <=, >= or ~")
        if found in "<>":
            raise self.error(f"a strict {found} has no maximum-entropy answer of its own; write {found}=", self.begun)
        return {"==": "=", "≤": "<=", "≥": ">="}.get(found, found)

    def sees(self, token: re.Pattern[str]) -> re.Match[str] | None:
        """Match a token if it comes next."""
        return re.compile(r"\s*(" + token.pattern + ")").match(self.text, self.at)

    def take(self, token: re.Pattern[str]) -> str | None:
        """Go past a token if it comes next."""
        if (found := self.sees(token)) is None:
            return None
        self.begun, self.at = found.start(1), found.end()
        return found[1]

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
        found = repr(self.text[at:]) if at < len(self.text) else "the end"
        return StatementError(f"{what} at character {at + 1}, where {found} stands, of {self.text!r}")

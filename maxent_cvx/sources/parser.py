"""Statements as text, in the papers' notation: ``P(Flu | Gender=male) = 0.3 +- 0.05``.

::

    statement    =  sum relation sum ["+-" number] | number "<=" sum "<=" number | sum "is anything"
                 |  ( sum | ratio ) ( "between" number "and" number | "in" "[" number "," number "]" )
                 |  sum soft sum cost | number "<~" sum "<~" number cost
                 |  ratio relation number ["+-" number] | number "<=" ratio "<=" number
                 |  ( "abs(" sum ")" | "|" sum "|" ) "<=" number
    ratio        =  ( term | "(" sum ")" ) "/" ( term | "(" sum ")" )
    relation     =  "=" | "==" | "<=" | ">="
    soft         =  "~" | "<~" | ">~"
    cost         =  "+-" number ["," "delta" number] | "," "weight" number
    sum          =  ["-"] term { ("+" | "-") term }
    term         =  number | [number ["*"]] ( probability | mean | count )
    probability  =  "P(" sensitive ["|" ( person | condition {"," condition} )] ")"
    mean         =  ("E(" | "mean(" | "average(") name ["|" ( person | condition {"," condition} )] ")"
    count        =  "#(" sensitive ":" person {"," person} ")"
    sensitive    =  value {"or" value} | interval | condition {"," condition}
    condition    =  name "=" value {"or" value} | name interval | name ( "<" | "<=" | ">" | ">=" ) bound
    interval     =  "in" ("[" | "(") bound "," bound ("]" | ")")
    bound        =  number | date
    name, value, person  =  words | "text in quotes" | 'text in quotes'

Words contain anything but ``, | ( ) = : #`` and quotes, including inner spaces; an unquoted value (or person) that
looks like a number, True or False is one. A date is written as 2024-01-31 or 2024-01-31 12:30. Texts are parsed,
never evaluated, and str(statement) is parsed as the same statement (except for values that are neither numbers nor
strings, such as dates, and the numbers of ``E(..., values=...)``). A comment begins with ``#`` and ends with the line,
unless "(" follows the ``#``.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable
from dataclasses import replace
from os import PathLike
from typing import Any

import pandas as pd

from .._utils.errors import MaxEntError, StatementError
from .._utils.formatting import DATE_PATTERN, NUMBER_PATTERN, PLAIN, constant
from .._utils.tables import interval_of
from .._utils.tokens import QUOTED, TokenReader
from .._utils.validation import read_file_text
from ..terms.rows import Penalty, strict
from .statements import RANGE, Count, E, P, Probability, Ratio, RatioStatement, Statement

#: Dates, and dates in other notations.
DATE, OTHER_DATE = re.compile(DATE_PATTERN), re.compile(r"\d{1,4}\.\d{1,2}\.\d{1,4}|\d{1,4}/\d{1,2}/\d{1,4}")
NUMBER, END = re.compile(NUMBER_PATTERN), re.compile(rf"{NUMBER_PATTERN}|inf")
RELATION = re.compile(r"<=|>=|==|=|<~|>~|~|<|>|≤|≥")
COST = re.compile(r",\s*(weight|delta)\b")
ANYTHING = re.compile(r"is\s+anything\b")
GIVE_OR_TAKE, MINUS, TIMES = re.compile(r"\+-|±"), re.compile(r"-"), re.compile(r"\*")
SIGN = re.compile(r"\+(?!-)|-")
OPEN, CLOSE, BAR, COMMA, COLON, EQUALS = map(
    re.compile, (r"(?:[PE]|mean|average)\s*\(|#\(", r"\)", r"\|", ",", ":", "=")
)
GROUP, BETWEEN, AND = re.compile(r"\("), re.compile(r"between\b"), re.compile(r"and\b|,")
OR, IN, IN_INTERVAL = (re.compile(word) for word in (r"or\b", r"in\b", r"in(?=\s*[\[(])"))
WORDS, NAME = (re.compile(rf"(?!{word}\b){PLAIN}(?:[ \t]+(?!{word}\b){PLAIN})*") for word in ("or", "in"))
LONE = re.compile(rf"(?:{QUOTED.pattern}|{NAME.pattern})(?=\s*\))")
COMMENT = re.compile(rf"({QUOTED.pattern})|#(?!\()[^\n]*")
RELATE = {"=": operator.eq, "<=": operator.le, ">=": operator.ge}
OFF = "a number, the tolerance,"
CLOSED: dict[str, Any] = {"[]": "both", "[)": "left", "(]": "right", "()": "neither"}
SLASH, ABSOLUTE = re.compile("/"), re.compile(r"\||abs\s*\(")
#: An attribute with the first character of a relation, as before "=".
BEFORE_EQUALS = re.compile(r"(.*[^\s<>])\s*([<>])")
COMPARISON = re.compile(r"<=|>=|[<>≤≥]")
ASCII = {"≤": "<=", "≥": ">="}
ONE_SIDED: dict[str, Callable[[Any], pd.Interval]] = {
    ">=": lambda bound: interval_of(bound, math.inf, "left"),
    ">": lambda bound: interval_of(bound, math.inf, "neither"),
    "<=": lambda bound: interval_of(-math.inf, bound, "right"),
    "<": lambda bound: interval_of(-math.inf, bound, "neither"),
}


def without_comments(text: str) -> str:
    """Replace comments by spaces, so that positions stay the same; a # in quotes or of a count is kept."""
    return COMMENT.sub(lambda match: match[1] or " " * len(match[0]), text)


def _number(text: str) -> float:
    """Convert a text to an int if it has only digits, possibly with leading zeros, else to a float."""
    return constant(re.sub(r"^(-?)0+(?=\d)", r"\1", text))  # type: ignore[return-value]


def _is_number(side: object) -> bool:
    """Return whether a side of a statement is a number: a sum without probabilities."""
    return isinstance(side, Probability) and not side.terms


class Reader(TokenReader):
    """Reader of one statement from a text, by recursive descent; the grammar is at the top of this module."""

    def __init__(self, text: str) -> None:
        if not isinstance(text, str):
            raise StatementError(f"a statement must be a string, not a {type(text).__name__}")
        super().__init__(without_comments(text))

    # -- grammar ---------------------------------------------------------------------------------

    def statement(self) -> Statement | RatioStatement:
        """Read the whole text."""
        relate, *sides = self.relation()
        self.end()
        return relate(*sides)

    def relation(self) -> tuple[Callable[..., Any], Any, *tuple[Any, ...]]:
        """``sum relation sum ["+-" number] | number "<=" sum "<=" number | sum "is anything" | "|" sum "|" "<=" number``."""
        # With the relations ``~``, ``<~`` and ``>~``, a cost follows. A ratio may replace a sum beside numbers, if the
        # relation is hard.
        if opening := self.take(ABSOLUTE):
            total = self.sum()
            self.need(*((BAR, "'|'") if opening == "|" else (CLOSE, "')'")))
            if self.sign() != "<=":
                raise self.error("an absolute value is compared by <= only, since >= is not convex", self.begun)
            return operator.le, abs(total), self.signed("the largest value")
        left: Any = self.side()
        if self.take(ANYTHING):
            if isinstance(left, Ratio):
                raise self.error("a ratio is compared with a number", self.begun)
            return Probability.anything, left
        if self.sees(IN) or self.sees(BETWEEN):
            return type(left).between, left, *self.ends()
        relation = self.sign()
        right: Any = self.side()
        is_ratio = isinstance(left, Ratio) or isinstance(right, Ratio)
        if is_ratio and (relation not in RELATE or not (_is_number(left) or _is_number(right))):
            raise self.error("a ratio is compared with a number, by =, <= or >=", self.begun)
        if self.sees(RELATION):
            is_interval = (relation, self.sign()) in [("<=", "<="), ("<~", "<~")]
            if not is_interval or not _is_number(left) or _is_number(right):
                raise self.error("two relations must have the form number <= P(...) <= number", self.begun)
            highest = self.signed("the upper value")
            return (self.softly() if "~" in relation else type(right).between), right, left.constant, highest
        if "~" in relation:
            low, high = -math.inf if relation == "<~" else 0.0, math.inf if relation == ">~" else 0.0
            return self.softly(), left - right, low, high
        if self.take(GIVE_OR_TAKE):
            if relation != "=" or not _is_number(right):
                raise self.error("+- must follow P(...) = number", self.begun)
            return type(left).about, left, right.constant, float(self.need(NUMBER, OFF))
        if is_ratio:
            left, right = (side.constant if _is_number(side) else side for side in (left, right))
        return RELATE[relation], left, right

    def ends(self) -> tuple[float, float]:
        """``"between" number "and" number | "in" "[" number "," number "]"``."""
        if self.take(IN):
            interval = self.interval()
            if interval.closed != "both":
                raise self.error("an interval of a probability must include its ends, as in [0.2, 0.4]", self.begun)
            return interval.left, interval.right
        self.need(BETWEEN, "'between'")
        low = self.signed("the lower value")
        self.need(AND, "'and'")
        return low, self.signed("the upper value")

    def softly(self) -> Callable[..., Statement]:
        """``"+-" number ["," "delta" number] | "," "weight" number``: the cost of violating a soft statement."""
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

    def side(self) -> Probability | Ratio:
        """``sum | (term | "(" sum ")") "/" (term | "(" sum ")")``."""
        is_group = self.sees(GROUP) is not None
        total = self.group()
        if not is_group:
            total = self.sum(total)
        if not self.take(SLASH):
            return total
        if not is_group and len(total.terms) + (total.constant != 0) != 1:
            raise self.error("the numerator of a ratio must be one probability, or a sum in parentheses", self.begun)
        divisor = self.group()
        if not total.terms and not divisor.terms and divisor.constant:  # 5/12
            return replace(total, constant=total.constant / divisor.constant)
        return total / divisor

    def group(self) -> Probability:
        """``["-"] term | "(" sum ")"``."""
        if not self.take(GROUP):
            return -self.term() if self.take(MINUS) else self.term()
        total = self.sum()
        self.need(CLOSE, "')'")
        return total

    def sum(self, first: Probability | None = None) -> Probability:
        """``["-"] term { ("+" | "-") term }``, or the rest after the first term."""
        total = self.group() if first is None else first
        while sign := self.take(SIGN):
            total = total - self.term() if sign == "-" else total + self.term()
        return total

    def term(self) -> Probability:
        """``number | [number ["*"]] (probability | mean | count)``."""
        factor = self.take(NUMBER)
        if factor is None or self.take(TIMES) or self.sees(OPEN):
            opened = self.need(OPEN, "a number, or a probability such as P(Flu | Gender=male),")
            return float(factor or 1) * {"#": self.count, "P": self.probability}.get(opened[0], self.mean)()
        return Probability({}, float(factor))

    def probability(self) -> Probability:
        """``"P(" choice ["|" (person | condition {"," condition})] ")"``, starting at the choice."""
        return P(self.sensitive(), **self.among())

    def mean(self) -> Probability:
        """``"E(" name ["|" (person | condition {"," condition})] ")"``, starting at the name."""
        return E(self.text_of(NAME, "an attribute"), **self.among())

    def among(self) -> dict[str, Any]:
        """``["|" (person | condition {"," condition})] ")"``."""
        given, who = None, None
        if self.take(BAR):
            if (lone := self.sees(LONE)) and not RANGE.fullmatch(lone[0]):
                who = self.word(NAME, "a person")
            else:
                given = self.conditions({})
        self.need(CLOSE, "')'" if given else "'|' or ')'")
        return {"given": given, "who": who}

    def count(self) -> Probability:
        """``"#(" choice ":" person {"," person} ")"``, starting at the choice."""
        value = self.sensitive()
        self.need(COLON, "'or' or ':'")
        names = self.words(NAME, "a person", COMMA)
        self.need(CLOSE, "',' or ')'")
        return Count(value, who=names)

    def sensitive(self) -> object:
        """``choice {"," choice}``; if there are several, each names its attribute."""
        attribute, value = self.choice(named=False)
        return value if attribute is None else self.conditions({attribute: value})

    def conditions(self, parsed: dict[str, object]) -> dict[str, object]:
        """``condition {"," condition}``, or the rest after the first."""
        while not parsed or self.take(COMMA):
            begun = self.next()
            name, chosen = self.choice(named=True)
            if name in parsed:
                raise self.error(f"{name!r} is named twice; write {name}=one or other", begun)
            parsed[str(name)] = chosen
        return parsed

    def choice(self, *, named: bool) -> tuple[str | None, object]:
        """Read ``name = value or value``, ``name in interval``, or, if no name is needed, values only."""
        begun = self.at
        if not named and self.take(IN_INTERVAL):
            return None, self.interval()
        is_quoted, start = self.sees(QUOTED), self.next()
        name = self.text_of(NAME, "an attribute" if named else "a value")
        if self.take(IN if named else IN_INTERVAL):
            return name, self.interval()
        if not is_quoted and (match := BEFORE_EQUALS.fullmatch(name)) and self.take(EQUALS):
            return match[1], ONE_SIDED[f"{match[2]}="](self.bound("the bound"))
        if not is_quoted and (match := RANGE.fullmatch(name)) and (named or WORDS.fullmatch(name)):
            bound = self.date(match[3], start + match.start(3)) if DATE.fullmatch(match[3]) else _number(match[3])
            return match[1], ONE_SIDED[ASCII.get(match[2], match[2])](bound)
        if is_quoted and (relation := self.take(COMPARISON)):
            return name, ONE_SIDED[ASCII.get(relation, relation)](self.bound("the bound"))
        if self.take(EQUALS):
            return name, self.words(WORDS, "a value", OR)
        if named:
            raise self.error("'=' or 'in' is expected")
        self.at = begun
        return None, self.words(WORDS, "a value", OR)

    def interval(self) -> pd.Interval:
        """``("[" | "(") number "," number ("]" | ")")``."""
        left = self.need(re.compile(r"[\[(]"), "'[' or '('")
        low = self.bound("the lower end")
        self.need(COMMA, "','")
        begun, high = self.next(), self.bound("the upper end")
        right = self.need(re.compile(r"[\])]"), "']' or ')'")
        try:
            return interval_of(low, high, CLOSED[left + right])
        except ValueError:
            raise self.error("the lower end comes first", begun) from None
        except TypeError:
            raise self.error("both ends must be numbers, or both dates", begun) from None

    # -- tokens ----------------------------------------------------------------------------------

    def words(self, plain: re.Pattern[str], what: str, separator: re.Pattern[str]) -> list[object]:
        """Read one or several."""
        return list(self.several(lambda: self.word(plain, what), separator))

    def bound(self, what: str) -> float | pd.Timestamp:
        """``number | date``."""
        if self.sees(OTHER_DATE) and not self.sees(DATE):
            raise self.error("dates are written as 2024-01-31")
        begun, text = self.next(), self.take(DATE)
        return self.signed(what) if text is None else self.date(text, begun)

    def date(self, text: str, at: int) -> pd.Timestamp:
        """Convert the text of a date at a position."""
        try:
            return pd.Timestamp(text)
        except ValueError:
            raise self.error("there is no such date", at) from None

    def signed(self, what: str) -> float:
        """``number ["/" number]``, an int if it has only digits."""
        sign = self.take(MINUS) or ""
        number = _number(sign + self.need(END, f"a number, {what},"))
        if not self.take(SLASH):
            return number
        if not (divisor := float(self.need(NUMBER, "a divisor"))):
            raise self.error("a divisor other than 0 is expected", self.begun)
        return number / divisor

    def sign(self) -> str:
        """Read a relation, hard or soft, in any notation."""
        sign = self.need(RELATION, "=, <=, >= or ~")
        if sign in "<>":
            raise self.error(strict(sign), self.begun)
        return "=" if sign == "==" else ASCII.get(sign, sign)

    def end(self) -> None:
        """Check that the text is at its end."""
        if self.at < len(self.text):
            advice = {"%": ": write 0.3 for 30%", ",": ": write 0.3 for 0,3"}
            raise self.error("the end is expected" + advice.get(self.text[self.next()], ""))


# Statements outside the notation: patterns of unsupported texts, each with the Python to write instead. The lines are
# examples about Flu and HIV, values of Disease, among people with a Gender and an age; the tests run them.

MEN, WOMEN = 'P("Flu", given={"Gender": "male"})', 'P("Flu", given={"Gender": "female"})'
OF_MEN = 'space.conditional("Disease", given="Gender").xs("male", level="Gender").expr'
JOINT = 'space.marginal(["Gender", "Disease"]).expr'

LINES: dict[str, tuple[str, ...]] = {
    r"\bodds[ -]?ratio|\bOR\b\s*[(=]|/.*/": (f"{MEN} / (1 - {MEN}) <= 2 * odds_of_women",),
    r"\brelative risk|\brisk ratio|\bRR\b": (f"({MEN} / {WOMEN}).between(2, 3)",),
    r"\btimes (as|more|less)\b|\b(is|are) (twice|half)\b": (f"{MEN} == 2 * {WOMEN}",),
    r"\bC\.?I\b|\bconfidence\b|\bSE\b": (f"{MEN}.between(0.2, 0.4)", f"{MEN}.softly(0.3, sd=0.05)"),
    r"\bmutual information|\bI\s*\(": (f"lambda space: cp.sum(cp.kl_div({JOINT}, independent)) <= 0.01",),
    r"\bKL\b|\bdivergence\b|\brelative entropy": (f"lambda space: cp.sum(cp.kl_div({OF_MEN}, reference)) <= 0.1",),
    r"\bentropy\b|\bH\s*\(": (f"lambda space: cp.sum(cp.entr({OF_MEN})) >= 0.5",),
    r"\bgini\b|\bsimpson\b": (f"lambda space: cp.sum_squares({OF_MEN}) <= 1 - 0.2",),
    r"\bmedian\b|\bquantiles?\b|\bquartiles?\b|\bpercentiles?\b": (
        'mx.PublishedQuantile(30, q=0.5, of="age", given={"Disease": "Flu"})',
    ),
    r"\bvar(iance)?\b|\bsd\b|\bstd\b|\bstandard deviation": (
        'mx.PublishedMoments(mean=40, sd=10, of="age", given={"Disease": "Flu"})',
    ),
    r"\bcorr(elation)?\b|\bpearson\b": ('mx.PublishedCorrelation(0.3, ("age", {"Flu": 1}), sd=0.5)',),
    r"\bcov(ariance)?\b": ('mx.Covariance("age", {"Flu": 1}) >= 0',),
    r"\bmax(imum)?\s*\(": ('lambda space: cp.maximum(space.prob("Flu"), space.prob("HIV")) <= 0.9',),
    r"\blogit\b|\blog\b|\bln\b|\bexp\b": (f"{MEN} / (1 - {MEN}) == math.exp(-0.5)",),
    r"\^|\*\*|\bsquared?\b": ('lambda space: cp.square(space.prob("Flu", given={"Gender": "male"})) <= 0.5',),
    r"\)\s*\*\s*[PE#]|\bindependent\b": (f"{MEN} == {WOMEN}",),
    r"=.*(\bthen\b|->|\bimplies\b)": ('mx.worlds.linkage(release, people=people, knowledge=["Ann=HIV -> Bob=HIV"])',),
    r"^\s*\w+ (has|had|is|does)\b": ('"#(Flu: Ann) = 1"',),
    r"\bcount\b|#\([^:]*\)": ('P("Flu") == 3 / release.n_records', 'mx.Count("Flu", who=["Ann", "Bob"]) == 1'),
}  # fmt: skip
PATTERNS = [(re.compile(pattern, re.IGNORECASE), lines) for pattern, lines in LINES.items()]


#: An example of a statement, for a text that is not a statement and matches no pattern.
LOOKS_LIKE = 'a statement looks like "P(Flu | Gender=male) = 0.3", which means that 30% of the men have the flu'


def advice_on(text: str) -> str:
    """Return what to write instead of a text that cannot be read; empty for a statement with a slip."""
    for pattern, lines in PATTERNS:
        if pattern.search(text):
            where = "write" if QUOTED.match(lines[0]) else "in Python"
            return f"{where}, for example: {' or '.join(lines)}"
    return "" if OPEN.search(text) else LOOKS_LIKE


def read_statement(text: str) -> Statement | RatioStatement:
    """Read one statement in the papers' notation; the module's docstring contains the grammar.

    Parameters
    ----------
    text : str

    Raises
    ------
    StatementError
        If it cannot be parsed; the message contains the position, and what to write instead.

    Examples
    --------
    >>> read_statement("P(Flu | Gender=male) = 0.3 +- 0.05")
    <Statement: 0.25 <= P(Flu | Gender=male) <= 0.35>
    >>> read_statement("P(Flu | Gender=male) ~ 0.3 +- 0.05")           # soft: a standard deviation, not an interval
    <Statement: P(Flu | Gender=male) ~ 0.3 +- 0.05>
    >>> read_statement("P(HIV | Gender=male) <= 2 P(Flu or 'Lung cancer' | Gender=female)")
    <Statement: P(HIV | Gender=male) <= 2 P(Flu or Lung cancer | Gender=female)>
    >>> read_statement("E(income | edu=college) = 42.9 +- 0.05")
    <Statement: 42.85 <= E(income | edu=college) <= 42.95>
    >>> read_statement("#(HIV: Alice, Bob, Charlie) >= 2")
    <Statement: #(HIV: Alice, Bob, Charlie) >= 2>
    >>> read_statement("P(Flu | A=1 = 0.3")
    Traceback (most recent call last):
    ...
    maxent_cvx.StatementError: ')' is expected, at '= 0.3' (character 13 of 'P(Flu | A=1 = 0.3')
    """
    try:
        return Reader(text).statement()
    except StatementError as error:
        if not (advice := advice_on(text)):
            raise
        raise StatementError(f"{error}; {advice}") from None


def read_probability(text: str) -> Probability:
    """Read a probability, or a linear combination of several: ``P(Flu | Gender=male) - P(Flu | Gender=female)``.

    Parameters
    ----------
    text : str

    Raises
    ------
    StatementError
        If it cannot be parsed; the message contains the position.

    Examples
    --------
    >>> read_probability("P(Flu | Gender=male) - 2 P(HIV)").attainable()
    (-2.0, 1.0)
    """
    reader = Reader(text)
    probability = reader.sum()
    reader.end()
    return probability


def read_expression(text: str) -> Probability | Ratio:
    """Read a linear combination of probabilities, or a ratio of two: ``P(Flu) / (1 - P(Flu))``."""
    reader = Reader(text)
    expression = reader.side()
    reader.end()
    return expression


def read_knowledge(path: str | PathLike[str]) -> list[Statement | RatioStatement]:
    """Read a file of statements, one per line; empty lines, and text after a ``#``, are ignored.

    The notation is that of the papers; ``help("maxent_cvx.sources.parser")`` shows its grammar.

    Parameters
    ----------
    path : str or path
        A UTF-8 text file.

    Returns
    -------
    list of Statement or RatioStatement
        The statements in the order of the lines, for ``model.add(*statements)``.

    Raises
    ------
    StatementError, BadProbability
        If the file does not exist, or a line cannot be parsed; the message contains file and line, as do later errors
        about values or attributes that a model lacks.

    Examples
    --------
    >>> import maxent_cvx as mx, pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "gossip.txt")
    ...     written = path.write_text("P(Flu | Gender=male) = 0.3 +- 0.05  # from the bakery", encoding="utf-8")
    ...     mx.read_knowledge(path)
    [<Statement: 0.25 <= P(Flu | Gender=male) <= 0.35>]
    """
    return read_statements(read_file_text(path, "path", StatementError), str(path))


def read_statements(text: str, name: str) -> list[Statement | RatioStatement]:
    """Read statements, one per line, from a text with a name for messages."""
    statements: list[Statement | RatioStatement] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not without_comments(line).strip():
            continue
        where = f"{name}, line {number}"
        try:
            statements.append(replace(read_statement(line), where=where))
        except MaxEntError as error:
            raise type(error)(f"{where}: {error}") from None
    return statements

"""Sentences over atoms "person has value": objects, texts, and residuals given known values."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial, reduce
from typing import Any, Self

import numpy as np
import pandas as pd

from .._utils.errors import StatementError, UnknownName, short_repr
from .._utils.formatting import PLAIN, ReprMixin, constant
from .._utils.tokens import TokenReader
from .._utils.validation import check_instance, check_int, check_label, check_list, check_str

#: Words that join sentences; names and values that contain one are written in quotes.
RESERVED = ("and", "or", "not")
#: One word of a name or a value, without the beginning of an arrow.
PLAIN_WORD = rf"(?:(?!->){PLAIN.removesuffix('+')})+"
#: The beginning of an amount such as "exactly k of"; a name that begins like this is written in quotes.
AMOUNT_BEGUN = r"(?:exactly|at least|at most) \d+ of(?: |$)"
#: The deepest nesting of sentences, which are read, written and evaluated recursively.
DEEPEST = 100
#: Precedence of connectives, from the weakest.
IMPLIES, SYNTAX_OR, SYNTAX_AND, SYNTAX_NOT, ALONE = range(5)


class Sentence(ReprMixin):
    """A statement that is true or false in a world: an atom "person has value", or a combination of sentences.

    Created by :func:`has`, ``exactly``, ``at_least``, ``at_most`` and ``read_sentence``, and combined by ``&``, ``|``,
    ``~`` and ``a.implies(b)``. ``read_sentence(str(sentence))`` returns the same sentence if all names are strings,
    numbers or bools, and all values are these, or tuples of these. Equality compares the text, not the meaning.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> ann, bob = mx.worlds.has("Ann", "HIV"), mx.worlds.has("Bob", "HIV")
    >>> print((ann | bob) & ~(ann & bob))
    (Ann=HIV or Bob=HIV) and not (Ann=HIV and Bob=HIV)
    >>> mx.worlds.read_sentence("Ann=HIV -> Bob=HIV") == ann.implies(bob)
    True
    """

    #: The number of levels of nested sentences.
    _depth: int
    #: The precedence of the connective.
    _binds: int = ALONE

    @property
    def parts(self) -> tuple[Sentence, ...]:
        """The sentences that it contains; empty for an atom."""
        return ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "_depth", 1 + max((part._depth for part in self.parts), default=0))
        if self._depth > DEEPEST:
            raise StatementError(f"a sentence has more than {DEEPEST} levels; split it into several sentences")

    def implies(self, other: Sentence) -> Sentence:
        """Return the implication: if this sentence is true, so is the other.

        Parameters
        ----------
        other : Sentence

        Raises
        ------
        StatementError
            If `other` is not a Sentence.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> mx.worlds.has("Ann", "Flu").implies(mx.worlds.has("Bob", "Flu"))
        <Sentence: Ann=Flu -> Bob=Flu>
        """
        return Implication(self, _sentence(other))

    def __and__(self, other: Sentence) -> Sentence:
        parts = _joined(SYNTAX_AND, self, _sentence(other))
        return Counted(len(parts), len(parts), parts)

    def __or__(self, other: Sentence) -> Sentence:
        parts = _joined(SYNTAX_OR, self, _sentence(other))
        return Counted(1, len(parts), parts)

    def __invert__(self) -> Sentence:
        return Counted(0, 0, (self,))

    def __bool__(self) -> bool:
        raise StatementError(
            f"the truth value of {str(self)!r} depends on the world; write & for `and`, | for `or`, ~ for `not`"
        )

    def __repr__(self) -> str:
        return f"<Sentence: {self}>"


@dataclass(frozen=True, repr=False)
class Has(Sentence):
    """The atom: a person has a value."""

    person: Hashable
    value: Hashable

    def __str__(self) -> str:
        return f"{_written(self.person)}={_written(self.value)}"


@dataclass(frozen=True, repr=False)
class Counted(Sentence):
    """From `low` to `high` of some sentences are true: all of them (and), any (or), not one (not), exactly k."""

    low: int
    high: int
    counted: tuple[Sentence, ...]

    @property
    def parts(self) -> tuple[Sentence, ...]:
        """The counted sentences."""
        return self.counted

    @property
    def _binds(self) -> int:  # type: ignore[override]
        """The precedence of "and", "or" or "not"; other counts have their own parentheses."""
        n = len(self.counted)
        as_pair = {(n, n): SYNTAX_AND, (1, n): SYNTAX_OR} if n > 1 else {(0, 0): SYNTAX_NOT}
        return as_pair.get((self.low, self.high), ALONE)

    def __str__(self) -> str:
        if self._binds == SYNTAX_NOT:
            return f"not {_inside(self.counted[0], SYNTAX_NOT)}"
        if self._binds in (SYNTAX_AND, SYNTAX_OR):
            word = " and " if self._binds == SYNTAX_AND else " or "
            return word.join(_inside(part, self._binds + 1) for part in self.counted)
        n = len(self.counted)
        how = f"exactly {self.low}" if self.low == self.high else f"at least {self.low}"
        how = f"at most {self.high}" if self.low == 0 and 0 < self.high < n else how
        return f"{how} of ({', '.join(map(str, self.counted))})"


@dataclass(frozen=True, repr=False)
class Implication(Sentence):
    """If the premise is true, so is the conclusion."""

    premise: Sentence
    conclusion: Sentence

    _binds = IMPLIES

    @property
    def parts(self) -> tuple[Sentence, ...]:
        """Premise and conclusion."""
        return self.premise, self.conclusion

    def __str__(self) -> str:
        return f"{_inside(self.premise, SYNTAX_OR)} -> {_inside(self.conclusion, IMPLIES)}"


def has(person: Hashable, value: Hashable) -> Sentence:
    """Return the atom "person has value".

    Parameters
    ----------
    person, value : hashable
        A name and a sensitive value, which is a tuple if there are several sensitive attributes.

    Raises
    ------
    StatementError
        If one of them is not hashable.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> mx.worlds.has("Ann", "HIV") & ~mx.worlds.has("Bob", "Lung Cancer")
    <Sentence: Ann=HIV and not Bob=Lung Cancer>
    """
    for label, role in ((person, "person"), (value, "value")):
        if not _is_label(label):
            raise StatementError(f"{role} must be a label, such as a string or a number, not {short_repr(label)}")
    return Has(person, value)


def atoms(sentence: Sentence) -> Iterator[Has]:
    """Yield every atom in a sentence, from left to right."""
    if isinstance(sentence, Has):
        yield sentence
    for part in sentence.parts:
        yield from atoms(part)


def _sentence(other: object) -> Sentence:
    """Check the other operand of an operator."""
    return check_instance(other, Sentence, "the other operand", "write worlds.read_sentence(text) for a text")


def _joined(connective: int, *sides: Sentence) -> tuple[Sentence, ...]:
    """Return the parts of a new sentence, merged with those of operands with the same connective."""
    return tuple(part for side in sides for part in (side.parts if side._binds == connective else (side,)))


def _inside(part: Sentence, least: int) -> str:
    """Format a part, in parentheses if its precedence is below `least`."""
    return str(part) if part._binds >= least else f"({part})"


def _is_label(value: Any) -> bool:
    """Return whether a value can be the label of a row or a column, or a tuple of labels."""
    if isinstance(value, tuple):
        return bool(value) and all(map(_is_label, value))
    missing = pd.api.types.is_scalar(value) and pd.isna(value)
    return isinstance(value, Hashable) and not missing and not callable(value)


def _written(label: Any) -> str:
    """Format a name or a value, in quotes if necessary to read it back unchanged."""
    if isinstance(label, tuple):
        return f"({', '.join(map(_written, label))})"
    if not isinstance(label, str):
        return str(label)
    words = re.fullmatch(rf"{PLAIN_WORD}(?: {PLAIN_WORD})*", label)
    reserved = set(RESERVED) & set(label.split(" ")) or re.match(AMOUNT_BEGUN, label)
    if words and isinstance(constant(label), str) and not reserved:
        return label
    return '"' + label.replace("\\", "\\\\").replace('"', '\\"') + '"'


# Sentences as text: ``Ann=HIV or Bob=HIV``.
#
# ::
#
#     sentence     =  either ["->" sentence]
#     either       =  both {"or" both}
#     both         =  one {"and" one}
#     one          =  "not" one | "(" sentence ")" | amount | atom
#     amount       =  ("exactly" | "at least" | "at most") number "of" "(" sentence {"," sentence} ")"
#     atom         =  person "=" value
#     value        =  label | "(" label {"," label} ")"
#     person, label  =  words | "text in quotes" | 'text in quotes'
#
# Words contain anything but ``, | ( ) = : # ->`` and quotes, including inner spaces; and, or, not are connectives
# unless they are quoted. An unquoted person or label that looks like a number, True or False is one. ``not`` binds more
# tightly than ``and``, ``and`` than ``or``, and all of them than ``->``.


#: The maximum number of digits of an amount; no list of sentences is longer.
MOST_DIGITS = 18
#: The end of a word that joins sentences.
ENDS = r"(?=[\s(),=\"']|->|\Z)"
WORD = rf"(?!(?:{'|'.join(RESERVED)}){ENDS}){PLAIN_WORD}"
WORDS = re.compile(rf"{WORD}(?:[ \t]+{WORD})*")
AMOUNT = re.compile(rf"(?:exactly|at\s+least|at\s+most)(?=\s+\d+\s+of{ENDS})")
AND, OR, NOT, OF = (re.compile(rf"{word}{ENDS}") for word in ("and", "or", "not", "of"))
OPEN, CLOSE, COMMA, EQUALS, ARROW, NUMBER = map(re.compile, (r"\(", r"\)", ",", "=", "->", r"\d+"))


def read_sentence(text: str) -> Sentence:
    """Read a sentence: atoms "person=value" with and, or, not, ->, exactly (at least, at most) k of (...), and ( ).

    Parameters
    ----------
    text : str
        Names and values need quotes only if they contain ``and``, ``or``, ``not`` or punctuation, or are texts that
        look like a number, True or False: ``Ann='1305'``. A value of several sensitive attributes is written as
        ``Ann=(HIV, 1305)``.

    Raises
    ------
    StatementError
        If it cannot be parsed; the message contains the position.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> mx.worlds.read_sentence("exactly 1 of (Ann=HIV, Mary Ann = 'Flu, mild')")
    <Sentence: exactly 1 of (Ann=HIV, Mary Ann="Flu, mild")>
    >>> mx.worlds.read_sentence("Ann=HIV or Bob")
    Traceback (most recent call last):
    ...
    maxent_cvx.StatementError: '=' is expected, at the end (character 15 of 'Ann=HIV or Bob')
    """
    reader = Reader(text)
    sentence = reader.nested(reader.sentence)
    if reader.at < len(reader.text):
        raise reader.error("'and', 'or', '->' or the end is expected")
    return sentence


def listed(sentences: object, what: str = "knowledge") -> list[Sentence]:
    """Read a list of sentences, texts or objects; a single one is a list."""
    if isinstance(sentences, str | Sentence):
        sentences = [sentences]
    items = check_list(sentences, what, "sentences, such as 'Ann=HIV or Bob=HIV'")
    if strange := [item for item in items if not isinstance(item, str | Sentence)]:
        raise StatementError(
            f"{short_repr(strange[0])} is not a sentence; write 'Ann=HIV or Bob=HIV', or worlds.has(...)"
        )
    return [read_sentence(item) if isinstance(item, str) else item for item in items]


class Reader(TokenReader):
    """Reader of one sentence from a text, by recursive descent."""

    def __init__(self, text: str) -> None:
        super().__init__(check_str(text, "sentence"))
        self.depth = 0

    def sentence(self) -> Sentence:
        """``either ["->" sentence]``."""
        premise = self.either()
        return Implication(premise, self.nested(self.sentence)) if self.take(ARROW) else premise

    def nested(self, read: Callable[[], Sentence]) -> Sentence:
        """Read a sentence that is one level deeper."""
        self.depth += 1
        if self.depth > DEEPEST:
            raise self.error(f"no more than {DEEPEST} levels are expected")
        sentence = read()
        self.depth -= 1
        return sentence

    def either(self) -> Sentence:
        """``both {"or" both}``."""
        parts = self.several(self.both, OR)
        return parts[0] if len(parts) == 1 else Counted(1, len(parts), parts)

    def both(self) -> Sentence:
        """``one {"and" one}``."""
        parts = self.several(self.one, AND)
        return parts[0] if len(parts) == 1 else Counted(len(parts), len(parts), parts)

    def one(self) -> Sentence:
        """``"not" one | "(" sentence ")" | amount | atom``."""
        if self.take(NOT):
            return Counted(0, 0, (self.nested(self.one),))
        if self.take(OPEN):
            sentence = self.nested(self.sentence)
            self.need(CLOSE, "'and', 'or', '->' or ')'")
            return sentence
        return self.amount(how) if (how := self.take(AMOUNT)) else self.atom()

    def amount(self, how: str) -> Sentence:
        """``number "of" "(" sentence {"," sentence} ")"``, after "exactly", "at least" or "at most"."""
        begun = self.next()
        digits = self.need(NUMBER, "a number")
        self.need(OF, "'of'")
        self.need(OPEN, "'('")
        parts = self.several(partial(self.nested, self.sentence), COMMA)
        self.need(CLOSE, "',' or ')'")
        _check_distinct(parts)
        k = int(digits) if len(digits) <= MOST_DIGITS else len(parts) + 1
        if k > len(parts):
            raise self.error(f"a number up to {len(parts)}, the number of sentences, is expected", begun)
        low, high = {"exactly": (k, k), "least": (k, len(parts)), "most": (0, k)}[how.split()[-1]]
        return Counted(low, high, parts)

    def atom(self) -> Sentence:
        """``person "=" value``."""
        person = self.word(WORDS, "a person")
        self.need(EQUALS, "'='")
        return Has(person, self.value())

    def value(self) -> object:
        """``label | "(" label {"," label} ")"``."""
        if not self.take(OPEN):
            return self.word(WORDS, "a value")
        labels = self.several(lambda: self.word(WORDS, "a value"), COMMA)
        self.need(CLOSE, "',' or ')'")
        return labels


def exactly(k: int, sentences: Iterable[Sentence | str]) -> Sentence:
    """Return the sentence that exactly k of some sentences are true.

    Parameters
    ----------
    k : int
        From 0 to the number of sentences.
    sentences : list of Sentence or str
        Distinct sentences.

    Raises
    ------
    StatementError
        If `k` is out of range, an item is not a sentence, or a sentence is repeated.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> mx.worlds.exactly(2, [mx.worlds.has(name, "HIV") for name in ("Alice", "Bob", "Charlie")])
    <Sentence: exactly 2 of (Alice=HIV, Bob=HIV, Charlie=HIV)>
    """
    parts = _several(sentences)
    k = check_int(k, "k", 0, len(parts))
    return Counted(k, k, parts)


def at_least(k: int, sentences: Iterable[Sentence | str]) -> Sentence:
    """Return the sentence that at least k of some sentences are true; parameters as for :func:`exactly`.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> mx.worlds.at_least(2, ["Ann=HIV", "Bob=HIV", "Eve=HIV"])
    <Sentence: at least 2 of (Ann=HIV, Bob=HIV, Eve=HIV)>
    """
    parts = _several(sentences)
    return Counted(check_int(k, "k", 0, len(parts)), len(parts), parts)


def at_most(k: int, sentences: Iterable[Sentence | str]) -> Sentence:
    """Return the sentence that at most k of some sentences are true; parameters as for :func:`exactly`.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> mx.worlds.at_most(1, ["Ann=HIV", "Bob=HIV", "Eve=HIV"])
    <Sentence: at most 1 of (Ann=HIV, Bob=HIV, Eve=HIV)>
    """
    parts = _several(sentences)
    return Counted(0, check_int(k, "k", 0, len(parts)), parts)


def _several(sentences: object) -> tuple[Sentence, ...]:
    """Read the sentences to count."""
    parts = tuple(listed(check_list(sentences, "sentences", "sentences"), "sentences"))
    if not parts:
        raise StatementError("sentences must not be empty")
    _check_distinct(parts)
    return parts


def _check_distinct(parts: tuple[Sentence, ...]) -> None:
    """Check that no sentence is counted twice."""
    if repeated := [part for part in parts if parts.count(part) > 1]:
        raise StatementError(f"'{repeated[0]}' is listed more than once; list each sentence once")


@dataclass(frozen=True, eq=False)
class PersonKnowledge:
    """Sentences, and the positions of the people and values in their atoms."""

    sentences: list[Sentence]
    positions: dict[Has, tuple[int, int]]  # for every atom, the positions of person and value

    @classmethod
    def of(cls, knowledge: object, people: pd.Index, values: pd.Index, who: str) -> Self:
        """Find the people and values of all atoms."""
        sentences = listed(knowledge)
        distinct_atoms = dict.fromkeys(atom for sentence in sentences for atom in atoms(sentence))
        at = {atom: (_at(people, atom.person, who), _at(values, atom.value, "value")) for atom in distinct_atoms}
        return cls(sentences, at)

    @property
    def people(self) -> np.ndarray:
        """The positions of all people in the sentences, sorted."""
        return np.array(sorted({person for person, _ in self.positions.values()}), dtype=np.int64)

    def about(self, sentence: Sentence) -> set[int]:
        """Return the people in a sentence."""
        return {self.positions[atom][0] for atom in atoms(sentence)}


def _at(known: pd.Index, label: object, what: str) -> int:
    """Return the position of a label, which must be unique."""
    try:
        at = known.get_loc(check_label(label, what, known))
    except UnknownName as error:
        raise UnknownName(f"{error}; write it in quotes") if str(label) in known.tolist() else error from None
    if not isinstance(at, int | np.integer):
        if (whole := known[at][0]) != label:  # pandas finds tuples by their first labels
            raise StatementError(
                f"{short_repr(label)} is a part of the label of a {what}, such as {_written(whole)}; write the whole "
                "tuple, or pass it to worlds.has(...)"
            )
        raise StatementError(f"{short_repr(label)} matches more than one {what}, but an atom needs one")
    return int(at)


# Residuals: sentences simplified by the known values of some people.
#
# Every sentence is a count, "from low to high of these are true". Residuals with the same form after the known atoms
# are removed get the same number. The values of known people only matter by the residual, so that a dynamic program
# stores one number instead of these values.


FALSE, TRUE = 0, 1


class Residuals:
    """All encountered residuals by number: FALSE, TRUE, atoms, and counts."""

    def __init__(self) -> None:
        #: (person, value) for an atom, (low, high, numbers of the parts) for a count.
        self.held: list[tuple[int, ...]] = [(FALSE,), (TRUE,)]
        self.number: dict[tuple[object, ...], int] = {}
        self.people_of: list[frozenset[int]] = [frozenset(), frozenset()]
        self._after: dict[tuple[int, int, int], int] = {}

    def of(self, sentence: Sentence, atom: dict[Has, tuple[int, int]]) -> int:
        """Return the number of a sentence, given the positions of person and value of its atoms."""
        if isinstance(sentence, Has):
            return self._numbered(atom[sentence], frozenset(atom[sentence][:1]))
        parts = [self.of(part, atom) for part in sentence.parts]
        if isinstance(sentence, Implication):
            return self.count(1, 2, [self.negation(parts[0]), parts[1]])
        assert isinstance(sentence, Counted)
        return self.count(sentence.low, sentence.high, parts)

    def every(self, parts: Iterable[int]) -> int:
        """Return the number of the residual that all parts are true."""
        parts = list(parts)
        return self.count(len(parts), len(parts), parts)

    def negation(self, part: int) -> int:
        """Return the number of the residual that a part is not true."""
        return self.count(0, 0, [part])

    def count(self, low: int, high: int, parts: Iterable[int]) -> int:
        """Return the number of the residual that from low to high of the parts are true."""
        known = Counter(parts)
        low, high = low - known[TRUE], high - known[TRUE]
        undecided = sorted(part for part in known.elements() if part not in (FALSE, TRUE))
        n = len(undecided)
        low, high = max(low, 0), min(high, n)
        if low > high or (low, high) == (0, n):
            return FALSE if low > high else TRUE
        if n == 1:
            return undecided[0] if low else self._negated(undecided[0])
        if high == 0:
            return self.every(self.negation(part) for part in undecided)
        if low == n or (low, high) == (1, n):
            return self._flat(undecided, every=low == n)
        return self._numbered((low, high, *undecided), self._people(undecided))

    def after(self, residual: int, person: int, value: int) -> int:
        """Return the residual if a person has a value, -1 for any value outside the sentences."""
        if person not in self.people_of[residual]:
            return residual
        key = (residual, person, value)
        if (residual_after := self._after.get(key)) is None:
            first, second, *parts = self.held[residual]
            if not parts:  # an atom: the person, and the value
                residual_after = TRUE if second == value else FALSE
            else:
                residual_after = self.count(first, second, [self.after(part, person, value) for part in parts])
            self._after[key] = residual_after
        return residual_after

    def table(self, residuals: np.ndarray, person: int, values: np.ndarray) -> np.ndarray:
        """Return :meth:`after` for each residual and each value, shape (residuals, values)."""
        after = [[self.after(part, person, value) for value in values.tolist()] for part in residuals.tolist()]
        return np.array(after, dtype=np.int64).reshape(len(residuals), len(values))

    def _flat(self, parts: list[int], *, every: bool) -> int:
        """Return all (or any) of the parts, merged with parts of the same kind, without duplicates."""
        opened: set[int] = set()
        for part in parts:
            formula = self.held[part]
            n = len(formula) - 2
            same = n > 1 and (formula[:2] == (n, n) if every else formula[:2] == (1, n))
            opened |= set(formula[2:]) if same else {part}
        if len(opened) == 1:
            return opened.pop()
        if any(self._negated(part, new=False) in opened for part in opened):
            return FALSE if every else TRUE
        n = len(opened)
        return self._numbered((n if every else 1, n, *sorted(opened)), self._people(opened))

    def _negated(self, part: int, *, new: bool = True) -> int:
        """Return the number of the negation; if not `new`, -1 if it has no number yet."""
        formula = self.held[part]
        low, high, n = formula[0], formula[1], len(formula) - 2
        if n == 1:  # double negation
            return formula[2]
        if n > 1 and (low == 0 or high == n):
            bounds = (high + 1, n) if low == 0 else (0, low - 1)
            if new:
                return self.count(*bounds, formula[2:])
            return self.number.get((*bounds, *formula[2:]), -1)
        return self._numbered((0, 0, part), self.people_of[part]) if new else self.number.get((0, 0, part), -1)

    def _numbered(self, formula: tuple[int, ...], people: frozenset[int]) -> int:
        """Return the number of a formula, a new one if needed."""
        if (number := self.number.get(formula)) is None:
            number = self.number[formula] = len(self.held)
            self.held.append(formula)
            self.people_of.append(people)
        return number

    def _people(self, parts: Iterable[int]) -> frozenset[int]:
        """Return the people in the parts."""
        return reduce(frozenset.union, (self.people_of[part] for part in parts), frozenset())

"""Sentences as objects: atoms, how many of some sentences are true, implications."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import Any

import pandas as pd

from ...display import Shown
from ...errors import StatementError, arguments, shown
from ...tables.selection import PLAIN, constant

__all__ = ["DEEPEST", "PLAIN_WORD", "RESERVED", "Counted", "Has", "Implication", "Sentence", "atoms", "has"]

#: Words that join sentences; a name or a value with one of them is written in quotes.
RESERVED = ("and", "or", "not")
#: One word of a name or a value; no arrow begins inside.
PLAIN_WORD = rf"(?:(?!->){PLAIN.removesuffix('+')})+"
#: How an amount begins; a name that begins so is written in quotes.
AMOUNT_BEGUN = r"(?:exactly|at least|at most) \d+ of(?: |$)"
#: How deep sentences may be nested: what reads, writes or evaluates them calls itself for every level.
DEEPEST = 100
#: How strongly connectives bind, from the weakest.
IMPLIES, OR, AND, NOT, ALONE = range(5)


class Sentence(Shown):
    """What is true or false of who has what: an atom "person has value", or a combination of some.

    Made by :func:`has`, ``exactly``, ``at_least``, ``at_most`` and ``read_sentence``, and from these
    by ``&``, ``|``, ``~`` and ``a.implies(b)``. Its text is read as the same sentence, if all names and values
    are texts, numbers, True or False; tuples and dates have no text that can be read. Two are equal if they are written
    alike; whether they mean the same is not asked.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> ann, bob = mx.worlds.has("Ann", "HIV"), mx.worlds.has("Bob", "HIV")
    >>> print((ann | bob) & ~(ann & bob))
    (Ann=HIV or Bob=HIV) and not (Ann=HIV and Bob=HIV)
    >>> mx.worlds.read_sentence("Ann=HIV -> Bob=HIV") == ann.implies(bob)
    True
    """

    #: How many levels of sentences it has.
    _depth: int = 1
    #: Which of the connectives holds it together.
    _binds: int = ALONE

    @property
    def parts(self) -> tuple[Sentence, ...]:
        """The sentences that it is made of; none of an atom."""
        return ()

    def implies(self, other: Sentence) -> Sentence:
        """If this is true, so is the other.

        Parameters
        ----------
        other : Sentence

        Returns
        -------
        Sentence

        Raises
        ------
        StatementError
            If the other is no sentence.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> mx.worlds.has("Ann", "Flu").implies(mx.worlds.has("Bob", "Flu"))
        <Sentence: Ann=Flu -> Bob=Flu>
        """
        return Implication(self, _sentence(other))

    def __and__(self, other: Sentence) -> Sentence:
        parts = _joined(AND, self, _sentence(other))
        return Counted(len(parts), len(parts), parts)

    def __or__(self, other: Sentence) -> Sentence:
        parts = _joined(OR, self, _sentence(other))
        return Counted(1, len(parts), parts)

    def __invert__(self) -> Sentence:
        return Counted(0, 0, (self,))

    def __bool__(self) -> bool:
        raise StatementError(
            f"whether {str(self)!r} is true depends on the world; write & for `and`, | for `or`, ~ for `not`"
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
    """From `low` to `high` of some sentences are true: all of them (and), any (or), none of one (not), exactly k."""

    low: int
    high: int
    counted: tuple[Sentence, ...]

    def __post_init__(self) -> None:
        _check_depth(self)

    @property
    def parts(self) -> tuple[Sentence, ...]:
        """What is counted."""
        return self.counted

    @property
    def _binds(self) -> int:  # type: ignore[override]
        """As "and", "or", "not", or as an amount, which has parentheses of its own."""
        n = len(self.counted)
        as_pair = {(n, n): AND, (1, n): OR} if n > 1 else {(0, 0): NOT}
        return as_pair.get((self.low, self.high), ALONE)

    def __str__(self) -> str:
        if self._binds == NOT:
            return f"not {_inside(self.counted[0], NOT)}"
        if self._binds in (AND, OR):
            word = " and " if self._binds == AND else " or "
            return word.join(_inside(part, self._binds + 1) for part in self.counted)
        n = len(self.counted)
        how = f"exactly {self.low}" if self.low == self.high else f"at least {self.low}"
        how = f"at most {self.high}" if self.low == 0 and 0 < self.high < n else how
        return f"{how} of ({', '.join(map(str, self.counted))})"


@dataclass(frozen=True, repr=False)
class Implication(Sentence):
    """If one is true, so is the other."""

    premise: Sentence
    conclusion: Sentence

    _binds = IMPLIES

    def __post_init__(self) -> None:
        _check_depth(self)

    @property
    def parts(self) -> tuple[Sentence, ...]:
        """Premise and conclusion."""
        return self.premise, self.conclusion

    def __str__(self) -> str:
        return f"{_inside(self.premise, OR)} -> {_inside(self.conclusion, IMPLIES)}"


def has(person: Hashable, value: Hashable) -> Sentence:
    """The atom "person has value".

    Parameters
    ----------
    person, value : hashable
        A name, and a sensitive value; of several sensitive attributes a tuple of their values.

    Returns
    -------
    Sentence

    Raises
    ------
    StatementError
        If one of them is no label.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> mx.worlds.has("Ann", "HIV") & ~mx.worlds.has("Bob", "Lung Cancer")
    <Sentence: Ann=HIV and not Bob=Lung Cancer>
    """
    for label, what in ((person, "person"), (value, "value")):
        if not _is_label(label):
            raise StatementError(f"{what}={shown(label)}: a label, such as a text or a number, is expected")
    return Has(person, value)


def atoms(sentence: Sentence) -> Iterator[Has]:
    """Every atom in a sentence, from left to right."""
    if isinstance(sentence, Has):
        yield sentence
    for part in sentence.parts:
        yield from atoms(part)


def _check_depth(sentence: Sentence) -> None:
    """Count the levels of a new sentence, and refuse too many."""
    depth = 1 + max(part._depth for part in sentence.parts)
    if depth > DEEPEST:
        raise StatementError(f"a sentence has more than {DEEPEST} levels; give it in several, which all hold")
    object.__setattr__(sentence, "_depth", depth)


def _sentence(other: object) -> Sentence:
    """Check the other side of an operator."""
    return arguments.instance(other, Sentence, "the other side", "write worlds.read_sentence(text) for a text")


def _joined(connective: int, *sides: Sentence) -> tuple[Sentence, ...]:
    """Put the parts of sides of one connective together."""
    return tuple(part for side in sides for part in (side.parts if side._binds == connective else (side,)))


def _inside(part: Sentence, least: int) -> str:
    """Write a part, in parentheses if it binds less than what is around it."""
    return str(part) if part._binds >= least else f"({part})"


def _is_label(value: Any) -> bool:
    """Whether something can be the label of a row or a column: of tuples, all that is in them."""
    if isinstance(value, tuple):
        return bool(value) and all(map(_is_label, value))
    missing = pd.api.types.is_scalar(value) and pd.isna(value)
    return isinstance(value, Hashable) and not missing and not callable(value)


def _written(label: Any) -> str:
    """Write a name or a value so that it is read as the same: in quotes where it needs them."""
    if not isinstance(label, str):
        return str(label)
    words = re.fullmatch(rf"{PLAIN_WORD}(?: {PLAIN_WORD})*", label)
    reserved = set(RESERVED) & set(label.split(" ")) or re.match(AMOUNT_BEGUN, label)
    if words and isinstance(constant(label), str) and not reserved:
        return label
    return '"' + label.replace("\\", "\\\\").replace('"', '\\"') + '"'

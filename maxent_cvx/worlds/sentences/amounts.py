"""How many of some sentences are true: exactly, at least, at most k of them."""

from __future__ import annotations

from collections.abc import Iterable

from ...errors import StatementError, arguments
from .reader import listed
from .syntax import Counted, Sentence

__all__ = ["at_least", "at_most", "exactly"]


def exactly(k: int, sentences: Iterable[Sentence | str]) -> Sentence:
    """Exactly k of the sentences are true.

    Parameters
    ----------
    k : int
        From 0 to their number.
    sentences : list of Sentence or str
        One that is listed twice counts twice.

    Returns
    -------
    Sentence

    Raises
    ------
    StatementError
        If `k` is no such number, or something listed no sentence.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> mx.worlds.exactly(2, [mx.worlds.has(name, "HIV") for name in ("Alice", "Bob", "Charlie")])
    <Sentence: exactly 2 of (Alice=HIV, Bob=HIV, Charlie=HIV)>
    """
    parts = _several(sentences)
    k = arguments.whole(k, "k", 0, len(parts))
    return Counted(k, k, parts)


def at_least(k: int, sentences: Iterable[Sentence | str]) -> Sentence:
    """At least k of the sentences are true.

    Parameters
    ----------
    k : int
        From 0 to their number.
    sentences : list of Sentence or str

    Returns
    -------
    Sentence

    Raises
    ------
    StatementError
        If `k` is no such number, or something listed no sentence.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> mx.worlds.at_least(2, ["Ann=HIV", "Bob=HIV", "Eve=HIV"])
    <Sentence: at least 2 of (Ann=HIV, Bob=HIV, Eve=HIV)>
    """
    parts = _several(sentences)
    return Counted(arguments.whole(k, "k", 0, len(parts)), len(parts), parts)


def at_most(k: int, sentences: Iterable[Sentence | str]) -> Sentence:
    """At most k of the sentences are true.

    Parameters
    ----------
    k : int
        From 0 to their number.
    sentences : list of Sentence or str

    Returns
    -------
    Sentence

    Raises
    ------
    StatementError
        If `k` is no such number, or something listed no sentence.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> mx.worlds.at_most(1, ["Ann=HIV", "Bob=HIV", "Eve=HIV"])
    <Sentence: at most 1 of (Ann=HIV, Bob=HIV, Eve=HIV)>
    """
    parts = _several(sentences)
    return Counted(0, arguments.whole(k, "k", 0, len(parts)), parts)


def _several(sentences: object) -> tuple[Sentence, ...]:
    """Read what is counted."""
    parts = tuple(listed(arguments.list_of(sentences, "sentences", "sentences"), "sentences"))
    if not parts:
        raise StatementError("sentences is empty: there is nothing to count")
    return parts

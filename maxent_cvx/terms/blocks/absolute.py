"""Absolute values of blocks: |block| <= c is two linear inequalities a row, |block| >= c is not convex."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ...errors import StatementError
from ..rows import Rows

__all__ = ["AbsoluteBlock"]


@dataclass(frozen=True, eq=False)
class AbsoluteBlock:
    """What ``abs(block)`` is, which can be bounded from above.

    Attributes
    ----------
    label : str
        What the rows of the block are.
    within : callable
        From c, a number, a Series or a block, to the rows ``-c <= block <= c``.
    """

    label: str
    within: Callable[[object], Rows]

    __array_ufunc__ = None
    __pandas_priority__ = 10_000
    __hash__ = None  # type: ignore[assignment]

    def __le__(self, most: object) -> Rows:
        return self.within(most)

    def __ge__(self, other: object) -> Rows:
        raise StatementError(
            f"|{self.label}| >= ... is not convex, so that the knowledge has no single answer; say on which side: "
            "block >= c, or block <= -c"
        )

    __gt__ = __ge__
    __eq__ = __ge__  # type: ignore[assignment]
    __ne__ = __ge__  # type: ignore[assignment]

    def __lt__(self, other: object) -> Rows:
        raise StatementError("a strict < has no maximum-entropy answer of its own; write <=")

    def __bool__(self) -> bool:
        raise TypeError(f"|{self.label}| is to be compared, not true or false")

    def __repr__(self) -> str:
        return f"<|{self.label}|>"

"""What shows itself: on a terminal by repr, in a notebook as HTML."""

from __future__ import annotations

from collections.abc import Iterable

from .as_html import FirstRows, as_html

__all__ = ["Shown"]


class Shown:
    """Something that a notebook shows by what ``repr`` says of it, and by the first rows of its tables."""

    def _tables(self) -> Iterable[FirstRows]:
        """What is shown below the sentence; by default nothing."""
        return ()

    def _repr_html_(self) -> str:
        return as_html(repr(self), *self._tables())

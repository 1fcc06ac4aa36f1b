"""What the solver asks of whatever works on partitions: maps whose results stay there, and reductions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

__all__ = ["Executor"]


class Executor(Protocol):
    """Applies pure functions to partitions; a handle stands for a result that stays where it was made."""

    def map(self, function: Callable[..., Any], *handles: Sequence[Any], common: tuple[Any, ...] = ()) -> list[Any]:
        """Handles of ``function(*results, *common)``, the results being those of one partition each."""
        ...

    def reduce(self, combine: Callable[[list[Any]], Any], handles: Sequence[Any]) -> Any:
        """Combine the results of all partitions, a few neighbours at a time, and those in turn."""
        ...

    def gather(self, handles: Sequence[Any]) -> list[Any]:
        """The results themselves, in order."""
        ...

"""What the solver asks of whatever works on partitions: maps whose results stay there, and reductions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

from ..linear_algebra.single_thread import single_thread

__all__ = ["Executor", "SingleThreaded"]


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


@dataclass(frozen=True)
class SingleThreaded:
    """An executor whose functions take one BLAS thread, in whatever process they are called."""

    executor: Executor

    def map(self, function: Callable[..., Any], *handles: Sequence[Any], common: tuple[Any, ...] = ()) -> list[Any]:
        """As of :class:`Executor`."""
        return self.executor.map(partial(_with_one_thread, function), *handles, common=common)

    def reduce(self, combine: Callable[[list[Any]], Any], handles: Sequence[Any]) -> Any:
        """As of :class:`Executor`."""
        return self.executor.reduce(combine, handles)

    def gather(self, handles: Sequence[Any]) -> list[Any]:
        """As of :class:`Executor`."""
        return self.executor.gather(handles)


def _with_one_thread(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function with one BLAS thread."""
    with single_thread:
        return function(*arguments)

"""What watches over a solve: it keeps the time, tells the callback, and prints."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ...errors import StatementError, arguments, shown
from .iteration import Iteration, iteration_of
from .printed_log import HEADER, ends_a_step, line_of

__all__ = ["Callback", "Monitor"]

#: A function of the user's that is called once an iteration; what it returns stops the solve, if it is True.
Callback = Callable[[Iteration], bool | None]
#: Seconds after which a part that is solved among others prints a line, so that nobody thinks that nothing happens.
PATIENCE = 5.0


class Monitor:
    """Handed down to solvers instead of flags: they tell it every iteration, and stop if it says so.

    Parameters
    ----------
    verbose : bool
        Print a line an iteration.
    time_limit : float
        Seconds from now on; it is compared between iterations.
    callback : callable, optional
        Called with an :class:`Iteration`; if it returns True, the solve stops as if the time were over.
    clock : callable
        Gives seconds; for tests.
    write : callable
        Prints a line.
    """

    def __init__(
        self,
        *,
        verbose: bool = False,
        time_limit: float = math.inf,
        callback: Callback | None = None,
        clock: Callable[[], float] = time.perf_counter,
        write: Callable[[str], object] | None = None,
    ) -> None:
        self.verbose = arguments.flag(verbose, "verbose")
        self.time_limit = arguments.seconds(time_limit, "time_limit")
        self.callback = None if callback is None else arguments.function(callback, "callback")
        self.clock, self.write = clock, write or (lambda text: print(text, flush=True))
        self.begun = clock()
        self.stopped_by = ""
        self.part: int | None = None
        self.parts = 1
        self._root, self._printed_at, self._under_header = self, -math.inf, False

    @property
    def seconds(self) -> float:
        """How long the solve has taken so far."""
        return self.clock() - self.begun

    @property
    def seconds_left(self) -> float:
        """How many seconds are left, 0 or more; infinity without a limit."""
        return math.inf if math.isinf(self.time_limit) else max(self.time_limit - self.seconds, 0.0)

    @property
    def stopped(self) -> str:
        """Why the solve has to stop, in words; empty if it goes on."""
        if not self._root.stopped_by and self.seconds_left <= 0:
            self._root.stopped_by = f"by its time limit of {self.time_limit:.6g} seconds"
        return self._root.stopped_by

    def tell(self, line: Mapping[str, Any]) -> bool:
        """Take a line of the log: print it, and ask the callback; whether the solver has to stop.

        Parameters
        ----------
        line : dict
            With "iteration", "residual", "seconds" and what else the solver knows, by the names of ``Posterior.log``.
        """
        if self.part is not None:
            line = {**line, "part": self.part, "parts": self.parts - self.part + 1, "parts_in_all": self.parts}
        if self.verbose and self._is_printed(line):
            self._print_line(line)
        if self.callback is not None:
            self._ask(iteration_of(line))
        return bool(self.stopped)

    def end_part(self, line: Mapping[str, Any]) -> None:
        """Print the last line of a part that was solved by itself, among others or all in one call."""
        if self.verbose and (self.part is not None or "status" in line):
            line = {**line, "part": self.part, "parts_in_all": self.parts} if self.part is not None else line
            self._print_line(line)

    def of_part(self, part: int, parts: int) -> Monitor:
        """The same for one of several parts that are solved one after another, from 1: it prints less."""
        child = self._child()
        child.part, child.parts = part, parts
        return child

    def quietly(self) -> Monitor:
        """The same for work on the side: the time runs, and nothing is told."""
        child = self._child()
        child.verbose, child.callback = False, None
        return child

    def say(self, text: str) -> None:
        """Print a remark between the lines."""
        if self.verbose:
            self.write(text)
            self._root._under_header = False

    def _child(self) -> Monitor:
        child = object.__new__(Monitor)
        vars(child).update(vars(self))
        child._printed_at = self.clock()
        return child

    def _is_printed(self, line: Mapping[str, Any]) -> bool:
        if self.part is None:
            return ends_a_step(line["iteration"])
        return self.clock() - self._printed_at >= PATIENCE

    def _print_line(self, line: Mapping[str, Any]) -> None:
        if not self._root._under_header:
            self.write(HEADER.rstrip())
            self._root._under_header = True
        self.write(line_of(line))
        self._printed_at = self.clock()

    def _ask(self, iteration: Iteration) -> None:
        assert self.callback is not None
        said = self.callback(iteration)
        if said is not None and not isinstance(said, bool | np.bool_):
            raise StatementError(f"callback gives {shown(said)}: True, to stop the solve, or None is expected")
        if said and not self._root.stopped_by:
            self._root.stopped_by = f"by its callback, in iteration {iteration.iteration}"

"""Monitoring of a solve: time limits, callbacks, and the printed log."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._utils.errors import NotDecided, StatementError, short_repr
from .._utils.validation import check_bool, check_callable, check_seconds
from .answer import Answer

__all__ = [
    "DIAGNOSIS",
    "Callback",
    "Iteration",
    "Monitor",
    "Steps",
    "check_step",
    "check_time",
    "diagnosing",
    "seconds_left",
    "solved_together",
    "within",
]

# A time limit for everything inside a block: whatever may take long asks how much is left.
#
# Questions such as bounds and contradictions end in many linear programs, several calls below the one that was given
# the limit; each asks here, and none need hand it on.


#: Seconds that the search for a contradiction may take after an uncertified answer, and so each search for zeros.
DIAGNOSIS = 60.0

#: Steps of a solve that are not its solver's may take this share of the time more, and at least so many seconds: small
#: models are presolved and certified whatever the limit is.
GRACE, LEAST_GRACE = 0.1, 1.0
#: Seconds by which two limits differ that are the same: what is left of the outer one, handed on.
ALIKE = 0.01
#: When the time is over, by the clock of :func:`time.perf_counter`, and the seconds that were given.
_UNTIL: ContextVar[tuple[float, float]] = ContextVar("until", default=(math.inf, math.inf))


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Let what is done inside end after so many seconds, or earlier if an outer limit says so.

    Parameters
    ----------
    seconds : float
        Infinity is no limit.
    """
    outer, until = _UNTIL.get(), time.perf_counter() + seconds
    token = _UNTIL.set((until, seconds) if until < outer[0] - ALIKE else outer)
    try:
        yield
    finally:
        _UNTIL.reset(token)


@contextmanager
def diagnosing() -> Iterator[list[NotDecided]]:
    """Let a search inside end after :data:`DIAGNOSIS` seconds; if it did, the list that is given holds the error.

    Raises
    ------
    NotDecided
        If an outer limit is over.
    """
    undecided: list[NotDecided] = []
    try:
        with within(DIAGNOSIS):
            yield undecided
    except NotDecided as error:
        check_time()
        undecided.append(error)


def seconds_left() -> float:
    """How many seconds are left, 0 or more; infinity without a limit."""
    return max(_UNTIL.get()[0] - time.perf_counter(), 0.0)


def check_time() -> None:
    """Stop if the time is over.

    Raises
    ------
    NotDecided
    """
    if seconds_left() <= 0:
        raise NotDecided(f"not decided in {_UNTIL.get()[1]:.3g} seconds; give more time, time_limit=..., or ask less")


def check_step() -> None:
    """Stop between two steps of a solve, such as those of presolve, if the time has been over for a while.

    Raises
    ------
    NotDecided
    """
    until, seconds = _UNTIL.get()
    if time.perf_counter() > until + max(GRACE * seconds, LEAST_GRACE):
        raise NotDecided(
            f"the model was not presolved and certified in {seconds:.3g} seconds; give more time, time_limit=..., or "
            "make it smaller"
        )


# What a callback is told of an iteration.


@dataclass(frozen=True)
class Iteration:
    """One iteration of a solver, as ``model.solve(callback=...)`` is told of it; a row of ``Posterior.log`` says more.

    Attributes
    ----------
    iteration : int
        From 0, the starting point.
    residual : float
        The largest violation of a row, records.
    gap : float
        The complementarity gap of the inequalities, records; NaN if the solver does not tell.
    dual : float
        The dual function, nats of all records: above the optimum, N H, wherever the rows can hold.
    seconds : float
        Since the solve began.
    part : int or None
        The number of the independent part of the problem that is solved, from 1, if they are solved one after another;
        None if this is one iteration of all parts together.
    parts : int
        How many parts are not solved yet.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> release = mx.Release.from_buckets(mx.datasets.load_hospital(), qi="Gender", sa="Disease", bucket="Bucket")
    >>> model = mx.MaxEnt(release).add("P(Flu | Gender=male) = 0.4")
    >>> told = []
    >>> post = model.solve(callback=told.append)
    >>> [one.iteration for one in told] == list(range(post.iterations + 1)), told[-1].residual < 1e-6
    (True, True)
    """

    iteration: int
    residual: float
    gap: float
    dual: float
    seconds: float
    part: int | None = None
    parts: int = 1


def iteration_of(line: Mapping[str, Any]) -> Iteration:
    """Read an iteration from a line of the log."""
    numbers = {name: float(line.get(name, math.nan)) for name in ("residual", "gap", "dual", "seconds")}
    return Iteration(int(line["iteration"]), **numbers, part=line.get("part"), parts=int(line.get("parts", 1)))


# The log of a solve as it is printed: a header, and a line an iteration in columns.


#: Columns: the heading, the name in a line of the log, the width, and how a number is written.
COLUMNS: tuple[tuple[str, str, int, Callable[[Any], str]], ...] = (
    ("iter", "iteration", 6, str),
    ("parts", "parts", 7, str),
    ("residual", "residual", 10, "{:.2e}".format),
    ("gap", "gap", 10, "{:.2e}".format),
    ("dual value", "dual", 18, "{:.9e}".format),
    ("zeros", "dropped", 8, str),
    ("seconds", "seconds", 9, "{:.2f}".format),
)
#: The headings, and the units: residuals and gaps are in records, the dual value in nats of all records.
HEADER = "".join(f"{heading:>{width}}" for heading, _, width, _ in COLUMNS) + "  "
#: Every iteration is printed up to this one; beyond, with twice the decimal digits, one in ten, and so on.
FIRST = 50


def line_of(line: Mapping[str, Any]) -> str:
    """Write a line of the log in columns; what it does not say stays open, and words follow."""
    cells = []
    for _, name, width, written in COLUMNS:
        value = line.get(name)
        is_open = value is None or value != value
        if name == "parts" and "part" in line:
            value, is_open = f"{line['part']}/{line['parts_in_all']}", False
        cells.append(f"{'-' if is_open else written(value):>{width}}")
    return "".join(cells) + (f"  {line['status']}" if "status" in line else "")


def ends_a_step(iteration: int) -> bool:
    """Whether an iteration is printed: of methods that take thousands, a few dozen are."""
    step = 1
    while iteration >= FIRST * step:
        step *= 10
    return iteration % step == 0


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
        self.verbose = check_bool(verbose, "verbose")
        self.time_limit = check_seconds(time_limit, "time_limit")
        self.callback = None if callback is None else check_callable(callback, "callback")
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
            raise StatementError(f"callback gives {short_repr(said)}: True, to stop the solve, or None is expected")
        if said and not self._root.stopped_by:
            self._root.stopped_by = f"by its callback, in iteration {iteration.iteration}"


# Iterations of several parts of a problem, one of each at a time: one line of the log is one iteration of all.


#: A method that gives a line of the log for every iteration, is sent whether to stop, and returns its answer.
Steps = Generator[Mapping[str, float], bool, Answer]
#: What is added up over the parts; of the residual the largest counts.
SUMS = ("gap", "dual", "dropped", "products")


def solved_together(parts: Sequence[Steps], monitor: Monitor) -> tuple[list[Answer], list[dict[str, Any]]]:
    """Take one step of every part that is not at its end, tell it as one iteration, and so on.

    A part takes the same steps as by itself; where the solve is stopped, all of them have come equally far.

    Parameters
    ----------
    parts : sequence of generators
    monitor : Monitor

    Returns
    -------
    answers : list of Answer
    log : list of dict
        A line an iteration of all parts together: of the residuals the largest, of other numbers the sums.
    """
    answers: dict[int, Answer] = {}
    last: dict[int, Mapping[str, float]] = {}
    log: list[dict[str, Any]] = []
    stop = False
    while True:
        for number, part in enumerate(parts):
            if number in answers:
                continue
            try:
                with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # multipliers may diverge
                    last[number] = part.send(stop) if log else next(part)
            except StopIteration as end:
                answers[number] = end.value
        if len(answers) == len(parts):
            break
        log.append(_line(len(log), last, len(parts) - len(answers), monitor.seconds))
        stop = monitor.tell(log[-1])
    found = [answers[number] for number in range(len(parts))]
    return [replace(answer, log=log) for answer in found] if len(found) == 1 else found, log


def _line(iteration: int, last: Mapping[int, Mapping[str, float]], parts: int, seconds: float) -> dict[str, Any]:
    """Add up the last lines of all parts, those at their end included."""
    lines = list(last.values())
    sums = {name: sum(line[name] for line in lines) for name in SUMS if name in lines[0]}
    residual = float(np.max([line["residual"] for line in lines]))
    return {"iteration": iteration, "parts": parts, "residual": residual, **sums, "seconds": seconds}

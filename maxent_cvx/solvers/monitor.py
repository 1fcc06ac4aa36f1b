"""Monitoring of a solve: time limit, callback, and printed log."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._utils.errors import NotDecided, StatementError, short_repr
from .._utils.validation import check_bool, check_callable, check_seconds

#: Time limit, in seconds, of the search for a contradiction after an uncertified answer, and of each search for zeros.
DIAGNOSIS = 60.0
#: The share of the time limit by which presolve and certification may exceed it, and the least excess in seconds: small
#: models are presolved and certified regardless of the limit.
GRACE, LEAST_GRACE = 0.1, 1.0
#: Seconds: limits that differ by less are the same limit, the rest of which was passed on.
ALIKE = 0.01
#: Number of iterations that are all printed; after it, one in ten is printed, then one in a hundred, and so on.
FIRST = 50

# A time limit for all code inside a block. Bounds and contradictions run many linear programs, several calls below the
# function with the limit; each of them checks it here, so that the limit is not a parameter of all functions between.

#: The end of the time limit, by the clock of :func:`time.perf_counter`, and the limit in seconds.
_UNTIL: ContextVar[tuple[float, float]] = ContextVar("until", default=(math.inf, math.inf))


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Limit the time of a block, in seconds; an earlier outer limit has priority."""
    outer, until = _UNTIL.get(), time.perf_counter() + seconds
    token = _UNTIL.set((until, seconds) if until < outer[0] - ALIKE else outer)
    try:
        yield
    finally:
        _UNTIL.reset(token)


@contextmanager
def diagnosing() -> Iterator[list[NotDecided]]:
    """Limit a search to :data:`DIAGNOSIS` seconds; append the error to the list, or raise it if the limit is outer."""
    undecided: list[NotDecided] = []
    try:
        with within(DIAGNOSIS):
            yield undecided
    except NotDecided as error:
        check_time()
        undecided.append(error)


def seconds_left() -> float:
    """Return the remaining seconds, 0 or more; infinity without a limit."""
    return max(_UNTIL.get()[0] - time.perf_counter(), 0.0)


def check_time() -> None:
    """Raise NotDecided if the time limit has been reached."""
    if seconds_left() <= 0:
        raise NotDecided(f"not decided in {_UNTIL.get()[1]:.3g} seconds; increase time_limit, or ask for less")


def check_step() -> None:
    """Raise NotDecided between two steps of a solve, such as those of presolve, if the limit was exceeded by GRACE."""
    until, seconds = _UNTIL.get()
    if time.perf_counter() > until + max(GRACE * seconds, LEAST_GRACE):
        raise NotDecided(
            f"the model was not presolved and certified in {seconds:.3g} seconds; increase time_limit, or use a "
            "smaller model"
        )


@dataclass(frozen=True)
class Iteration:
    """One iteration of a solver, the argument of ``model.solve(callback=...)``; a row of ``Posterior.log`` has more.

    Attributes
    ----------
    iteration : int
        Its number; 0 is the starting point.
    residual : float
        The largest violation of a row, in records.
    gap : float
        The complementarity gap of the inequalities, in records; NaN if the solver does not report it.
    dual : float
        The dual function of the problem that the solver is given, in nats of all records. It differs from N H, at the
        solution, by a constant, because presolve decides some terms.
    seconds : float
        Seconds since the start of the solve.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> release = mx.Release.from_buckets(mx.datasets.load_hospital(), qi="Gender", sa="Disease", bucket="Bucket")
    >>> model = mx.MaxEnt(release).add("P(Flu | Gender=male) = 0.4")
    >>> iterations = []
    >>> post = model.solve(callback=iterations.append)
    >>> len(iterations) == post.iterations + 1, iterations[-1].residual < 1e-6
    (True, True)
    """

    iteration: int
    residual: float
    gap: float
    dual: float
    seconds: float


#: Columns of the printed log: heading, key in a line of the log, width, format. Residuals and gaps are in records, the
#: dual value in nats of all records.
COLUMNS: tuple[tuple[str, str, int, str], ...] = (
    ("iter", "iteration", 6, ""),
    ("residual", "residual", 10, ".2e"),
    ("gap", "gap", 10, ".2e"),
    ("dual value", "dual", 18, ".9e"),
    ("zeros", "dropped", 8, ""),
    ("seconds", "seconds", 9, ".2f"),
)


#: A user-defined function that is called once per iteration; if it returns True, the solve stops.
Callback = Callable[[Iteration], bool | None]


class Monitor:
    """Reports the iterations of solvers, and decides when they must stop.

    A `callback` that returns True stops the solve as if the `time_limit`, in seconds from now on, had been reached.
    `clock`, which returns seconds, and `write`, which prints a line, are for tests.
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
        self.told: list[dict[str, Any]] | None = None  # the lines, if this monitor keeps them
        # Monitors of subtasks share this state with the monitor of the solve.
        self._root, self._stopped_by, self._under_header = self, "", False

    @property
    def seconds(self) -> float:
        """Seconds since the start of the solve."""
        return self.clock() - self.begun

    @property
    def seconds_left(self) -> float:
        """Remaining seconds, 0 or more; infinity without a limit."""
        return math.inf if math.isinf(self.time_limit) else max(self.time_limit - self.seconds, 0.0)

    @property
    def stopped(self) -> str:
        """The reason why the solve must stop, as text; empty if it continues."""
        if not self._root._stopped_by and self.seconds_left <= 0:
            self._root._stopped_by = f"by its time limit of {self.time_limit:.6g} seconds"
        return self._root._stopped_by

    def tell(self, line: Mapping[str, Any]) -> bool:
        """Print a line of the log and call the callback; return whether the solver must stop.

        The line has "iteration", "residual", "seconds" and further values of the solver, named as in ``Posterior.log``.
        """
        if self.told is not None:
            self.told.append(dict(line))
        # Methods with thousands of iterations print only a few dozen lines.
        every = 10 ** int(1 + math.log10(max(line["iteration"] / FIRST, 0.1)))
        is_due = line["iteration"] % every == 0
        if is_due:
            self.show(line)
        if self.callback is not None:
            numbers = {name: float(line.get(name, math.nan)) for name in ("residual", "gap", "dual", "seconds")}
            number = int(line["iteration"])
            stop = self.callback(Iteration(number, **numbers))
            if stop is not None and not isinstance(stop, bool | np.bool_):
                raise StatementError(f"callback must return True, to stop the solve, or None; got {short_repr(stop)}")
            if stop and not self._root._stopped_by:
                self._root._stopped_by = f"by its callback, in iteration {number}"
        return bool(self.stopped)

    def quietly(self) -> Monitor:
        """Return a monitor for subtasks, with the same time limit and without reports."""
        child = copy(self)
        child.verbose, child.callback = False, None
        return child

    def say(self, text: str) -> None:
        """Print a remark between the lines of the log."""
        if self.verbose:
            self.write(text)
            self._root._under_header = False

    def show(self, line: Mapping[str, Any]) -> None:
        """Print a line of the log in columns, with "-" for missing values, followed by the status."""
        if not self.verbose:
            return
        if not self._root._under_header:
            self.write("".join(f"{heading:>{width}}" for heading, _, width, _ in COLUMNS))
            self._root._under_header = True
        text = ""
        for _, name, width, form in COLUMNS:
            value = line.get(name)
            text += f"{'-' if value is None or value != value else format(value, form):>{width}}"
        self.write(text + (f"  {line['status']}" if "status" in line else ""))

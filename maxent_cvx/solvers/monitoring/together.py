"""Iterations of several parts of a problem, one of each at a time: one line of the log is one iteration of all."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..answer import Answer
from .monitor import Monitor

__all__ = ["Steps", "solved_together"]

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

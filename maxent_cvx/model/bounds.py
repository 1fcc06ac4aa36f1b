"""Bounds of a probability: its least and largest value over every distribution that satisfies the rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np

from ..errors import Infeasible
from ..solvers.diagnosis.failure import contradiction
from ..solvers.linear.bounds import linear_bounds
from ..solvers.linear.integer import integer_bounds
from ..solvers.linear.integrality import settle_integers
from ..solvers.presolve.reduce import remaining
from ..solvers.presolve.reduced import Reduced
from ..solvers.program.linear_form import LinearForm
from ..solvers.program.problem import Problem
from ..solvers.solving.presolving import presolved
from ..sources import Probability
from ..system.progress import progress_bar
from .adversary import Adversary
from .alternatives import has_alternatives, over_alternatives

__all__ = ["bounds_of", "without_knowledge"]

#: The least and the largest value of a linear expression of the counts, over all counts that satisfy some rows.
Program = Callable[[LinearForm, np.ndarray], tuple[float, float]]


def bounds_of(
    combinations: Sequence[Probability], model: Adversary, integer: bool, time_limit: float, progress: bool | None
) -> list[tuple[float, float]]:
    """Find the least and the largest value of linear combinations of probabilities.

    Parameters
    ----------
    combinations : sequence of Probability
    model : Adversary
        Of linear knowledge only.
    integer : bool
        Over integer counts only: every record has exactly one value.
    time_limit : float
        Seconds for each integer program.
    progress : bool or None
        Whether to show a progress bar.

    Raises
    ------
    Infeasible
        If the rows are infeasible, with an irreducible infeasible subsystem (IIS).
    """

    def integer_program(form: LinearForm, weight: np.ndarray) -> tuple[float, float]:
        return integer_bounds(form, weight, time_limit)

    if integer and has_alternatives(model):
        ends = over_alternatives(
            model, lambda one: np.array(bounds_of(combinations, one, integer, time_limit, progress)).reshape(-1, 2).T
        )
        return [(low, high) for low, high in ends.T.tolist()]
    problem = model.posed.hard  # soft rows do not say what is possible
    reduced = presolved(problem)
    try:
        reduced = settle_integers(reduced) if integer else reduced
        program = integer_program if integer else linear_bounds
        return list(_intervals(progress_bar(combinations, "bounds", progress), model, problem, reduced, program))
    except Infeasible as error:
        raise contradiction(problem) or error from None


def without_knowledge(problem: Problem, reduced: Reduced) -> np.ndarray:
    """Mark the terms of buckets that only published rows involve, and whose answer to these has a closed form.

    Parameters
    ----------
    problem : Problem
    reduced : Reduced
        What presolve has made of it; where it has fixed a term, rows of knowledge act on the bucket.

    Returns
    -------
    ndarray of bool, one a term
    """
    bucket = problem.form.bucket[1]
    involved = problem.form.known.touched | reduced.fixed | np.isnan(problem.closed_form.counts)
    return (np.bincount(bucket, involved) == 0)[bucket]


def _intervals(
    combinations: Iterable[Probability], model: Adversary, problem: Problem, reduced: Reduced, program: Program
) -> Iterator[tuple[float, float]]:
    """Bound each combination: in closed form without knowledge, elsewhere by a program over the components involved."""
    space, form, fixed = model.space, problem.form, reduced.fixed
    fixed_counts = np.where(fixed, reduced.counts, 0.0)
    component = form.components(~fixed)[1]
    in_closed_form = without_knowledge(problem, reduced)
    for combination in combinations:
        rows = [(coefficient, event.row(space)) for event, coefficient in combination.terms.items()]
        weight = np.zeros(len(space))
        for coefficient, row in rows:
            weight[row.indices] += coefficient * row.data / space.n_records
        low = high = combination.constant + float(weight @ fixed_counts)
        free = ~fixed & np.isin(component, component[weight != 0])
        # One coefficient, which a mean has not, and in every bucket a rectangle of QI tuples and values.
        if len(rows) == 1 and len(np.unique(rows[0][1].data)) == 1:
            at = np.flatnonzero(free & in_closed_form & (weight != 0))
            ends = weight[at[:1]].sum() * np.array(model.invariants.closed_bounds(space, at) if len(at) else (0.0, 0.0))
            low, high = low + ends.min(), high + ends.max()
            free &= ~in_closed_form
        if free.any():
            rest = remaining(form, free, form.rows_involving(free), form.matvec(fixed_counts))
            least, most = program(rest, weight[free])
            low, high = low + least, high + most
        # A probability is between 0 and 1: roundoff must not lead outside of what is attainable at all.
        low, high = np.clip((low, high), *combination.attainable())
        yield float(low), float(high)

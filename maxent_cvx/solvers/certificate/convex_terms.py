"""Convex constraints in the certificate: what they add to the gap, and which components they join."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from ..parameters.tolerances import CONVEX_CONSTRAINTS
from .allowance import Allowance
from .group_gaps import GroupGaps

__all__ = ["ConvexTerms", "Excess", "Point"]


class Excess(NamedTuple):
    """By how much a point violates a convex constraint that cuts stand for.

    Attributes
    ----------
    rows : ndarray of int
        The cuts.
    terms : ndarray of bool, one a term
        What the constraint is about.
    violation : float
        In the unit of the constraint.
    backward : float
        The violation, relative.
    """

    rows: np.ndarray
    terms: np.ndarray
    violation: float
    backward: float


class Point(NamedTuple):
    """The point x'' that satisfies the rows, as far as it is known.

    Attributes
    ----------
    near : ndarray, one a term
        Counts, records.
    off : ndarray, one a term
        A bound on the distance of each from x''.
    is_exact : ndarray of bool, one a row
        Which rows x'' satisfies exactly, of the soft ones too.
    """

    near: np.ndarray
    off: np.ndarray
    is_exact: np.ndarray


class ConvexTerms(NamedTuple):
    """All convex constraints of a problem.

    Attributes
    ----------
    allowances : sequence of Allowance
        Those whose Lagrangian the soft rows of the form are.
    exceeded : callable, optional
        From a point to how it violates each of the others.
    temperature : float
        The objective of the form, times this, is that of the problem.
    """

    allowances: Sequence[Allowance] = ()
    exceeded: Callable[[np.ndarray], list[Excess]] | None = None
    temperature: float = 1.0

    def charge(
        self,
        point: Point,
        price: np.ndarray,
        slack: np.ndarray,
        distance: np.ndarray,
        gaps: GroupGaps,
        *,
        is_movable: bool,
    ) -> tuple[GroupGaps, float]:
        """Add to the summands of the gap what the constraints add; return the components, and what is moved.

        Parameters
        ----------
        point : Point
        price : ndarray, one a row
            The absolute values of the multipliers, nats per unit of what the row was made of.
        slack, distance : ndarray, one a row and one a term
            The summands of the gap, records; they are changed in place.
        gaps : GroupGaps
            The components that rows join.
        is_movable : bool
            See :meth:`.Allowance.left`.

        Returns
        -------
        GroupGaps, float
            The float is the largest relative amount by which a constraint is moved.
        """
        near, off, is_exact = point
        backward, together = 0.0, []
        for one in self.exceeded(near) if self.exceeded else ():
            # The cuts are those of a constraint that is relaxed by as much as x'' violates it.
            slack[one.rows] += price[one.rows] * one.violation
            backward = max(backward, one.backward, CONVEX_CONSTRAINTS.backward)
            together.append(one.terms)
        for allowance in (one for one in self.allowances if one.multiplier > 0):
            left, beyond = allowance.left(near, off, allowance.met(is_exact), is_movable=is_movable)
            distance[np.flatnonzero(allowance.terms)[0]] += left
            backward = max(backward, beyond)
            together.append(allowance.terms)
        gaps = gaps.joined(together)
        for allowance in (one for one in self.allowances if one.multiplier == 0):
            met, reach = allowance.met(is_exact), gaps.reach(slack, distance)
            if allowance.left(near, off + reach, met, is_movable=False)[1] > 0:
                backward = max(backward, allowance.left(near, off, met, is_movable=False)[1])
                gaps = gaps.joined([allowance.terms])
        return gaps, backward

"""One partition of a problem: the terms and published rows of some buckets, and its share of the rows of knowledge."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..certificate.existence_proofs.correction import ExactRows
from ..program.linear_form import LinearForm
from ..program.problem import ClosedForm, Groups
from ..rows.sized import Sized

__all__ = ["Part"]


@dataclass(frozen=True, eq=False)
class Part(Sized):
    """The terms of one partition.

    Published rows are about its terms only. All partitions have the same rows of knowledge, in the same order, with the
    coefficients of their own terms: A x is the sum over partitions. Their sides are those of the whole.

    Attributes
    ----------
    form : LinearForm
        Published equations first, then all rows of knowledge.
    closed_form : ClosedForm
        The answer where nothing is known but what is published, by its own terms and published rows.
    groups : Groups
        The QI tuples of its own terms, with their records in the whole.
    q_numbers : ndarray of int
        The number in the whole of each of these.
    exact : ExactRows, optional
        The rows of knowledge as they were typed.
    """

    form: LinearForm
    closed_form: ClosedForm
    groups: Groups
    q_numbers: np.ndarray
    exact: ExactRows | None = None

"""The zeros of a prior, which are zeros of the posterior."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from ...terms.rows import Rows
from ...terms.space import Space
from ..base import Source

__all__ = ["PriorZeros"]


class PriorZeros(Source):
    """P(signature, x) = 0 for every value x whose prior probability p(signature : x) is 0.

    The other entries of a prior are no rows: they are what the distribution is compared with.

    Parameters
    ----------
    attributes : tuple of str
        The prior's attribute set.

    Notes
    -----
    Probabilistic Inference Protection, Definition 2. A posterior with a finite divergence from the prior is 0 there.
    """

    def __init__(self, attributes: tuple[str, ...]) -> None:
        self.attributes = attributes

    @property
    def label(self) -> str:
        """The name of this source in every model with a prior that rules something out."""
        return "prior"

    def rows(self, space: Space) -> Iterator[Rows]:
        """Emit a row a signature and value."""
        if space.prior is None or space.prior.all():
            return
        values = space.marginal([*self.attributes, "s"])
        first = values.matrix.indices[values.matrix.indptr[:-1]]  # all terms of a row have the same prior
        zeros = (values == 0.0).at(np.flatnonzero(space.prior[first] == 0))
        yield replace(zeros, remedy="change the prior, which holds that to be impossible (as with smoothing=...)")

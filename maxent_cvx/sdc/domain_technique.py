"""What the techniques of this package have in common: how a publication is read by somebody who knows a person."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from ..views import QITable
from .known import Known
from .published import Published, expected

__all__ = ["DomainTechnique"]


class DomainTechnique:
    """A technique that infers P(d_i | published, known) of every value d_i of the confidential attribute's domain."""

    #: What `publish` returns, and `infer` reads.
    _published_as: ClassVar[type[Published]]

    def infer(
        self, published: Published, known: Mapping[str, object] | None, population: pd.DataFrame | QITable
    ) -> pd.Series:
        """P(value | published, known), probabilities, by value; see :class:`maxent_cvx.sdc.Technique`.

        Parameters
        ----------
        published : Published
            What `publish` of the same technique returned.
        known : dict or None
            What the intruder knows of the person: attribute to a value, a list of values or an Interval; None is
            nothing.
        population : DataFrame or QITable
            Everybody's other attributes.

        Returns
        -------
        Series
            Probabilities, by value of the domain, in its order; they sum to 1.

        Raises
        ------
        StatementError, UnknownName
            If nobody is as described; or `published` was published by another technique.
        TableError
            If the population has other values than what was published, or cannot be the one that it is of.

        Examples
        --------
        >>> import maxent_cvx as mx, pandas as pd
        >>> people = pd.DataFrame({"Age": [37, 37, 50, 50], "Salary": [77, 80, 50, 107]})
        >>> for technique in (mx.sdc.Sampling(0.5), mx.sdc.BinomialNoise(0)):
        ...     published = technique.publish(people, confidential="Salary")
        ...     print(technique.infer(published, known={"Age": 37}, population=people[["Age"]]).to_dict())
        {50: 0.125, 77: 0.625, 80: 0.125, 107: 0.125}
        {50: 0.0, 77: 0.5, 80: 0.5, 107: 0.0}
        """
        found = expected(published, self._published_as, type(self).__name__)
        person = Known.of(known, population, found.confidential)
        return pd.Series(self._shares(found, person, population), index=found.domain, name="probability")

    def _shares(self, published: Any, person: Known, population: pd.DataFrame | QITable) -> np.ndarray:
        """The probability of every value of the domain."""
        raise NotImplementedError

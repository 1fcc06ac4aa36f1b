"""How many records are as described, of the QI tuples that the terms are of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ..errors import arguments
from .axes import level_of
from .events import tuples_described
from .terms import Terms

__all__ = ["CountedTerms"]


@dataclass(frozen=True, eq=False, repr=False)
class CountedTerms(Terms):
    """The terms of a model, and the records of their QI tuples, as described."""

    def described(self, given: Mapping[str, object] | None) -> np.ndarray:
        """Mark the QI tuples that are as described.

        Parameters
        ----------
        given : dict or None
            As in :meth:`prob`; None is everybody.

        Returns
        -------
        ndarray of bool, one a QI tuple

        Raises
        ------
        UnknownName
            For an attribute that is not a QI, or a value that was not published.
        StatementError
            If nobody in the view is as described.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> space = mx.Space.of(release)
        >>> release.quasi_identifiers[space.described({"Gender": "female"})].to_list()
        [('female', 'college'), ('female', 'graduate'), ('female', 'junior')]
        """
        return tuples_described(self.view, given)

    def records_described(self, given: Mapping[str, object] | None) -> int:
        """Count the records that are as described, n(given).

        Parameters
        ----------
        given : dict or None
            As in :meth:`prob`; None is everybody.

        Returns
        -------
        int

        Raises
        ------
        UnknownName, StatementError
            As in :meth:`described`.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> mx.Space.of(release).records_described({"Gender": "female"})
        4
        """
        return self._described(given)[1]

    def records_by(self, attribute: str, given: Mapping[str, object] | None = None) -> np.ndarray:
        """Count the records that are as described by their value of a QI attribute, n(given, value).

        Parameters
        ----------
        attribute : str
            A QI attribute.
        given : dict, optional
            As in :meth:`prob`; None is everybody.

        Returns
        -------
        ndarray of int
            One a value, in the order of the attribute's level of ``view.quasi_identifiers``.

        Raises
        ------
        UnknownName, StatementError
            If the attribute is no QI attribute, and as in :meth:`described`.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> mx.Space.of(release).records_by("Degree", {"Gender": "female"}).tolist()    # college, graduate, ...
        [2, 1, 0, 1]
        """
        arguments.known_label(attribute, f"quasi-identifier of the {self.view.noun}", self.view.qi)
        codes, values = level_of(self.view.axes["q"][1], self.view.qi.index(attribute))
        here = self.described(given)
        return np.bincount(codes[here], self._records_of_tuples()[here], len(values)).astype(np.int64)

    def _described(self, given: Mapping[str, object] | None) -> tuple[np.ndarray, int]:
        """Mark the QI tuples that are as described, and count their records."""
        those = self.described(given)
        return those, int(self._records_of_tuples()[those].sum())

    def _records_of_tuples(self) -> np.ndarray:
        """Records of each QI tuple."""
        return self.view.n_q

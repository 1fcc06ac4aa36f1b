"""The protocol of statistical disclosure control: what is published, and what an intruder makes of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable

import pandas as pd

from ..views import QITable

__all__ = ["Technique"]


@runtime_checkable
class Technique(Protocol):
    """publish() says what is disclosed, infer() what an intruder concludes; any class with both is a technique.

    Notes
    -----
    :func:`maxent_cvx.testing.check_technique` checks the one that you write; :func:`maxent_cvx.sdc.experiment` makes
    techniques as ``YourTechnique(strength, seed=seed)``.

    Examples
    --------
    >>> import maxent_cvx as mx, pandas as pd
    >>> class Everything:
    ...     "p_i = f_i / |Mo|: the whole table is published."
    ...     def publish(self, table, confidential):
    ...         return table, confidential
    ...     def infer(self, published, known, population):
    ...         table, confidential = published
    ...         like = table.loc[(table[list(known)] == pd.Series(known)).all(axis=1), confidential]
    ...         return like.value_counts(normalize=True).sort_index()
    >>> everything = Everything()
    >>> people = pd.DataFrame({"Age": [37, 37, 50, 50], "Salary": [77, 80, 50, 107]})
    >>> isinstance(everything, mx.sdc.Technique)
    True
    >>> everything.infer(everything.publish(people, "Salary"), {"Age": 37}, people[["Age"]]).to_dict()
    {77: 0.5, 80: 0.5}
    """

    def publish(self, table: pd.DataFrame, confidential: str) -> Any:
        """Disclose what this technique discloses of the table; the same each time.

        Parameters
        ----------
        table : DataFrame
            One row a person; all columns are published.
        confidential : str
            The confidential attribute.

        Returns
        -------
        object
            Whatever :meth:`infer` reads; a :class:`Published` of the techniques of this package.
        """

    def infer(self, published: Any, known: Mapping[str, object], population: pd.DataFrame | QITable) -> pd.Series:
        """P(confidential value | published, known), by value; a value that is left out has none.

        Parameters
        ----------
        published : object
            What :meth:`publish` returned.
        known : dict
            Supplementary knowledge (SK) of one person: attribute to a value, a list of values or an Interval.
        population : DataFrame or QITable
            Everybody's other attributes, which the intruder has too: ``|Mo|``, how many are as the person is, is known.

        Returns
        -------
        Series
            Probabilities, none negative, that sum to 1, by value of the confidential attribute.
        """

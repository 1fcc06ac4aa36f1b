"""Sampling: publish some records only."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pandas as pd

from ..errors import BadProbability, TableError, number, whole
from ..views import QITable
from .domain_technique import DomainTechnique
from .domains import check_confidential, domain_of
from .known import Known
from .published import Published
from .random_streams import draws

__all__ = ["Sample", "Sampling"]


@dataclass(frozen=True, eq=False, repr=False)
class Sample(Published):
    """The records that were drawn, in no order, with all attributes.

    Attributes
    ----------
    table, confidential, domain : DataFrame, str, Index
        As of every :class:`~maxent_cvx.sdc.Published`.

    Examples
    --------
    >>> import maxent_cvx as mx, pandas as pd
    >>> people = pd.DataFrame({"Age": [37, 37, 50, 50], "Salary": [77, 80, 50, 107]})
    >>> print(mx.sdc.Sampling(0.5).publish(people, confidential="Salary").table)
       Age  Salary
    0   50     107
    1   37      77
    """


@dataclass(frozen=True)
class Sampling(DomainTechnique):
    """``p_i = f_i / |Mo| + (|Mo| - |Ms|) / (|Mo| |D|)``: in the sample, or not, and then anything is equally likely.

    Parameters
    ----------
    factor : float
        The share of the records that is published, drawn at random without replacement; their number is rounded, in
        the middle of two to the even one.
    seed : int
        With one seed, a smaller sample is part of a larger one.

    Raises
    ------
    BadProbability, StatementError
        If the factor is no share above 0, or the seed no integer.
    TableError
        From `infer`: if more people of the sample than of the population are as described.

    Notes
    -----
    CAE, section 5 and "Details of experiments": Mo are the records of the population that match what is known, Ms
    those of the sample, f_i how many of them have the value d_i of the domain D. The printed formula multiplies by
    ``|D|``, which gives no probabilities.

    Examples
    --------
    >>> import maxent_cvx as mx, pandas as pd
    >>> people = pd.DataFrame({"Age": [37, 37, 50, 50], "Salary": [77, 80, 50, 107]})
    >>> technique = mx.sdc.Sampling(0.5)
    >>> sample = technique.publish(people, confidential="Salary")
    >>> technique.infer(sample, known={"Age": 37}, population=people[["Age"]]).to_dict()
    {50: 0.125, 77: 0.625, 80: 0.125, 107: 0.125}
    """

    factor: float
    seed: int = 0

    _published_as = Sample

    def __post_init__(self) -> None:
        if not 0 < number(self.factor, "factor") <= 1:
            raise BadProbability(f"factor={self.factor!r}: a share of the records is expected, above 0 and at most 1")
        whole(self.seed, "seed", 0)

    def publish(self, table: pd.DataFrame, confidential: str) -> Sample:
        """Draw the sample.

        Parameters
        ----------
        table : DataFrame
            One row a person; all columns are published.
        confidential : str
            The confidential attribute.

        Returns
        -------
        Sample
            The records that were drawn.

        Raises
        ------
        TableError, UnknownName
            If the table lacks the attribute, misses values, or is too small for a sample of one.
        StatementError
            If `confidential` is not the name of one column.

        Examples
        --------
        >>> import maxent_cvx as mx, pandas as pd
        >>> people = pd.DataFrame({"Age": [37, 37, 50, 50], "Salary": [77, 80, 50, 107]})
        >>> mx.sdc.Sampling(0.5).publish(people, confidential="Salary")
        <Sample: 2 rows; 'Salary' is confidential, one of 4 values>
        """
        check_confidential(table, confidential)
        size = round(Fraction(f"{float(self.factor):.15g}") * len(table))  # as it was written: 0.575 is no less
        if not size:
            raise TableError(f"factor={self.factor:g} of {len(table)} records is none; take a larger factor")
        drawn = draws("Sampling", self.seed).permutation(len(table))[:size]
        return Sample(table.iloc[drawn].reset_index(drop=True), confidential, domain_of(table[confidential]))

    def _shares(self, published: Sample, person: Known, population: pd.DataFrame | QITable) -> np.ndarray:
        """Those of the sample who match, and those outside it, of whom anything is equally likely."""
        table, domain = published.table, published.domain
        matching = table.loc[person.matches(table, "the sample"), published.confidential]
        in_all, in_sample = person.people, len(matching)
        if in_sample > in_all:
            raise TableError(
                f"{in_sample} of the sample and {in_all} of the population match what is known; "
                "pass the population that the sample was drawn from"
            )
        frequency = np.bincount(domain.get_indexer(matching), minlength=len(domain))
        return np.asarray(frequency / in_all + (in_all - in_sample) / (in_all * len(domain)))

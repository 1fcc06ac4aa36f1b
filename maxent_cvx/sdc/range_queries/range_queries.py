"""Query restriction: sums of at least so many records are answered, and nothing else."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from ...errors import Inaccurate, StatementError, TableError, amount, shown, whole
from ...tables.coding import ranges
from ...tables.numbers import as_numbers
from ...views import QITable
from ..domain_technique import DomainTechnique
from ..domains import check_confidential, numeric_domain
from ..known import Known
from ..random_streams import draws
from .range_sums import RangeSums

__all__ = ["RangeQueries"]

DISTRIBUTIONS = ("uniform", "maxent")
#: Sums up to here are exact in floating point.
EXACT = 2**53


@dataclass(frozen=True)
class RangeQueries(DomainTechnique):
    """``p_i = sum over r of Mo of [L_r <= d_i <= U_r] / (|Mo| |{d in D: L_r <= d <= U_r}|)``, from sums of Q records.

    Parameters
    ----------
    size : int
        Q = 2l, even: each query sums so many records of the shuffled table, and shares half with the one before; there
        are floor(2 n / Q) - 1, linearly independent.
    seed : int
        Of the shuffling.
    distribution : {"uniform", "maxent"}
        What is inferred from the equations: bounds L and U of every record, and all values of the domain in between
        equally likely, as in the paper; or the distribution of maximum entropy over them whose means are the equations.

    Raises
    ------
    StatementError
        If an argument is out of range.
    TableError, Inaccurate, GroupTooLarge
        From `infer`: if the population is not labelled as the records were; if rounding leaves a record without a value
        between its bounds; with ``distribution="maxent"``, if there are too many blocks and values.

    Notes
    -----
    CAE, section 5 and its algorithm 2. That algorithm has 1 / (U - L + 1) for the probability, which is right where
    the domain is consecutive integers. Which records a query sums is known to whoever asks it: so the
    population is a DataFrame, with the labels that the same people have in the table; a QITable, which has none, will
    do where everybody matches. Maximum entropy is found by Newton's method in one dimension, as all sums of half
    windows follow from the first.

    Examples
    --------
    >>> import maxent_cvx as mx, pandas as pd
    >>> people = pd.DataFrame({"Age": [37, 37, 50, 50], "Salary": [80, 80, 50, 110]})
    >>> technique = mx.sdc.RangeQueries(size=2)
    >>> answers = technique.publish(people, confidential="Salary")
    >>> answers.table["sum"].tolist()
    [130, 160, 190]
    >>> technique.infer(answers, known={"Age": 37}, population=people[["Age"]]).to_dict()
    {50: 0.25, 80: 0.5, 110: 0.25}
    """

    size: int
    seed: int = 0
    distribution: str = "uniform"

    _published_as = RangeSums

    def __post_init__(self) -> None:
        if whole(self.size, "size", 2) % 2:
            raise StatementError(f"size={self.size}: an even number of records is expected, half of which overlap")
        whole(self.seed, "seed", 0)
        if not isinstance(self.distribution, str) or self.distribution not in DISTRIBUTIONS:
            raise StatementError(
                f"distribution={shown(self.distribution)}: one of {', '.join(DISTRIBUTIONS)} is expected"
            )

    def publish(self, table: pd.DataFrame, confidential: str) -> RangeSums:
        """Shuffle the records, and answer all queries.

        Parameters
        ----------
        table : DataFrame
            One row a person; all columns are published.
        confidential : str
            The confidential attribute, a number.

        Returns
        -------
        RangeSums
            The answers, and the labels of the records in the order in which queries sum them.

        Raises
        ------
        TableError, UnknownName
            If the table lacks the attribute, misses values, holds no numbers, has fewer records than a query, or two of
            one label.
        StatementError
            If `confidential` is not the name of one column.

        Examples
        --------
        >>> import maxent_cvx as mx, pandas as pd
        >>> people = pd.DataFrame({"Age": [37, 37, 50, 50], "Salary": [80, 80, 50, 110]})
        >>> answers = mx.sdc.RangeQueries(size=2).publish(people, confidential="Salary")
        >>> print(answers.table)
               first  last  sum
        query
        1          0     1  130
        2          1     2  160
        3          2     3  190
        """
        check_confidential(table, confidential)
        domain = numeric_domain(table[confidential])
        if table.index.has_duplicates:
            raise TableError("two records have one label, and queries name records; reset the index")
        if (largest := float(np.abs(domain.to_numpy(dtype=float)).max())) * self.size > EXACT:
            raise TableError(
                f"column {confidential!r} has values up to {largest:g}, whose sums are not exact; round them"
            )
        half, blocks = self.size // 2, 2 * len(table) // self.size
        if blocks < 2:
            raise TableError(f"{len(table)} records are fewer than the {self.size} of a query; take a smaller size")
        order = draws("RangeQueries", self.seed).permutation(len(table))
        values = as_numbers(table[confidential].iloc[order[: blocks * half]], confidential)
        of_block = values.reshape(blocks, half).sum(axis=1)
        first = half * np.arange(blocks - 1)
        answers = pd.DataFrame(
            {"first": first, "last": first + self.size - 1, "sum": of_block[:-1] + of_block[1:]},
            index=pd.RangeIndex(1, blocks, name="query"),
        )
        return RangeSums(answers, confidential, domain, table.index[order], self.size)

    def _shares(self, published: RangeSums, person: Known, population: pd.DataFrame | QITable) -> np.ndarray:
        """The mean over the records that match."""
        if isinstance(population, QITable) and not person.matching.all():
            raise TableError(
                "which records a query sums is told by their labels, and a QITable has none; pass a DataFrame"
            )
        everybody = population.index if isinstance(population, pd.DataFrame) else published.order
        matching = everybody[person.matching] if isinstance(population, pd.DataFrame) else everybody
        at = published.order.get_indexer(matching)
        if (at < 0).any() or len(everybody) != len(published.order) or everybody.has_duplicates:
            raise TableError(
                f"the population of {len(everybody)} is not labelled as the {len(published.order)} records were; pass "
                "the other attributes of the same table, with its index"
            )
        return self._uniform(published, at) if self.distribution == "uniform" else self._maxent(published, at)

    def _uniform(self, answers: RangeSums, at: np.ndarray) -> np.ndarray:
        """Every value between a record's bounds, equally likely."""
        domain = answers.domain.to_numpy(dtype=float)
        low, high = answers.bounds.to_numpy()[at].T
        first = np.searchsorted(domain, low - answers.slack)
        end = np.searchsorted(domain, high + answers.slack, side="right")
        if (end <= first).any():
            n = int((end <= first).sum())
            raise Inaccurate(f"{amount(n, 'record has', 'records have')} no value of the domain between the bounds")
        alike, records = np.unique(first * (len(domain) + 1) + end, return_counts=True)
        first, end = np.divmod(alike, len(domain) + 1)
        share = np.repeat(records / (end - first) / len(at), end - first)
        return np.bincount(ranges(first, end - first), share, len(domain))

    def _maxent(self, answers: RangeSums, at: np.ndarray) -> np.ndarray:
        """The mean over records of what maximum entropy says of their blocks; of those in none, anything."""
        block, p = answers.block[at], answers.maxent.to_numpy()
        records = np.bincount(block[block >= 0], minlength=len(p))
        return (records @ p + (block < 0).sum() / len(answers.domain)) / len(at)

"""What a reconstruction found: the records that tables leave possible, and those that are certain."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import pandas as pd
from scipy.special import gammaln

from ...errors import TableError, amount
from ...plots.likeliest_values import likeliest_values
from ...tables.columns import check_columns
from ..judgement import Judgement, judged
from ..result import AttackResult
from .independent import Independent
from .search import Found

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Reconstruction", "reconstruction_of"]


@dataclass(frozen=True, eq=False, repr=False)
class Reconstruction(AttackResult):
    """P(k people have a record): over all assignments of records to people that the tables leave possible.

    A solution is a multiset of records. Assignments are worlds as in :mod:`maxent_cvx.worlds`: which person has which
    record. All are taken to be equally likely, so that a solution of n_1, n_2, ... people weighs N! / (n_1! n_2! ...).

    Attributes
    ----------
    table : DataFrame
        P(k people have the record), a row for each record of any solution that is listed, a column for each k.
    baseline : DataFrame
        The same if the shares of each attribute's values in the solutions were known and nothing else; the last column
        is of k people or more.
    records : Series
        How many people have the record, on average.
    error : float
        0 if the solutions are complete, and 1 otherwise: probabilities are of those that are listed.
    solutions : list of DataFrame
        The records of each, a row a person.
    complete : bool
        Whether there are no others.
    certain : DataFrame
        The records that are in every solution, listed or not, a row a person; empty if that was not decided.
    decided : bool
        Whether it was decided, in the time that there was, what is certain.
    stopped : str
        The limit that ended the search, "limit=10" or "time_limit=60"; empty if the solutions are complete.

    Examples
    --------
    Three people of mean age 20 and median age 21, of whom all women, two or three, are 21:

    >>> import maxent_cvx as mx
    >>> from maxent_cvx.attacks import Statistic
    >>> tables = [Statistic({}, 3, mean=20, median=21), Statistic({"sex": "F"}, (2, 3), mean=21),
    ...           Statistic({"sex": "F", "age": [21]}, (2, 3))]
    >>> found = mx.attacks.reconstruct(tables, domain={"age": range(18, 23), "sex": ["F", "M"]})
    >>> print(found)
    reconstruction of 3 people: 1 solution, and no other: the records are unique
    >>> print(found.certain)
       age sex
    0   18   M
    1   21   F
    2   21   F
    """

    solutions: list[pd.DataFrame]
    complete: bool
    certain: pd.DataFrame
    decided: bool
    _independent: Independent
    stopped: str = ""

    title: ClassVar[str | None] = "reconstruction"

    @property
    def unique(self) -> bool:
        """Whether there is one solution, and no other."""
        return self.complete and len(self.solutions) == 1

    @property
    def sentence(self) -> str:
        """What was found, in words."""
        sizes = sorted({len(one) for one in self.solutions})
        people = amount(sizes[0], "person", "people") if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]} people"
        listed = amount(len(self.solutions), "solution")
        if self.unique:
            return f"reconstruction of {people}: 1 solution, and no other: the records are unique"
        ending = "and no other" if self.complete else f"not complete ({self.stopped})"
        sure = f"{amount(len(self.certain), 'record')} certain" if self.decided else "not decided who is certain"
        return f"reconstruction of {people}: {listed}, {ending}; {sure}"

    def judge(self, original: pd.DataFrame) -> Judgement:
        """Compare with the original records: the share of people whose record is reconstructed.

        Of a record that r people have, k of them are reconstructed if k people have it in the solution; so `right` is
        the mean, over people, of P(at least k people have the record), for the k-th of those with it. Calibration is of
        the statements that at least k people have a record, for all records of `table`.

        Parameters
        ----------
        original : DataFrame
            The records, a row a person, with the attributes as columns.

        Returns
        -------
        Judgement
            Its `baseline` is of guesses that know how many people have each value of each attribute, and no more.

        Raises
        ------
        UnknownName
            If the records lack an attribute.
        TableError
            If they are of more or fewer people than all solutions are.

        Examples
        --------
        >>> import maxent_cvx as mx, pandas as pd
        >>> found = mx.attacks.reconstruct(
        ...     [mx.attacks.Statistic({}, 2, mean=21)], domain={"age": range(20, 23), "sex": ["F"]})
        >>> found.records.round(3).tolist()           # 20 and 22 in either order, or twice 21
        [0.667, 0.667, 0.667]
        >>> round(found.judge(pd.DataFrame({"age": [20, 22], "sex": "F"})).right, 3)
        0.667
        """
        attributes = [str(name) for name in self.table.index.names]
        check_columns(original, {"an attribute": attributes}, "the original records")
        sizes = sorted({len(one) for one in self.solutions})
        if self.complete and len(original) not in sizes:
            raise TableError(
                f"the original records are {len(original)}, and those reconstructed {sizes}; pass the table that was "
                "published"
            )
        truth = original[attributes].value_counts()
        kth = original.groupby(attributes, sort=False, observed=True).cumcount().to_numpy() + 1
        right = self._at_least(pd.MultiIndex.from_frame(original[attributes]), kth)
        without = self._independent.at_least(original, kth)
        n = len(original)
        spread = float(((right - without) ** 2).mean() - (right - without).mean() ** 2)
        ks = self.table.columns[1:]
        claims = pd.MultiIndex.from_frame(_frame(self.table.index))
        there = truth.reindex(claims, fill_value=0).to_numpy()[:, None] >= np.array(ks)[None, :]
        said = 1.0 - np.cumsum(self.table.to_numpy(), axis=1)[:, :-1]
        p, is_true = said[said > 0], there[said > 0]
        pairs, held = np.column_stack([p, 1 - p]), np.column_stack([is_true, ~is_true])
        calibration = judged(pairs, pairs, held.astype(float)).calibration
        return Judgement(float(right.mean()), float(without.mean()), math.sqrt(max(spread, 0.0) / n), n, calibration)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the share of people whose record is inferred with at least a probability, and without the attack.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; by default a new figure.

        Returns
        -------
        Axes

        Raises
        ------
        StatementError
            If `ax` is no Axes.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> from matplotlib.figure import Figure
        >>> found = mx.attacks.reconstruct(
        ...     [mx.attacks.Statistic({}, 2, mean=21)], domain={"age": range(20, 23), "sex": ["F"]})
        >>> found.plot(Figure().subplots()).get_xlabel()
        'probability of the record, at least'
        """
        ks = np.arange(1, self.table.shape[1])
        record, k = (part.ravel() for part in np.meshgrid(np.arange(len(self.table)), ks, indexing="ij"))
        index = _frame(self.table.index).iloc[record]
        p = self._at_least(pd.MultiIndex.from_frame(index), k)
        without = self._independent.at_least(index, k)
        tables = {"reconstruction": pd.DataFrame(p), "without the attack": pd.DataFrame(without)}
        ax = likeliest_values(tables, pd.Series(p), ax)
        ax.set_xlabel("probability of the record, at least")
        ax.set_ylabel("share of the people")
        return ax

    def _at_least(self, records: pd.MultiIndex, k: np.ndarray) -> np.ndarray:
        """P(k people or more have a record), one each; 0 of a record that no solution has."""
        p = self.table.to_numpy()[:, ::-1].cumsum(axis=1)[:, ::-1]
        at = pd.MultiIndex.from_frame(_frame(self.table.index)).get_indexer(records)
        inside = (at >= 0) & (k < p.shape[1])
        return np.where(inside, p[at, np.minimum(k, p.shape[1] - 1)], 0.0)


def reconstruction_of(types: pd.DataFrame, found: Found) -> Reconstruction:
    """Make tables of the people that were found, by type of record."""
    weights = _weights(found.people)
    independent = Independent.of(types, found.people, weights)
    some = np.flatnonzero(found.people.any(axis=0))
    people, records = found.people[:, some], types.iloc[some]
    index = _labels(records)
    ks = pd.RangeIndex(int(found.people.max()) + 1, name="people")
    table = np.array([weights @ (people == k) for k in ks]).T
    at_least = np.array([independent.at_least(records, np.full(len(some), k)) for k in ks]).T
    return Reconstruction(
        table=pd.DataFrame(table, index, ks),
        baseline=pd.DataFrame(at_least - np.c_[at_least[:, 1:], np.zeros(len(some))], index, ks),
        records=pd.Series(weights @ people, index, name="people"),
        error=0.0 if not found.stopped else 1.0,
        solutions=[_records(types, one) for one in found.people],
        complete=not found.stopped,
        certain=_records(types, found.certain),
        decided=found.decided,
        _independent=independent,
        stopped=found.stopped,
    )


def _weights(people: np.ndarray) -> np.ndarray:
    """The share of the assignments, N! / (n_1! n_2! ...), that each solution has."""
    logarithm = gammaln(people.sum(axis=1) + 1.0) - gammaln(people + 1.0).sum(axis=1)
    weight = np.exp(logarithm - logarithm.max())
    return np.asarray(weight / weight.sum())


def _records(types: pd.DataFrame, people: np.ndarray) -> pd.DataFrame:
    """A row a person."""
    return types.iloc[np.repeat(np.arange(len(types)), people)].reset_index(drop=True)


def _labels(records: pd.DataFrame) -> pd.Index:
    """Records as labels: of one attribute, its values."""
    if records.shape[1] == 1:
        return pd.Index(records.iloc[:, 0], name=records.columns[0])
    return pd.MultiIndex.from_frame(records)


def _frame(index: pd.Index) -> pd.DataFrame:
    return index.to_frame(index=False)

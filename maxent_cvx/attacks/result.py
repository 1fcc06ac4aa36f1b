"""What an attack infers: a table of probabilities, how exact they are, and what is inferred without the attack."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import pandas as pd

from ..display import FirstRows, Shown
from ..errors import TableError
from ..plots.likeliest_values import likeliest_values
from ..tables.coding import sort_distinct
from ..tables.columns import check_columns
from .judgement import Judgement, judged

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["AttackResult"]


@dataclass(frozen=True, eq=False, repr=False)
class AttackResult(Shown):
    """P(value | of whom), beside what is inferred without the attack.

    Attributes
    ----------
    table : DataFrame
        Probabilities, rows sum to 1: of whom (index, its levels named as columns of the original records), which value
        (columns, named as the columns of the original that hold it).
    baseline : DataFrame
        The same without the attack, or of somebody who is not in the data.
    records : Series
        How many records each row is of, counts.
    error : float or DataFrame
        What every probability is exact within, 0 if it is exact up to rounding; or, where answers are sampled, their
        standard errors.

    Examples
    --------
    >>> import maxent_cvx as mx, pandas as pd
    >>> said = pd.DataFrame({"no": [0.3, 0.9], "yes": [0.7, 0.1]}, index=pd.Index(["f", "m"], name="Sex"))
    >>> result = mx.attacks.AttackResult(
    ...     table=said, baseline=said.assign(no=0.5, yes=0.5), records=pd.Series([3, 1], index=said.index), error=0.0)
    >>> print(result)
    AttackResult of 4 records: the likeliest value has a probability of 0.75 on average, 0.50 without the attack
    """

    table: pd.DataFrame
    baseline: pd.DataFrame
    records: pd.Series
    error: float | pd.DataFrame

    #: What the attack is called in its sentence; None is the name of the class.
    title: ClassVar[str | None] = None

    @property
    def sentence(self) -> str:
        """What was found, in words."""
        n, name = self.records.to_numpy(), self.title or type(self).__name__
        sure, without = (float(n @ p.to_numpy().max(axis=1) / n.sum()) for p in (self.table, self.baseline))
        return (
            f"{name} of {int(n.sum())} records: the likeliest value has a probability of {sure:.2f} on average, "
            f"{without:.2f} without the attack"
        )

    def judge(self, original: pd.DataFrame) -> Judgement:
        """Compare with the original records: how often the likeliest value is the true one, P(argmax = truth).

        Parameters
        ----------
        original : DataFrame
            The records that were published, a row each, with the columns that the index and the columns of `table` are
            named after: the bucket, too, where that is part of the index.

        Returns
        -------
        Judgement

        Raises
        ------
        UnknownName
            If the records lack a column.
        TableError
            If they are not those that the attack is on: other people, other counts, or values that are not in the
            table.

        Examples
        --------
        >>> import maxent_cvx as mx, pandas as pd
        >>> people = pd.DataFrame({"Sex": ["f", "f", "f", "m"], "Flu": ["yes", "yes", "no", "no"]})
        >>> said = pd.DataFrame({"no": [0.3, 0.9], "yes": [0.7, 0.1]}, index=pd.Index(["f", "m"], name="Sex"))
        >>> said = said.rename_axis(columns="Flu")
        >>> result = mx.attacks.AttackResult(
        ...     table=said, baseline=said.assign(no=0.5, yes=0.5), records=pd.Series([3, 1], said.index), error=0.0)
        >>> result.judge(people).right
        0.75
        """
        slack = self.error if isinstance(self.error, float) else 0.0
        return judged(self.table.to_numpy(), self.baseline.to_numpy(), self._truth(original), slack)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw how many records' likeliest value has at least which probability, with the attack and without it.

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
        >>> import maxent_cvx as mx, pandas as pd
        >>> from matplotlib.figure import Figure
        >>> said = pd.DataFrame({"no": [0.3, 0.9], "yes": [0.7, 0.1]}, index=pd.Index(["f", "m"], name="Sex"))
        >>> result = mx.attacks.AttackResult(
        ...     table=said, baseline=said, records=pd.Series([3, 1], index=said.index), error=0.0)
        >>> result.plot(Figure().subplots()).get_ylabel()
        'share of the records'
        """
        tables = {self.title or type(self).__name__: self.table, "without the attack": self.baseline}
        return likeliest_values(tables, self.records, ax)

    def _truth(self, original: pd.DataFrame) -> np.ndarray:
        """How many of the original records each row and value has, shaped like the table."""
        whom, what = list(map(str, self.table.index.names)), list(map(str, self.table.columns.names))
        check_columns(original, {"of whom": whom, "what is inferred": what}, "the original records")
        where = []
        for columns, labels in ((whom, self.table.index), (what, self.table.columns)):
            code, distinct = sort_distinct(original[columns])
            found = labels.get_indexer(distinct if len(columns) > 1 else distinct.get_level_values(0))
            where.append(found[code])
        at = np.where((where[0] < 0) | (where[1] < 0), -1, where[0] * self.table.shape[1] + where[1])
        if (at < 0).any():
            raise TableError(
                f"{int((at < 0).sum())} of the {len(at)} original records are of nobody, or have a value, that the "
                "attack knows of; pass the table that was published"
            )
        truth = np.bincount(at, minlength=self.table.size).reshape(self.table.shape)
        self._check_number(truth)
        return truth

    def _check_number(self, truth: np.ndarray) -> None:
        """Refuse more or fewer records of a row than were attacked."""
        if (off := truth.sum(axis=1) != self.records.to_numpy()).any():
            raise TableError(
                f"the original records are more or fewer than those attacked in {int(off.sum())} of {len(off)} rows; "
                "pass the table that was published, with its buckets where the attack tells them apart"
            )

    def __str__(self) -> str:
        return self.sentence

    def __repr__(self) -> str:
        return f"<{self.sentence}>"

    def _tables(self) -> Iterable[FirstRows]:
        return [FirstRows(self.table, "rows")]

"""Results of attacks: a table of probabilities, their errors, and the same table without the attack."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import pandas as pd

from .._utils.errors import TableError
from .._utils.formatting import Message, ReprMixin, TablePreview
from .._utils.tables import check_columns, plain_index, sort_distinct
from ..plots.posterior import likeliest_values

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False)
class Judgement(ReprMixin):
    """Share of records whose likeliest value is the true one, with and without the attack.

    Ties count as a random guess. Standard errors assume independent people.

    Attributes
    ----------
    right : float
        P(argmax = truth) with the attack, a share of the records.
    baseline : float
        The same without the attack.
    standard_error : float
        Standard error of the difference ``right - baseline``, which is paired by person.
    records : int
    calibration : DataFrame
        By tenths of the probability of the likeliest value: the number of `records`; `said`, the mean probability;
        `right`, the share of the records with the value, which equals `said` up to its `standard_error` if the attack
        is calibrated. NaN without records.

    Examples
    --------
    >>> import maxent_cvx as mx, pandas as pd
    >>> people = pd.DataFrame({"Sex": ["f", "f", "f", "m"], "Flu": ["yes", "yes", "no", "no"]})
    >>> inferred = pd.DataFrame({"no": [0.3, 0.9], "yes": [0.7, 0.1]}, index=pd.Index(["f", "m"], name="Sex"))
    >>> result = mx.attacks.AttackResult(
    ...     table=inferred.rename_axis(columns="Flu"), baseline=inferred.assign(no=0.5, yes=0.5).rename_axis(columns="Flu"),
    ...     records=pd.Series([3, 1], index=inferred.index), error=0.0)
    >>> judgement = result.judge(people)
    >>> print(judgement)
    right for 75.0% of 4 records; without the attack 50.0% (difference 0.25, standard error 0.22)
    >>> print(judgement.calibration.loc[lambda table: table["records"] > 0].round(2))
                records  said  right  standard_error
    said
    [0.7, 0.8)        3   0.7   0.67            0.27
    [0.9, 1.0)        1   0.9   1.00            0.00
    """

    right: float
    baseline: float
    standard_error: float
    records: int
    calibration: pd.DataFrame

    def __str__(self) -> str:
        return (
            f"right for {self.right:.1%} of {self.records} records; without the attack {self.baseline:.1%} "
            f"(difference {self.right - self.baseline:.2f}, standard error {self.standard_error:.2g})"
        )

    def __repr__(self) -> str:
        return f"<Judgement: {self}>"

    def _tables(self) -> Iterable[TablePreview]:
        return [TablePreview(self.calibration[self.calibration["records"] > 0], "tenths")]


def score_attack(inferred: np.ndarray, baseline: np.ndarray, truth: np.ndarray, slack: float = 0.0) -> Judgement:
    """Score probabilities by the true counts of each row and value; those within twice the slack, and rounding, tie."""
    guess, other = _guess(inferred, slack), _guess(baseline, slack)
    n = int(truth.sum())
    right, without = float((truth * guess).sum()) / n, float((truth * other).sum()) / n
    spread = float((truth * (guess - other) ** 2).sum()) / n - (right - without) ** 2
    return Judgement(right, without, math.sqrt(max(spread, 0.0) / n), n, _calibration(inferred, guess, truth))


def places_in(labels: pd.Index, records: pd.DataFrame) -> np.ndarray:
    """Return the position of each record among labels, -1 if it is missing."""
    code, distinct = sort_distinct(records)
    return labels.get_indexer(plain_index(distinct))[code]


def _guess(p: np.ndarray, slack: float) -> np.ndarray:
    """Return the likeliest value of each row as an indicator, divided among ties."""
    likeliest = p >= p.max(axis=1, keepdims=True) - 2 * slack - ROUNDING
    return np.asarray(likeliest / likeliest.sum(axis=1, keepdims=True))


def _calibration(p: np.ndarray, guess: np.ndarray, truth: np.ndarray) -> pd.DataFrame:
    """Tabulate the share of right likeliest values by tenths of their probability."""
    largest = p.max(axis=1)
    tenth = np.minimum((largest * 10 + ROUNDING).astype(int), 9)
    weight = truth.sum(axis=1)
    records, sums, right = (
        np.bincount(tenth, weights, 10) for weights in (weight, weight * largest, (truth * guess).sum(axis=1))
    )
    with np.errstate(invalid="ignore"):
        share = right / records
        error = np.sqrt(np.maximum(share * (1 - share), 0.0) / records)
        table = {"records": records.astype(int), "said": sums / records, "right": share, "standard_error": error}
    bins = pd.IntervalIndex.from_breaks(np.arange(11) / 10, closed="left", name="said")
    return pd.DataFrame(table, index=bins)


#: Largest rounding error of a probability: closer ones tie, and 0.3 remains in the tenth that it begins. A choice.
ROUNDING = 1e-9


@dataclass(frozen=True, eq=False, repr=False)
class AttackResult(ReprMixin):
    """P(value | person or group), with and without the attack.

    Attributes
    ----------
    table : DataFrame
        Probabilities, rows sum to 1. The levels of the index and of the columns are named like the columns of the
        original records.
    baseline : DataFrame
        The same without the attack.
    records : Series
        Number of records of each row.
    error : float or DataFrame
        Bound on the error of every probability, 0 if exact up to rounding; or a table of standard errors if sampled.

    Examples
    --------
    >>> import maxent_cvx as mx, pandas as pd
    >>> inferred = pd.DataFrame({"no": [0.3, 0.9], "yes": [0.7, 0.1]}, index=pd.Index(["f", "m"], name="Sex"))
    >>> result = mx.attacks.AttackResult(
    ...     table=inferred, baseline=inferred.assign(no=0.5, yes=0.5), records=pd.Series([3, 1], index=inferred.index), error=0.0)
    >>> print(result)
    AttackResult of 4 records: the likeliest value has a probability of 0.75 on average, 0.50 without the attack
    """

    table: pd.DataFrame
    baseline: pd.DataFrame
    records: pd.Series
    error: float | pd.DataFrame

    #: The name of the attack in its sentence; None for the name of the class.
    title: ClassVar[str | None] = None
    #: Whether the original records of each row must be as many as those of the attack.
    _checks_number: ClassVar[bool] = True

    @property
    def sentence(self) -> str:
        """The result as a sentence."""
        sure, without = self._likeliest()
        return Message(
            "{name} of {n} records: the likeliest value has a probability of {sure:.2f} on average, {without:.2f} without "
            "the attack",
            name=Message(self.title or type(self).__name__),
            n=int(self.records.sum()),
            sure=sure,
            without=without,
        )

    def _likeliest(self) -> tuple[float, float]:
        """Return the mean probability of the likeliest value, with and without the attack."""
        n = self.records.to_numpy()
        sure, without = (float(n @ p.to_numpy().max(axis=1) / n.sum()) for p in (self.table, self.baseline))
        return sure, without

    def judge(self, original: pd.DataFrame) -> Judgement:
        """Compare with the original records: the share of likeliest values that are true, P(argmax = truth).

        Parameters
        ----------
        original : DataFrame
            The original records, with the columns that the index and the columns of `table` are named after, including
            the bucket if it is part of the index.

        Raises
        ------
        UnknownName
            If the records lack a column.
        TableError
            If they do not match the release: different people, counts, or values.

        Examples
        --------
        >>> import maxent_cvx as mx, pandas as pd
        >>> people = pd.DataFrame({"Sex": ["f", "f", "f", "m"], "Flu": ["yes", "yes", "no", "no"]})
        >>> inferred = pd.DataFrame({"no": [0.3, 0.9], "yes": [0.7, 0.1]}, index=pd.Index(["f", "m"], name="Sex"))
        >>> inferred = inferred.rename_axis(columns="Flu")
        >>> result = mx.attacks.AttackResult(
        ...     table=inferred, baseline=inferred.assign(no=0.5, yes=0.5), records=pd.Series([3, 1], inferred.index), error=0.0)
        >>> result.judge(people).right
        0.75
        """
        slack = self.error if isinstance(self.error, float) else 0.0
        return score_attack(self.table.to_numpy(), self.baseline.to_numpy(), self._truth(original), slack)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the share of records whose likeliest value has at least a probability, with and without the attack.

        Parameters
        ----------
        ax : Axes, optional
            The axes to draw on; by default those of a new figure.

        Returns
        -------
        Axes

        Examples
        --------
        >>> import maxent_cvx as mx, pandas as pd
        >>> from matplotlib.figure import Figure
        >>> inferred = pd.DataFrame({"no": [0.3, 0.9], "yes": [0.7, 0.1]}, index=pd.Index(["f", "m"], name="Sex"))
        >>> result = mx.attacks.AttackResult(
        ...     table=inferred, baseline=inferred, records=pd.Series([3, 1], index=inferred.index), error=0.0)
        >>> result.plot(Figure().subplots()).get_ylabel()
        'share of the records'
        """
        tables = {self.title or type(self).__name__: self.table, "without the attack": self.baseline}
        return likeliest_values(tables, self.records, ax)

    def _truth(self, original: pd.DataFrame) -> np.ndarray:
        """Count the original records of each row and value, shaped like the table."""
        person_columns, value_columns = list(map(str, self.table.index.names)), list(map(str, self.table.columns.names))
        check_columns(original, {"qi": person_columns, "sa": value_columns}, "the original records")
        row = places_in(self.table.index, original[person_columns])
        column = places_in(self.table.columns, original[value_columns])
        if (off := (row < 0) | (column < 0)).any():
            raise TableError(
                f"{int(off.sum())} of the {len(off)} original records have quasi-identifiers or values that are not in "
                "the result; pass the table that was published"
            )
        at = row * self.table.shape[1] + column
        truth = np.bincount(at, minlength=self.table.size).reshape(self.table.shape)
        if self._checks_number and (off := truth.sum(axis=1) != self.records.to_numpy()).any():
            raise TableError(
                f"the number of original records differs from that in the release in {int(off.sum())} of {len(off)} rows; "
                "pass the table that was published, with its buckets if the result has them"
            )
        return truth

    def __str__(self) -> str:
        return self.sentence

    def __repr__(self) -> str:
        return f"<{self.sentence}>"

    def _tables(self) -> Iterable[TablePreview]:
        return [TablePreview(self.table, "rows")]

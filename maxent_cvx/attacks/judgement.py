"""How often an inference is right, and whether its probabilities mean what they say."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ..display import FirstRows, Shown

__all__ = ["Judgement", "judged"]


@dataclass(frozen=True, eq=False)
class Judgement(Shown):
    """The share of records whose likeliest value is the true one, with the attack and without it.

    A tie counts as a guess among its values. Standard errors are those of a share among so many independent people.

    Attributes
    ----------
    right : float
        P(argmax = truth) of the attack, a share of the records.
    baseline : float
        The same of what is inferred without it.
    standard_error : float
        Of the difference, ``right - baseline``; the two are of the same people.
    records : int
    calibration : DataFrame
        By tenths of the probability of the likeliest value: `records`, of which it was said; `said`, its mean; `right`,
        the share of them that have the value, which is `said` up to its `standard_error` if probabilities mean what
        they say. NaN where there are no records.

    Examples
    --------
    >>> import maxent_cvx as mx, pandas as pd
    >>> people = pd.DataFrame({"Sex": ["f", "f", "f", "m"], "Flu": ["yes", "yes", "no", "no"]})
    >>> said = pd.DataFrame({"no": [0.3, 0.9], "yes": [0.7, 0.1]}, index=pd.Index(["f", "m"], name="Sex"))
    >>> result = mx.attacks.AttackResult(
    ...     table=said.rename_axis(columns="Flu"), baseline=said.assign(no=0.5, yes=0.5).rename_axis(columns="Flu"),
    ...     records=pd.Series([3, 1], index=said.index), error=0.0)
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

    def _tables(self) -> Iterable[FirstRows]:
        return [FirstRows(self.calibration[self.calibration["records"] > 0], "tenths")]


def judged(inferred: np.ndarray, baseline: np.ndarray, truth: np.ndarray, slack: float = 0.0) -> Judgement:
    """Judge probabilities by how many records of each row have each value; those within twice the slack tie."""
    guess, other = _guess(inferred, slack), _guess(baseline, slack)
    n = int(truth.sum())
    right, without = float((truth * guess).sum()) / n, float((truth * other).sum()) / n
    spread = float((truth * (guess - other) ** 2).sum()) / n - (right - without) ** 2
    return Judgement(right, without, math.sqrt(max(spread, 0.0) / n), n, _calibration(inferred, guess, truth))


def _guess(p: np.ndarray, slack: float) -> np.ndarray:
    """The likeliest value of each row, shared among those that tie."""
    likeliest = p >= p.max(axis=1, keepdims=True) - 2 * slack
    return np.asarray(likeliest / likeliest.sum(axis=1, keepdims=True))


def _calibration(p: np.ndarray, guess: np.ndarray, truth: np.ndarray) -> pd.DataFrame:
    """How many records the likeliest value is said of, and right of, by tenths of its probability."""
    said = p.max(axis=1)
    tenth = np.minimum((said * 10 + TENTH_ROUNDING).astype(int), 9)
    weight = truth.sum(axis=1)
    records, sums, right = (
        np.bincount(tenth, held, 10) for held in (weight, weight * said, (truth * guess).sum(axis=1))
    )
    with np.errstate(invalid="ignore"):
        share = right / records
        error = np.sqrt(np.maximum(share * (1 - share), 0.0) / records)
        table = {"records": records.astype(int), "said": sums / records, "right": share, "standard_error": error}
    bins = pd.IntervalIndex.from_breaks(np.arange(11) / 10, closed="left", name="said")
    return pd.DataFrame(table, index=bins)


#: What rounding may take from a probability of 0.3 and the like, tenths: it stays in the tenth that it begins.
TENTH_ROUNDING = 1e-9

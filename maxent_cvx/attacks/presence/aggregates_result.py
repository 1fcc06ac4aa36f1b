"""How well the value of people is told from published answers: of those in the data, and of others."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
import pandas as pd

from ..result import AttackResult

__all__ = ["GROUPS", "AggregatesResult"]

#: Whom a curve is of.
GROUPS = ("in the data", "not in the data")
#: Probabilities that differ by less are one threshold: solvers differ by as much.
SAME = 1e-9


@dataclass(frozen=True, eq=False, repr=False)
class AggregatesResult(AttackResult):
    """P(s | q) from published answers, and how well P(target | q) tells who has the target value.

    Attributes
    ----------
    table, baseline : DataFrame
        Probabilities, a row a QI tuple of the population, a column a value; the baseline is their mean over the data.
    records : Series
        People of each QI tuple in the data, counts.
    error : float
        How far P is from the maximum-entropy answer at most, for QI tuples in the data.
    truth : DataFrame
        People of each QI tuple with the target value (True) and without (False), in the data and not: columns of counts
        by these two.
    scores : Series
        P(target | q), by QI tuple.

    Examples
    --------
    >>> import maxent_cvx as mx, pandas as pd
    >>> people = pd.DataFrame({"Sex": list("ffmmffmm"), "Age": [30, 40, 30, 40] * 2})
    >>> people["HIV"], people["inside"] = [True, *[False] * 4, True, False, True], [True] * 4 + [False] * 4
    >>> answers = mx.AnsweredQueries([{"Sex": "f", "HIV": True}, {"Age": 30, "HIV": True}, {"HIV": True}], [1, 1, 1])
    >>> result = mx.attacks.aggregates(answers, people, target={"HIV": True}, members="inside")
    >>> print(result.auc.round(2))
                     people   auc  standard_error
    in the data           4  1.00            0.00
    not in the data       4  0.12            0.18
    """

    truth: pd.DataFrame
    scores: pd.Series

    title: ClassVar[str | None] = "answers"

    @cached_property
    def roc(self) -> pd.DataFrame:
        """The share of people without the target value, and with it, whose score reaches each threshold.

        Columns `group`, `threshold`, `false_positive`, `true_positive`; thresholds fall.
        """
        return pd.concat([self._curve(group) for group in self.groups], ignore_index=True)

    @property
    def groups(self) -> list[str]:
        """Of the people in the data, and not in the data, those groups that have people with the value and without."""
        return [group for group in GROUPS if min(self.truth[group, has].sum() for has in (False, True)) > 0]

    @cached_property
    def auc(self) -> pd.DataFrame:
        """P(score of somebody with the target value > that of somebody without), a tie counting half.

        A row a group: `people`, `auc`, and its `standard_error` (DeLong, DeLong and Clarke-Pearson, 1988).
        """
        rows = {group: self._area(group) for group in self.groups}
        return pd.DataFrame.from_dict(rows, orient="index", columns=["people", "auc", "standard_error"])

    @property
    def vulnerability(self) -> tuple[float, float]:
        """What being in the data adds to the area, with its standard error: AUC of those in it, less that of others."""
        area = self.auc["auc"].reindex(list(GROUPS))
        error = self.auc["standard_error"].reindex(list(GROUPS))
        return float(area.iloc[0] - area.iloc[1]), math.hypot(*error)

    @property
    def sentence(self) -> str:
        """What was found, in words."""
        said = [
            f"{area:.2f} (standard error {error:.2g}) of {people} people {group}"
            for group, (people, area, error) in ((group, self._area(group)) for group in self.groups)
        ]
        return f"the area under the ROC is {' and '.join(said) or 'not defined: all have the value, or nobody'}"

    def _check_number(self, truth: np.ndarray) -> None:
        """Who is judged need not be in the data."""

    def _counts(self, group: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Scores that occur, rising; people without and with the target value who have each."""
        rounded, number = np.unique(np.rint(self.scores.to_numpy() / SAME), return_inverse=True)
        held = [self.truth[group, has].to_numpy() for has in (False, True)]
        without, having = (np.bincount(number, count, len(rounded)) for count in held)
        return rounded * SAME, without, having

    def _curve(self, group: str) -> pd.DataFrame:
        """From nobody to everybody."""
        score, without, having = self._counts(group)
        some = without + having > 0
        rates = [np.concatenate([[0.0], np.cumsum(n[some][::-1]) / n.sum()]) for n in (without, having)]
        threshold = np.concatenate([[np.inf], score[some][::-1]])
        return pd.DataFrame(
            {"group": group, "threshold": threshold, "false_positive": rates[0], "true_positive": rates[1]}
        )

    def _area(self, group: str) -> tuple[int, float, float]:
        """People, area, standard error."""
        _, without, having = self._counts(group)
        n, m = without.sum(), having.sum()
        beaten = (np.cumsum(without) - without / 2) / n  # the share of people without it below each score
        beating = 1 - (np.cumsum(having) - having / 2) / m
        area = float(having @ beaten / m)
        variance = 0.0
        for count, share, size in ((having, beaten, m), (without, beating, n)):
            variance += float(count @ (share - area) ** 2) / max(size - 1, 1) / size
        return int(n + m), area, math.sqrt(variance)

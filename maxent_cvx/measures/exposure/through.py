"""Through what people are exposed: what is published alone, or some of the statements."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from ...errors import StatementError
from ...model.explain.leaving_out import by_statement, without_knowledge
from ...model.explain.solved import model_of
from ...model.posterior import Posterior
from ...sources import PriorZeros
from ..disclosure import of_those_inside
from .judge import Judge, slack_of

__all__ = ["Through"]


@dataclass(frozen=True, eq=False)
class Through:
    """The rule and the answer that it was applied to, to be applied to answers with less knowledge.

    Attributes
    ----------
    post : Posterior
    judge : Judge
    rows : DataFrame
        P(s | q) as it was judged.
    people : ndarray of int
        Of each row.
    """

    post: Posterior
    judge: Judge
    rows: pd.DataFrame
    people: np.ndarray

    @staticmethod
    def checked(through: Through | None) -> Through:
        """Say so where statements cannot be left out.

        Raises
        ------
        StatementError
            Of a release in partitions.
        """
        if through is None:
            raise StatementError(
                "of a release in partitions no statement is left out; solve the model without it, "
                "model.remove(label), and compare"
            )
        return through

    @property
    def is_known(self) -> bool:
        """Whether the posterior knows its model; one that was loaded from a file does not."""
        return self.post.model is not None

    @cached_property
    def published_alone(self) -> int:
        """How many of the exposed people are so without any knowledge."""
        return int(self.people[self._by_published].sum())

    @cached_property
    def statements(self) -> pd.DataFrame:
        """What is left without each statement, and what each one does alone."""
        found = by_statement(self.post, self._left, self._alone)
        columns = ["statement", "people", "alone", "without", "raises", "message"]
        table = pd.DataFrame(found, columns=columns).set_index("statement")
        return table.sort_values(["people", "alone", "raises"], ascending=False, kind="stable")

    def in_words(self, alone: int, people: int) -> str:
        """Say how many are exposed by what is published alone, and through how many statements the others are."""
        model = model_of(self.post)
        known = "what is published" if model.prior is None else "what is published and the prior"
        if alone == people:
            return f"They are exposed by {known} alone."
        names = [label for label, source in model.knowledge.items() if not isinstance(source, PriorZeros)]
        what = names[0] if len(names) == 1 else f"the {len(names)} statements that are known besides"
        return f"By {known} alone {alone} of them would be; the others are exposed through {what}."

    @cached_property
    def _by_published(self) -> np.ndarray:
        """Mark who is exposed, and would be without any knowledge."""
        exposed = self._exposed[2]
        return exposed & self._likewise(*self._judged(without_knowledge(self.post))) if exposed.any() else exposed

    @cached_property
    def _exposed(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The largest probability that counts, the value that has it, and who is exposed."""
        largest, which = self.judge.surest_of_all(self.rows.to_numpy())
        return largest, which, self.judge.reaches(largest)

    def _judged(self, post: Posterior) -> tuple[np.ndarray, np.ndarray]:
        """The probability of the same value, and who is exposed, by another answer about the same people."""
        table = of_those_inside(post)[0].reindex(self.rows.index).fillna(0.0).to_numpy()
        judge = replace(self.judge, slack=slack_of(post))
        return judge.counted_at(table, self._exposed[1]), judge.reaches(judge.surest_of_all(table)[0])

    def _likewise(self, same: np.ndarray, exposed: np.ndarray) -> np.ndarray:
        """Mark who would be exposed by the same value; where intervals are judged, by any, as they overlap."""
        return self.judge.reaches(same) if self.judge.by_interval is None else exposed

    def _left(self, post: Posterior) -> dict[str, Any]:
        """What an answer without a statement leaves."""
        largest, _, exposed = self._exposed
        same, still = self._judged(post)
        fall, weights = (largest - same)[exposed], self.people[exposed]
        return {
            "people": int(self.people[exposed & ~self._likewise(same, still)].sum()),
            "without": int(self.people[still].sum()),
            "raises": float(fall @ weights / weights.sum()) if weights.sum() else 0.0,
        }

    def _alone(self, post: Posterior) -> dict[str, Any]:
        """Whom a statement alone exposes, of those whom what is published does not."""
        new = self._exposed[2] & ~self._by_published & self._likewise(*self._judged(post))
        return {"alone": int(self.people[new].sum())}

"""What follows from the position of the controls: a posterior and what is shown of it, or why there is none."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from ..errors import Infeasible, MaxEntError, StatementError
from ..measures.accuracy import overall_divergence
from ..measures.exposure.exposed import exposed
from ..measures.exposure.exposure import Exposure
from ..measures.exposure.judged_values import judged_values
from ..model.maxent import MaxEnt
from ..model.posterior import Posterior
from ..views import OUTSIDE
from .intervals import intervals
from .solving import Contradiction, solved

__all__ = ["Answer", "NoAnswer", "answered"]


@dataclass(frozen=True, eq=False)
class Answer:
    """What is inferred, and of the rows that are shown what is certain.

    Attributes
    ----------
    post : Posterior
    divergence : float or None
        From the truth, bits; None without the original records.
    sensitive : object
        The values that count as exposed, as of :func:`maxent_cvx.measures.exposed`.
    groups : ndarray of int
        Who is shown: QI tuples, or where people are named these and the others of each, by their number in
        ``post.space.groups``; the most exposed first if these are not all.
    interval : ndarray or None, shape (2, groups, sensitive values)
        Of the P(s | q) shown: low <= P(s | q) <= high in every distribution that satisfies the rows.
    without_intervals : str
        Why there are none.
    """

    post: Posterior
    divergence: float | None
    sensitive: object
    groups: np.ndarray
    interval: np.ndarray | None
    without_intervals: str = ""

    @cached_property
    def shown(self) -> pd.DataFrame:
        """P(s | q) of the groups that are shown."""
        return self.post.inferences()[0].iloc[self.groups]

    def exposing(self, threshold: float) -> np.ndarray:
        """Mark the columns of which a probability from the threshold on exposes somebody.

        Those are of values that count, and that not everybody is known to have with that probability.

        Parameters
        ----------
        threshold : float
            A probability.

        Returns
        -------
        ndarray of bool
        """
        values = self.post.space.view.sensitive_values
        inside = values.delete(np.flatnonzero(values.to_flat_index() == OUTSIDE))
        baseline = self.exposure(threshold).values["baseline"].fillna(0).to_numpy()
        counted = judged_values(inside, self.sensitive).includes[:, baseline < threshold]
        return np.asarray(values.isin(inside[np.flatnonzero(counted.sum(axis=1))]))

    def exposure(self, threshold: float) -> Exposure:
        """Who is exposed, beside the overall distribution of the values, where it is published.

        Parameters
        ----------
        threshold : float
            A probability.

        Returns
        -------
        Exposure
        """
        if threshold not in self._exposures:
            try:
                found = exposed(self.post, threshold, sensitive=self.sensitive, baseline="overall")
            except StatementError:
                found = exposed(self.post, threshold, sensitive=self.sensitive)
            self._exposures[threshold] = found
        return self._exposures[threshold]

    @cached_property
    def _exposures(self) -> dict[float, Exposure]:
        """By threshold, those that were asked for: words and frames ask for the same."""
        return {}


@dataclass(frozen=True, eq=False)
class NoAnswer:
    """Why nothing can be inferred.

    Attributes
    ----------
    conflict : DataFrame or None
        Statements that cannot all be true, as :meth:`maxent_cvx.MaxEnt.diagnose` gives them; None if it is no
        contradiction.
    message : str
        What the error says.
    """

    conflict: pd.DataFrame | None
    message: str


def answered(
    model: MaxEnt, original: pd.DataFrame | None, max_rows: int, seconds: float, sensitive: object = None
) -> Answer | NoAnswer:
    """Solve a model, and find the intervals of what is shown.

    Each solve begins anew: the same controls give the same digits, whatever was tried before. Multipliers of the model
    before are no better start where knowledge forces zeros, and save little where it does not.

    Parameters
    ----------
    model : MaxEnt
    original : DataFrame, optional
        The records that were published.
    max_rows : int
        Groups that are shown.
    seconds : float
        For the solve; and for the intervals.
    sensitive : object
        The values that count as exposed; by default all.

    Returns
    -------
    Answer or NoAnswer
    """
    try:
        post = solved(model, seconds)
    except Contradiction as error:
        return NoAnswer(error.conflict, str(error))
    except Infeasible as error:
        return NoAnswer(error.conflict, str(error))
    except MaxEntError as error:
        return NoAnswer(None, str(error))
    groups = most_exposed(post, max_rows, sensitive)
    divergence = None if original is None else overall_divergence(post, original)
    try:
        return Answer(post, divergence, sensitive, groups, intervals(model, groups, seconds))
    except MaxEntError as error:
        return Answer(post, divergence, sensitive, groups, None, str(error))


def most_exposed(post: Posterior, max_rows: int, sensitive: object) -> np.ndarray:
    """The groups of which most is inferred, by number; all of them, in their own order, where these are few."""
    table = post.inferences()[0].drop(columns=OUTSIDE, errors="ignore")
    largest = judged_values(table.columns, sensitive).of(table.to_numpy()).max(axis=1)
    if len(largest) <= max_rows:
        return np.arange(len(largest))
    return np.argsort(-largest, kind="stable")[:max_rows]

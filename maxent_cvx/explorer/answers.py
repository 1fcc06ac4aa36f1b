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
from ..model.maxent import MaxEnt
from ..model.posterior import Posterior
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
    tuples : ndarray of int
        The QI tuples that are shown, by position; the most exposed first if these are not all.
    interval : ndarray or None, shape (2, QI tuples, sensitive values)
        Of the P(s | q) shown: low <= P(s | q) <= high in every distribution that satisfies the rows.
    without_intervals : str
        Why there are none.
    """

    post: Posterior
    divergence: float | None
    sensitive: object
    tuples: np.ndarray
    interval: np.ndarray | None
    without_intervals: str = ""

    @cached_property
    def shown(self) -> pd.DataFrame:
        """P(s | q) of the rows that are shown."""
        return self.post.conditional().iloc[self.tuples]

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
        try:
            return exposed(self.post, threshold, sensitive=self.sensitive, baseline="overall")
        except StatementError:
            return exposed(self.post, threshold, sensitive=self.sensitive)


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
        QI tuples that are shown.
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
    tuples = most_exposed(post, max_rows)
    divergence = None if original is None else overall_divergence(post, original)
    try:
        return Answer(post, divergence, sensitive, tuples, intervals(model, tuples, seconds))
    except MaxEntError as error:
        return Answer(post, divergence, sensitive, tuples, None, str(error))


def most_exposed(post: Posterior, max_rows: int) -> np.ndarray:
    """The QI tuples of which most is inferred, by position; all of them, in their own order, where these are few."""
    largest = post.conditional().to_numpy().max(axis=1)
    if len(largest) <= max_rows:
        return np.arange(len(largest))
    return np.argsort(-largest, kind="stable")[:max_rows]

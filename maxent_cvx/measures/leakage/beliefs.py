"""P(s | q) before and after, row by row of the same people, and how far each probability may be off."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from ...errors import BadProbability, StatementError, TableError, listing, shown
from ...model.posterior import Posterior
from ...priors import QIDistribution
from ...priors.lookup import positions
from ...priors.reading import checked
from ...views import OUTSIDE
from ..disclosure import NEGLIGIBLE, of_those_inside, published

__all__ = ["Beliefs", "inferred", "prior_of"]


@dataclass(frozen=True, eq=False)
class Beliefs:
    """Probabilities, shape (rows, values), each within `off` of what it stands for.

    `bound` is the largest of `off`, and bounds the error of a row's probability of any set of values, too: what a
    certificate bounds is the distance of distributions (Pinsker's inequality), not of single entries only.
    """

    p: np.ndarray
    off: np.ndarray

    @property
    def bound(self) -> float:
        """The largest error."""
        return float(self.off.max(initial=0.0))

    @property
    def low(self) -> np.ndarray:
        """The least that each probability can be."""
        return np.maximum(self.p - self.off, 0.0)

    @property
    def high(self) -> np.ndarray:
        """The most that each probability can be."""
        return np.minimum(self.p + self.off, 1.0)

    @property
    def slack(self) -> np.ndarray:
        """What is not told apart from 0, or from a threshold: the error, where it is small."""
        return np.minimum(self.off, NEGLIGIBLE)

    @property
    def nonzero(self) -> np.ndarray:
        """The probabilities, 0 where they cannot be told from it."""
        return np.where(self.p > self.slack, self.p, 0.0)


def inferred(post: Posterior) -> tuple[pd.DataFrame, np.ndarray, Beliefs]:
    """P(s | .) of all who are distinguishable, how many people each row is, and the same with its errors."""
    table, people = of_those_inside(post)
    everybody, columns = post.inferences()[0], post.space.view.sensitive_values
    off = np.zeros(everybody.shape)
    off.flat[np.unique(post.space.cells)] = min(post.certificate.bound, 1.0)  # where there is no term, it is 0
    if OUTSIDE in columns.to_flat_index():
        inside = 1 - everybody[OUTSIDE].to_numpy()
        off = off[:, columns.to_flat_index() != OUTSIDE][inside > NEGLIGIBLE]
        inside = inside[inside > NEGLIGIBLE, None]
        with np.errstate(divide="ignore"):
            off = np.where(inside > off, np.minimum(2 * off / np.maximum(inside - off, 0), 1.0), 1.0)
    return table, people, Beliefs(table.to_numpy(), off)


def prior_of(prior: object, post: Posterior, rows: pd.DataFrame) -> Beliefs:
    """Read what was believed before, in any form, about the people and values of the rows."""
    if isinstance(prior, Posterior):
        return _of_posterior(prior, post, rows)
    if isinstance(prior, str) and prior == "overall":
        return _same_for_all(_overall(post), rows)
    if isinstance(prior, pd.Series):
        return _same_for_all(_labelled(prior, rows.columns), rows)
    if isinstance(prior, pd.DataFrame):
        prior = QIDistribution(prior)
    if not isinstance(prior, QIDistribution):
        raise StatementError(
            f"prior={shown(prior)}: a Posterior, a QIDistribution, a DataFrame of P(s | q), a Series of P(s), or "
            '"overall" is expected'
        )
    p = prior.of_tuples(_tuples(rows.index), rows.columns)
    if strangers := [value for value in prior.values if value not in rows.columns]:
        raise StatementError(f"the prior is of a value that the posterior has not, {listing(strangers)}")
    return Beliefs(p, np.zeros(p.shape))


def _overall(post: Posterior) -> np.ndarray:
    """P(s) among all people of what is published."""
    n_s = published(post.space.view)
    if n_s is None:
        raise StatementError(
            f'prior="overall": how many people have each value is not published by the {post.space.view.noun}; '
            "give P(s) as a Series"
        )
    return np.asarray(n_s / n_s.sum())


def _labelled(prior: pd.Series, values: pd.Index) -> np.ndarray:
    """P(s) by label."""
    if prior.index.has_duplicates or set(prior.index) != set(values):
        odd = sorted(set(prior.index).symmetric_difference(values), key=str)
        raise TableError(
            "the prior, a Series, needs one entry for each sensitive value, and has "
            + (f"{listing(odd)} too many or too few" if odd else "labels that occur twice")
        )
    if prior.isna().any():
        raise BadProbability("the prior, a Series, lacks entries; write 0 for what cannot be")
    table = checked(prior.to_frame("P(s)").T, ("all people",))
    return table.to_numpy()[0, table.columns.get_indexer(values)]


def _same_for_all(p: np.ndarray, rows: pd.DataFrame) -> Beliefs:
    """The same distribution for every row."""
    return Beliefs(np.broadcast_to(p, rows.shape), np.zeros(rows.shape))


def _of_posterior(prior: Posterior, post: Posterior, rows: pd.DataFrame) -> Beliefs:
    """What another posterior says of the same people; of names that only one of them knows, by their QI."""
    table, _, beliefs = inferred(prior)
    key: tuple[str, ...] = prior.space.view.qi
    if len(prior.space.people):
        if not prior.space.people.names.equals(post.space.people.names):
            raise StatementError(
                "the prior names other people than the posterior; make both models with the same people=, or give "
                "prior.conditional()"
            )
        key = ("who", *key)
    if len(odd := table.columns.symmetric_difference(rows.columns)):
        raise StatementError(f"the prior and the posterior are not of the same sensitive values; see {listing(odd)}")
    at, columns = positions(_tuples(table.index), _tuples(rows.index), key), table.columns.get_indexer(rows.columns)
    return Beliefs(beliefs.p[at][:, columns], beliefs.off[at][:, columns])


def _tuples(index: pd.Index) -> pd.MultiIndex:
    """An index as tuples, of one level, too."""
    return index if isinstance(index, pd.MultiIndex) else pd.MultiIndex.from_arrays([index], names=[index.name])

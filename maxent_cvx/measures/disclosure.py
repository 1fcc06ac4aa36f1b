"""Disclosure in the measures of the k-anonymity family: l-diversity, t-closeness and others.

Each is applied to P(s | q), the adversary's inference, instead of the frequencies in one equivalence
class, and so is defined for any release and any background knowledge.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import xlogy

from .._utils.errors import StatementError
from .._utils.validation import check_bool, check_in, check_instance, check_int
from ..model.partitioned import PartitionedPosterior
from ..model.posterior import Posterior
from ..releases.base import View
from ..releases.generalized import OUTSIDE

__all__ = [
    "NEGLIGIBLE",
    "disclosure",
    "distances",
    "of_those_inside",
    "published",
]

#: Probabilities below this are zero to the solver's precision, and do not count for l-diversity.
NEGLIGIBLE = 1e-9


def disclosure(
    post: Posterior | PartitionedPosterior, l: int = 2, distance: str = "auto", worst: bool = False
) -> pd.DataFrame:
    """Measure what the adversary infers about the people with each QI tuple.

    Parameters
    ----------
    post : Posterior or PartitionedPosterior
        What the adversary infers.
    l : int
        The l of recursive (c, l)-diversity.
    distance : {"auto", "equal", "ordered"}
        Of t-closeness: all values equally far apart, or as far as their ranks (Li et al., 2007).
        "auto" takes ranks for numbers and ordered categories.
    worst : bool
        Give one row, the worst of each measure over all tuples, instead of one row a tuple; of a release in
        partitions, nothing else is given.

    Returns
    -------
    DataFrame
        Indexed as ``post.conditional()``, and by person where people are named (see
        :meth:`maxent_cvx.Posterior.inferences`), with the columns

        people
            k of (alpha, k)-anonymity: people with the tuple.
        max_p
            max_s P(s | q), the alpha of (alpha, k)-anonymity (Wong et al., 2006).
        value
            The sensitive value where it is attained.
        distinct_l
            How many values are possible, P(s | q) > 0.
        entropy_l
            exp of the entropy of P(. | q): entropy l-diversity (Machanavajjhala et al., 2006).
        recursive_c
            The largest probability by the sum of the l-th and smaller ones: recursive (c, l)-diversity
            holds for every larger c. Infinite if fewer than l values are possible.
        t
            Distance of P(. | q) from P(.): t-closeness. NaN where P(.) is not published.
        r
            1 / max_p: no inference is more likely than 1/r.

    Raises
    ------
    StatementError
        If `post` is no posterior, or `l`, `distance` or `worst` is out of range.

    Notes
    -----
    Of a population (:class:`maxent_cvx.GroupedRelease`) P(s | q, in the release) is measured.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> hospital = mx.datasets.load_hospital()
    >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    >>> knows = mx.MaxEnt(release).add(mx.P("Breast Cancer", given={"Gender": "male"}) == 0).solve()
    >>> found = mx.measures.disclosure(knows)
    >>> print(found.loc["female", ["people", "max_p", "distinct_l", "entropy_l", "t"]].round(2))
              people  max_p  distinct_l  entropy_l     t
    Degree
    college        2   0.50           4       3.46  0.37
    graduate       1   0.33           3       3.00  0.40
    junior         1   1.00           1       1.00  0.80
    """
    check_bool(worst, "worst")
    check_int(l, "l", 1)
    check_in(distance, "distance", ("auto", "equal", "ordered"))
    if isinstance(post, PartitionedPosterior):
        return _of_parts(post, l, distance, worst)
    check_instance(post, Posterior, "post")
    conditional, people = of_those_inside(post)
    measure = _Disclosure(conditional.columns, published(post.space.view), l, distance)
    found = measure.of_each(conditional.to_numpy(), people).set_index(conditional.index)
    return _worst(found) if worst else found


def _of_parts(post: PartitionedPosterior, l: int, distance: str, worst: bool) -> pd.DataFrame:
    """The worst of each measure over all partitions."""
    if not worst:
        raise StatementError(
            "of a release in partitions the worst of each measure is given, worst=True; a row a QI tuple is as long as "
            "the release: ask post.conditional(q) of those that matter, or post.top(n) for the surest inferences"
        )
    return post.reduce(_Disclosure(post.release.sensitive_values, post.release.n_s, l, distance), _worst_of_all)


@dataclass(frozen=True, eq=False)
class _Disclosure:
    """The measures of some P(s | q), and the worst of each."""

    values: pd.Index
    n_s: np.ndarray | None
    l: int
    distance: str

    def of_each(self, probabilities: np.ndarray, people: np.ndarray) -> pd.DataFrame:
        """A row a QI tuple."""
        p = np.where(probabilities > NEGLIGIBLE, probabilities, 0.0)
        decreasing = -np.sort(-p, axis=1)
        tail = decreasing[:, self.l - 1 :].sum(axis=1)
        with np.errstate(divide="ignore"):
            recursive = np.where(tail > 0, decreasing[:, 0] / tail, np.inf)
        return pd.DataFrame(
            {
                "people": people,
                "max_p": decreasing[:, 0],
                "value": self.values.to_flat_index()[p.argmax(axis=1)],
                "distinct_l": (p > 0).sum(axis=1),
                "entropy_l": np.exp(-xlogy(p, p).sum(axis=1)),
                "recursive_c": recursive,
                "t": np.nan
                if self.n_s is None
                else distances(p, self.n_s / self.n_s.sum(), self.values, self.distance),
                "r": 1 / decreasing[:, 0],
            }
        )

    def __call__(self, p: np.ndarray, people: np.ndarray, numbers: np.ndarray) -> pd.DataFrame:
        """The worst of some QI tuples, if there are any."""
        found = self.of_each(p, people)
        return _worst(found) if len(found) else found


def _worst(found: pd.DataFrame) -> pd.DataFrame:
    """One row, the worst of each measure."""
    most = found["max_p"].argmax()
    low, high = ["people", "distinct_l", "entropy_l", "r"], ["max_p", "recursive_c", "t"]
    extreme = {**found[low].min(), **found[high].max(), "value": found["value"].iloc[most]}
    return pd.DataFrame([extreme], columns=found.columns, index=["worst"]).astype({c: found[c].dtype for c in low})


def _worst_of_all(some: list[pd.DataFrame]) -> pd.DataFrame:
    """The worst of what several ranges of QI tuples have."""
    found = [table for table in some if len(table)]
    return _worst(pd.concat(found)) if found else some[0]


def published(view: View) -> np.ndarray | None:
    """How many people of the release have each value; None where that is not published."""
    return None if view.n_s is None else view.n_s[np.asarray(view.sensitive_values.to_flat_index() != OUTSIDE)]


def of_those_inside(post: Posterior) -> tuple[pd.DataFrame, np.ndarray]:
    """P(s | .) as in ``post.inferences()``, and how many people each row is; of a population, those released."""
    conditional, people = post.inferences()
    if OUTSIDE not in conditional.columns.to_flat_index():
        return conditional, people
    inside = 1 - conditional[OUTSIDE].to_numpy()
    possible = inside > NEGLIGIBLE
    kept = conditional.drop(columns=OUTSIDE)[possible]
    return kept.div(inside[possible], axis=0), people[possible]


def distances(p: np.ndarray, prior: np.ndarray, values: pd.Index, distance: str) -> np.ndarray:
    """Earth mover's distance, between 0 and 1, of every row of p from the prior: one for all, or a row for each."""
    ordered = pd.api.types.is_numeric_dtype(values) or (isinstance(values, pd.CategoricalIndex) and values.ordered)
    difference = p - prior
    if {"auto": ordered, "equal": False, "ordered": True}[distance]:
        return np.abs(np.cumsum(difference, axis=1)).sum(axis=1) / max(len(values) - 1, 1)
    return np.abs(difference).sum(axis=1) / 2

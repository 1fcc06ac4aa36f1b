"""Measures of the k-anonymity family: l-diversity, t-closeness and others.

They are computed from P(s | q), the adversary's inference, instead of the frequencies in an equivalence class, and are
therefore defined for any release and any background knowledge.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import xlogy

from .._utils.errors import StatementError
from .._utils.validation import check_bool, check_in, check_instance, check_int
from ..model.partitioned import PartitionedPosterior
from ..model.posterior import Posterior
from ..releases.base import OUTSIDE, View
from ..releases.partitioned import PartitionedRelease
from .events import scale_of

#: Probabilities below this count as zero, because of the solver's precision, and are ignored by l-diversity.
NEGLIGIBLE = 1e-9
#: Largest number of probabilities processed at a time; larger tables are divided into chunks, to limit memory.
MOST_NUMBERS = 2**22


def disclosure(
    post: Posterior | PartitionedPosterior, l: int = 2, distance: str = "auto", worst: bool = False
) -> pd.DataFrame:
    """Compute l-diversity, t-closeness and other measures of P(s | q) for the people with each QI tuple.

    Parameters
    ----------
    post : Posterior or PartitionedPosterior
        The adversary's posterior.
    l : int
        The l of recursive (c, l)-diversity.
    distance : {"auto", "equal", "ordered"}
        Ground distance of t-closeness: "equal" (all values equally far apart) or "ordered" (difference of ranks; Li et
        al., 2007). "auto" is "ordered" for numbers of any type and ordered categories, else "equal".
    worst : bool
        Return one row, the worst of each measure over all tuples, instead of one row per tuple. Must be True for a
        release in partitions.

    Returns
    -------
    DataFrame
        Indexed as ``post.conditional()``, and by person if people are named (see
        :meth:`maxent_cvx.Posterior.inferences`), with the columns

        people
            Number of people with the tuple, the k of (alpha, k)-anonymity.
        max_p
            max_s P(s | q), the alpha of (alpha, k)-anonymity (Wong et al., 2006).
        value
            The sensitive value that attains it.
        distinct_l
            Number of possible values, P(s | q) > 0.
        entropy_l
            exp of the entropy of P(. | q): entropy l-diversity (Machanavajjhala et al., 2006).
        recursive_c
            The largest probability divided by the sum of the l-th and smaller ones: recursive (c, l)-diversity holds
            for every larger c. Infinite if fewer than l values are possible.
        t
            Distance of P(. | q) from P(.): t-closeness. NaN if P(.) is not published.
        r
            1 / max_p: no inference is more likely than 1/r.

    Raises
    ------
    StatementError
        If `post` is not a posterior, or `l`, `distance` or `worst` is out of range.

    Notes
    -----
    For a population (:class:`maxent_cvx.GroupedRelease`), P(s | q, in the release) is measured.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> hospital = mx.datasets.load_hospital()
    >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    >>> knows = mx.MaxEnt(release).add(mx.P("Breast Cancer", given={"Gender": "male"}) == 0).solve()
    >>> table = mx.measures.disclosure(knows)
    >>> print(table.loc["female", ["people", "max_p", "distinct_l", "entropy_l", "t"]].round(2))
              people  max_p  distinct_l  entropy_l     t
    Degree
    college        2   0.50           4       3.46  0.37
    graduate       1   0.33           3       3.00  0.40
    junior         1   1.00           1       1.00  0.80
    """
    check_bool(worst, "worst")
    check_int(l, "l", 1)
    check_in(distance, "distance", ("auto", "equal", "ordered"))
    check_instance(post, (Posterior, PartitionedPosterior), "post")
    if isinstance(post, PartitionedPosterior):
        if not worst:
            raise StatementError(
                "worst must be True for a release in partitions, because a table with one row per QI tuple would be as "
                "long as the release; use post.conditional(q) for single tuples, and post.top(n) for the largest "
                "probabilities"
            )
        release = post.release
        return post.reduce(_WorstDisclosure(release.sensitive_values, release.n_s, l, distance), _worst_of)
    conditional, people = of_those_inside(post)
    measure = _WorstDisclosure(conditional.columns, published(post.space.view), l, distance)
    table = measure.by_tuple(conditional.to_numpy(), people).set_index(conditional.index)
    return _worst_of([table]) if worst else table


@dataclass(frozen=True, eq=False)
class _WorstDisclosure:
    """Measures of a block of P(s | q): `by_tuple` returns one row per QI tuple, a call the worst of each measure."""

    values: pd.Index
    n_s: np.ndarray | None
    l: int
    distance: str

    def by_tuple(self, probabilities: np.ndarray, people: np.ndarray) -> pd.DataFrame:
        """Return one row per QI tuple."""
        step = max(1, MOST_NUMBERS // max(probabilities.shape[1], 1))
        slices = [slice(start, start + step) for start in range(0, max(len(probabilities), 1), step)]
        return pd.concat([self._by_tuple(probabilities[rows], people[rows]) for rows in slices], ignore_index=True)

    def _by_tuple(self, probabilities: np.ndarray, people: np.ndarray) -> pd.DataFrame:
        """Return one row per QI tuple, for a chunk of tuples."""
        is_possible = probabilities > NEGLIGIBLE
        p, n_possible = np.where(is_possible, probabilities, 0.0), is_possible.sum(axis=1)
        # If there are many values, only few of them are possible in a row: sort only these.
        decreasing = np.zeros((len(p), int(n_possible.max(initial=1))))
        decreasing[np.arange(decreasing.shape[1]) < n_possible[:, None]] = p[is_possible]
        decreasing = -np.sort(-decreasing, axis=1)
        tail = decreasing[:, self.l - 1 :].sum(axis=1)
        with np.errstate(divide="ignore"):
            recursive = np.where(tail > 0, decreasing[:, 0] / tail, np.inf)
        t = np.nan if self.n_s is None else distances(p, self.n_s / self.n_s.sum(), self.values, self.distance)
        return pd.DataFrame(
            {
                "people": people,
                "max_p": decreasing[:, 0],
                "value": self.values.to_flat_index()[first_largest(p)],
                "distinct_l": n_possible,
                "entropy_l": np.exp(-xlogy(decreasing, decreasing).sum(axis=1)),
                "recursive_c": recursive,
                "t": t,
                "r": 1 / decreasing[:, 0],
            }
        )

    def __call__(self, p: np.ndarray, people: np.ndarray, numbers: np.ndarray) -> pd.DataFrame:
        return _worst_of([self.by_tuple(p, people)])


def _worst_of(tables: list[pd.DataFrame]) -> pd.DataFrame:
    """Return the worst of each measure over all rows, as one row; an empty table if there are no rows."""
    table = pd.concat([table for table in tables if len(table)] or tables[:1])
    if not len(table):
        return table
    low, high = ["people", "distinct_l", "entropy_l", "r"], ["max_p", "recursive_c", "t"]
    worst = {**table[low].min(), **table[high].max()}
    worst["value"] = table["value"].iloc[first_largest(table[["max_p"]].to_numpy().T)[0]]
    return pd.DataFrame([worst], columns=table.columns, index=["worst"]).astype({c: table[c].dtype for c in low})


def first_largest(numbers: np.ndarray) -> np.ndarray:
    """Return the position of the largest number of every row; of those that are equal up to rounding, the first."""
    return np.asarray((numbers >= numbers.max(axis=1, keepdims=True) - NEGLIGIBLE).argmax(axis=1))


def add_up(blocks: list[dict[str, Any]]) -> dict[str, Any]:
    """Add up the sums, by name, that a measure returns for several blocks of people."""
    return {name: sum(block[name] for block in blocks) for name in blocks[0]}


def published(view: View | PartitionedRelease) -> np.ndarray | None:
    """Return the number of people of the release with each value; None if it is not published."""
    return None if view.n_s is None else view.n_s[view.inside]


def overall(view: View | PartitionedRelease, argument: str) -> np.ndarray:
    """Return P(s) among the people of the release, for an argument that is "overall"."""
    n_s = published(view)
    if n_s is None:
        raise StatementError(
            f'{argument}="overall": the {view.noun} does not publish how many people have each value; '
            "give P(s) as a Series"
        )
    return np.asarray(n_s / n_s.sum())


def of_those_inside(post: Posterior) -> tuple[pd.DataFrame, np.ndarray]:
    """Return P(s | .) as in ``post.inferences()``, for a population given "in the release", and the people per row."""
    conditional, people = post.inferences()
    if post.view.inside.all():
        return conditional, people
    inside = 1 - conditional[OUTSIDE].to_numpy()
    possible = inside > NEGLIGIBLE
    table = conditional.drop(columns=OUTSIDE)[possible]
    values: Any = table.columns  # numbers and ordered categories again: measures of distance go by their types
    is_category = isinstance(values, pd.CategoricalIndex)
    table.columns = values.remove_categories([OUTSIDE]) if is_category else values.infer_objects()
    return table.div(inside[possible], axis=0), people[possible]


def distances(p: np.ndarray, prior: np.ndarray, values: pd.Index, distance: str) -> np.ndarray:
    """Compute the earth mover's distance (0 to 1) of every row of p from the prior, one row for all or one per row."""
    scale = scale_of(values)
    difference = p - prior
    is_ordered = getattr(values, "ordered", False) or (scale is not None and scale.kind != "time")
    if {"auto": is_ordered, "equal": False, "ordered": True}[distance]:
        if scale is not None:  # numbers in a Categorical may be in any order
            difference = difference[:, np.argsort(scale.position, kind="stable")]
        return np.abs(np.cumsum(difference, axis=1)).sum(axis=1) / max(len(values) - 1, 1)
    return np.abs(difference).sum(axis=1) / 2

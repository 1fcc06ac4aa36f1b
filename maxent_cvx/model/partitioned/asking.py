"""What is asked of an answer in partitions: functions of one partition, and how their results are added up."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from scipy.special import xlogy

from ...solvers.partitioned.projection import PointPart
from ...terms.partitioned.part_space import PartSpace
from ...terms.partitioned.surroundings import Surroundings
from ...terms.space import Space
from ...views.partitioned.release_part import ReleasePart
from .published_part import own_space

__all__ = ["Event", "added", "entropy_of", "expectation_in", "people_in", "table_of", "terms_table"]

#: Coefficients on p of something that is asked, shape (1, terms).
Row = Callable[[Space], sp.csr_array]


class Event:
    """P(value | given) or P(value | who), as a function from a space to its coefficients that can be sent."""

    def __init__(self, value: object, given: Mapping[str, object] | None, who: object) -> None:
        self.value, self.given, self.who = value, given, who

    def __call__(self, space: Space) -> sp.csr_array:
        """The coefficients on p, shape (1, terms)."""
        return space.row(self.value, self.given, self.who)


def added(some: Sequence[np.ndarray]) -> np.ndarray:
    """Add up the results of some partitions."""
    return np.sum(some, axis=0)


def expectation_in(part: ReleasePart, point: PointPart, row: Row, surroundings: Surroundings) -> np.ndarray:
    """A partition's share of a linear expression of p."""
    space = PartSpace.around(part, surroundings)
    counts = np.concatenate([point.counts, np.zeros(len(space) - space.n_own)])
    return (row(space) @ counts) / space.n_records


def table_of(part: ReleasePart, point: PointPart, surroundings: Surroundings, numbers: np.ndarray) -> np.ndarray:
    """N P(q, s), records, of QI tuples by their numbers in the whole, ascending: a partition's share."""
    codes = own_space(part, surroundings).codes
    at = np.searchsorted(numbers, part.q_numbers)
    place = np.where(numbers[np.minimum(at, len(numbers) - 1)] == part.q_numbers, at, -1)[codes["q"]]
    asked, n_values = place >= 0, len(part.sensitive_values)
    key = place[asked] * n_values + codes["s"][asked]
    return np.bincount(key, point.counts[asked], len(numbers) * n_values).reshape(len(numbers), n_values)


def people_in(part: ReleasePart, point: PointPart, surroundings: Surroundings) -> np.ndarray:
    """N P(i, s), records, of all named people: a partition's share."""
    codes, n_values = own_space(part, surroundings).codes, len(part.sensitive_values)
    n = len(surroundings.names)
    found = np.bincount(codes["who"] * n_values + codes["s"], point.counts, (n + 1) * n_values)
    return found.reshape(n + 1, n_values)[:n]


def entropy_of(part: ReleasePart, point: PointPart, surroundings: Surroundings) -> np.ndarray:
    """A partition's share of the entropy, nats."""
    space = own_space(part, surroundings)
    p = point.counts / space.n_records
    return np.array(xlogy(p, space.multiplicities).sum() - xlogy(p, p).sum())


def terms_table(part: ReleasePart, point: PointPart, surroundings: Surroundings) -> pd.DataFrame:
    """The terms of a partition as a table: labels, expected records, and the probability."""
    space = own_space(part, surroundings)
    axes: Mapping[str, tuple[np.ndarray, pd.Index]] = {
        column: space.axes.of_column(column) for column in [*["who"][: len(space.people)], *part.columns]
    }
    found = {column: _column(codes, values) for column, (codes, values) in axes.items()}
    records, name = point.counts, space.term
    return pd.DataFrame({**found, f"N {name}": records, name: records / space.n_records})


def _column(codes: np.ndarray, values: pd.Index) -> Any:
    """The labels of terms along one column; texts are written once each."""
    if pd.api.types.is_string_dtype(values) and values.is_unique:
        return pd.Categorical.from_codes(codes, values)
    return values.take(codes).array

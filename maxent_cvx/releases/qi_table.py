"""QITable: everybody's quasi-identifiers without sensitive values, e.g. if only mining results are published."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd

from .._utils.errors import TableError, join_names, short_repr
from .._utils.tables import check_columns, counted_people, names, repeated, sort_distinct
from .._utils.validation import is_several, is_text
from .base import View, check_roles, from_dict, labels_of, sizes_of, unused_name

#: Maximum difference between N times a published share and an integer number of people.
WHOLE = 1e-6


class QITable(View):
    """People with known QI, for example from a voter list, and their possible sensitive values; terms P(q, x).

    Parameters
    ----------
    people : DataFrame
        One row per person, or one per QI tuple with a column `count`. Other columns are ignored, including the
        sensitive attribute itself.
    qi, sa : str or several
        Column names of the quasi-identifiers and of the sensitive attributes.
    sa_values : sequence
        The domain of the sensitive attribute, which is public; tuples for several attributes.
    sa_distribution : Series, optional
        The number or share of people with each value, if published (SA-constraints).
    count : str, optional
        The column with the number of people who have the QI of a row.

    Raises
    ------
    UnknownName, TableError
        If a column is missing, values repeat, or the distribution does not match these people.

    Notes
    -----
    Published rules, sections III.A and V.D: adversaries know everybody's QI and the domain of SA.

    Examples
    --------
    >>> import maxent_cvx as mx, pandas as pd
    >>> people = pd.DataFrame({"Education": ["Doctorate", "Doctorate", "Masters"]})
    >>> mx.QITable(people, qi="Education", sa="Salary", sa_values=["50K+", "50K-"])
    <QITable: 3 people; 2 distinct (Education), 2 values of 'Salary'>

    If the distribution is published, and two of the three earn more, everybody does with probability 2/3:

    >>> table = mx.QITable(people, qi="Education", sa="Salary", sa_distribution=pd.Series({"50K+": 2, "50K-": 1}))
    >>> mx.MaxEnt(table).solve().conditional().round(3)["50K+"].to_dict()
    {'Doctorate': 0.667, 'Masters': 0.667}
    """

    noun: ClassVar[str] = "QI table"
    stored_as: ClassVar[str] = "QITable"

    def __init__(
        self,
        people: pd.DataFrame,
        *,
        qi: str | Iterable[str],
        sa: str | Iterable[str],
        sa_values: Iterable[object] | None = None,
        sa_distribution: pd.Series | None = None,
        count: str | None = None,
    ) -> None:
        self.qi, self.sensitive = names(qi, "qi"), names(sa, "sa")
        check_roles({"q": self.qi, "s": self.sensitive})
        if twice := set(self.qi) & set(self.sensitive):
            raise TableError(f"column {sorted(twice)[0]!r} is given as qi and as sa; choose one role")
        people, each = counted_people(people, {"qi": self.qi}, count, "the QI table", self.sensitive)
        code, self.quasi_identifiers = sort_distinct(people[list(self.qi)])
        self._n_q = np.bincount(code, each, len(self.quasi_identifiers)).astype(np.int64)
        if sa_values is None and isinstance(sa_distribution, pd.Series):
            sa_values = sa_distribution.index
        self.sensitive_values = _domain(sa_values, self.sensitive)
        if isinstance(sa_distribution, pd.Series):
            sa_distribution = sa_distribution.set_axis(_by_name(sa_distribution.index, self.sensitive))
        self._n_s = None if sa_distribution is None else self._people_of(sa_distribution)

    @property
    def n_q(self) -> np.ndarray:
        """Number of people with each QI tuple, in the order of `quasi_identifiers`."""
        return self._n_q

    @property
    def n_s(self) -> np.ndarray | None:
        """Number of people with each sensitive value, in the order of `sensitive_values`; None if not published."""
        return self._n_s

    @cached_property
    def published(self) -> Mapping[tuple[str, ...], pd.Series]:
        """Number of people with each QI tuple, and with each sensitive value if published."""
        counts: dict[tuple[str, ...], pd.Series] = {("q",): self._people_by_tuple()}
        if self._n_s is not None:
            occurs = self._n_s > 0
            counts["s",] = pd.Series(self._n_s[occurs], self.sensitive_values[occurs], name="N P(s)")
        return counts

    @property
    def possible(self) -> np.ndarray:
        """Positions of the possible values: all, or those with a positive published count."""
        return np.arange(len(self.sensitive_values)) if self._n_s is None else np.flatnonzero(self._n_s)

    def terms(self) -> dict[str, np.ndarray]:
        """Number the terms P(q, s), sorted by q, then s: everybody may have every possible value."""
        n_q = len(self._n_q)
        return {"q": np.repeat(np.arange(n_q), len(self.possible)), "s": np.tile(self.possible, n_q)}

    def to_frames(self) -> dict[str, Any]:
        """Convert the view to a table of QI tuples and a table of values, with counts if these are published."""
        count = unused_name("Count", self.columns)
        people = self.quasi_identifiers.to_frame(index=False).assign(**{count: self._n_q})
        values = self.sensitive_values.to_frame(index=False)
        if self._n_s is not None:
            values[count] = self._n_s
        return {
            "people": people, "values": values, "qi": list(self.qi), "sa": list(self.sensitive), "count": count,
        }  # fmt: skip

    @classmethod
    def from_frames(cls, frames: Mapping[str, Any]) -> Self:
        """Restore the view from its tables."""
        people, values, qi, sa, count = from_dict(
            frames, cls, people=pd.DataFrame, values=pd.DataFrame, qi=list, sa=list, count=str
        )
        check_columns(values, {"sa": sa}, "the table of values")
        levels = [labels_of(values[name]) for name in sa]
        domain = pd.MultiIndex.from_arrays(levels) if len(sa) > 1 else levels[0]
        known = pd.Series(values[count].array, index=domain) if count in values.columns else None
        return cls(people, qi=qi, sa=sa, sa_values=domain, sa_distribution=known, count=count)

    def _people_of(self, distribution: pd.Series) -> np.ndarray:
        """Convert the published distribution of the values to numbers of people."""
        what, values = f"the distribution of {', '.join(self.sensitive)}", self.sensitive_values
        if not isinstance(distribution, pd.Series):
            raise TableError(f"{what} must be a Series of counts or shares by value, got {short_repr(distribution)}")
        if distribution.index.has_duplicates:
            raise TableError(f"{what} repeats {join_names(repeated(distribution.index))}; expected one entry per value")
        if len(missing := values.difference(distribution.index)):
            raise TableError(f"{what} lacks {join_names(missing)}; expected one entry per value")
        if len(extra := distribution.index.difference(values)):
            raise TableError(f"{what} contains {join_names(extra)}, which is not in sa_values; remove it")
        numbers = pd.to_numeric(distribution.reindex(values), errors="coerce").to_numpy(dtype=float)
        if not (np.isfinite(numbers) & (numbers >= 0)).all():
            raise TableError(f"{what} must contain numbers of people, got {join_names(distribution)}")
        people = numbers * self.n_records if abs(numbers.sum() - 1) < WHOLE and self.n_records > 1 else numbers
        whole = np.rint(people)
        if (off := np.abs(people - whole) > WHOLE).any() or whole.sum() != self.n_records:
            number = f"{people.sum():.12g} people"
            if off.any():
                number = f"{people[off][0]:.12g} people with {join_names(values[off])}"
            raise TableError(
                f"{what} contains {number}, but must contain integers that sum to the {self.n_records} people of the "
                "QI table; add rounded shares as knowledge with a tolerance, P(value) = share +- eps"
            )
        return whole.astype(np.int64)

    def __repr__(self) -> str:
        known = "" if self._n_s is None else " with their distribution"
        return f"<QITable: {self.n_records} people; {sizes_of(self)}{known}>"


def _domain(values: Iterable[object] | None, sensitive: tuple[str, ...]) -> pd.Index:
    """Return the domain of the sensitive attributes, in the given order."""
    named = ", ".join(map(repr, sensitive))
    if isinstance(values, str | pd.DataFrame | Mapping) or not is_several(values):
        raise TableError(f"sa_values must be a list of all possible values of {named}, got {short_repr(values)}")
    listed = list(_by_name(values, sensitive) if isinstance(values, pd.Index) else values)
    if any(isinstance(value, str) and not is_text(value) for value in listed):
        raise TableError("sa_values contain an unpaired surrogate, which cannot be encoded; replace it")
    try:
        pd.Series(listed, dtype=object).nunique()
    except (OverflowError, TypeError, ValueError) as error:  # e.g. a list
        raise TableError(f"sa_values must be hashable values: {error}") from error
    if len(sensitive) == 1:
        if any(isinstance(value, tuple) for value in listed):
            raise TableError(f"sa_values must be single values, not tuples, because only {named} is sensitive")
        is_typed = isinstance(values, pd.Index) or isinstance(getattr(values, "dtype", None), pd.CategoricalDtype)
        index = pd.Index(values if is_typed else listed, name=sensitive[0])
    elif all(isinstance(value, tuple) and len(value) == len(sensitive) for value in listed):
        index = pd.MultiIndex.from_tuples(listed, names=sensitive)
    else:
        raise TableError(f"sa_values must be tuples ({', '.join(sensitive)}), one value per sensitive attribute")
    if not len(index) or index.to_frame().isna().to_numpy().any() or index.has_duplicates:
        raise TableError(f"sa_values must contain each value once, without missing values, got {short_repr(listed)}")
    return index


def _by_name(index: pd.Index, sensitive: tuple[str, ...]) -> pd.Index:
    """Reorder the levels of an index to the order of the attributes, if it has names."""
    if not isinstance(index, pd.MultiIndex) or index.names == [None] * index.nlevels:
        return index
    if set(index.names) != set(sensitive) or len(index.names) != len(sensitive):
        raise TableError(
            f"the index of the values must be named by the attributes {list(sensitive)}, got {list(index.names)}"
        )
    return index.reorder_levels(list(sensitive))

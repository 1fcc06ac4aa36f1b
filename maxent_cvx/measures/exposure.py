"""Exposure: the people of whom an adversary infers a sensitive value with at least a given probability."""

from __future__ import annotations

import datetime
import math
import numbers
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from os import PathLike
from typing import Any, NamedTuple, Self

import numpy as np
import pandas as pd
import scipy.sparse as sp

from .._utils.errors import (
    BadProbability,
    MaxEntError,
    SolverError,
    StatementError,
    TableError,
    join_names,
    one_line,
    pluralize,
    short_repr,
    unknown_name,
)
from .._utils.formatting import ReprMixin, TablePreview
from .._utils.tables import as_numbers, choose, format_value
from .._utils.validation import check_float, check_instance
from ..model.explain import by_statement, model_of, without_knowledge
from ..model.partitioned import PartitionedPosterior, surest_of
from ..model.posterior import Posterior
from ..priors import QIDistribution, positions
from ..releases.base import View
from ..releases.generalized import OUTSIDE, read_hierarchies
from ..releases.partitioned import PartitionedRelease
from ..solvers.certificate import ACCURACY
from ..sources.invariants import PriorZeros
from .accuracy import original_counts
from .disclosure import NEGLIGIBLE, of_those_inside, published
from .leakage import inferred

__all__ = [
    "ROUNDING",
    "Exposure",
    "ExposureRule",
    "baseline_of",
    "certified_error",
    "exposed",
    "judged_values",
    "judged_within",
    "same_value",
]

# The sensitive values that exposure is judged by: all of them, some, or those of one of several attributes.


@dataclass(frozen=True, eq=False)
class SensitiveEvents:
    """Some values whose probabilities are compared with a threshold."""

    labels: pd.Index
    includes: sp.csr_array

    @cached_property
    def columns(self) -> np.ndarray | None:
        """The position of the one sensitive value that each judged value is; None if one is several together."""
        by_judged = self.includes.tocsc()
        return by_judged.indices if (np.diff(by_judged.indptr) == 1).all() else None

    def of(self, p: np.ndarray) -> np.ndarray:
        """Add up probabilities, or people, of sensitive values, along the last axis: one column a judged value."""
        if self.columns is None:
            return np.asarray(p @ self.includes)
        is_all = np.array_equal(self.columns, np.arange(p.shape[-1]))
        return p if is_all else p[..., self.columns]

    def largest(self, numbers: np.ndarray) -> np.ndarray:
        """The largest number among the sensitive values of each judged value, a row each."""
        by_judged = self.includes.tocsc()
        return np.maximum.reduceat(numbers[:, by_judged.indices], by_judged.indptr[:-1], axis=1)

    @property
    def involved(self) -> np.ndarray:
        """Mark the sensitive values that are judged at all."""
        return np.diff(self.includes.indptr) > 0

    def among_involved(self) -> SensitiveEvents:
        """The same, of the sensitive values that are judged at all, and no others."""
        return SensitiveEvents(self.labels, sp.csr_array(self.includes[np.flatnonzero(self.involved)]))


def judged_values(values: pd.Index, sensitive: object) -> SensitiveEvents:
    """Read which of some sensitive values are meant."""
    if sensitive is None:
        return _each(values, np.ones(len(values), dtype=bool))
    if isinstance(sensitive, Mapping):
        return _of_attributes(values, sensitive)
    if values.nlevels == 1:
        return _each(values, choose(sensitive, "sensitive").mask(values, str(values.name)))
    are_several = isinstance(sensitive, list | set | frozenset | pd.Index)
    combinations: list[object] = list(sensitive) if are_several else [sensitive]  # type: ignore[call-overload]
    for one in combinations:
        if not isinstance(one, tuple) or len(one) != values.nlevels:
            raise StatementError(
                f"sensitive={short_repr(sensitive)}: of {', '.join(map(str, values.names))} a combination is a tuple of "
                f"{values.nlevels} values, or write {{{values.names[0]!r}: value}}, whatever the others are"
            )
        if one not in values:
            raise unknown_name(f"combination of {', '.join(map(str, values.names))}", one, values)
    if not combinations:
        raise StatementError("sensitive=[] names no value; name at least one, or leave it out for all")
    return _each(values, np.asarray(values.isin(combinations)))


def single_values(values: pd.Index) -> SensitiveEvents | None:
    """Every value of every one of several attributes, whatever the others are; None of one attribute."""
    if values.nlevels == 1:
        return None
    codes = [pd.factorize(values.get_level_values(i), sort=False) for i in range(values.nlevels)]
    labels = [f"{name}={format_value(one)}" for name, (_, own) in zip(values.names, codes, strict=True) for one in own]
    starts = np.cumsum([0, *(len(own) for _, own in codes)])
    member = np.concatenate([code + start for (code, _), start in zip(codes, starts, strict=False)])
    return _grouped(pd.Index(labels), np.tile(np.arange(len(values)), len(codes)), member, len(values))


def values_of(values: pd.Index, attribute: object) -> SensitiveEvents:
    """Each value of one attribute, whatever the others are."""
    return (
        _each(values, np.ones(len(values), dtype=bool))
        if values.nlevels == 1
        else _of_attributes(values, {attribute: None})
    )


def with_nodes(
    judged: SensitiveEvents, all_values: SensitiveEvents, nodes: Mapping[object, frozenset[object]]
) -> SensitiveEvents:
    """Add the nodes of a hierarchy that hold some of the judged values, and neither a single value nor all of them."""
    values = all_values.labels
    if not values.isin(list(frozenset().union(*nodes.values()))).any():
        raise StatementError(
            f"within: the hierarchy has none of the values of {values.name!r}, such as {join_names(values, 3)}"
        )
    labels, columns = [*judged.labels], [judged.includes]
    for node, leaves in nodes.items():
        below = np.asarray(values.isin(list(leaves)))
        if not 1 < below.sum() < len(values) or not judged.labels.isin(values[below]).any():
            continue
        if node in labels:
            raise TableError(
                f"the hierarchy has a node {short_repr(node)}, as a value or another node is called; rename it"
            )
        labels.append(node)
        columns.append(sp.csr_array(all_values.includes[:, np.flatnonzero(below)].sum(axis=1)[:, None]))
    return SensitiveEvents(pd.Index(labels, dtype=object, name=judged.labels.name), sp.csr_array(sp.hstack(columns)))


def in_words(label: object) -> str:
    """Write a judged value: 'yes', or of several attributes 'Flu, high'."""
    return f"'{', '.join(map(str, label))}'" if isinstance(label, tuple) else f"'{label}'"


def _each(values: pd.Index, mask: np.ndarray) -> SensitiveEvents:
    """Each of some sensitive values on its own."""
    return _grouped(values[mask], np.flatnonzero(mask), np.arange(int(mask.sum())), len(values))


def _grouped(labels: pd.Index, value: np.ndarray, judged: np.ndarray, n_values: int) -> SensitiveEvents:
    """Judge values by their positions, and by those of what they are judged as."""
    return SensitiveEvents(labels, sp.csr_array((np.ones(len(value)), (value, judged)), shape=(n_values, len(labels))))


def _of_attributes(values: pd.Index, chosen: Mapping[object, object]) -> SensitiveEvents:
    """Values of some attributes, added up over those of the others."""
    if not chosen:
        raise StatementError("sensitive={} names no sensitive attribute; leave it out for all values")
    mask, names = np.ones(len(values), dtype=bool), [str(name) for name in values.names]
    for attribute, some in chosen.items():
        if attribute not in names:
            raise unknown_name("sensitive attribute", attribute, names)
        if some is not None:
            mask &= choose(some, str(attribute)).mask(values.get_level_values(str(attribute)), str(attribute))
    if not mask.any():
        raise StatementError(f"sensitive={short_repr(chosen)}: each value occurs, but nobody can have them together")
    kept = [i for i, name in enumerate(names) if name in chosen]
    labels = pd.MultiIndex.from_arrays([values.get_level_values(i) for i in kept])
    of_kept = labels if len(kept) > 1 else labels.get_level_values(0)
    distinct = of_kept[mask].unique()
    return _grouped(distinct, np.flatnonzero(mask), distinct.get_indexer(of_kept[mask]), len(values))


# The baseline that an inference is compared with: the shares in the release, or what is given.


#: Probabilities that differ by less are the same but for rounding.


@dataclass(frozen=True, eq=False)
class Baseline:
    """P0 of every judged value."""

    p: np.ndarray
    off: np.ndarray
    called: str

    def reaches(self, threshold: float) -> np.ndarray:
        """Mark what reaches a threshold for certain, but for rounding."""
        return np.asarray(self.p - self.off >= threshold - ROUNDING)


def baseline_of_all(
    baseline: object, view: View | PartitionedRelease, judged: SensitiveEvents, values: pd.Index
) -> Baseline:
    """Read a baseline that is the same for everybody: "overall", or a Series."""
    if isinstance(baseline, str) and baseline == "overall":
        n_s = view.n_s if isinstance(view, PartitionedRelease) else published(view)
        if n_s is None:
            raise StatementError(
                f'baseline="overall": how many people have each value is not published by the {view.noun}; '
                "give P(s) as a Series"
            )
        p, called = judged.of(n_s)[None] / n_s.sum(), "overall"
    elif isinstance(baseline, pd.Series):
        p, called = _of_series(baseline, judged, values)[None], "in the baseline"
    else:
        raise StatementError(
            f'baseline={short_repr(baseline)}: "overall", a Series of P(s), a table of P(s | q), or a Posterior is expected'
        )
    return Baseline(p, np.zeros(p.shape), called)


def baseline_of(baseline: object, post: Posterior, rows: pd.DataFrame, judged: SensitiveEvents) -> Baseline:
    """Read a baseline in any form, of the people of the rows."""
    if not isinstance(baseline, pd.DataFrame | QIDistribution | Posterior):
        return baseline_of_all(baseline, post.space.view, judged, rows.columns)
    try:
        p, off = _by_tuple(baseline, rows, judged)
    except MaxEntError as error:
        raise type(error)(f"baseline: {error}") from None
    return Baseline(p, off, "in the baseline")


def _of_series(given: pd.Series, judged: SensitiveEvents, values: pd.Index) -> np.ndarray:
    """P0 by label: of what is judged, or of every sensitive value that it includes; more of them play no role."""
    if given.index.has_duplicates:
        raise TableError(
            f"the baseline has a value twice: {join_names(given.index[given.index.duplicated()].unique())}"
        )
    try:
        p = given.to_numpy(dtype=float)
    except (OverflowError, TypeError, ValueError) as error:
        raise BadProbability(f"the baseline must hold numbers: {error}") from None
    if not ((p >= 0) & (p <= 1)).all() or p.sum() > 1 + ROUNDING * len(p):
        raise BadProbability(
            f"the baseline, a Series, must hold probabilities, which are at most 1 together, and is from {p.min():g} "
            f"to {p.max():g} with the sum {p.sum():g}; of counts give baseline / baseline.sum()"
        )
    own = {*given.index.names}
    if None not in own and own not in ({*judged.labels.names}, {*values.names}):
        raise TableError(
            f"the baseline is of {join_names(given.index.names)}, and {join_names(values.names)} is judged; rename its index"
        )
    if (at := _in_order(given.index, judged.labels.names).get_indexer(judged.labels)).min() >= 0:
        return p[at]
    at = _in_order(given.index, values.names).get_indexer(values)
    if (lacking := judged.involved & (at < 0)).any():
        raise TableError(
            f"the baseline says nothing about {join_names(values[lacking])}; write 0 for what nobody would have"
        )
    return judged.of(np.where(at >= 0, p[at], 0.0))


def _in_order(index: pd.Index, names: Iterable[object]) -> pd.Index:
    """Put the levels of labels in the order of some names, where all have these names."""
    wanted = list(names)
    if index.nlevels > 1 and None not in index.names and {*index.names} == {*wanted}:
        return index.reorder_levels(wanted)  # type: ignore[attr-defined]
    return index


def _by_tuple(
    baseline: pd.DataFrame | QIDistribution | Posterior, rows: pd.DataFrame, judged: SensitiveEvents
) -> tuple[np.ndarray, np.ndarray]:
    """P0 of every row, and how far it may be off."""
    index = rows.index if isinstance(rows.index, pd.MultiIndex) else pd.MultiIndex.from_arrays([rows.index])
    values, judged = rows.columns[judged.involved], judged.among_involved()
    if not isinstance(baseline, Posterior):
        if isinstance(baseline, pd.DataFrame):
            baseline = baseline.set_axis(_in_order(baseline.columns, values.names), axis=1)
        given = baseline if isinstance(baseline, QIDistribution) else QIDistribution(baseline)
        p = judged.of(given.of_tuples(index, values))
        return p, np.zeros(p.shape)
    table, _, beliefs = inferred(baseline)
    key: tuple[str, ...] = baseline.space.view.qi
    if len(baseline.space.people):
        if "who" not in rows.index.names:
            raise StatementError("it names people, and what is judged does not; give its conditional()")
        key = ("who", *key)
    known = table.index if isinstance(table.index, pd.MultiIndex) else pd.MultiIndex.from_arrays([table.index])
    if {*table.columns.names} != {*values.names}:
        raise TableError(f"it is of {join_names(table.columns.names)}, and {join_names(values.names)} is judged")
    column = _in_order(table.columns, values.names).get_indexer(values)
    if (column < 0).any():
        raise TableError(f"it says nothing about {join_names(values[column < 0])}")
    at = positions(known, index, key)
    # What a certificate bounds is the error of any set of values, not of single ones only.
    return judged.of(beliefs.p[at][:, column]), judged.largest(beliefs.off[at][:, column])


# The scale that sensitive values lie on: numbers, times or ranks; and texts that only look like numbers.


#: The default radius is the range of the values, divided by this.
PARTS_OF_RANGE = 20
#: Ordered values count within one rank of each other if there are so many ranks that three of them are not nearly all.
MANY_RANKS = 5
#: Values that occur so often or less are rare; so many rare values can make a table nearly unique.
RARE, MANY_RARE = 2, 10
#: The share of the people who have a rare value in such a table, at least.
SHARE_OF_RARE = 0.1
#: Fewer labels that look like numbers may be a coincidence; of two labels, neither lies between others.
FEWEST_NUMBERS = 3

#: Dates and times in the form of ISO 8601, which have one meaning only: 2024-05-31, 2024-05-31T12:00:00+02:00.
ISO_DATE = re.compile(r"\d{4}-\d{2}(-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?)?")
#: A number with its separators, as 30,000 or 30.000,50; or a code, letters with digits after them, as A01 or B20.1.
NUMBER_OR_CODE = re.compile(r"(?<![A-Za-z0-9_])([A-Za-z]+)\d[\w.]*|\d+(?:[.,' \u2019]\d+)*")
#: What may stand before a number without a space and is no code.
CURRENCIES = re.compile(
    "EUR|USD|GBP|CHF|JPY|CNY|RMB|INR|SEK|NOK|DKK|PLN|CZK|HUF|CAD|AUD|NZD|BRL|MXN|ZAR|RUB|TRY|KRW|US|RS|KR", re.I
)
#: Keeps the digits of a code apart from numbers.
AS_LETTERS = str.maketrans("0123456789", "abcdefghij")


@dataclass(frozen=True, eq=False)
class Scale:
    """The numbers that sensitive values are."""

    kind: str
    position: np.ndarray
    rounding: float = 0.0

    def default(self) -> float:
        """A twentieth of the range; of many ranks one at least."""
        radius = float(self.position.max(initial=0.0)) / PARTS_OF_RANGE
        if self.kind == "rank" and len(np.unique(self.position)) >= MANY_RANKS:
            return max(1.0, float(math.floor(radius)))
        return radius

    def radius(self, within: object) -> float:
        """Read a radius that was given: a number, of times a duration."""
        if self.kind != "time" or (isinstance(within, numbers.Real) and within == 0):
            return check_float(within, "within", 0.0, error=StatementError)
        if not isinstance(within, str | datetime.timedelta | np.timedelta64):
            raise StatementError(
                f"within={short_repr(within)}: the sensitive values are dates or times, so a duration is expected, such as "
                "pandas.Timedelta(days=30), or '30 days'"
            )
        try:
            seconds = pd.Timedelta(within).total_seconds()
        except (ValueError, OverflowError) as error:
            raise StatementError(f"within={short_repr(within)} is not a duration such as '30 days': {error}") from error
        if not seconds >= 0:
            raise StatementError(f"within={short_repr(within)}: a duration of at least 0 is expected")
        return seconds

    def amount(self, position: float) -> float | pd.Timedelta:
        """A difference of positions in the unit of the values."""
        return pd.Timedelta(seconds=position) if self.kind == "time" else position

    def in_words(self, position: float) -> str:
        """Write a difference of positions: "4,500", "30 days" or "2 ranks"."""
        if self.kind == "rank":
            return f"{position:.3g} rank{'s' * (position != 1)}"
        if self.kind == "number":
            return f"{position:,.2f}".rstrip("0").rstrip(".") if position >= 1000 else f"{position:.3g}"
        for seconds, unit in ((86400.0, "day"), (3600.0, "hour"), (60.0, "minute")):
            if position >= seconds:
                return f"{position / seconds:.3g} {unit}{'s' * (position != seconds)}"
        return f"{position:.3g} seconds"


def scale_of(values: pd.Index) -> Scale | None:
    """Find the scale of the values of one attribute; None if they are labels without an order."""
    if not len(values):
        return None
    plain = pd.Index(np.asarray(values)) if isinstance(values, pd.CategoricalIndex) else values
    scale = _of_times(plain) or _of_numbers(plain)
    if scale is None and isinstance(values, pd.CategoricalIndex) and values.ordered:
        return Scale("rank", (values.codes - values.codes.min()).astype(float))
    return scale


def _of_times(values: pd.Index) -> Scale | None:
    """Dates and times, by the seconds since the first."""
    kind = pd.api.types.infer_dtype(values, skipna=False)
    times: Any
    if kind == "string" and all(ISO_DATE.fullmatch(text) for text in values):
        times = pd.to_datetime(pd.Series(values, dtype=object), format="ISO8601", errors="coerce", utc=True)
    elif kind == "period" and isinstance(values, pd.PeriodIndex):
        times = values.to_timestamp().to_series()
    elif kind in ("datetime", "datetime64", "date"):
        times = pd.to_datetime(pd.Series(values, dtype=object), errors="coerce", utc=True)
    elif kind in ("timedelta", "timedelta64"):
        times = pd.to_timedelta(pd.Series(values, dtype=object), errors="coerce")
    else:
        return None
    if times.isna().any():
        return None
    return Scale("time", (times - times.min()).dt.total_seconds().to_numpy(float))


def _of_numbers(values: pd.Index) -> Scale | None:
    """Finite numbers, by how far they are above the least."""
    try:
        found = as_numbers(values, "values")
    except TableError:
        return None
    if found.dtype.kind != "f":  # whole numbers of any size: their differences are exact
        whole = found.astype(object)
        try:
            position = np.asarray(whole - whole.min(), dtype=float)
        except OverflowError:
            return None
        return Scale("number", position, 0.0 if position.max() < 2**53 else float(np.spacing(position.max())))
    with np.errstate(over="ignore"):
        position = found - found.min()
    if not np.isfinite(position).all():
        return None
    return Scale("number", position, 8 * np.finfo(float).eps * float(np.abs(found).max()))


def look_like_numbers(values: pd.Index) -> list[object]:
    """Find labels that look like numbers, dates or ranges with text around them, if at least half of all do."""
    texts = [_pattern(value) for value in values]
    often = {text for text, n in Counter(texts).items() if n >= FEWEST_NUMBERS and "#" in text}
    found = [v for v, text in zip(values, texts, strict=True) if text in often or re.match(r"[^\w#]*#", text)]
    return found if len(found) >= max(FEWEST_NUMBERS, len(values) / 2) else []


def _pattern(value: object) -> str:
    """A label with # for each number: "$#", "#-# years", "stage #"."""
    if isinstance(value, numbers.Real) and not isinstance(value, bool | np.bool_):
        return "#"

    def replaced(found: re.Match[str]) -> str:
        is_code = found[1] is not None and not CURRENCIES.fullmatch(found[1])
        return found[0].translate(AS_LETTERS) if is_code else "#"

    text = unicodedata.normalize("NFKC", str(value)).replace("#", "").strip()
    return NUMBER_OR_CODE.sub(replaced, text)


def are_nearly_unique(n_s: np.ndarray | None, n_values: int, n_people: int) -> bool:
    """Whether most values occur once or twice, and not only a few people have these."""
    if n_s is None:
        return n_values >= MANY_RARE and n_values > n_people / RARE
    rare = (n_s > 0) & (n_s <= RARE)
    many = rare.sum() >= MANY_RARE and rare.sum() > (n_s > 0).sum() / 2
    return bool(many and n_s[rare].sum() >= SHARE_OF_RARE * n_s.sum())


# Intervals around sensitive values that are numbers, times or ranks: their probabilities, and the best guess.


#: Sums of probabilities that differ by less are the same but for rounding.
ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Intervals:
    """The closed intervals [c - radius, c + radius] around some values c, the centres."""

    scale: Scale
    radius: float
    centres: np.ndarray
    all_values: SensitiveEvents
    is_default: bool

    @cached_property
    def order(self) -> np.ndarray:
        """The values by increasing position."""
        return np.argsort(self.scale.position, kind="stable")

    @cached_property
    def sorted(self) -> np.ndarray:
        """The positions, increasing."""
        return self.scale.position[self.order]

    @cached_property
    def ends(self) -> tuple[np.ndarray, np.ndarray]:
        """Of each centre, where its interval starts and stops among the sorted values."""
        at, reach = self.scale.position[self.centres], self.radius + self.scale.rounding
        return np.searchsorted(self.sorted, at - reach, "left"), np.searchsorted(self.sorted, at + reach, "right")

    @property
    def hold_several(self) -> bool:
        """Whether some interval holds more than one value."""
        start, stop = self.ends
        return bool((stop - start > 1).any())

    @property
    def involved(self) -> np.ndarray:
        """Mark the sensitive values that are in some interval."""
        start, stop = self.ends
        depth = np.zeros(len(self.order) + 1)
        np.add.at(depth, start, 1)
        np.add.at(depth, stop, -1)
        reached = self.order[np.cumsum(depth)[:-1] > 0]
        return np.asarray(self.all_values.includes[:, reached].sum(axis=1) > 0)

    def cumulative(self, p: np.ndarray) -> np.ndarray:
        """Add up probabilities of values in their order, from 0 on: shape (rows, values + 1)."""
        total = np.zeros((len(p), len(self.order) + 1))
        np.cumsum(p[:, self.order], axis=1, out=total[:, 1:])
        return total

    def of(self, p: np.ndarray) -> np.ndarray:
        """Add up the probabilities of values, shape (rows, values), in each interval: shape (rows, centres)."""
        total, (start, stop) = self.cumulative(p), self.ends
        return total[:, stop] - total[:, start]

    def medians(self, p: np.ndarray) -> np.ndarray:
        """The position of the median of every row, the guess with the least expected error."""
        total = self.cumulative(p)[:, 1:]
        return self.sorted[np.minimum((total < total[:, -1:] / 2).sum(axis=1), len(self.order) - 1)]

    def errors(self, p: np.ndarray) -> np.ndarray:
        """The expected distance of the value from the median, of every row."""
        far = np.abs(self.scale.position - self.medians(p)[:, None])
        return np.asarray(np.einsum("ij,ij->i", p, far) / p.sum(axis=1))

    def are_close(self, value: object, other: object) -> bool:
        """Whether two values of the attribute count as the same."""
        at = self.scale.position[self.all_values.labels.get_indexer(pd.Index([value, other]))]
        return bool(abs(at[0] - at[1]) <= self.radius + self.scale.rounding)

    def narrow(self, p: np.ndarray, p0: np.ndarray, least: float, most: float) -> np.ndarray:
        """Mark rows in which an interval that is no wider than the radius has P >= least, and P0 < most."""
        total, before, n = self.cumulative(p), self.cumulative(p0), len(self.order)
        shift = 2.0 * np.arange(len(p))[:, None]  # one sorted list of all rows, in which each row has its own range
        wanted = total[:, :-1] + max(least, 0.0)
        stop = np.searchsorted((total + shift).ravel(), (wanted + shift).ravel() - ROUNDING, "left")
        stop = stop.reshape(wanted.shape) - np.arange(len(p))[:, None] * (n + 1)
        centres = np.flatnonzero(np.isin(self.order, self.centres))
        stop = np.maximum(stop, np.append(centres, n)[np.searchsorted(centres, np.arange(n))] + 1)  # holds a centre
        possible, stop = stop <= n, np.minimum(stop, n)
        is_short = self.sorted[stop - 1] - self.sorted <= self.radius + self.scale.rounding
        inside = np.take_along_axis(np.broadcast_to(before, (len(p), n + 1)), stop, 1) - before[:, :-1]
        return np.asarray((possible & is_short & (inside < most)).any(axis=1))


def judged_within(values: pd.Index, sensitive: object, within: object) -> tuple[SensitiveEvents, Intervals | None]:
    """Read which values are judged, and the intervals around them, None where the values are labels."""
    judged = judged_values(values, sensitive)
    is_zero = isinstance(within, numbers.Real) and within == 0
    if judged.labels.nlevels > 1:
        if within is not None and not is_zero:
            raise StatementError(
                f"within={short_repr(within)}: combinations of {', '.join(map(str, judged.labels.names))} are judged by "
                f"equal values; judge one attribute, sensitive={{{judged.labels.names[0]!r}: None}}"
            )
        return judged, None
    attribute = judged.labels.name
    every = values_of(values, attribute)
    if isinstance(within, Mapping | pd.DataFrame | PathLike):
        return with_nodes(judged, every, read_hierarchies({str(attribute): within})[str(attribute)]), None
    if (scale := scale_of(every.labels)) is None:
        if within is not None and not is_zero:
            raise StatementError(
                f"within={short_repr(within)}: the values of {attribute!r} are neither numbers, dates nor an ordered "
                "Categorical; convert them, or give within=0 for equal values only"
            )
        return judged, None
    radius = scale.default() if within is None else scale.radius(within)
    return judged, Intervals(scale, radius, every.labels.get_indexer(judged.labels), every, within is None)


# Who is exposed: the rule, applied to the probabilities of some people at a time, and what is counted of them.


#: How many numbers can be added up, one array a partition, of the same judge.
summed = partial(np.sum, axis=0)
#: Probabilities that are judged at a time: a table of more is judged in parts.
MOST_NUMBERS = 2**22
#: How far rounding may move the sum of the probabilities of an interval.
SUM_ROUNDING = 1e-12


def certified_error(post: Posterior) -> float:
    """How far a P(s | q) may be from the maximum-entropy one; of a population P(s | q, in the release)."""
    if OUTSIDE not in post.space.view.sensitive_values.to_flat_index():
        return min(post.certificate.bound, 1.0)
    return float(inferred(post)[2].off.max(initial=0.0))


@dataclass(frozen=True, eq=False)
class ExposureRule:
    """A person is exposed if P(s | q) >= threshold while P0(s) < threshold, for one of the judged values s at least."""

    threshold: float
    slack: float
    values: pd.Index
    judged: SensitiveEvents
    baseline: Baseline | None = None
    intervals: Intervals | None = None
    rho1: float | None = None

    @cached_property
    def by_interval(self) -> Intervals | None:
        """The intervals, if one of them holds more than one value; else equal values are judged."""
        return None if self.intervals is None or not self.intervals.hold_several else self.intervals

    @property
    def units(self) -> SensitiveEvents:
        """What a baseline is read of: the judged values, or all values where intervals are judged."""
        return self.judged if self.by_interval is None else self.by_interval.all_values

    @property
    def involved(self) -> np.ndarray:
        """Mark the sensitive values that are judged at all."""
        return self.judged.involved if self.by_interval is None else self.by_interval.involved

    def of(self, p: np.ndarray) -> np.ndarray:
        """P of each judged value, or of the interval around it, from P of all sensitive values."""
        return self._within(self.units.of(p))

    def _within(self, p: np.ndarray) -> np.ndarray:
        """P of each judged value, or of the interval around it, from P of the units."""
        return p if self.by_interval is None else self.by_interval.of(p)

    @cached_property
    def p0(self) -> np.ndarray:
        """P0 of each judged value, or of the interval around it; one row if it is the same for all."""
        assert self.baseline is not None
        return self._within(self.baseline.p)

    @property
    def least_p0(self) -> np.ndarray:
        """P0 less what a certificate leaves open."""
        assert self.baseline is not None
        off = self.baseline.off  # bounds the error of any set of values
        return self.p0 - (off if self.by_interval is None else off.max(axis=1, keepdims=True))

    @cached_property
    def counts(self) -> np.ndarray:
        """Mark the judged values that count, of all (one row) or of every row: P0 is below the threshold."""
        if self.baseline is None:
            return np.ones((1, len(self.judged.labels)), dtype=bool)
        least = self.least_p0
        return least < self.threshold - ROUNDING if self.rho1 is None else least <= self.rho1 + ROUNDING

    def parts(self, n_rows: int) -> Iterator[tuple[slice, ExposureRule]]:
        """Judge some rows at a time, so that memory holds: which rows, and the judge of these."""
        step = max(1, MOST_NUMBERS // max(len(self.values), 1))
        for start in range(0, max(n_rows, 1), step):
            rows = slice(start, start + step)
            if self.baseline is None or len(self.baseline.p) == 1:
                yield rows, self
            else:
                own = replace(self.baseline, p=self.baseline.p[rows], off=self.baseline.off[rows])
                yield rows, replace(self, baseline=own)

    def counted(self, p: np.ndarray) -> np.ndarray:
        """P of judged values that count, and -1 of others, shape (rows, judged values)."""
        asked = self.of(p)
        return asked if self.baseline is None else np.where(self.counts, asked, -1.0)

    def surest(self, p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The largest P that counts of every row, and the position of its judged value: of intervals the middle one."""
        counted = self.counted(p)
        largest = counted.max(axis=1, initial=-1.0)
        if self.by_interval is None:
            return largest, counted.argmax(axis=1)
        near = self.by_interval
        far = np.abs(near.scale.position[near.centres] - near.medians(near.all_values.of(p))[:, None])
        return largest, np.where(counted >= largest[:, None] - ROUNDING, far, np.inf).argmin(axis=1)

    def surest_of_all(self, p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The same of many rows, some at a time."""
        found = [judge.surest(p[rows]) for rows, judge in self.parts(len(p))]
        return np.concatenate([one for one, _ in found]), np.concatenate([one for _, one in found])

    def counted_at(self, p: np.ndarray, which: np.ndarray) -> np.ndarray:
        """P of one judged value of every row, -1 where it does not count."""
        found = [np.take_along_axis(judge.counted(p[rows]), which[rows, None], 1) for rows, judge in self.parts(len(p))]
        return np.concatenate(found)[:, 0]

    def baseline_at(self, which: np.ndarray) -> np.ndarray:
        """P0 of one judged value of every row."""
        if len(self.p0) == 1:
            return self.p0[0, which]
        return self.p0[np.arange(len(which)), which]

    def reaches(self, p: np.ndarray) -> np.ndarray:
        """Mark probabilities that reach the threshold, or cannot be told from such."""
        slack = self.slack if self.by_interval is None else self.slack + SUM_ROUNDING
        return np.asarray((p >= self.threshold - slack) & (p >= 0))

    def certain(self, p: np.ndarray) -> np.ndarray:
        """Mark probabilities that are 1, as far as can be told."""
        return np.asarray(p >= 1 - max(min(self.slack, ACCURACY), NEGLIGIBLE))

    def _known_closer(self, p: np.ndarray, some: np.ndarray) -> np.ndarray:
        """Mark rows, among some, that an interval narrower than the judged ones would expose."""
        found = np.zeros(len(p), dtype=bool)
        near, baseline = self.by_interval, self.baseline
        if near is None or baseline is None or not some.any():
            return found
        same = len(baseline.p) == 1
        p0, off = (baseline.p, baseline.off) if same else (baseline.p[some], baseline.off[some])
        most = self.threshold - ROUNDING if self.rho1 is None else self.rho1 + ROUNDING
        least = self.threshold - self.slack - SUM_ROUNDING
        found[some] = near.narrow(near.all_values.of(p[some]), p0, least, most + float(off.max(initial=0.0)))
        return found

    def sizes(self) -> list[int]:
        """How many numbers each entry of a tally has."""
        n, single = len(self.judged.labels), single_values(self.values)
        return [1, 1, 1, 1, 10, n, n, n, n, len(self.values), 0 if single is None else len(single.labels), 1]

    def __call__(self, p: np.ndarray, people: np.ndarray, numbers: np.ndarray) -> np.ndarray:
        """Count people of some rows: the entries of a :class:`Tally`, one after another."""
        found = np.zeros(sum(self.sizes()))
        for rows, judge in self.parts(len(p)):
            found += judge._counts_of(p[rows], people[rows].astype(float))
        return found

    def _counts_of(self, p: np.ndarray, ones: np.ndarray) -> np.ndarray:
        """Count people of rows that fit into memory."""
        asked = self.of(p)
        counted = asked if self.baseline is None else np.where(self.counts, asked, -1.0)
        largest = counted.max(axis=1, initial=-1.0)
        exposed = self.reaches(largest)
        # As the certificate's bound decides for exposure, it decides for the next tenth.
        tenth = np.clip((largest * 10 + 10 * (self.slack + SUM_ROUNDING)).astype(int), 0, 9)
        anyway = self.reaches(asked) & ~self.counts
        closer = self._known_closer(p, ~exposed & anyway.any(axis=1))
        unsure = exposed & (largest < self.threshold - NEGLIGIBLE)
        errors = 0.0 if self.intervals is None else float(ones @ self.intervals.errors(self.intervals.all_values.of(p)))
        is_certain, reached = self.certain(p), self.reaches(counted)
        single, of_one = single_values(self.values), np.zeros(0)
        uncounted = is_certain.any(axis=1) & ~exposed
        if single is not None:
            one = self.certain(single.of(p)) & ~is_certain.any(axis=1, keepdims=True) & ~exposed[:, None]
            of_one, uncounted = ones @ one, uncounted | one.any(axis=1)
        return np.concatenate(
            [
                [errors, ones[closer].sum(), ones[exposed].sum(), ones[unsure].sum()],
                np.bincount(tenth, ones, 10),
                ones @ reached,
                ones @ (reached & self.certain(counted)),
                ones @ anyway,
                ones @ np.broadcast_to(~self.counts, asked.shape),
                ones @ (is_certain & ~exposed[:, None]),
                of_one,
                [ones[uncounted].sum()],
            ]
        )


class ExposureCounts(NamedTuple):
    """People, counted."""

    errors: float
    closer: int
    exposed: int
    unsure: int
    tenths: np.ndarray
    by_value: np.ndarray
    certain: np.ndarray
    anyway: np.ndarray
    not_counted: np.ndarray
    uncounted: np.ndarray
    of_one: np.ndarray
    certain_uncounted: int

    @classmethod
    def of(cls, judge: ExposureRule, counted: np.ndarray) -> Self:
        """Take apart what a judge has counted."""
        entries = np.split(counted, np.cumsum(judge.sizes())[:-1])
        errors, *whole = entries[0], *(np.rint(entry).astype(int) for entry in entries[1:])
        (closer,), (exposed,), (unsure,), tenths, by_value, certain, anyway, not_counted, uncounted, of_one, one = whole
        return cls(
            float(errors[0]), int(closer), int(exposed), int(unsure), tenths, by_value, certain, anyway, not_counted,
            uncounted, of_one, int(one[0]),
        )  # fmt: skip


# Through what people are exposed: what is published alone, or some of the statements.


@dataclass(frozen=True, eq=False)
class Attribution:
    """The rule and the answer that it was applied to, to be applied to answers with less knowledge."""

    post: Posterior
    judge: ExposureRule
    rows: pd.DataFrame
    people: np.ndarray

    @staticmethod
    def checked(through: Attribution | None) -> Attribution:
        """Say so where statements cannot be left out."""
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
        judge = replace(self.judge, slack=certified_error(post))
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


@dataclass(frozen=True, eq=False)
class Exposure(ReprMixin):
    """The people who are exposed, and how often the likeliest value is the true one.

    Attributes
    ----------
    threshold : float
        The probability from which on a person counts as exposed.
    people : int
        How many people's most likely value, of those that count, has at least that probability.
    who : DataFrame
        Their QI tuples, and names where people are named (index), the value inferred, the likeliest of those that
        count, its probability `P`, its `baseline` if there is one, and how many `people` each row is.
    histogram : Series
        People by their largest P(s | q), of values s that count, in tenths.
    attack_success : float or None
        Share of all people whose most likely value is their true one, P(argmax = truth); only given
        the original records. A tie counts as a guess among its values; names are not used.
    values : DataFrame
        By judged value: its `baseline` P0, the mean over people; how many people are `exposed` by it, and for how many
        of these it is `certain`; for how many it is `not_counted`, as their P0 reaches the threshold, and of how many
        of these it is inferred `anyway` with that probability.
    uncounted : DataFrame
        By value: how many `people` who are not exposed have it for certain, P = 1, and `because` of what it does not
        count. Look at these: a value that nobody took for sensitive is known of them.
    warnings : tuple of str
        What must be known beside the number of people, in sentences.
    baseline : str or None
        "overall" or "in the baseline", whichever P0 was.
    within : float, Timedelta or None
        Where the sensitive values are numbers, times or ranks: two that differ by no more count as the same. None where
        they are labels.
    expected_error : float, Timedelta or None
        The expected distance of the value from the best guess, the median of P(s | q), mean over all people; of
        numbers, times or ranks.
    expected_error_before : float, Timedelta or None
        The same of somebody who knows only how many people have each value, where that is published.
    undecided : tuple of str
        Those of the warnings for which "nobody is exposed" may be false: the values look like numbers and are judged as
        labels, say. Give `within` to decide.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> hospital = mx.datasets.load_hospital()
    >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    >>> knows = mx.MaxEnt(release).add(mx.P("Breast Cancer", given={"Gender": "male"}) == 0).solve()
    >>> found = mx.measures.exposed(knows, threshold=0.8, original=hospital)
    >>> print(found)
    1 of 10 people exposed at P >= 0.8; guessing the likeliest value is right for 46.7%
    >>> found.histogram[found.histogram > 0].to_list()             # people by tenths: 0.3 to 0.4, ..., 0.9 to 1
    [2, 5, 2, 1]

    Beside what is known of everybody, and why:

    >>> found = mx.measures.exposed(knows, threshold=0.8, baseline="overall")
    >>> found.published_alone, found.statements["people"].to_dict()
    (0, {'P(Breast Cancer | Gender=male) = 0': 1})
    """

    threshold: float
    people: int
    who: pd.DataFrame
    histogram: pd.Series
    attack_success: float | None
    values: pd.DataFrame = field(default_factory=pd.DataFrame)
    uncounted: pd.DataFrame = field(default_factory=pd.DataFrame)
    warnings: tuple[str, ...] = ()
    baseline: str | None = None
    within: float | pd.Timedelta | None = None
    expected_error: float | pd.Timedelta | None = None
    expected_error_before: float | pd.Timedelta | None = None
    undecided: tuple[str, ...] = ()
    _intervals: Intervals | None = field(default=None, init=False)
    _meaning: str = field(default="", init=False)
    _scale: tuple[str, ...] = field(default=(), init=False)
    _verdict: tuple[str, ...] = field(default=(), init=False)
    _through: Attribution | None = field(default=None, init=False)

    @property
    def total(self) -> int:
        """How many people there are."""
        return int(self.histogram.sum())

    @property
    def meaning(self) -> str:
        """What exposes somebody, in words: "a value that has P < 0.8 overall is inferred with P >= 0.8"."""
        return self._meaning or f"a value is inferred with P >= {self.threshold:g}"

    @property
    def closeness(self) -> str:
        """How far from a value others count as the same, in words: "4,500", "30 days"; empty for equal values only."""
        return "" if self._intervals is None else self._intervals.scale.in_words(self._intervals.radius)

    @property
    def distances(self) -> tuple[str, ...]:
        """Which values count as the same, and how far off the best guess is, in sentences; empty for labels."""
        return self._scale

    @property
    def lift(self) -> pd.Series:
        """How many times as large as its baseline the probability of each row of `who` is; empty without a baseline."""
        if "baseline" not in self.who:
            return pd.Series(dtype=float, name="lift")
        with np.errstate(divide="ignore"):
            return pd.Series(self.who["P"].to_numpy() / self.who["baseline"].to_numpy(), self.who.index, name="lift")

    @cached_property
    def published_alone(self) -> int:
        """How many of the exposed people would be exposed if nothing were known but what is published, and a prior.

        Raises
        ------
        StatementError
            Of a release in partitions, or if the posterior was loaded from a file without `verify`.
        SolverError
            If the model without knowledge could not be solved.
        """
        return Attribution.checked(self._through).published_alone

    @cached_property
    def statements(self) -> pd.DataFrame:
        """Through which statements people are exposed: with less knowledge the model is solved again, on first reading.

        A row a statement, that without which fewest people stay exposed first; if the knowledge has more than 50 rows,
        a row a source:

        * `people`: how many of those exposed are not, once this statement alone is left out: it is necessary;
        * `alone`: how many of those exposed are so by what is published and this statement only, and not by what is
          published: it is sufficient;
        * `without`: how many are exposed without it, who may be others;
        * `raises`: by how much it raises P(s | q) of the value that exposes them, mean over the exposed people;
        * `message`: why there is no answer, or "".

        Of two statements that imply the same, neither is necessary and both are sufficient; of two that expose somebody
        together, the other way round. So neither column adds up to the exposed people. The multipliers of statements,
        ``post.prices()``, say something else: what a small change of their values does to the entropy.

        Raises
        ------
        StatementError
            Of a release in partitions, or if the posterior was loaded from a file without `verify`.
        SolverError
            If none of the models could be solved.
        """
        return Attribution.checked(self._through).statements

    def __str__(self) -> str:
        sentences = [*self._sentences(), *(f"Warning: {one}" for one in self.warnings)]
        return "\n".join(str(one_line(sentence)) for sentence in sentences)  # labels may hold line breaks

    def __repr__(self) -> str:
        return f"<Exposure: {self}>"

    def _tables(self) -> Iterable[TablePreview]:
        return [TablePreview(self.who, "exposed groups")] if len(self.who) else []

    def _sentences(self) -> list[str]:
        """The verdict; with a baseline also how much of it what is published says by itself."""
        first, *others = self._verdict or [f"{self.people} of {self.total} people exposed at P >= {self.threshold:g}"]
        if self.attack_success is not None:
            right = f"guessing the likeliest value is right for {self.attack_success:.1%}"
            if self.baseline is None:
                first += f"; {right}"
            else:
                others.append(f"{right[0].upper()}{right[1:]}.")
        if len(lift := self.lift):
            least, most = f"{lift.min():.3g}", f"{lift.max():.3g}"
            times = f"{least} times" if least == most else f"{least} to {most} times"
            others.append(f"P is {times} the baseline.")
        others += self._scale
        if self.baseline is not None and self.people and self._through is not None and self._through.is_known:
            try:
                others.append(self._through.in_words(self.published_alone, self.people))
            except SolverError:
                others.append("How many are exposed by what is published alone could not be found out.")
        return [first, *others]


def same_value(found: Exposure, value: object, other: object) -> bool:
    """Whether two sensitive values of the release count as the same."""
    near = found._intervals
    return value == other if near is None else near.are_close(value, other)


# What exposure says in plain words.


#: Values that are certain and not counted, each of which has a sentence.
NAMED = 10


def meaning(judge: ExposureRule) -> str:
    """Say what exposes somebody: "a value that has P < 0.8 overall is inferred with P >= 0.8"."""
    return f"{_value(judge)}{_that_has(judge)} is inferred with P >= {judge.threshold:g}"


def _value(judge: ExposureRule) -> str:
    """A value, or an interval around one."""
    near = judge.by_interval
    return "a value" if near is None else f"a value, to within {near.scale.in_words(near.radius)},"


def _that_has(judge: ExposureRule) -> str:
    """Which baseline a value that counts has."""
    if judge.baseline is None:
        return ""
    least = f"P < {judge.threshold:g}" if judge.rho1 is None else f"P <= {judge.rho1:g}"
    return f" that has {least} {judge.baseline.called}"


def distance_in_words(judge: ExposureRule) -> Iterator[str]:
    """Say which values count as the same, where they are on a scale."""
    if (near := judge.intervals) is None:
        return
    text = near.scale.in_words(near.radius)
    if near.is_default:
        most = "twentieth of their range"
        how = f"the default, one rank or a {most}" if near.scale.kind == "rank" else f"the default, a {most}"
        text += f" ({how}; within=...)"
    if near is judge.by_interval:
        yield f"Values count as inferred if they are within {text}."
    elif near.radius > 0:
        yield f"Only equal values count as inferred: no two of them are within {text}."


def verdict(judge: ExposureRule, tally: ExposureCounts, total: int, values: pd.DataFrame, whom: str) -> Iterator[str]:
    """Say how many people are exposed by what, and what is not counted; sentences. `whom` is who all people are."""
    at, baseline = f"P >= {judge.threshold:g}", judge.baseline
    if baseline is None:
        yield f"{tally.exposed} of {total} people exposed at {at}"
        return
    if tally.exposed:
        yield f"{tally.exposed} of {total} {whom} ({tally.exposed / total:.1%}) exposed: {meaning(judge)}."
    else:
        yield f"0 of {total} {whom} exposed: no{meaning(judge).removeprefix('a')}."
    if judge.by_interval is not None:
        if some := int((values["anyway"] > 0).sum()):
            yield (
                f"{pluralize(some, 'interval')} {'does' if some == 1 else 'do'} not count, as the baseline is too large; "
                f"the most frequent is inferred with {at} of {_people(values['anyway'].max())}."
            )
        return
    same = len(baseline.p) == 1
    for label, row in values[values["exposed"] > 0].iterrows():
        before = f", P = {row['baseline']:.3g} {baseline.called}," if same else ""
        sure = f", of {int(row['certain'])} for certain" if row["certain"] else ""
        yield f"{in_words(label)}{before} is inferred of {_people(row['exposed'])}{sure}."
    for label, row in values[values["not_counted"] > 0].iterrows():
        whom = "" if same else f" of {_people(row['not_counted'])}"
        has = f"P = {row['baseline']:.3g}" if same else at
        yield (
            f"{in_words(label)} is not counted{whom}, as it has {has} {baseline.called}; it is inferred with {at} of "
            f"{_people(row['anyway'])}."
        )


def _people(n: float) -> str:
    """Word a number of people."""
    return pluralize(int(n), "person", "people")


def uncounted_table(judge: ExposureRule, tally: ExposureCounts) -> pd.DataFrame:
    """Values that are certain of people who are not exposed: how many these are, and why that does not count."""
    judged, single = judge.involved, single_values(judge.values)
    rows = [
        (label, int(n), "its baseline reaches the threshold" if of_judged else "it is not among the sensitive values")
        for label, n, of_judged in zip(judge.values.to_flat_index(), tally.uncounted, judged, strict=True)
        if n
    ]
    if single is not None:
        rows += [
            (label, int(n), "it is not judged by itself, or its baseline reaches the threshold")
            for label, n in zip(single.labels, tally.of_one, strict=True)
            if n
        ]
    table = pd.DataFrame(rows, columns=["value", "people", "because"]).set_index("value")
    table.attrs["people"] = tally.certain_uncounted  # of whom several values may be certain
    return table


def warnings_of(judge: ExposureRule, tally: ExposureCounts, uncounted: pd.DataFrame) -> Iterator[str]:
    """What a reader of the verdict must know besides; sentences."""
    for label, row in uncounted.head(NAMED).iterrows():
        yield f"{in_words(label)} is certain (P = 1) of {_people(row['people'])} not counted: {row['because']}."
    if len(uncounted) > NAMED:
        yield f"{len(uncounted) - NAMED} more values are certain of people not counted."
    if tally.unsure:
        yield (
            f"{tally.unsure} of the exposed people are counted only because the certificate's bound, "
            f"{judge.slack:.2g}, does not prove that they are below the threshold."
        )


def undecided_of(
    judge: ExposureRule, tally: ExposureCounts, n_s: np.ndarray | None, n_people: int, is_given: bool
) -> Iterator[tuple[str, bool]]:
    """Say why "nobody is exposed" may be false of such values; sentences, and whether the verdict is open with each."""
    if tally.closer:
        near = judge.by_interval
        assert near is not None
        yield (
            f"A narrower interval than +-{near.scale.in_words(near.radius)} would expose {_people(tally.closer)} not "
            f"counted: the baseline of the wider ones is too large for P >= {judge.threshold:g} to count. Give a "
            "smaller within=...",
            True,
        )
    if is_given:
        return
    names = list(judge.judged.labels.names)
    for name in names:
        every = values_of(judge.values, name)
        own = None if n_s is None else every.of(n_s[None])[0]
        unique = are_nearly_unique(own, len(every.labels), n_people)
        texts = look_like_numbers(every.labels)
        rare = f"Most values of {name!r} occur once or twice"
        choose = "give within=0 if only equal values matter"
        if len(names) > 1 and _has_intervals(every.labels):
            yield (
                f"Combinations of {', '.join(map(str, names))} are judged by equal values, and {name!r} is a number, "
                f"date or rank: close values count as different. Judge it by itself, sensitive={{{name!r}: None}}, or "
                f"{choose}.",
                True,
            )
        elif judge.by_interval is not None:
            if unique:
                yield f"{rare}: whether somebody is exposed depends on within=...; choose one that matters.", False
        elif judge.intervals is None and texts:
            yield (
                f"{len(texts)} of {len(every.labels)} values of {name!r} look like numbers, dates or ranges, such as "
                f"{short_repr(texts[0])}, and are judged as unrelated labels: close values count as different. Convert them "
                f"to numbers or dates, or {choose}.",
                True,
            )
        elif unique:
            yield (
                f"{rare}, and only equal values count, so that hardly anybody's can be inferred, whatever is known. "
                f"Group the values, or {choose}.",
                True,
            )


def _has_intervals(values: pd.Index) -> bool:
    """Whether some values of an attribute count as the same by default."""
    scale = scale_of(values)
    if scale is None:
        return False
    every = values_of(values, values.name)
    return Intervals(scale, scale.default(), np.arange(len(values)), every, is_default=True).hold_several


# Exposure: how many people's values an adversary infers with at least a given probability, and whose.


#: QI tuples that are listed of a release in partitions.
LISTED = 1000
#: Columns of `who` besides the sensitive attributes.
OWN = frozenset({"P", "baseline", "people"})


def exposed(
    post: Posterior | PartitionedPosterior,
    threshold: float = 0.8,
    original: pd.DataFrame | None = None,
    *,
    sensitive: object = None,
    baseline: Posterior | QIDistribution | pd.DataFrame | pd.Series | str | None = None,
    within: object = None,
    rho1: float | None = None,
) -> Exposure:
    """Count the people of whom some sensitive value s has P(s | q) >= threshold while its baseline P0(s) < threshold.

    Of values that are numbers, dates or ranks the rule is about intervals: ``P(|S - s| <= within | q) >= threshold``
    while ``P0(|S - s| <= within) < threshold``, for some s that occurs.

    Without a baseline P0 is 0, and whoever's value is likely counts, also where it is as likely for everybody. With a
    baseline, P0 just below the threshold and P(s | q) just above it count as well: ``.lift`` is P / P0 of each group,
    and `rho1` asks for a smaller P0.

    Parameters
    ----------
    post : Posterior or PartitionedPosterior
        What the adversary infers. Of a release in partitions, up to 1,000 QI tuples are listed, the surest.
    threshold : float
        A probability. One that is below it by no more than the certificate's bound counts as reaching it.
    original : DataFrame, optional
        The records that were published, to measure the attack's success.
    sensitive : object, optional
        The values that count: one, or a list of them; by default all. Of several sensitive attributes a tuple is a
        combination of their values; ``{"Disease": ["HIV", "Flu"]}`` is these values, whatever the others are, and
        ``{"Disease": None}`` all values of the attribute. Of numbers they are the centres s of the intervals, which
        hold other values, too.
    baseline : "overall", Series, DataFrame, QIDistribution or Posterior, optional
        P0: "overall", the distribution of the values in the release, everybody in it included; P(s) by value, a
        Series, which may have
        values that nobody in the release has; P(s | q) by some of the QI attributes; or what is inferred of somebody
        who is not in the release, a posterior. Of a release in partitions "overall" or a Series. It reaches the
        threshold if it does so, but for rounding of 1e-9, whatever its own certificate's bound.
    within : float, Timedelta, dict or DataFrame, optional
        Two values that differ by no more count as the same. Numbers: in their unit. Dates and times, also as text in
        the form of ISO 8601: a Timedelta, or a text such as "30 days". An ordered Categorical: in ranks. 0 is equal
        values only. By default a twentieth of the range of the values in the release; of ordered values a twentieth of
        the ranks, and at least one rank if five or more occur; ``.within`` and the verdict say which. For labels, a
        hierarchy as of :meth:`maxent_cvx.Release.from_generalized`: its nodes, all but the root, count besides the
        values. Combinations of several attributes are compared by equal values only.
    rho1 : float, optional
        Only values with P0 <= rho1 count; by default those with P0 < threshold.

    Returns
    -------
    Exposure
        With ``.people``, ``.who``, ``.values``, ``.warnings``, ``.statements`` and, given the original records,
        ``.attack_success``; of numbers ``.within`` and ``.expected_error``. ``str()`` of it is the verdict in words.
        ``.undecided`` holds the warnings with which "nobody is exposed" cannot be believed.

    Raises
    ------
    StatementError
        If `post` is no posterior; if the baseline is none, or is not published; of a release in partitions, if
        `original` or a baseline that is not the same for everybody is given; if `within` does not fit the values.
    BadProbability
        If the threshold or `rho1` is not between 0 and 1, or the baseline does not hold probabilities.
    UnknownName, TableError
        If `sensitive` or the baseline do not fit the sensitive values, or the baseline the people; if an attribute is
        called P, baseline or people, as a column of `who` is; if the original records lack a column, or are not the
        people of the release.

    Notes
    -----
    Evfimievski, Gehrke and Srikant (2003): an upward rho1-to-rho2 privacy breach has P0(s) <= rho1 and
    P(s | q) >= rho2. Here rho2 is the threshold; without `rho1` any P0 below it counts.

    A label that looks like a number ("$30,000", "20-30 years") is not read as one, and values most of which occur once
    or twice are hardly ever inferred exactly: ``.undecided`` says so unless `within` is given. It also says how many
    people are not counted because the baseline of the interval reaches the threshold, although a narrower interval
    would expose them.

    Of a population
    (:class:`maxent_cvx.GroupedRelease`) P(s | q, in the release) is judged, of everybody in the population who may be
    in the release, and "overall" is of the people in it.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> hospital = mx.datasets.load_hospital()
    >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    >>> knows = mx.MaxEnt(release).add(mx.P("Breast Cancer", given={"Gender": "male"}) == 0).solve()
    >>> print(mx.measures.exposed(knows, threshold=0.8).who.round(2))
                         Disease    P  people
    Gender Degree
    female junior  Breast Cancer  1.0       1

    Compared with the shares of the values in the release:

    >>> print(mx.measures.exposed(knows, threshold=0.8, sensitive=["Breast Cancer", "HIV"], baseline="overall"))
    1 of 10 people (10.0%) exposed: a value that has P < 0.8 overall is inferred with P >= 0.8.
    'Breast Cancer', P = 0.2 overall, is inferred of 1 person, of 1 for certain.
    P is 5 times the baseline.
    By what is published alone 0 of them would be; the others are exposed through P(Breast Cancer | Gender=male) = 0.

    Salaries that are all different, and known within 50:

    >>> import pandas as pd
    >>> pay = pd.DataFrame({"age": [30] * 3 + [40] * 3, "pay": [30_000, 30_020, 30_050, 70_000, 70_010, 70_050]})
    >>> pay["bucket"] = pay["age"]
    >>> post = mx.MaxEnt(mx.Release.from_buckets(pay, qi="age", sa="pay", bucket="bucket")).solve()
    >>> mx.measures.exposed(post, baseline="overall", within=0).people
    0
    >>> print(mx.measures.exposed(post, baseline="overall"))
    6 of 6 people (100.0%) exposed: a value, to within 2,002.5, that has P < 0.8 overall is inferred with P >= 0.8.
    P is 2 times the baseline.
    Values count as inferred if they are within 2,002.5 (the default, a twentieth of their range; within=...).
    The best guess is off by 16.7 on average; without the release, by 19,998.33.
    They are exposed by what is published alone.
    """
    check_float(threshold, "threshold", 0.0, 1.0)
    if rho1 is not None:
        check_float(rho1, "rho1", 0.0, 1.0)
    if isinstance(post, PartitionedPosterior):
        return _of_parts(post, threshold, original, sensitive, baseline, within, rho1)
    check_instance(post, Posterior, "post")
    rows, people = of_those_inside(post)
    _names_are_free(rows.columns.names, rows.index.names)
    judged, intervals = judged_within(rows.columns, sensitive, within)
    judge = ExposureRule(threshold, certified_error(post), rows.columns, judged, None, intervals, rho1)
    if baseline is not None:
        judge = replace(judge, baseline=baseline_of(baseline, post, rows, judge.units))
    p = rows.to_numpy()
    largest, which = judge.surest_of_all(p)
    who = judged.labels[which].to_frame(index=False).set_index(rows.index).assign(P=largest)
    if baseline is not None:
        who["baseline"] = judge.baseline_at(which)
    surest_first = np.lexsort((-people, -largest))
    found = who.assign(people=people).iloc[surest_first[judge.reaches(largest)[surest_first]]]
    tally = ExposureCounts.of(judge, judge(p, people, np.arange(len(people))))
    success = None if original is None else _success(post, original, judge.slack)
    n_s = published(post.space.view)
    return _told(judge, tally, people, n_s, within is not None, found, success, Attribution(post, judge, rows, people))


def _names_are_free(*names: Iterable[object]) -> None:
    """Refuse attributes that are called as a column of ``Exposure.who`` is: one of the two would be lost."""
    if taken := [name for some in names for name in some if name in OWN]:
        raise TableError(
            f"an attribute is called {taken[0]!r}, as a column of those who are exposed is; rename it in the table"
        )


def _success(post: Posterior, original: pd.DataFrame, slack: float) -> float:
    """P(argmax = truth), over all people."""
    p = post.conditional().to_numpy()  # the records do not say which of them is a named person's
    guess = p >= (p.max(axis=1) - slack)[:, None]
    right = original_counts(post, original) * guess / guess.sum(axis=1, keepdims=True)
    return float(right.sum() / post.space.view.n_records)


def _of_parts(
    post: PartitionedPosterior,
    threshold: float,
    original: pd.DataFrame | None,
    sensitive: object,
    baseline: object,
    within: object,
    rho1: float | None,
) -> Exposure:
    """Those of all partitions, of whom the surest are listed."""
    if original is not None:
        raise StatementError("an attack is scored in memory: of a release in partitions, leave original= out")
    values = post.release.sensitive_values
    _names_are_free(values.names, post.release.qi)
    judged, intervals = judged_within(values, sensitive, within)
    if baseline is not None and not isinstance(baseline, str | pd.Series):
        raise StatementError(
            'of a release in partitions the baseline is the same for everybody: "overall", or a Series of P(s)'
        )
    judge = ExposureRule(threshold, min(post.certificate.bound, 1.0), values, judged, None, intervals, rho1)
    if baseline is not None:
        judge = replace(judge, baseline=baseline_of_all(baseline, post.release, judge.units, values))
    tally = ExposureCounts.of(judge, np.asarray(post.reduce(judge, summed)))
    surest = surest_of(post, LISTED, judge.surest_of_all, judged.labels)
    if baseline is not None:
        inferred = pd.MultiIndex.from_frame(surest[list(judged.labels.names)])
        which = judged.labels.get_indexer(inferred if judged.labels.nlevels > 1 else inferred.get_level_values(0))
        surest.insert(len(surest.columns) - 1, "baseline", judge.baseline_at(which))
    who = surest[judge.reaches(surest["P"].to_numpy())]
    return _told(judge, tally, post.release.n_q, post.release.n_s, within is not None, who, None, None)


def _told(
    judge: ExposureRule,
    tally: ExposureCounts,
    people: np.ndarray,
    n_s: np.ndarray | None,
    is_given: bool,
    who: pd.DataFrame,
    success: float | None,
    through: Attribution | None,
) -> Exposure:
    """Put together what was counted, and the words for it."""
    bins = pd.IntervalIndex.from_breaks(np.arange(11) / 10, closed="left", name="largest P(s | q)")
    histogram = pd.Series(tally.tenths, index=bins, name="people")
    p0 = np.nan
    if judge.baseline is not None:
        p = judge.p0
        p0 = p[0] if len(p) == 1 else people @ p / people.sum()
    values = pd.DataFrame(
        {
            "baseline": p0, "exposed": tally.by_value, "certain": tally.certain,
            "not_counted": tally.not_counted, "anyway": tally.anyway,
        },
        index=judge.judged.labels,
    )  # fmt: skip
    uncounted = uncounted_table(judge, tally)
    is_population = through is not None and OUTSIDE in through.post.space.view.sensitive_values.to_flat_index()
    whom = "people who may be in the release" if is_population else "people"
    total = int(histogram.sum())
    said = tuple(verdict(judge, tally, total, values, whom))
    doubts = list(undecided_of(judge, tally, n_s, total, is_given))
    warnings = (*warnings_of(judge, tally, uncounted), *(text for text, _ in doubts))
    undecided = tuple(text for text, is_open in doubts if is_open)
    called = None if judge.baseline is None else judge.baseline.called
    found = Exposure(
        judge.threshold,
        tally.exposed,
        who,
        histogram,
        success,
        values,
        uncounted,
        warnings,
        called,
        undecided=undecided,
    )
    near, scale = judge.intervals, list(distance_in_words(judge))
    if near is not None:
        error, amount = tally.errors / max(total, 1), near.scale.amount
        vars(found).update(within=amount(near.radius), expected_error=amount(error))
        text = f"The best guess is off by {near.scale.in_words(error)} on average"
        if n_s is not None:
            before = float(near.errors(near.all_values.of(n_s[None].astype(float)))[0])
            vars(found).update(expected_error_before=amount(before))
            text += f"; without the release, by {near.scale.in_words(before)}"
        scale += [f"{text}."]
    # What it says and knows by itself, and nobody hands over.
    vars(found).update(
        _verdict=said, _through=through, _scale=tuple(scale), _meaning=meaning(judge), _intervals=judge.by_interval
    )
    return found

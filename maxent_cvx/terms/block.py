"""Blocks: labelled families of linear expressions, compared with values label by label."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pandas as pd
import scipy.sparse as sp

from .._utils.errors import (
    BadProbability,
    LabelMismatch,
    StatementError,
    UnknownName,
    join_names,
    pluralize,
    short_repr,
)
from .._utils.formatting import TablePreview
from .._utils.formatting import as_html as shown_as_html
from .._utils.tables import group_codes, multi_index
from .._utils.validation import check_array, check_label, check_list, check_number, check_positions
from .axes import (
    Axes,
    are_known,
    find,
    known_values,
    level_names,
    level_of,
    levels_named,
    ordered_values,
    pick,
    repeated,
    same_levels,
    subset_keys,
    without_levels,
)
from .rows import Penalty, Rows

if TYPE_CHECKING:
    import cvxpy as cp

    from .space import Space

__all__ = [
    "Block",
    "Groups",
    "Provenance",
    "decimal",
]

# Absolute values of blocks: |block| <= c is two linear inequalities a row, |block| >= c is not convex.


@dataclass(frozen=True, eq=False)
class AbsoluteBlock:
    """What ``abs(block)`` is, which can be bounded from above."""

    label: str  # what the rows of the block are
    within: Callable[[object], Rows]  # from c, a number, a Series or a block, to the rows ``-c <= block <= c``

    __array_ufunc__ = None
    __pandas_priority__ = 10_000
    __hash__ = None  # type: ignore[assignment]

    def __le__(self, most: object) -> Rows:
        return self.within(most)

    def __ge__(self, other: object) -> Rows:
        raise StatementError(
            f"|{self.label}| >= ... is not convex, so that the knowledge has no single answer; say on which side: "
            "block >= c, or block <= -c"
        )

    __gt__ = __ge__
    __eq__ = __ge__  # type: ignore[assignment]
    __ne__ = __ge__  # type: ignore[assignment]

    def __lt__(self, other: object) -> Rows:
        raise StatementError("a strict < has no maximum-entropy answer of its own; write <=")

    def __bool__(self) -> bool:
        raise TypeError(f"|{self.label}| is to be compared, not true or false")

    def __repr__(self) -> str:
        return f"<|{self.label}|>"


# Groups that nobody is in: conditional on one of them a probability is 0 / 0, and no number.


#: Empty groups that a message names.
MOST_GROUPS = 3


@dataclass(frozen=True, eq=False)
class Groups:
    """The groups with people that a block is conditional on."""

    there: pd.Index  # their labels: values of what is given
    fixed: Mapping[str, object] = field(default_factory=dict)

    @property
    def free(self) -> list[str]:
        """What is given and is a level of the block's rows."""
        return [name for name in level_names(self.there) if name not in self.fixed]

    def at(self, fixed: Mapping[str, object]) -> Groups:
        """Those with some values."""
        new = {name: value for name, value in fixed.items() if name in self.free}
        if not new:
            return self
        these = np.ones(len(self.there), dtype=bool)
        for name, value in new.items():
            these &= self.there.get_level_values(name) == value
        return Groups(self.there[these], {**self.fixed, **new})

    def along(self, levels: Sequence[str]) -> Groups:
        """Those of rows that are summed over all other levels; there is a group if any of those summed is there."""
        kept = [name for name in level_names(self.there) if name in levels or name in self.fixed]
        return Groups(subset_keys(self.there, kept).unique() if kept else self.there, self.fixed)

    def nobody(self, labels: pd.Index | None, n: int) -> np.ndarray:
        """Of n labels, how the group of each is written where it is empty; "" elsewhere."""
        said = ", ".join(f"{name}={value}" for name, value in self.fixed.items())
        if not self.free or labels is None:
            return np.full(n, "" if len(self.there) else said, dtype=object)
        texts = np.full(n, "", dtype=object)
        keys = subset_keys(labels, self.free)
        empty = np.flatnonzero(find(subset_keys(self.there, self.free).unique(), keys) < 0)
        codes, groups = pd.factorize(keys[empty])
        values = groups if isinstance(groups, pd.MultiIndex) else [(value,) for value in groups]
        written = [", ".join(f"{name}={one}" for name, one in zip(self.free, key, strict=True)) for key in values]
        texts[empty] = np.array([", ".join(filter(None, (said, one))) for one in written], dtype=object)[codes]
        return texts


def nobody_at(groups: Sequence[Groups], labels: pd.Index | None, n: int) -> np.ndarray:
    """Of labels without rows, an empty group that each is conditional on; "" where there is none."""
    texts = np.full(n, "", dtype=object)
    for one in groups:
        found = one.nobody(labels, n)
        texts = np.where(texts == "", found, texts)
    return texts


def either(first: np.ndarray | None, second: np.ndarray | None) -> np.ndarray | None:
    """The empty groups that rows use which are made from two rows each."""
    if first is None or second is None:
        return second if first is None else first
    return np.where(first == "", second, first)


def any_of(nobody: np.ndarray | None, taking: sp.csr_array) -> np.ndarray | None:
    """The empty groups that combinations of rows use: of each combination the first."""
    if nobody is None:
        return None
    used = np.flatnonzero(nobody != "")
    rows, at = sp.csr_array(taking[:, used]).nonzero()
    texts = np.full(taking.shape[0], "", dtype=object)
    texts[rows[::-1]] = nobody[used[at[::-1]]]
    return texts if len(rows) else None


def fixed_in_all(groups: Sequence[Groups], fixed: Mapping[str, object]) -> tuple[Groups, ...]:
    """The groups with some values."""
    return tuple(one.at(fixed) for one in groups)


def kept_in_all(groups: Sequence[Groups], index: pd.Index | None) -> tuple[Groups, ...]:
    """The groups of sums that have the levels of an index."""
    levels = [] if index is None else level_names(index)
    found = (one.along(levels) for one in groups)
    return tuple(one for one in found if one.free or one.fixed)


def check_defined(nobody: np.ndarray | None, said: np.ndarray, label: str, index: pd.Index | None) -> None:
    """Check that nothing is said by means of a probability that is not defined."""
    if nobody is None:
        return
    bad = np.flatnonzero((nobody != "") & said)
    if not len(bad):
        return
    where = "" if index is None else f" at {join_names(index[bad])}"
    which = "" if index is None else f"leave these labels out, x.loc[~x.undefined] of x = {label}; "
    raise StatementError(
        f"{label} is not defined{where}: {in_words(nobody[bad])}, and among nobody a probability is 0 / 0; {which}"
        "say an order with mx.Monotone, which passes over groups without people"
    )


def in_words(nobody: np.ndarray) -> str:
    """Say which groups are empty."""
    return f"nobody is {' or '.join(list(dict.fromkeys(nobody))[:MOST_GROUPS])}"


# Blocks as tables: a label, how many terms it is a sum of, their coefficients, and the constant.


#: Rows that a table shows.
SHOWN = 10


def as_text(title: str, matrix: sp.csr_array, constant: np.ndarray, index: pd.Index | None) -> str:
    """Write the first rows as plain text."""
    table = f"\n{_table(matrix, constant, index).to_string()}" if len(constant) else ""
    return f"<Block: {title}, {_size(index, matrix)}>{table}{_more(len(constant), chr(10) + '...')}"


def as_html(title: str, matrix: sp.csr_array, constant: np.ndarray, index: pd.Index | None) -> str:
    """Write the first rows as HTML."""
    table = TablePreview(_table(matrix, constant, index), "rows", len(constant))
    return shown_as_html(f"<{title}: {_size(index, matrix)}>", table)


def _size(index: pd.Index | None, matrix: sp.csr_array) -> str:
    return "a single expression" if index is None else f"{pluralize(matrix.shape[0], 'row')} by {list(index.names)}"


def _more(n: int, dots: str) -> str:
    return dots if n > SHOWN else ""


def _table(matrix: sp.csr_array, constant: np.ndarray, index: pd.Index | None) -> pd.DataFrame:
    """Describe the first rows."""
    first = matrix[: min(SHOWN, matrix.shape[0])]
    rows = [first.data[begin:end] for begin, end in zip(first.indptr, first.indptr[1:], strict=False)]
    table = pd.DataFrame({"terms": [len(row) for row in rows], "coefficients": [_range(row) for row in rows]})
    if constant.any():
        table["constant"] = constant[: len(rows)]
    table.index = pd.Index([""]) if index is None else index[: len(rows)]
    return table


def _range(coefficients: np.ndarray) -> str:
    """Write a number, two, or the range of several."""
    if not len(coefficients):
        return "0"
    low, high = f"{coefficients.min():.4g}", f"{coefficients.max():.4g}"
    return low if low == high else f"{low} to {high}"


# Labels as pandas reads them in ``[...]`` and ``.loc[...]``: which rows are meant, and which levels are then fixed.


@dataclass(frozen=True)
class Chosen:
    """Rows that were asked for."""

    at: np.ndarray  # their positions; -1 for a label that is known and has no row
    index: pd.Index | None  # what is left of their labels; None for a single expression
    fixed: Mapping[str, object] = field(default_factory=dict)  # levels that have one value now, and are dropped
    left_out: pd.Index | None = None  # labels, of the same levels, whose rows were not asked for


def is_mask(key: object) -> bool:
    """Whether a key is a list of truth values, one a row."""
    if isinstance(key, list):
        return bool(key) and all(isinstance(one, bool | np.bool_) for one in key)
    return isinstance(key, np.ndarray | pd.Series | pd.Index) and pd.api.types.is_bool_dtype(key.dtype)


def read_key(key: Any, index: pd.Index, label: str) -> Mapping[str, Any] | pd.Index:
    """Read a key as what is asked of each level, or as a list of whole labels."""
    levels = level_names(index)
    if isinstance(key, tuple):
        if len(key) > len(levels):
            raise UnknownName(f"{short_repr(key)} has {len(key)} values, and {label} the levels {levels}")
        return dict(zip(levels, key, strict=False))
    if isinstance(key, list | np.ndarray | pd.Index | pd.Series):
        if np.ndim(key if isinstance(key, np.ndarray) else 0) > 1 or not all(isinstance(one, Hashable) for one in key):
            raise StatementError(
                f"rows of {label} are selected by a list of labels or by a mask, not by {short_repr(key)}"
            )
        found = key if isinstance(key, pd.Index) else pd.Index(list(key), tupleize_cols=False)
        if len(levels) == 1 and not isinstance(found, pd.MultiIndex):
            return found.set_names(levels)
        if all(isinstance(one, tuple) and len(one) == len(levels) for one in found) and len(found):
            return pd.MultiIndex.from_tuples(list(found), names=levels)
    return {levels[0]: key}


def chosen(
    asked: Mapping[str, Any] | pd.Index, index: pd.Index, axes: Axes, label: str, dropped: Mapping[str, pd.Index]
) -> Chosen:
    """Find the rows that are asked for; `dropped` are the values of each level that differences have no rows for."""
    if isinstance(asked, pd.Index):
        _unrepeated(asked, label)
        for i, level in enumerate(level_names(asked)):
            for value in level_of(asked, i)[1].unique():
                _there(value, axes, level, label, dropped)
        at = find(index, asked)
        return Chosen(at, asked, left_out=index[np.setdiff1d(np.arange(len(index)), at)])
    fixed = {
        level: value for level, value in asked.items() if not isinstance(value, list | slice | np.ndarray | pd.Index)
    }
    here, narrowed = np.ones(len(index), dtype=bool), np.ones(len(index), dtype=bool)
    for level, value in asked.items():
        codes, values = level_of(index, index.names.index(level))
        if level in fixed:
            here &= values.isin([_there(value, axes, level, label, dropped)])[codes]
        elif isinstance(value, slice):
            narrowed &= values.isin(_between(value, axes, level, label))[codes]
        else:
            value = check_list(value, f"values of {level!r}", "values")
            wanted = [_there(one, axes, level, label, dropped) for one in value]
            _unrepeated(pd.Index(wanted, tupleize_cols=False), label)
            narrowed &= values.isin(wanted)[codes]
    at, left = np.flatnonzero(here & narrowed), without_levels(index, fixed)
    if left is None:
        return Chosen(at if len(at) else np.array([-1]), None, fixed)
    return Chosen(at, left[at], fixed, left[here & ~narrowed])


def _known(value: object, axes: Axes, level: str, label: str) -> object:
    """Check that a value is one of the level's."""
    return check_label(value, f"value of {level!r} in {label}", known_values(axes, level))


def _there(value: object, axes: Axes, level: str, label: str, dropped: Mapping[str, pd.Index]) -> object:
    """Check that a value is one of the level's, and that differences have rows for it."""
    if _known(value, axes, level, label) in dropped.get(level, ()):
        raise LabelMismatch(
            f"{label} has no row for {level}={short_repr(value)}, which has no value before it; leave it out"
        )
    return value


def _unrepeated(labels: pd.Index, label: str) -> None:
    """Check that no label is there twice: rows are matched by label."""
    if labels.has_duplicates:
        raise LabelMismatch(
            f"the rows of {label} are selected more than once: {repeated(labels)}; list each label once"
        )


def _between(part: slice, axes: Axes, level: str, label: str) -> Iterable[object]:
    """The values of a level from one to another, both of them included, as pandas does."""
    if part == slice(None):
        return known_values(axes, level)
    if part.step is not None:
        raise StatementError(f"a slice of {level!r} has no step; list the values")
    values = ordered_values(axes, level)
    inside = np.ones(len(values), dtype=bool)
    ranked = values.codes if isinstance(values, pd.CategoricalIndex) else values
    try:
        for end, above in ((part.start, True), (part.stop, False)):
            if end is not None:
                if isinstance(values, pd.CategoricalIndex):
                    end = values.categories.get_loc(_known(end, axes, level, label))
                inside &= (ranked >= end) if above else (ranked <= end)
    except TypeError:
        ends = join_names([end for end in (part.start, part.stop) if end is not None])
        raise StatementError(f"{ends} cannot be compared with the values of {level!r} in {label}") from None
    return values[inside]


# How linear combinations are written: ``2 P(s | age) - P(age)``, ``P(s=yes | age).diff(age)``.


#: A linear combination as it is written: coefficients, and what each is of.
Parts = tuple[tuple[float, str], ...]


def decimal(value: float) -> str:
    """Write a number with as many digits as it needs to be read as the same."""
    short = f"{value:.12g}"
    return short if float(short) == value else repr(float(value))


def combined(parts: Iterable[tuple[float, str]], constant: str = "") -> str:
    """Write a linear combination, and a constant if it is not "".

    >>> combined([(2, "P(a)"), (-1, "P(b)")], "-0.5")
    '2 P(a) - P(b) - 0.5'
    """
    written = [(a < 0, what if abs(a) == 1 else f"{decimal(abs(a))} {what}") for a, what in parts]
    if constant or not written:
        written.append((constant.startswith("-"), constant.removeprefix("-") or "0"))
    (minus, first), *others = written
    return "-" * minus + first + "".join(f" {'-' if minus else '+'} {part}" for minus, part in others)


def scaled(parts: Parts, factor: float) -> Parts:
    """Multiply a combination by a number."""
    return tuple((factor * a, what) for a, what in parts)


def added(first: Parts, second: Parts) -> Parts:
    """Add two combinations; what both are of is written once, and not at all where it cancels."""
    total: dict[str, float] = {}
    for a, what in (*first, *second):
        total[what] = total.get(what, 0.0) + a
    return tuple((a, what) for what, a in total.items() if a)


def weighted(parts: Parts, weights: str) -> Parts:
    """Multiply a combination by weights that have a name."""
    factor, what = _as_one(parts)
    return ((factor, f"{weights} * {what}"),)


def method(parts: Parts, call: str) -> Parts:
    """Write what is done to a combination: ``.diff(age)``; factors of a single part stay in front."""
    factor, what = _as_one(parts)
    return ((factor, f"({what}).{call}" if " * " in what else f"{what}.{call}"),)


def with_values(parts: Parts, fixed: Mapping[str, object], unnamed: Sequence[str] = ()) -> Parts:
    """Write at which values levels are fixed; of unnamed levels only the value, as statements do.

    >>> with_values(((2.0, "P(s | age)"),), {"s": "yes", "age": 40}, unnamed=["s"])
    ((2.0, 'P(yes | age=40)'),)
    """
    said = {name: f"{value}" if name in unnamed else f"{name}={value}" for name, value in fixed.items()}
    return tuple((a, _with_values(what, said)) for a, what in parts)


def constant_text(values: set[float]) -> str:
    """Write the constant of a combination: a number, or that it differs by label; "" for 0."""
    if len(values) > 1:
        return "constants"
    value = next(iter(values), 0.0)
    return decimal(value) if value else ""


def _as_one(parts: Parts) -> tuple[float, str]:
    """Write a combination as one part, in parentheses where it has several."""
    return parts[0] if len(parts) == 1 else (1.0, f"({combined(parts)})")


def _with_values(text: str, said: Mapping[str, str]) -> str:
    """Replace each name where it stands alone between parentheses, commas and bars; add what stands nowhere."""
    lost = []
    for name, instead in said.items():
        place = rf"(\(|, |\| ){re.escape(name)}(?=\)|, | \|)"
        text, times = re.subn(place, partial(_instead, instead), text)
        lost += [instead] * (not times)
    return f"{text}[{', '.join(lost)}]" if lost else text


def _instead(instead: str, found: re.Match[str]) -> str:
    """What stood before the name, and what is said in its place."""
    return found[1] + instead


# Labelled affine expressions of the terms: their values, how they are shown, and what is selected by label.


@dataclass(frozen=True, eq=False)
class Provenance:
    """What a block was made from."""

    is_probability: bool = True  # whether every row is a probability, so that it lies in [0, 1]
    parts: Parts = ()  # the linear combination as it is written; () for the label itself
    absent: float = 0.0
    left_out: pd.Index | None = None  # labels whose rows were there and were not selected: of them nothing is known
    dropped: Mapping[str, pd.Index] = field(default_factory=dict)
    groups: tuple[Groups, ...] = ()
    nobody: np.ndarray | None = None

    def unknown(self, labels: pd.Index) -> np.ndarray:
        """Mark the labels whose rows are neither there nor 0: they were left out or dropped."""
        found = np.zeros(len(labels), dtype=bool)
        if self.left_out is not None and len(self.left_out):
            found |= find(self.left_out, subset_keys(labels, level_names(self.left_out))) >= 0
        for level, values in self.dropped.items():
            found |= labels.get_level_values(level).isin(values)
        return found

    def unknown_of_both(self, other: Provenance, index: pd.Index) -> tuple[pd.Index | None, Mapping[str, pd.Index]]:
        """The fields `left_out` and `dropped` of a sum of two blocks with the same levels."""
        left_out, dropped = self.left_out, dict(self.dropped)
        if other.left_out is not None and set(level_names(other.left_out)) == set(level_names(index)):
            theirs = subset_keys(other.left_out, level_names(index))
            left_out = theirs if left_out is None else left_out.append(theirs).unique()
        for level, values in other.dropped.items():
            dropped[level] = dropped[level].union(values) if level in dropped else values
        return left_out, dropped

    def nobody_of(self, at: np.ndarray, labels: pd.Index | None) -> np.ndarray | None:
        """The empty groups that rows use, in some order; -1 stands for a label that is known and has no row."""
        absent = at < 0
        if self.nobody is None and not (self.groups and absent.any()):
            return None
        texts = np.full(len(at), "", dtype=object)
        if self.nobody is not None:
            texts[~absent] = self.nobody[at[~absent]]
        if absent.any():
            texts[absent] = nobody_at(self.groups, None if labels is None else labels[absent], int(absent.sum()))
        return texts if (texts != "").any() else None

    def of_nobody(self, n: int) -> np.ndarray | None:
        """The empty group that n sums use where all their rows would be of it, so that there are none."""
        empty = [one for one in self.groups if not len(one.there)]
        return nobody_at(empty, None, n) if empty else None


class _Locator:
    """What ``block.loc`` is: it reads labels in brackets."""

    def __init__(self, block: Block) -> None:
        self._block = block

    def __getitem__(self, key: object) -> Any:
        return self._block[key]


def pick_values(values: np.ndarray, at: np.ndarray, absent: float) -> np.ndarray:
    """Values in some order; -1 stands for one that is absent."""
    return np.append(values, absent)[at]


# Series meet labelled rows: by label, in any order, as pandas does it; never by position.


def by_label(
    values: pd.Series,
    index: pd.Index,
    axes: Axes,
    label: str,
    unknown_rows: Callable[[pd.Index], np.ndarray],
    *,
    or_fewer: bool,
) -> tuple[np.ndarray, pd.Series]:
    """Bring a Series into the order of labels."""
    levels = same_levels(index, values.index, label, or_fewer=or_fewer)
    if not pd.api.types.is_numeric_dtype(values) or pd.api.types.is_bool_dtype(values):
        raise BadProbability(f"the values for {label} must be numbers, not of type {values.dtype}")
    if set(values.index.names) == {None}:
        values = values.set_axis(values.index.set_names(levels))
    elif list(values.index.names) != levels:
        values = values.reorder_levels(levels)  # type: ignore[arg-type]
    keys = subset_keys(index, levels)
    if values.index.equals(keys):
        return values.to_numpy(dtype=float), values.iloc[:0]
    if values.index.has_duplicates:
        raise LabelMismatch(f"the values for {label} repeat the labels {repeated(values.index)}; one value a label")
    at = find(values.index, keys)
    used = np.zeros(len(values), dtype=bool)
    used[at[at >= 0]] = True
    extra = values[~used]
    unknown = ~are_known(axes, extra.index)
    if len(levels) == index.nlevels:
        unknown |= unknown_rows(extra.index)
    if (at < 0).any() or unknown.any():
        raise LabelMismatch(_mismatch(label, keys[at < 0].unique(), extra.index[unknown], len(index)))
    return values.to_numpy(dtype=float)[at], extra


def _mismatch(label: str, missing: pd.Index, extra: pd.Index, n: int) -> str:
    """Say which labels are missing, and which are too many."""
    parts = [f"{what} {join_names(some)}" for what, some in (("lack", missing), ("have", extra)) if len(some)]
    return (
        f"the values for {label} {' and '.join(parts)}; exactly the {n} labels "
        f"of its rows are expected: reindex the Series, or take a "
        "coarser marginal"
    )


# Sums over levels, and differences along one: which rows go together.


def sums(index: pd.Index, levels: Sequence[str]) -> tuple[np.ndarray, pd.Index]:
    """Number the combinations of values of some levels: that of every row, and their labels."""
    coded = [level_of(index, index.names.index(level)) for level in levels]
    group = group_codes([codes for codes, _ in coded], [len(values) for _, values in coded])
    return group, subset_keys(index, levels)[np.unique(group, return_index=True)[1]]


def differences(
    index: pd.Index, level: str, axes: Axes, present_only: bool, dropped: pd.Index | None = None
) -> tuple[pd.Index, np.ndarray, np.ndarray, pd.Index, pd.Index]:
    """Pair rows with those of the value before, along a level whose values have an order."""
    place = index.names.index(level)
    codes, values = level_of(index, place)
    domain = ordered_values(axes, level)
    if present_only:
        domain = domain[domain.isin(values[np.unique(codes)])]
    if dropped is not None:
        domain = domain[~domain.isin(dropped)]
    n = len(domain)
    rank = domain.get_indexer(values)[codes]
    others = [level_of(index, i) for i in range(index.nlevels) if i != place]
    group = np.zeros(len(index), dtype=np.int64)
    if others:
        group = group_codes([of for of, _ in others], [len(labels) for _, labels in others])
    key = group * n + rank
    order = np.argsort(key, kind="stable")
    if (np.diff(key[order]) == 0).any():
        raise LabelMismatch(f"labels are repeated: {repeated(index)}; differences need unique labels")
    wanted = np.unique(np.concatenate([key[rank > 0], key[rank < n - 1] + 1]))
    first = np.unique(group, return_index=True)[1][wanted // max(n, 1)] if len(wanted) else np.zeros(0, dtype=np.int64)

    def labels(ranks: np.ndarray) -> pd.Index:
        parts = [level_of(index, i) for i in range(index.nlevels)]
        if len(parts) == 1:
            return domain[ranks]
        levels = [domain if i == place else of for i, (_, of) in enumerate(parts)]
        return multi_index(levels, [ranks if i == place else at[first] for i, (at, _) in enumerate(parts)], index.names)

    def rows(keys: np.ndarray) -> np.ndarray:
        if not len(key):
            return np.full(len(keys), -1)
        found = order[np.minimum(np.searchsorted(key[order], keys), len(key) - 1)]
        return np.where(key[found] == keys, found, -1)

    later = wanted % max(n, 1)
    return labels(later), rows(wanted), rows(wanted - 1), labels(later - 1), domain[:1]


# Arithmetic of labelled expressions, label by label: sums, multiples, weights, differences along a level.


NOT_LINEAR = "a product or quotient of two blocks is not linear, so maximum entropy cannot use it"


def _has_entries(value: object) -> bool:
    """Whether something holds one number a row: a Series, or an array."""
    return isinstance(value, pd.Series) or (isinstance(value, np.ndarray) and value.ndim > 0)


#: How far outside [0, 1] a published probability may be, for its rounding.
ROUNDING = 1e-12


@dataclass(frozen=True, eq=False, repr=False)
class Block:
    """A Series of linear expressions over the terms: ``matrix @ p + constant``, one row a label.

    Rows are selected by label as in pandas: ``block["Flu"]``, ``block.loc["Flu", "male"]``, ``block.loc[:, 20:40]``,
    ``block.xs("male", level="Gender")``. Blocks, numbers and Series are added, and blocks multiplied by numbers and
    Series, label by label in any order; values along some of the levels are used for all rows that share them. A value
    that was not published is an error. Values that were published, but cannot occur together, have no row: their
    probability is 0, also in sums and differences of blocks. An array is taken by position. A single expression times a
    Series, as in ``block - ratios * block["White"]``, has the labels of the Series.

    P(s | a group that nobody is in) is 0 / 0. It has no row either, and counts as 0 in values, but nothing can be said
    by it: rows that use it are `undefined`, as what is made from NaN is in pandas, and comparing them is an error.
    Leave them out, ``block.loc[~block.undefined]``, or say an order by :class:`~maxent_cvx.Monotone`, which passes over
    groups without people. Only what would hold anyway, 0 of nobody == 0 in a table say, is left out without an error.

    ``==``, ``<=`` and ``>=`` with a Series, a number or a block give :class:`~maxent_cvx.Rows`, which are knowledge; so
    does ``abs(block) <= number``, and ``abs(block) <= block``. A Series then has exactly the labels of the block. What
    is a probability is compared with numbers in [0, 1] only; sums, multiples and differences with any.

    Attributes
    ----------
    space : Space
    matrix : csr_array, shape (rows, terms)
        Coefficients on the probabilities p.
    index : Index or None
        The labels of the rows; None of a single expression, ``block.loc["Flu", "male"]`` or ``block.sum()``.
    label : str
        How ``matrix @ p`` is written, "P(Gender, Disease)" say. Rows are called by it, and have the constant among
        their values: ``2 * block - 1 <= 0.2`` says 2 P(..) <= 1.2.
    constant : ndarray, shape (rows,), optional
        What is added to ``matrix @ p``; by default nothing.
    provenance : Provenance
        What the block was made from; of one's own matrix the default says that the rows are probabilities.

    Examples
    --------
    A published table, P(Disease | Gender), is knowledge; its entries may be in any order:

    >>> import maxent_cvx as mx, pandas as pd
    >>> hospital = mx.datasets.load_hospital()
    >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    >>> block = mx.MaxEnt(release).space.conditional("Disease", given="Gender")
    >>> table = pd.crosstab(hospital["Gender"], hospital["Disease"], normalize="index").stack()
    >>> model = mx.MaxEnt(release).add(block == table)
    >>> round(model.solve().prob("Flu", given={"Degree": "college"}), 3)
    0.267

    HIV is at least twice as frequent as lung cancer, among men and among women:

    >>> rows = block["HIV"] >= 2 * block["Lung Cancer"]
    >>> rows.name(0), mx.MaxEnt(release).add(rows).solve().prices()["price"].round(3).to_list()
    ('P(HIV | Gender) - 2 P(Lung Cancer | Gender): female', [-0.112, 0.0])

    Along Degree, sorted: no woman has high school only, and no man is a junior, so that two steps are not defined:

    >>> steps = mx.MaxEnt(release).space.conditional("Disease", given=["Gender", "Degree"])["Flu"].diff("Degree")
    >>> steps.index[steps.undefined].to_list()
    [('female', 'high school'), ('male', 'junior')]
    >>> len(steps.loc[~steps.undefined] >= 0)
    3

    Blocks are tables:

    >>> 2 * block["Flu"] - 1
    <Block: 2 P(Flu | Gender) - 1, 2 rows by ['Gender']>
            terms coefficients  constant
    Gender
    female      3            5      -1.0
    male        3        3.333      -1.0
    """

    space: Space
    matrix: sp.csr_array
    index: Any  # an Index, or None of a single expression
    label: str
    constant: np.ndarray | None = None
    provenance: Provenance = field(default_factory=Provenance)

    def __post_init__(self) -> None:
        if self.constant is None:
            object.__setattr__(self, "constant", np.zeros(self.matrix.shape[0]))

    @property
    def expr(self) -> cp.Expression:
        """The :class:`cvxpy.Expression`, one entry a label, for knowledge that no comparison can say.

        As of a comparison, it is an error if a row is not defined, see `undefined`.
        """
        check_defined(self.provenance.nobody, np.ones(len(self), dtype=bool), self._title, self.index)
        expression = self.matrix @ self.space.p
        return expression + self.constant if np.any(self.constant) else expression

    @property
    def undefined(self) -> np.ndarray:
        """Whether a row uses a probability among people of whom there are none, 0 / 0: ndarray of bool, one a row."""
        nobody = self.provenance.nobody
        return np.zeros(len(self), dtype=bool) if nobody is None else nobody != ""

    def value(self, p: object) -> pd.Series | float:
        """The values ``matrix @ p + constant`` at given probabilities.

        Parameters
        ----------
        p : Posterior or ndarray, one a term
            An answer of a model with this space, or probabilities P(q, s, b).

        Returns
        -------
        Series or float
            By label; a number of a single expression.

        Raises
        ------
        StatementError
            If there is not a number for every term.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> post = mx.MaxEnt(release).solve()
        >>> block = post.space.conditional("Disease", given="Gender")
        >>> (block["HIV"] - block["Flu"]).value(post).round(3).to_dict()
        {'female': -0.042, 'male': -0.139}
        """
        if hasattr(p, "counts") and hasattr(p, "space"):
            p = p.counts / p.space.n_records
        values = self.matrix @ check_array(p, "p", self.matrix.shape[1]) + self.constant
        return float(values[0]) if self.index is None else pd.Series(values, index=self.index, name=self._title)

    def __len__(self) -> int:
        return self.matrix.shape[0]

    def __bool__(self) -> bool:
        raise TypeError(f"{self.label} is a block of expressions to be compared, not true or false")

    @property
    def _title(self) -> str:
        """How the block is written, with its constant."""
        return combined(self._parts, constant_text(set(self._constant.tolist())))

    @property
    def loc(self) -> _Locator:
        """Rows by label, as pandas reads it: ``block.loc["Flu", "male"]``, ``block.loc[:, 20:40]``."""
        return _Locator(self)

    def __getitem__(self, key: Any) -> Self:
        index = self._labels("select rows")
        if is_mask(key):
            if isinstance(key, pd.Series):
                key = key.reindex(index) if key.index.isin(index).all() and len(key) == len(index) else key
            return self.at(np.asarray(key, dtype=bool))
        return self._chosen(chosen(read_key(key, index, self.label), index, self.space.axes, self.label, self._dropped))

    def xs(self, key: Any, level: str | Sequence[str] | None = None) -> Self:
        """Take the rows at one value of a level, or at one of each of several; the levels are dropped.

        Parameters
        ----------
        key : object
            The value; of several levels a tuple.
        level : str or list of str, optional
            Names of levels, or roles: "s", "q". By default the first.

        Returns
        -------
        Block
            A single expression if no level is left. It is 0 where the values cannot occur together.

        Raises
        ------
        UnknownName
            If there is no such level, or it has no such value.
        StatementError
            If there is not one value for each level.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> block = mx.Space.of(release).conditional("Disease", given=["Gender", "Degree"])
        >>> men = block.xs("male", level="Gender")
        >>> men.label, men.index[0]
        ('P(Disease | Gender=male, Degree)', ('Breast Cancer', 'college'))
        """
        index = self._labels("select rows")
        levels = level_names(index)[:1] if level is None else levels_named(self.space.axes, index, level, self.label)
        keys = key if isinstance(key, tuple) and len(levels) > 1 else (key,)
        if len(keys) != len(levels):
            raise StatementError(f"one value for each of {levels} is expected, not {short_repr(key)}")
        if strange := [one for one in keys if isinstance(one, slice | list | np.ndarray | pd.Index)]:
            raise StatementError(f"xs takes one value a level, not {short_repr(strange[0])}; write block.loc[...]")
        asked = dict(zip(levels, keys, strict=True))
        return self._chosen(chosen(asked, index, self.space.axes, self.label, self._dropped))

    def at(self, rows: np.ndarray) -> Self:
        """Keep some of the rows, by a mask or by position.

        Parameters
        ----------
        rows : ndarray of bool or of int

        Returns
        -------
        Block

        Raises
        ------
        StatementError
            If it is neither a mask of the rows nor positions of some.
        LabelMismatch
            If a row is selected more than once.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> block = mx.MaxEnt(release).space.marginal(["Gender", "Disease"])
        >>> men = block.at(block.index.get_level_values("Gender") == "male")
        >>> len(block), len(men)
        (10, 5)
        """
        rows = check_positions(rows, "rows", len(self))
        if self.index is None:
            made = replace(self.provenance, nobody=self.provenance.nobody_of(np.arange(len(self))[rows], None))
            return replace(self, matrix=self.matrix[rows], constant=self._constant[rows], provenance=made)
        rest = np.ones(len(self), dtype=bool)
        rest[rows] = False
        if rest.sum() + len(rows) > len(self):
            raise LabelMismatch(f"rows of {self.label} are selected more than once: {repeated(self.index[rows])}")
        return self._chosen(Chosen(rows, self.index[rows], left_out=self.index[rest]))

    def _chosen(self, found: Chosen) -> Self:
        """Take rows that were found, and remember which were not asked for."""
        made, left_out = self.provenance, found.left_out
        if made.left_out is not None:
            before = without_levels(made.left_out, found.fixed)
            of_these = np.ones(len(made.left_out), dtype=bool)
            for level, value in found.fixed.items():
                of_these &= made.left_out.get_level_values(level) == value
            if before is None:
                if (found.at < 0).any() and of_these.any():
                    raise UnknownName(f"{found.fixed} was left out of {self.label}; select from the whole block")
            else:
                left_out = before[of_these] if left_out is None else left_out.append(before[of_these])
        if (found.at < 0).any() and np.isnan(made.absent):
            raise UnknownName(f"{self.label} has no row for what is selected; select first, and add afterwards")
        if found.index is not None and (found.at < 0).any():
            self._check_left_out(found.index[found.at < 0])
        parts = with_values(
            self._parts, found.fixed, self.space.view.sensitive if len(self.space.view.sensitive) == 1 else ()
        )
        groups = fixed_in_all(made.groups, found.fixed)
        made = replace(
            made,
            parts=parts,
            left_out=None if left_out is None or not len(left_out) else left_out,
            dropped={level: values for level, values in made.dropped.items() if level not in found.fixed},
            groups=groups,
        )
        return replace(
            self,
            matrix=pick(self.matrix, found.at),
            constant=pick_values(self._constant, found.at, made.absent),
            index=found.index,
            label=combined(parts),
            provenance=replace(made, nobody=made.nobody_of(found.at, found.index)),
        )

    @property
    def _parts(self) -> Parts:
        return self.provenance.parts or ((1.0, self.label),) * (self.label != "0")

    @property
    def _dropped(self) -> Mapping[str, pd.Index]:
        return self.provenance.dropped

    @property
    def _constant(self) -> np.ndarray:
        assert self.constant is not None  # set at the start
        return self.constant

    def _labels(self, what: str) -> pd.Index:
        if self.index is None:
            raise StatementError(f"{self.label} is a single expression without labels; nothing there to {what}")
        return self.index

    def _check_left_out(self, labels: pd.Index) -> None:
        """Check that labels without a row are impossible, and were not merely left out."""
        lost = labels[self.provenance.unknown(labels)]
        if len(lost):
            raise LabelMismatch(
                f"{self.label} lacks {join_names(lost)}, which were left out of it; select alike on both sides"
            )

    def __neg__(self) -> Self:
        return self * -1

    def __pos__(self) -> Self:
        return self

    def __add__(self, other: object) -> Self:
        if isinstance(other, Block):
            return self._plus(other)
        made = self.provenance
        if not _has_entries(other):
            value = self._scalar(other)
            return self._with(constant=self._constant + value, absent=made.absent + value)
        values, extra = self._aligned(other)
        if not isinstance(other, pd.Series):
            return self._with(constant=self._constant + values)
        if extra.index.nlevels < self._labels("add").nlevels:
            return self._with(constant=self._constant + values, absent=np.nan)
        if len(extra):
            return self._with_rows(extra.index) + other
        return self._with(constant=self._constant + values)

    def __sub__(self, other: object) -> Self:
        return self + (-other if isinstance(other, Block) or _has_entries(other) else -self._scalar(other))  # type: ignore[operator]

    def __rsub__(self, other: object) -> Self:
        return -self + other

    def __mul__(self, factor: object) -> Self:
        if isinstance(factor, Block):
            raise StatementError(f"{NOT_LINEAR}: {self.label} and {factor.label}; multiply by numbers or a Series")
        made = self.provenance
        if not _has_entries(factor):
            by = self._scalar(factor)
            parts = scaled(self._parts, by) if by else ()
            return self._with(self.matrix * by, self._constant * by, parts=parts, absent=made.absent * by)
        if self.index is None and isinstance(factor, pd.Series):
            return self._repeated(factor.index) * factor
        weights, _ = self._aligned(factor)
        name = getattr(factor, "name", None)
        parts = weighted(self._parts, "weights" if name is None else str(name))
        matrix = sp.csr_array(sp.diags_array(weights) @ self.matrix) if len(self) else self.matrix
        absent = 0.0 if made.absent == 0 else np.nan
        return self._with(matrix, self._constant * weights, parts=parts, absent=absent)

    def __truediv__(self, divisor: object) -> Self:
        if isinstance(divisor, Block):
            raise StatementError(f"{NOT_LINEAR}: {self.label} and {divisor.label}; divide by numbers or a Series")
        by = divisor if _has_entries(divisor) else self._scalar(divisor)
        if np.any(np.asarray(by) == 0):
            raise BadProbability(f"{self.label} is divided by 0")
        return self * (1 / by)  # type: ignore[operator]

    def __rtruediv__(self, other: object) -> Self:
        raise StatementError(f"1 / {self.label} is not linear, so maximum entropy cannot use it")

    def sum(self, level: str | Sequence[str] | None = None) -> Self:
        """Add up the rows, all of them or those that share the values of some levels.

        Parameters
        ----------
        level : str or list of str, optional
            Names of levels that are kept, or roles: "s", "q". By default none.

        Returns
        -------
        Block
            One row a combination of values of the levels; a single expression if none are kept.

        Raises
        ------
        UnknownName
            If there is no such level.

        Examples
        --------
        The mean score of either gender, where every disease has a score:

        >>> import maxent_cvx as mx, pandas as pd
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> score = pd.Series({"Flu": 1, "Pneumonia": 3, "Breast Cancer": 8, "HIV": 8, "Lung Cancer": 9}, name="score")
        >>> score = score.rename_axis("Disease")
        >>> post = mx.MaxEnt(release).solve()
        >>> mean = (post.space.conditional("Disease", given="Gender") * score).sum(level="Gender")
        >>> mean.label, mean.value(post).round(2).to_dict()
        ('(score * P(Disease | Gender)).sum(level=Gender)', {'female': 5.4, 'male': 4.74})
        """
        if level is None:
            call, group = "sum()", np.zeros(len(self), dtype=np.int64)
            index: pd.Index | None = None
        else:
            levels = levels_named(self.space.axes, self._labels("sum"), level, self.label)
            group, index = sums(self._labels("sum"), levels)
            call = f"sum(level={', '.join(levels)})"
        size = 1 if index is None else len(index)
        adding = sp.csr_array((np.ones(len(self)), (group, np.arange(len(self)))), shape=(size, len(self)))
        left_out = self.provenance.left_out
        if left_out is not None:
            left_out = None if index is None else subset_keys(left_out, level_names(index)).unique().difference(index)
        found = self._mapped(adding, index, method(self._parts, call))
        absent = 0.0 if self.provenance.absent == 0 else np.nan
        made = replace(found.provenance, absent=absent, left_out=left_out, groups=self.provenance.groups)
        kept = [] if index is None else level_names(index)
        made = replace(made, dropped={name: values for name, values in made.dropped.items() if name in kept})
        made = replace(made, groups=kept_in_all(made.groups, index), nobody=either(made.nobody, made.of_nobody(size)))
        return replace(found, provenance=made)

    def diff(self, level: str) -> Self:
        """How much each row is above that of the value before, along an ordered level.

        Parameters
        ----------
        level : str
            The level: its values are in the order of an ordered Categorical, or sorted.

        Returns
        -------
        Block
            One row per value, except the first, whose difference is not defined: to use it, or to combine the
            differences with a block that has a row for it, raises an error. A value that cannot occur together with
            the values of the other levels counts as 0.

        Raises
        ------
        UnknownName
            If there is no such level.
        StatementError
            If its values have no order.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> rises = mx.Space.of(release).conditional("Disease", given="Degree")["HIV"].diff("Degree") >= 0
        >>> [rises.name(i) for i in range(len(rises))][:2]
        ['P(HIV | Degree).diff(Degree): graduate', 'P(HIV | Degree).diff(Degree): high school']
        """
        index, made = self._labels("take differences"), self.provenance
        levels = levels_named(self.space.axes, index, level, self.label)
        if len(levels) != 1:
            raise StatementError(f"differences are along one level, and {short_repr(level)} stands for {levels}")
        dropped = made.dropped.get(levels[0])
        labels, here, before, previous, first = differences(
            index, levels[0], self.space.axes, made.left_out is not None, dropped
        )
        for at, at_labels in ((here, labels), (before, previous)):
            if (at < 0).any():
                self._check_left_out(at_labels[at < 0])
        if np.isnan(made.absent) and ((here < 0) | (before < 0)).any():
            raise StatementError(
                f"{self.label} has no rows for some labels; take differences first, and add afterwards"
            )
        rows = np.arange(len(labels))
        entries = [(sign, rows[at >= 0], at[at >= 0]) for sign, at in ((1.0, here), (-1.0, before))]
        data = np.concatenate([np.full(len(row), sign) for sign, row, _ in entries])
        places = tuple(np.concatenate([entry[i] for entry in entries]) for i in (1, 2))
        taking = sp.csr_array((data, places), shape=(len(labels), len(self)))
        found = self._mapped(taking, labels, method(self._parts, f"diff({levels[0]})"))
        off = made.absent * ((here < 0).astype(float) - (before < 0).astype(float)) if made.absent else 0.0
        nobody = either(made.nobody_of(here, labels), made.nobody_of(before, previous))
        without = {**made.dropped, levels[0]: first if dropped is None else dropped.union(first)}
        made = replace(found.provenance, groups=made.groups, nobody=nobody, dropped=without)
        return replace(found, constant=found._constant + off, provenance=made)

    def _with(
        self,
        matrix: sp.csr_array | None = None,
        constant: np.ndarray | None = None,
        *,
        parts: Parts | None = None,
        absent: float | None = None,
    ) -> Self:
        """Exchange what is said of the same labels; it need not be a probability then."""
        made = self.provenance
        parts = self._parts if parts is None else parts
        return replace(
            self,
            matrix=self.matrix if matrix is None else matrix,
            constant=self._constant if constant is None else constant,
            label=combined(parts),
            provenance=replace(
                made, is_probability=False, parts=parts, absent=made.absent if absent is None else absent
            ),
        )

    def _mapped(self, taking: sp.csr_array, index: pd.Index | None, parts: Parts) -> Self:
        """Combine rows into others, with labels of their own; what is not there is 0."""
        matrix = sp.csr_array(taking @ self.matrix)
        matrix.eliminate_zeros()
        return replace(
            self,
            matrix=matrix,
            constant=taking @ self._constant,
            index=index,
            label=combined(parts),
            provenance=Provenance(
                is_probability=False,
                parts=parts,
                left_out=self.provenance.left_out,
                dropped=self.provenance.dropped,
                nobody=any_of(self.provenance.nobody, taking),
            ),
        )

    def _repeated(self, index: pd.Index) -> Self:
        """Repeat a single expression, a row a label; what it is at other labels is not known."""
        for name in level_names(index):
            if not isinstance(name, str):
                raise LabelMismatch(
                    f"{self.label} is multiplied by a Series whose index has no name; say what it is values of, "
                    f"series.rename_axis({self.space.view.columns[0]!r})"
                )
            known_values(self.space.axes, name)
        unknown = index[~are_known(self.space.axes, index)]
        if len(unknown) or index.has_duplicates:
            some, what = (unknown, "are not known") if len(unknown) else (index[index.duplicated()], "are there twice")
            raise LabelMismatch(f"{self.label} is multiplied by a Series whose labels {join_names(some)} {what}")
        matrix = pick(self.matrix, np.zeros(len(index), dtype=np.int64))
        nobody = self.provenance.nobody_of(np.zeros(len(index), dtype=np.int64), index)
        made = replace(self.provenance, absent=np.nan, left_out=None, dropped={}, nobody=nobody)
        return replace(
            self, matrix=matrix, constant=np.repeat(self._constant, len(index)), index=index, provenance=made
        )

    def _with_rows(self, labels: pd.Index) -> Self:
        """Write out labels that are known and had no row."""
        index = self._labels("add")
        at = np.append(np.arange(len(self)), np.full(len(labels), -1))
        constant = pick_values(self._constant, at, self.provenance.absent)
        index = index.append(labels)
        made = replace(self.provenance, nobody=self.provenance.nobody_of(at, index))
        return replace(self, matrix=pick(self.matrix, at), constant=constant, index=index, provenance=made)

    def _plus(self, other: Block) -> Self:
        """Add two blocks by label."""
        if self.space.view is not other.space.view or len(self.space) != len(other.space):
            raise StatementError(f"{self.label} and {other.label} are of two models; make both from one space")
        parts = added(self._parts, other._parts)
        if self.index is None and other.index is not None:
            return replace(other._plus(self), label=combined(parts))  # type: ignore[return-value]
        first, second, absent, keys = self, other, np.nan, None
        left_out, dropped = self.provenance.left_out, self.provenance.dropped
        if other.index is None:
            at = np.zeros(len(self), dtype=np.int64)
        else:
            index = self._labels("add")
            if set(index.names) < set(other.index.names):
                return other._plus(self)  # type: ignore[return-value]
            levels = same_levels(index, other.index, self.label, or_fewer=True)
            theirs = subset_keys(other.index, levels)
            if len(levels) == index.nlevels:
                absent = self.provenance.absent + other.provenance.absent
                left_out, dropped = self.provenance.unknown_of_both(other.provenance, index)
                extra = theirs[find(index, theirs) < 0]
                if len(extra):
                    self._check_left_out(extra)
                    first = self._with_rows(extra)
            keys = subset_keys(first._labels("add"), levels)
            at = find(theirs, keys)
            if (at < 0).any():
                other._check_left_out(keys[at < 0])
        matrix = sp.csr_array(first.matrix + pick(second.matrix, at))
        matrix.eliminate_zeros()
        constant = first._constant + pick_values(second._constant, at, second.provenance.absent)
        if np.isnan(constant).any():
            raise LabelMismatch(
                f"{self.label} and {other.label} have not the same labels, and one of them is not known elsewhere; "
                "select alike on both sides, and where a number is added, add blocks first"
            )
        found = first._with(matrix, constant, parts=parts, absent=absent)
        made = replace(
            found.provenance,
            left_out=left_out,
            dropped=dropped,
            groups=tuple(dict.fromkeys(first.provenance.groups + second.provenance.groups)),
            nobody=either(first.provenance.nobody, second.provenance.nobody_of(at, keys)),
        )
        return replace(found, provenance=made)

    def _scalar(self, value: object) -> float:
        """Read a number for every row."""
        if isinstance(value, Block | dict | list | tuple | set | str) or getattr(value, "shape", None):
            raise LabelMismatch(
                f"{self.label} is combined with a {type(value).__name__}, whose entries have no labels; "
                f"pass a number, or a Series indexed by {[] if self.index is None else list(self.index.names)}"
            )
        return check_number(value, f"what {self.label} is combined with")

    def _aligned(self, values: Any) -> tuple[np.ndarray, pd.Series]:
        """Read numbers, one a row: a Series by label, or an array as long as the block."""
        index = self._labels(f"align a {type(values).__name__} with")
        if isinstance(values, pd.Series):
            found, extra = by_label(values, index, self.space.axes, self.label, self.provenance.unknown, or_fewer=True)
        else:
            found, extra = (
                check_array(values, f"what {self.label} is combined with", len(self)),
                pd.Series(dtype=float),
            )
        if not np.isfinite(found).all() or not np.isfinite(extra.to_numpy(dtype=float)).all():
            bad = index[~np.isfinite(found)] if not np.isfinite(found).all() else extra.index
            raise BadProbability(f"the values for {self.label} hold NaN or infinity at {join_names(bad)}")
        return found, extra

    def __eq__(self, value: Block | pd.Series | float) -> Rows:  # type: ignore[override]
        return self._against(value, low=True, high=True)

    def __le__(self, value: Block | pd.Series | float) -> Rows:
        return self._against(value, low=False, high=True)

    def __ge__(self, value: Block | pd.Series | float) -> Rows:
        return self._against(value, low=True, high=False)

    def __ne__(self, value: object) -> Rows:  # type: ignore[override]
        raise StatementError("'not equal' is not linear knowledge; write <= or >=")

    def __lt__(self, value: object) -> Rows:
        raise StatementError("a strict < has no maximum-entropy answer of its own; write <=")

    def __gt__(self, value: object) -> Rows:
        raise StatementError("a strict > has no maximum-entropy answer of its own; write >=")

    def between(self, low: Block | pd.Series | float, high: Block | pd.Series | float) -> Rows:
        """Say ``low <= block <= high``, each side a Series, a number or a block.

        Parameters
        ----------
        low, high : Series, float or Block
            Values, one a label, or one for all; probabilities if the rows are.

        Returns
        -------
        Rows

        Raises
        ------
        LabelMismatch
            If a Series has not exactly the labels of the block, or what is given has none.
        BadProbability
            If a value is no probability and ought to be, or a low one is above its high one.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> space = mx.MaxEnt(release).space
        >>> mx.MaxEnt(release).add(space.conditional("Disease", given="Gender").between(0.05, 0.6)).solve().status.value
        'optimal'
        """
        if not isinstance(low, Block) and not isinstance(high, Block):
            return self._rows(self._align(low, True, False), self._align(high, False, True))
        return _stacked(self >= low, self <= high, f"{self.label} between two")

    def about(self, value: pd.Series | float, eps: float) -> Rows:
        """Say ``value - eps <= block <= value + eps``; a side that no probability reaches is left out.

        Privacy-MaxEnt, section 4.5.

        Parameters
        ----------
        value : Series or float
            Values, one a label, or one for all; probabilities if the rows are.
        eps : float
            The vagueness, not negative.

        Returns
        -------
        Rows
            Those that say something.

        Raises
        ------
        LabelMismatch
            If a Series has not exactly the labels of the block, or what is given has none.
        BadProbability
            If a value is no probability, or eps is negative.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> shares = hospital["Disease"].value_counts(normalize=True)
        >>> rows = mx.MaxEnt(release).space.marginal("Disease").about(shares, eps=0.15)
        >>> rows.low.round(2).tolist(), rows.high.round(2).tolist()
        ([0.05, 0.15, 0.05, -inf, 0.05], [0.35, 0.45, 0.35, 0.25, 0.35])
        """
        middle, eps = self._align(value, True, True), check_number(eps, f"eps for {self.label}")
        if eps < 0:
            raise BadProbability(f"eps for {self.label} must not be negative: {eps:.12g}")
        low, high = middle - eps, middle + eps
        if not self.provenance.is_probability:
            return self._rows(low, high)
        low, high = np.where(low > 0, low, -np.inf), np.where(high < 1, high, np.inf)
        self._nothing_said(low, high)
        said = np.flatnonzero(np.isfinite(low) | np.isfinite(high))
        index = None if self.index is None else self.index[said]
        return Rows(self.matrix[said], low[said], high[said], self.label, index, self.space.view)

    def softly(
        self,
        value: pd.Series | float,
        *,
        sd: pd.Series | float | None = None,
        weight: pd.Series | float | None = None,
        delta: pd.Series | float | None = None,
    ) -> Rows:
        """Say ``block = value`` at a cost, nats: sum (block - value)^2 / (2 sd^2), or sum weight abs(block - value).

        Parameters
        ----------
        value : Series or float
            One a label, or one for all; any numbers, as noisy measurements may give.
        sd, weight, delta : Series or float, optional
            As of :func:`maxent_cvx.soft`: one of `sd` and `weight`, in the unit of the value; one a label, or one for
            all.

        Returns
        -------
        Rows

        Raises
        ------
        LabelMismatch
            If a Series has not exactly the labels of the block.
        StatementError, BadProbability
            If a value is no number, or a cost cannot be read.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> model = mx.MaxEnt(release)
        >>> rows = model.space.conditional("Disease", given="Gender")["Flu"].softly(0.4, sd=0.05)
        >>> rows.relation, [round(v, 3) for v in model.add(rows).solve().penalties]
        ('~', [1.259, 2.589])
        """
        middle = self._read(value)
        if not np.isfinite(middle).all():
            raise BadProbability(
                f"the values for {self.label} hold NaN or infinity at {self._listing(~np.isfinite(middle))}"
            )
        costs = [self._read(cost) if isinstance(cost, pd.Series) else cost for cost in (sd, weight, delta)]
        middle = _minus(middle, self._constant)
        self._nothing_said(middle, middle)
        return Rows(
            self.matrix, middle, middle.copy(), self.label, self.index, self.space.view, penalty=Penalty(*costs)
        )

    def __abs__(self) -> AbsoluteBlock:
        return AbsoluteBlock(self.label, self._within)

    def _within(self, most: object) -> Rows:
        """Say ``-most <= block <= most``; of a block as two sets of rows."""
        if isinstance(most, Block):
            least, largest = self + most, self - most  # >= 0, <= 0; what cancels and holds anyway is left out
            rows = [largest <= 0] if largest.matrix.nnz or (largest._constant > 0).any() else []
            if least.matrix.nnz or (least._constant < 0).any() or not rows:
                rows = [least >= 0, *rows]
            label = f"|{self._title}| <= {most._title}"
            return replace(rows[0], label=label) if len(rows) == 1 else _stacked(rows[0], rows[1], label)
        high = self._read(most)
        if (high < 0).any():
            raise BadProbability(f"|{self._title}| cannot be at most {high.min():.12g}: it is never negative")
        return self._rows(-high, high)

    def _rows(self, low: np.ndarray, high: np.ndarray) -> Rows:
        """Move the constant to the values; rows without terms that hold anyway say nothing, and are left out."""
        low, high = (_minus(side, self._constant) for side in (low, high))
        holds = self._nothing_said(low, high)
        rows = Rows(self.matrix, low, high, self.label, self.index, self.space.view)
        nobody = self.provenance.of_nobody(1) if not len(self) else self.provenance.nobody
        if not holds.any() and (len(self) or nobody is None):
            return rows
        if holds.all():
            why = f": {in_words(nobody[nobody != ''])}" if nobody is not None else ""
            raise StatementError(f"{self._title} holds no probability that could be otherwise, so nothing is said{why}")
        return rows.at(~holds)

    def _nothing_said(self, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """Mark rows without terms that hold anyway; the others must be defined."""
        empty = np.diff(self.matrix.indptr) == 0
        holds = empty & (low <= ROUNDING) & (high >= -ROUNDING)
        check_defined(self.provenance.nobody, ~holds, self._title, self.index)
        return holds

    def _against(self, value: object, low: bool, high: bool) -> Rows:
        """Say that the block is at least or at most a value, or both."""
        if isinstance(value, Block):
            difference = self - value
            zeros = np.zeros(len(difference))
        else:
            difference, zeros = self, self._align(value, low, high)
        return difference._rows(
            zeros if low else np.full(len(difference), -np.inf), zeros if high else np.full(len(difference), np.inf)
        )

    def _align(self, value: object, low: bool, high: bool) -> np.ndarray:
        """Bring the values into the order of the rows, by label; each must be a probability if the rows are."""
        numbers = self._read(value, low, high)
        bad = ~np.isfinite(numbers)
        if self.provenance.is_probability:
            bad = ~((numbers >= -ROUNDING) & (numbers <= 1 + ROUNDING))
        if bad.any():
            what = "NaN" if np.isnan(numbers[bad]).any() else f"{numbers[bad][0]:.12g}, which is no probability,"
            if not self.provenance.is_probability:
                what = "NaN or infinity"
            raise BadProbability(f"the values for {self.label} hold {what} at {self._listing(bad)}")
        return numbers

    def _read(self, value: object, low: bool = False, high: bool = False) -> np.ndarray:
        """Read a number, or a Series, of which values for impossible labels must agree with what these are."""
        if isinstance(value, pd.Series) and self.index is not None:
            unknown = self.provenance.unknown
            numbers, extra = by_label(value, self.index, self.space.axes, self.label, unknown, or_fewer=False)
            absent, said = self.provenance.absent, extra.to_numpy(dtype=float)
            wrong = ~(((said <= absent + ROUNDING) | (not low)) & ((said >= absent - ROUNDING) | (not high)))
            if wrong.any() or (np.isnan(absent) and len(extra)):
                places = extra.index[wrong] if wrong.any() else extra.index
                raise LabelMismatch(
                    f"the values for {self.label} have {join_names(places)}, which no term is of: it is "
                    f"{absent:.12g} there; take them out of the Series"
                )
            return numbers
        if type(value).__module__.partition(".")[0] == "cvxpy":
            raise StatementError(
                f"{self.label} is compared with a CVXPY expression, which has no labels; compare block.expr with it in "
                "a function of the space, lambda space: ..., or P(...), one by one"
            )
        if isinstance(value, Block | dict | list | tuple | set | pd.Series) or getattr(value, "shape", None):
            levels = [] if self.index is None else list(self.index.names)
            raise LabelMismatch(
                f"{self.label} is compared with a {type(value).__name__}, whose entries have no labels; "
                f"pass a number, or a Series indexed by {levels}"
            )
        return np.full(len(self), check_number(value, f"the value of every {self.label}"))

    def _listing(self, at: np.ndarray) -> str:
        return "its only row" if self.index is None else join_names(self.index[at])

    def __repr__(self) -> str:
        return as_text(self._title, self.matrix, self._constant, self.index)

    def _repr_html_(self) -> str:
        return as_html(self._title, self.matrix, self._constant, self.index)

    __array_ufunc__ = None  # so that NumPy arrays and pandas objects on the left leave the operation to us
    __pandas_priority__ = 10_000
    __iter__ = None  # by label and not by position
    __radd__ = __add__
    __rmul__ = __mul__
    __hash__ = None  # type: ignore[assignment]


def _minus(values: np.ndarray, constant: np.ndarray) -> np.ndarray:
    """Subtract as decimal numbers are: 0.3 - 0.1 is 0.2."""
    if not constant.any():
        return values
    difference = values - constant
    scale = np.maximum(np.where(np.isfinite(values), np.abs(values), 0.0), np.abs(constant))
    finite = np.isfinite(difference) & (scale > 0)
    digits = 15 - np.ceil(np.log10(np.where(finite, scale, 1.0)))
    unit = 10.0**digits
    return np.where(finite, np.rint(difference * unit) / unit, difference)


def _stacked(low: Rows, high: Rows, label: str) -> Rows:
    """Say two things at once: as one row a label where the expressions are the same, else as two."""
    if low.matrix.shape == high.matrix.shape and abs(low.matrix - high.matrix).sum() == 0:
        return Rows(low.matrix, low.low, high.high, low.label, low.index, low.view)
    side = np.repeat([0, 1], [len(low), len(high)])
    sides = pd.Index(["low", "high"])
    if low.index is None or high.index is None:
        index: pd.Index = sides.rename("side")
    else:
        both = low.index.append(high.index)
        levels = [level_of(both, i) for i in range(both.nlevels)]
        index = multi_index(
            [*(values for _, values in levels), sides], [*(codes for codes, _ in levels), side], [*both.names, "side"]
        )
    matrix = sp.csr_array(sp.vstack([low.matrix, high.matrix]))
    sizes = np.concatenate([low.low, high.low]), np.concatenate([low.high, high.high])
    return Rows(matrix, *sizes, label, index, low.view)

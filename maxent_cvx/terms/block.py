"""Blocks: labelled families of linear expressions, compared with values label by label.

A block is ``matrix @ p + constant`` with one label per row. It also stores its provenance: its notation, and the
meaning of labels without a row, of which there are three kinds. A combination of known values without terms cannot
occur, and counts as 0. A label that was not selected, or for which a difference has no previous value, is unknown. A
probability conditional on a group without people is 0 / 0, which is undefined.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
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
from .._utils.formatting import TablePreview, as_html, format_combination, format_number
from .._utils.tables import multi_index
from .._utils.validation import check_array, check_label, check_list, check_number, check_positions, label_of
from ..releases.base import attach
from .axes import (
    Axes,
    are_known,
    check_unique,
    find,
    group_rows,
    has_values,
    known_values,
    level_names,
    level_of,
    levels_named,
    ordered_values,
    pick,
    same_levels,
    subset_keys,
    without_levels,
)
from .rows import AbsoluteValue, NonStrict, Penalty, Rows

if TYPE_CHECKING:
    import cvxpy as cp

    from .space import Space

#: The notation of a linear combination: coefficients and the texts of the summands.
Parts = tuple[tuple[float, str], ...]

NOT_LINEAR = "a product or quotient of two blocks is not linear, so maximum entropy cannot use it"
#: The largest distance of a published probability from [0, 1], for its rounding.
ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class Groups:
    """The groups of people on which a block is conditional."""

    there: pd.Index  # the labels of the groups with people: values of the conditions
    fixed: Mapping[str, object] = field(default_factory=dict)  # conditions with one value, which labels do not contain

    @property
    def free(self) -> list[str]:
        """The conditions that are levels of the block's rows."""
        return [name for name in level_names(self.there) if name not in self.fixed]

    def at(self, fixed: Mapping[str, object]) -> Groups:
        """Select the groups with some values."""
        new = {name: value for name, value in fixed.items() if name in self.free}
        if not new:
            return self
        return Groups(self.there[has_values(self.there, new)], {**self.fixed, **new})

    def along(self, levels: Sequence[str]) -> Groups:
        """Merge groups for sums over all other levels: a merged group has people if any of its groups does."""
        levels_kept = [name for name in level_names(self.there) if name in levels or name in self.fixed]
        return Groups(subset_keys(self.there, levels_kept).unique() if levels_kept else self.there, self.fixed)

    def empty_at(self, labels: pd.Index | None, n: int) -> np.ndarray:
        """Return the text of the group of each of n labels if the group is empty; else ""."""
        if not self.free or labels is None:
            return np.full(n, "" if len(self.there) else _conditions(self.fixed), dtype=object)
        texts = np.full(n, "", dtype=object)
        keys = subset_keys(labels, self.free)
        empty = np.flatnonzero(find(subset_keys(self.there, self.free).unique(), keys) < 0)
        codes, groups = pd.factorize(keys[empty])
        keys_of_groups = groups if isinstance(groups, pd.MultiIndex) else [(value,) for value in groups]
        names = [_conditions({**self.fixed, **dict(zip(self.free, key, strict=True))}) for key in keys_of_groups]
        texts[empty] = np.array(names, dtype=object)[codes]
        return texts


@dataclass(frozen=True, eq=False)
class Provenance:
    """The origin of a block, and the meaning of labels without a row."""

    is_probability: bool = True  # whether every row is a probability, in [0, 1]
    parts: Parts = ()  # the notation of the linear combination; () for the label itself
    # The value at a known label without a row: a constant, as it has no terms; NaN if that is unknown.
    absent: float = 0.0
    left_out: pd.Index | None = None  # labels of rows that were not selected, whose values are unknown
    dropped: Mapping[str, pd.Index] = field(default_factory=dict)  # by level, the values without a difference
    groups: tuple[Groups, ...] = ()  # the conditions of the rows
    empty: np.ndarray | None = None  # for each row, the empty group that makes it undefined; or ""

    def unknown(self, labels: pd.Index) -> np.ndarray:
        """Mark the labels whose missing rows are not 0, because they were left out or dropped."""
        marked = np.zeros(len(labels), dtype=bool)
        if self.left_out is not None and len(self.left_out):
            marked |= find(self.left_out, subset_keys(labels, level_names(self.left_out))) >= 0
        for level, values in self.dropped.items():
            marked |= labels.get_level_values(level).isin(values)
        return marked

    def unknown_of_both(self, other: Provenance, index: pd.Index) -> tuple[pd.Index | None, Mapping[str, pd.Index]]:
        """Return the fields `left_out` and `dropped` of a sum of two blocks with the same levels."""
        left_out, dropped = self.left_out, dict(self.dropped)
        if other.left_out is not None and set(level_names(other.left_out)) == set(level_names(index)):
            keys = subset_keys(other.left_out, level_names(index))
            left_out = keys if left_out is None else left_out.append(keys).unique()
        for level, values in other.dropped.items():
            dropped[level] = dropped[level].union(values) if level in dropped else values
        return left_out, dropped

    def empty_at(self, at: np.ndarray, labels: pd.Index | None) -> np.ndarray | None:
        """Return the empty group that each of the given rows uses; -1 stands for a known label without a row."""
        absent = at < 0
        if self.empty is None and not (self.groups and absent.any()):
            return None
        texts = np.full(len(at), "", dtype=object)
        if self.empty is not None:
            texts[~absent] = self.empty[at[~absent]]
        for group in self.groups if absent.any() else ():  # the first of several empty groups is used
            unmarked = absent & (texts == "")
            chosen = None if labels is None else labels[unmarked]
            texts[unmarked] = group.empty_at(chosen, int(unmarked.sum()))
        return texts if (texts != "").any() else None

    @property
    def empty_group(self) -> str:
        """The empty group on which all rows would be conditional, so that the block has no rows; or ""."""
        return next((_conditions(group.fixed) for group in self.groups if not len(group.there)), "")


def _conditions(values: Mapping[str, object]) -> str:
    """Format conditions: "age=50, sex=m"."""
    return ", ".join(f"{name}={value}" for name, value in values.items())


def _either(first: np.ndarray | None, second: np.ndarray | None) -> np.ndarray | None:
    """Return the empty groups of rows that combine two rows each."""
    if first is None or second is None:
        return second if first is None else first
    return np.where(first == "", second, first)


@dataclass(frozen=True, eq=False, repr=False)
class Block(NonStrict):
    """A Series of linear expressions over the terms: ``matrix @ p + constant``, one row per label.

    Rows are selected by label as in pandas: ``block["Flu"]``, ``block.loc["Flu", "male"]``, ``block.loc[:, 20:40]``,
    ``block.xs("male", level="Gender")``. Blocks, numbers and Series are added, and blocks are multiplied by numbers and
    Series, label by label in any order; a Series with some of the levels is broadcast along the others. An unpublished
    value raises an error. Published values that cannot occur together have no row: their probability is 0, also in sums
    and differences of blocks. Arrays are matched by position. A single expression times a Series, as in
    ``block - ratios * block["White"]``, has the labels of the Series.

    P(s | a group without people) is 0 / 0. It has no row either, and counts as 0 in values, but cannot be compared:
    rows that use it are `undefined`, like results computed from NaN in pandas, and comparing them raises an error. Drop
    them with ``block.loc[~block.undefined]``, or use :class:`~maxent_cvx.Monotone` for an order, which skips groups
    without people. Only comparisons that are always true, such as 0 == 0 for nobody, are dropped without an error.

    ``==``, ``<=`` and ``>=`` with a Series, a number or a block return :class:`~maxent_cvx.Rows`, which are knowledge,
    as do ``abs(block) <= number`` and ``abs(block) <= block``. A Series must then have exactly the block's labels.
    Probabilities can only be compared with numbers in [0, 1]; sums, multiples and differences with any numbers.

    Attributes
    ----------
    space : Space
    matrix : csr_array, shape (rows, terms)
        Coefficients on the probabilities p.
    index : Index or None
        The labels of the rows; None for a single expression such as ``block.loc["Flu", "male"]`` or ``block.sum()``.
    label : str
        The text of ``matrix @ p``, such as "P(Gender, Disease)". It is part of the names of rows, and the constant is
        moved to their values: ``2 * block - 1 <= 0.2`` becomes 2 P(..) <= 1.2.
    constant : ndarray, shape (rows,), optional
        The summand besides ``matrix @ p``; by default 0.
    provenance : Provenance
        The origin of the block; by default, rows of a user-defined matrix are probabilities.

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

    HIV is at least twice as frequent as lung cancer, both among men and among women:

    >>> rows = block["HIV"] >= 2 * block["Lung Cancer"]
    >>> rows.name(0), mx.MaxEnt(release).add(rows).solve().prices()["price"].round(3).to_list()
    ('P(HIV | Gender) - 2 P(Lung Cancer | Gender): female', [-0.112, 0.0])

    Differences along Degree, sorted. No woman has high school and no man junior, so two differences are undefined:

    >>> steps = mx.MaxEnt(release).space.conditional("Disease", given=["Gender", "Degree"])["Flu"].diff("Degree")
    >>> steps.index[steps.undefined].to_list()
    [('female', 'high school'), ('male', 'junior')]
    >>> len(steps.loc[~steps.undefined] >= 0)
    3

    Blocks are displayed as tables:

    >>> 2 * block["Flu"] - 1
    <Block: 2 P(Flu | Gender) - 1, 2 rows by ['Gender']>
            terms coefficients  constant
    Gender
    female      3            5      -1.0
    male        3        3.333      -1.0
    """

    space: Space
    matrix: sp.csr_array
    index: Any  # an Index, or None for a single expression
    label: str
    constant: np.ndarray = None  # type: ignore[assignment]  # by default zeros
    provenance: Provenance = field(default_factory=Provenance)

    __iter__ = None  # __getitem__ selects by label, so that Python must not iterate by position

    def __post_init__(self) -> None:
        if self.constant is None:
            object.__setattr__(self, "constant", np.zeros(self.matrix.shape[0]))

    @property
    def expr(self) -> cp.Expression:
        """A :class:`cvxpy.Expression`, one entry per label, for knowledge that comparisons of blocks cannot express.

        As in a comparison, undefined rows raise an error, see `undefined`.
        """
        self._check_defined(np.ones(len(self), dtype=bool))
        expression = self.space._times_p(self.matrix)
        return expression + self.constant if np.any(self.constant) else expression

    @property
    def undefined(self) -> np.ndarray:
        """Whether each row uses a probability conditional on an empty group, 0 / 0: ndarray of bool, one per row."""
        empty = self.provenance.empty
        return np.zeros(len(self), dtype=bool) if empty is None else empty != ""

    def value(self, p: object) -> pd.Series | float:
        """Return the values ``matrix @ p + constant`` at given probabilities.

        Parameters
        ----------
        p : Posterior or ndarray, one per term
            The solution of a model with this space, or probabilities P(q, s, b).

        Returns
        -------
        Series or float
            The values by label; a number for a single expression.

        Raises
        ------
        StatementError
            If `p` does not have one number per term.

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
        raise TypeError(f"{self.label} is a block of expressions without a truth value; compare it with values")

    @property
    def _parts(self) -> Parts:
        return self.provenance.parts or ((1.0, self.label),) * (self.label != "0")

    @property
    def _title(self) -> str:
        """The text of the block, with its constant."""
        constants = set(self.constant.tolist()) or {0.0}
        if len(constants) > 1:
            return format_combination(self._parts, "constants")
        (constant,) = constants
        return format_combination(self._parts, format_number(constant) if constant else "")

    def _labels(self, what: str) -> pd.Index:
        if self.index is None:
            raise StatementError(f"cannot {what} from {self.label}, a single expression without labels")
        return self.index

    def _check_defined(self, used: np.ndarray) -> None:
        """Check that no used row is conditional on an empty group."""
        empty = self.provenance.empty
        if empty is None or not len(bad := np.flatnonzero((empty != "") & used)):
            return
        where = "" if self.index is None else f" at {join_names(self.index[bad])}"
        select = "" if self.index is None else f"drop these rows with x.loc[~x.undefined], where x = {self._title}; "
        raise StatementError(
            f"{self._title} is not defined{where}: {_nobody(empty[bad])}, so that the probability is 0 / 0; "
            f"{select}for an order use mx.Monotone, which skips groups without people"
        )

    def _check_left_out(self, labels: pd.Index) -> None:
        """Check that labels without a row are impossible, not left out."""
        lost = labels[self.provenance.unknown(labels)]
        if len(lost):
            raise LabelMismatch(f"{self.label} lacks {join_names(lost)}; select the same rows on both sides")

    # Selection by label

    @property
    def loc(self) -> Self:
        """Rows by label, as in pandas: ``block.loc["Flu", "male"]``, ``block.loc[:, 20:40]``."""
        return self

    def __getitem__(self, key: Any) -> Self:
        levels = level_names(self._labels("select"))
        if isinstance(key, list) and key and all(isinstance(item, bool | np.bool_) for item in key):
            key = np.array(key)
        if isinstance(key, np.ndarray | pd.Series | pd.Index) and pd.api.types.is_bool_dtype(key.dtype):
            if pd.isna(key).any():
                raise StatementError(f"a mask of the rows of {self.label} must not contain missing values")
            if isinstance(key, pd.Series):
                key, _ = self._by_label(key.astype(float), or_fewer=False)
            return self.at(np.asarray(key, dtype=bool))
        if isinstance(key, tuple):
            if len(key) > len(levels):
                raise UnknownName(f"{short_repr(key)} has {len(key)} values, but {self.label} has the levels {levels}")
            return self._along(dict(zip(levels, key, strict=False)))
        if isinstance(key, list | np.ndarray | pd.Index | pd.Series):
            if getattr(key, "ndim", 1) != 1 or not all(isinstance(x, Hashable) for x in key):
                raise StatementError(f"rows must be selected by a list of labels or a mask, not {short_repr(key)}")
            labels = key if isinstance(key, pd.Index) else pd.Index(list(key), tupleize_cols=False)
            if len(levels) == 1 and not isinstance(labels, pd.MultiIndex):
                return self._whole(labels.set_names(levels))
            if len(labels) and all(isinstance(item, tuple) and len(item) == len(levels) for item in labels):
                return self._whole(pd.MultiIndex.from_tuples(list(labels), names=levels))
        return self._along({levels[0]: key})

    def xs(self, key: Any, level: str | Sequence[str] | None = None) -> Self:
        """Select the rows with one value of a level, or of several levels each; these levels are dropped.

        Parameters
        ----------
        key : object
            The value; a tuple for several levels.
        level : str or list of str, optional
            Names of levels, or roles: "s", "q". By default the first level.

        Returns
        -------
        Block
            A single expression if no level remains. It is 0 if the values cannot occur together.

        Raises
        ------
        UnknownName
            If the level or the value does not exist.
        StatementError
            If `key` does not have one value per level.

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
        index = self._labels("select")
        levels = level_names(index)[:1] if level is None else levels_named(self.space.axes, index, level, self.label)
        keys = key if isinstance(key, tuple) and len(levels) > 1 else (key,)
        if len(keys) != len(levels):
            raise StatementError(f"key must have one value for each of {levels}, not {short_repr(key)}")
        if strange := [item for item in keys if isinstance(item, slice | list | np.ndarray | pd.Index)]:
            raise StatementError(f"xs takes one value per level, not {short_repr(strange[0])}; write block.loc[...]")
        return self._along(dict(zip(levels, keys, strict=True)))

    def at(self, rows: np.ndarray) -> Self:
        """Select rows by position, or by a mask."""
        rows = check_positions(rows, "rows", len(self))
        if self.index is None:
            return self._select(rows, None, {})
        others = self._others(rows)
        if len(others) + len(rows) > len(self):
            check_unique(self.index[rows], f"the selected rows of {self.label}")
        return self._select(rows, self.index[rows], {}, others)

    def _others(self, rows: np.ndarray) -> pd.Index:
        """Return the labels of all other rows."""
        is_other = np.ones(len(self), dtype=bool)
        is_other[rows[rows >= 0]] = False
        return self.index[is_other]

    def _whole(self, labels: pd.Index) -> Self:
        """Select rows by complete labels."""
        check_unique(labels, f"the selected rows of {self.label}")
        for i, level in enumerate(level_names(labels)):
            values = level_of(labels, i)[1]
            known = [self._check_value(value, level) for value in values]
            if known != values.tolist():  # texts of dates
                one_level = pd.Index(known, name=level)
                labels = labels.set_levels(known, level=i) if isinstance(labels, pd.MultiIndex) else one_level
        at = find(self.index, labels)
        return self._select(at, labels, {}, self._others(at))

    def _along(self, selected: Mapping[str, Any]) -> Self:
        """Select rows by a value, several values or a slice of some levels each."""
        index = self.index
        fixed = {
            level: self._check_value(value, level)
            for level, value in selected.items()
            if not isinstance(value, list | slice | np.ndarray | pd.Index)
        }
        matches, narrowed = np.ones(len(index), dtype=bool), np.ones(len(index), dtype=bool)
        for level, value in selected.items():
            codes, values = level_of(index, index.names.index(level))
            if level in fixed:
                matches &= values.isin([fixed[level]])[codes]
            elif isinstance(value, slice):
                narrowed &= values.isin(self._between(value, level))[codes]
            else:
                several = [self._check_value(v, level) for v in check_list(value, f"values of {level!r}", "values")]
                check_unique(pd.Index(several, tupleize_cols=False), f"the selected rows of {self.label}")
                narrowed &= values.isin(several)[codes]
        at, labels = np.flatnonzero(matches & narrowed), without_levels(index, fixed)
        if labels is None:
            return self._select(at if len(at) else np.array([-1]), None, fixed)
        return self._select(at, labels[at], fixed, labels[matches & ~narrowed])

    def _between(self, part: slice, level: str) -> Iterable[object]:
        """Return the values of a level between two values, including both, as in pandas."""
        if part == slice(None):
            return known_values(self.space.axes, level)
        if part.step is not None:
            raise StatementError(f"a slice of {level!r} cannot have a step; list the values")
        values = ordered_values(self.space.axes, level)
        inside = np.ones(len(values), dtype=bool)
        ranked = values.codes if isinstance(values, pd.CategoricalIndex) else values
        try:
            for end, is_start in ((part.start, True), (part.stop, False)):
                if end is not None:
                    if isinstance(values, pd.CategoricalIndex):
                        end = values.categories.get_loc(self._check_known(end, level))
                    elif isinstance(values, pd.DatetimeIndex) or isinstance(end, float):
                        end = label_of(end, values)  # None, which cannot be compared, for "2020" or "2020-01"
                    inside &= (ranked >= end) if is_start else (ranked <= end)
        except TypeError:
            ends = join_names([end for end in (part.start, part.stop) if end is not None])
            raise StatementError(f"{ends} cannot be compared with the values of {level!r} in {self.label}") from None
        return values[inside]

    def _check_known(self, value: object, level: str) -> object:
        return check_label(value, f"value of {level!r} in {self.label}", known_values(self.space.axes, level))

    def _check_value(self, value: object, level: str) -> object:
        """Check that a value is known, and that differences have rows for it."""
        label = self._check_known(value, level)
        if label in self.provenance.dropped.get(level, ()):
            raise LabelMismatch(f"{self.label} has no row for {level}={short_repr(value)}, the first value")
        return label

    def _select(
        self, at: np.ndarray, index: pd.Index | None, fixed: Mapping[str, object], left_out: pd.Index | None = None
    ) -> Self:
        """Select rows by position, -1 for a known label without a row, and drop the levels `fixed`, with one value."""
        made = self.provenance
        if made.left_out is not None:  # from an earlier selection
            before, of_these = without_levels(made.left_out, fixed), has_values(made.left_out, fixed)
            if before is not None:
                left_out = before[of_these] if left_out is None else left_out.append(before[of_these])
            elif (at < 0).any() and of_these.any():
                raise UnknownName(f"{fixed} was left out of {self.label}; select from the original block")
        if (at < 0).any() and np.isnan(made.absent):
            raise UnknownName(f"{self.label} has no row for a selected label; select before you add")
        if index is not None and (at < 0).any():
            self._check_left_out(index[at < 0])
        sensitive = self.space.view.sensitive
        groups = tuple(group.at(fixed) for group in made.groups)
        return self._derive(
            pick(self.matrix, at),
            _pick_values(self.constant, at, made.absent),
            index,
            parts=_with_values(self._parts, fixed, sensitive if len(sensitive) == 1 else ()),
            left_out=None if left_out is None or not len(left_out) else left_out,
            dropped={level: values for level, values in made.dropped.items() if level not in fixed},
            groups=groups,
            empty=replace(made, groups=groups).empty_at(at, index),
        )

    def _derive(self, matrix: sp.csr_array, constant: np.ndarray, index: pd.Index | None, **changes: Any) -> Self:
        """Make a block from this one, with changes of the provenance."""
        provenance = replace(self.provenance, **{"parts": self._parts, **changes})
        label = format_combination(provenance.parts)
        return replace(self, matrix=matrix, constant=constant, index=index, label=label, provenance=provenance)

    # Arithmetic, label by label

    def __neg__(self) -> Self:
        return self * -1

    def __pos__(self) -> Self:
        return self

    def __add__(self, other: object) -> Self:
        if isinstance(other, Block):
            return self._plus(other)
        absent = self.provenance.absent
        if not _has_entries(other):
            values: Any = self._scalar(other)
            absent += values
        else:
            values, extra = self._aligned(other)
            if len(extra) and extra.index.nlevels == self.index.nlevels:
                return self._with_rows(extra.index) + other
            if isinstance(other, pd.Series) and other.index.nlevels < self.index.nlevels:
                absent = np.nan
        constant = self.constant + values
        return self._derive(self.matrix, constant, self.index, is_probability=False, absent=absent)

    __radd__ = __add__

    def __sub__(self, other: object) -> Self:
        return self + (-other if isinstance(other, Block) or _has_entries(other) else -self._scalar(other))  # type: ignore[operator]

    def __rsub__(self, other: object) -> Self:
        return -self + other

    def __mul__(self, factor: object) -> Self:
        if isinstance(factor, Block):
            raise StatementError(f"{NOT_LINEAR}: {self.label} and {factor.label}; multiply by numbers or a Series")
        absent = self.provenance.absent
        if not _has_entries(factor):
            weights: Any = self._scalar(factor)
            matrix, absent = self.matrix * weights, absent * weights
            parts = tuple((weights * a, text) for a, text in self._parts) if weights else ()
        elif self.index is None and isinstance(factor, pd.Series):
            return self._repeated(factor.index) * factor
        else:
            weights, _ = self._aligned(factor)
            matrix = sp.csr_array(sp.diags_array(weights) @ self.matrix) if len(self) else self.matrix
            absent = 0.0 if absent == 0 else np.nan
            name = getattr(factor, "name", None)
            a, text = _as_one(self._parts)
            parts = ((a, f"{'weights' if name is None else name} * {text}"),)
        constant = self.constant * weights
        return self._derive(matrix, constant, self.index, is_probability=False, parts=parts, absent=absent)

    __rmul__ = __mul__

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
        """Sum all rows, or the rows with the same values of some levels.

        Parameters
        ----------
        level : str or list of str, optional
            Names of the levels to keep, or roles: "s", "q". By default, no level.

        Returns
        -------
        Block
            One row per combination of values of the levels; a single expression without `level`.

        Raises
        ------
        UnknownName
            If the level does not exist.

        Examples
        --------
        The mean score of each gender, given a score for every disease:

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
        made, index, left_out = self.provenance, None, None
        levels: list[str] = []
        method, group = "sum()", np.zeros(len(self), dtype=np.int64)
        if level is not None:
            levels = levels_named(self.space.axes, self._labels("sum"), level, self.label)
            group, first = group_rows(self.index, levels)
            index = subset_keys(self.index, levels)[first]
            method = f"sum(level={', '.join(levels)})"
            if made.left_out is not None:
                left_out = subset_keys(made.left_out, levels).unique().difference(index)
        size = 1 if index is None else len(index)
        adding = sp.csr_array((np.ones(len(self)), (group, np.arange(len(self)))), shape=(size, len(self)))
        matrix = sp.csr_array(adding @ self.matrix)
        matrix.eliminate_zeros()
        conditions = [groups.along(levels) for groups in made.groups]
        groups = tuple(each for each in conditions if each.free or each.fixed)
        empty = np.full(size, replace(made, groups=groups).empty_group, dtype=object)
        if made.empty is not None:
            used = np.flatnonzero(made.empty != "")[::-1]
            empty[group[used]] = made.empty[used]  # backwards, so that the first of each sum is kept
        return self._derive(
            matrix,
            adding @ self.constant,
            index,
            is_probability=False,
            parts=self._called(method),
            absent=0.0 if made.absent == 0 else np.nan,
            left_out=left_out,
            dropped={name: values for name, values in made.dropped.items() if name in levels},
            groups=groups,
            empty=empty if (empty != "").any() else None,
        )

    def diff(self, level: str) -> Self:
        """Return the difference between each row and the row of the previous value, along an ordered level.

        Parameters
        ----------
        level : str
            The level, whose values are in the order of an ordered Categorical, or sorted.

        Returns
        -------
        Block
            One row per value except the first, whose difference is undefined: to use it, or to combine the differences
            with a block that has a row for it, raises an error. A value that cannot occur together with the values of
            the other levels counts as 0.

        Raises
        ------
        UnknownName
            If the level does not exist.
        StatementError
            If the values of the level are not ordered.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> rises = mx.Space.of(release).conditional("Disease", given="Degree")["HIV"].diff("Degree") >= 0
        >>> [rises.name(i) for i in range(len(rises))][:2]
        ['P(HIV | Degree).diff(Degree): graduate', 'P(HIV | Degree).diff(Degree): high school']
        """
        index, made = self._labels("take differences of"), self.provenance
        levels = levels_named(self.space.axes, index, level, self.label)
        if len(levels) != 1:
            raise StatementError(f"differences need one level, but {short_repr(level)} stands for {levels}")
        dropped = made.dropped.get(levels[0])
        labels, current, before, previous, first = _steps(
            index, levels[0], self.space.axes, made.left_out is not None, dropped
        )
        for at, at_labels in ((current, labels), (before, previous)):
            if (at < 0).any():
                self._check_left_out(at_labels[at < 0])
        if np.isnan(made.absent) and ((current < 0) | (before < 0)).any():
            raise StatementError(f"{self.label} lacks rows for some labels; take differences before you add")
        matrix = sp.csr_array(pick(self.matrix, current) - pick(self.matrix, before))
        matrix.eliminate_zeros()
        constant, constant_before = (_pick_values(self.constant, at, made.absent) for at in (current, before))
        return self._derive(
            matrix,
            constant - constant_before,
            labels,
            is_probability=False,
            parts=self._called(f"diff({levels[0]})"),
            absent=0.0,
            empty=_either(made.empty_at(current, labels), made.empty_at(before, previous)),
            dropped={**made.dropped, levels[0]: first if dropped is None else dropped.union(first)},
        )

    def _called(self, method: str) -> Parts:
        """Return the notation of the result of a method: "P(s | age).diff(age)"."""
        a, text = _as_one(self._parts)
        return ((a, f"({text}).{method}" if " * " in text else f"{text}.{method}"),)

    def _repeated(self, index: pd.Index) -> Self:
        """Repeat a single expression, one row per label; its value at other labels is unknown."""
        for name in level_names(index):
            if not isinstance(name, str):
                raise LabelMismatch(
                    f"{self.label} is multiplied by a Series whose index has no name; name its level, e.g. "
                    f"series.rename_axis({self.space.view.columns[0]!r})"
                )
            known_values(self.space.axes, name)
        if len(unknown := index[~are_known(self.space.axes, index)]):
            raise LabelMismatch(f"{self.label} is multiplied by a Series with the unknown labels {join_names(unknown)}")
        check_unique(index, f"the values for {self.label}")
        at = np.zeros(len(index), dtype=np.int64)
        empty, constant = self.provenance.empty_at(at, index), np.repeat(self.constant, len(index))
        return self._derive(
            pick(self.matrix, at), constant, index, absent=np.nan, left_out=None, dropped={}, empty=empty
        )

    def _with_rows(self, labels: pd.Index) -> Self:
        """Add rows for known labels without a row."""
        index = self._labels("add").append(labels)
        at = np.append(np.arange(len(self)), np.full(len(labels), -1))
        constant = _pick_values(self.constant, at, self.provenance.absent)
        return self._derive(pick(self.matrix, at), constant, index, empty=self.provenance.empty_at(at, index))

    def _plus(self, other: Block) -> Self:
        """Add two blocks by label; a block with fewer levels is broadcast."""
        if self.space.view is not other.space.view or len(self.space) != len(other.space):
            raise StatementError(f"{self.label} and {other.label} belong to different models; make both from one space")
        total: dict[str, float] = {}  # common summands are written once, or not at all if they cancel
        for a, text in (*self._parts, *other._parts):
            total[text] = total.get(text, 0.0) + a
        parts = tuple((a, text) for text, a in total.items() if a)
        if self.index is None and other.index is not None:
            return replace(other._plus(self), label=format_combination(parts))  # type: ignore[return-value]
        first, absent, keys = self, np.nan, None
        left_out, dropped = self.provenance.left_out, self.provenance.dropped
        if other.index is None:
            at = np.zeros(len(self), dtype=np.int64)
        else:
            index = self._labels("add")
            if set(index.names) < set(other.index.names):
                return other._plus(self)  # type: ignore[return-value]
            levels = same_levels(index, other.index, self.label, or_fewer=True)
            other_keys = subset_keys(other.index, levels)
            if len(levels) == index.nlevels:
                absent = self.provenance.absent + other.provenance.absent
                left_out, dropped = self.provenance.unknown_of_both(other.provenance, index)
                extra = other_keys[find(index, other_keys) < 0]
                if len(extra):
                    self._check_left_out(extra)
                    first = self._with_rows(extra)
            keys = subset_keys(first._labels("add"), levels)
            at = find(other_keys, keys)
            if (at < 0).any():
                other._check_left_out(keys[at < 0])
        matrix = sp.csr_array(first.matrix + pick(other.matrix, at))
        matrix.eliminate_zeros()
        constant = first.constant + _pick_values(other.constant, at, other.provenance.absent)
        if np.isnan(constant).any():
            raise LabelMismatch(
                f"{self.label} and {other.label} have different labels, and one is unknown where it lacks a row; "
                "select the same rows on both sides, and add blocks before numbers"
            )
        return first._derive(
            matrix,
            constant,
            first.index,
            is_probability=False,
            parts=parts,
            absent=absent,
            left_out=left_out,
            dropped=dropped,
            groups=tuple(dict.fromkeys(first.provenance.groups + other.provenance.groups)),
            empty=_either(first.provenance.empty, other.provenance.empty_at(at, keys)),
        )

    def _scalar(self, value: object) -> float:
        """Read one number for all rows."""
        if isinstance(value, Block | dict | list | tuple | set | str) or getattr(value, "shape", None):
            self._refuse_unlabelled(value, "combined")
        return check_number(value, f"the number to combine with {self.label}")

    def _refuse_unlabelled(self, value: object, how: str) -> None:
        levels = [] if self.index is None else list(self.index.names)
        raise LabelMismatch(
            f"{self.label} is {how} with a {type(value).__name__}, whose entries have no labels; pass a number, or a "
            f"Series indexed by {levels}"
        )

    def _aligned(self, values: Any) -> tuple[np.ndarray, pd.Series]:
        """Read one number per row from a Series, by label, or an array; also return a Series' entries without a row."""
        index = self._labels(f"align a {type(values).__name__} with")
        if isinstance(values, pd.Series):
            numbers, extra = self._by_label(values, or_fewer=True)
        else:
            numbers = check_array(values, f"the array to combine with {self.label}", len(self))
            extra = pd.Series(dtype=float)
        finite = np.isfinite(numbers)
        if not finite.all() or not np.isfinite(extra.to_numpy(dtype=float)).all():
            bad = extra.index if finite.all() else index[~finite]
            raise BadProbability(f"the values for {self.label} contain NaN or infinity at {join_names(bad)}")
        return numbers, extra

    def _by_label(self, values: pd.Series, *, or_fewer: bool) -> tuple[np.ndarray, pd.Series]:
        """Bring a Series into the order of the labels; also return its entries at known labels without a row."""
        index, label = self.index, self.label
        if values.index is index and values.dtype.kind in "fiu":
            return values.to_numpy(dtype=float), values.iloc[:0]
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
        check_unique(values.index, f"the values for {label}")
        at = find(values.index, keys)
        used = np.zeros(len(values), dtype=bool)
        used[at[at >= 0]] = True
        extra = values[~used]
        unknown = ~are_known(self.space.axes, extra.index)
        if len(levels) == index.nlevels:
            unknown |= self.provenance.unknown(extra.index)
        if (at < 0).any() or unknown.any():
            mismatch = (("lack", keys[at < 0].unique()), ("have", extra.index[unknown]))
            mismatches = " and ".join(f"{problem} {join_names(labels)}" for problem, labels in mismatch if len(labels))
            raise LabelMismatch(
                f"the values for {label} {mismatches}; they must have exactly the {len(index)} labels of its rows: "
                "reindex the Series, or take a coarser marginal"
            )
        return values.to_numpy(dtype=float)[at], extra

    # Comparisons

    def __eq__(self, value: Block | pd.Series | float) -> Rows:  # type: ignore[override]
        return self._against(value, low=True, high=True)

    def __le__(self, value: Block | pd.Series | float) -> Rows:
        return self._against(value, low=False, high=True)

    def __ge__(self, value: Block | pd.Series | float) -> Rows:
        return self._against(value, low=True, high=False)

    def __abs__(self) -> AbsoluteValue:
        return AbsoluteValue(self.label, self._within)

    def between(self, low: Block | pd.Series | float, high: Block | pd.Series | float) -> Rows:
        """Return the rows ``low <= block <= high``, with a Series, a number or a block on each side.

        Parameters
        ----------
        low, high : Series, float or Block
            Values, one per label, or one for all; probabilities if the rows are.

        Raises
        ------
        LabelMismatch
            If the labels of a Series are not those of the block, or an argument has no labels.
        BadProbability
            If a value should be a probability but is not, or a low value is above its high value.

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
        return _both(self >= low, self <= high, f"{self.label} between two")

    def about(self, value: pd.Series | float, eps: float) -> Rows:
        """Return the rows ``value - eps <= block <= value + eps``; sides outside [0, 1] are dropped.

        Privacy-MaxEnt, section 4.5.

        Parameters
        ----------
        value : Series or float
            Values, one per label, or one for all; probabilities if the rows are.
        eps : float
            The largest deviation from `value`, not negative.

        Returns
        -------
        Rows
            The rows with at least one finite side.

        Raises
        ------
        LabelMismatch
            If the labels of a Series are not those of the block, or an argument has no labels.
        BadProbability
            If a value is not a probability, or eps is negative.

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
        self._hold_anyway(low, high)
        used = np.flatnonzero(np.isfinite(low) | np.isfinite(high))
        index = None if self.index is None else self.index[used]
        return Rows(self.matrix[used], low[used], high[used], self.label, index, self.space.view)

    def softly(
        self,
        value: pd.Series | float,
        *,
        sd: pd.Series | float | None = None,
        weight: pd.Series | float | None = None,
        delta: pd.Series | float | None = None,
    ) -> Rows:
        """Return soft rows ``block = value`` with a cost in nats.

        The cost is sum (block - value)^2 / (2 sd^2), or sum weight abs(block - value).

        Parameters
        ----------
        value : Series or float
            One per label, or one for all; any numbers, since noisy measurements may be outside [0, 1].
        sd, weight, delta : Series or float, optional
            As in :func:`maxent_cvx.soft`: one of `sd` and `weight`, in the unit of the value; one per label, or one for
            all.

        Raises
        ------
        LabelMismatch
            If the labels of a Series are not those of the block.
        StatementError, BadProbability
            If a value is not a number, or a cost is invalid.

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
        if (bad := ~np.isfinite(middle)).any():
            raise self._bad_values(bad, "NaN or infinity")
        costs = [self._read(cost) if isinstance(cost, pd.Series) else cost for cost in (sd, weight, delta)]
        middle = _minus(middle, self.constant)
        self._hold_anyway(middle, middle)
        penalty = Penalty(*costs)
        return Rows(self.matrix, middle, middle.copy(), self.label, self.index, self.space.view, penalty=penalty)

    def _within(self, most: object) -> Rows:
        """Return ``-most <= block <= most``; if most is a block, as two sets of rows."""
        if isinstance(most, Block):
            least, largest = self + most, self - most  # >= 0, <= 0; sides that cancel and are always true are left out
            rows = [largest <= 0] if largest.matrix.nnz or (largest.constant > 0).any() else []
            if least.matrix.nnz or (least.constant < 0).any() or not rows:
                rows = [least >= 0, *rows]
            label = f"|{self._title}| <= {most._title}"
            return replace(rows[0], label=label) if len(rows) == 1 else _both(rows[0], rows[1], label)
        high = self._read(most)
        if (high < 0).any():
            raise BadProbability(f"|{self._title}| is never negative, so it cannot be at most {high.min():.12g}")
        return self._rows(-high, high)

    def _against(self, value: object, low: bool, high: bool) -> Rows:
        """Compare the block with a value from below, from above, or both."""
        if isinstance(value, Block):
            difference = self - value
            bound = np.zeros(len(difference))
        else:
            difference, bound = self, self._align(value, low, high)
        return difference._rows(
            bound if low else np.full(len(difference), -np.inf), bound if high else np.full(len(difference), np.inf)
        )

    def _rows(self, low: np.ndarray, high: np.ndarray) -> Rows:
        """Make rows, with the constant moved to the values; rows without terms that are always true are dropped."""
        low, high = (_minus(side, self.constant) for side in (low, high))
        holds = self._hold_anyway(low, high)
        rows = Rows(self.matrix, low, high, self.label, self.index, self.space.view)
        empty = [self.provenance.empty_group] if not len(self) else self.provenance.empty
        groups = [] if empty is None else [text for text in dict.fromkeys(empty) if text]
        if not holds.any() and (len(self) or not groups):
            return rows
        if holds.all():
            why = f": {_nobody(groups)}" if groups else ""
            raise StatementError(f"the value of {self._title} is fixed, so the rows have no effect{why}")
        return rows.at(~holds)

    def _hold_anyway(self, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """Mark rows without terms that are always true, and check that the others are defined."""
        holds = (np.diff(self.matrix.indptr) == 0) & (low <= ROUNDING) & (high >= -ROUNDING)
        self._check_defined(~holds)
        return holds

    def _align(self, value: object, low: bool, high: bool) -> np.ndarray:
        """Bring values into the order of the rows, by label, and check that they are probabilities if the rows are."""
        numbers = self._read(value, low, high)
        if (bad := ~np.isfinite(numbers)).any():
            raise self._bad_values(bad, "NaN or infinity")
        if self.provenance.is_probability and (bad := ~((numbers >= -ROUNDING) & (numbers <= 1 + ROUNDING))).any():
            raise self._bad_values(bad, f"{numbers[bad][0]:.12g}, which is not a probability,")
        return numbers

    def _bad_values(self, bad: np.ndarray, flaw: str) -> BadProbability:
        """Make an error for the marked values, with their labels."""
        at = "its only row" if self.index is None else join_names(self.index[bad])
        return BadProbability(f"the values for {self.label} contain {flaw} at {at}")

    def _read(self, value: object, low: bool = False, high: bool = False) -> np.ndarray:
        """Read a number or a Series, whose values for impossible labels must agree with the block's."""
        if isinstance(value, pd.Series) and self.index is not None:
            numbers, extra = self._by_label(value, or_fewer=False)
            if len(extra):
                absent, values = self.provenance.absent, extra.to_numpy(dtype=float)
                agrees = ((values <= absent + ROUNDING) | (not low)) & ((values >= absent - ROUNDING) | (not high))
                if not agrees.all() or np.isnan(absent):
                    places = extra.index if agrees.all() else extra.index[~agrees]
                    raise LabelMismatch(
                        f"the values for {self.label} include {join_names(places)}, which have no terms, so that the "
                        f"block is {absent:.12g} there; remove them from the Series"
                    )
            return numbers
        if type(value).__module__.partition(".")[0] == "cvxpy":
            raise StatementError(
                f"{self.label} is compared with a CVXPY expression, which has no labels; compare block.expr with it in "
                "a function of the space, lambda space: ..., or single P(...)"
            )
        if isinstance(value, Block | dict | list | tuple | set | pd.Series) or getattr(value, "shape", None):
            self._refuse_unlabelled(value, "compared")
        return np.full(len(self), check_number(value, f"the value of every {self.label}"))

    def _first_rows(self) -> tuple[str, pd.DataFrame]:
        """Return the size of the block, and its first ten rows: their numbers of terms and coefficients."""
        size = "a single expression"
        if self.index is not None:
            size = f"{pluralize(len(self), 'row')} by {list(self.index.names)}"
        ends = self.matrix.indptr[: min(10, len(self)) + 1]
        coefficients = [self.matrix.data[start:end] for start, end in itertools.pairwise(ends)]
        texts = []
        for row in coefficients:
            sides = [f"{row.min():.4g}", f"{row.max():.4g}"] if len(row) else ["0"]
            texts.append(" to ".join(dict.fromkeys(sides)))
        table = pd.DataFrame({"terms": [len(row) for row in coefficients], "coefficients": texts})
        if self.constant.any():
            table["constant"] = self.constant[: len(table)]
        table.index = pd.Index([""]) if self.index is None else self.index[: len(table)]
        return size, table

    def __repr__(self) -> str:
        size, table = self._first_rows()
        rows = f"\n{table.to_string()}" if len(self) else ""
        return f"<Block: {self._title}, {size}>{rows}" + "\n..." * (len(self) > len(table))

    def _repr_html_(self) -> str:
        size, table = self._first_rows()
        return as_html(f"<{self._title}: {size}>", TablePreview(table, "rows", len(self)))


def _has_entries(value: object) -> bool:
    """Return whether a value has one number per row: a Series, or an array."""
    return isinstance(value, pd.Series) or (isinstance(value, np.ndarray) and value.ndim > 0)


def _pick_values(values: np.ndarray, at: np.ndarray, absent: float) -> np.ndarray:
    """Return values in a given order; -1 stands for an absent one."""
    return np.append(values, absent)[at]


def _nobody(empty: Iterable[str]) -> str:
    """Format a message about empty groups, with the first three."""
    return f"nobody is {' or '.join(list(dict.fromkeys(empty))[:3])}"


def _as_one(parts: Parts) -> tuple[float, str]:
    """Format a combination as one part, in parentheses if it has several."""
    return parts[0] if len(parts) == 1 else (1.0, f"({format_combination(parts)})")


def _with_values(parts: Parts, fixed: Mapping[str, object], unnamed: Sequence[str] = ()) -> Parts:
    """Write the values of fixed levels into texts; without the name for unnamed levels, as in statements.

    >>> _with_values(((2.0, "P(s | age)"),), {"s": "yes", "age": 40}, unnamed=["s"])
    ((2.0, 'P(yes | age=40)'),)
    """

    def at_values(text: str) -> str:
        lost = []
        for name, value in fixed.items():
            new = f"{value}" if name in unnamed else f"{name}={value}"
            # Where the name stands alone between parentheses, commas and bars.
            place = rf"(?:(?<=\()|(?<=, )|(?<=\| )){re.escape(name)}(?=\)|, | \|)"
            text, times = re.subn(place, new.replace("\\", r"\\"), text)
            lost += [new] * (not times)
        return f"{text}[{', '.join(lost)}]" if lost else text

    return tuple((a, at_values(label)) for a, label in parts)


def _steps(
    index: pd.Index, level: str, axes: Axes, present_only: bool, dropped: pd.Index | None = None
) -> tuple[pd.Index, np.ndarray, np.ndarray, pd.Index, pd.Index]:
    """Pair rows with those of the previous value, along a level whose values have an order.

    Return the labels and rows of the steps, those of the previous values, and the first value; -1 is a missing row.
    """
    place = index.names.index(level)
    codes, values = level_of(index, place)
    domain = ordered_values(axes, level)
    if present_only:
        domain = domain[domain.isin(values[np.unique(codes)])]
    if dropped is not None:
        domain = domain[~domain.isin(dropped)]
    n = len(domain)
    rank = domain.get_indexer(values)[codes]
    group, first = group_rows(index, [name for name in level_names(index) if name != level])
    # Number the labels such that the previous value, with the same values of the other levels, is the previous number.
    numbers = pd.Index(group * n + rank)
    if numbers.has_duplicates:  # a faster check for integers than for labels
        check_unique(index, "the rows, which need unique labels,")
    later = np.union1d(numbers[rank > 0], numbers[rank < n - 1] + 1)

    def labels(steps: np.ndarray) -> pd.Index:
        if not isinstance(index, pd.MultiIndex):
            return domain[steps % n]
        rows = first[steps // n]
        levels, codes = list(index.levels), [np.asarray(code)[rows] for code in index.codes]
        levels[place], codes[place] = domain, steps % n
        return multi_index(levels, codes, index.names)

    return labels(later), numbers.get_indexer(later), numbers.get_indexer(later - 1), labels(later - 1), domain[:1]


def _minus(values: np.ndarray, constant: np.ndarray) -> np.ndarray:
    """Subtract as decimal numbers: 0.3 - 0.1 is 0.2."""
    if not constant.any():
        return values
    difference = values - constant
    scale = np.maximum(np.where(np.isfinite(values), np.abs(values), 0.0), np.abs(constant))
    finite = np.isfinite(difference) & (scale > 0)
    digits = 15 - np.ceil(np.log10(np.where(finite, scale, 1.0)))
    unit = 10.0**digits
    return np.where(finite, np.rint(difference * unit) / unit, difference)


def _both(low: Rows, high: Rows, label: str) -> Rows:
    """Combine two comparisons: one row per label if the expressions are the same, else two."""
    if low.matrix.shape == high.matrix.shape and abs(low.matrix - high.matrix).sum() == 0:
        return Rows(low.matrix, low.low, high.high, low.label, low.index, low.view)
    side = np.repeat([0, 1], [len(low), len(high)])
    sides = pd.Index(["low", "high"], name="side")
    if low.index is None or high.index is None:
        index = sides
    else:
        index = attach(low.index.append(high.index), np.arange(len(side)), sides, side)
    matrix = sp.csr_array(sp.vstack([low.matrix, high.matrix]))
    sizes = np.concatenate([low.low, high.low]), np.concatenate([low.high, high.high])
    return Rows(matrix, *sizes, label, index, low.view)

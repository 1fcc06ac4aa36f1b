"""Labelled affine expressions of the terms: their values, how they are shown, and what is selected by label."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pandas as pd
import scipy.sparse as sp

from ...errors import LabelMismatch, StatementError, UnknownName, arguments, listing, shown
from ..terms import Terms
from . import wording
from .block_table import as_html, as_text
from .empty_groups import Groups, check_defined, fixed_in_all, nobody_at
from .labels import find, level_names, levels_named, pick, repeated, subset_keys, without_levels
from .selection import Chosen, chosen, is_mask, read_key

if TYPE_CHECKING:
    import cvxpy as cp

__all__ = ["LabelledBlock", "Provenance", "pick_values"]


@dataclass(frozen=True, eq=False)
class Provenance:
    """What a block was made from.

    Attributes
    ----------
    is_probability : bool
        Whether every row is a probability, so that it lies in [0, 1].
    parts : tuple of (float, str)
        The linear combination as it is written; () for the label itself.
    absent : float
        What a known label without a row stands for: a sum of no terms, and what was added to it. NaN where that is
        no number.
    left_out : Index or None
        Labels whose rows were there and were not selected: of them nothing is known.
    dropped : dict of str to Index
        By level, the values that `diff` has no rows for: of labels with one of them nothing is known, either.
    groups : tuple of Groups
        What the rows are conditional on: a known label without a row, of a group that nobody is in, is not defined.
    nobody : ndarray of str, one a row, or None
        The empty group that a row uses, by which it is not defined; "" where it uses none.
    """

    is_probability: bool = True
    parts: wording.Parts = ()
    absent: float = 0.0
    left_out: pd.Index | None = None
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

    def __init__(self, block: LabelledBlock) -> None:
        self._block = block

    def __getitem__(self, key: object) -> Any:
        return self._block[key]


@dataclass(frozen=True, eq=False, repr=False)
class LabelledBlock:
    """Labelled affine expressions of the terms, ``matrix @ p + constant``; see :class:`maxent_cvx.Block`.

    Attributes
    ----------
    space : Space
    matrix : csr_array, shape (rows, terms)
    index : Index or None
        The labels of the rows; None for a single expression.
    label : str
        How `matrix` @ p is written.
    constant : ndarray, shape (rows,)
    provenance : Provenance
    """

    space: Terms
    matrix: sp.csr_array
    index: Any  # an Index, or None of a single expression
    label: str
    constant: np.ndarray | None = None
    provenance: Provenance = field(default_factory=Provenance)

    __array_ufunc__ = None  # so that NumPy arrays and pandas objects on the left leave the operation to us
    __pandas_priority__ = 10_000
    __iter__ = None  # by label and not by position

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
        values = self.matrix @ arguments.array(p, "p", self.matrix.shape[1]) + self.constant
        return float(values[0]) if self.index is None else pd.Series(values, index=self.index, name=self._title)

    def __len__(self) -> int:
        return self.matrix.shape[0]

    def __bool__(self) -> bool:
        raise TypeError(f"{self.label} is a block of expressions to be compared, not true or false")

    @property
    def _title(self) -> str:
        """How the block is written, with its constant."""
        return wording.combined(self._parts, wording.constant_text(set(self._constant.tolist())))

    def __repr__(self) -> str:
        return as_text(self._title, self.matrix, self._constant, self.index)

    def _repr_html_(self) -> str:
        return as_html(self._title, self.matrix, self._constant, self.index)

    # -- selection -------------------------------------------------------------------------------

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
            raise StatementError(f"one value for each of {levels} is expected, not {shown(key)}")
        if strange := [one for one in keys if isinstance(one, slice | list | np.ndarray | pd.Index)]:
            raise StatementError(f"xs takes one value a level, not {shown(strange[0])}; write block.loc[...]")
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
        rows = arguments.places(rows, "rows", len(self))
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
        parts = wording.with_values(
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
            label=wording.combined(parts),
            provenance=replace(made, nobody=made.nobody_of(found.at, found.index)),
        )

    # -- how it is done --------------------------------------------------------------------------

    @property
    def _parts(self) -> wording.Parts:
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
                f"{self.label} lacks {listing(lost)}, which were left out of it; select alike on both sides"
            )


def pick_values(values: np.ndarray, at: np.ndarray, absent: float) -> np.ndarray:
    """Values in some order; -1 stands for one that is absent."""
    return np.append(values, absent)[at]

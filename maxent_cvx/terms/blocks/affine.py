"""Arithmetic of labelled expressions, label by label: sums, multiples, weights, differences along a level."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import pandas as pd
import scipy.sparse as sp

from ...errors import BadProbability, LabelMismatch, StatementError, arguments, listing, number, shown
from . import wording
from .empty_groups import any_of, either, kept_in_all
from .labelled import LabelledBlock, Provenance, pick_values
from .labels import are_known, find, known_values, level_names, levels_named, pick, same_levels, subset_keys
from .series import by_label
from .steps import differences, sums

__all__ = ["AffineBlock"]

NOT_LINEAR = "a product or quotient of two blocks is not linear, so maximum entropy cannot use it"


@dataclass(frozen=True, eq=False, repr=False)
class AffineBlock(LabelledBlock):
    """Labelled affine expressions that are added, multiplied by numbers, summed and differenced."""

    def __neg__(self) -> Self:
        return self * -1

    def __pos__(self) -> Self:
        return self

    def __add__(self, other: object) -> Self:
        if isinstance(other, AffineBlock):
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

    __radd__ = __add__

    def __sub__(self, other: object) -> Self:
        return self + (-other if isinstance(other, AffineBlock) or _has_entries(other) else -self._scalar(other))  # type: ignore[operator]

    def __rsub__(self, other: object) -> Self:
        return -self + other

    def __mul__(self, factor: object) -> Self:
        if isinstance(factor, AffineBlock):
            raise StatementError(f"{NOT_LINEAR}: {self.label} and {factor.label}; multiply by numbers or a Series")
        made = self.provenance
        if not _has_entries(factor):
            by = self._scalar(factor)
            parts = wording.scaled(self._parts, by) if by else ()
            return self._with(self.matrix * by, self._constant * by, parts=parts, absent=made.absent * by)
        if self.index is None and isinstance(factor, pd.Series):
            return self._repeated(factor.index) * factor
        weights, _ = self._aligned(factor)
        name = getattr(factor, "name", None)
        parts = wording.weighted(self._parts, "weights" if name is None else str(name))
        matrix = sp.csr_array(sp.diags_array(weights) @ self.matrix) if len(self) else self.matrix
        absent = 0.0 if made.absent == 0 else np.nan
        return self._with(matrix, self._constant * weights, parts=parts, absent=absent)

    __rmul__ = __mul__

    def __truediv__(self, divisor: object) -> Self:
        if isinstance(divisor, AffineBlock):
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
        found = self._mapped(adding, index, wording.method(self._parts, call))
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
            raise StatementError(f"differences are along one level, and {shown(level)} stands for {levels}")
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
        found = self._mapped(taking, labels, wording.method(self._parts, f"diff({levels[0]})"))
        off = made.absent * ((here < 0).astype(float) - (before < 0).astype(float)) if made.absent else 0.0
        nobody = either(made.nobody_of(here, labels), made.nobody_of(before, previous))
        without = {**made.dropped, levels[0]: first if dropped is None else dropped.union(first)}
        made = replace(found.provenance, groups=made.groups, nobody=nobody, dropped=without)
        return replace(found, constant=found._constant + off, provenance=made)

    # -- how it is done --------------------------------------------------------------------------

    def _with(
        self,
        matrix: sp.csr_array | None = None,
        constant: np.ndarray | None = None,
        *,
        parts: wording.Parts | None = None,
        absent: float | None = None,
    ) -> Self:
        """Exchange what is said of the same labels; it need not be a probability then."""
        made = self.provenance
        parts = self._parts if parts is None else parts
        return replace(
            self,
            matrix=self.matrix if matrix is None else matrix,
            constant=self._constant if constant is None else constant,
            label=wording.combined(parts),
            provenance=replace(
                made, is_probability=False, parts=parts, absent=made.absent if absent is None else absent
            ),
        )

    def _mapped(self, taking: sp.csr_array, index: pd.Index | None, parts: wording.Parts) -> Self:
        """Combine rows into others, with labels of their own; what is not there is 0."""
        matrix = sp.csr_array(taking @ self.matrix)
        matrix.eliminate_zeros()
        return replace(
            self,
            matrix=matrix,
            constant=taking @ self._constant,
            index=index,
            label=wording.combined(parts),
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
            raise LabelMismatch(f"{self.label} is multiplied by a Series whose labels {listing(some)} {what}")
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

    def _plus(self, other: AffineBlock) -> Self:
        """Add two blocks by label."""
        if self.space.view is not other.space.view or len(self.space) != len(other.space):
            raise StatementError(f"{self.label} and {other.label} are of two models; make both from one space")
        parts = wording.added(self._parts, other._parts)
        if self.index is None and other.index is not None:
            return replace(other._plus(self), label=wording.combined(parts))  # type: ignore[return-value]
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
        if isinstance(value, AffineBlock | dict | list | tuple | set | str) or getattr(value, "shape", None):
            raise LabelMismatch(
                f"{self.label} is combined with a {type(value).__name__}, whose entries have no labels; "
                f"pass a number, or a Series indexed by {[] if self.index is None else list(self.index.names)}"
            )
        return number(value, f"what {self.label} is combined with")

    def _aligned(self, values: Any) -> tuple[np.ndarray, pd.Series]:
        """Read numbers, one a row: a Series by label, or an array as long as the block."""
        index = self._labels(f"align a {type(values).__name__} with")
        if isinstance(values, pd.Series):
            found, extra = by_label(values, index, self.space.axes, self.label, self.provenance.unknown, or_fewer=True)
        else:
            found, extra = (
                arguments.array(values, f"what {self.label} is combined with", len(self)),
                pd.Series(dtype=float),
            )
        if not np.isfinite(found).all() or not np.isfinite(extra.to_numpy(dtype=float)).all():
            bad = index[~np.isfinite(found)] if not np.isfinite(found).all() else extra.index
            raise BadProbability(f"the values for {self.label} hold NaN or infinity at {listing(bad)}")
        return found, extra


def _has_entries(value: object) -> bool:
    """Whether something holds one number a row: a Series, or an array."""
    return isinstance(value, pd.Series) or (isinstance(value, np.ndarray) and value.ndim > 0)

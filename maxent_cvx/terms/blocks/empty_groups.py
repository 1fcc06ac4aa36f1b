"""Groups that nobody is in: conditional on one of them a probability is 0 / 0, and no number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
import scipy.sparse as sp

from ...errors import StatementError, listing
from .labels import find, level_names, subset_keys

__all__ = ["Groups", "any_of", "check_defined", "either", "fixed_in_all", "in_words", "kept_in_all", "nobody_at"]

#: Empty groups that a message names.
MOST_GROUPS = 3


@dataclass(frozen=True, eq=False)
class Groups:
    """The groups with people that a block is conditional on.

    Attributes
    ----------
    there : Index
        Their labels: values of what is given.
    fixed : dict
        Of what is given, what has one value by now: the labels of the block's rows do not have it.
    """

    there: pd.Index
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
    """Check that nothing is said by means of a probability that is not defined.

    Parameters
    ----------
    nobody : ndarray of str, or None
        The empty group that a row uses; "" where it uses none.
    said : ndarray of bool
        Whether a row says anything.
    label : str
        What the rows are.
    index : Index or None
        Their labels.

    Raises
    ------
    StatementError
        If it does.
    """
    if nobody is None:
        return
    bad = np.flatnonzero((nobody != "") & said)
    if not len(bad):
        return
    where = "" if index is None else f" at {listing(index[bad])}"
    which = "" if index is None else f"leave these labels out, x.loc[~x.undefined] of x = {label}; "
    raise StatementError(
        f"{label} is not defined{where}: {in_words(nobody[bad])}, and among nobody a probability is 0 / 0; {which}"
        "say an order with mx.Monotone, which passes over groups without people"
    )


def in_words(nobody: np.ndarray) -> str:
    """Say which groups are empty."""
    return f"nobody is {' or '.join(list(dict.fromkeys(nobody))[:MOST_GROUPS])}"

"""What the cells of a generalised release stand for, and how probable each exact value is beforehand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
import pandas as pd
from pandas.api.extensions import ExtensionArray

from ....disguise.cutting import is_number
from ....errors import StatementError, arguments, listing, shown, unknown_name
from ....tables.coding import factorize
from ....views import Release
from ....views.generalized import Hierarchies, coverage
from ....views.generalized.dialects import SUPPRESSED, parse

__all__ = ["Cells"]


@dataclass(frozen=True, eq=False)
class Cells:
    """The cells of each attribute.

    Attributes
    ----------
    release : Release
        Of generalised QI.
    size : ndarray of int, shape (groups,)
        Records.
    values : list of Index
        Of each attribute its exact values, in order.
    weight : list of ndarray
        The probability of each beforehand, up to a factor.
    covered : list of ndarray of bool, shape (groups, values)
        What each group's cell stands for.
    """

    release: Release
    size: np.ndarray
    values: list[pd.Index]
    weight: list[np.ndarray]
    covered: list[np.ndarray]

    @classmethod
    def of(cls, release: Release, domain: Mapping[str, object] | None, nodes: Hierarchies) -> Self:
        """Read the cells of a release.

        Raises
        ------
        StatementError
            If the release is not generalised, or an attribute's values are not known.
        TableError
            If a cell stands for none of the values.
        UnknownName
            If there is no such attribute.
        """
        if not release.generalized:
            raise StatementError("the release has exact QI: there is nothing to be inferred of them")
        domain = {} if domain is None else arguments.mapping(domain, "domain", "{attribute: [values]}")
        for name in domain:
            if name not in release.qi:
                raise unknown_name("quasi-identifier (given in domain)", name, release.qi)
        q, b = release.n_qb.nonzero()
        row = np.empty(len(release.buckets), dtype=np.int64)
        row[b] = q
        values, weight, covered = [], [], []
        for name in release.qi:
            labels = release.quasi_identifiers.get_level_values(name)
            held, probability = _values(name, labels, domain.get(name), nodes.get(name, {}))
            distinct, code = np.unique(labels.to_numpy(dtype=object).astype(str), return_inverse=True)
            mask = coverage(list(distinct), held, name, nodes.get(name, {}))
            values.append(held.rename(name))
            weight.append(probability)
            covered.append(mask[code][row])
        return cls(release, np.asarray(release.n_qb.sum(axis=0)), values, weight, covered)

    @cached_property
    def classes(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Records that look the same: the group, the sensitive value, and how many there are."""
        s, group = self.release.n_sb.nonzero()
        order = np.lexsort((s, group))
        return group[order], s[order], self.release.n_sb.data[order]

    def prior(self, a: int) -> np.ndarray:
        """P(exact value | cell) without the attack, shape (groups, values)."""
        found = np.where(self.covered[a], self.weight[a], 0.0)
        return np.asarray(found / found.sum(axis=1, keepdims=True))

    def required(self, a: int) -> np.ndarray:
        """Which values of a cell some record has: the ends of an interval of numbers, and all values of a set."""
        covered = self.covered[a]
        if not is_number(self.values[a]):
            return covered.astype(int)
        found = np.zeros(covered.shape, dtype=int)
        at = np.arange(len(covered))
        found[at, covered.argmax(axis=1)] = 1
        found[at, covered.shape[1] - 1 - covered[:, ::-1].argmax(axis=1)] = 1
        return found


def _values(
    name: str, labels: pd.Index, given: object, nodes: Mapping[object, frozenset[object]]
) -> tuple[pd.Index, np.ndarray]:
    """The exact values of an attribute, in order, and their probabilities up to a factor."""
    if given is None:
        return _uniform(_default(name, labels, nodes))
    if isinstance(given, pd.Series):
        weight = pd.to_numeric(given, errors="coerce").to_numpy(dtype=float)
        if not len(weight) or not (np.isfinite(weight) & (weight > 0)).all() or not given.index.is_unique:
            raise StatementError(
                f"the domain of {name!r} is a Series of positive numbers, how probable each value is, indexed by "
                "different values; leave out what cannot be"
            )
        code, held = factorize(pd.Series(given.index))
        found = np.empty(len(held))
        found[code] = weight
        return held, found
    if isinstance(given, str) or not isinstance(given, list | tuple | range | np.ndarray | pd.Index | ExtensionArray):
        raise StatementError(f"the domain of {name!r} is a list of its values, or a Series, not {shown(given)}")
    return _uniform(pd.Series(given))


def _uniform(values: pd.Series) -> tuple[pd.Index, np.ndarray]:
    """Values that are equally probable."""
    held = factorize(values)[1]
    return held, np.ones(len(held))


def _default(name: str, labels: pd.Index, nodes: Mapping[object, frozenset[object]]) -> pd.Series:
    """The values of the hierarchy; else all whole numbers between the ends, or all that sets and cells name."""
    if nodes:
        return pd.Series(sorted(frozenset().union(*nodes.values()), key=str)).infer_objects()
    texts = sorted(set(map(str, labels)))
    plain = pd.to_numeric(pd.Series(texts, dtype=object), errors="coerce")
    parsed = parse(texts)
    if all(i in parsed.spans or not np.isnan(number) for i, number in enumerate(plain)):
        ends = [number for number in plain if not np.isnan(number)]
        ends += [end for span in parsed.spans.values() for end in (span.low, span.high)]
        if all(np.isfinite(end) and end == int(end) for end in ends):
            return pd.Series(range(int(min(ends)), int(max(ends)) + 1))
    elif SUPPRESSED not in texts and not parsed.spans:
        named = [parsed.sets.get(i, [text]) for i, text in enumerate(texts)]
        return pd.Series(sorted({value for one in named for value in one}))
    raise StatementError(
        f"which values {name!r} may have does not follow from its cells {listing(texts)}; "
        f"say so, domain={{{name!r}: [values]}}"
    )

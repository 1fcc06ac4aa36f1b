"""The one miner of associations between QI values and the sensitive attribute.

An association Q => S ("positive") has confidence P(S | Q) and support n(Q, S); Q => not S
("negative") has confidence 1 - P(S | Q) and support n(Q, not S). Q sets some of the QI attributes.
(Privacy-MaxEnt, section 4.4.)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
import pandas as pd
import scipy.sparse as sp

from .errors import StatementError, whole
from .tables import Microdata, group_codes, names, ranges

__all__ = ["Associations", "mine_associations"]


@dataclass(frozen=True, eq=False)
class Cube:
    """Records counted over one subset of the QI attributes.

    Attributes
    ----------
    attributes : tuple of int
        Positions of the attributes in `qi`.
    group : ndarray, one a distinct QI tuple
        The combination of their values that the tuple belongs to, numbered in sorted order.
    counts : ndarray, shape (combinations, sensitive values)
        Records n(Q, S).
    """

    attributes: tuple[int, ...]
    group: np.ndarray
    counts: np.ndarray


@dataclass(frozen=True, eq=False)
class Associations:
    """All associations with enough support, positive and negative, strongest first.

    Order: confidence, then support, both descending, then fewer attributes, then names (attribute
    names, their values, the sensitive value). It depends on nothing but the records, and the first K
    are among the first K + 1.

    Attributes
    ----------
    qi, sensitive : tuple of str
        The attributes mined.
    min_support : int
        Records that an association must be supported by.
    tuples, sensitive_values : MultiIndex, Index
        The distinct QI tuples and sensitive values of the records.
    n_tuple, n_value : ndarray
        Records of each distinct QI tuple, and of each sensitive value.
    """

    qi: tuple[str, ...]
    sensitive: tuple[str, ...]
    min_support: int
    tuples: pd.MultiIndex
    sensitive_values: pd.Index
    n_tuple: np.ndarray
    n_value: np.ndarray
    cubes: tuple[Cube, ...]

    @cached_property
    def positive(self) -> np.ndarray:
        """Ranked Q => S: a record array of (cube, group, s, n_q, support)."""
        return self._rank(negative=False)

    @cached_property
    def negative(self) -> np.ndarray:
        """Ranked Q => not S: a record array of (cube, group, s, n_q, support)."""
        return self._rank(negative=True)

    def _rank(self, negative: bool) -> np.ndarray:
        """List and sort the associations of one sign."""
        found = []
        for i, cube in enumerate(self.cubes):
            n_q = cube.counts.sum(axis=1)
            support = n_q[:, None] - cube.counts if negative else cube.counts
            group, s = np.nonzero(support >= self.min_support)
            part = np.empty(len(group), dtype=RANKED)
            part["cube"], part["group"], part["s"] = i, group, s
            part["n_q"], part["support"] = n_q[group], support[group, s]
            found.append(part)
        ranked = np.concatenate(found)
        # Cubes are in the order of (number of attributes, names), and groups and values are sorted, so
        # that position is the last three keys. Equal fractions divide to equal floats: no ties are lost.
        order = np.lexsort((np.arange(len(ranked)), -ranked["support"], -(ranked["support"] / ranked["n_q"])))
        return ranked[order]

    def top(self, positive: int | None, negative: int | None) -> Iterator[tuple[np.ndarray, bool]]:
        """Take the strongest associations of each sign; None is all of them.

        Raises
        ------
        StatementError
            If there are not that many.
        """
        for sign, wanted, ranked in (("positive", positive, self.positive), ("negative", negative, self.negative)):
            if wanted is not None and whole(wanted, sign, 0) > len(ranked):
                raise StatementError(
                    f"{wanted} {sign} associations are asked for, and only {len(ranked)} have a support of "
                    f"{self.min_support} records or more; ask for fewer, or lower min_support"
                )
            yield ranked[:wanted], sign == "negative"

    def members(self, ranked: np.ndarray) -> sp.csr_array:
        """Mark which distinct QI tuples each association speaks of, shape (associations, tuples)."""
        rows, columns = [], []
        for i in np.unique(ranked["cube"]):
            at = np.flatnonzero(ranked["cube"] == i)
            group = self.cubes[i].group
            # Tuples sorted by group, so that those of each association are one slice.
            order = np.argsort(group, kind="stable")
            start, stop = np.searchsorted(group[order], [ranked["group"][at], ranked["group"][at] + 1])
            rows.append(np.repeat(at, stop - start))
            columns.append(order[ranges(start, stop - start)])
        where = (np.concatenate(rows), np.concatenate(columns)) if rows else (np.empty(0, int), np.empty(0, int))
        return sp.csr_array((np.ones(len(where[0])), where), shape=(len(ranked), len(self.tuples)))

    def table(self, positive: int | None = None, negative: int | None = None) -> pd.DataFrame:
        """Write the strongest associations as a table.

        Returns
        -------
        DataFrame
            rule ("Gender=male => not Flu"), attributes (how many), confidence, support (records).
        """
        parts = []
        for ranked, is_negative in self.top(positive, negative):
            rules = [f"{given} => {'not ' * is_negative}{value}" for given, value in self.names(ranked)]
            sizes = np.array([len(cube.attributes) for cube in self.cubes], dtype=int)[ranked["cube"]]
            parts.append(
                pd.DataFrame(
                    {
                        "rule": rules,
                        "attributes": sizes,
                        "confidence": ranked["support"] / ranked["n_q"],
                        "support": ranked["support"],
                    }
                )
            )
        return pd.concat(parts, ignore_index=True)

    def names(self, ranked: np.ndarray) -> Iterator[tuple[str, object]]:
        """Name each association: "Gender=male, Degree=college", and the sensitive value."""
        first = [np.unique(cube.group, return_index=True)[1] for cube in self.cubes]
        for rule in ranked:
            values = self.tuples[first[rule["cube"]][rule["group"]]]
            given = ", ".join(f"{self.qi[i]}={values[i]}" for i in self.cubes[rule["cube"]].attributes)
            value = self.sensitive_values[rule["s"]]
            if isinstance(value, tuple):
                value = ", ".join(f"{name}={one}" for name, one in zip(self.sensitive, value, strict=True))
            yield given, value


#: One ranked association: which combination of QI values, which sensitive value, and its counts.
RANKED = np.dtype([("cube", "i4"), ("group", "i8"), ("s", "i4"), ("n_q", "i8"), ("support", "i8")])


def mine_associations(
    table: pd.DataFrame,
    *,
    qi: str | Iterable[str],
    sa: str | Iterable[str],
    min_support: int = 3,
    attributes: int | Iterable[int] | None = None,
) -> Associations:
    """Mine every association of every subset of the QI attributes, positive and negative.

    Parameters
    ----------
    table : DataFrame
        One row a person.
    qi, sa
        Column names.
    min_support : int
        Records that must support an association.
    attributes : int or several, optional
        The number T of QI attributes an association may set; None is any number.

    Raises
    ------
    UnknownName, TableError
        If the table cannot play its role.
    StatementError
        If `min_support` or `attributes` is out of range.

    Notes
    -----
    Privacy-MaxEnt, section 4.4. One pass over the distinct QI tuples for each of the 2^k - 1 subsets
    of k attributes.
    """
    data = Microdata(table, names(qi, "qi"), names(sa, "sa"))
    whole(min_support, "min_support", 1)
    sizes = list(range(1, len(data.qi) + 1))
    if attributes is not None:
        asked = list(attributes) if isinstance(attributes, Iterable) else [attributes]
        if not asked or not set(asked) <= set(sizes) or isinstance(attributes, bool):
            raise StatementError(
                f"attributes={attributes!r}: an association can set 1 to {len(data.qi)} of the QI attributes"
            )
        sizes = sorted(set(asked))
    q, tuples = data.tuples()
    s, values = data.values()
    counts = np.bincount(q * len(values) + s, minlength=len(tuples) * len(values)).reshape(len(tuples), -1)
    by_name = sorted(range(len(data.qi)), key=data.qi.__getitem__)
    subsets = [subset for size in sizes for subset in combinations(by_name, size)]
    cubes = []
    for subset in subsets:
        group = group_codes([np.asarray(tuples.codes[i]) for i in subset], [len(tuples.levels[i]) for i in subset])
        member = sp.csr_array((np.ones(len(group), dtype=np.int64), (group, np.arange(len(group)))))
        cubes.append(Cube(subset, group, np.asarray(member @ counts)))
    return Associations(data.qi, data.sa, min_support, tuples, values, np.bincount(q), np.bincount(s), tuple(cubes))

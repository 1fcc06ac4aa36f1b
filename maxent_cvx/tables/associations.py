"""The one miner of associations between QI values and the sensitive attribute.

An association Q => S ("positive") has confidence P(S | Q) and support n(Q, S); Q => not S
("negative") has confidence 1 - P(S | Q) and support n(Q, not S). Q sets some of the QI attributes.
(Privacy-MaxEnt, section 4.4.)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
import scipy.sparse as sp

from ..display import MOST_ROWS, FirstRows, Shown
from ..errors import StatementError, amount, whole
from .cube_patterns import members, pattern_names
from .lattice import Cube
from .selection import written

__all__ = ["RANKED", "Associations", "value_names"]


@dataclass(frozen=True, eq=False)
class Associations(Shown):
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
    cubes : tuple of Cube
        The records counted over subsets of the attributes, where there is enough support.
    has_negative : bool
        Whether Q => not S were mined.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> hospital = mx.datasets.load_hospital()
    >>> mined = mx.mine_associations(hospital, qi="Gender", sa="Disease", min_support=2)
    >>> len(mined.positive), len(mined.negative)
    (3, 10)
    >>> print(mined.table(positive=1, negative=1))
                                   rule  attributes  confidence  support
    0                Gender=male => Flu           1         0.5        3
    1  Gender=male => not Breast Cancer           1         1.0        6
    """

    qi: tuple[str, ...]
    sensitive: tuple[str, ...]
    min_support: int
    tuples: pd.MultiIndex
    sensitive_values: pd.Index
    n_tuple: np.ndarray
    n_value: np.ndarray
    cubes: tuple[Cube, ...]
    has_negative: bool = True

    @cached_property
    def positive(self) -> np.ndarray:
        """Ranked Q => S: a record array of (cube, group, s, n_q, support)."""
        return self._rank(negative=False)

    @cached_property
    def negative(self) -> np.ndarray:
        """Ranked Q => not S: a record array of (cube, group, s, n_q, support)."""
        if not self.has_negative:
            raise StatementError("only positive associations were mined; mine them with negative=True")
        return self._rank(negative=True)

    def _rank(self, negative: bool) -> np.ndarray:
        """List and sort the associations of one sign."""
        found = [np.empty(0, dtype=RANKED)]
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

        Parameters
        ----------
        positive, negative : int or None
            How many.

        Yields
        ------
        (ndarray, bool)
            The associations, as in `positive` and `negative`, and whether they are negative: first those that are not.

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
        """Mark which distinct QI tuples each association involves, shape (associations, tuples)."""
        return members(self.cubes, ranked["cube"], ranked["group"])

    def first(self, ranked: np.ndarray) -> np.ndarray:
        """The position of a distinct QI tuple that each association involves."""
        starts = np.cumsum([0, *map(len, self.cubes)])
        every = np.concatenate([np.empty(0, dtype=np.int64), *(cube.first for cube in self.cubes)])
        return every[starts[ranked["cube"]] + ranked["group"]]

    def table(self, positive: int | None = None, negative: int | None = None) -> pd.DataFrame:
        """Write the strongest associations as a table.

        Parameters
        ----------
        positive, negative : int or None
            How many of each sign, the positive ones first; None is all.

        Returns
        -------
        DataFrame
            rule ("Gender=male => not Flu"), attributes (how many), confidence, support (records).

        Raises
        ------
        StatementError
            If there are not that many, or negative ones were not mined.
        """
        parts = [self._listed(ranked, is_negative) for ranked, is_negative in self.top(positive, negative)]
        return pd.concat(parts, ignore_index=True)

    def _listed(self, ranked: np.ndarray, is_negative: bool) -> pd.DataFrame:
        """Write some associations of one sign as a table."""
        given, value = self.names(ranked)
        sizes = np.array([len(cube.attributes) for cube in self.cubes], dtype=int)[ranked["cube"]]
        return pd.DataFrame(
            {
                "rule": given + (" => not " if is_negative else " => ") + value,
                "attributes": sizes,
                "confidence": ranked["support"] / ranked["n_q"],
                "support": ranked["support"],
            }
        )

    def first_rows(self, positive: int | None = None, negative: int | None = None) -> FirstRows:
        """The strongest as a notebook shows them, the positive ones first, of so many of each sign."""
        every = [(self.positive[:positive], False)]
        if self.has_negative:
            every.append((self.negative[:negative], True))
        each = MOST_ROWS // len(every)
        first = pd.concat([self._listed(ranked[:each], sign) for ranked, sign in every], ignore_index=True)
        return FirstRows(first, "associations", sum(len(ranked) for ranked, _ in every))

    def _tables(self) -> Iterable[FirstRows]:
        return [self.first_rows()]

    def __repr__(self) -> str:
        signs = [f"{len(self.positive)} positive"] + [f"{len(self.negative)} negative"] * self.has_negative
        return (
            f"<Associations: {' and '.join(signs)} of ({', '.join(self.qi)}) => {', '.join(self.sensitive)}, each with "
            f"a support of at least {amount(self.min_support, 'record')} of {int(self.n_tuple.sum())}>"
        )

    def names(self, ranked: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Name each association: "Gender=male, Degree=college", and the sensitive value."""
        given = pattern_names(self.qi, self.tuples, self.cubes, ranked["cube"], ranked["group"])
        return given, value_names(self.sensitive, self.sensitive_values)[ranked["s"]]


#: One ranked association: which combination of QI values, which sensitive value, and its counts.
RANKED = np.dtype([("cube", "i4"), ("group", "i8"), ("s", "i4"), ("n_q", "i8"), ("support", "i8")])


def value_names(sensitive: Sequence[str], values: pd.Index) -> np.ndarray:
    """Name the sensitive values: "Flu"; of several attributes, "Disease=Flu, Salary=high"."""
    if not isinstance(values, pd.MultiIndex):
        return np.array([written(value) for value in values], dtype=object)
    texts = [
        ", ".join(f"{name}={written(one)}" for name, one in zip(sensitive, value, strict=True)) for value in values
    ]
    return np.array(texts, dtype=object)

"""The one miner of associations between QI values and the sensitive attribute (Privacy-MaxEnt, section 4.4)."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd

from ..errors import TableError, arguments, shown, whole
from .associations import Associations
from .columns import names
from .lattice import Cube, cubes, sizes_of
from .microdata import Microdata

__all__ = ["mine_associations"]

#: The column of how often a combination of values occurs; no attribute is called so.
COUNT = "\0 records"


def mine_associations(
    table: pd.DataFrame | Iterable[pd.DataFrame],
    *,
    qi: str | Iterable[str],
    sa: str | Iterable[str],
    min_support: int = 3,
    attributes: int | Iterable[int] | None = None,
    negative: bool = True,
) -> Associations:
    """Mine every association of every subset of the QI attributes, positive and negative.

    Parameters
    ----------
    table : DataFrame, or iterable of DataFrame
        One row a person. Of a table larger than memory its pieces, of which one at a time is looked at: a generator
        that reads them, ``(pd.read_parquet(file) for file in files)``. What is kept of each is how often every
        combination of values occurs.
    qi, sa
        Column names.
    min_support : int
        Records that must support an association.
    attributes : int or list of int, optional
        The number T of QI attributes an association may set; None is any number.
    negative : bool
        Mine Q => not S, too.

    Returns
    -------
    Associations
        ``.table(positive, negative)`` lists the strongest; :class:`~maxent_cvx.StrongestAssociations` takes it, too.

    Raises
    ------
    UnknownName, TableError
        If the table cannot play its role.
    StatementError
        If `min_support` or `attributes` is out of range.

    Notes
    -----
    Privacy-MaxEnt, section 4.4. A pass over the distinct QI tuples for each of the 2^k - 1 subsets of k
    attributes, without those that fall short of the support already where fewer attributes are set.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> hospital = mx.datasets.load_hospital()
    >>> mined = mx.mine_associations(hospital, qi=["Gender", "Degree"], sa="Disease", min_support=2)
    >>> len(mined.positive), len(mined.negative)
    (4, 32)
    >>> print(mined.table(positive=3, negative=1).round(2))
                                   rule  attributes  confidence  support
    0                Gender=male => Flu           1         0.5        3
    1    Gender=female => Breast Cancer           1         0.5        2
    2             Degree=college => HIV           1         0.4        2
    3  Gender=male => not Breast Cancer           1         1.0        6
    """
    arguments.flag(negative, "negative")
    data, records = _read(table, names(qi, "qi"), names(sa, "sa"))
    whole(min_support, "min_support", 1)
    sizes = sizes_of(attributes, len(data.qi))
    q, tuples = data.tuples()
    s, values = data.values()
    of_pair = np.bincount(q * len(values) + s, records, len(tuples) * len(values))
    counts = of_pair.astype(np.int64).reshape(len(tuples), -1)
    n_each = counts.sum(axis=1), counts.sum(axis=0)

    def too_few(cube: Cube) -> np.ndarray:
        """Mark the patterns, and values, of which no association has the support, nor has any that sets more."""
        n_q = cube.counts.sum(axis=1, keepdims=True)
        most = np.maximum(cube.counts, n_q - cube.counts) if negative else cube.counts
        return np.asarray(most < min_support)

    found = tuple(cubes(data.qi, tuples, counts, too_few, sizes))
    return Associations(data.qi, data.sa, min_support, tuples, values, *n_each, found, negative)


def _read(
    table: pd.DataFrame | Iterable[pd.DataFrame], qi: tuple[str, ...], sa: tuple[str, ...]
) -> tuple[Microdata, np.ndarray]:
    """The records, and how many each row stands for: of pieces, each combination of values once."""
    if isinstance(table, str | pd.Series) or not isinstance(table, pd.DataFrame | Iterable):
        raise TableError(f"a table of the records, or an iterable of its pieces, is expected, not {shown(table)}")
    if isinstance(table, pd.DataFrame):
        return Microdata.of_people(table, qi, sa), np.ones(len(table), dtype=np.int64)
    columns = [*qi, *sa]
    kept: pd.DataFrame | None = None
    for piece in table:
        if not isinstance(piece, pd.DataFrame):
            raise TableError(
                f"the table must be a pandas DataFrame, or an iterable of its pieces, not a {type(table).__name__} of "
                f"{shown(piece)}"
            )
        if piece.empty and set(columns) <= set(piece.columns):
            continue
        frame = Microdata.of_people(piece, qi, sa).frame[columns]
        own = pd.concat([*[kept][: kept is not None], frame.assign(**{COUNT: 1})], ignore_index=True)
        number = own.groupby(columns, sort=False, observed=True).ngroup().to_numpy()
        first = own.iloc[np.unique(number, return_index=True)[1]]  # with the values as they are
        kept = first.assign(**{COUNT: np.bincount(number, own[COUNT]).astype(np.int64)})
    if kept is None:
        raise TableError("there are no records in the pieces of the table; at least one is expected")
    return Microdata(kept[columns], qi, sa), kept[COUNT].to_numpy()

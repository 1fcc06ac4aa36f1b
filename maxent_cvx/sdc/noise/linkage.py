"""Whose records noisy ones can be, if their true values are drawn from a population."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from ...errors import TableError
from ...tables.coding import group_codes
from .channel import Channel

__all__ = ["Linked", "linked"]

#: Pairs of a true and a published tuple that are held at once, and probabilities of the attributes that are joined.
AT_ONCE, JOINT = 2**22, 2**21


@dataclass(frozen=True, eq=False)
class Linked:
    """P(x | y_r) summed over the records r of each kind: how many are expected to be of people like that.

    Attributes
    ----------
    of_row : ndarray of int, shape (rows,)
        The distinct tuple x of every row of the population.
    share : ndarray, shape (rows,)
        pi, of each row.
    records : ndarray, shape (tuples, kinds)
        By distinct tuple, and kind of record.
    """

    of_row: np.ndarray
    share: np.ndarray
    records: np.ndarray

    def among(self, matching: np.ndarray) -> np.ndarray:
        """Records that are expected to be of the rows that match, by kind."""
        every = np.bincount(self.of_row, self.share)
        return np.asarray((np.bincount(self.of_row, self.share * matching) / every) @ self.records)


def linked(
    true: Sequence[np.ndarray],
    share: np.ndarray,
    published: Sequence[np.ndarray],
    channels: Sequence[Channel],
    kind: np.ndarray,
    kinds: int,
) -> Linked:
    """P(x | y) ~ pi(x) prod_a T_a(x_a, y_a), for every row x of a population and every published record y.

    Parameters
    ----------
    true : list of ndarray, one an attribute, of shape (rows,)
        Places in the domain.
    share : ndarray, shape (rows,)
        pi, of each row.
    published : list of ndarray, one an attribute, of shape (records,)
    channels : list of Channel, one an attribute
    kind : ndarray of int, shape (records,)
    kinds : int

    Raises
    ------
    TableError
        If a published record can be of nobody in the population.

    Notes
    -----
    Noise reaches some places only. Of distinct true and published tuples those pairs are looked at that the attributes
    of the shortest reach leave, some of them taken together; the time is their number times the other attributes.
    """
    if not channels:
        return Linked(
            np.zeros(len(share), dtype=np.int64), share, np.bincount(kind, minlength=kinds)[None].astype(float)
        )
    of_row, x = _distinct(true, channels)
    of_record, y = _distinct(published, channels)
    pi, n_y = np.bincount(of_row, share), len(y[0])
    every = np.zeros(n_y)
    for _, to, p in _pairs(x, y, pi, channels):
        every += np.bincount(to, p, n_y)
    if strangers := int((every[of_record] <= 0).sum()):
        raise TableError(
            f"{strangers} published records can be of nobody in the population; pass the one whose records were "
            "published"
        )
    told = sp.coo_array((np.ones(len(kind)), (of_record, kind)), shape=(n_y, kinds)).tocsr()
    records = np.zeros((len(pi), kinds))
    for at, to, p in _pairs(x, y, pi, channels):  # again: together they would not fit into memory
        first = int(at[0]) if len(at) else 0
        some = sp.coo_array((p / every[to], (at - first, to)), shape=(int(at.max(initial=first)) - first + 1, n_y))
        records[first : first + some.shape[0]] += (some.tocsr() @ told).toarray()
    return Linked(of_row, share, records)


def _pairs(
    x: Sequence[np.ndarray], y: Sequence[np.ndarray], pi: np.ndarray, channels: Sequence[Channel]
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Pairs of a true and a published tuple that are possible, and pi(x) T(x, y), many at once, by true tuple."""
    order = np.argsort([(channel.limit + 1) / channel.places for channel in channels], kind="stable")
    transition, at_x, at_y, taken = _joined([channels[a] for a in order], [x[a] for a in order], [y[a] for a in order])
    there = sp.csr_array((np.ones(len(at_y)), (at_y, np.arange(len(at_y)))), shape=(transition.shape[0], len(at_y)))
    reached = sp.csr_array(transition @ there)  # from a true place to published tuples
    ends = np.concatenate([[0], np.cumsum(np.diff(reached.indptr)[at_x])])
    start = 0
    while start < len(pi):
        stop = max(int(np.searchsorted(ends, ends[start] + AT_ONCE, side="right")) - 1, start + 1)
        pairs = sp.coo_array(reached[at_x[start:stop]])
        at, to, p = pairs.row + start, pairs.col, pairs.data * pi[pairs.row + start]
        for a in order[taken:]:
            p = p * channels[a].probability(x[a][at], y[a][to])
            kept = p > 0
            at, to, p = at[kept], to[kept], p[kept]
        yield at, to, p
        start = stop


def _joined(
    channels: Sequence[Channel], x: Sequence[np.ndarray], y: Sequence[np.ndarray]
) -> tuple[sp.csr_array, np.ndarray, np.ndarray, int]:
    """Some attributes taken as one: T, the places of true and published tuples, and how many attributes these are."""
    matrix, at_x, at_y, taken = channels[0].matrix, x[0], y[0], 1
    for channel, more_x, more_y in zip(channels[1:], x[1:], y[1:], strict=True):
        if matrix.nnz * channel.places * (channel.limit + 1) > JOINT:
            break
        matrix = sp.csr_array(sp.kron(matrix, channel.matrix, format="csr"))
        at_x, at_y = at_x * channel.places + more_x, at_y * channel.places + more_y
        taken += 1
    return matrix, at_x, at_y, taken


def _distinct(places: Sequence[np.ndarray], channels: Sequence[Channel]) -> tuple[np.ndarray, list[np.ndarray]]:
    """Number the distinct tuples; their places."""
    key = group_codes(places, [channel.places for channel in channels])
    first = np.unique(key, return_index=True)[1]
    return key, [place[first] for place in places]

"""Centred binomial noise on the places of a domain, as a channel from true to published places."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from ...errors import BadProbability, GroupTooLarge, StatementError, number, whole

#: Probabilities of a channel that are written down.
MOST_ENTRIES = 10**8

__all__ = ["Channel", "noise_limit"]


def noise_limit(percent: float, places: int) -> int:
    """M = percent % of (places - 1), rounded to the nearest even number; in the middle of two, to the larger.

    Parameters
    ----------
    percent : float
        From 0 to 100.
    places : int
        ``|D|``, the values of the domain, at least 1.

    Returns
    -------
    int
        M, even.

    Raises
    ------
    BadProbability
        If the percentage is no number from 0 to 100.
    StatementError
        If `places` is no integer of at least 1.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> mx.sdc.noise_limit(10, places=101)
    10
    >>> [mx.sdc.noise_limit(percent, places=5) for percent in (0, 25, 50, 100)]       # 25 % of 4 is 1: up to 2
    [0, 2, 2, 4]
    """
    if not 0 <= number(percent, "percent") <= 100:
        raise BadProbability(f"percent={percent!r}: from 0 to 100 is expected")
    whole(places, "places", 1)
    half = Fraction(f"{float(percent):.15g}") / 100 * (places - 1) / 2
    return 2 * int(half + Fraction(1, 2))  # cuts off: half is not negative


@dataclass(frozen=True)
class Channel:
    """T(x, y) = P(y | x): y = x + B - M/2 with B binomial (M, 1/2), and where that is outside the domain, its end.

    Attributes
    ----------
    places : int
        ``|D|``.
    limit : int
        M, even: at most M/2 places up or down.

    Raises
    ------
    StatementError
        If `places` is no integer of at least 1, or `limit` no even one of at least 0.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> mx.sdc.Channel(places=4, limit=2).matrix.toarray()
    array([[0.75, 0.25, 0.  , 0.  ],
           [0.25, 0.5 , 0.25, 0.  ],
           [0.  , 0.25, 0.5 , 0.25],
           [0.  , 0.  , 0.25, 0.75]])
    """

    places: int
    limit: int

    def __post_init__(self) -> None:
        whole(self.places, "places", 1)
        if whole(self.limit, "limit", 0) % 2:
            raise StatementError(f"limit={self.limit}: an even number is expected, half of it up and half down")

    @cached_property
    def _noise(self) -> np.ndarray:
        """P(B = 0), ..., P(B = M)."""
        from scipy.stats import binom  # takes a third of a second to load

        return np.asarray(binom.pmf(np.arange(self.limit + 1), self.limit, 0.5))

    @cached_property
    def _tail(self) -> np.ndarray:
        """P(B >= 0), P(B >= 1), ..., P(B >= M), and 0; of a symmetric noise also P(B <= M), ..., P(B <= 0)."""
        from scipy.stats import binom  # takes a third of a second to load

        return np.append(binom.sf(np.arange(self.limit + 1) - 1, self.limit, 0.5), 0.0)

    def draw(self, x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Publish true places.

        Parameters
        ----------
        x : ndarray of int, shape (records,)
            True places, from 0.
        rng : numpy.random.Generator

        Returns
        -------
        ndarray of int, shape (records,)
            Published places.

        Examples
        --------
        >>> import maxent_cvx as mx, numpy as np
        >>> channel = mx.sdc.Channel(places=4, limit=2)
        >>> published = channel.draw(np.full(1_000, 1), np.random.default_rng(0))
        >>> bool(abs(np.bincount(published, minlength=4) / 1_000 - [0.25, 0.5, 0.25, 0]).max() < 0.05)
        True
        """
        moved = x + rng.binomial(self.limit, 0.5, len(x)) - self.limit // 2
        return moved.clip(0, self.places - 1)

    def probability(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """T(x, y), entry by entry.

        Parameters
        ----------
        x, y : ndarray of int
            True and published places, of one shape.

        Returns
        -------
        ndarray
            Probabilities, of the same shape.

        Examples
        --------
        >>> import maxent_cvx as mx, numpy as np
        >>> channel = mx.sdc.Channel(places=4, limit=2)
        >>> channel.probability(np.array([0, 1, 1]), np.array([0, 1, 3]))
        array([0.75, 0.5 , 0.  ])
        """
        move = y - x + self.limit // 2  # what B is; where y is an end, at most or at least that
        inside = (move >= 0) & (move <= self.limit)
        p = np.where(inside, self._noise[move.clip(0, self.limit)], 0.0)
        p = np.where(y == self.places - 1, self._tail[move.clip(0, self.limit + 1)], p)
        p = np.where(y == 0, self._tail[(self.limit - move).clip(0, self.limit + 1)], p)
        return np.where(y == 0, 1.0, p) if self.places == 1 else p

    @cached_property
    def matrix(self) -> sp.csr_array:
        """T, shape (places, places).

        Raises
        ------
        GroupTooLarge
            If it would not fit into memory.
        """
        reach = min(self.limit // 2, self.places - 1)
        if (entries := self.places * (2 * reach + 1)) > MOST_ENTRIES:
            raise GroupTooLarge(
                f"noise of {self.limit} on {self.places} values means {entries:.1e} probabilities, and "
                f"{MOST_ENTRIES:.0e} are allowed; round the values"
            )
        move = np.arange(-reach, reach + 1)
        x = np.repeat(np.arange(self.places), len(move))
        y = x + np.tile(move, self.places)
        inside = (y >= 0) & (y < self.places)
        x, y = x[inside], y[inside]
        return sp.csr_array((self.probability(x, y), (x, y)), shape=(self.places, self.places))

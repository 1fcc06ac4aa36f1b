"""Linear dependence of rows, decided in exact arithmetic modulo two primes.

Floating point cannot distinguish a row that depends on others from one that differs from such a row in the last place.
Numbers as typed are rational, and a rational matrix has the same linear dependences modulo a prime, unless the prime
divides one of its minors. For a random prime of 31 bits the probability of that is about one in millions, and for two
of them about 10^-13.

A bucket of hundreds of QI values and of sensitive values has tens of thousands of columns, of which a few for each row
have the rank of all. So rows are eliminated on a sample of the columns; the combinations of rows that vanish there are
then computed for all columns, and where one does not vanish the sample is enlarged.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import scipy.sparse as sp

__all__ = ["PRIMES", "dependent_rows", "residues", "residues_of_fraction"]

#: Two primes below 2^31, drawn at random once. Products of residues fit into 64 bits.
PRIMES = (1_555_813_163, 2_139_108_259)

#: Columns that are chosen from the entries of each row.
COLUMNS_OF_A_ROW = 3


def residues(numbers: np.ndarray, prime: int) -> np.ndarray:
    """Compute residues of doubles, which are integers times powers of two, modulo a prime."""
    fraction, exponent = np.frexp(numbers)
    significand = (fraction * 2.0**53).astype(np.int64)  # exact: a double has 53 binary digits
    exponent = exponent.astype(np.int64) - 53
    least = int(exponent.min(initial=0))
    powers = [pow(2, e, prime) for e in range(least, int(exponent.max(initial=0)) + 1)]
    return significand % prime * np.array(powers, dtype=np.int64)[exponent - least] % prime


def residues_of_fraction(number: Fraction, prime: int) -> int:
    """Compute the residue of a rational number modulo a prime."""
    return number.numerator * pow(number.denominator, -1, prime) % prime


def dependent_rows(by_prime: Sequence[sp.csr_array], n_first: int) -> tuple[np.ndarray, np.ndarray]:
    """Mark the rows that depend linearly on earlier ones, and those of them that depend on the first rows alone.

    Parameters
    ----------
    by_prime : sequence of csr_array of int64, shape (rows, columns)
        The matrix modulo each of :data:`PRIMES`. A row is marked if it is dependent modulo both.
    n_first : int
        The number of first rows.

    Returns
    -------
    depends, by_first : ndarray of bool, one a row
    """
    found = [_dependent(matrix, prime, n_first) for matrix, prime in zip(by_prime, PRIMES, strict=True)]
    depends, by_first = np.logical_and.reduce(found)
    return depends, by_first


def _dependent(matrix: sp.csr_array, prime: int, n_first: int) -> tuple[np.ndarray, np.ndarray]:
    """The rows that are dependent modulo one prime."""
    n, generator = matrix.shape[0], np.random.default_rng(matrix.shape[0])
    columns, by_column = _columns_of_rows(matrix), sp.csc_array(matrix)
    while True:
        depends, by_first, vanishing = _eliminated(by_column[:, columns].toarray(), prime, n_first)
        # If one of them does not vanish in a column, a random combination does with a probability of one in `prime`.
        weights = generator.integers(1, prime, (len(vanishing), 1))
        combination = (vanishing * weights % prime).sum(axis=0) % prime
        high, low = np.divmod(combination, 2**16)  # sums of products then have fewer than 63 bits
        total = ((by_column.T @ high) % prime * 2**16 + by_column.T @ low) % prime
        missed = np.setdiff1d(np.flatnonzero(total), columns)
        if not len(missed):
            return depends, by_first
        columns = np.union1d(columns, missed[:: -(-len(missed) // n)])


def _columns_of_rows(matrix: sp.csr_array) -> np.ndarray:
    """All columns if they are few, otherwise some of those in which each row has an entry."""
    n, width = matrix.shape
    if width <= COLUMNS_OF_A_ROW * n:
        return np.arange(width)
    starts, entries = matrix.indptr[:-1], np.diff(matrix.indptr)
    starts, entries = starts[entries > 0], entries[entries > 0]
    shares = np.linspace(0.0, 1.0, COLUMNS_OF_A_ROW)[:, None]
    return np.unique(matrix.indices[starts + ((entries - 1) * shares).astype(np.int64)])


def _eliminated(matrix: np.ndarray, prime: int, n_first: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mark dependent rows by Gaussian elimination, and return the combinations of rows that vanish."""
    n, width = matrix.shape
    rest = np.hstack([matrix, np.eye(n, dtype=np.int64)])  # on the right: of which rows it is a combination
    depends, by_first, vanishing = np.zeros(n, dtype=bool), np.zeros(n, dtype=bool), []
    for i in range(n):
        if i == n_first:
            by_first[:] = ~rest[:, :width].any(axis=1)
            vanishing.append(rest[i:, width:][by_first[i:]].copy())
        nonzero = np.flatnonzero(rest[i])
        j = nonzero[0]
        if j >= width:
            depends[i] = True
            continue
        below = i + 1 + np.flatnonzero(rest[i + 1 :, j])
        if len(below):
            times = rest[below, j] * pow(int(rest[i, j]), -1, prime) % prime
            changed = np.ix_(below, nonzero)
            rest[changed] = (rest[changed] - times[:, None] * rest[i, nonzero] % prime) % prime
    vanishing.append(rest[depends, width:])
    return depends, depends & (by_first | (np.arange(n) < n_first)), np.vstack(vanishing)

"""Linear dependence of rows, decided in exact arithmetic modulo two primes.

Floating point cannot distinguish a row that depends on others from one that differs from such a row in the last place.
Numbers as typed are rational, and a rational matrix has the same linear dependences modulo a prime, unless the prime
divides one of its minors. For a random prime of 31 bits the probability of that is about one in millions, and for two
of them about 10^-13.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

__all__ = ["PRIMES", "dependent_rows", "residues", "residues_of_fraction"]

#: Two primes below 2^31, drawn at random once. Products of residues fit into 64 bits.
PRIMES = (1_555_813_163, 2_139_108_259)


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


def dependent_rows(by_prime: Sequence[np.ndarray], n_first: int) -> tuple[np.ndarray, np.ndarray]:
    """Mark the rows that depend linearly on earlier ones, and those of them that depend on the first rows alone.

    Parameters
    ----------
    by_prime : sequence of ndarray, shape (rows, columns)
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


def _dependent(matrix: np.ndarray, prime: int, n_first: int) -> tuple[np.ndarray, np.ndarray]:
    """Gaussian elimination modulo one prime."""
    rest = np.array(matrix, dtype=np.int64)
    depends = np.zeros(len(rest), dtype=bool)
    by_first = np.zeros(len(rest), dtype=bool)
    for i in range(len(rest)):
        if i == n_first:
            by_first[:] = ~rest.any(axis=1)
        pivots = np.flatnonzero(rest[i])
        if not len(pivots):
            depends[i] = True
            continue
        j = pivots[0]
        below = i + 1 + np.flatnonzero(rest[i + 1 :, j])
        if len(below):
            times = rest[below, j] * pow(int(rest[i, j]), -1, prime) % prime
            rest[below] = (rest[below] - times[:, None] * rest[i] % prime) % prime
    return depends, depends & (by_first | (np.arange(len(rest)) < n_first))

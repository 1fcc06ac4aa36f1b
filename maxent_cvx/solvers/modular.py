"""Linear dependence of rows, decided in exact arithmetic modulo two primes.

Floating point cannot distinguish a row that depends on others from one that differs from such a row in the last
place, and therefore contains other information. Numbers as typed are rational, and a rational matrix has the same
linear dependences modulo a prime, unless the prime divides one of its minors. For a random prime of 31 bits the
probability of that is about one in millions, and for two such primes about 10^-13.

To decide whether a row is a combination of others, not all columns are needed: random combinations of the columns, a
few more than there are rows, decide it except for a probability of one in a prime.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import scipy.sparse as sp

#: Two primes below 2^31, drawn at random once. Products of residues fit into 64 bits.
PRIMES = (1_555_813_163, 2_139_108_259)

#: Random combinations of the columns beyond the number of rows: each accepts a false dependence with probability 2^-31.
SPARE = 3


def residues(numbers: np.ndarray, prime: int) -> np.ndarray:
    """Compute residues modulo a prime of doubles, which are integers times powers of two."""
    fraction, exponent = np.frexp(numbers)
    significand = (fraction * 2.0**53).astype(np.int64)  # exact: a double has 53 binary digits
    exponent = exponent.astype(np.int64) - 53
    least = int(exponent.min(initial=0))
    powers = [pow(2, e, prime) for e in range(least, int(exponent.max(initial=0)) + 1)]
    return significand % prime * np.array(powers, dtype=np.int64)[exponent - least] % prime


def residues_of_fraction(number: Fraction, prime: int) -> int:
    """Compute the residue of a rational number modulo a prime."""
    return number.numerator * pow(number.denominator, -1, prime) % prime


def combined(matrix: sp.csr_array, n: int, prime: int, generator: np.random.Generator) -> np.ndarray:
    """Return `n` random combinations of the rows of a sparse matrix of residues."""
    weights = generator.integers(1, prime, (matrix.shape[0], n))
    high, low = np.divmod(weights, 2**16)  # sums of 2^16 products of 31 and 16 bits are below 2^63
    total = np.zeros((matrix.shape[1], n), dtype=np.int64)
    for start in range(0, matrix.shape[0], 2**16):
        rows = slice(start, start + 2**16)
        across = matrix[rows].T.tocsr()
        total = (total + (across @ high[rows]) % prime * 2**16 + across @ low[rows]) % prime
    return total


def combination(row: np.ndarray, others: np.ndarray, prime: int) -> np.ndarray | None:
    """Return the factors that combine other rows of residues to a row, by Gaussian elimination; None if none exist."""
    k, n = others.shape
    rest = np.hstack([np.vstack([others, row]), np.eye(k + 1, dtype=np.int64)])  # on the right: the combination of rows
    for i in range(k):
        places = np.flatnonzero(rest[i, :n])
        if not len(places):
            continue
        j = places[0]
        below = i + 1 + np.flatnonzero(rest[i + 1 :, j])
        if len(below):
            times = rest[below, j] * pow(int(rest[i, j]), -1, prime) % prime
            rest[below] = (rest[below] - times[:, None] * rest[i] % prime) % prime
    return None if rest[-1, :n].any() else -rest[-1, n:-1] % prime


def product(columns: sp.csr_array, factor: np.ndarray, prime: int) -> np.ndarray:
    """Multiply columns of residues by residues, modulo a prime; sums of products of 31 and 16 bits do not overflow."""
    high, low = np.divmod(factor, 2**16)
    return ((columns @ high) % prime * 2**16 + columns @ low) % prime

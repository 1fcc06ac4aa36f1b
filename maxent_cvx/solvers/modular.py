"""Linear dependence of rows, decided in exact arithmetic modulo two primes.

Floating point cannot distinguish a row that depends on others from one that differs from such a row in the last
place, and that says something else. Numbers as typed are rational, and a rational matrix has the same linear
dependences modulo a prime, unless the prime divides one of its minors. For a random prime of 31 bits the probability
of that is about one in millions, and for two of them about 10^-13.

Whether a row is a combination of some others does not need all columns: random combinations of the columns, a few
more than rows, decide it but for a probability of one in a prime.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import scipy.sparse as sp

#: Two primes below 2^31, drawn at random once. Products of residues fit into 64 bits.
PRIMES = (1_555_813_163, 2_139_108_259)

#: Random combinations of the columns beyond the number of rows: a false dependence passes one in 2^31 each.
SPARE = 3


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


def combined(matrix: sp.csr_array, n: int, prime: int, generator: np.random.Generator) -> np.ndarray:
    """Combine the rows of a sparse matrix of residues at random: `n` rows that are sums over all of them."""
    weights = generator.integers(1, prime, (matrix.shape[0], n))
    high, low = np.divmod(weights, 2**16)  # sums of products of 31 and 16 bits have fewer than 63 up to 2^16 rows
    total = np.zeros((matrix.shape[1], n), dtype=np.int64)
    for start in range(0, matrix.shape[0], 2**16):
        rows = slice(start, start + 2**16)
        across = matrix[rows].T.tocsr()
        total = (total + (across @ high[rows]) % prime * 2**16 + across @ low[rows]) % prime
    return total


def combination(row: np.ndarray, others: np.ndarray, prime: int) -> np.ndarray | None:
    """The factors with which other rows of residues add up to a row, by Gaussian elimination; None if none do."""
    k, n = others.shape
    rest = np.hstack([np.vstack([others, row]), np.eye(k + 1, dtype=np.int64)])  # on the right: of which rows
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
    """Columns of residues times residues, modulo a prime; products of 31 and 16 bits add up without overflow."""
    high, low = np.divmod(factor, 2**16)
    return ((columns @ high) % prime * 2**16 + columns @ low) % prime

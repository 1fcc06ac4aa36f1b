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

#: Columns that are eliminated at a time; the others change by exact products of doubles: a residue times 16 bits of
#: another is below 2^47, and a sum of 64 below 2^53. 800 rows take .3 s, and 3 s if columns are eliminated singly.
PANEL = 32

#: Sums of this many products of 31 and 16 bits are below 2^63.
MOST_SUMMANDS = 2**16


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
    total = np.zeros((matrix.shape[1], n), dtype=np.int64)
    weights = generator.integers(1, prime, (matrix.shape[0], n))
    for start in range(0, matrix.shape[0], MOST_SUMMANDS):
        rows = slice(start, start + MOST_SUMMANDS)
        total = (total + product(matrix[rows].T.tocsr(), weights[rows], prime)) % prime
    return total


def combination(row: np.ndarray, others: np.ndarray, prime: int) -> np.ndarray | None:
    """Return the factors that combine other rows of residues to a row, by Gaussian elimination; None if none exist."""
    system = np.column_stack([others.T, row])  # one equation for each column of the rows
    pivots: list[int] = []
    for start in range(0, len(others), PANEL):
        first, stop = len(pivots), min(start + PANEL, len(others))
        rest, n = system[first:], stop - start
        # Beside the columns: the factors of the pivots' equations, which elimination adds to every equation.
        panel = np.column_stack([rest[:, start:stop], np.zeros((len(rest), n), dtype=np.int64)])
        for j in range(n):
            i = len(pivots) - first
            places = i + np.flatnonzero(panel[i:, j])
            if not len(places):
                continue
            for equations in (rest, panel):
                equations[[i, places[0]]] = equations[[places[0], i]]
            panel[i, n + i] = 1
            part = panel[:, j : n + i + 1]
            pivot = part[i] * pow(int(part[i, 0]), -1, prime) % prime
            part -= part[:, :1] * pivot % prime
            part %= prime
            part[i] = pivot
            pivots.append(start + j)
        n_new = len(pivots) - first
        rest[:, start:stop], right = panel[:, :n], rest[:, stop:]
        high, low = np.divmod(panel[:, n : n + n_new], 2**16)
        added = right[:n_new].astype(float)
        right[:n_new] = 0
        right += (high @ added).astype(np.int64) % prime * 2**16 + (low @ added).astype(np.int64)
        right %= prime
    if system[len(pivots) :, -1].any():
        return None
    factors = np.zeros(len(others), dtype=np.int64)  # 0 where there is no pivot
    for i, j in reversed(list(enumerate(pivots))):
        factors[j] = (system[i, -1] - (system[i, j + 1 : -1] * factors[j + 1 :] % prime).sum()) % prime
    return factors


def product(matrix: sp.csr_array, factor: np.ndarray, prime: int) -> np.ndarray:
    """Multiply a matrix of residues by residues, modulo a prime; rows have at most :data:`MOST_SUMMANDS` entries."""
    high, low = np.divmod(factor, 2**16)
    return ((matrix @ high) % prime * 2**16 + matrix @ low) % prime

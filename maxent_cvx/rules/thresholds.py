"""Which patterns are rules: the thresholds of support and confidence, compared as integers."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ..errors import BadProbability, number

__all__ = ["Thresholds", "exact"]

#: Products up to this are exact in 64 bits.
LARGEST = 2**62


@dataclass(frozen=True)
class Thresholds:
    """Q => X is a rule if P(Q, X) >= support and P(X | Q) >= confidence; if `strict`, both by >.

    Attributes
    ----------
    support, confidence : Fraction
        As typed: 0.1 is a tenth, and not the float beside it.
    strict : bool
    """

    support: Fraction
    confidence: Fraction
    strict: bool = False

    @classmethod
    def of(cls, support: object, confidence: object, strict: bool = False) -> Thresholds:
        """Read what a user typed; a ``BadProbability`` if it is no share of people."""
        return cls(exact(support, "support"), exact(confidence, "confidence"), bool(strict))

    def least(self, n_q: np.ndarray, n: int) -> np.ndarray:
        """The smallest number n(Q, X) that makes a rule, of n(Q) records among n; one less is the most of a non-rule.

        max(ceil(n s), ceil(n(Q) c)), or max(floor(n s), floor(n(Q) c)) + 1 if strict; at least one record.
        """
        return np.maximum(self._up(self.confidence, n_q), self.least_support(n))

    def least_support(self, n: int) -> int:
        """The smallest number n(Q, X) that has the support, of n records."""
        return max(int(self._up(self.support, np.array([n]))[0]), 1)

    def bound(self, n_q: np.ndarray, n: int) -> np.ndarray:
        """max(s, c P(Q)), Eq. (3), a probability."""
        return np.maximum(float(self.support), float(self.confidence) * n_q / n)

    def only_support(self, n_q: np.ndarray, n: int, *, integer: bool) -> np.ndarray:
        """Whether c P(Q) <= s (Theorem 3), so that the bound is that of the support; in integers if `integer`."""
        if integer:
            return np.asarray(self._up(self.confidence, n_q) <= self.least_support(n))
        return np.asarray(
            self.confidence.numerator * n_q.astype(object) <= self.support * n * self.confidence.denominator
        )

    def _up(self, share: Fraction, n: np.ndarray) -> np.ndarray:
        """The smallest integer that is at least a share of n; larger than it, if strict."""
        top, bottom = share.numerator, share.denominator
        if top * int(n.max(initial=0)) > LARGEST or bottom > LARGEST:
            n = n.astype(object)  # Python's own integers
        least = n * top // bottom + 1 if self.strict else -(-n * top // bottom)
        return np.asarray(least.astype(np.int64))

    def __str__(self) -> str:
        sign = ">" if self.strict else ">="
        return f"support {sign} {float(self.support):.12g}, confidence {sign} {float(self.confidence):.12g}"


def exact(value: object, what: str) -> Fraction:
    """Read a share of records as it is written: 0.1 is one tenth."""
    found = value if isinstance(value, Fraction) else Fraction(str(number(value, what)))
    if not 0 <= found <= 1:
        raise BadProbability(f"{what}={float(found):.12g}: a share of the people is expected, between 0 and 1")
    return found

"""One partition of a release: some of its buckets, and what must be known of the whole to speak of them."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..buckets import BucketView

__all__ = ["ReleasePart"]


@dataclass(frozen=True, eq=False, repr=False)
class ReleasePart(BucketView):
    """Whole buckets of a release.

    Its QI tuples are those of its own buckets, its sensitive values those of the whole. P(q), P(s) and N are the
    whole's, so that what is said of probabilities has the same meaning in every partition.

    Attributes
    ----------
    q_numbers : ndarray of int
        The number in the whole of each of its QI tuples, ascending.
    n_q_whole, n_s_whole : ndarray
        Records in the whole of each of its QI tuples, and of each sensitive value.
    n_whole : int
        Records of the whole.
    """

    q_numbers: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    n_q_whole: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    n_s_whole: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    n_whole: int = 0

    @property
    def n_q(self) -> np.ndarray:
        """Records in the whole of each of its own QI tuples, counts."""
        return self.n_q_whole

    @property
    def n_s(self) -> np.ndarray:
        """Records in the whole of each sensitive value, counts."""
        return self.n_s_whole

    @property
    def n_records(self) -> int:
        """N, the records of the whole."""
        return self.n_whole

    @property
    def n_own(self) -> int:
        """The records in its own buckets."""
        return int(self.n_qb.sum())

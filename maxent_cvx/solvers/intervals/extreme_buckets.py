"""The extreme values of one count in its bucket: what they change in the rows of knowledge.

Let the bucket hold n people, n_i of them with the QI tuple of the count and n_j with its sensitive value. If the count
is X, and everything else is spread in proportion to the numbers of the other QI tuples and values, which are n_i' and
n_j', all published rows of the bucket hold:

    (i, j): X          (i, j'): (n_i - X) n_j' / (n - n_j)          (i', j): (n_j - X) n_i' / (n - n_i)
                       (i', j'): (n - n_i - n_j + X) n_i' n_j' / ((n - n_i) (n - n_j))

So the change of a row of knowledge is a combination of five numbers that do not depend on X: its coefficient of the
count, its value at n_j' over row i and at n_i' over column j, and its values at n_i' n_j' and at x over the bucket.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from ..parameters.tolerances import COMPENSATION
from ..program.linear_form import LinearForm

__all__ = ["ExtremeBuckets"]


@dataclass(frozen=True, eq=False)
class ExtremeBuckets:
    """Changes of the rows of knowledge as combinations of `parts`.

    Attributes
    ----------
    parts : csr_array, shape (parts, rows of knowledge)
        The distinct columns of the knowledge; its values over every row; over every bucket; and at x.
    of_term, row, column : ndarray of int, one a term
        The class of its column, and its published rows.
    bucket : ndarray of int, one a term
    in_row : ndarray, one a published row
        The number of people at x.
    in_bucket : ndarray, one a bucket
    is_complete : ndarray of bool, one a bucket
        Whether each of its QI tuples can have each of its sensitive values.
    """

    parts: sp.csr_array
    of_term: np.ndarray
    row: np.ndarray
    column: np.ndarray
    bucket: np.ndarray
    in_row: np.ndarray
    in_bucket: np.ndarray
    is_complete: np.ndarray

    @classmethod
    def of(cls, form: LinearForm, x: np.ndarray) -> ExtremeBuckets | None:
        """The buckets of a form at a point; None unless each term is in two published rows, both sums of counts."""
        by_term, known = form.published_by_term, form.known
        if (np.diff(by_term.indptr) != 2).any() or (by_term.data != 1).any():
            return None
        by_term.sort_indices()
        row, column = by_term.indices[::2], by_term.indices[1::2]
        of_row, bucket = form.bucket
        n_rows, n_buckets = form.n_published, int(of_row.max(initial=-1)) + 1
        in_row, in_bucket = form.published @ x, np.bincount(bucket, x, n_buckets)
        terms = np.bincount(bucket, x > 0, n_buckets)
        sizes = [np.bincount(of_row[np.unique(side)], minlength=n_buckets) for side in (row, column)]
        is_complete = (terms == sizes[0] * sizes[1]) & (np.bincount(of_row, minlength=n_buckets) == sizes[0] + sizes[1])
        n_classes, classes = known.transposed.shape[0], known.of_term
        over_rows = _collected(
            np.r_[row, column], np.r_[classes, classes], np.r_[in_row[column], in_row[row]], n_rows, n_classes
        )
        over_buckets = _collected(bucket, classes, in_row[row] * in_row[column], n_buckets, n_classes)
        at_x = _collected(bucket, classes, x, n_buckets, n_classes)
        identity = sp.eye_array(n_classes, format="csr")
        weights = sp.csr_array(sp.vstack([identity, over_rows, over_buckets, at_x], format="csr"))
        return cls(
            sp.csr_array(weights @ known.transposed), classes, row, column, bucket, in_row, in_bucket, is_complete
        )

    def combinations(self, terms: np.ndarray, value: np.ndarray, end: np.ndarray, n_ends: int) -> sp.csr_array:
        """The change of the knowledge, as a combination of the parts, where some counts are given a value each.

        Parameters
        ----------
        terms : ndarray of int
        value : ndarray
            Records.
        end : ndarray of int
            To which end of an interval each belongs, of `n_ends`.

        Returns
        -------
        csr_array, shape (ends, parts)
        """
        row, column, bucket = self.row[terms], self.column[terms], self.bucket[terms]
        of_row, of_column, every = self.in_row[row], self.in_row[column], self.in_bucket[bucket]
        with np.errstate(divide="ignore", invalid="ignore"):
            rest_of_row = _share(of_row - value, every - of_column)
            rest_of_column = _share(of_column - value, every - of_row)
            rest = _share(_share(every - of_row - of_column + value, every - of_row), every - of_column)
        own = value - of_column * rest_of_row - of_row * rest_of_column + rest * of_row * of_column
        n_classes, n_rows, n_buckets = (
            self.parts.shape[0] - len(self.in_row) - 2 * len(self.in_bucket),
            len(self.in_row),
            len(self.in_bucket),
        )
        at = [
            self.of_term[terms], n_classes + row, n_classes + column, n_classes + n_rows + bucket,
            n_classes + n_rows + n_buckets + bucket,
        ]  # fmt: skip
        by = [own, rest_of_row - rest * of_row, rest_of_column - rest * of_column, rest, np.full(len(terms), -1.0)]
        return _collected(np.tile(end, 5), np.concatenate(at), np.concatenate(by), n_ends, self.parts.shape[0])

    def are_possible(self, terms: np.ndarray, value: np.ndarray) -> np.ndarray:
        """Which counts may have a value, their buckets being complete and no other count negative."""
        of_row, of_column = self.in_row[self.row[terms]], self.in_row[self.column[terms]]
        every, off = self.in_bucket[self.bucket[terms]], COMPENSATION.lost
        within = (value >= -off) & (value <= np.minimum(of_row, of_column) + off)
        return self.is_complete[self.bucket[terms]] & within & (value >= of_row + of_column - every - off)


def _share(number: np.ndarray, of: np.ndarray) -> np.ndarray:
    """A number of people divided by another; 0 of none."""
    return np.where(of > COMPENSATION.lost, number / of, 0.0)


def _collected(row: np.ndarray, column: np.ndarray, value: np.ndarray, n_rows: int, n_columns: int) -> sp.csr_array:
    """A sparse matrix from its entries; those in the same place are added up."""
    return sp.csr_array(sp.coo_array((value, (row, column)), shape=(n_rows, n_columns)).tocsr())

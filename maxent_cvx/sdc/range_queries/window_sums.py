"""Sums of overlapping windows of records as knowledge about the blocks that they are made of."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
import scipy.sparse as sp

from ...errors import arguments
from ...sources import Source
from ...terms.rows import Rows
from ...terms.space import Space

__all__ = ["WindowSums", "WithinBounds"]


class WindowSums(Source):
    """N sum_s s (P(b_j, s) + P(b_(j+1), s)) = S_j: the mean of every window of two blocks is as it was answered.

    Parameters
    ----------
    sums : ndarray, shape (windows,)
        S_j, in the unit of the values; the QI tuples of the view are the blocks, in order, one more than there are
        windows.

    Notes
    -----
    CAE, section 5 (query restriction), the equations taken for expectations.

    Examples
    --------
    >>> import maxent_cvx as mx, numpy as np, pandas as pd
    >>> blocks = pd.DataFrame({"block": [0, 1, 2]})
    >>> table = mx.QITable(blocks, qi="block", sa="Salary", sa_values=[50, 80, 110])
    >>> post = mx.MaxEnt(table).add(mx.sdc.WindowSums(np.array([160.0, 170.0]))).solve()
    >>> means = post.conditional() @ [50, 80, 110]
    >>> (means + means.shift(-1)).round(2).to_list()[:2]
    [160.0, 170.0]
    """

    def __init__(self, sums: np.ndarray) -> None:
        self.sums = arguments.array(sums, "sums")

    def rows(self, space: Space) -> Iterator[Rows]:
        """Emit a row a window.

        Parameters
        ----------
        space : Space
            The terms P(block, value) of a :class:`maxent_cvx.QITable` of numbers.

        Yields
        ------
        Rows
            A row a window, in the unit of the values.

        Examples
        --------
        >>> import maxent_cvx as mx, numpy as np, pandas as pd
        >>> blocks = pd.DataFrame({"block": [0, 1, 2]})
        >>> table = mx.QITable(blocks, qi="block", sa="Salary", sa_values=[50, 80, 110])
        >>> [rows] = mx.sdc.WindowSums(np.array([160.0, 170.0])).rows(mx.MaxEnt(table).space)
        >>> rows.label, rows.low.tolist(), rows.matrix.shape
        ('range sum', [160.0, 170.0], (2, 9))
        """
        value = space.n_records * _numbers(space)[space.codes["s"]]
        blocks = len(space.view.quasi_identifiers)
        of_block = sp.csr_array((value, (space.codes["q"], np.arange(len(space)))), shape=(blocks, len(space)))
        both = sp.diags_array([1.0, 1.0], offsets=[0, 1], shape=(len(self.sums), blocks))
        index = pd.RangeIndex(1, len(self.sums) + 1, name="query")
        yield Rows(sp.csr_array(both @ of_block), self.sums, self.sums, "range sum", index, space.view)


class WithinBounds(Source):
    """sum of P(b, s) over s < L_b and s > U_b = 0: no record has a value that its bounds exclude.

    Parameters
    ----------
    low, high : ndarray, shape (blocks,)
        L and U of the records of every block, in the unit of the values.

    Examples
    --------
    >>> import maxent_cvx as mx, numpy as np, pandas as pd
    >>> blocks = pd.DataFrame({"block": [0, 1, 2]})
    >>> table = mx.QITable(blocks, qi="block", sa="Salary", sa_values=[50, 80, 110])
    >>> bounds = mx.sdc.WithinBounds(low=np.array([50, 80, 80]), high=np.array([80, 80, 110]))
    >>> print(mx.MaxEnt(table).add(bounds).solve().conditional().round(2))
    Salary  50   80   110
    block
    0       0.5  0.5  0.0
    1       0.0  1.0  0.0
    2       0.0  0.5  0.5
    """

    def __init__(self, low: np.ndarray, high: np.ndarray) -> None:
        self.low, self.high = low, high

    def rows(self, space: Space) -> Iterator[Rows]:
        """Emit a row a block of which something is excluded.

        Parameters
        ----------
        space : Space
            The terms P(block, value) of a :class:`maxent_cvx.QITable` of numbers.

        Yields
        ------
        Rows
            A row a block, probabilities that are 0.

        Examples
        --------
        >>> import maxent_cvx as mx, numpy as np, pandas as pd
        >>> blocks = pd.DataFrame({"block": [0, 1, 2]})
        >>> table = mx.QITable(blocks, qi="block", sa="Salary", sa_values=[50, 80, 110])
        >>> bounds = mx.sdc.WithinBounds(low=np.array([50, 80, 80]), high=np.array([80, 80, 110]))
        >>> [rows] = bounds.rows(mx.MaxEnt(table).space)
        >>> np.diff(rows.matrix.indptr).tolist()                   # values that each block cannot have
        [1, 2, 1]
        """
        value, block = _numbers(space)[space.codes["s"]], space.codes["q"]
        outside = np.flatnonzero((value < self.low[block]) | (value > self.high[block]))
        some, row = np.unique(block[outside], return_inverse=True)
        matrix = sp.csr_array((np.ones(len(outside)), (row, outside)), shape=(len(some), len(space)))
        nobody = np.zeros(len(some))
        yield Rows(matrix, nobody, nobody, "bounds of block", pd.Index(some, name="block"), space.view)


def _numbers(space: Space) -> np.ndarray:
    """The sensitive values."""
    return space.view.sensitive_values.to_numpy(dtype=float)

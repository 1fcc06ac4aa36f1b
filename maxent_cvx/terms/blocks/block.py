"""Blocks: labelled families of linear expressions, compared with values label by label."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import scipy.sparse as sp

from ...errors import BadProbability, LabelMismatch, StatementError, listing, number
from ...tables.coding import multi_index
from ..axes import level_of
from ..penalty import Penalty
from ..rows import Rows
from .absolute import AbsoluteBlock
from .affine import AffineBlock
from .empty_groups import check_defined, in_words
from .series import by_label

__all__ = ["Block"]

#: How far outside [0, 1] a published probability may be, for its rounding.
ROUNDING = 1e-12


@dataclass(frozen=True, eq=False, repr=False)
class Block(AffineBlock):
    """A Series of linear expressions over the terms: ``matrix @ p + constant``, one row a label.

    Rows are selected by label as in pandas: ``block["Flu"]``, ``block.loc["Flu", "male"]``, ``block.loc[:, 20:40]``,
    ``block.xs("male", level="Gender")``. Blocks, numbers and Series are added, and blocks multiplied by numbers and
    Series, label by label in any order; values along some of the levels are used for all rows that share them. A value
    that was not published is an error. Values that were published, but cannot occur together, have no row: their
    probability is 0, also in sums and differences of blocks. An array is taken by position. A single expression times a
    Series, as in ``block - ratios * block["White"]``, has the labels of the Series.

    P(s | a group that nobody is in) is 0 / 0. It has no row either, and counts as 0 in values, but nothing can be said
    by it: rows that use it are `undefined`, as what is made from NaN is in pandas, and comparing them is an error.
    Leave them out, ``block.loc[~block.undefined]``, or say an order by :class:`~maxent_cvx.Monotone`, which passes over
    groups without people. Only what would hold anyway, 0 of nobody == 0 in a table say, is left out without an error.

    ``==``, ``<=`` and ``>=`` with a Series, a number or a block give :class:`~maxent_cvx.Rows`, which are knowledge; so
    does ``abs(block) <= number``, and ``abs(block) <= block``. A Series then has exactly the labels of the block. What
    is a probability is compared with numbers in [0, 1] only; sums, multiples and differences with any.

    Attributes
    ----------
    space : Space
    matrix : csr_array, shape (rows, terms)
        Coefficients on the probabilities p.
    index : Index or None
        The labels of the rows; None of a single expression, ``block.loc["Flu", "male"]`` or ``block.sum()``.
    label : str
        How ``matrix @ p`` is written, "P(Gender, Disease)" say. Rows are called by it, and have the constant among
        their values: ``2 * block - 1 <= 0.2`` says 2 P(..) <= 1.2.
    constant : ndarray, shape (rows,), optional
        What is added to ``matrix @ p``; by default nothing.
    provenance : Provenance
        What the block was made from; of one's own matrix the default says that the rows are probabilities.

    Examples
    --------
    A published table, P(Disease | Gender), is knowledge; its entries may be in any order:

    >>> import maxent_cvx as mx, pandas as pd
    >>> hospital = mx.datasets.load_hospital()
    >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    >>> block = mx.MaxEnt(release).space.conditional("Disease", given="Gender")
    >>> table = pd.crosstab(hospital["Gender"], hospital["Disease"], normalize="index").stack()
    >>> model = mx.MaxEnt(release).add(block == table)
    >>> round(model.solve().prob("Flu", given={"Degree": "college"}), 3)
    0.267

    HIV is at least twice as frequent as lung cancer, among men and among women:

    >>> rows = block["HIV"] >= 2 * block["Lung Cancer"]
    >>> rows.name(0), mx.MaxEnt(release).add(rows).solve().prices()["price"].round(3).to_list()
    ('P(HIV | Gender) - 2 P(Lung Cancer | Gender): female', [-0.112, 0.0])

    Along Degree, sorted: no woman has high school only, and no man is a junior, so that two steps are not defined:

    >>> steps = mx.MaxEnt(release).space.conditional("Disease", given=["Gender", "Degree"])["Flu"].diff("Degree")
    >>> steps.index[steps.undefined].to_list()
    [('female', 'high school'), ('male', 'junior')]
    >>> len(steps.loc[~steps.undefined] >= 0)
    3

    Blocks are tables:

    >>> 2 * block["Flu"] - 1
    <Block: 2 P(Flu | Gender) - 1, 2 rows by ['Gender']>
            terms coefficients  constant
    Gender
    female      3            5      -1.0
    male        3        3.333      -1.0
    """

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, value: Block | pd.Series | float) -> Rows:  # type: ignore[override]
        return self._against(value, low=True, high=True)

    def __le__(self, value: Block | pd.Series | float) -> Rows:
        return self._against(value, low=False, high=True)

    def __ge__(self, value: Block | pd.Series | float) -> Rows:
        return self._against(value, low=True, high=False)

    def __ne__(self, value: object) -> Rows:  # type: ignore[override]
        raise StatementError("'not equal' is not linear knowledge; write <= or >=")

    def __lt__(self, value: object) -> Rows:
        raise StatementError("a strict < has no maximum-entropy answer of its own; write <=")

    def __gt__(self, value: object) -> Rows:
        raise StatementError("a strict > has no maximum-entropy answer of its own; write >=")

    def between(self, low: Block | pd.Series | float, high: Block | pd.Series | float) -> Rows:
        """Say ``low <= block <= high``, each side a Series, a number or a block.

        Parameters
        ----------
        low, high : Series, float or Block
            Values, one a label, or one for all; probabilities if the rows are.

        Returns
        -------
        Rows

        Raises
        ------
        LabelMismatch
            If a Series has not exactly the labels of the block, or what is given has none.
        BadProbability
            If a value is no probability and ought to be, or a low one is above its high one.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> space = mx.MaxEnt(release).space
        >>> mx.MaxEnt(release).add(space.conditional("Disease", given="Gender").between(0.05, 0.6)).solve().status.value
        'optimal'
        """
        if not isinstance(low, AffineBlock) and not isinstance(high, AffineBlock):
            return self._rows(self._align(low, True, False), self._align(high, False, True))
        return _stacked(self >= low, self <= high, f"{self.label} between two")

    def about(self, value: pd.Series | float, eps: float) -> Rows:
        """Say ``value - eps <= block <= value + eps``; a side that no probability reaches is left out.

        Privacy-MaxEnt, section 4.5.

        Parameters
        ----------
        value : Series or float
            Values, one a label, or one for all; probabilities if the rows are.
        eps : float
            The vagueness, not negative.

        Returns
        -------
        Rows
            Those that say something.

        Raises
        ------
        LabelMismatch
            If a Series has not exactly the labels of the block, or what is given has none.
        BadProbability
            If a value is no probability, or eps is negative.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> shares = hospital["Disease"].value_counts(normalize=True)
        >>> rows = mx.MaxEnt(release).space.marginal("Disease").about(shares, eps=0.15)
        >>> rows.low.round(2).tolist(), rows.high.round(2).tolist()
        ([0.05, 0.15, 0.05, -inf, 0.05], [0.35, 0.45, 0.35, 0.25, 0.35])
        """
        middle, eps = self._align(value, True, True), number(eps, f"eps for {self.label}")
        if eps < 0:
            raise BadProbability(f"eps for {self.label} must not be negative: {eps:.12g}")
        low, high = middle - eps, middle + eps
        if not self.provenance.is_probability:
            return self._rows(low, high)
        low, high = np.where(low > 0, low, -np.inf), np.where(high < 1, high, np.inf)
        self._nothing_said(low, high)
        said = np.flatnonzero(np.isfinite(low) | np.isfinite(high))
        index = None if self.index is None else self.index[said]
        return Rows(self.matrix[said], low[said], high[said], self.label, index, self.space.view)

    def softly(
        self,
        value: pd.Series | float,
        *,
        sd: pd.Series | float | None = None,
        weight: pd.Series | float | None = None,
        delta: pd.Series | float | None = None,
    ) -> Rows:
        """Say ``block = value`` at a cost, nats: sum (block - value)^2 / (2 sd^2), or sum weight abs(block - value).

        Parameters
        ----------
        value : Series or float
            One a label, or one for all; any numbers, as noisy measurements may give.
        sd, weight, delta : Series or float, optional
            As of :func:`maxent_cvx.soft`: one of `sd` and `weight`, in the unit of the value; one a label, or one for
            all.

        Returns
        -------
        Rows

        Raises
        ------
        LabelMismatch
            If a Series has not exactly the labels of the block.
        StatementError, BadProbability
            If a value is no number, or a cost cannot be read.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> model = mx.MaxEnt(release)
        >>> rows = model.space.conditional("Disease", given="Gender")["Flu"].softly(0.4, sd=0.05)
        >>> rows.relation, [round(v, 3) for v in model.add(rows).solve().penalties]
        ('~', [1.259, 2.589])
        """
        middle = self._read(value)
        if not np.isfinite(middle).all():
            raise BadProbability(
                f"the values for {self.label} hold NaN or infinity at {self._listing(~np.isfinite(middle))}"
            )
        costs = [self._read(cost) if isinstance(cost, pd.Series) else cost for cost in (sd, weight, delta)]
        middle = _minus(middle, self._constant)
        self._nothing_said(middle, middle)
        return Rows(
            self.matrix, middle, middle.copy(), self.label, self.index, self.space.view, penalty=Penalty(*costs)
        )

    def __abs__(self) -> AbsoluteBlock:
        return AbsoluteBlock(self.label, self._within)

    def _within(self, most: object) -> Rows:
        """Say ``-most <= block <= most``; of a block as two sets of rows."""
        if isinstance(most, Block):
            least, largest = self + most, self - most  # >= 0, <= 0; what cancels and holds anyway is left out
            rows = [largest <= 0] if largest.matrix.nnz or (largest._constant > 0).any() else []
            if least.matrix.nnz or (least._constant < 0).any() or not rows:
                rows = [least >= 0, *rows]
            label = f"|{self._title}| <= {most._title}"
            return replace(rows[0], label=label) if len(rows) == 1 else _stacked(rows[0], rows[1], label)
        high = self._read(most)
        if (high < 0).any():
            raise BadProbability(f"|{self._title}| cannot be at most {high.min():.12g}: it is never negative")
        return self._rows(-high, high)

    def _rows(self, low: np.ndarray, high: np.ndarray) -> Rows:
        """Move the constant to the values; rows without terms that hold anyway say nothing, and are left out."""
        low, high = (_minus(side, self._constant) for side in (low, high))
        holds = self._nothing_said(low, high)
        rows = Rows(self.matrix, low, high, self.label, self.index, self.space.view)
        nobody = self.provenance.of_nobody(1) if not len(self) else self.provenance.nobody
        if not holds.any() and (len(self) or nobody is None):
            return rows
        if holds.all():
            why = f": {in_words(nobody[nobody != ''])}" if nobody is not None else ""
            raise StatementError(f"{self._title} holds no probability that could be otherwise, so nothing is said{why}")
        return rows.at(~holds)

    def _nothing_said(self, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """Mark rows without terms that hold anyway; the others must be defined."""
        empty = np.diff(self.matrix.indptr) == 0
        holds = empty & (low <= ROUNDING) & (high >= -ROUNDING)
        check_defined(self.provenance.nobody, ~holds, self._title, self.index)
        return holds

    def _against(self, value: object, low: bool, high: bool) -> Rows:
        """Say that the block is at least or at most a value, or both."""
        if isinstance(value, AffineBlock):
            difference = self - value
            zeros = np.zeros(len(difference))
        else:
            difference, zeros = self, self._align(value, low, high)
        return difference._rows(
            zeros if low else np.full(len(difference), -np.inf), zeros if high else np.full(len(difference), np.inf)
        )

    def _align(self, value: object, low: bool, high: bool) -> np.ndarray:
        """Bring the values into the order of the rows, by label; each must be a probability if the rows are."""
        numbers = self._read(value, low, high)
        bad = ~np.isfinite(numbers)
        if self.provenance.is_probability:
            bad = ~((numbers >= -ROUNDING) & (numbers <= 1 + ROUNDING))
        if bad.any():
            what = "NaN" if np.isnan(numbers[bad]).any() else f"{numbers[bad][0]:.12g}, which is no probability,"
            if not self.provenance.is_probability:
                what = "NaN or infinity"
            raise BadProbability(f"the values for {self.label} hold {what} at {self._listing(bad)}")
        return numbers

    def _read(self, value: object, low: bool = False, high: bool = False) -> np.ndarray:
        """Read a number, or a Series, of which values for impossible labels must agree with what these are."""
        if isinstance(value, pd.Series) and self.index is not None:
            unknown = self.provenance.unknown
            numbers, extra = by_label(value, self.index, self.space.axes, self.label, unknown, or_fewer=False)
            absent, said = self.provenance.absent, extra.to_numpy(dtype=float)
            wrong = ~(((said <= absent + ROUNDING) | (not low)) & ((said >= absent - ROUNDING) | (not high)))
            if wrong.any() or (np.isnan(absent) and len(extra)):
                places = extra.index[wrong] if wrong.any() else extra.index
                raise LabelMismatch(
                    f"the values for {self.label} have {listing(places)}, which no term is of: it is "
                    f"{absent:.12g} there; take them out of the Series"
                )
            return numbers
        if type(value).__module__.partition(".")[0] == "cvxpy":
            raise StatementError(
                f"{self.label} is compared with a CVXPY expression, which has no labels; compare block.expr with it in "
                "a function of the space, lambda space: ..., or P(...), one by one"
            )
        if isinstance(value, AffineBlock | dict | list | tuple | set | pd.Series) or getattr(value, "shape", None):
            levels = [] if self.index is None else list(self.index.names)
            raise LabelMismatch(
                f"{self.label} is compared with a {type(value).__name__}, whose entries have no labels; "
                f"pass a number, or a Series indexed by {levels}"
            )
        return np.full(len(self), number(value, f"the value of every {self.label}"))

    def _listing(self, at: np.ndarray) -> str:
        return "its only row" if self.index is None else listing(self.index[at])


def _minus(values: np.ndarray, constant: np.ndarray) -> np.ndarray:
    """Subtract as decimal numbers are: 0.3 - 0.1 is 0.2."""
    if not constant.any():
        return values
    difference = values - constant
    scale = np.maximum(np.where(np.isfinite(values), np.abs(values), 0.0), np.abs(constant))
    finite = np.isfinite(difference) & (scale > 0)
    digits = 15 - np.ceil(np.log10(np.where(finite, scale, 1.0)))
    unit = 10.0**digits
    return np.where(finite, np.rint(difference * unit) / unit, difference)


def _stacked(low: Rows, high: Rows, label: str) -> Rows:
    """Say two things at once: as one row a label where the expressions are the same, else as two."""
    if low.matrix.shape == high.matrix.shape and abs(low.matrix - high.matrix).sum() == 0:
        return Rows(low.matrix, low.low, high.high, low.label, low.index, low.view)
    side = np.repeat([0, 1], [len(low), len(high)])
    sides = pd.Index(["low", "high"])
    if low.index is None or high.index is None:
        index: pd.Index = sides.rename("side")
    else:
        both = low.index.append(high.index)
        levels = [level_of(both, i) for i in range(both.nlevels)]
        index = multi_index(
            [*(values for _, values in levels), sides], [*(codes for codes, _ in levels), side], [*both.names, "side"]
        )
    matrix = sp.csr_array(sp.vstack([low.matrix, high.matrix]))
    sizes = np.concatenate([low.low, high.low]), np.concatenate([low.high, high.high])
    return Rows(matrix, *sizes, label, index, low.view)

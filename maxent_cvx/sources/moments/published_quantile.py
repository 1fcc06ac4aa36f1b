"""A published quantile: the median income, the youngest of the ill, the third quartile of a length of stay."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from fractions import Fraction

import numpy as np
import pandas as pd

from ...errors import BadProbability, StatementError, arguments, number
from ...tables.selection import choose, written
from ...terms.rows import Rows
from ...terms.space import Space
from ..base import Source
from .order_statistics import METHODS, Quantile
from .quantile_rows import alternatives, check_attainable, quantile_rows
from .rounding import half_unit
from .subjects import among, subjects

__all__ = ["PublishedQuantile", "as_fraction"]

NAMES = {Fraction(0): "min", Fraction(1, 2): "median", Fraction(1): "max"}
#: Denominators up to this are looked for behind a number: 0.333... is a third.
DENOMINATORS = 1000


class PublishedQuantile(Source):
    """``#(x <= v) >= i`` and ``#(x < v) <= i - 1``: of n people as described, the i-th smallest number x is v.

    Parameters
    ----------
    value : float
        The published quantile v, in the unit of the numbers.
    q : float or Fraction
        From 0, the least number, to 1, the largest; 1/2 is the median.
    given : dict, optional
        Of whom, as of :func:`P`; sensitive attributes may be among the conditions, ``{"Disease": "Flu"}``.
    of : str, optional
        What it is a quantile of: a sensitive attribute, or a quasi-identifier of those who have a sensitive value. By
        default the only sensitive attribute.
    values : dict or Series, optional
        The number that each value stands for; by default they are numbers themselves.
    method : {"linear", "lower", "higher", "midpoint", "inverted_cdf", "averaged_inverted_cdf"}
        How it was computed, as of :func:`numpy.quantile`: "linear" is the default of NumPy, pandas, R and spreadsheets,
        by which the median of an even number of people is the mean of the two in the middle; "lower" is the lower of
        the two; "inverted_cdf" the first number at which q of all are reached (PERCENTILE_DISC of SQL), and
        "averaged_inverted_cdf" the default of SAS.
    decimals : int, optional
        To how many decimals the quantile is rounded; None: it is not.

    Raises
    ------
    StatementError, BadProbability
        If an argument cannot be read; when added to a model, if nobody can have such a number, or it is known anyway.
    UnknownName, TableError
        When added to a model, if it has no such attribute or value, or values are no numbers.

    Notes
    -----
    Two linear rows say all of a quantile that is one of the numbers: the least, the largest, the lower median, the
    median of an odd number of people. Between two neighbours it is a disjunction, one of all pairs of values that have
    v between them: its rows, a relaxation, are what all pairs have in common, and ``model.bounds(..., integer=True)``
    tries the pairs, which is exact (of a known number of people).

    How many are as described need not be known: then the rows are n's multiples, exact for whole numbers of people; of
    two neighbours they say only that one is v at most and the other v at least.

    Examples
    --------
    Three people whose median is 30, and who earn 20, 30 or 40 each: two cannot earn 20, nor can two earn 40.

    >>> import maxent_cvx as mx, pandas as pd
    >>> view = mx.QITable(pd.DataFrame({"age": [25, 41, 47]}), qi="age", sa="income", sa_values=[20, 30, 40])
    >>> model = mx.MaxEnt(view).add(mx.PublishedQuantile(30))
    >>> model.solve().conditional().iloc[0].round(3).to_list()
    [0.333, 0.333, 0.333]
    >>> model.bounds(mx.P(20), integer=True)
    (0.0, 0.3333333333333333)
    """

    def __init__(
        self,
        value: float,
        q: float | Fraction = 0.5,
        *,
        given: Mapping[str, object] | None = None,
        of: str | None = None,
        values: Mapping[object, float] | pd.Series | None = None,
        method: str = "linear",
        decimals: int | None = None,
    ) -> None:
        self.value, self.q = number(value, "the quantile"), as_fraction(q)
        chosen = arguments.mapping({} if given is None else given, "given", "{attribute: value}")
        self.given = {name: choose(one, name) for name, one in chosen.items()}
        self.of = None if of is None else arguments.text(of, "of")
        self.values, self.method = values, arguments.choice(method, "method", METHODS)
        half_unit(self.value, decimals, "the quantile")
        self.decimals = decimals

    @property
    def label(self) -> str:
        """What it is of, and of whom."""
        kind = NAMES.get(self.q, f"{float(self.q):g}-quantile")
        of = f" of {written(self.of)}" if self.of else ""
        return f"{kind}{of}{among(self.given)} is {self.value:.12g}"

    @property
    def identity(self) -> Hashable:
        """What it says, if the values are numbers themselves; else no other says the same."""
        if self.values is not None:
            return id(self)
        told = self.value, self.q, frozenset(self.given.items()), self.of, self.method, self.decimals
        return PublishedQuantile, *told

    def rows(self, space: Space) -> Iterator[Rows]:
        """Emit what is linear of it: how many people are below and above.

        Parameters
        ----------
        space : Space
            The terms of the model, by which rows are numbered.

        Yields
        ------
        Rows
            Numbers of people; of an unknown number n of people less a multiple of n.

        Raises
        ------
        UnknownName, TableError
            If the view has no such attribute or value, or values are no numbers.
        StatementError
            If nobody can be as described, or have such a number, or it is known anyway.

        Examples
        --------
        >>> import maxent_cvx as mx, pandas as pd
        >>> view = mx.QITable(pd.DataFrame({"age": [25, 41, 47]}), qi="age", sa="income", sa_values=[20, 30, 40])
        >>> (rows,) = mx.PublishedQuantile(30).rows(mx.MaxEnt(view).space)
        >>> [(rows.name(i), rows.low[i].item(), rows.high[i].item()) for i in range(len(rows))]
        [('median is 30: number <= 30', 2.0, inf), ('median is 30: number < 30', -inf, 1.0)]
        """
        people = subjects(space, self.of, self.given, self.values)
        check_attainable(self._quantile(), people, self.label)
        yield quantile_rows(self._quantile().counts(people), people, space, self.label)

    def alternatives(self, space: Space) -> list[list[Rows]]:
        """What it can mean, one of which is true; all of it linear.

        Parameters
        ----------
        space : Space
            The terms of the model.

        Returns
        -------
        list of list of Rows
            A list for each pair of neighbours that have the value between them.

        Raises
        ------
        UnknownName, TableError, StatementError
            As of :meth:`rows`.

        Examples
        --------
        >>> import maxent_cvx as mx, pandas as pd
        >>> view = mx.QITable(pd.DataFrame({"age": [25, 41]}), qi="age", sa="income", sa_values=[20, 30, 40])
        >>> [rows.label for (rows,) in mx.PublishedQuantile(30).alternatives(mx.MaxEnt(view).space)]
        ['median is 30, of 20 and 40', 'median is 30, of 30 and 30']
        """
        people = subjects(space, self.of, self.given, self.values)
        check_attainable(self._quantile(), people, self.label)
        return [[rows] for rows in alternatives(self._quantile(), people, space, self.label)]

    def _quantile(self) -> Quantile:
        """Between which values it lies."""
        half = half_unit(self.value, self.decimals, "the quantile")
        return Quantile(self.q, self.method, self.value - half, self.value + half)


def as_fraction(q: object) -> Fraction:
    """Read a share of the people, from 0 to 1, as the rational number that was meant.

    Raises
    ------
    BadProbability
        If it is none.
    """
    if isinstance(q, Fraction):
        found = q
    else:
        typed = arguments.real(q, "q", 0.0, 1.0)
        found = Fraction(typed).limit_denominator(DENOMINATORS)
        found = found if float(found) == typed else Fraction(np.format_float_positional(typed))
    if not 0 <= found <= 1:
        raise BadProbability(f"q={q}: a number from 0 to 1 is expected")
    if found.denominator > 10**6:
        raise StatementError(f"q={q}: a share with at most six decimals, or a Fraction, is expected")
    return found

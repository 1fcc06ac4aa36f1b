"""Cov(x, y) of a quasi-identifier x with a sensitive number y, as an expression that is compared."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import scipy.sparse as sp

from ...errors import arguments
from ...tables.selection import choose, written
from ..numbers.numbers_of_terms import known_members, responses, told_numbers
from ..regression.design_matrix import design_matrix
from ..statements.probability import Probability
from ..statements.statement import Event, conditions

if TYPE_CHECKING:
    from ...terms.space import Space

__all__ = ["Covariance", "ExpectedProduct"]


def Covariance(
    x: str, y: Mapping[object, float] | pd.Series | str, given: Mapping[str, object] | None = None
) -> Probability:
    """Cov(x, y | given) = E[(x - E x) y | given], of a known number x with a sensitive one, to be compared.

    Parameters
    ----------
    x : str
        A quasi-identifier whose values are numbers, "age"; an indicator, "sex=F"; or a product of these.
    y : dict, Series or str
        The number of each sensitive value, ``{"yes": 1}``, all others being 0; or the name of a sensitive attribute
        whose values are numbers.
    given : dict, optional
        QI attribute to a value, a list of values, or a :class:`pandas.Interval`. None: among everybody.

    Returns
    -------
    Probability
        A linear combination of probabilities, as of :func:`P`: ``Covariance("age", {"yes": 1}) >= 0`` says that the ill
        are no younger than the others.

    Raises
    ------
    StatementError, BadProbability
        If the arguments cannot be read. Whether names exist, and values are numbers, is checked when a model gets it.

    Notes
    -----
    E[xy] - E[x] E[y] is linear in P since E[x] is known from the quasi-identifiers. It is the mean product, divided by
    n; one that was divided by n - 1 is n / (n - 1) times it.

    Examples
    --------
    >>> import maxent_cvx as mx, pandas as pd
    >>> people = pd.DataFrame({"age": [20, 40, 60, 80]})
    >>> view = mx.QITable(people, qi="age", sa="ill", sa_distribution=pd.Series({"no": 2, "yes": 2}))
    >>> elder = mx.Covariance("age", {"yes": 1})
    >>> elder >= 8
    <Statement: Cov(age, yes) >= 8>
    >>> least, most = mx.MaxEnt(view).bounds(elder)                  # of those aged 60 and 80: (10 + 30) / 4
    >>> round(least, 9), round(most, 9)
    (-10.0, 10.0)
    >>> mx.MaxEnt(view).add(elder == 10).solve().conditional()["yes"].round(6).to_list()
    [0.0, 0.0, 1.0, 1.0]
    """
    told = y if isinstance(y, str) else frozenset(told_numbers(y, "y").items())
    chosen = arguments.mapping({} if given is None else given, "given", "{attribute: value}")
    among = frozenset((name, choose(value, name)) for name, value in chosen.items())
    return Probability({ExpectedProduct(frozenset(), among, None, arguments.text(x, "x"), told): 1.0})


@dataclass(frozen=True)
class ExpectedProduct(Event):
    """Cov(x, y | given): a sum over people, each with (x - E x) y.

    Attributes
    ----------
    x : str
        A column, as of a regression.
    y : str or frozenset of (value, float)
        A sensitive attribute, or the number of each value.
    """

    x: str = ""
    y: str | frozenset[tuple[object, float]] = ""

    @property
    def least(self) -> float:
        """Any number."""
        return -math.inf

    @property
    def most(self) -> float:
        """Any number."""
        return math.inf

    def __str__(self) -> str:
        if isinstance(self.y, str):
            y = written(self.y)
        else:
            y = " + ".join(sorted(written(value) if a == 1 else f"{a:g} {written(value)}" for value, a in self.y))
        given = conditions(self.given)
        return f"Cov({self.x}, {y} | {given})" if given else f"Cov({self.x}, {y})"

    def row(self, space: Space) -> sp.csr_array:
        """Coefficients on p, shape (1, terms)."""
        place, factors = self.exact(space)
        row = sp.csr_array(np.array([float(factor) for factor in factors])[place][None])
        row.eliminate_zeros()
        return row

    def exact(self, space: Space) -> tuple[np.ndarray, list[Fraction]]:
        """Coefficients on p in rational numbers: for every term its place among the different ones."""
        known_members(space.view, "a covariance")
        people = space.view.n_q * space.described(dict(self.given))
        different, of_tuple = np.unique(design_matrix(space.view, [self.x])[:, 0], return_inverse=True)
        number = np.bincount(of_tuple, people, len(different)).astype(np.int64).tolist()
        x = [Fraction(one) for one in different.tolist()]
        n = sum(number)
        mean = sum((k * one for k, one in zip(number, x, strict=True)), Fraction(0)) / n
        values, of_value = np.unique(
            responses(space.view, self.y if isinstance(self.y, str) else dict(self.y)), return_inverse=True
        )
        y = [Fraction(one) for one in values.tolist()]
        q, s = space.codes["q"], space.codes["s"]
        place = np.where(people[q] > 0, 1 + of_tuple[q] * len(y) + of_value[s], 0)
        return place, [Fraction(0), *(Fraction(space.n_records, n) * (a - mean) * b for a in x for b in y)]

"""Answers that a statistical database gave: how many people, what their values sum to, or are on average."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction

import numpy as np
import pandas as pd
import scipy.sparse as sp

from ...errors import BadProbability, StatementError, arguments, number, shown, unknown_name
from ...tables.numbers import numbers_of, one_or_several
from ...tables.selection import choose, written
from ...terms.axes import level_of
from ...terms.rows import Rows
from ...terms.space import Space
from ...views import OUTSIDE
from ..base import Source
from ..moments.order_statistics import Quantile
from ..moments.quantile_rows import check_attainable, quantile_rows
from ..moments.subjects import subjects
from .integer_counts import integer_counts
from .noise import Noise, noise_interval

__all__ = ["AnsweredQueries"]

#: Multiples of this below the other are products and sums of doubles without any rounding.
SHORT, SMALL = 2.0**-10, 2.0**42
KINDS = ("count", "sum", "mean", "median", "min", "max")
#: Those that are quantiles: which.
QUANTILES = {"min": Fraction(0), "median": Fraction(1, 2), "max": Fraction(1)}


class AnsweredQueries(Source):
    """``|N sum_(q in Q) sum_s w(s) P(q, s) - answer| <= eps`` for every query Q: COUNT, SUM or AVG of those asked.

    MEDIAN, MIN and MAX are counts of those below and above, as of :class:`PublishedQuantile`.

    Parameters
    ----------
    queries : list of dict
        Whom each query is about: attribute to a value, a list of values, or a pandas Interval; ``{}`` is everybody.
        Attributes are quasi-identifiers, and sensitive ones too (not of a mean).
    answers : list of float
        One a query: people, or the unit of the values.
    of : {"count", "sum", "mean", "median", "min", "max"}
        What was asked for: w(s) = 1, the number s, or s / n(Q), with n(Q) known from the quasi-identifiers. The
        median of an even number of people is the mean of the two in the middle.
    eps : float or list of float
        How far each answer may be from the truth, rounded to tens by 5, say. A side that says nothing is left out.
    noise : frozen distribution of scipy.stats, optional
        Of what was added to every answer besides, ``scipy.stats.laplace(scale=2)`` for instance.
    confidence : float
        With what probability all rows are true together, if there is noise; as of :class:`NoisyMarginal`.
    integer : bool
        Counts are whole, as everybody knows; False takes the interval as it is.
    attribute : str, optional
        Of several sensitive attributes, which is summed.
    values : dict or Series, optional
        The number that each value of the attribute stands for; by default they are numbers themselves.

    Raises
    ------
    StatementError, BadProbability
        If an argument cannot be read; when added to a model, if a query is about nobody.
    UnknownName, TableError
        When added to a model, if it has no such attribute or value, or values are no numbers.

    Notes
    -----
    Of linear queries the answers are linear in P; so the range sums of CAE, section 5, are knowledge like any other.

    Examples
    --------
    Two means of salaries, rounded to thousands. That of the twenties is next to the lowest salary, which leaves both
    people hardly another one; with it, the mean of the women points to the salary of the elder:

    >>> import maxent_cvx as mx, pandas as pd
    >>> staff = pd.DataFrame({"Age": [25, 28, 41, 47], "Sex": ["F", "M", "F", "M"]})
    >>> view = mx.QITable(staff, qi=["Age", "Sex"], sa="Salary", sa_values=[30, 40, 50])
    >>> twenties = {"Age": pd.Interval(20, 29, closed="both")}
    >>> source = mx.AnsweredQueries([twenties, {"Sex": "F"}], [30, 40], of="mean", eps=0.5)
    >>> print(mx.MaxEnt(view).add(source).solve().conditional().round(2))
    Salary     30    40    50
    Age Sex
    25  F    0.92  0.07  0.01
    28  M    0.99  0.01  0.00
    41  F    0.02  0.14  0.84
    47  M    0.33  0.33  0.33
    """

    def __init__(
        self,
        queries: Iterable[Mapping[str, object]],
        answers: Iterable[float],
        of: str = "count",
        *,
        eps: float | Iterable[float] = 0.0,
        noise: Noise | None = None,
        confidence: float = 0.95,
        integer: bool = True,
        attribute: str | None = None,
        values: Mapping[object, float] | pd.Series | None = None,
    ) -> None:
        if isinstance(queries, Mapping | str) or not arguments.is_several(queries):
            raise StatementError(f"queries must be a list of {{attribute: value}}, not {shown(queries)}")
        self.queries = list(queries)
        if bad := [one for one in self.queries if not isinstance(one, Mapping)]:
            raise StatementError(f"a query is {{attribute: value}}, not {shown(bad[0])}")
        arguments.choice(of, "of", KINDS)
        arguments.flag(integer, "integer")
        listed, half_widths = one_or_several(answers), one_or_several(eps)
        if len(listed) == 1 and listed[0] is answers:
            raise StatementError(f"answers must be a list of numbers, not {shown(answers)}")
        self.answers = np.array([number(one, f"answer {i}") for i, one in enumerate(listed, 1)], dtype=float)
        half_widths = half_widths * len(self.queries) if len(half_widths) == 1 else half_widths
        self.eps = np.array([number(one, "eps") for one in half_widths], dtype=float)
        if not len(self.queries) == len(self.answers) == len(self.eps) or not len(self.queries):
            raise StatementError(
                f"there are {len(self.queries)} queries, {len(self.answers)} answers and {len(self.eps)} eps; as many "
                "of each are expected, and one at least"
            )
        if (self.eps < 0).any():
            raise BadProbability(f"eps must not be negative: {self.eps.min():.12g}")
        if of == "count" and (attribute is not None or values is not None):
            raise StatementError(
                "a count adds no values up: attribute= and values= are of sums and means; leave them out"
            )
        self.noise = (0.0, 0.0) if noise is None else noise_interval(noise, confidence, len(self.queries))
        self.of, self.attribute, self.values, self.integer = of, attribute, values, integer

    @property
    def label(self) -> str:
        """What was asked for, of whom, and how often."""
        more = len(self.queries) - 1
        return f"{self.of} of {_text(self.queries[0])}" + (f" and {more} more" if more else "")

    def rows(self, space: Space) -> Iterator[Rows]:
        """Emit a row a query, in the unit of its answer; a count that may be any emits none.

        Parameters
        ----------
        space : Space
            The terms of the model, by which rows are numbered.

        Yields
        ------
        Rows
            answer - eps <= N sum w(s) P(q, s) <= answer + eps; wider by the quantiles of the noise, if there is any.

        Raises
        ------
        UnknownName, TableError
            If the view has no such attribute or value, or values are no numbers.
        StatementError
            If a query is about nobody, nobody can have the answer, a mean is of a population or of sensitive values, or
            no whole number is an answer.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> source = mx.AnsweredQueries([{"Gender": "male", "Disease": "Flu"}], [2], eps=1)
        >>> (rows,) = source.rows(mx.MaxEnt(release).space)
        >>> rows.name(0), rows.low.tolist(), rows.high.tolist()                  # people
        ('count: Gender=male, Disease=Flu', [1.0], [3.0])
        """
        if self.of in QUANTILES:
            yield from self._quantiles(space)
            return
        view = space.view
        inside = np.asarray(view.sensitive_values.to_flat_index() != OUTSIDE)  # of a population
        if self.of == "mean" and not inside.all():
            raise StatementError(
                "how many people of a population are in the release is not known, and so no mean of them; "
                "ask for a sum, and for a count"
            )
        weight = inside.astype(float) if self.of == "count" else self._numbers(space)
        coefficients, entries, people, names = [], [], [], []
        for query in self.queries:
            mask, n, value = self._asked(space, query)
            at = np.flatnonzero(mask[space.codes["q"]] & value[space.codes["s"]])
            w = weight[space.codes["s"][at]]
            at, w = at[w != 0], w[w != 0]
            people.append(n)
            entries.append(at)
            coefficients.append(w * space.n_records / (people[-1] if self.of == "mean" else 1))
            names.append(_text(query))
        indptr = np.cumsum([0, *map(len, entries)])
        matrix = sp.csr_array(
            (np.concatenate(coefficients), np.concatenate(entries), indptr), shape=(len(names), len(space))
        )
        least, most = self.noise
        low, high = self.answers - self.eps - most, self.answers + self.eps - least
        if self.of == "count":
            low, high = self._people(low, high, np.array(people), names)
        said = np.flatnonzero(np.isfinite(low) | np.isfinite(high))
        short = (weight, matrix.data, self.answers, self.eps, np.array(self.noise))
        exact = self.of != "mean" and all(map(_is_short, short))
        yield Rows(matrix, low, high, self.of, pd.Index(names), view, exact=exact).at(said)

    def _quantiles(self, space: Space) -> Iterator[Rows]:
        """Emit the rows of a median, the least or the largest number, query by query."""
        least, most = self.noise
        for query, low, high in zip(
            self.queries, self.answers - self.eps - most, self.answers + self.eps - least, strict=True
        ):
            people = subjects(space, self.attribute, query, self.values)
            quantile = Quantile(QUANTILES[self.of], "linear", float(low), float(high))
            label = f"{self.of}: {_text(query)}"
            check_attainable(quantile, people, label, "was it rounded, or further from the truth: eps=...?")
            yield quantile_rows(quantile.counts(people), people, space, label)

    def _people(
        self, low: np.ndarray, high: np.ndarray, people: np.ndarray, names: list[str]
    ) -> tuple[np.ndarray, np.ndarray]:
        """Counts are whole; and what nobody doubts, at least none and at most all, is left out."""
        vague = low < high
        if self.integer:
            low, high = integer_counts(low, high, names, "an answer to")
        return np.where(vague & (low <= 0), -np.inf, low), np.where(vague & (high >= people), np.inf, high)

    def _asked(self, space: Space, query: Mapping[str, object]) -> tuple[np.ndarray, int, np.ndarray]:
        """Mark the QI tuples that a query is about, tell their records, and mark the sensitive values."""
        view = space.view
        of_value = {name: one for name, one in query.items() if name in view.sensitive}
        value = np.ones(len(view.sensitive_values), dtype=bool)
        for name, one in of_value.items():
            if self.of == "mean":
                raise StatementError(
                    f"a mean query names {name!r}, which is sensitive: how many people it is about is not known; "
                    "ask for a sum, and for a count"
                )
            codes, level = level_of(view.sensitive_values, view.sensitive.index(name))
            value &= choose(one, name).mask(level, name)[codes]
        given = {name: one for name, one in query.items() if name not in of_value}
        return space.described(given), space.records_described(given), value

    def _numbers(self, space: Space) -> np.ndarray:
        """The number of every sensitive value."""
        view = space.view
        if self.attribute is None and len(view.sensitive) > 1:
            raise StatementError(f"a {self.of} is of one of {list(view.sensitive)}; say which: attribute=...")
        name = self.attribute or view.sensitive[0]
        if name not in view.sensitive:
            raise unknown_name("sensitive attribute", name, view.sensitive)
        codes, level = level_of(view.sensitive_values, view.sensitive.index(name))
        inside = np.asarray(level != OUTSIDE)
        found = np.zeros(len(level))
        found[inside] = numbers_of(level[inside].rename(name), self.values).astype(float)
        return found[codes]


def _text(query: Mapping[str, object]) -> str:
    """Whom a query is about."""
    return ", ".join(f"{written(name)}={choose(one, name)}" for name, one in query.items()) or "everybody"


def _is_short(numbers: np.ndarray) -> bool:
    """Whether numbers have so few digits that what is made of them is not rounded."""
    return bool(((np.rint(numbers / SHORT) * SHORT == numbers) & (np.abs(numbers) < SMALL)).all())

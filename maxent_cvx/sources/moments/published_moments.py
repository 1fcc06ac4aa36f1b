"""Published means and standard deviations: of a sensitive number, or of a quasi-identifier in a class."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd
import scipy.sparse as sp

from ...errors import BadProbability, StatementError, arguments, number
from ...tables.selection import choose, written
from ...terms.rows import Rows
from ...terms.space import Space
from ..base import Source
from .rounding import COMPUTED, half_unit
from .subjects import Subjects, among, subjects

__all__ = ["PublishedMoments"]


class PublishedMoments(Source):
    """``E[x] = m`` and ``E[(x - m)^2] = (n - ddof) / n sd^2``: a mean, and the standard deviation about it.

    Parameters
    ----------
    mean : float
        In the unit of the numbers.
    sd : float, optional
        The standard deviation, in the same unit.
    of : str, optional
        What they are of: a sensitive attribute, or a quasi-identifier of those who have a sensitive value, "age" given
        {"Disease": "Flu"}. By default the only sensitive attribute.
    given : dict, optional
        Of whom, as of :func:`P`; sensitive attributes may be among the conditions.
    values : dict or Series, optional
        The number that each value stands for; by default they are numbers themselves.
    ddof : int
        The sum of squares was divided by n - ddof: 1 as pandas, R and spreadsheets' STDEV do, 0 as NumPy does.
    decimals : int or (int, int), optional
        To how many decimals both, or the mean and the standard deviation, are rounded. None: they are published as they
        were computed, in double precision.

    Raises
    ------
    StatementError, BadProbability
        If an argument cannot be read; when added to a model, if nobody is as described, or too few for `ddof`.
    UnknownName, TableError
        When added to a model, if it has no such attribute or value, or values are no numbers.

    Notes
    -----
    A standard deviation is linear because the mean is published: about m, E[(x - m)^2] is the variance plus the square
    of what m is off by, at most half a unit of its last decimal. Where it is not known how many are as described, as in
    a class of which no count is published, rows are multiplied by their number, E[(x - m) 1] = 0, and as exact.

    Examples
    --------
    The "Table 1" of a paper: those ill were 70.0 (14.1) years old. How many there are is not told; of these four people
    they are the two elder ones:

    >>> import maxent_cvx as mx, pandas as pd
    >>> view = mx.QITable(pd.DataFrame({"age": [20, 40, 60, 80]}), qi="age", sa="ill", sa_values=["no", "yes"])
    >>> told = mx.PublishedMoments(70.0, 14.1, of="age", given={"ill": "yes"}, decimals=1)
    >>> mx.MaxEnt(view).add(told).bounds(mx.P("yes", given={"age": 60}), integer=True)
    (1.0, 1.0)
    """

    def __init__(
        self,
        mean: float,
        sd: float | None = None,
        *,
        of: str | None = None,
        given: Mapping[str, object] | None = None,
        values: Mapping[object, float] | pd.Series | None = None,
        ddof: int = 1,
        decimals: int | tuple[int, int] | None = None,
    ) -> None:
        self.mean = number(mean, "the mean")
        self.sd = None if sd is None else arguments.real(sd, "sd", 0.0)
        self.of = None if of is None else arguments.text(of, "of")
        chosen = arguments.mapping({} if given is None else given, "given", "{attribute: value}")
        self.given = {name: choose(one, name) for name, one in chosen.items()}
        self.values, self.ddof = values, arguments.whole(ddof, "ddof", 0)
        places = decimals if isinstance(decimals, tuple | list) else (decimals, decimals)
        if len(places) != 2:
            raise BadProbability(
                f"decimals={decimals!r}: a whole number, or one of the mean and one of sd, is expected"
            )
        self.half = half_unit(self.mean, places[0], "the mean"), half_unit(self.sd or 0.0, places[1], "sd")

    @property
    def label(self) -> str:
        """What they are of, and of whom."""
        kind = "mean" if self.sd is None else "mean and sd"
        told = f"{self.mean:.12g}" + ("" if self.sd is None else f" ({self.sd:.12g})")
        return f"{kind}{f' of {written(self.of)}' if self.of else ''}{among(self.given)}: {told}"

    def rows(self, space: Space) -> Iterator[Rows]:
        """Emit the rows of the mean, and of the standard deviation.

        Parameters
        ----------
        space : Space
            The terms of the model, by which rows are numbered.

        Yields
        ------
        Rows
            low <= E[x] <= high, and of the squares; of an unknown number of people, sums of differences.

        Raises
        ------
        UnknownName, TableError
            If the view has no such attribute or value, or values are no numbers.
        StatementError
            If nobody is as described, or too few for `ddof`, or it is known of quasi-identifiers.

        Examples
        --------
        >>> import maxent_cvx as mx, pandas as pd
        >>> view = mx.QITable(pd.DataFrame({"age": [25, 41]}), qi="age", sa="income", sa_values=[20, 30, 40])
        >>> (rows,) = mx.PublishedMoments(30, 14.14, decimals=(0, 2)).rows(mx.MaxEnt(view).space)
        >>> [rows.name(i) for i in range(len(rows))]
        ['mean and sd: 30 (14.14): mean', 'mean and sd: 30 (14.14): mean square about it']
        >>> rows.low.round(2).tolist(), rows.high.round(2).tolist()         # 14.14^2 / 2, and half a unit squared
        ([29.5, 99.9], [30.5, 100.29])
        """
        people = subjects(space, self.of, self.given, self.values)
        if people.n is None:
            yield self._of_unknown_number(people, space)
            return
        n, (h, _) = people.n, self._halves(people)
        low, high = [self.mean - h], [self.mean + h]
        weights = [people.x]
        if self.sd is not None:
            if n <= self.ddof:
                raise StatementError(
                    f"{self.label}: of {n} people there is no standard deviation with ddof={self.ddof}"
                )
            least, most = self._variances(people)
            square = self._squares(people, n)
            low.append(least * (n - self.ddof) / n)
            high.append(most * (n - self.ddof) / n + h**2 if most else 0.0)
            weights.append(square)
        names = ["mean", "mean square about it"][: len(low)]
        yield self._rows(np.array(weights) / n, np.array([low, high]), names, people, space)

    def _of_unknown_number(self, people: Subjects, space: Space) -> Rows:
        """The same, multiplied by the number of people."""
        x, (h, _) = people.x, self._halves(people)
        weights = [x - (self.mean - h), x - (self.mean + h), np.ones(len(x))]
        sides = [(0.0, np.inf), (-np.inf, 0.0), (1.0 + self.ddof * (self.sd is not None), np.inf)]
        names = ["mean, low", "mean, high", "people"]
        if self.sd is not None:
            square, (least, most) = self._squares(people, space.n_records), self._variances(people)
            weights += [square - least, square - most - (h**2 if most else 0.0)]
            sides += [(-self.ddof * least, np.inf), (-np.inf, -self.ddof * most)]
            names += ["sd, low", "sd, high"]
        return self._rows(np.array(weights), np.array(sides).T, names, people, space)

    def _halves(self, people: Subjects) -> tuple[float, float]:
        """How far mean and standard deviation may be off."""
        size = float(np.abs(people.x).max()), float(np.abs(people.x - self.mean).max())
        return max(self.half[0], COMPUTED * size[0]), max(self.half[1], COMPUTED * max(size))

    def _variances(self, people: Subjects) -> tuple[float, float]:
        """The least and the largest square of the standard deviation; of equal numbers 0, without any rounding."""
        assert self.sd is not None
        off = self._halves(people)[1]
        return max(self.sd - off, 0.0) ** 2, 0.0 if self._are_equal(people) else (self.sd + off) ** 2

    def _are_equal(self, people: Subjects) -> bool:
        """Whether the standard deviation is 0 but for rounding, and not rounded to 0."""
        return self.half[1] == 0 and self.sd is not None and self.sd <= self._halves(people)[1]

    def _squares(self, people: Subjects, n: int) -> np.ndarray:
        """(x - m)^2; of equal numbers 0 at what m is but for rounding, which n numbers are off by sqrt(n) at most."""
        off = np.abs(people.x - self.mean)
        nearest = 2 * np.sqrt(n) * self._halves(people)[1] if self._are_equal(people) else 0.0
        return np.where(off <= nearest, 0.0, off) ** 2

    def _rows(self, weights: np.ndarray, sides: np.ndarray, names: list[str], people: Subjects, space: Space) -> Rows:
        """Rows of sums over people, each with a weight."""
        row, at = np.nonzero(weights)
        data = weights[row, at] * space.n_records
        matrix = sp.csr_array((data, (row, people.terms[at])), shape=(len(weights), len(space)))
        return Rows(matrix, sides[0], sides[1], self.label, pd.Index(names), space.view)

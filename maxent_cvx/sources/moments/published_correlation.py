"""A published correlation of a quasi-identifier with a sensitive number."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd
import scipy.sparse as sp

from ...errors import StatementError, arguments, shown
from ...tables.selection import choose
from ...terms.rows import Rows
from ...terms.space import Space
from ..base import Source
from ..numbers.numbers_of_terms import known_members, responses, told_numbers, written_numbers
from ..numbers.whole_sums import whole_sums
from ..regression.design_matrix import design_matrix
from .rounding import COMPUTED, half_unit
from .subjects import among

__all__ = ["PublishedCorrelation"]


class PublishedCorrelation(Source):
    """``E[(x - E x) y] = r sd(x) sd(y)``: Pearson's correlation r of a known number x with a sensitive one.

    Parameters
    ----------
    r : float
        From -1 to 1.
    of : (str, dict or str)
        x and y. x is a quasi-identifier whose values are numbers, an indicator "sex=F", or a product of these; y the
        number of each sensitive value, ``{"low": 1}``, all others being 0, or the name of a sensitive attribute whose
        values are numbers.
    sd : float, optional
        The standard deviation of y, which must be published for a correlation to be linear. None: it follows from how
        many people have each value, if that is published.
    ddof : int
        The sum of squares of `sd` was divided by n - ddof: 1 as pandas and R do, 0 as NumPy does. The correlation is
        the same.
    given : dict, optional
        Of whom, by quasi-identifiers, as of :func:`P`. None: of everybody.
    decimals, sd_decimals : int, optional
        To how many decimals each is rounded. None: they are published as they were computed, in double precision.

    Raises
    ------
    StatementError, BadProbability
        If an argument cannot be read; when added to a model, if no standard deviation is known, if x is the same for
        everybody, or who is in the release is not known.
    UnknownName, TableError
        When added to a model, if it has no such attribute or value, or values are no numbers.

    Notes
    -----
    E x and sd(x) are known from the quasi-identifiers. The mean of y need not be: E[(x - E x) y] is the covariance.
    For y that is 0 or 1 with a published mean m, sd is sqrt(m (1 - m)) with ddof=0.

    Examples
    --------
    Two of four people are ill, and their correlation with age is 4 / sqrt(20) = 0.894, the largest that there is:

    >>> import maxent_cvx as mx, pandas as pd
    >>> people = pd.DataFrame({"age": [20, 40, 60, 80]})
    >>> view = mx.QITable(people, qi="age", sa="ill", sa_distribution=pd.Series({"no": 2, "yes": 2}))
    >>> told = mx.PublishedCorrelation(0.894, ("age", {"yes": 1}), decimals=3)
    >>> mx.MaxEnt(view).add(told).solve().conditional()["yes"].round(3).to_list()
    [0.0, 0.0, 1.0, 1.0]
    """

    def __init__(
        self,
        r: float,
        of: tuple[str, Mapping[object, float] | pd.Series | str],
        *,
        sd: float | None = None,
        ddof: int = 1,
        given: Mapping[str, object] | None = None,
        decimals: int | None = None,
        sd_decimals: int | None = None,
    ) -> None:
        self.r = arguments.real(r, "r", -1.0, 1.0)
        if not isinstance(of, tuple | list) or len(of) != 2:
            raise StatementError(f"of must be a pair, ('age', {{'low': 1}}), not {shown(of)}")
        self.x = arguments.text(of[0], "the first of the pair")
        self.y = of[1] if isinstance(of[1], str) else told_numbers(of[1], "the second of the pair")
        self.sd = None if sd is None else arguments.real(sd, "sd", 0.0)
        self.ddof = arguments.whole(ddof, "ddof", 0)
        chosen = arguments.mapping({} if given is None else given, "given", "{attribute: value}")
        self.given = {name: choose(one, name) for name, one in chosen.items()}
        if sd is None and sd_decimals is not None:
            raise StatementError("sd_decimals= is of sd=, which is not given; leave it out")
        self.half = half_unit(self.r, decimals, "r"), half_unit(self.sd or 0.0, sd_decimals, "sd")

    @property
    def label(self) -> str:
        """What is correlated, and of whom."""
        return f"correlation of {self.x} and {written_numbers(self.y)}{among(self.given)}: {self.r:.12g}"

    def rows(self, space: Space) -> Iterator[Rows]:
        """Emit one row, n^2 times the covariance, which is a whole number if x and y are whole.

        Parameters
        ----------
        space : Space
            The terms of the model, by which rows are numbered.

        Yields
        ------
        Rows
            low <= n sum x y - sum x sum y <= high.

        Raises
        ------
        UnknownName, TableError
            If the view has no such attribute or value, or values are no numbers.
        StatementError
            If no standard deviation is known, x is the same for everybody, or who is in the release is not known.

        Examples
        --------
        >>> import maxent_cvx as mx, pandas as pd
        >>> people = pd.DataFrame({"age": [20, 40, 60, 80]})
        >>> view = mx.QITable(people, qi="age", sa="ill", sa_values=["no", "yes"])
        >>> told = mx.PublishedCorrelation(0.9, ("age", {"yes": 1}), sd=0.5, ddof=0, decimals=1)
        >>> (rows,) = told.rows(mx.MaxEnt(view).space)
        >>> rows.low.item() / 4**2, rows.high.item() / 4**2          # sqrt(500) / 2 times 0.85 to 0.95: 9.503 to 10.621
        (9.5625, 10.5625)
        """
        view = space.view
        known_members(view, "a correlation")
        people = view.n_q * space.described(self.given)
        n = int(people.sum())
        values_of_x, y = design_matrix(view, [self.x])[:, 0], responses(view, self.y)
        if np.ptp(values_of_x[people > 0]) == 0:
            raise StatementError(f"{self.label}: {self.x!r} is the same for everybody, so that there is no correlation")
        x = np.where(people > 0, values_of_x - people @ values_of_x / n, 0.0)
        sd_x, (low, high) = float(np.sqrt(people @ x**2 / n)), self._deviations(space, y, n)
        ends = [max(self.r - self.half[0], -1.0), min(self.r + self.half[0], 1.0)]
        products = [r * sd for r in ends for sd in (low, high)]
        off = COMPUTED * (people @ np.abs(x) / n) * np.abs(y).max(initial=0.0)
        # n^2 times the covariance is the sum of (n x - sum x) y, which is whole if x and y are.
        weights = n * values_of_x[space.codes["q"]] - float(people @ values_of_x)
        data = np.where(people[space.codes["q"]] > 0, weights, 0.0) * y[space.codes["s"]]
        ends = [(side * sd_x) * n**2 for side in (min(products), max(products))]
        data, least, most, places = whole_sums(data, ends[0] - off * n**2, ends[1] + off * n**2)
        matrix = sp.csr_array((data * space.n_records)[None])
        matrix.eliminate_zeros()
        sides = np.array([least]), np.array([most])
        yield Rows(matrix, *sides, self.label, view=view, exact=places is not None)

    def _deviations(self, space: Space, y: np.ndarray, n: int) -> tuple[float, float]:
        """Between which numbers the standard deviation of y is, with ddof=0."""
        view = space.view
        if self.sd is not None:
            if n <= self.ddof:
                raise StatementError(
                    f"{self.label}: of {n} people there is no standard deviation with ddof={self.ddof}"
                )
            by = np.sqrt((n - self.ddof) / n)
            return by * max(self.sd - self.half[1], 0.0), by * (self.sd + self.half[1])
        if view.n_s is None or n != view.n_records:
            raise StatementError(
                f"{self.label}: the standard deviation of the sensitive number is not published, without which a "
                "correlation is not linear; give sd=... (of a number that is 0 or 1 it is the root of m (1 - m))"
            )
        mean = view.n_s @ y / n
        return (float(np.sqrt(view.n_s @ (y - mean) ** 2 / n)),) * 2

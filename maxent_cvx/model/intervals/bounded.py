"""What is certain of probabilities and of the cells of tables, as methods of a model."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd

from ...errors import SolverError, StatementError, arguments, shown
from ...sources import Probability, PublishedTable, read_probability
from ..adversary import Adversary
from ..time_limits import seconds_for
from .asked import of_combinations, of_conditionals, of_table
from .bounds import bounds_of

__all__ = ["BoundedAdversary"]

#: What a table is called that is asked about, if the model holds another one by the same attributes.
AUDITED = "audited table"

#: Which ends of an interval are attained: neither is 0, the low one 1, the high one 2, both 3.
EXACT = ("neither", "low", "high", "both")

#: People: an end of an interval that is so near to a whole number is taken for it, as bounds are proved up to this.
ROUNDOFF = 1e-6


class BoundedAdversary(Adversary):
    """An adversary who is asked what the rows alone imply, without maximum entropy."""

    def bounds(
        self,
        asked: Probability | str | Iterable[Probability | str] | None = None,
        integer: bool = False,
        *,
        exact: bool | None = None,
        time_limit: float | None = None,
        progress: bool | None = None,
    ) -> tuple[float, float] | pd.DataFrame:
        """Bound a probability over every distribution that satisfies the rows: what is known for certain of it.

        The posterior lies inside; how far the interval reaches on either side is what maximum entropy adds.

        Parameters
        ----------
        asked : Probability, str, or several; optional
            ``P("Flu", given={"Gender": "male"})``, ``"P(Flu | Gender=male)"``, or a linear combination. By default
            every P(s | q).
        integer : bool
            Over whole assignments only: everybody has exactly one value, which linear rows do not say. Only those
            independent parts of the model that the probability is about are asked: another may have none.
        exact : bool, optional
            Whether every end must be attained by some distribution. If not, linear programs are left out, and an end
            may be further outside. By default of what is asked for; and of every P(s | q) in independent parts of the
            model of up to 5,000 counts after presolve.
        time_limit : float, optional
            Seconds: for all together, or with `integer` for each. By default there is no limit, but 60 with `integer`.
        progress : bool, optional
            Show a progress bar over several; by default on a terminal or in a notebook.

        Returns
        -------
        (low, high), or a DataFrame with these columns and a row each for several
            Probabilities, never narrower than the truth: an exact end is outside by no more than 1e-6 records. Of
            every P(s | q) by QI attributes and sensitive value; a value that nobody with q can have is left out. There,
            a column `exact` says which ends are: "both", "low", "high" or "neither".

        Raises
        ------
        Infeasible
            If the knowledge contradicts the published data or itself.
        Inaccurate, SolverError
            If a linear program has no precise answer, or a constraint of the model is not linear.
        NotDecided
            If the time is over.
        UnknownName, StatementError
            If something else than a probability of this view is asked for.

        Notes
        -----
        Buckets without knowledge have a closed form. Elsewhere most ends are those of the bucket alone, and attained if
        all other buckets can make up for what that changes in the knowledge: one factorization answers it for all ends.
        What is left takes linear programs, which many ends share as long as that answers several of them. Soft rows may
        be missed, and bound nothing.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> model = mx.MaxEnt(release)
        >>> low, high = model.bounds("P(Flu | Gender=male)")
        >>> round(low, 6), round(high, 6)
        (0.166667, 0.5)
        >>> print(model.add("P(Breast Cancer | Gender=male) = 0").bounds().loc["female"].round(3).head(5))
                                low  high exact
        Degree   Disease
        college  Breast Cancer  0.5   0.5  both
                 Flu            0.0   0.5  both
                 HIV            0.0   0.5  both
                 Lung Cancer    0.0   0.5  both
                 Pneumonia      0.0   0.0  both
        """
        arguments.flag(integer, "integer")
        arguments.optional_flag(exact, "exact")
        seconds = seconds_for(time_limit, integer)
        arguments.optional_flag(progress, "progress")
        self._check_linear()
        if asked is None:
            every = of_conditionals(self.space)
            ends = bounds_of(every, self, integer, seconds, progress, exact)
            table = pd.DataFrame(ends.value.T, columns=["low", "high"], index=every.index)
            return table.assign(exact=np.array(EXACT)[ends.is_exact.T @ [1, 2]])
        together = list(asked) if isinstance(asked, Iterable) and not isinstance(asked, str) else [asked]
        combinations = [read_probability(a) if isinstance(a, str) else a for a in together]
        if strange := [a for a in combinations if not isinstance(a, Probability)]:
            raise StatementError(f"bounds are of probabilities such as P('Flu'), not of {shown(strange[0])}")
        several = of_combinations(combinations, self.space)
        found = bounds_of(several, self, integer, seconds, progress, exact is not False).value
        if isinstance(asked, Probability | str):
            return float(found[0, 0]), float(found[1, 0])
        return pd.DataFrame(found.T, columns=["low", "high"], index=several.index)

    def audit(
        self,
        table: PublishedTable,
        integer: bool = False,
        *,
        time_limit: float | None = None,
        progress: bool | None = None,
    ) -> pd.DataFrame:
        """Find the feasibility interval of every cell of a table that is suppressed or rounded: a disclosure audit.

        What an intruder can work out who knows all that the model holds, and the table, which need not be added.

        Parameters
        ----------
        table : PublishedTable
        integer : bool
            Over whole tables only: people are whole, in all cells at once.
        time_limit : float, optional
            Seconds: for all cells together, or with `integer` for each. By default there is no limit, but 60 with
            `integer`.
        progress : bool, optional
            Show a progress bar; by default on a terminal or in a notebook.

        Returns
        -------
        DataFrame
            A row a cell that is not published as it is, by the attributes of the table: `low` and `high`, people, and
            whether the cell is `certain`, only one whole number being between.

        Raises
        ------
        Infeasible
            If the table contradicts itself, or what else the model holds.
        Inaccurate, SolverError, NotDecided
            As :meth:`bounds`.
        StatementError, UnknownName
            If it is no table, or none of the people of this model.

        Notes
        -----
        The audit of suppression patterns in statistical disclosure control (Hundepool et al., 2012, chapter 4). Its
        programs would be integer; their linear relaxation, which is solved here and as a rule elsewhere, gives
        intervals that are never too narrow.

        Examples
        --------
        One cell was small. It is in a row and a column with totals, and nothing else was suppressed:

        >>> import maxent_cvx as mx, pandas as pd
        >>> cells = [("North", "Flu", "<5"), ("North", "Cold", 20), ("North", "*", 22)]
        >>> table = mx.PublishedTable(pd.DataFrame(cells, columns=["Region", "Disease", "n"]))
        >>> print(mx.MaxEnt(table.to_view(sa="Disease")).audit(table))
                        low  high  certain
        Region Disease
        North  Flu      2.0   2.0     True
        """
        arguments.instance(table, PublishedTable, "table")
        arguments.flag(integer, "integer")
        seconds = seconds_for(time_limit, integer)
        arguments.optional_flag(progress, "progress")
        self._check_linear()
        held = any(source.identity == table.identity for source in self.knowledge.values())
        model = self if held else self.copy().add(table, label=None if table.label not in self.knowledge else AUDITED)
        cells = np.flatnonzero(table.cells["low"].to_numpy() < table.cells["high"].to_numpy())
        asked = of_table(table, self.space, cells)
        low, high = bounds_of(asked, model, integer, seconds, progress).value
        certain = np.floor(high + ROUNDOFF) <= np.ceil(low - ROUNDOFF)
        return pd.DataFrame({"low": low, "high": high, "certain": certain}, index=asked.index)

    def _check_linear(self) -> None:
        """Refuse what linear programs cannot do."""
        if self.convex:
            raise SolverError("bounds are linear programs, and the model holds a convex constraint of your own")

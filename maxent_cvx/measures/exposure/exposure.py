"""Exposure: what was found, how it reads, and through which statements."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pandas as pd

from ...display import FirstRows, Shown
from ...errors import SolverError, one_line
from .intervals import Intervals
from .through import Through

__all__ = ["Exposure", "same_value"]


@dataclass(frozen=True, eq=False)
class Exposure(Shown):
    """The people who are exposed, and how often the likeliest value is the true one.

    Attributes
    ----------
    threshold : float
        The probability from which on a person counts as exposed.
    people : int
        How many people's most likely value, of those that count, has at least that probability.
    who : DataFrame
        Their QI tuples, and names where people are named (index), the value inferred, the likeliest of those that
        count, its probability `P`, its `baseline` if there is one, and how many `people` each row is.
    histogram : Series
        People by their largest P(s | q), of values s that count, in tenths.
    attack_success : float or None
        Share of all people whose most likely value is their true one, P(argmax = truth); only given
        the original records. A tie counts as a guess among its values; names are not used.
    values : DataFrame
        By judged value: its `baseline` P0, the mean over people; how many people are `exposed` by it, and for how many
        of these it is `certain`; for how many it is `not_counted`, as their P0 reaches the threshold, and of how many
        of these it is inferred `anyway` with that probability.
    uncounted : DataFrame
        By value: how many `people` who are not exposed have it for certain, P = 1, and `because` of what it does not
        count. Look at these: a value that nobody took for sensitive is known of them.
    warnings : tuple of str
        What must be known beside the number of people, in sentences.
    baseline : str or None
        "overall" or "in the baseline", whichever P0 was.
    within : float, Timedelta or None
        Where the sensitive values are numbers, times or ranks: two that differ by no more count as the same. None where
        they are labels.
    expected_error : float, Timedelta or None
        The expected distance of the value from the best guess, the median of P(s | q), mean over all people; of
        numbers, times or ranks.
    expected_error_before : float, Timedelta or None
        The same of somebody who knows only how many people have each value, where that is published.
    undecided : tuple of str
        Those of the warnings for which "nobody is exposed" may be false: the values look like numbers and are judged as
        labels, say. Give `within` to decide.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> hospital = mx.datasets.load_hospital()
    >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    >>> knows = mx.MaxEnt(release).add(mx.P("Breast Cancer", given={"Gender": "male"}) == 0).solve()
    >>> found = mx.measures.exposed(knows, threshold=0.8, original=hospital)
    >>> print(found)
    1 of 10 people exposed at P >= 0.8; guessing the likeliest value is right for 46.7%
    >>> found.histogram[found.histogram > 0].to_list()             # people by tenths: 0.3 to 0.4, ..., 0.9 to 1
    [2, 5, 2, 1]

    Beside what is known of everybody, and why:

    >>> found = mx.measures.exposed(knows, threshold=0.8, baseline="overall")
    >>> found.published_alone, found.statements["people"].to_dict()
    (0, {'P(Breast Cancer | Gender=male) = 0': 1})
    """

    threshold: float
    people: int
    who: pd.DataFrame
    histogram: pd.Series
    attack_success: float | None
    values: pd.DataFrame = field(default_factory=pd.DataFrame)
    uncounted: pd.DataFrame = field(default_factory=pd.DataFrame)
    warnings: tuple[str, ...] = ()
    baseline: str | None = None
    within: float | pd.Timedelta | None = None
    expected_error: float | pd.Timedelta | None = None
    expected_error_before: float | pd.Timedelta | None = None
    undecided: tuple[str, ...] = ()
    _intervals: Intervals | None = field(default=None, init=False)
    _meaning: str = field(default="", init=False)
    _scale: tuple[str, ...] = field(default=(), init=False)
    _verdict: tuple[str, ...] = field(default=(), init=False)
    _through: Through | None = field(default=None, init=False)

    @property
    def total(self) -> int:
        """How many people there are."""
        return int(self.histogram.sum())

    @property
    def meaning(self) -> str:
        """What exposes somebody, in words: "a value that has P < 0.8 overall is inferred with P >= 0.8"."""
        return self._meaning or f"a value is inferred with P >= {self.threshold:g}"

    @property
    def closeness(self) -> str:
        """How far from a value others count as the same, in words: "4,500", "30 days"; empty for equal values only."""
        return "" if self._intervals is None else self._intervals.scale.in_words(self._intervals.radius)

    @property
    def distances(self) -> tuple[str, ...]:
        """Which values count as the same, and how far off the best guess is, in sentences; empty for labels."""
        return self._scale

    @property
    def lift(self) -> pd.Series:
        """How many times as large as its baseline the probability of each row of `who` is; empty without a baseline."""
        if "baseline" not in self.who:
            return pd.Series(dtype=float, name="lift")
        with np.errstate(divide="ignore"):
            return pd.Series(self.who["P"].to_numpy() / self.who["baseline"].to_numpy(), self.who.index, name="lift")

    @cached_property
    def published_alone(self) -> int:
        """How many of the exposed people would be exposed if nothing were known but what is published, and a prior.

        Raises
        ------
        StatementError
            Of a release in partitions, or if the posterior was loaded from a file without `verify`.
        SolverError
            If the model without knowledge could not be solved.
        """
        return Through.checked(self._through).published_alone

    @cached_property
    def statements(self) -> pd.DataFrame:
        """Through which statements people are exposed: with less knowledge the model is solved again, on first reading.

        A row a statement, that without which fewest people stay exposed first; if the knowledge has more than 50 rows,
        a row a source:

        * `people`: how many of those exposed are not, once this statement alone is left out: it is necessary;
        * `alone`: how many of those exposed are so by what is published and this statement only, and not by what is
          published: it is sufficient;
        * `without`: how many are exposed without it, who may be others;
        * `raises`: by how much it raises P(s | q) of the value that exposes them, mean over the exposed people;
        * `message`: why there is no answer, or "".

        Of two statements that imply the same, neither is necessary and both are sufficient; of two that expose somebody
        together, the other way round. So neither column adds up to the exposed people. The multipliers of statements,
        ``post.prices()``, say something else: what a small change of their values does to the entropy.

        Raises
        ------
        StatementError
            Of a release in partitions, or if the posterior was loaded from a file without `verify`.
        SolverError
            If none of the models could be solved.
        """
        return Through.checked(self._through).statements

    def __str__(self) -> str:
        sentences = [*self._sentences(), *(f"Warning: {one}" for one in self.warnings)]
        return "\n".join(str(one_line(sentence)) for sentence in sentences)  # labels may hold line breaks

    def __repr__(self) -> str:
        return f"<Exposure: {self}>"

    def _tables(self) -> Iterable[FirstRows]:
        return [FirstRows(self.who, "exposed groups")] if len(self.who) else []

    def _sentences(self) -> list[str]:
        """The verdict; with a baseline also how much of it what is published says by itself."""
        first, *others = self._verdict or [f"{self.people} of {self.total} people exposed at P >= {self.threshold:g}"]
        if self.attack_success is not None:
            right = f"guessing the likeliest value is right for {self.attack_success:.1%}"
            if self.baseline is None:
                first += f"; {right}"
            else:
                others.append(f"{right[0].upper()}{right[1:]}.")
        if len(lift := self.lift):
            least, most = f"{lift.min():.3g}", f"{lift.max():.3g}"
            times = f"{least} times" if least == most else f"{least} to {most} times"
            others.append(f"P is {times} the baseline.")
        others += self._scale
        if self.baseline is not None and self.people and self._through is not None and self._through.is_known:
            try:
                others.append(self._through.in_words(self.published_alone, self.people))
            except SolverError:
                others.append("How many are exposed by what is published alone could not be found out.")
        return [first, *others]


def same_value(found: Exposure, value: object, other: object) -> bool:
    """Whether two sensitive values of the release count as the same."""
    near = found._intervals
    return value == other if near is None else near.are_close(value, other)

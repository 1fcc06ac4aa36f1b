"""Reconstruction of records from published tables with suppressed small cells, rounded numbers, or added noise."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from numbers import Rational
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import pandas as pd
from scipy.optimize import linprog
from scipy.special import gammaln, softmax

from .._utils.errors import (
    Inaccurate,
    Infeasible,
    NotDecided,
    StatementError,
    TableError,
    join_names,
    pluralize,
    short_repr,
)
from .._utils.formatting import Message, ReprMixin, format_value, people_message
from .._utils.progress import progress_bar
from .._utils.tables import as_numbers, check_columns, choose, names, plain_index
from .._utils.validation import (
    check_dataframe,
    check_instance,
    check_int,
    check_label,
    check_list,
    check_mapping,
    check_number,
    check_optional_bool,
    check_seconds,
    check_seed,
    check_str,
)
from ..measures.leakage import tuples
from ..plots.posterior import likeliest_values
from ..sources.tables import OPEN, PublishedTable, symbol_intervals
from .integer_tables import FREE, Median, Solutions, TableRows, search
from .result import AttackResult, Judgement, score_attack

if TYPE_CHECKING:
    from matplotlib.axes import Axes


# The baseline of a reconstruction: only the distribution of each single attribute is known.


class Independent:
    """P(k people have a record) = Binomial(k; N, product of the mean shares of its values in weighted solutions)."""

    def __init__(self, types: pd.DataFrame, people: np.ndarray, weights: np.ndarray) -> None:
        expected = weights @ people
        share = pd.Series(expected / (expected.sum() or 1.0))  # all 0 if there are no people
        self.shares = {str(name): share.groupby(types[name].to_numpy()).sum() for name in types.columns}
        self.sizes = pd.Series(weights).groupby(people.sum(axis=1)).sum()  # probability of each number of people N

    def at_least(self, records: pd.DataFrame, k: np.ndarray) -> np.ndarray:
        """Return P(at least k people have a record), one per row."""
        from scipy.stats import binom  # takes a third of a second to load

        share = np.ones(len(records))
        for name, of_value in self.shares.items():
            share *= records[name].map(of_value).fillna(0.0).to_numpy(dtype=float)
        by_size = binom.sf(k[:, None] - 1, self.sizes.index.to_numpy()[None, :], np.minimum(share, 1.0)[:, None])
        return np.asarray(by_size @ self.sizes.to_numpy())


# One line of a published table: the number of people in a group, and the mean and median of their numbers.


#: A number as typed; a float stands for the decimal number that is its repr.
Number = float | Fraction
#: Least and largest value, both included.
Interval = tuple[Fraction, Fraction]
#: Largest number of decimals to which a number is rounded, or of zeros if negative.
MOST_DECIMALS = 15


class Statistic(ReprMixin):
    """low <= number of people in a group <= high, and the mean and median of a numeric attribute, as published.

    Parameters
    ----------
    where : dict
        The group: attribute to a value, a list of values, or a pandas Interval; ``{}`` is everybody.
    count : int, str or (int, int), optional
        Number of people: an integer; "<3" or "<=2" for a suppressed cell; (least, most) for a rounded or noisy count,
        with None for no limit. By default it is not published.
    mean, median : float or (float, float), optional
        Mean and median of a numeric attribute, in its unit, or (least, most). The median of an even number of people is
        the mean of the middle two. If either is published, the group is not empty.
    of : str, optional
        The attribute of mean and median; by default the only numeric one of the domain.
    decimals : int, optional
        Decimals of the mean and the median: with 1, 36.7 means 36.65 to 36.75. None if they are exact.

    Attributes
    ----------
    count : (int, int) or None
        Least and largest number of people; the latter is None without a limit.
    mean, median : (Fraction, Fraction) or None
        Least and largest value.

    Raises
    ------
    StatementError, BadProbability
        If an argument is invalid, or all of count, mean and median are missing.

    Notes
    -----
    See Garfinkel, Abowd and Martindale, "Understanding database reconstruction attacks on public data", Communications
    of the ACM 62(3), 2019, Table 1, in which (D) marks suppressed cells.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> women = mx.attacks.Statistic({"sex": "F", "race": "black"}, count=3, median=36, mean=36.7, decimals=1)
    >>> women
    <Statistic: sex=F, race=black: 3 people, mean 36.65 to 36.75, median 35.95 to 36.05>
    >>> mx.attacks.Statistic({"age": range(5)}, count="<3")
    <Statistic: age=0 or 1 or 2 or 3 or 4: 0 to 2 people>
    """

    def __init__(
        self,
        where: Mapping[str, object],
        count: int | str | tuple[int | None, int | None] | None = None,
        *,
        mean: Number | tuple[Number, Number] | None = None,
        median: Number | tuple[Number, Number] | None = None,
        of: str | None = None,
        decimals: int | None = None,
    ) -> None:
        described = check_mapping(where, "where", "{attribute: value}")
        self.where = {
            check_str(name, "an attribute of where="): choose(chosen, name) for name, chosen in described.items()
        }
        self.of = None if of is None else check_str(of, "of")
        places = None if decimals is None else check_int(decimals, "decimals", -MOST_DECIMALS, MOST_DECIMALS)
        self.count = None if count is None else _count(count)
        self.mean = None if mean is None else _interval(mean, "mean", places)
        self.median = None if median is None else _interval(median, "median", places)
        if self.count is None and not self._has_numbers:
            raise StatementError("a statistic requires at least one of count, mean and median")
        if not self._has_numbers and (of is not None or decimals is not None):
            raise StatementError("of and decimals require a mean or a median")

    @property
    def _has_numbers(self) -> bool:
        """Whether a mean or a median is published."""
        return self.mean is not None or self.median is not None

    @property
    def label(self) -> str:
        """The group as text."""
        return (
            ", ".join(f"{format_value(name)}{choice.after_name}" for name, choice in self.where.items()) or "everybody"
        )

    def __repr__(self) -> str:
        parts = []
        if self.count is not None:
            least, most = self.count
            parts.append(pluralize(least, "person", "people") if least == most else f"{_range(least, most)} people")
        for name, interval in (("mean", self.mean), ("median", self.median)):
            if interval is not None:
                parts.append(f"{name} {_range(*map(float, interval))}")
        return f"<Statistic: {self.label}: {', '.join(parts)}>"


def as_fraction(value: Any) -> Fraction:
    """Return the number as typed: 36.7 instead of the double next to it."""
    value = float(str(value)) if isinstance(value, np.floating) else value  # single precision has fewer digits
    return Fraction(value) if isinstance(value, Rational) else Fraction(Decimal(repr(float(value))))


def _as_typed(numbers: Any) -> Any:
    """Convert single precision to the doubles that are written the same."""
    is_single = getattr(numbers, "dtype", None) in (np.float32, np.float16)
    return numbers.astype(str).astype(float) if is_single else numbers


def _mean_and_median(numbers: Iterable[int | Fraction]) -> tuple[Fraction, Fraction]:
    ordered = sorted(numbers)
    n = len(ordered)
    return Fraction(sum(ordered)) / n, Fraction(ordered[(n - 1) // 2] + ordered[n // 2]) / 2


def statistics_of(tables: object) -> list[Statistic]:
    """Read the published tables: statistics, published tables, or a list of both."""
    is_single = isinstance(tables, Statistic | PublishedTable)
    listed: Iterable[object] = [tables] if is_single else check_list(tables, "tables", "Statistic and PublishedTable")
    statistics: list[Statistic] = []
    for table in listed:
        check_instance(table, (Statistic, PublishedTable), "each of the tables")
        statistics += _cells(table) if isinstance(table, PublishedTable) else [table]  # type: ignore[list-item]
    if not statistics:
        raise StatementError("tables must contain at least one Statistic or PublishedTable, got []")
    return statistics


def _cells(table: PublishedTable) -> list[Statistic]:
    """Return the cells of a published table."""
    cells = []
    for values, total, low, high in zip(
        tuples(table.cells.index), table.is_total, table.cells["low"], table.cells["high"], strict=True
    ):
        # In a list, as a tuple alone could be an interval.
        where = {name: [value] for name, value, over in zip(table.attributes, values, total, strict=True) if not over}
        cells.append(Statistic(where, (int(low), None if math.isinf(high) else int(high))))
    return cells


def _range(least: object, most: object) -> str:
    if most is None:
        return f"at least {least}"
    return f"{least:.12g}" if least == most else f"{least:.12g} to {most:.12g}"


def _count(count: object) -> tuple[int, int | None]:
    """Read a number of people, or its limits."""
    if isinstance(count, str):
        symbol = "".join(count.split())
        low, high = symbol_intervals(symbol, zeros_shown=False).get(symbol, (0.0, math.inf))
        if symbol == OPEN:
            raise StatementError("the count '*' carries no information; omit the cell")
        return int(low), int(high)
    if isinstance(count, tuple | list):
        if len(count) != 2:
            raise StatementError(f"count must be a number of people or (least, most), got {short_repr(count)}")
        least = 0 if count[0] is None else check_int(count[0], "the least count", 0)
        most = None if count[1] is None else check_int(count[1], "the most people", least)
        return least, most
    exact = check_int(count, "count", 0)
    return exact, exact


def _interval(value: object, what: str, decimals: int | None) -> Interval:
    """Read a number, rounded to the given decimals, or its least and largest value."""
    if isinstance(value, tuple | list):
        if len(value) != 2:
            raise StatementError(f"{what} must be a number or (least, most), got {short_repr(value)}")
        if decimals is not None:
            raise StatementError(f"{what} is an interval already, {short_repr(value)}; omit decimals")
        low, high = (_exact(end, what) for end in value)
        if low > high:
            raise StatementError(f"{what} must be (least, most), got {short_repr(value)}")
        return low, high
    exact = _exact(value, what)
    if decimals is None:
        return exact, exact
    unit = Fraction(10) ** -decimals
    if exact % unit:
        raise StatementError(f"{what} {value} has more than {decimals} decimals; pass as many as were published")
    return exact - unit / 2, exact + unit / 2


def _exact(value: object, what: str) -> Fraction:
    check_number(value, what)
    return as_fraction(value)


# The possible records: all combinations of the attributes' values, or a list.


#: Largest number of types of records, variables of the integer program: with more, HiGHS would take gigabytes.
MOST_TYPES = 200_000
#: Largest coefficient, in units of the common denominator, for which HiGHS' precision of 1e-6 (``INTEGER_PRECISION``)
#: is far below one unit of a sum.
LARGEST_NUMBER = 10**6


@dataclass(frozen=True, eq=False)
class RecordTypes:
    """The types of records, each a variable of the integer program."""

    frame: pd.DataFrame  # one row per type, one column per attribute

    @classmethod
    def read(cls, domain: object) -> RecordTypes:
        """Read a dictionary from attribute to its values, or a table of the possible records."""
        if isinstance(domain, pd.DataFrame):
            check_columns(domain, {"an attribute": list(domain.columns)}, "the domain")
            if domain.duplicated().any():
                raise TableError("the domain contains a record twice; remove repetitions with drop_duplicates()")
            _check_size(len(domain))
            return cls(domain.reset_index(drop=True).apply(_as_typed))
        levels = check_mapping(domain, "domain", "{attribute: values}, or a DataFrame of possible records")
        values = {
            check_str(name, "an attribute of the domain"): _values(name, listed) for name, listed in levels.items()
        }
        if not values:
            raise StatementError("the domain must have at least one attribute, {attribute: values}")
        _check_size(math.prod(map(len, values.values())))
        product = pd.MultiIndex.from_product(list(values.values()), names=list(values))
        return cls(product.to_frame(index=False))

    def __len__(self) -> int:
        return len(self.frame)

    @cached_property
    def levels(self) -> dict[str, tuple[np.ndarray, pd.Index]]:
        """The codes of the types and the values, by attribute."""
        levels = {}
        for name in self.frame.columns:
            codes, values = pd.factorize(self.frame[name])
            levels[str(name)] = codes, pd.Index(values, name=name)
        return levels

    def mask(self, statistic: Statistic) -> np.ndarray:
        """Mark the types of records in the group of a statistic."""
        chosen = np.ones(len(self), dtype=bool)
        for name, choice in statistic.where.items():
            codes, values = self.levels[check_label(name, "attribute of the domain", self.levels)]
            chosen &= choice.mask(values, name)[codes]
        return chosen

    def numbers(self, of: str | None) -> tuple[np.ndarray, Fraction]:
        """Return the number of every type, as an integer multiple of a unit, and the unit."""
        name = self._of(of)
        codes, values = self.levels[name]
        if not _are_numbers(values):
            raise TableError(f"{name!r} has no mean and no median, because its values are not numbers")
        exact = [as_fraction(number) for number in values.tolist()]
        unit = Fraction(1, math.lcm(*(number.denominator for number in exact)))
        multiples = [int(number / unit) for number in exact]
        if max(map(abs, multiples)) > LARGEST_NUMBER:
            raise TableError(
                f"the values of {name!r} are up to {max(map(abs, multiples))} times their common unit {unit}; at most "
                f"{LARGEST_NUMBER} are supported; write them in a larger unit, or with fewer digits"
            )
        return np.array(multiples, dtype=np.int64)[codes], unit

    def _of(self, of: str | None) -> str:
        if of is not None:
            return check_label(of, "attribute of the domain", self.levels)
        numeric = [name for name, (_, values) in self.levels.items() if _are_numbers(values)]
        if len(numeric) != 1:
            several = f"the numeric attributes {join_names(numeric)}; pass of, the attribute of mean and median"
            none = "no numeric attribute, which a mean or median needs"
            raise StatementError(f"the domain has {several if numeric else none}")
        return numeric[0]


def _values(name: object, values: object) -> list[object]:
    """Read the values of an attribute, and check that they are distinct."""
    domain = check_list(_as_typed(values), f"the values of {name!r}", "values")
    try:
        twice = len(set(domain)) < len(domain)
    except TypeError as error:
        raise StatementError(f"the values of {name!r} must be single values: {error}") from error
    if not domain or twice or pd.Series(domain, dtype=object).isna().any():
        raise StatementError(f"the domain must list at least one value of {name!r}, each once and none missing")
    return domain


def _check_size(size: int) -> None:
    if size > MOST_TYPES:
        raise TableError(
            f"the domain has {size} types of records, but at most {MOST_TYPES} are supported; use classes of values, or "
            "list the possible records in a DataFrame"
        )


def _are_numbers(values: pd.Index) -> bool:
    plain = pd.api.types.is_numeric_dtype(values) and not pd.api.types.is_bool_dtype(values)
    return bool(plain and not pd.api.types.is_complex_dtype(values) and np.isfinite(values.to_numpy(dtype=float)).all())


# The rows of published tables, for the integer numbers of people with each type of record.


#: Largest number of people, each of whom has a switch to distinguish solutions: HiGHS' precision of a switch, 1e-6,
#: times this number is the error of a count, which must be far below one person.
MOST_PEOPLE = 10_000

#: Coefficients, and the least and largest value of each row.
Rows = tuple[np.ndarray, np.ndarray | list[int], np.ndarray | list[int]]


@dataclass(frozen=True, eq=False)
class Group:
    """The types of records that a statistic refers to."""

    statistic: Statistic
    mask: np.ndarray  # one per type
    numbers: np.ndarray  # the number of each type, as a multiple of the unit; empty without a mean or a median
    unit: Fraction

    @classmethod
    def of(cls, statistic: Statistic, types: RecordTypes) -> Self:
        """Find the types of records, and their numbers if there is a mean or a median."""
        mask = types.mask(statistic)
        no_numbers = np.empty(0, dtype=np.int64), Fraction(1)
        return cls(statistic, mask, *(types.numbers(statistic.of) if statistic._has_numbers else no_numbers))

    def holds(self, people: np.ndarray) -> bool:
        """Return whether the number of people of each type agrees, with integers and fractions, from the table alone."""
        n = int(people[self.mask].sum())
        least, most = self.statistic.count or (0, None)
        if n < least or (most is not None and n > most):
            return False
        if not self.statistic._has_numbers or not n:
            return not self.statistic._has_numbers
        computed_pair = _mean_and_median(np.repeat(self.numbers[self.mask], people[self.mask]).tolist())
        published_pair = self.statistic.mean, self.statistic.median
        return all(
            published is None or published[0] <= computed * self.unit <= published[1]
            for published, computed in zip(published_pair, computed_pair, strict=True)
        )


def rows_of(groups: Sequence[Group], n_types: int) -> TableRows:
    """Build low <= A n <= high, where n is the number of people of each type, and the medians."""
    masks = np.array([group.mask for group in groups])
    of_numbers = np.array([group.statistic._has_numbers for group in groups])
    low, high = _counts([group.statistic for group in groups], masks)
    low = np.where(of_numbers, np.maximum(low, 1), low)  # a group with a mean or a median is not empty
    people = _most_people(masks, high)
    high = np.minimum(high, people)
    rows: list[Rows] = [(masks.astype(np.int64), low, high), (np.ones((1, n_types), dtype=np.int64), [0], [people])]
    medians: list[Median] = []
    for number in np.flatnonzero(of_numbers).tolist():
        count = int(low[number]), int(high[number])
        if masks[number].any() and count[0] <= count[1]:  # otherwise the row of the count is contradictory
            rows += _of_numbers(groups[number], count, medians)
    matrix, lows, highs = (np.concatenate(parts) for parts in zip(*rows, strict=True))
    return TableRows(
        matrix,
        lows.astype(np.int64),
        highs.astype(np.int64),
        np.where(masks, high[:, None], people).min(axis=0).astype(np.int64),
        np.arange(len(matrix)) <= len(masks),
        medians,
    )


def _most_people(masks: np.ndarray, high: np.ndarray) -> int:
    """Return the largest number of people allowed by counts of everybody, or of groups that cover all types."""
    limited = np.flatnonzero(np.isfinite(high))
    covers, index = np.unique(masks[limited], axis=0, return_index=True)
    limits = high[limited][index]
    if not covers.any(axis=0).all():
        raise StatementError(
            "the number of people is not published; add a statistic of everybody with a count or a limit such as <100, "
            "or counts of groups that together contain everybody"
        )
    # Groups with weights y >= 0 that sum to at least 1 for every type contain at least the total number of people.
    patterns = np.unique(covers, axis=1).astype(float)
    weight = linprog(limits, A_ub=-patterns.T, b_ub=-np.ones(patterns.shape[1])).x
    total = limits.sum()
    if weight is not None and (least := (weight @ patterns).min()) > 0.5:
        # The weights are rounded: divided by the least sum they are valid, and the limit is not too small.
        total = min(total, weight @ limits / least * (1 + 1e-9))
    if (people := int(total)) > MOST_PEOPLE:
        raise TableError(f"at most {MOST_PEOPLE} people are supported, got {people}; reconstruct one block at a time")
    return people


def _counts(statistics: Sequence[Statistic], masks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the limits of the number of people of each statistic, from all statistics of the same group."""
    counts = [statistic.count or (0, None) for statistic in statistics]
    low = np.array([least for least, _ in counts], dtype=float)
    high = np.array([math.inf if most is None else most for _, most in counts])
    same = pd.DataFrame({"low": low, "high": high}).groupby(np.unique(masks, axis=0, return_inverse=True)[1].ravel())
    return same["low"].transform("max").to_numpy(), same["high"].transform("min").to_numpy()


def _of_numbers(group: Group, count: tuple[int, int], medians: list[Median]) -> list[Rows]:
    """Return the rows of a mean and a median; also list the median if rows are not sufficient."""
    statistic, mask, numbers, unit = group.statistic, group.mask, group.numbers, group.unit
    rows: list[Rows] = []
    if statistic.mean is not None:
        rows += _mean(group, statistic.mean, count)
    if statistic.median is not None:
        low, high = statistic.median
        least, most = math.ceil(2 * low / unit), math.floor(2 * high / unit)
        if least > most:
            raise _impossible(statistic, "median")
        # At most half of the people are below the median, and at most half above.
        outside = np.stack([2 * numbers < least, 2 * numbers > most])
        rows.append((np.where(mask, 2 * outside - 1, 0), [-FREE] * 2, [0] * 2))
        if count[0] < count[1] or count[0] % 2 == 0:  # otherwise the median is a number of one person
            medians.append(Median(np.flatnonzero(mask), numbers[mask], least, most, count[1]))
    return rows


def _mean(group: Group, mean: Interval, count: tuple[int, int]) -> list[Rows]:
    """Return a row for the sum of the numbers if the count is exact, else two rows for deviations from the limits."""
    mask, numbers = group.mask, group.numbers
    low, high = (end / group.unit for end in mean)
    if count[0] == count[1]:
        least, most = math.ceil(count[0] * low), math.floor(count[0] * high)
        if least > most:
            raise _impossible(group.statistic, "mean")
        return [(np.where(mask, numbers, 0)[None, :], [least], [most])]
    # Replace the limits by the nearest means of so many integers, which are fractions with small denominators: products
    # with fractions of many decimals do not fit into 64 bits.
    low = min(Fraction(math.ceil(n * low), n) for n in range(count[0], count[1] + 1))
    high = max(Fraction(math.floor(n * high), n) for n in range(count[0], count[1] + 1))
    if low > high:
        raise _impossible(group.statistic, "mean")
    return [
        (np.where(mask, side.denominator * numbers - side.numerator, 0)[None, :], [least], [most])
        for side, least, most in ((low, 0, FREE), (high, -FREE, 0))
    ]


def _impossible(statistic: Statistic, what: str) -> StatementError:
    return StatementError(
        f"{statistic!r}: no {what} of this number of people, with values of the domain, is exactly this number; if it "
        "was rounded, pass decimals"
    )


# The result of a reconstruction: the records that are possible and those that are certain.


@dataclass(frozen=True, eq=False, repr=False)
class Reconstruction(AttackResult):
    """P(k people have a record), over all assignments of records to people that are consistent with the tables.

    A solution is a multiset of records. Worlds, as in :mod:`maxent_cvx.worlds`, are assignments of records to people.
    They are assumed equally likely, so a solution with n_1, n_2, ... people has the weight N! / (n_1! n_2! ...).

    Attributes
    ----------
    table : DataFrame
        P(k people have the record): one row for each record in any listed solution, one column for each k.
    baseline : DataFrame
        The same if only the shares of each attribute's values in the solutions are known; the last column is for at
        least k people.
    records : Series
        The mean number of people with the record.
    error : float
        0 if the solutions are complete, otherwise 1, because probabilities then refer to the listed solutions only.
    solutions : list of DataFrame
        The records of each solution, one row per person.
    complete : bool
        Whether all solutions are listed.
    certain : DataFrame
        The records that are in every solution, listed or not, one row per person; empty if not decided.
    decided : bool
        Whether `certain` was decided within the time limit.
    stopped : str
        The limit that ended the search, "limit=10" or "time_limit=60"; empty if the solutions are complete.

    Examples
    --------
    Three people with mean age 20 and median age 21; the two or three women among them are all 21:

    >>> import maxent_cvx as mx
    >>> from maxent_cvx.attacks import Statistic
    >>> tables = [Statistic({}, 3, mean=20, median=21), Statistic({"sex": "F"}, (2, 3), mean=21),
    ...           Statistic({"sex": "F", "age": [21]}, (2, 3))]
    >>> result = mx.attacks.reconstruct(tables, domain={"age": range(18, 23), "sex": ["F", "M"]})
    >>> print(result)
    reconstruction of 3 people: 1 solution, and no other: the records are unique
    >>> print(result.certain)
       age sex
    0   18   M
    1   21   F
    2   21   F
    """

    solutions: list[pd.DataFrame]
    complete: bool
    certain: pd.DataFrame
    decided: bool
    _independent: Independent
    stopped: str = ""

    title: ClassVar[str | None] = "reconstruction"

    @property
    def unique(self) -> bool:
        """Whether there is one solution, and no other."""
        return self.complete and len(self.solutions) == 1

    @property
    def sentence(self) -> str:
        """The result as a sentence."""
        sizes, n = sorted({len(solution) for solution in self.solutions}), len(self.solutions)
        if len(sizes) == 1:
            people = people_message(sizes[0])
        else:
            people = Message("{least} to {most} people", least=sizes[0], most=sizes[-1])
        if self.unique:
            return Message(
                "reconstruction of {people}: 1 solution, and no other: the records are unique", people=people
            )
        ending = Message("and no other") if self.complete else Message("not complete ({limit})", limit=self.stopped)
        sure = Message("not decided who is certain")
        if self.decided:
            n_sure = len(self.certain)
            sure = Message("{n:,} record certain" if n_sure == 1 else "{n:,} records certain", n=n_sure)
        return Message(
            "reconstruction of {people}: {solutions}, {ending}; {sure}",
            people=people,
            solutions=Message("{n:,} solution" if n == 1 else "{n:,} solutions", n=n),
            ending=ending,
            sure=sure,
        )

    def judge(self, original: pd.DataFrame) -> Judgement:
        """Compare with the original records: the share of people whose record is reconstructed.

        If k people have a record in the solution, k of the people with this record are reconstructed; so `right` is the
        mean, over people, of P(at least k people have the record), for the k-th person with it. The calibration refers
        to the claims that at least k people have a record, for all records of `table`.

        Parameters
        ----------
        original : DataFrame
            The records, one row per person, with the attributes as columns.

        Returns
        -------
        Judgement
            The `baseline` uses only the number of people with each value of each attribute.

        Raises
        ------
        UnknownName
            If the records lack an attribute.
        TableError
            If the number of people differs from that of all solutions.

        Examples
        --------
        >>> import maxent_cvx as mx, pandas as pd
        >>> result = mx.attacks.reconstruct(
        ...     [mx.attacks.Statistic({}, 2, mean=21)], domain={"age": range(20, 23), "sex": ["F"]})
        >>> result.records.round(3).tolist()           # 20 and 22 in either order, or twice 21
        [0.667, 0.667, 0.667]
        >>> round(result.judge(pd.DataFrame({"age": [20, 22], "sex": "F"})).right, 3)
        0.667
        """
        attributes = [str(name) for name in self.table.index.names]
        check_columns(original, {"an attribute": attributes}, "the original records")
        sizes = sorted({len(solution) for solution in self.solutions})
        if self.complete and len(original) not in sizes:
            raise TableError(
                f"there are {len(original)} original records, but {sizes} reconstructed ones; pass the table that was "
                "published"
            )
        n_true = original[attributes].value_counts().reindex(tuples(self.table.index), fill_value=0).to_numpy()
        kth = original.groupby(attributes, sort=False, observed=True).cumcount().to_numpy() + 1
        right = self._at_least(pd.MultiIndex.from_frame(original[attributes]), kth)
        without = self._independent.at_least(original, kth)
        n = len(original)
        error = float((right - without).std()) / math.sqrt(n)
        is_present = n_true[:, None] >= np.array(self.table.columns[1:])
        claimed = 1.0 - np.cumsum(self.table.to_numpy(), axis=1)[:, :-1]
        p, is_true = claimed[claimed > 0], is_present[claimed > 0]
        pairs, outcomes = np.column_stack([p, 1 - p]), np.column_stack([is_true, ~is_true])
        calibration = score_attack(pairs, pairs, outcomes.astype(float)).calibration
        return Judgement(float(right.mean()), float(without.mean()), error, n, calibration)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the share of people whose record is inferred with at least a probability, and without the attack.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> from matplotlib.figure import Figure
        >>> result = mx.attacks.reconstruct(
        ...     [mx.attacks.Statistic({}, 2, mean=21)], domain={"age": range(20, 23), "sex": ["F"]})
        >>> result.plot(Figure().subplots()).get_xlabel()
        'probability of the record, at least'
        """
        n, most = len(self.table), self.table.shape[1] - 1
        records, k = tuples(self.table.index).repeat(most), np.tile(np.arange(1, most + 1), n)
        p = self._at_least(records, k)
        without = self._independent.at_least(records.to_frame(index=False), k)
        tables = {"reconstruction": pd.DataFrame(p), "without the attack": pd.DataFrame(without)}
        ax = likeliest_values(tables, pd.Series(p), ax)
        ax.set_xlabel("probability of the record, at least")
        ax.set_ylabel("share of the people")
        return ax

    def _at_least(self, records: pd.MultiIndex, k: np.ndarray) -> np.ndarray:
        """Return P(at least k people have a record), one per record; 0 for records that are in no solution."""
        p = self.table.to_numpy()[:, ::-1].cumsum(axis=1)[:, ::-1]
        at = tuples(self.table.index).get_indexer(records)
        inside = (at >= 0) & (k < p.shape[1])
        return np.where(inside, p[at, np.minimum(k, p.shape[1] - 1)], 0.0)


def reconstruction_of(types: pd.DataFrame, solutions: Solutions) -> Reconstruction:
    """Tabulate the result of a search by type of record."""
    # The share of each solution in all assignments, in proportion to N! / (n_1! n_2! ...).
    weights = softmax(gammaln(solutions.people.sum(axis=1) + 1.0) - gammaln(solutions.people + 1.0).sum(axis=1))
    independent = Independent(types, solutions.people, weights)
    occurring = np.flatnonzero(solutions.people.any(axis=0))
    people, records = solutions.people[:, occurring], types.iloc[occurring]
    index = plain_index(pd.MultiIndex.from_frame(records))
    ks = pd.RangeIndex(int(solutions.people.max()) + 1, name="people")
    table = np.array([weights @ (people == k) for k in ks]).T
    at_least = np.array([independent.at_least(records, np.full(len(occurring), k)) for k in ks]).T
    return Reconstruction(
        table=pd.DataFrame(table, index, ks),
        baseline=pd.DataFrame(at_least - np.c_[at_least[:, 1:], np.zeros(len(occurring))], index, ks),
        records=pd.Series(weights @ people, index, name="people"),
        error=0.0 if not solutions.stopped else 1.0,
        solutions=[_records(types, solution) for solution in solutions.people],
        complete=not solutions.stopped,
        certain=_records(types, solutions.certain),
        decided=solutions.decided,
        _independent=independent,
        stopped=solutions.stopped,
    )


def _records(types: pd.DataFrame, people: np.ndarray) -> pd.DataFrame:
    """Return the records, one row per person."""
    return types.iloc[np.repeat(np.arange(len(types)), people)].reset_index(drop=True)


# Reconstruction of records from published tables (Garfinkel, Abowd and Martindale).


def reconstruct(
    tables: Statistic | PublishedTable | Iterable[Statistic | PublishedTable],
    domain: Mapping[str, Iterable[object]] | pd.DataFrame,
    limit: int = 10,
    *,
    time_limit: float = 60.0,
    progress: bool | None = None,
) -> Reconstruction:
    """Find all integer n >= 0 with low <= A n <= high, where n is the number of people with each possible record.

    Every solution is checked against the tables in integers and fractions. Solutions are enumerated in integers; the
    end of the enumeration proves that there are no others. If it does not end in time, HiGHS solves integer programs,
    in double precision on rows of small integers, to decide whether there are others and which records are certain.

    Parameters
    ----------
    tables : list of Statistic and PublishedTable
        At least one of them, about everybody, or several of them, about groups that together contain everybody, must
        specify or bound the number of people.
    domain : dict or DataFrame
        The possible values of each attribute; or the possible records, one row each.
    limit : int
        Maximum number of solutions to list; `certain` refers to all solutions nevertheless.
    time_limit : float
        Limit of the wall time, in seconds.
    progress : bool, optional
        Show a progress bar; by default on a terminal or in a notebook.

    Returns
    -------
    Reconstruction

    Raises
    ------
    Infeasible
        If no records match all tables.
    NotDecided
        If no solution is found in time. If time runs out later, the result is marked as not complete.
    StatementError, UnknownName, TableError, BadProbability
        If an argument is invalid, or the tables do not fit the domain.
    Inaccurate, SolverError
        If HiGHS fails.

    Notes
    -----
    Garfinkel, Abowd and Martindale, "Understanding database reconstruction attacks on public data", Communications of
    the ACM 62(3), 2019, 46-53, reconstruct a fictional block of seven people with a SAT solver over people sorted by
    age. Here the unknowns are the numbers of people with each record, so that every multiset is found once. Liu et al.,
    "Generate-then-verify", arXiv:2504.21199, ask which records are certain.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> from maxent_cvx.attacks import Statistic

    Four people, with one suppressed cell. The mean age of everybody and that of the women, 140 / 3 = 46.7, imply 25 years
    for the man, and the median implies 74 for the oldest woman, for all possible ages of the other two:

    >>> tables = [Statistic({}, 4, mean=41.25, median=33), Statistic({"sex": "F"}, 3, mean=46.7, decimals=1),
    ...           Statistic({"age": range(30, 60)}, 2), Statistic({"age": range(70, 80)}, "<2")]
    >>> result = mx.attacks.reconstruct(tables, domain={"age": range(20, 80), "sex": ["F", "M"]}, limit=3)
    >>> print(result)
    reconstruction of 4 people: 3 solutions, not complete (limit=3); 2 records certain
    >>> result.certain.to_dict("records")
    [{'age': 25, 'sex': 'M'}, {'age': 74, 'sex': 'F'}]
    """
    limit = check_int(limit, "limit", 1)
    seconds = check_seconds(time_limit, "time_limit")
    check_optional_bool(progress, "progress")
    statistics, types = statistics_of(tables), RecordTypes.read(domain)
    groups = [Group.of(statistic, types) for statistic in statistics]
    rows = rows_of(groups, len(types))

    def check(people: np.ndarray) -> None:
        if wrong := [group.statistic for group in groups if not group.holds(people)]:
            raise Inaccurate(f"the records found violate {wrong[0]!r}; use classes of values, or fewer people")
        bar.update()

    try:
        with progress_bar(None, "reconstruct", progress, unit=" steps") as bar:
            solutions = search(rows, limit, seconds, check)
    except NotDecided as error:
        raise NotDecided(
            f"in {seconds:.3g} seconds neither records nor a proof that there are none were found; increase the time "
            "limit, or use a smaller domain"
        ) from error
    if solutions is None:
        raise Infeasible(
            "no records match all tables; check whether the numbers are rounded (decimals) or noisy (counts would then "
            "be intervals), and whether the domain lacks values"
        )
    return reconstruction_of(types.frame, solutions)


def tabulate(
    original: pd.DataFrame,
    by: Iterable[str | Iterable[str] | Mapping[str, object]],
    of: str | None = None,
    *,
    suppressed: str | None = "<3",
    decimals: int | None = 1,
    noise: int = 0,
    seed: int = 0,
) -> list[Statistic]:
    """Publish the number of people in each group, and the mean and median of an attribute, as statistics.

    Parameters
    ----------
    original : DataFrame
        The records, one row per person.
    by : list
        One item per table: attributes, with a group for every combination of their values, ``[]`` for everybody; or one
        group, ``{"age": range(5)}``, of which only the number of people is published.
    of : str, optional
        The attribute of means and medians; None for counts only.
    suppressed : str, optional
        Counts to suppress, with their means and medians, such as "<3".
    decimals : int, optional
        Decimals of means and medians, halves rounded up; None for exact values.
    noise : int
        Uniform integers from -noise to noise are added to every published count. As `noise` is public, each count
        becomes an interval of 2 noise + 1 counts. Means and medians are published without noise.
    seed : int
        Random seed of the noise.

    Returns
    -------
    list of Statistic
        The published tables.

    Raises
    ------
    StatementError, UnknownName, TableError
        If an argument is invalid, or the records lack an attribute or value.

    Notes
    -----
    Garfinkel, Abowd and Martindale, 2019, Table 1: age for everybody, by sex, by race, by both, and some age classes.

    Examples
    --------
    >>> import maxent_cvx as mx, pandas as pd
    >>> people = pd.DataFrame({"age": [21, 25, 42, 60], "sex": ["F", "F", "F", "M"]})
    >>> tables = mx.attacks.tabulate(people, [[], "sex", {"age": [60]}], of="age")
    >>> for statistic in tables:
    ...     print(statistic)
    <Statistic: everybody: 4 people, mean 36.95 to 37.05, median 33.45 to 33.55>
    <Statistic: sex=F: 3 people, mean 29.25 to 29.35, median 24.95 to 25.05>
    <Statistic: sex=M: 0 to 2 people>
    <Statistic: age=60: 0 to 2 people>
    >>> print(mx.attacks.reconstruct(tables, domain={"age": range(20, 70), "sex": ["F", "M"]}, limit=5))
    reconstruction of 4 people: 1 solution, and no other: the records are unique
    """
    check_dataframe(original, "the original records")
    original = original.apply(_as_typed)
    of = None if of is None else check_str(of, "of")
    groups = [
        group
        for grouping in check_list(by, "by", "attributes or {attribute: values}")
        for group in _groups(original, grouping)
    ]
    if not groups:
        raise StatementError("by must contain at least one table, got []; use [[]] for a table of everybody")
    columns = list(dict.fromkeys([name for where, _ in groups for name in where] + ([] if of is None else [of])))
    check_columns(original, {"an attribute": columns}, "the original records")
    least_printed = 0 if suppressed is None else _least_printed(suppressed)
    width = check_int(noise, "noise", 0)
    rng = np.random.default_rng(check_seed(seed))
    numbers = (
        None if of is None else [as_fraction(number) for number in as_numbers(original[of], f"column {of!r}").tolist()]
    )
    statistics = []
    for where, only_counted in groups:
        rows = np.flatnonzero(_described(original, where))
        if len(rows) < least_printed:
            statistics.append(Statistic(where, (0, least_printed - 1)))
            continue
        printed = len(rows) + int(rng.integers(-width, width + 1))
        count = (max(printed - width, 0), printed + width)
        if numbers is None or only_counted or not len(rows):
            statistics.append(Statistic(where, count))
            continue
        mean, median = (_printed(exact, decimals) for exact in _mean_and_median(numbers[row] for row in rows))
        statistics.append(Statistic(where, count, mean=mean, median=median, of=of, decimals=decimals))
    return statistics


def _groups(original: pd.DataFrame, by: object) -> list[tuple[dict[str, object], bool]]:
    """Return the groups of one table, and whether only the number of people is published."""
    if isinstance(by, Mapping):
        return [(dict(by), True)]
    attributes = () if isinstance(by, list | tuple) and not by else names(by, "by")  # type: ignore[arg-type]
    check_columns(original, {"by": attributes}, "the original records")
    # Each in a list, as a tuple alone could be an interval.
    values = [
        [[value] for value in sorted(original[name].unique().tolist(), key=lambda value: (str(type(value)), value))]
        for name in attributes
    ]
    return [(dict(zip(attributes, combination, strict=True)), False) for combination in itertools.product(*values)]


def _described(original: pd.DataFrame, where: Mapping[str, object]) -> np.ndarray:
    """Mark the people of a group; values that nobody has are allowed."""
    chosen = np.ones(len(original), dtype=bool)
    for name, listed in where.items():
        choice = choose(listed, name)
        column = original[name]
        if choice.interval is None:
            chosen &= column.isin(list(choice.values or ())).to_numpy()
        else:
            chosen &= np.array([_inside(value, choice.interval) for value in column.tolist()])
    return chosen


def _inside(value: object, interval: pd.Interval) -> bool:
    try:
        return value in interval
    except TypeError as error:
        raise StatementError(
            f"{short_repr(value)} and {interval} cannot be compared; pass a list of values instead"
        ) from error


def _least_printed(suppressed: str) -> int:
    symbol = "".join(check_str(suppressed, "suppressed").split())
    most = symbol_intervals(symbol, zeros_shown=False)[symbol][1]
    if math.isinf(most):
        raise StatementError(f"suppressed must be a limit such as '<3', got {short_repr(suppressed)}")
    return int(most) + 1


def _printed(value: Fraction, decimals: int | None) -> Fraction:
    """Round a number to the given decimals, halves upwards."""
    if decimals is None:
        return value
    unit = Fraction(10) ** -check_int(decimals, "decimals", -15, 15)
    return math.floor(value / unit + Fraction(1, 2)) * unit

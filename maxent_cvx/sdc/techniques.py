"""Techniques of statistical disclosure control: published data, and an intruder's inferences from them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np
import pandas as pd
import scipy.sparse as sp

from .._utils.errors import (
    BadProbability,
    GroupTooLarge,
    StatementError,
    TableError,
    UnknownName,
    join_names,
    pluralize,
    short_repr,
    unknown_name,
)
from .._utils.formatting import ReprMixin, TablePreview
from .._utils.tables import as_numbers, check_columns, check_labels, choose, group_codes, repeated
from .._utils.validation import check_dataframe, check_int, check_mapping, check_number, check_seed
from ..releases.qi_table import QITable


def check_confidential(table: pd.DataFrame, confidential: str) -> None:
    """Check a table and its confidential attribute: no missing values, no duplicate columns."""
    if not isinstance(confidential, str):
        raise StatementError(f"confidential must be the name of one column, not {short_repr(confidential)}")
    check_dataframe(table, "the table")
    if table.columns.has_duplicates:
        raise TableError(f"the table has duplicate columns {join_names(repeated(table.columns))}; rename them")
    check_columns(table, {"confidential": (confidential,)}, "the table")
    check_columns(table, {"attributes": tuple(table.columns)}, "the table")
    for name in table.columns:
        check_type(table[name])


def check_type(column: pd.Series) -> None:
    """Raise an error for float16, for which pandas has no index."""
    if column.dtype == np.float16:
        raise TableError(f"column {column.name!r} has dtype float16, which is not supported; use .astype('float32')")


def domain_of(column: pd.Series) -> pd.Index:
    """Return the ordered domain of an attribute: the categories of a Categorical, else the sorted values."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        return pd.Index(column.cat.categories, name=column.name)
    try:
        return pd.Index(np.sort(column.unique()), name=column.name)
    except TypeError as error:
        raise TableError(f"column {column.name!r} has values that cannot be sorted: {error}") from error


def numeric_domain(column: pd.Series) -> pd.Index:
    """Return the sorted domain of a numeric attribute."""
    domain = domain_of(column)
    return domain.take(np.argsort(as_numbers(domain, f"the values of {column.name!r}"), kind="stable"))


class Known:
    """The supplementary knowledge of an intruder, and Mo, the matching records of the population.

    Attributes
    ----------
    values : dict of str to Index
        For every known attribute, its possible values.
    frame : DataFrame
        The attributes of all people, or of all distinguishable people.
    weight, matching : ndarray
        The number of records of every row, and whether the row matches.
    """

    def __init__(self, known: Mapping[str, object] | None, population: object, confidential: str) -> None:
        """Read knowledge, which must match somebody in the population."""
        known = {} if known is None else check_mapping(known, "known", "{attribute: value}")
        if isinstance(population, QITable):
            frame, weight = population.quasi_identifiers.to_frame(index=False), population.n_q
        elif isinstance(population, pd.DataFrame):
            frame, weight = population, np.ones(len(population), dtype=np.int64)
        else:
            raise TableError(
                "population must be a DataFrame of everybody's other attributes, or a QITable, not "
                f"{short_repr(population)}"
            )
        if not len(frame):
            raise TableError("population must contain everybody's other attributes, but is empty")
        values: dict[str, pd.Index] = {}
        matching = np.ones(len(frame), dtype=bool)
        for name, chosen in known.items():
            if isinstance(name, str) and name == confidential:
                raise StatementError(f"{name!r} is the confidential attribute, which cannot be in known")
            if name not in frame.columns:
                others = frame.columns.difference([confidential], sort=False)
                raise unknown_name("attribute of the population", name, others)
            check_columns(frame, {"known": (name,)}, "the population")
            check_type(frame[name])
            present = pd.Index(np.asarray(frame[name].unique()), tupleize_cols=False)
            values[name] = present[choose(chosen, name).mask(present, name)]
            matching &= frame[name].isin(values[name]).to_numpy()
        if not matching.any():
            conditions = ", ".join(f"{name}={choose(chosen, name)}" for name, chosen in known.items())
            raise StatementError(f"nobody in the population has {conditions or 'any attribute'}; remove a condition")
        self.values, self.frame, self.weight, self.matching = values, frame, weight, matching

    def matches(self, table: pd.DataFrame, what: str) -> np.ndarray:
        """Mark the matching records of another table of people of the population."""
        matching = np.ones(len(table), dtype=bool)
        for name, values in self.values.items():
            if name not in table.columns:
                raise unknown_name(f"attribute of {what}", name, table.columns)
            strange = ~table[name].isin(pd.unique(self.frame[name]))
            if strange.any():
                raise TableError(
                    f"value {join_names(pd.unique(table[name][strange]))} of {name!r} is in {what} but not in the "
                    "population; pass the population of the published data"
                )
            matching &= table[name].isin(values).to_numpy()
        return matching


@dataclass(frozen=True, eq=False, repr=False)
class Published(ReprMixin):
    """The data that a technique publishes.

    Attributes
    ----------
    table : DataFrame
        The records or answers.
    confidential : str
        The confidential attribute C.
    domain : Index
        The ordered domain D of C, with its name: the categories of a Categorical, else the sorted values.

    Examples
    --------
    >>> import maxent_cvx as mx, pandas as pd
    >>> people = pd.DataFrame({"Age": [37, 37, 50, 50], "Salary": [77, 80, 50, 107]})
    >>> sample = mx.sdc.Sampling(0.5).publish(people, confidential="Salary")
    >>> isinstance(sample, mx.sdc.Published), len(sample), sample.domain.to_list()         # of the whole table
    (True, 2, [50, 77, 80, 107])
    """

    table: pd.DataFrame
    confidential: str
    domain: pd.Index

    def __len__(self) -> int:
        return len(self.table)

    def __repr__(self) -> str:
        rows, values = pluralize(len(self), "row"), pluralize(len(self.domain), "value")
        return f"<{type(self).__name__}: {rows}; {self.confidential!r} is confidential, one of {values}>"

    def _tables(self) -> Iterable[TablePreview]:
        return [TablePreview(self.table, "rows")]


class DomainTechnique:
    """Base class that checks `published` and `known`, and labels the probabilities of :meth:`_shares`."""

    #: The class of the result of `publish`, the argument of `infer`.
    _published_as: ClassVar[type[Published]]

    def infer(
        self, published: Published, known: Mapping[str, object] | None, population: pd.DataFrame | QITable
    ) -> pd.Series:
        """Return P(value | published, known) by value; see :class:`maxent_cvx.sdc.Technique`."""
        if not isinstance(published, self._published_as):
            name = type(self).__name__
            raise StatementError(f"{name}.infer needs the result of {name}.publish, not {short_repr(published)}")
        person = Known(known, population, published.confidential)
        return pd.Series(self._shares(published, person, population), index=published.domain, name="probability")

    def _shares(self, published: Any, person: Known, population: pd.DataFrame | QITable) -> np.ndarray:
        """Return the probability of every value of the domain."""
        raise NotImplementedError


# Centred binomial noise on the positions in a domain, as a channel from true to published positions.


#: The maximum number of probabilities of a channel in memory.
MOST_ENTRIES = 10**8


def noise_limit(percent: float, places: int) -> int:
    """Return M = percent % of (places - 1), rounded to the nearest even number, ties to the larger one.

    Parameters
    ----------
    percent : float
        The percentage, from 0 to 100.
    places : int
        ``|D|``, the number of values of the domain, at least 1.

    Returns
    -------
    int
        M, even.

    Raises
    ------
    BadProbability
        If the percentage is not a number from 0 to 100.
    StatementError
        If `places` is not an integer of at least 1.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> mx.sdc.noise_limit(10, places=101)
    10
    >>> [mx.sdc.noise_limit(percent, places=5) for percent in (0, 25, 50, 100)]       # 25 % of 4 is 1: up to 2
    [0, 2, 2, 4]
    """
    if not 0 <= check_number(percent, "percent") <= 100:
        raise BadProbability(f"percent must be between 0 and 100, got {percent!r}")
    check_int(places, "places", 1)
    half = Fraction(f"{float(percent):.15g}") / 100 * (places - 1) / 2
    return 2 * int(half + Fraction(1, 2))  # rounds down, as half is not negative


@dataclass(frozen=True)
class Channel:
    """T(x, y) = P(y | x): y = x + B - M/2 with B binomial (M, 1/2), clipped to the domain.

    Attributes
    ----------
    places : int
        ``|D|``.
    limit : int
        M, even: at most M/2 places up or down.

    Raises
    ------
    StatementError
        If `places` is not an integer of at least 1, or `limit` not an even integer of at least 0.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> mx.sdc.Channel(places=4, limit=2).matrix.toarray()
    array([[0.75, 0.25, 0.  , 0.  ],
           [0.25, 0.5 , 0.25, 0.  ],
           [0.  , 0.25, 0.5 , 0.25],
           [0.  , 0.  , 0.25, 0.75]])
    """

    places: int
    limit: int

    def __post_init__(self) -> None:
        check_int(self.places, "places", 1)
        if check_int(self.limit, "limit", 0) % 2:
            raise StatementError(f"limit must be even, since half of it is up and half down, got {self.limit}")

    @cached_property
    def _noise(self) -> tuple[np.ndarray, np.ndarray]:
        """P(B = b) for b from 0 to M, and P(B >= b), which by symmetry is P(B <= M - b), for b from 0 to M + 1."""
        from scipy.stats import binom  # takes a third of a second to load

        b = np.arange(self.limit + 2)
        return binom.pmf(b[:-1], self.limit, 0.5), binom.sf(b - 1, self.limit, 0.5)

    def draw(self, x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Draw the published positions of true positions x, both from 0."""
        moved = x + rng.binomial(self.limit, 0.5, len(x)) - self.limit // 2
        return moved.clip(0, self.places - 1)

    def probability(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Return T(x, y) elementwise for arrays of true and published positions of the same shape."""
        move = y - x + self.limit // 2  # the value of B; if y is an end, its upper or lower bound
        inside, (share, tail) = (move >= 0) & (move <= self.limit), self._noise
        p = np.where(inside, share[move.clip(0, self.limit)], 0.0)
        p = np.where(y == self.places - 1, tail[move.clip(0, self.limit + 1)], p)
        p = np.where(y == 0, tail[(self.limit - move).clip(0, self.limit + 1)], p)
        return np.where(y == 0, 1.0, p) if self.places == 1 else p

    @cached_property
    def matrix(self) -> sp.csr_array:
        """T, shape (places, places).

        Raises
        ------
        GroupTooLarge
            If it would not fit into memory.
        """
        reach = min(self.limit // 2, self.places - 1)
        if (entries := self.places * (2 * reach + 1)) > MOST_ENTRIES:
            raise GroupTooLarge(
                f"noise of {self.limit} on {self.places} values has {entries:.1e} probabilities, but at most "
                f"{MOST_ENTRIES:.0e} are supported; round the values"
            )
        move = np.arange(-reach, reach + 1)
        x = np.repeat(np.arange(self.places), len(move))
        y = x + np.tile(move, self.places)
        inside = (y >= 0) & (y < self.places)
        x, y = x[inside], y[inside]
        return sp.csr_array((self.probability(x, y), (x, y)), shape=(self.places, self.places))


# Linkage of noisy records to people, if their true values are drawn from a population.


#: The maximum number of pairs of a true and a published tuple in memory, and of probabilities of joined attributes.
AT_ONCE, JOINT = 2**22, 2**21


class Linked:
    """P(x | y) ~ pi(x) prod_a T_a(x_a, y_a) for all rows x of a population and published records y.

    `records` is the sum of P(x | y_r) over the records r of each kind, by distinct tuple x: their expected number for
    people with x. `of_row` is the distinct tuple of every row of the population, `share` the pi of each row.
    """

    def __init__(
        self,
        true: Sequence[np.ndarray],
        share: np.ndarray,
        published: Sequence[np.ndarray],
        channels: Sequence[Channel],
        kind: np.ndarray,
        kinds: int,
    ) -> None:
        self.share = share
        if not channels:
            self.of_row = np.zeros(len(share), dtype=np.int64)
            self.records = np.bincount(kind, minlength=kinds)[None].astype(float)
            return
        self.of_row, x = _distinct(true, channels)
        of_record, y = _distinct(published, channels)
        pi, n_y = np.bincount(self.of_row, share), len(y[0])
        total = np.zeros(n_y)
        for _, to, p in _pairs(x, y, pi, channels):
            total += np.bincount(to, p, n_y)
        if strangers := int((total[of_record] <= 0).sum()):
            raise TableError(
                f"{strangers} published records cannot belong to anybody in the population; pass the population of the "
                "published data"
            )
        of_kind = sp.coo_array((np.ones(len(kind)), (of_record, kind)), shape=(n_y, kinds)).tocsr()
        self.records = np.zeros((len(pi), kinds))
        for at, to, p in _pairs(x, y, pi, channels):  # computed again, as all together would not fit into memory
            first = int(at[0]) if len(at) else 0
            joint = sp.coo_array((p / total[to], (at - first, to)), shape=(int(at.max(initial=first)) - first + 1, n_y))
            self.records[first : first + joint.shape[0]] += (joint.tocsr() @ of_kind).toarray()

    def among(self, matching: np.ndarray) -> np.ndarray:
        """Return the expected number of records of matching rows, by kind."""
        total = np.bincount(self.of_row, self.share)
        return np.asarray((np.bincount(self.of_row, self.share * matching) / total) @ self.records)


def _pairs(
    x: Sequence[np.ndarray], y: Sequence[np.ndarray], pi: np.ndarray, channels: Sequence[Channel]
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Yield possible pairs of a true and a published tuple, and pi(x) T(x, y), in batches, by true tuple."""
    order = np.argsort([(channel.limit + 1) / channel.places for channel in channels], kind="stable")
    transition, at_x, at_y, n_joined = _joined(
        [channels[a] for a in order], [x[a] for a in order], [y[a] for a in order]
    )
    selection = sp.csr_array((np.ones(len(at_y)), (at_y, np.arange(len(at_y)))), shape=(transition.shape[0], len(at_y)))
    reached = sp.csr_array(transition @ selection)  # from true positions to published tuples
    ends = np.concatenate([[0], np.cumsum(np.diff(reached.indptr)[at_x])])
    start = 0
    while start < len(pi):
        stop = max(int(np.searchsorted(ends, ends[start] + AT_ONCE, side="right")) - 1, start + 1)
        pairs = sp.coo_array(reached[at_x[start:stop]])
        at, to, p = pairs.row + start, pairs.col, pairs.data * pi[pairs.row + start]
        for a in order[n_joined:]:
            p = p * channels[a].probability(x[a][at], y[a][to])
            is_possible = p > 0
            at, to, p = at[is_possible], to[is_possible], p[is_possible]
        yield at, to, p
        start = stop


def _joined(
    channels: Sequence[Channel], x: Sequence[np.ndarray], y: Sequence[np.ndarray]
) -> tuple[sp.csr_array, np.ndarray, np.ndarray, int]:
    """Join some attributes into one: return T, positions of true and published tuples, and the number of attributes."""
    matrix, at_x, at_y, n_joined = channels[0].matrix, x[0], y[0], 1
    for channel, more_x, more_y in zip(channels[1:], x[1:], y[1:], strict=True):
        if matrix.nnz * channel.places * (channel.limit + 1) > JOINT:
            break
        matrix = sp.csr_array(sp.kron(matrix, channel.matrix, format="csr"))
        at_x, at_y = at_x * channel.places + more_x, at_y * channel.places + more_y
        n_joined += 1
    return matrix, at_x, at_y, n_joined


def _distinct(places: Sequence[np.ndarray], channels: Sequence[Channel]) -> tuple[np.ndarray, list[np.ndarray]]:
    """Number the distinct tuples, and return their positions."""
    key = group_codes(places, [channel.places for channel in channels])
    first = np.unique(key, return_index=True)[1]
    return key, [place[first] for place in places]


@dataclass(frozen=True, eq=False, repr=False)
class NoisyTable(Published):
    """All records, with noise on every attribute, in random order.

    Attributes
    ----------
    table, confidential, domain : DataFrame, str, Index
        As in :class:`~maxent_cvx.sdc.Published`.
    domains : dict of str to Index
        The domain of every attribute, in the order of the noise.
    channels : dict of str to Channel
        The public noise of every attribute.

    Examples
    --------
    >>> import maxent_cvx as mx, pandas as pd
    >>> people = pd.DataFrame({"Age": [37, 37, 50, 50], "Salary": [77, 80, 50, 107]})
    >>> noisy = mx.sdc.BinomialNoise(percent=100).publish(people, confidential="Salary")
    >>> noisy
    <NoisyTable: 4 rows; 'Salary' is confidential, one of 4 values>
    >>> noisy.channels["Salary"], list(noisy.domains["Salary"])
    (Channel(places=4, limit=4), [50, 77, 80, 107])
    """

    domains: Mapping[str, pd.Index]
    channels: Mapping[str, Channel]
    _last: list[tuple[bytes, Linked]] = field(init=False, default_factory=list)

    def places(self, frame: pd.DataFrame, name: str) -> np.ndarray:
        """Return the positions in its domain, from 0, of the values of an attribute in a table of records."""
        check_labels(frame[name], f"a cell of column {name!r} of the population")
        at = self.domains[name].get_indexer(pd.Index(frame[name]))
        if (at < 0).any():
            raise TableError(
                f"{join_names(pd.unique(frame[name][at < 0]))} of {name!r} is in the population, but not in the "
                "published domain; pass the population of the published data"
            )
        return at

    def of_people_like(self, person: Known) -> np.ndarray:
        """Return sum_r P(x_r in Mo | y_r) [y_rC = c], the expected records of matching people by published value c."""
        names = [name for name in self.table.columns if name in person.frame.columns and name != self.confidential]
        true = [self.places(person.frame, name) for name in names]
        noisy = [self.places(self.table, name) for name in (*names, self.confidential)]
        share = person.weight / person.weight.sum()
        name = repr((names, len(share))).encode()
        about = hashlib.blake2b(b"".join([name, *(part.tobytes() for part in [*true, share, *noisy])])).digest()
        if not self._last or self._last[0][0] != about:  # independent of the knowledge about a person
            channels = [self.channels[name] for name in names]
            linkage = Linked(true, share, noisy[:-1], channels, noisy[-1], len(self.domain))
            self._last[:] = [(about, linkage)]
        return self._last[0][1].among(person.matching)


#: Techniques with the same seed draw independent numbers, so that publishing with two of them does not disclose noise.
STREAMS = {"Sampling": 1, "RangeQueries": 2, "BinomialNoise": 3}


def draws(technique: str, seed: int) -> np.random.Generator:
    """Return the random generator of a technique with a seed."""
    return np.random.default_rng([seed, STREAMS[technique]])


#: The tolerance of the sum of a prior, which is 1.
ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class BinomialNoise(DomainTechnique):
    """p(d) = sum_r w_r P(d | y_r) / sum_r w_r, where w_r is the probability that record r belongs to a matching person.

    Parameters
    ----------
    percent : float
        The strength of the noise: an attribute with domain D moves by B - M/2 positions, with B binomial (M, 1/2) and
        M = `percent` % of ``|D| - 1``, rounded to the nearest even number, ties to the larger one. An attribute with
        two values therefore has noise only at 100 %.
    seed : int
        The random seed.
    prior : Series, optional
        The intruder's prior of the confidential attribute, by value; by default, uniform over the domain, as in the
        paper's other techniques.

    Raises
    ------
    BadProbability, StatementError, TableError
        If an argument is out of range, or the prior is not a distribution; from `infer`, if no published record can
        belong to a matching person, or the prior is 0 for all values that explain a published record.

    Notes
    -----
    CAE, section 5: noise on all attributes, numerical and categorical. Domains are ordered (see
    :class:`maxent_cvx.sdc.Published`), and values that noise moves beyond an end are clipped to that end.

    The paper prints algorithm 2 again as algorithm 3, so this is our derivation. The intruder knows T_a(x, y), the
    probability that the value x of attribute a is published as y, and the frequency pi of each combination x of the
    other attributes in the population. We assume that records are independent, with x drawn from pi and the
    confidential d from the prior, independently of x, and that the person is equally likely to be any record r. With Mo
    the combinations that match the intruder's knowledge, Bayes' rule gives

        P(r, d | Y, x_r in Mo) ~ P(x_r in Mo, d_r = d, y_r) prod_(s != r) P(y_s) ~ P(x_r in Mo | y_r) P(d | y_rC),

    so that w_r = sum_(x in Mo) pi(x) prod_a T_a(x_a, y_ra) / sum_x pi(x) prod_a T_a(x_a, y_ra), over all published
    attributes of the population, known or not, and P(d | y) = P(d) T_C(d, y) / sum_d' P(d') T_C(d', y). Without noise,
    p(d) is the frequency of d in Mo.

    The inference uses neither the fact that every person has exactly one record (which would require a permanent) nor a
    dependence of d on x.

    Examples
    --------
    >>> import maxent_cvx as mx, pandas as pd
    >>> people = pd.DataFrame({"Age": [37, 37, 50, 50], "Salary": [77, 80, 50, 107]})
    >>> technique = mx.sdc.BinomialNoise(percent=100)
    >>> noisy = technique.publish(people, confidential="Salary")
    >>> technique.infer(noisy, known={"Age": 37}, population=people[["Age"]]).round(3).to_dict()
    {50: 0.189, 77: 0.242, 80: 0.268, 107: 0.301}
    """

    percent: float
    seed: int = 0
    prior: pd.Series | None = None

    _published_as = NoisyTable

    def __post_init__(self) -> None:
        noise_limit(self.percent, 1)
        check_seed(self.seed)
        if self.prior is None:
            return
        if not isinstance(self.prior, pd.Series):
            raise StatementError(f"prior must be a Series of probabilities by value, not {short_repr(self.prior)}")
        if self.prior.index.has_duplicates:
            raise TableError(f"prior has more than one probability for {join_names(repeated(self.prior.index))}")
        if (p := as_numbers(self.prior, "prior").astype(float)).min(initial=0) < 0:
            raise BadProbability(f"the prior must not be negative, got {p.min():.12g}")

    def publish(self, table: pd.DataFrame, confidential: str) -> NoisyTable:
        """Add noise to every value, and shuffle the records; parameters as in :meth:`Technique.publish`.

        Raises
        ------
        TableError, UnknownName, StatementError
            If the table lacks the attribute or has missing values.

        Examples
        --------
        >>> import maxent_cvx as mx, pandas as pd
        >>> people = pd.DataFrame({"Age": [37, 37, 50, 50], "Salary": [77, 80, 50, 107]})
        >>> print(mx.sdc.BinomialNoise(percent=100).publish(people, confidential="Salary").table)
           Age  Salary
        0   50      50
        1   37     107
        2   37      77
        3   50      80
        """
        check_confidential(table, confidential)
        rng = draws("BinomialNoise", self.seed)
        order = rng.permutation(len(table))
        domains = {name: domain_of(table[name]) for name in table.columns}
        channels = {name: Channel(len(d), noise_limit(self.percent, len(d))) for name, d in domains.items()}
        moved = {
            name: domain.take(channels[name].draw(domain.get_indexer(pd.Index(table[name])), rng)[order])
            for name, domain in domains.items()
        }
        return NoisyTable(
            pd.DataFrame(moved).astype(table.dtypes), confidential, domains[confidential], domains, channels
        )

    def _shares(self, published: NoisyTable, person: Known, population: pd.DataFrame | QITable) -> np.ndarray:
        """Return sum_y w_y P(d | y), where w_y is the expected number of records with y of matching people."""
        if strangers := [name for name in person.values if name not in published.domains]:
            raise unknown_name("attribute of the published table", strangers[0], list(published.domains))
        of_y = published.of_people_like(person)
        if not of_y.sum() > 0:
            raise TableError(
                "no published record can belong to such a person; pass the population of the published data"
            )
        of_y /= of_y.sum()
        channel = published.channels[published.confidential]
        joint = channel.matrix * self._prior_of(published.domain)[:, None]  # P(d) T_C(d, y)
        total = np.asarray(joint.sum(axis=0))
        if (of_y[total == 0] > 0).any():
            raise BadProbability("the prior is 0 for all values that explain a published record; increase it there")
        share = np.divide(of_y, total, out=np.zeros(len(of_y)), where=total > 0)
        return np.asarray(joint @ share)

    def _prior_of(self, domain: pd.Index) -> np.ndarray:
        """Return the prior over the domain."""
        if self.prior is None:
            return np.full(len(domain), 1 / len(domain))
        if len(missing := domain.difference(self.prior.index)):
            raise UnknownName(f"prior lacks {join_names(missing)}; give a probability for every value of the domain")
        p = self.prior.reindex(domain).to_numpy(dtype=float)
        if abs(p.sum() - 1) > ROUNDING:
            raise BadProbability(f"the prior must sum to 1 over the domain, got {p.sum():.12g}")
        return p


@dataclass(frozen=True, eq=False, repr=False)
class Sample(Published):
    """The sampled records, in random order, with all attributes.

    Attributes
    ----------
    table, confidential, domain : DataFrame, str, Index
        As in :class:`~maxent_cvx.sdc.Published`.

    Examples
    --------
    >>> import maxent_cvx as mx, pandas as pd
    >>> people = pd.DataFrame({"Age": [37, 37, 50, 50], "Salary": [77, 80, 50, 107]})
    >>> print(mx.sdc.Sampling(0.5).publish(people, confidential="Salary").table)
       Age  Salary
    0   50     107
    1   37      77
    """


@dataclass(frozen=True)
class Sampling(DomainTechnique):
    """``p_i = f_i / |Mo| + (|Mo| - |Ms|) / (|Mo| |D|)``: outside the sample, all values are equally likely.

    Parameters
    ----------
    factor : float
        The share of the records to publish, drawn at random without replacement; their number is rounded half to even.
    seed : int
        The random seed; with the same seed, a smaller sample is part of a larger one.

    Raises
    ------
    BadProbability, StatementError
        If `factor` is not a share above 0, or `seed` is not an integer.
    TableError
        From `infer`: if more people match in the sample than in the population.

    Notes
    -----
    CAE, section 5 and "Details of experiments": Mo are the records of the population that match the intruder's
    knowledge, Ms those of the sample, and f_i the number of records in Ms with the value d_i of the domain D. The
    printed formula multiplies by ``|D|``, which does not yield probabilities.

    Examples
    --------
    >>> import maxent_cvx as mx, pandas as pd
    >>> people = pd.DataFrame({"Age": [37, 37, 50, 50], "Salary": [77, 80, 50, 107]})
    >>> technique = mx.sdc.Sampling(0.5)
    >>> sample = technique.publish(people, confidential="Salary")
    >>> technique.infer(sample, known={"Age": 37}, population=people[["Age"]]).to_dict()
    {50: 0.125, 77: 0.625, 80: 0.125, 107: 0.125}
    """

    factor: float
    seed: int = 0

    _published_as = Sample

    def __post_init__(self) -> None:
        if not 0 < check_number(self.factor, "factor") <= 1:
            raise BadProbability(f"factor must be a share of the records, above 0 and at most 1, got {self.factor!r}")
        check_seed(self.seed)

    def publish(self, table: pd.DataFrame, confidential: str) -> Sample:
        """Draw the sample; parameters as in :meth:`Technique.publish`.

        Raises
        ------
        TableError, UnknownName, StatementError
            If the table lacks the attribute or has missing values, or the sample would be empty.

        Examples
        --------
        >>> import maxent_cvx as mx, pandas as pd
        >>> people = pd.DataFrame({"Age": [37, 37, 50, 50], "Salary": [77, 80, 50, 107]})
        >>> mx.sdc.Sampling(0.5).publish(people, confidential="Salary")
        <Sample: 2 rows; 'Salary' is confidential, one of 4 values>
        """
        check_confidential(table, confidential)
        size = round(Fraction(f"{float(self.factor):.15g}") * len(table))  # as a decimal: the double 0.575 is less
        if not size:
            raise TableError(
                f"factor={self.factor} of {pluralize(len(table), 'record')} is an empty sample; increase the factor"
            )
        drawn = draws("Sampling", self.seed).permutation(len(table))[:size]
        return Sample(table.iloc[drawn].reset_index(drop=True), confidential, domain_of(table[confidential]))

    def _shares(self, published: Sample, person: Known, population: pd.DataFrame | QITable) -> np.ndarray:
        """Return the shares of values among matching people, in the sample and, uniformly, outside of it."""
        table, domain = published.table, published.domain
        matching = table.loc[person.matches(table, "the sample"), published.confidential]
        in_all, in_sample = int(person.weight[person.matching].sum()), len(matching)
        if in_sample > in_all:
            raise TableError(
                f"{in_sample} people of the sample but only {in_all} of the population match the knowledge; "
                "pass the population of the sample"
            )
        frequency = np.bincount(domain.get_indexer(matching), minlength=len(domain))
        return np.asarray(frequency / in_all + (in_all - in_sample) / (in_all * len(domain)))


@runtime_checkable
class Technique(Protocol):
    """The interface of a technique: publish() returns the published data, infer() an intruder's probabilities.

    Notes
    -----
    :func:`maxent_cvx.testing.check_technique` checks user-defined techniques; :func:`maxent_cvx.sdc.experiment` creates
    techniques as ``YourTechnique(strength, seed=seed)``.

    Examples
    --------
    >>> import maxent_cvx as mx, pandas as pd
    >>> class Everything:
    ...     "p_i = f_i / |Mo|: the whole table is published."
    ...     def publish(self, table, confidential):
    ...         return table, confidential
    ...     def infer(self, published, known, population):
    ...         table, confidential = published
    ...         like = table.loc[(table[list(known)] == pd.Series(known)).all(axis=1), confidential]
    ...         return like.value_counts(normalize=True).sort_index()
    >>> everything = Everything()
    >>> people = pd.DataFrame({"Age": [37, 37, 50, 50], "Salary": [77, 80, 50, 107]})
    >>> isinstance(everything, mx.sdc.Technique)
    True
    >>> everything.infer(everything.publish(people, "Salary"), {"Age": 37}, people[["Age"]]).to_dict()
    {77: 0.5, 80: 0.5}
    """

    def publish(self, table: pd.DataFrame, confidential: str) -> Any:
        """Apply the technique to a table, deterministically.

        Parameters
        ----------
        table : DataFrame
            One row per person; all columns are published.
        confidential : str
            The confidential attribute.

        Returns
        -------
        object
            The input of :meth:`infer`; for the techniques of this package, a :class:`Published`.
        """

    def infer(self, published: Any, known: Mapping[str, object], population: pd.DataFrame | QITable) -> pd.Series:
        """Return P(confidential value | published, known) by value; missing values have probability 0.

        Parameters
        ----------
        published : object
            The result of :meth:`publish`.
        known : dict
            Supplementary knowledge (SK) about one person: a mapping of attributes to values, lists of values or
            Intervals.
        population : DataFrame or QITable
            Everybody's other attributes, known to the intruder, which determine ``|Mo|``.

        Returns
        -------
        Series
            Nonnegative probabilities that sum to 1, by value of the confidential attribute.
        """

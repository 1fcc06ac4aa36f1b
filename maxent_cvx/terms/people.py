"""Named people and their quasi-identifiers, and counts of the original records."""

from __future__ import annotations

import numbers
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from .._utils.errors import LargeModel, StatementError, TableError, join_names, pluralize, short_repr, unknown_name
from .._utils.formatting import ReprMixin
from .._utils.tables import Microdata, repeated
from .._utils.validation import check_known, is_text
from ..releases.base import OUTSIDE, BucketView, View
from ..releases.generalized import label_of
from ..releases.partitioned import PartitionedRelease
from ..releases.readers import with_cells
from ..releases.series import ReleaseSeries

# Descriptions of people: tables of quasi-identifiers indexed by name, checked against a view.

#: The label of all unnamed people in the index of the terms.
OTHERS = "(others)"


def described_table(described: object, view: View) -> pd.DataFrame:
    """Convert descriptions to a table of the release's QI columns, indexed by name, without missing values."""
    if isinstance(described, Mapping):
        if strange := [name for name, of in described.items() if not isinstance(of, Mapping)]:
            raise StatementError(
                f"the description of {short_repr(strange[0])} must be a dictionary {{attribute: value}}, not "
                f"{short_repr(described[strange[0]])}"
            )
        described = pd.DataFrame(list(described.values()), index=pd.Index(list(described), dtype=object), dtype=object)
    if not isinstance(described, pd.DataFrame):
        raise StatementError(
            "people must be a dictionary {name: {attribute: value}}, or a table with the QI columns indexed by name, "
            f"not {short_repr(described)}"
        )
    if "who" in view.columns:
        raise StatementError(
            "the column name 'who' is reserved for the names of people in marginal and conditional; rename the column"
        )
    check_known(described.columns, f"quasi-identifier of the {view.noun}", view.qi)
    if described.columns.has_duplicates:
        twice = join_names(repeated(described.columns))
        raise StatementError(f"the table of people has duplicate columns {twice}; keep one of each")
    for attribute in view.qi:
        is_given = attribute in described.columns
        missing = described[attribute].isna() if is_given else np.ones(len(described), dtype=bool)
        if missing.any():
            raise StatementError(
                f"the description of {join_names(described.index[missing])} lacks {attribute!r}; give all QI attributes"
            )
    return described


def is_name(name: object) -> bool:
    """Return whether a value can be the name of a person."""
    if isinstance(name, str):
        return is_text(name) and name not in ("", OTHERS)
    return isinstance(name, numbers.Integral) and not isinstance(name, bool)


def codes_in_view(column: pd.Series, level: pd.Index) -> np.ndarray:
    """Return the view's codes of the values of one attribute."""
    try:
        # As objects, so that a number does not match an interval that contains it.
        codes = pd.Index(level, dtype=object).get_indexer(pd.Index(column.to_numpy(dtype=object), dtype=object))
    except TypeError as error:  # such as a list
        raise StatementError(f"{column.name!r} of every person must be a single value: {error}") from error
    if (codes < 0).any():
        first = int((codes < 0).argmax())
        raise unknown_name(f"value of {column.name!r} (of {column.index[first]!r})", column.iloc[first], level)
    return codes


#: The number of terms from which on a model with named people warns of its cost.
MANY_TERMS = 3_000_000
#: Memory and time of a solve, measured with 100 to 1,000 named people of Adult on one core of 2024.
GIGABYTES_PER_MILLION, SECONDS_PER_MILLION = 0.4, 5


@dataclass(frozen=True, eq=False)
class People(ReprMixin):
    """The named people of a view.

    Naming person i with QI tuple q splits each term P(q, s, b) into P(i, q, s, b) and a term for the other people
    with q. These are interchangeable, so one term stands for all of them, with their number as its weight.
    (Privacy-MaxEnt, section 6, where every record has a pseudonym.)

    Attributes
    ----------
    names : Index
        Strings or integers, in the given order.
    q : ndarray of int
        The position of each person's QI tuple in the release.
    unnamed : ndarray of int
        The number of unnamed people with each QI tuple.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> hospital = mx.datasets.load_hospital()
    >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    >>> people = mx.MaxEnt(release, people={"Iris": {"Gender": "female", "Degree": "graduate"}}).space.people
    >>> people.names.to_list(), release.quasi_identifiers[people.q].to_list()
    (['Iris'], [('female', 'graduate')])
    >>> people.unnamed.tolist()                            # nine of the ten records, by QI tuple
    [2, 0, 1, 3, 1, 2]
    """

    names: pd.Index
    q: np.ndarray
    unnamed: np.ndarray

    @classmethod
    def of(cls, described: Mapping[object, Mapping[str, object]] | pd.DataFrame | None, view: View) -> People:
        """Find described people in a view."""
        if described is None or (isinstance(described, Mapping | pd.DataFrame) and not len(described)):
            return cls.at([], np.empty(0, dtype=np.int64), view)
        table = described_table(described, view)
        if view.generalized:  # cells are texts, exact numbers too
            table = table.map(label_of)
        names = table.index
        if strange := [name for name in names if not is_name(name)]:
            raise StatementError(f"a person's name must be a string or an integer, not {short_repr(strange[0])}")
        if names.has_duplicates:
            raise StatementError(f"several rows describe {join_names(repeated(names))}; describe each person once")
        levels = [
            codes_in_view(table[attribute], view.quasi_identifiers.levels[i]) for i, attribute in enumerate(view.qi)
        ]
        known = pd.MultiIndex.from_arrays([np.asarray(codes) for codes in view.quasi_identifiers.codes])
        q = known.get_indexer(pd.MultiIndex.from_arrays(levels))
        if (q < 0).any():
            raise StatementError(
                f"nobody in the {view.noun} has the {', '.join(view.qi)} of {join_names(names[q < 0])}: "
                "each value occurs, but not together; correct the description"
            )
        people = cls.at(names, q, view)
        if (few := people.unnamed < 0).any():
            first = int(few.argmax())
            alike = names[q == first]
            raise StatementError(
                f"{len(alike)} people have the same description, {join_names(alike)}, but the {view.noun} contains "
                f"{int(view.n_q[first])} with that {', '.join(view.qi)}; correct the descriptions, or name fewer people"
            )
        return people

    @classmethod
    def at(cls, names: Sequence[object] | pd.Index, q: np.ndarray, view: View) -> People:
        """Name people by the positions of their QI tuples."""
        return cls(pd.Index(names, dtype=object, name="who"), q, view.n_q - np.bincount(q, minlength=len(view.n_q)))

    def __repr__(self) -> str:
        return f"<People: {len(self)} named, {int(self.unnamed.sum())} unnamed>"

    def __len__(self) -> int:
        return len(self.names)

    def split(self, codes: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Split terms, sorted by bucket and QI tuple, into one per named person with q, and one for the others."""
        by_q = np.argsort(self.q, kind="stable")
        named = np.bincount(self.q, minlength=len(self.unnamed))
        copies = (named + (self.unnamed > 0))[codes["q"]]
        if (n_terms := int(copies.sum())) >= MANY_TERMS:
            millions = n_terms / 1e6
            warnings.warn(
                f"{pluralize(len(self), 'named person', 'named people')} make {n_terms:,} terms, one per possible "
                f"value and bucket. A solve takes about {GIGABYTES_PER_MILLION * millions:.0f} GB of memory and "
                f"{SECONDS_PER_MILLION * millions:.0f} seconds. Name only people with individual knowledge: all others "
                "have the probabilities of the unnamed people with the same quasi-identifiers",
                LargeModel,
                stacklevel=5,
            )
        of = {axis: np.repeat(code, copies) for axis, code in codes.items()}
        q = of["q"]
        copy = np.arange(len(q)) - np.repeat(np.cumsum(copies) - copies, copies)
        first = np.cumsum(named) - named  # the position in `by_q` of each QI tuple's first name
        is_named = copy < named[q]
        who = np.full(len(q), len(self))
        who[is_named] = by_q[(first[q] + copy)[is_named]]
        order = np.lexsort((of["s"], copy, q, of.get("bucket", np.zeros(len(q)))))
        return {"who": who[order]} | {axis: code[order] for axis, code in of.items()}

    def find(self, who: object) -> np.ndarray:
        """Mark the people with a given name, or with one of a list of names."""
        sought = list(who) if isinstance(who, list | tuple | set | frozenset | pd.Index) else [who]
        if not len(self):
            raise StatementError(
                f"{', '.join(map(short_repr, sought[:5]))} is unknown, because the model has no named people; pass "
                "descriptions (people), or write attribute=value for a group"
            )
        if unknown := [name for name in sought if not is_name(name) or name not in self.names]:
            raise unknown_name("named person", unknown[0], self.names)
        return np.asarray(self.names.isin(sought))


# Counts of the original records, the truth for comparisons with an answer, checked against the release.
#
# Counts per term require the bucket of every record (and its name, if people are named); counts per pair of a QI tuple
# and a sensitive value do not.

#: A function from counts to their sums, the published sums, and whether these are only upper bounds.
Margin = tuple[Callable[[np.ndarray], np.ndarray], np.ndarray, bool | np.ndarray]


def count_pairs(view: View | PartitionedRelease, records: pd.DataFrame) -> np.ndarray:
    """Count the original records of every QI tuple and sensitive value, n(q, s)."""
    if is_generalized := isinstance(view, View) and view.generalized:
        records = with_cells(view, records)
    data = Microdata(records, view.qi, view.sensitive)
    (group, tuples), (value, values) = data.tuples(), data.values()
    q, s = view.quasi_identifiers.get_indexer(tuples), view.sensitive_values.get_indexer(values)
    strangers = f"{int((q < 0).sum())} QI tuples and {int((s < 0).sum())} sensitive values of the original records"
    shape = len(view.n_q), len(view.sensitive_values)
    at = np.where((q[group] < 0) | (s[value] < 0), -1, q[group] * shape[1] + s[value])
    sums: dict[str, Margin] = {"QI": (lambda counts: counts.reshape(shape).sum(axis=1), view.n_q, False)}
    n = view.n_values if isinstance(view, BucketView) else view.n_s
    if n is not None:  # with counterfeits, an upper bound
        sums["sensitive value"] = (lambda counts: counts.reshape(shape).sum(axis=0), n, view.n_s is None)
    exact = ", or exact records that are in one cell each" * is_generalized
    return counted_at(at, shape[0] * shape[1], sums, view, strangers, exact).reshape(shape)


def counted_at(
    at: np.ndarray,
    size: int,
    sums: Mapping[str, Margin],
    view: View | PartitionedRelease,
    strangers: str,
    buckets: str = "",
) -> np.ndarray:
    """Count the records at each position, and check their number, positions and sums against the release."""
    table = "one row per person of all releases" if isinstance(view, ReleaseSeries) else "the published table"
    n, noun, remedy = view.n_records, view.noun, f"; pass {table}{buckets}"
    if isinstance(view, View) and not view.inside.all():
        noun = "population"
        remedy = (
            f"; pass exact records of all of them, with the value {OUTSIDE!r} for people who are not in the release"
        )
    if len(at) != n:
        other = f"{abs(len(at) - n)} {'fewer' if len(at) < n else 'more'}"
        raise TableError(f"the {len(at)} original records are {other} than the {n} people of the {noun}{remedy}")
    if (at < 0).any():
        raise TableError(f"{strangers} are not in the {noun} of {n} people{remedy}")
    counts = np.bincount(at, minlength=size)
    for by, (sum_up, published, at_most) in sums.items():
        totals = sum_up(counts)
        if (off := np.where(at_most, totals > published, totals != published)).any():
            raise TableError(
                f"the counts of the original records by {by} differ from those of the {noun} of {n} people in "
                f"{int(off.sum())} of {len(off)} places{remedy}"
            )
    return counts


def names_in(records: pd.DataFrame, people: People, id: str | None) -> pd.Series:
    """Return the name of each record among the named people, or OTHERS."""
    if id is None:
        raise TableError("the model has named people; pass the column of their names in the records as id")
    if len(missing := people.names.difference(pd.Index(records[id]))):
        raise TableError(f"column {id!r} of the records lacks {join_names(missing)}, who are named in the model")
    called = pd.CategoricalDtype([*people.names, OTHERS])
    return pd.Series(records[id].where(records[id].isin(people.names), OTHERS), dtype=called)

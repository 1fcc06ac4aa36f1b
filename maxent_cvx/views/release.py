"""Buckets: the release of a disguised table, whose terms are P(q, s, b)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np
import pandas as pd
import scipy.sparse as sp

from .. import arguments
from ..errors import StatementError, TableError, listing, shown, unknown_name
from ..tables.coding import distinct, factorize, ranges, sort_distinct, tally
from ..tables.columns import counted, names
from ..tables.microdata import Microdata, check_once
from .base import View, attach, check_roles
from .generalized import label_of
from .grouped import GroupedRelease, group_names, population_groups
from .persons import Persons

__all__ = ["Release"]


@dataclass(frozen=True, eq=False)
class Release(View):
    """Bucketized data D': within a bucket, QI tuples and sensitive values are both known, their links are not.

    Make one with :meth:`from_buckets` or :meth:`from_tables`; nothing that links a QI tuple to a
    sensitive value is kept. (Privacy-MaxEnt, section 3.1, Fig. 1.)

    Attributes
    ----------
    qi, sensitive, bucket : tuple of str, tuple of str, str
        Column names.
    quasi_identifiers : MultiIndex
        The distinct QI tuples q, sorted, one level an attribute.
    sensitive_values, buckets : Index
        The distinct sensitive values s and bucket names b, sorted. Of several sensitive attributes s is a
        combination of their values, and the index has a level for each.
    n_qb, n_sb : csr_array
        Records of q in b (Q x B) and of s in b (S x B), counts.
    persons : Persons or None
        Who is in it, by pseudonym, if pseudonyms are published: what a :class:`ReleaseSeries` is made of.
    generalized : bool
        Whether QI are published generalised only.

    Examples
    --------
    >>> import maxent_cvx as mx, pandas as pd
    >>> hospital = mx.datasets.load_hospital()
    >>> roles = {"qi": ["Gender", "Degree"], "sa": "Disease", "bucket": "Bucket"}
    >>> release = mx.Release.from_buckets(hospital, **roles)
    >>> qi_table, sa_table = release.to_tables()
    >>> mx.Release.from_tables(qi_table, sa_table, count="Count", **roles)
    <Release: 10 records in 3 buckets; 6 distinct (Gender, Degree), 5 values of 'Disease'>
    >>> young = pd.DataFrame({"Age": ["[20, 29]", "[20, 29]", "*"], "Disease": ["Flu", "HIV", "Flu"]})
    >>> mx.Release.from_generalized(young, qi="Age", sa="Disease").buckets.to_list()
    ['Age=*', 'Age=[20, 29]']
    """

    qi: tuple[str, ...]
    sensitive: tuple[str, ...]
    bucket: str
    quasi_identifiers: pd.MultiIndex
    sensitive_values: pd.Index
    buckets: pd.Index
    n_qb: sp.csr_array
    n_sb: sp.csr_array
    persons: Persons | None = None
    generalized: bool = False
    noun: ClassVar[str] = "release"

    @classmethod
    def from_buckets(
        cls,
        table: pd.DataFrame,
        *,
        qi: str | Iterable[str],
        sa: str | Iterable[str],
        bucket: str,
        id: str | None = None,
        count: str | None = None,
    ) -> Release:
        """Publish a table of records whose bucket is known; which row held which value is forgotten.

        Parameters
        ----------
        table : DataFrame
            One row a person, or so many people as its column `count` says. Within a bucket, row order means nothing.
        qi, sa, bucket, id
            Column names, which are checked: each person once, no missing values. `qi` and `sa` may be
            several; what is sensitive is then every combination of the values of `sa`. With `id`, pseudonyms are
            published, too, and `qi` may be empty: then the pseudonym is all that is known of a person.
        count : str, optional
            The column that says how many people a row stands for; other columns without a role are ignored.

        Raises
        ------
        UnknownName, TableError
            If a column is missing, has two roles, or misses values, or a count is not a whole number.
        """
        qi, alone = _with_id(qi, id)
        table, each = _each(table, count, id, {"qi": names(qi, "qi"), "sa": names(sa, "sa"), "bucket": (bucket,)})
        data = Microdata(table, qi, names(sa, "sa"), bucket, None if alone else id)
        if alone:
            check_once(table[id])
        _check_roles(data.qi, data.sa, bucket)
        return cls._count(
            data.qi, data.sa, bucket, table[list(data.qi)], table[list(data.sa)], table[bucket], table[bucket],
            each, each, ids=None if id is None else table[id],
        )  # fmt: skip

    @classmethod
    def from_tables(
        cls,
        qi_table: pd.DataFrame,
        sa_table: pd.DataFrame,
        *,
        qi: str | Iterable[str],
        sa: str | Iterable[str],
        bucket: str,
        count: str | None = None,
        id: str | None = None,
        counterfeits: bool = False,
    ) -> Release:
        """Read the two tables that Anatomy publishes: (QI, bucket) and (bucket, sensitive value, count).

        Parameters
        ----------
        qi_table, sa_table : DataFrame
            Both have the column `bucket`. A row is one record, unless the table has a column `count`.
        qi, sa, bucket, count
            Column names.
        id : str, optional
            The column of the QI table with pseudonyms; a row is then one person, and `qi` may be empty.
        counterfeits : bool
            Whether a bucket may hold more values than people: those of counterfeit records, as in m-invariance.

        Raises
        ------
        UnknownName
            If a column is missing.
        TableError
            If a count is not a whole number, or a bucket's two tables do not hold equally many records.
        """
        arguments.flag(counterfeits, "counterfeits")
        (qi, alone), sa = _with_id(qi, id), names(sa, "sa")
        roles = {"qi": qi, "bucket": (bucket,)} | ({} if id is None or alone else {"id": (id,)})
        qi_table, n_qb = counted(qi_table, roles, None if id is not None else count, "the QI table")
        if id is not None:
            check_once(qi_table[id])
            if count in qi_table.columns:
                raise TableError(f"the QI table has pseudonyms and {count!r}: a row is one person then; leave one out")
        sa_table, n_sb = counted(sa_table, {"sa": sa, "bucket": (bucket,)}, count, "the SA table")
        if count is not None and n_sb is None and (n_qb is None or id is not None):
            raise unknown_name("column of either table (given as count)", count, [*qi_table, *sa_table])
        _check_roles(qi, sa, bucket)
        return cls._count(
            qi, sa, bucket, qi_table[list(qi)], sa_table[list(sa)], qi_table[bucket], sa_table[bucket], n_qb, n_sb,
            None if id is None else qi_table[id], counterfeits,
        )  # fmt: skip

    @classmethod
    def from_generalized(
        cls,
        table: pd.DataFrame,
        *,
        qi: str | Iterable[str],
        sa: str | Iterable[str],
        population: pd.DataFrame | None = None,
        hierarchies: Mapping[str, object] | None = None,
        count: str | None = None,
        id: str | None = None,
    ) -> Release | GroupedRelease:
        """Read records whose QI are generalised; those with the same generalised QI are a group.

        Parameters
        ----------
        table : DataFrame
            One row a person, or so many people as its column `count` says. A generalised value is a pandas Interval (or
            its text, "[20, 30)"), a set of values, a node of a hierarchy, "*" for any value, or an exact value.
        qi, sa : str or several
            Column names.
        population : DataFrame, optional
            The exact QI of the people whom the records are of, and maybe of more: a voter list, one row a person.
            Without it a group's people are known by their generalised QI only, which P(s | q) is then of.
        hierarchies : dict, optional
            Of an attribute ``{node: [values or nodes below]}``, or a table with exact values in the first column and
            what they are generalised to in the others.
        count : str, optional
            The column of `table`, of `population`, or of both, that says how many people a row stands for.
        id : str, optional
            The column of pseudonyms, for a :class:`ReleaseSeries`; without `population`.

        Returns
        -------
        Release or GroupedRelease
            A Release, if it is known who is in which group: without a population, or if it has just the records'
            people, each covered by one group.

        Raises
        ------
        UnknownName, TableError, StatementError
            If a value stands for nobody, or a group holds more records than the population has people for it.
        """
        qi, sa = names(qi, "qi"), names(sa, "sa")
        if hierarchies is not None:
            arguments.mapping(hierarchies, "hierarchies", "{attribute: {node: [values]}}")
        if id is not None:
            arguments.text(id, "id")
        if len(sa) > 1 and population is not None:
            raise StatementError(f"with a population one attribute is sensitive, and {listing(sa)} are; choose one")
        if id is not None and population is not None:
            raise StatementError("pseudonyms say who is in which group; give id or population, not both")
        if count is not None:
            arguments.text(count, "count")
        known = table.columns if isinstance(table, pd.DataFrame) else ()
        inside = count if population is None or count in known else None
        table, each = _each(table, inside, id, {"qi": qi, "sa": sa} | ({} if id is None else {"id": (id,)}))
        if id is not None:
            check_once(table[id])
        texts = pd.DataFrame({name: [label_of(cell) for cell in table[name]] for name in qi}, index=table.index)
        bucket = next(name for name in ("Group", "group", "_group") if name not in (*qi, *sa, id))
        group = group_names(texts).rename(bucket)
        _check_roles(qi, sa, bucket)
        if population is None and hierarchies is not None:
            raise StatementError("hierarchies are about a population; give population=, too")
        if population is None:
            found = cls._count(
                qi, sa, bucket, texts, table[list(sa)], group, group, each, each, None if id is None else table[id]
            )
            return replace(found, generalized=True)
        if each is not None and isinstance(population, pd.DataFrame) and count not in population.columns:
            count = None
        groups = population_groups(table, group, qi, sa, population, count, hierarchies or {}, each)
        n_qb = groups.members()
        if n_qb is None:
            return groups
        return cls(qi, sa, bucket, groups.quasi_identifiers, groups.sensitive_values, groups.buckets, n_qb, groups.n_sb)

    @classmethod
    def _count(
        cls,
        qi: tuple[str, ...],
        sa: tuple[str, ...],
        bucket: str,
        qi_columns: pd.DataFrame,
        sa_columns: pd.DataFrame,
        qi_bucket: pd.Series,
        sa_bucket: pd.Series,
        qi_count: np.ndarray | None = None,
        sa_count: np.ndarray | None = None,
        ids: pd.Series | None = None,
        counterfeits: bool = False,
    ) -> Release:
        """Count records per (q, b) and per (s, b), and check that every bucket's two counts agree."""
        q, quasi_identifiers = sort_distinct(qi_columns)
        s, sensitive_values = distinct(sa_columns)
        b, buckets = factorize(pd.concat([qi_bucket, sa_bucket], ignore_index=True))
        n_qb = tally(q, b[: len(q)], (len(quasi_identifiers), len(buckets)), qi_count)
        n_sb = tally(s, b[len(q) :], (len(sensitive_values), len(buckets)), sa_count)
        people, values = n_qb.sum(axis=0), n_sb.sum(axis=0)
        if (differ := (people > values) if counterfeits else people != values).any():
            first = int(differ.argmax())
            remedy = "" if counterfeits or people[first] > values[first] else ", or pass counterfeits=True"
            raise TableError(
                f"bucket {listing([buckets[first]])} holds {int(people[first])} QI tuples and "
                f"{int(values[first])} sensitive values; the two must be equally many "
                f"(so in {int(differ.sum())} of {len(buckets)} buckets): check the tables' {bucket!r}{remedy}"
            )
        if (people == 0).any():
            raise TableError(f"bucket without records: {listing(buckets[people == 0])}; leave it out")
        persons = None
        if ids is not None:
            persons = Persons(str(ids.name), pd.Index(ids.array, name=ids.name), q, b[: len(q)])
        return cls(qi, sa, bucket, quasi_identifiers, sensitive_values, buckets, n_qb, n_sb, persons)

    @property
    def axes(self) -> Mapping[str, tuple[tuple[str, ...], pd.Index]]:
        """QI tuples, sensitive values, buckets."""
        return {**super().axes, "bucket": ((self.bucket,), self.buckets)}

    @property
    def n_q(self) -> np.ndarray:
        """Records of each QI tuple, counts, in the order of `quasi_identifiers`."""
        return np.asarray(self.n_qb.sum(axis=1))

    @property
    def n_s(self) -> np.ndarray:
        """Records of each sensitive value, counts, in the order of `sensitive_values`."""
        return np.asarray(self.n_sb.sum(axis=1))

    @property
    def with_counterfeits(self) -> np.ndarray:
        """Mark the buckets that hold more values than people, in the order of `buckets`."""
        return np.asarray(self.n_sb.sum(axis=0) > self.n_qb.sum(axis=0))

    @cached_property
    def published(self) -> Mapping[tuple[str, ...], pd.Series]:
        """Records of every QI tuple in every bucket, and of every sensitive value."""
        (q, b), (s, in_b) = self.n_qb.nonzero(), self.n_sb.nonzero()
        n_qb = pd.Series(self.n_qb.data, attach(self.quasi_identifiers, q, self.buckets, b), name="N P(q,b)")
        n_sb = pd.Series(self.n_sb.data, attach(self.sensitive_values, s, self.buckets, in_b), name="N P(s,b)")
        return {("q", "bucket"): n_qb, ("s", "bucket"): n_sb}

    @property
    def p_qb(self) -> pd.Series:
        """P(q, b): the right sides of the QI-invariants (Eq. (4)), probabilities."""
        return (self.published["q", "bucket"] / self.n_records).rename("P(q, b)")

    @property
    def p_sb(self) -> pd.Series:
        """P(s, b): the right sides of the SA-invariants (Eq. (5)), probabilities."""
        return (self.published["s", "bucket"] / self.n_records).rename("P(s, b)")

    def terms(self) -> dict[str, np.ndarray]:
        """Number the terms P(q, s, b) that can be non-zero: q and s both occur in b (Eq. (6)).

        Returns
        -------
        dict
            Codes of "q", "s" and "bucket", one of each a term, sorted by bucket, then q, then s.
        """
        qb, sb = self.n_qb.tocsc(), self.n_sb.tocsc()
        width = np.diff(sb.indptr)  # distinct sensitive values of each bucket
        pair_bucket = np.repeat(np.arange(len(self.buckets)), np.diff(qb.indptr))
        repeat = width[pair_bucket]
        return {
            "q": np.repeat(qb.indices, repeat).astype(np.int64),
            "s": sb.indices[ranges(sb.indptr[pair_bucket], repeat)].astype(np.int64),
            "bucket": np.repeat(pair_bucket, repeat),
        }

    def to_tables(self, count: str = "Count") -> tuple[pd.DataFrame, pd.DataFrame]:
        """Write the two tables that Anatomy publishes, for :meth:`from_tables` and for other people.

        `count` names their column of counts; a TableError says that the release has such a column already.
        """
        arguments.text(count, "count")
        if count in (*self.qi, *self.sensitive, self.bucket):
            raise TableError(
                f"the release has a column {count!r} already; choose another name for the counts, count=..."
            )
        qi_table = self.p_qb.index.to_frame(index=False).assign(**{count: self.n_qb.data})
        sa_table = self.p_sb.index.to_frame(index=False).assign(**{count: self.n_sb.data})
        order = [self.bucket, *self.sensitive]
        return (
            qi_table.sort_values([self.bucket, *self.qi], ignore_index=True),
            sa_table.sort_values(order, ignore_index=True)[[*order, count]],
        )

    def to_tables_of_people(self) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Write a row a person, with pseudonym, QI and bucket, and the values of every bucket with their "Count".

        Raises
        ------
        TableError
            If the release has no pseudonyms.
        """
        if self.persons is None:
            raise TableError("the release has no pseudonyms: it was made without id=")
        people = self.quasi_identifiers[self.persons.q].to_frame(index=False)
        people[self.persons.id] = self.persons.names.array
        people[self.bucket] = self.buckets[self.persons.bucket].array
        return people, self.to_tables()[1]

    def __repr__(self) -> str:
        return (
            f"<Release: {self.n_records} records in {len(self.buckets)} buckets; "
            f"{len(self.quasi_identifiers)} distinct ({', '.join(self.qi)}), "
            f"{len(self.sensitive_values)} values of {', '.join(map(repr, self.sensitive))}>"
        )


def _each(
    table: pd.DataFrame, count: str | None, id: str | None, roles: dict[str, tuple[str, ...]]
) -> tuple[pd.DataFrame, np.ndarray | None]:
    """Check a table of records, and read how many people each row stands for."""
    table, each = counted(table, roles, count, "the table")
    if count is not None and each is None:
        raise unknown_name("column of the table (given as count)", count, table.columns)
    if each is not None and id is not None:
        raise TableError(f"the table has pseudonyms, and counts in {count!r}: a row is one person then; leave one out")
    return table, each


def _with_id(qi: str | Iterable[str], id: str | None) -> tuple[tuple[str, ...], bool]:
    """Read the QI columns; where there are none, the pseudonym is what is known of people."""
    if id is not None and not isinstance(qi, str) and isinstance(qi, Iterable) and not (qi := tuple(qi)):
        return (id,), True
    return names(qi, "qi"), False


def _check_roles(qi: tuple[str, ...], sa: tuple[str, ...], bucket: str) -> None:
    """Check the columns of a release; the bucket is one column."""
    if not isinstance(bucket, str):
        raise TableError(f"bucket must name the column of the published buckets, not {shown(bucket)}")
    check_roles({"q": qi, "s": sa, "bucket": (bucket,)})

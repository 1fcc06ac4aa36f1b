"""Buckets: the release of a disguised table, whose terms are P(q, s, b)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
import scipy.sparse as sp

from ..errors import TableError, arguments
from ..tables.coding import ranges
from .base import View, attach
from .grouped import GroupedRelease
from .persons import Persons
from .release_tables import anatomy_columns, generalized_columns, record_columns
from .storable import taken

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
    stored_as: ClassVar[str] = "Release"

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

        Returns
        -------
        Release

        Raises
        ------
        UnknownName, TableError
            If a column is missing, has two roles, or misses values, or a count is not a whole number.

        Examples
        --------
        Two wards, of two and of three patients, each with its diagnoses in any order:

        >>> import maxent_cvx as mx, pandas as pd
        >>> table = pd.DataFrame(
        ...     {"Sex": ["f", "m", "m"], "Disease": ["Flu", "HIV", "Flu"], "Ward": [1, 1, 2], "n": [1, 1, 3]})
        >>> release = mx.Release.from_buckets(table, qi="Sex", sa="Disease", bucket="Ward", count="n")
        >>> release.n_sb.toarray().tolist()                      # flu and HIV, by ward
        [[1, 3], [1, 0]]
        """
        return cls(**record_columns(table, qi, sa, bucket, id, count).counted())

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

        Returns
        -------
        Release

        Raises
        ------
        UnknownName
            If a column is missing.
        TableError
            If a count is not a whole number, or a bucket's two tables do not hold equally many records.

        Examples
        --------
        >>> import maxent_cvx as mx, pandas as pd
        >>> qi_table = pd.DataFrame({"Sex": ["f", "m", "m"], "Ward": [1, 1, 2]})
        >>> sa_table = pd.DataFrame({"Ward": [1, 1, 2], "Disease": ["Flu", "HIV", "Flu"], "n": [1, 1, 1]})
        >>> release = mx.Release.from_tables(qi_table, sa_table, qi="Sex", sa="Disease", bucket="Ward", count="n")
        >>> mx.MaxEnt(release).solve().prob("HIV", given={"Sex": "m"})
        0.25
        """
        columns = anatomy_columns(qi_table, sa_table, qi, sa, bucket, count, id, counterfeits)
        return cls(**columns.counted())

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
            One row a person, or so many people as its column `count` says. A generalised value is an exact value, a
            pandas Interval, a set, a node of a hierarchy, or a text as other tools write them: "[20, 30)", "20-29",
            "<30", "{20, 21}", "20,21", "1305*", and for any value "*" or a missing value (as of sdcMicro). Of an
            attribute "Age" without a column, `Age_min` and `Age_max`, or truth values `Age_17` and so on, are read.
        qi, sa : str or several
            Column names.
        population : DataFrame, optional
            The exact QI of the people whom the records are of, and maybe of more: a voter list, one row a person.
            Without it a group's people are known by their generalised QI only, which P(s | q) is then of.
        hierarchies : dict, optional
            Of an attribute ``{node: [values or nodes below]}``, or a table with exact values in the first column and
            what they are generalised to in the others, or the name of ARX's file of one. They count, whatever a node
            looks like. Without a population, they say which values can be read.
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
            If a value stands for nobody, or can be read in two ways, a group holds more records than the population has
            people for it, or a column that looks like a count is not declared.

        Examples
        --------
        >>> import maxent_cvx as mx, pandas as pd
        >>> records = pd.DataFrame({"Age": ["[20, 29]", "[20, 29]", "*"], "Disease": ["Flu", "HIV", "Flu"]})
        >>> mx.Release.from_generalized(records, qi="Age", sa="Disease")
        <Release: 3 records in 2 buckets; 2 distinct (Age), 2 values of 'Disease'>
        >>> voters = pd.DataFrame({"Age": [21, 24, 45]})              # "*" can only be the third
        >>> found = mx.Release.from_generalized(records, qi="Age", sa="Disease", population=voters)
        >>> mx.MaxEnt(found).solve().conditional().round(3)["HIV"].to_dict()
        {21: 0.5, 24: 0.5, 45: 0.0}
        """
        found = generalized_columns(table, qi, sa, population, hierarchies, count, id)
        if not isinstance(found, GroupedRelease):
            return cls(**found.counted(), generalized=True)
        if (n_qb := found.members()) is None:
            return found
        tuples, values = found.quasi_identifiers, found.sensitive_values
        return cls(found.qi, found.sensitive, found.bucket, tuples, values, found.buckets, n_qb, found.n_sb)

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

        Examples
        --------
        See :meth:`View.terms`.
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

        Parameters
        ----------
        count : str
            The name of their columns of counts.

        Returns
        -------
        qi_table, sa_table : DataFrame
            A row for each QI tuple, and for each sensitive value, of each bucket, sorted by bucket.

        Raises
        ------
        TableError
            If the release has a column of that name already.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> qi_table, sa_table = release.to_tables()
        >>> print(sa_table.head(3))
           Bucket        Disease  Count
        0       1  Breast Cancer      1
        1       1            Flu      2
        2       1      Pneumonia      1
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

        Returns
        -------
        people, values : DataFrame
            As :meth:`from_tables` reads them with ``id``.

        Raises
        ------
        TableError
            If the release has no pseudonyms.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> first, _ = mx.datasets.load_patients()
        >>> release = mx.Release.from_buckets(first, qi="Gender", sa="Disease", bucket="Bucket", id="Pseudonym")
        >>> people, values = release.to_tables_of_people()
        >>> print(people.head(2))
          Gender  Pseudonym  Bucket
        0   male          1       1
        1   male          2       1
        """
        if self.persons is None:
            raise TableError("the release has no pseudonyms: it was made without id=")
        return self.persons.table(self.quasi_identifiers, self.buckets), self.to_tables()[1]

    def to_frames(self) -> dict[str, Any]:
        """Write the release as its two tables, with a row a person in the first where there are pseudonyms."""
        roles: dict[str, Any] = {"qi": list(self.qi), "sa": list(self.sensitive), "bucket": self.bucket, "id": None}
        count = next(name for name in ("Count", "count", "_count", "__count") if name not in self._names)
        sa_table = self.published["s", "bucket"].index.to_frame(index=False).assign(**{count: self.n_sb.data})
        if self.persons is None:
            qi_table = self.published["q", "bucket"].index.to_frame(index=False).assign(**{count: self.n_qb.data})
        else:
            qi_table, roles["id"] = self.persons.table(self.quasi_identifiers, self.buckets), self.persons.id
            roles["qi"] = [name for name in self.qi if name != self.persons.id]  # alone, it is all there is
        return {"qi_table": qi_table, "sa_table": sa_table, "count": count, "generalized": self.generalized, **roles}

    @classmethod
    def from_frames(cls, frames: Mapping[str, Any]) -> Self:
        """Make the release of its two tables again."""
        qi_table, sa_table, qi, sa, bucket, count, pseudonym, generalized = taken(
            frames, cls, qi_table=pd.DataFrame, sa_table=pd.DataFrame, qi=list, sa=list, bucket=str, count=str,
            id=object, generalized=bool,
        )  # fmt: skip
        columns = anatomy_columns(qi_table, sa_table, qi, sa, bucket, count, pseudonym, counterfeits=True)
        return cls(**columns.counted(), generalized=generalized)

    @property
    def _names(self) -> list[str]:
        """All names of columns, that of pseudonyms too."""
        return [*self.columns, *([] if self.persons is None else [self.persons.id])]

    def __repr__(self) -> str:
        return (
            f"<Release: {self.n_records} records in {len(self.buckets)} buckets; "
            f"{len(self.quasi_identifiers)} distinct ({', '.join(self.qi)}), "
            f"{len(self.sensitive_values)} values of {', '.join(map(repr, self.sensitive))}>"
        )

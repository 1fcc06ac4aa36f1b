"""Release: buckets of records, with terms P(q, s, b)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import pandas as pd

from .._utils.parallel import current_client, executor_for
from .._utils.validation import check_instance
from ..solvers.sparse import canonical
from .base import BucketView, from_dict, unused_name
from .generalized import GroupedRelease
from .partitioned import DaskTable, PartitionedRelease, Roles, dask_release, joined, parquet_release
from .readers import anatomy_columns, generalized_columns, record_columns


@dataclass(frozen=True, eq=False, repr=False)
class Release(BucketView):
    """Bucketized data D': QI tuples and sensitive values of each bucket, but not the links between them.

    Use :meth:`from_buckets` or :meth:`from_tables` to make a release; links between QI tuples and sensitive values are
    not stored. (Privacy-MaxEnt, section 3.1, Fig. 1.)

    Attributes
    ----------
    qi, sensitive, bucket : tuple of str, tuple of str, str
        Column names.
    quasi_identifiers : MultiIndex
        The distinct QI tuples q, sorted, with one level per attribute.
    sensitive_values, buckets : Index
        The distinct sensitive values s and bucket names b, sorted. With several sensitive attributes, s is a
        combination of their values, and the index has one level per attribute.
    n_qb, n_sb : csr_array
        Number of records with q in b (Q x B), and with s in b (S x B).
    persons : Persons or None
        The people by pseudonym, if pseudonyms are published; a :class:`ReleaseSeries` requires them.
    generalized : bool
        Whether the QI are generalised.
    matched : bool
        Whether the records are generalised, and the exact QI of the people in each bucket come from a population. The
        records of a bucket are then identical, which :func:`maxent_cvx.measures.reidentification` takes into account.

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

    matched: bool = False

    stored_as: ClassVar[str] = "Release"

    def __post_init__(self) -> None:
        # Terms are numbered by row and column, but products of sparse matrices are stored in any order.
        for name in ("n_qb", "n_sb"):
            object.__setattr__(self, name, canonical(getattr(self, name)))

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
        """Make a release from records with known buckets, discarding the links between QI and sensitive values.

        Parameters
        ----------
        table : DataFrame
            One row per person, or per group of people with a column `count`. The order of rows is ignored.
        qi, sa, bucket, id
            Column names. Each person must occur once, without missing values. `qi` and `sa` may be lists; the sensitive
            values are then combinations of the values of `sa`. With `id`, pseudonyms are also published, and `qi` may
            be empty, so that only the pseudonym of a person is known.
        count : str, optional
            The column with the number of people per row; other columns without a role are ignored.

        Raises
        ------
        UnknownName, TableError
            If a column is missing, has two roles or missing values, or a count is not an integer.

        Examples
        --------
        Two wards of two and three patients, with their diagnoses in any order:

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
            Tables with the column `bucket`. Each row is one record, unless the table has a column `count`.
        qi, sa, bucket, count
            Column names.
        id : str, optional
            The column of the QI table with pseudonyms; a row is then one person, and `qi` may be empty.
        counterfeits : bool
            Whether a bucket may contain more values than people, because of counterfeit records as in m-invariance.

        Raises
        ------
        UnknownName
            If a column is missing.
        TableError
            If a count is not an integer, or the numbers of records of a bucket in the two tables differ.

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
        """Make a release from records with generalised QI; records with the same generalised QI are a group.

        Parameters
        ----------
        table : DataFrame
            One row per person, or per group of people with their number in `count`. A generalised value is an exact
            value, a pandas Interval, a set, a node of a hierarchy, or a text as written by other tools: "[20, 30)",
            "20-29", "<30", "{20, 21}", "20,21", "1305*", and for any value "*" or a missing value (as in sdcMicro). Times
            without an offset are in UTC. If an attribute "Age" has no column, columns `Age_min` and `Age_max`, or boolean
            `Age_17` etc., are read.
        qi, sa : str or several
            Column names.
        population : DataFrame, optional
            The exact QI of the people in the records, and possibly of others, such as a voter list: one row per person.
            It requires a single `sa`. Without it, only the generalised QI of people are known, and q in P(s | q) is
            generalised. Conditions of statements then refer to cells as written; an exact value that is also in
            generalised cells is an error.
        hierarchies : dict, optional
            By attribute, ``{node: [values or nodes below]}``, or a table with exact values in the first column and
            their generalisations in the others, or the name of an ARX hierarchy file; tables and files must have a row for
            each value of the population. A node takes precedence over any other interpretation of its text. Without a
            population, hierarchies define the possible values.
        count : str, optional
            The column of `table`, of `population`, or of both, with the number of people per row.
        id : str, optional
            The column of pseudonyms, for a :class:`ReleaseSeries`; not with `population`.

        Returns
        -------
        Release or GroupedRelease
            A Release if the members of all groups are known: without a population, or if the population consists of the
            people in the records, each covered by one group.

        Raises
        ------
        UnknownName, TableError, StatementError
            If a value matches nobody or is ambiguous, a hierarchy lacks values of the population, a group contains more
            records than matching people in the population, or a column looks like a count but is not given as one.

        Examples
        --------
        >>> import maxent_cvx as mx, pandas as pd
        >>> records = pd.DataFrame({"Age": ["[20, 29]", "[20, 29]", "*"], "Disease": ["Flu", "HIV", "Flu"]})
        >>> mx.Release.from_generalized(records, qi="Age", sa="Disease")
        <Release: 3 records in 2 buckets; 2 distinct (Age), 2 values of 'Disease'>
        >>> voters = pd.DataFrame({"Age": [21, 24, 45]})              # "*" can only be the third
        >>> release = mx.Release.from_generalized(records, qi="Age", sa="Disease", population=voters)
        >>> mx.MaxEnt(release).solve().conditional().round(3)["HIV"].to_dict()
        {21: 0.5, 24: 0.5, 45: 0.0}
        """
        cells = generalized_columns(table, qi, sa, population, hierarchies, count, id)
        if not isinstance(cells, GroupedRelease):
            return cls(**cells.counted(), generalized=True)
        if (n_qb := cells.members()) is None:
            return cells
        tuples, values = cells.quasi_identifiers, cells.sensitive_values
        return cls(
            cells.qi, cells.sensitive, cells.bucket, tuples, values, cells.buckets, n_qb, cells.n_sb, matched=True
        )

    @classmethod
    def from_parquet(
        cls,
        path: object,
        *,
        qi: str | Iterable[str],
        sa: str | Iterable[str],
        bucket: str,
        count: str | None = None,
        partitions: int | None = None,
        id: None = None,
    ) -> PartitionedRelease:
        """Read Parquet files of records with known buckets, one partition at a time, like :meth:`from_buckets`.

        A partition consists of whole buckets. Files, or row groups, that contain whole buckets are combined without
        changes; otherwise records are shuffled by bucket, through temporary files (in ``TMPDIR``) that are removed with
        the release. Files are read again whenever partitions are computed, and must not change in between.

        Parameters
        ----------
        path : str, path-like, or list of them
            A file, a pattern such as ``people/*.parquet``, or a folder. Only the following columns are read.
        qi, sa, bucket, count
            See :meth:`from_buckets`.
        partitions : int, optional
            The approximate number of partitions; by default one per 250,000 rows.
        id : None
            Not supported: a partitioned release has no pseudonyms.

        Raises
        ------
        UnknownName, TableError, StatementError
            See :meth:`from_buckets`; also if a file cannot be read or is given twice, or the type of a column differs
            between files, so that values cannot be compared.

        Examples
        --------
        >>> import maxent_cvx as mx, pandas as pd, tempfile
        >>> wards = {"Sex": ["f", "m", "m"], "Disease": ["Flu", "HIV", "Flu"], "Ward": [1, 1, 2]}
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     pd.DataFrame(wards).to_parquet(f"{folder}/people.parquet")
        ...     release = mx.Release.from_parquet(
        ...         f"{folder}/*.parquet", qi="Sex", sa="Disease", bucket="Ward", partitions=2)
        >>> print(release.describe())
                   records  buckets  tuples
        partition
        0                2        1       2
        1                1        1       1
        """
        return parquet_release(path, Roles.read(qi, sa, bucket, count, id), partitions)

    @classmethod
    def from_dask(
        cls,
        table: DaskTable,
        *,
        qi: str | Iterable[str],
        sa: str | Iterable[str],
        bucket: str,
        count: str | None = None,
        id: None = None,
    ) -> PartitionedRelease:
        """Make a release from a Dask DataFrame of records with known buckets, without collecting its partitions.

        Partitions that contain whole buckets become the partitions of the release. Otherwise the table is shuffled by
        bucket: with Dask's shuffle on the workers if there is a Dask client, else through temporary files.

        Parameters
        ----------
        table : dask.dataframe.DataFrame
            The table is recomputed whenever partitions are; ``table.persist()`` keeps it in the workers' memory. Dask
            converts object columns to text, so 1 and "1" are equal, unless ``dataframe.convert-string`` is False.
        qi, sa, bucket, count
            See :meth:`from_buckets`.
        id : None
            Not supported: a partitioned release has no pseudonyms.

        Raises
        ------
        UnknownName, TableError, StatementError
            See :meth:`from_buckets`; also if the type of a column differs between partitions.

        Examples
        --------
        >>> import dask.dataframe as dd, maxent_cvx as mx
        >>> people = dd.from_pandas(mx.datasets.load_hospital(), npartitions=2)
        >>> release = mx.Release.from_dask(people, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> release
        <PartitionedRelease: 10 records in 3 buckets, 2 partitions; 6 distinct (Gender, Degree), 5 values of 'Disease'>
        """
        return dask_release(table, Roles.read(qi, sa, bucket, count, id))

    @classmethod
    def from_partitions(cls, release: PartitionedRelease) -> Release:
        """Compute all partitions of a small release, and combine them in memory.

        Parameters
        ----------
        release : PartitionedRelease

        Returns
        -------
        Release
            The result of :meth:`from_buckets` for the whole table.

        Raises
        ------
        StatementError
            If `release` is not a PartitionedRelease.

        Examples
        --------
        >>> import dask.dataframe as dd, maxent_cvx as mx
        >>> people = dd.from_pandas(mx.datasets.load_hospital(), npartitions=2)
        >>> release = mx.Release.from_dask(people, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> mx.Release.from_partitions(release)
        <Release: 10 records in 3 buckets; 6 distinct (Gender, Degree), 5 values of 'Disease'>
        """
        check_instance(release, PartitionedRelease, "release", "make one with Release.from_parquet(...)")
        return cls(**joined(release, executor_for(current_client())))

    def to_frames(self) -> dict[str, Any]:
        """Convert the release to its two tables; with pseudonyms, the first has one row per person."""
        roles: dict[str, Any] = {"qi": list(self.qi), "sa": list(self.sensitive), "bucket": self.bucket, "id": None}
        persons = [] if self.persons is None else [self.persons.id]
        count = unused_name("Count", [*self.columns, *persons])
        qi_table, sa_table = self._counted_tables(count)
        if self.persons is not None:
            qi_table, roles["id"] = self.persons.table(self.quasi_identifiers, self.buckets), self.persons.id
            roles["qi"] = [name for name in self.qi if name != self.persons.id]  # the pseudonym replaces empty qi
        if self.matched:  # keep the format of version 0.2.0 for other releases
            roles["matched"] = True
        return {"qi_table": qi_table, "sa_table": sa_table, "count": count, "generalized": self.generalized, **roles}

    @classmethod
    def from_frames(cls, frames: Mapping[str, Any]) -> Self:
        """Restore the release from its two tables."""
        frames = {"matched": False, **frames} if isinstance(frames, Mapping) else frames
        qi_table, sa_table, qi, sa, bucket, count, pseudonym, generalized, matched = from_dict(
            frames, cls, qi_table=pd.DataFrame, sa_table=pd.DataFrame, qi=list, sa=list, bucket=str, count=str,
            id=object, generalized=bool, matched=bool,
        )  # fmt: skip
        columns = anatomy_columns(qi_table, sa_table, qi, sa, bucket, count, pseudonym, counterfeits=True)
        return cls(**columns.counted(), generalized=generalized, matched=matched)

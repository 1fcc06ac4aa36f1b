"""Release: buckets of records, whose terms are P(q, s, b)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import pandas as pd

from .._utils.parallel import current_client, executor_for
from .._utils.validation import check_instance
from .base import BucketView, from_dict
from .generalized import GroupedRelease
from .partitioned import DaskTable, PartitionedRelease, Roles, dask_release, joined, parquet_release
from .readers import anatomy_columns, generalized_columns, record_columns


@dataclass(frozen=True, eq=False, repr=False)
class Release(BucketView):
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
        cells = generalized_columns(table, qi, sa, population, hierarchies, count, id)
        if not isinstance(cells, GroupedRelease):
            return cls(**cells.counted(), generalized=True)
        if (n_qb := cells.members()) is None:
            return cells
        tuples, values = cells.quasi_identifiers, cells.sensitive_values
        return cls(cells.qi, cells.sensitive, cells.bucket, tuples, values, cells.buckets, n_qb, cells.n_sb)

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
        """Read Parquet files of records whose bucket is known, a partition at a time, as :meth:`from_buckets` does.

        A partition is whole buckets. Where files, or groups of rows in them, hold whole buckets, they are left as they
        are and put together; else records are shuffled by bucket, through temporary files (in ``TMPDIR``) that are
        removed with the release. Files are read again when parts are made, and a change of them is an error then.

        Parameters
        ----------
        path : str, path-like, or list of them
            A file, a pattern such as ``people/*.parquet``, or a folder. Other columns than these are not read:
        qi, sa, bucket, count
            As in :meth:`from_buckets`.
        partitions : int, optional
            About how many; by default one for 250,000 rows.
        id : None
            A release in partitions has no pseudonyms.

        Raises
        ------
        UnknownName, TableError, StatementError
            As in :meth:`from_buckets`; or a file cannot be read, is given twice, or has a column of another type than
            the others, so that nobody can say which values are the same.

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
        """Read a Dask DataFrame of records whose bucket is known; its partitions stay where they are.

        Where partitions hold whole buckets they are those of the release. Else the table is shuffled by bucket: on
        the workers, with Dask's shuffle, where there is a client of Dask; without one through temporary files.

        Parameters
        ----------
        table : dask.dataframe.DataFrame
            It is computed again when parts are made; ``table.persist()`` keeps it in the workers' memory. A column of
            objects is one of texts to Dask, so that 1 and "1" are the same, unless its option
            ``dataframe.convert-string`` is False.
        qi, sa, bucket, count
            As in :meth:`from_buckets`.
        id : None
            A release in partitions has no pseudonyms.

        Raises
        ------
        UnknownName, TableError, StatementError
            As in :meth:`from_buckets`; or a column has another type in another partition.

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
        """Make all parts of a small release, and join them in memory.

        Parameters
        ----------
        release : PartitionedRelease

        Returns
        -------
        Release
            What :meth:`from_buckets` makes of the whole table.

        Raises
        ------
        StatementError
            If it is no release in partitions.

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
        """Write the release as its two tables, with one row per person in the first where there are pseudonyms."""
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
        qi_table, sa_table, qi, sa, bucket, count, pseudonym, generalized = from_dict(
            frames, cls, qi_table=pd.DataFrame, sa_table=pd.DataFrame, qi=list, sa=list, bucket=str, count=str,
            id=object, generalized=bool,
        )  # fmt: skip
        columns = anatomy_columns(qi_table, sa_table, qi, sa, bucket, count, pseudonym, counterfeits=True)
        return cls(**columns.counted(), generalized=generalized)

    @property
    def _names(self) -> list[str]:
        """All names of columns, that of pseudonyms too."""
        return [*self.columns, *([] if self.persons is None else [self.persons.id])]

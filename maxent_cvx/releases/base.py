"""View: the terms that can be non-zero, and their published counts."""

from __future__ import annotations

import dataclasses
import itertools
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
import scipy.sparse as sp

from .._utils.errors import MaxEntError, StatementError, TableError, join_names, pluralize, short_repr
from .._utils.formatting import ReprMixin, TablePreview
from .._utils.tables import multi_index, plain_index, term_codes
from .._utils.validation import check_str

# Text and tables in the representation of views.

#: Maximum number of buckets or groups shown, and of labels listed for each.
SHOWN, LISTED = 10, 6


def sizes_of(view: Any) -> str:
    """Return the size of a view as text: "6 distinct (Gender, Degree), 5 values of 'Disease'"."""
    values = pluralize(len(view.sensitive_values), "value")
    sensitive = ", ".join(map(repr, view.sensitive))
    return f"{len(view.quasi_identifiers)} distinct ({', '.join(view.qi)}), {values} of {sensitive}"


def contents(counts: sp.csr_array, labels: pd.Index) -> list[str]:
    """Return the labels and counts in each of the first SHOWN buckets: "Flu (2); HIV"; at most LISTED labels."""
    columns = counts[:, :SHOWN].tocsc()
    columns.sort_indices()
    texts = []
    for start, end in itertools.pairwise(columns.indptr):
        first = labels[columns.indices[start:end][:LISTED]]
        names = [", ".join(map(str, label)) if isinstance(label, tuple) else str(label) for label in first]
        pairs = zip(names, columns.data[start:end], strict=False)
        listed = [f"{name} ({n})" if n != 1 else name for name, n in pairs]
        texts.append("; ".join(listed) + (f"; ... of {end - start}" if end - start > LISTED else ""))
    return texts


#: The sensitive value and the bucket of people in a population who are not in the release.
OUTSIDE = "(not in the release)"

# Storage of views as tables, with a name that identifies their class.

#: All classes of views, by their names in files. A class that is redefined, as in a notebook, replaces the old one.
KINDS: dict[str, type[View]] = {}


def name_of(kind: type) -> str:
    """Return the name of a class in files, which subclasses do not inherit."""
    name = vars(kind).get("stored_as", _place(kind))
    if not isinstance(name, str) or not name:
        raise StatementError(f"stored_as of {_place(kind)} must be a non-empty string, got {short_repr(name)}")
    return name


def _place(kind: type) -> str:
    """Return the import path of a class."""
    return f"{kind.__module__}.{kind.__qualname__}"


def stored(view: View) -> dict[str, Any]:
    """Convert a view to the name of its class and the result of :meth:`maxent_cvx.View.to_frames`."""
    kind = type(view)
    if KINDS.get(name_of(kind)) is not kind:
        raise TableError(f"the class {_place(kind)} was redefined after the view was made; make the view again")
    frames = view.to_frames()
    _check_whole(view, frames)
    return {"kind": name_of(kind), "frames": frames}


def restored(parts: Mapping[str, Any]) -> Any:
    """Restore a view from the result of :func:`stored`."""
    if not isinstance(parts, Mapping) or not isinstance(name := parts.get("kind"), str) or "frames" not in parts:
        raise TableError(f"a stored view must have a string kind, and frames, got {short_repr(parts)}")
    if name not in KINDS:
        module = str(name).rpartition(".")[0].partition(".<locals>")[0]
        raise TableError(
            f"it contains a view of the unknown class {name}; import the module that defines it ({module or name}), or "
            f"define it, and try again. Known classes are {join_names(KINDS, 20)}"
        )
    kind = KINDS[name]
    try:
        view = kind.from_frames(parts["frames"])
    except Exception as error:  # user-defined code may raise any error
        reason = " ".join(str(error).split())
        if not isinstance(error, MaxEntError):
            reason = f"{type(error).__name__}: {reason}; from_frames(cls, frames) must accept the result of to_frames()"
        raise TableError(f"a {kind.__name__} cannot be made from its tables: {reason}") from error
    if type(view) is not kind:
        raise TableError(f"{kind.__name__}.from_frames must return a {kind.__name__}, got a {type(view).__name__}")
    return view


def from_dict(frames: Mapping[str, Any], kind: type, **expected: type) -> list[Any]:
    """Return the entries of a stored view after checking their names and types."""
    if not isinstance(frames, Mapping) or set(frames) != set(expected):
        written = join_names(sorted(map(str, frames))) if isinstance(frames, Mapping) else short_repr(frames)
        raise TableError(f"a stored {kind.__name__} must have {join_names(expected, 20)}, got {written or 'nothing'}")
    for name, sort in expected.items():
        if not isinstance(frames[name], sort):
            raise TableError(f"{name!r} of a {kind.__name__} must be a {sort.__name__}, got {short_repr(frames[name])}")
        if isinstance(frames[name], list) and not all(isinstance(column, str | Mapping) for column in frames[name]):
            raise TableError(f"{name!r} of a {kind.__name__} must contain only names, got {short_repr(frames[name])}")
    return [frames[name] for name in expected]


def labels_of(column: pd.Series) -> pd.Index:
    """Return an index of the values and the type of a column; pandas would infer another type for objects."""
    return pd.Index(column.array, dtype=column.dtype, name=column.name)


def positions(frame: pd.DataFrame, sizes: Mapping[str, int], what: str) -> list[np.ndarray]:
    """Return columns of positions after checking that each is below the given size."""
    codes = []
    for name, size in sizes.items():
        column = frame[name].to_numpy() if name in frame.columns else np.array([None])
        if column.dtype.kind not in "iu" or ((column < 0) | (column >= size)).any():
            raise TableError(f"column {name!r} of {what} must contain positions from 0 to {size - 1}")
        codes.append(column.astype(np.int64))
    return codes


def _check_whole(view: View, frames: dict[str, Any]) -> None:
    """Raise TableError if a view has attributes that the `to_frames` of its parent class does not store."""
    kind = type(view)
    owner: Any = next(cls for cls in kind.__mro__ if "to_frames" in vars(cls))
    if owner is kind or owner not in KINDS.values():
        return
    restored = set(vars(owner.from_frames(frames)))
    derived = {name for cls in kind.__mro__ for name, value in vars(cls).items() if isinstance(value, cached_property)}
    if more := sorted(set(vars(view)) - restored - derived):
        raise TableError(
            f"a {kind.__name__} has {join_names(more)}, which the tables of a {owner.__name__} do not contain, so it "
            f"would not be restored; {kind.__name__} must define to_frames() and from_frames(cls, frames)"
        )


class View(ReprMixin, ABC):
    """The published data: everybody's quasi-identifiers, and information about the sensitive values.

    A term is a combination of one label per role: P(q, s, b) in a release, P(q, s) in a view without buckets. A model
    of a view requires that marginals of the terms equal the counts in `published`, unless other sources are registered
    for the view (``maxent_cvx.sources.published_sources``).

    A user-defined view is a subclass that defines `qi`, `sensitive`, `quasi_identifiers`, `sensitive_values`, `noun`,
    `n_q`, `n_s`, `published` and `terms`, and, if terms have other roles than q and s, `axes`. They are checked when a
    model of the view is made.

    Attributes
    ----------
    qi, sensitive : tuple of str
        Column names.
    quasi_identifiers : MultiIndex
        The distinct QI tuples q, sorted, with one level per attribute.
    sensitive_values : Index
        The distinct sensitive values s. With several sensitive attributes, s is a combination of their values, and the
        index has one level per attribute.
    noun : str
        The name of such a view in messages.
    is_conditional : bool
        Whether the objective is H(S | Q) instead of the entropy of the terms; the two differ by a constant.
    generalized : bool
        Whether the quasi-identifiers are generalised.
    stored_as : str
        The name of the class in files; by default its module and qualified name. It is not inherited.

    Examples
    --------
    A release, a table of quasi-identifiers alone and a series are views, with the same properties:

    >>> import maxent_cvx as mx
    >>> hospital = mx.datasets.load_hospital()
    >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    >>> table = mx.QITable(hospital, qi=["Gender", "Degree"], sa="Disease", sa_values=["Flu", "HIV"])
    >>> for view in (release, table):
    ...     print(view.noun, view.n_records, view.n_q.tolist(), view.n_s, list(view.axes))
    release 10 [2, 1, 1, 3, 1, 2] [2 3 2 1 2] ['q', 's', 'bucket']
    QI table 10 [2, 1, 1, 3, 1, 2] None ['q', 's']

    A user-defined view with the number of people in each ward and with each disease. It can also be saved, because it
    is a dataclass of tables:

    >>> import dataclasses, numpy as np, pandas as pd
    >>> @dataclasses.dataclass(frozen=True, eq=False)
    ... class TwoMargins(mx.View):
    ...     wards: pd.DataFrame                          # ward, n
    ...     diseases: pd.DataFrame                       # disease, n
    ...     qi, sensitive, noun = ("ward",), ("disease",), "pair of margins"
    ...     quasi_identifiers = property(lambda self: pd.MultiIndex.from_frame(self.wards[["ward"]]))
    ...     sensitive_values = property(lambda self: pd.Index(self.diseases["disease"]))
    ...     n_q = property(lambda self: self.wards["n"].to_numpy())
    ...     n_s = property(lambda self: self.diseases["n"].to_numpy())
    ...     published = property(lambda self: {
    ...         ("q",): self.wards.set_index("ward")["n"], ("s",): self.diseases.set_index("disease")["n"]})
    ...     def terms(self):
    ...         return {"q": np.repeat(np.arange(2), 2), "s": np.tile(np.arange(2), 2)}
    >>> view = TwoMargins(pd.DataFrame({"ward": ["A", "B"], "n": [3, 1]}),
    ...                   pd.DataFrame({"disease": ["Flu", "HIV"], "n": [2, 2]}))
    >>> post = mx.MaxEnt(view).add("P(HIV | ward=B) = 1").solve()
    >>> post.conditional()["HIV"].round(3).to_dict()
    {'A': 0.333, 'B': 1.0}
    """

    qi: tuple[str, ...]
    sensitive: tuple[str, ...]
    quasi_identifiers: pd.MultiIndex
    sensitive_values: pd.Index
    noun: ClassVar[str]
    is_conditional: ClassVar[bool] = False
    generalized: bool = False

    def __init_subclass__(cls, **more: Any) -> None:
        """Register the class by its name in files."""
        super().__init_subclass__(**more)
        name = name_of(cls)
        if (other := KINDS.get(name)) is not None and _place(other) != _place(cls):
            raise StatementError(
                f"stored_as={name!r} of {_place(cls)} is already used by {_place(other)}, but names in files must be "
                "unique; choose another name"
            )
        KINDS[name] = cls

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {pluralize(self.n_records, 'record')}; {sizes_of(self)}>"

    def _tables(self) -> Iterable[TablePreview]:
        tables = self.published.values()
        return [TablePreview(counts.iloc[:SHOWN].to_frame("people"), "counts", len(counts)) for counts in tables]

    @property
    def sa(self) -> str | tuple[str, ...]:
        """The column of the sensitive attribute, or a tuple of several columns."""
        return self.sensitive if len(self.sensitive) > 1 else self.sensitive[0]

    @property
    def n_records(self) -> int:
        """N, the number of records."""
        return int(self.n_q.sum())

    @property
    @abstractmethod
    def n_q(self) -> np.ndarray:
        """Number of records with each QI tuple, in the order of `quasi_identifiers`."""

    @property
    @abstractmethod
    def n_s(self) -> np.ndarray | None:
        """Number of records with each sensitive value, in the order of `sensitive_values`; None if not published."""

    @property
    def inside(self) -> np.ndarray:
        """Mask of sensitive values: False for the value of people outside the release, otherwise True."""
        return np.asarray(self.sensitive_values.to_flat_index() != OUTSIDE)

    @property
    def axes(self) -> Mapping[str, tuple[tuple[str, ...], pd.Index]]:
        """The roles by which terms are numbered, "q" and "s" first: the columns with each role, and its labels."""
        return {"q": (self.qi, self.quasi_identifiers), "s": (self.sensitive, self.sensitive_values)}

    @property
    @abstractmethod
    def published(self) -> Mapping[tuple[str, ...], pd.Series]:
        """The published counts, by roles or columns: the number of records with each occurring label, sorted.

        At least one of the tables is by "q". Labels without terms must not occur; all labels with terms must occur,
        with a count of 0 if nobody has them.
        """

    @abstractmethod
    def terms(self) -> dict[str, np.ndarray]:
        """Return the codes of the terms that can be non-zero, by role, sorted by other roles, if any, then q, then s.

        Returns
        -------
        dict of str to ndarray of int
            For every role, the position of each term's label in the role's index.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> {role: code[:4].tolist() for role, code in release.terms().items()}    # of bucket 1
        {'q': [0, 0, 0, 3], 's': [0, 1, 4, 0], 'bucket': [0, 0, 0, 0]}
        """

    def named(self, who: object) -> np.ndarray | None:
        """Mark the QI tuples of people given by pseudonym, if the view has pseudonyms; else None.

        Parameters
        ----------
        who : object
            One pseudonym, or a list of them.

        Returns
        -------
        ndarray of bool, one per QI tuple, or None

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> tables = mx.datasets.load_patients()
        >>> first, second = (
        ...     mx.Release.from_buckets(t, qi=[], sa="Disease", bucket="Bucket", id="Pseudonym") for t in tables)
        >>> series = mx.ReleaseSeries([first, second])
        >>> series.named([5, 7]).nonzero()[0].tolist(), first.named(5) is None      # only a series has pseudonyms
        ([4, 6], True)
        """
        return None

    def described(self, attribute: str, chosen: object) -> np.ndarray | None:
        """Mark QI tuples by an attribute of the view that is not a quasi-identifier; None if it does not exist.

        Parameters
        ----------
        attribute : str
        chosen : object
            A value, several values, or an interval.

        Returns
        -------
        ndarray of bool, one per QI tuple, or None

        Examples
        --------
        In a series, people are also described by the releases that contain them:

        >>> import maxent_cvx as mx
        >>> tables = mx.datasets.load_patients()
        >>> series = mx.ReleaseSeries(
        ...     mx.Release.from_buckets(t, qi=[], sa="Disease", bucket="Bucket", id="Pseudonym") for t in tables)
        >>> int(series.described("release", 1).sum()), series.described("Gender", "male") is None
        (13, True)
        """
        return None

    def tell_apart(self, names: Iterable[str]) -> None:
        """Declare that rows depend on the combinations of values of these columns, of which a partition has only some."""

    def to_frames(self) -> dict[str, Any]:
        """Convert the view to tables, from which :meth:`from_frames` restores it.

        The default requires a dataclass, whose fields are tables, or values that JSON can represent.

        Returns
        -------
        dict
            DataFrames with a default index by name; also strings, numbers, True, False and None, and lists, tuples and
            dictionaries of all of these.

        Raises
        ------
        TableError
            If the class is neither a dataclass nor defines the method.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> frames = release.to_frames()
        >>> print(frames["sa_table"].head(2))
                 Disease  Bucket  Count
        0  Breast Cancer       1      1
        1  Breast Cancer       2      1
        >>> mx.Release.from_frames(frames)
        <Release: 10 records in 3 buckets; 6 distinct (Gender, Degree), 5 values of 'Disease'>
        """
        if not dataclasses.is_dataclass(self):
            name = type(self).__name__
            raise TableError(
                f"a {name} cannot be saved: it must define to_frames(self), which returns a dictionary of DataFrames, "
                "and the classmethod from_frames(cls, frames), which restores the view. Alternatively, save "
                "post.joint() and post.conditional()"
            )
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self) if field.init}

    @classmethod
    def from_frames(cls, frames: Mapping[str, Any]) -> Self:
        """Restore the view from the result of :meth:`to_frames`; by default ``cls(**frames)``.

        Parameters
        ----------
        frames : dict
            The tables by name.

        Returns
        -------
        View
            An instance of this class.

        Raises
        ------
        TableError
            If these are not the tables of such a view.

        Examples
        --------
        From a table of people and the possible sensitive values:

        >>> import maxent_cvx as mx
        >>> table = mx.QITable(mx.datasets.load_hospital(), qi="Gender", sa="Disease", sa_values=["Flu", "HIV"])
        >>> again = mx.QITable.from_frames(table.to_frames())
        >>> again.n_q.tolist(), list(again.sensitive_values)
        ([4, 6], ['Flu', 'HIV'])
        """
        if not isinstance(frames, Mapping):
            raise TableError(f"frames must be a dictionary of tables, got {short_repr(frames)}")
        try:
            return cls(**frames)
        except TypeError as error:
            raise TableError(f"a {cls.__name__} cannot be made from {join_names(frames)}: {error}") from error

    def _people_by_tuple(self) -> pd.Series:
        """Return the records with each QI tuple for `published`; labels of a single attribute are not tuples."""
        return pd.Series(self.n_q, plain_index(self.quasi_identifiers), name="N P(q)")

    @property
    def columns(self) -> list[str]:
        """All columns with a role."""
        return [column for columns, _ in self.axes.values() for column in columns]


def unused_name(name: str, taken: Collection[object]) -> str:
    """Return an unused column name: "Count", "count", "_count", "__count", and so on."""
    candidates = itertools.chain([name], ("_" * n + name.lower() for n in itertools.count()))
    return next(candidate for candidate in candidates if candidate not in taken)


#: The meaning of the names of roles.
ROLES = {"q": "all quasi-identifiers together", "s": "the sensitive attributes", "bucket": "the bucket"}


def check_roles(players: Mapping[str, tuple[str, ...]]) -> None:
    """Raise TableError for columns whose names sources would interpret as another role."""
    columns = {column for columns_of_role in players.values() for column in columns_of_role}
    for name, columns_of_role in players.items():
        if name in columns and columns_of_role != (name,):
            raise TableError(
                f"the column name {name!r} is reserved, because it means {ROLES.get(name, 'the columns')} "
                f"({', '.join(map(repr, columns_of_role))}) in marginal and conditional; rename the column"
            )


def attach(first: pd.Index, i: np.ndarray, second: pd.Index, j: np.ndarray) -> pd.MultiIndex:
    """Combine entries of two indices, by position, into a MultiIndex that shares their levels."""
    levels, codes, labels = [], [], []
    for index, position in ((first, i), (second, j)):
        if isinstance(index, pd.MultiIndex):
            levels += list(index.levels)
            codes += [np.asarray(code)[position] for code in index.codes]
        else:
            levels.append(index)
            codes.append(position)
        labels += list(index.names)
    return multi_index(levels, codes, labels)


def labelled(counts: sp.csr_array, rows: pd.Index, columns: pd.Index, name: str) -> pd.Series:
    """Return the entries of a table of counts by their labels."""
    i, j = counts.nonzero()
    return pd.Series(counts.data, attach(rows, i, columns, j), name=name)


# People of a release by pseudonym, which links the releases of a series.


@dataclass(frozen=True, eq=False)
class Persons:
    """The people of a release."""

    id: str  # the column of pseudonyms
    names: pd.Index  # one per person: the pseudonym
    q: np.ndarray  # one per person: position of the QI tuple in the release
    bucket: np.ndarray  # one per person: position of the bucket in the release

    def __len__(self) -> int:
        return len(self.names)

    def table(self, quasi_identifiers: pd.MultiIndex, buckets: pd.Index) -> pd.DataFrame:
        """Return one row per person: QI, pseudonym and bucket."""
        people = quasi_identifiers[self.q].to_frame(index=False)
        people[self.id] = self.names.array
        people[str(buckets.name)] = buckets[self.bucket].array
        return people


# All or some buckets of a release, with terms P(q, s, b).


@dataclass(frozen=True, eq=False)
class BucketView(View):
    """Buckets in which QI tuples and sensitive values are published, but not the links between them.

    A :class:`Release` consists of all published buckets, and a partition of a large release of some of them. The
    attributes are those of a Release.
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

    @cached_property
    def axes(self) -> Mapping[str, tuple[tuple[str, ...], pd.Index]]:
        """QI tuples, sensitive values, buckets."""
        return {**super().axes, "bucket": ((self.bucket,), self.buckets)}

    @cached_property
    def n_q(self) -> np.ndarray:
        """Number of records with each QI tuple, in the order of `quasi_identifiers`."""
        return np.asarray(self.n_qb.sum(axis=1))

    @cached_property
    def n_values(self) -> np.ndarray:
        """Published count of each sensitive value, including counterfeits, in the order of `sensitive_values`."""
        return np.asarray(self.n_sb.sum(axis=1))

    @property
    def n_s(self) -> np.ndarray | None:
        """Number of people with each sensitive value, in the order of `sensitive_values`; None with counterfeits."""
        return None if self.with_counterfeits.any() else self.n_values

    @cached_property
    def with_counterfeits(self) -> np.ndarray:
        """Mask of the buckets with more values than people, in the order of `buckets`."""
        return np.asarray(self.n_sb.sum(axis=0) > self.n_qb.sum(axis=0))

    @cached_property
    def at_most(self) -> np.ndarray:
        """Mask of the entries of `n_sb` that are only upper bounds, because their buckets have counterfeits."""
        return self.with_counterfeits[self.n_sb.nonzero()[1]]

    @cached_property
    def published(self) -> Mapping[tuple[str, ...], pd.Series]:
        """Number of records with each QI tuple in each bucket, and with each sensitive value in each bucket."""
        return {
            ("q", "bucket"): labelled(self.n_qb, self.quasi_identifiers, self.buckets, "N P(q,b)"),
            ("s", "bucket"): labelled(self.n_sb, self.sensitive_values, self.buckets, "N P(s,b)"),
        }

    @property
    def p_qb(self) -> pd.Series:
        """P(q, b): the right sides of the QI-invariants (Eq. (4)), probabilities."""
        return (self.published["q", "bucket"] / self.n_records).rename("P(q, b)")

    @property
    def p_sb(self) -> pd.Series:
        """P(s, b): the right sides of the SA-invariants (Eq. (5)), probabilities."""
        return (self.published["s", "bucket"] / self.n_records).rename("P(s, b)")

    def terms(self) -> dict[str, np.ndarray]:
        """Return the codes of the terms P(q, s, b) that can be non-zero: q and s both occur in b (Eq. (6))."""
        return term_codes(self.n_qb, self.n_sb)

    def to_tables(self, count: str = "Count") -> tuple[pd.DataFrame, pd.DataFrame]:
        """Return the two tables that Anatomy publishes, which :meth:`from_tables` reads.

        Parameters
        ----------
        count : str
            The name of the columns of counts.

        Returns
        -------
        qi_table, sa_table : DataFrame
            One row per bucket and QI tuple, and one per bucket and sensitive value, sorted by bucket.

        Raises
        ------
        TableError
            If the release already has a column of that name.

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
        check_str(count, "count")
        if count in (*self.qi, *self.sensitive, self.bucket):
            raise TableError(f"the release already has a column {count!r}; choose another name for the counts")
        qi_table, sa_table = self._counted_tables(count)
        order = [self.bucket, *self.sensitive]
        return (
            qi_table.sort_values([self.bucket, *self.qi], ignore_index=True),
            sa_table.sort_values(order, ignore_index=True)[[*order, count]],
        )

    def _counted_tables(self, count: str) -> Iterator[pd.DataFrame]:
        """Yield the tables of QI tuples and of sensitive values by bucket, with a column of counts."""
        for counts in self.published.values():  # reset_index() would convert integers in object columns
            yield counts.index.to_frame(index=False).assign(**{count: counts.to_numpy()})

    def to_tables_of_people(self) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Return a table with one row per person (pseudonym, QI and bucket), and one of values with their counts.

        Returns
        -------
        people, values : DataFrame
            Tables that :meth:`from_tables` reads with ``id``; the counts are called "Count", or "count" if the release
            has such a column.

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
            raise TableError("the release has no pseudonyms; pass their column as id when making it")
        count = unused_name("Count", self.columns)
        return self.persons.table(self.quasi_identifiers, self.buckets), self.to_tables(count)[1]

    def _tables(self) -> Iterable[TablePreview]:
        columns = {
            "people": np.asarray(self.n_qb[:, :SHOWN].sum(axis=0)),
            ", ".join(self.qi) or "quasi-identifiers": contents(self.n_qb, self.quasi_identifiers),
            ", ".join(self.sensitive): contents(self.n_sb, self.sensitive_values),
        }
        return [TablePreview(pd.DataFrame(columns, index=self.buckets[:SHOWN]), "buckets", len(self.buckets))]

    def __repr__(self) -> str:
        size = f"{pluralize(self.n_records, 'record')} in {pluralize(len(self.buckets), 'bucket')}"
        return f"<{type(self).__name__}: {size}; {sizes_of(self)}>"

"""The published view: which terms can be non-zero, and what is counted of them."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd

from ..display import FirstRows, Shown
from ..errors import TableError, amount, listing, shown
from ..tables.coding import multi_index
from .showing import first_of_counts
from .storable import register

__all__ = ["View", "attach", "check_roles"]


class View(Shown, ABC):
    """What an adversary is handed: everybody's quasi-identifiers, and something of the sensitive values.

    A term is one combination of a label of each role: P(q, s, b) of a release, P(q, s) where there are no
    buckets. What a model of a view knows is that marginals of the terms are the counts of `published`, unless the view
    has sources of its own (``maxent_cvx.sources.published_sources``).

    A view of one's own is a subclass with `qi`, `sensitive`, `quasi_identifiers`, `sensitive_values`, `noun`, `n_q`,
    `n_s`, `published` and `terms`, and nothing else; what is wrong with them, a model of it says.

    Attributes
    ----------
    qi, sensitive : tuple of str
        Column names.
    quasi_identifiers : MultiIndex
        The distinct QI tuples q, sorted, one level an attribute.
    sensitive_values : Index
        The distinct sensitive values s. Of several sensitive attributes s is a combination of their values,
        and the index has a level for each.
    noun : str
        What it is called in messages.
    is_conditional : bool
        Whether the entropy is H(S | Q), and not that of the terms; the two differ by a constant.
    stored_as : str
        The name by which files know the class, if it is to be another than its module and its name in there. It is not
        inherited.

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

    One's own: the numbers of people in each ward and with each disease. It can be saved, too, as a dataclass of tables.

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

    def __init_subclass__(cls, **more: Any) -> None:
        """Files know every class of views by its name, from its definition on."""
        super().__init_subclass__(**more)
        register(cls)

    def __repr__(self) -> str:
        return (
            f"<{type(self).__name__}: {amount(self.n_records, 'record')}; {len(self.quasi_identifiers)} distinct "
            f"({', '.join(self.qi)}), {amount(len(self.sensitive_values), 'value')} of "
            f"{', '.join(map(repr, self.sensitive))}>"
        )

    def _tables(self) -> Iterable[FirstRows]:
        return [first_of_counts(counts, "counts") for counts in self.published.values()]

    @property
    def sa(self) -> str | tuple[str, ...]:
        """The sensitive attribute's column; of several, all their columns."""
        return self.sensitive if len(self.sensitive) > 1 else self.sensitive[0]

    @property
    def n_records(self) -> int:
        """N, the number of records."""
        return int(self.n_q.sum())

    @property
    @abstractmethod
    def n_q(self) -> np.ndarray:
        """Records of each QI tuple, counts, in the order of `quasi_identifiers`."""

    @property
    @abstractmethod
    def n_s(self) -> np.ndarray | None:
        """Records of each sensitive value, counts, in the order of `sensitive_values`; None if not published."""

    @property
    def axes(self) -> Mapping[str, tuple[tuple[str, ...], pd.Index]]:
        """The roles by which terms are numbered, "q" and "s" first: the columns that play each, and its labels."""
        return {"q": (self.qi, self.quasi_identifiers), "s": (self.sensitive, self.sensitive_values)}

    @property
    @abstractmethod
    def published(self) -> Mapping[tuple[str, ...], pd.Series]:
        """The counts that are published, by roles or columns: records of each label of those that occurs, sorted.

        One of the tables at least is by "q". A label that no term has cannot be counted, and one that some term has
        must be: with 0, if nobody has it.
        """

    @abstractmethod
    def terms(self) -> dict[str, np.ndarray]:
        """Number the terms that can be non-zero: codes of every role, sorted by bucket, if any, then q, then s.

        Returns
        -------
        dict of str to ndarray of int
            For every role the position of each term's label in the role's index.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> {role: code[:4].tolist() for role, code in release.terms().items()}    # of bucket 1
        {'q': [0, 0, 0, 3], 's': [0, 1, 4, 0], 'bucket': [0, 0, 0, 0]}
        """

    def named(self, who: object) -> np.ndarray | None:
        """Mark the QI tuples of people by their pseudonyms, where the view has these; else None.

        Parameters
        ----------
        who : object
            One pseudonym, or a list of them.

        Returns
        -------
        ndarray of bool, one a QI tuple, or None

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> tables = mx.datasets.load_patients()
        >>> first, second = (
        ...     mx.Release.from_buckets(t, qi=[], sa="Disease", bucket="Bucket", id="Pseudonym") for t in tables)
        >>> series = mx.ReleaseSeries([first, second])
        >>> series.named([5, 7]).nonzero()[0].tolist(), first.named(5) is None      # a release has nobody's history
        ([4, 6], True)
        """
        return None

    def described(self, attribute: str, chosen: object) -> np.ndarray | None:
        """Mark QI tuples by something else than a quasi-identifier, if the view knows it by this name; else None.

        Parameters
        ----------
        attribute : str
        chosen : object
            A value, several, or an interval.

        Returns
        -------
        ndarray of bool, one a QI tuple, or None

        Examples
        --------
        A series knows people by the releases that they are in, besides their quasi-identifiers:

        >>> import maxent_cvx as mx
        >>> tables = mx.datasets.load_patients()
        >>> series = mx.ReleaseSeries(
        ...     mx.Release.from_buckets(t, qi=[], sa="Disease", bucket="Bucket", id="Pseudonym") for t in tables)
        >>> int(series.described("release", 1).sum()), series.described("Gender", "male") is None
        (13, True)
        """
        return None

    def to_frames(self) -> dict[str, Any]:
        """Write the view as tables, from which :meth:`from_frames` makes it again.

        By default the fields of a dataclass, which are to be tables, or anything that JSON can hold.

        Returns
        -------
        dict
            By name DataFrames, without an index of their own; besides them texts, numbers, True, False and None, and
            lists, tuples and dictionaries of all of these.

        Raises
        ------
        TableError
            If the class is no dataclass, and does not say how.

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
                f"nothing says how a {name} is written in a file: it needs to_frames(self), which gives a dictionary "
                "of DataFrames, and the classmethod from_frames(cls, frames), which makes the view of them again. Or "
                "save the tables post.joint() and post.conditional()"
            )
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self) if field.init}

    @classmethod
    def from_frames(cls, frames: Mapping[str, Any]) -> Self:
        """Make the view again of what :meth:`to_frames` gave; by default ``cls(**frames)``.

        Parameters
        ----------
        frames : dict
            The tables by name.

        Returns
        -------
        View
            Of this very class.

        Raises
        ------
        TableError
            If these are not the tables of such a view.

        Examples
        --------
        Of a table of people, with what may be sensitive in them:

        >>> import maxent_cvx as mx
        >>> table = mx.QITable(mx.datasets.load_hospital(), qi="Gender", sa="Disease", sa_values=["Flu", "HIV"])
        >>> again = mx.QITable.from_frames(table.to_frames())
        >>> again.n_q.tolist(), list(again.sensitive_values)
        ([4, 6], ['Flu', 'HIV'])
        """
        if not isinstance(frames, Mapping):
            raise TableError(f"frames={shown(frames)}: a dictionary of tables is expected, as to_frames() gives it")
        try:
            return cls(**frames)
        except TypeError as error:
            raise TableError(f"a {cls.__name__} cannot be made of {listing(frames)}: {error}") from error

    @property
    def columns(self) -> list[str]:
        """All columns that play a role."""
        return [column for columns, _ in self.axes.values() for column in columns]


def check_roles(players: Mapping[str, tuple[str, ...]]) -> None:
    """Refuse columns whose names sources would read as another role.

    Parameters
    ----------
    players : dict of str to tuple of str
        The columns that play each role.
    """
    columns = {column for some in players.values() for column in some}
    for name, some in players.items():
        if name in columns and some != (name,):
            raise TableError(
                f"a column is called {name!r}, which stands for {', '.join(map(repr, some))} here; rename the column"
            )


def attach(first: pd.Index, i: np.ndarray, second: pd.Index, j: np.ndarray) -> pd.MultiIndex:
    """Pair entries of two indices, by position, into one MultiIndex; their levels are shared, not copied."""
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

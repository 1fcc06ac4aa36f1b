"""What an adversary believes before anything is published: P(s | signature), by some QI attributes of people."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pandas as pd

from .. import arguments
from ..errors import StatementError, TableError, UnknownName, listing, unknown_name
from ..tables.coding import group_codes, sort_distinct
from ..tables.columns import check_columns, names
from ..tables.microdata import Microdata
from .reading import AttributeSet, attribute_sets, checked, several

__all__ = ["QIDistribution"]


@dataclass(frozen=True, eq=False, init=False)
class QIDistribution:
    """G = {(s : x, p(s : x))}: for each signature s, the values of a set of QI attributes, how likely each value x is.

    Parameters
    ----------
    *tables : dict, or DataFrame
        A dictionary from an attribute set, ``"Gender"`` or ``("Gender", "Age")``, to its table: a dictionary
        ``{signature: {value: probability}}`` or a DataFrame. Or a DataFrame alone, a row a signature and a column a
        value, whose index is named by its attributes. Several attribute sets are several tables, of the same values.
    about : str
        Where the probabilities are from, to be shown.

    Attributes
    ----------
    tables : dict of tuple of str to DataFrame
        Probabilities by attribute set, a row a signature (a MultiIndex), a column a sensitive value.

    Raises
    ------
    TableError
        If an entry is missing or a signature is there twice, or tables are not of the same values.
    BadProbability
        If a row is no distribution: an entry is outside [0, 1], or the sum is not 1.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> cancer = {"male": {"yes": 0.1, "no": 0.9}, "female": {"yes": 0.003, "no": 0.997}}   # Table IV
    >>> G = mx.QIDistribution({"Gender": cancer})
    >>> G["Gender"].loc["male", "yes"].item()
    0.1

    Notes
    -----
    Probabilistic Inference Protection, Definitions 1 and 2.
    """

    tables: Mapping[tuple[str, ...], pd.DataFrame]
    about: str

    def __init__(self, *tables: Mapping[Any, Any] | pd.DataFrame, about: str = "given") -> None:
        found: dict[tuple[str, ...], pd.DataFrame] = {}
        for attributes, table in several(tables):
            if any(set(attributes) == set(other) for other in found):
                raise TableError(f"the attribute set {listing(attributes)} has two tables; give one")
            found[attributes] = checked(table, attributes)
        if not found:
            raise TableError("no table is given; write {attributes: {signature: {value: probability}}}")
        first = next(iter(found.values())).columns
        for attributes, table in found.items():
            if len(odd := first.symmetric_difference(table.columns, sort=False)):
                raise TableError(
                    f"the tables are not of the same values: that of {listing(attributes)} and the first differ in "
                    f"{listing(odd)}; write 0 for what cannot be"
                )
        object.__setattr__(self, "tables", {a: table.reindex(columns=first) for a, table in found.items()})
        object.__setattr__(self, "about", about)

    @classmethod
    def estimate(
        cls, table: pd.DataFrame, *, qi: AttributeSet | Iterable[AttributeSet], sa: AttributeSet, smoothing: float = 0.0
    ) -> Self:
        """Estimate ``p(s : x) = (n(s, x) + a) / (n(s) + a |X|)`` from records, a being the smoothing.

        Parameters
        ----------
        table : DataFrame
            One row a person.
        qi : str, several, or several of several
            An attribute set, ``["sex", "race"]``; or a list of attribute sets, ``[["sex"], ["sex", "race"]]``.
        sa : str or several
            The sensitive attribute.
        smoothing : float
            How many people are added to each value of every signature that occurs. With 0, the default, what nobody
            of a signature has is held to be impossible, and possible worlds with it are ruled out.

        Returns
        -------
        QIDistribution

        Raises
        ------
        UnknownName, TableError, BadProbability
            If a column is missing or misses values, or `smoothing` is negative or no number.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> hospital = mx.datasets.load_hospital()
        >>> G = mx.QIDistribution.estimate(hospital, qi=["Gender"], sa="Disease", smoothing=1)
        >>> print(G["Gender"].round(3))
        Disease  Breast Cancer    Flu    HIV  Lung Cancer  Pneumonia
        Gender
        female           0.333  0.111  0.222        0.222      0.111
        male             0.091  0.364  0.182        0.091      0.273
        """
        smoothing = arguments.real(smoothing, "smoothing", 0.0, 2.0**53)
        found = {}
        for attributes in attribute_sets(qi):
            data = Microdata(table, attributes, names(sa, "sa"))
            (s, signatures), (x, values) = data.tuples(), data.values()
            n = np.bincount(s * len(values) + x, minlength=len(signatures) * len(values)).reshape(-1, len(values))
            total = n.sum(axis=1, keepdims=True) + smoothing * len(values)
            found[attributes] = pd.DataFrame((n + smoothing) / total, index=signatures, columns=values)
        return cls(found, about=f"estimated from {len(table)} records, smoothing {smoothing:g}")

    @property
    def attribute_sets(self) -> list[tuple[str, ...]]:
        """The attribute sets, each a tuple of QI attributes."""
        return list(self.tables)

    @property
    def values(self) -> pd.Index:
        """The sensitive values."""
        return next(iter(self.tables.values())).columns

    def __getitem__(self, attributes: AttributeSet) -> pd.DataFrame:
        """The table of an attribute set; of one attribute, indexed by its values."""
        table = self.tables[self.attribute_set(attributes)]
        return table if table.index.nlevels > 1 else table.set_axis(table.index.get_level_values(0))

    def select(self, attributes: AttributeSet) -> Self:
        """Keep one attribute set.

        Parameters
        ----------
        attributes : str or several
            Its attributes, in any order.

        Returns
        -------
        QIDistribution

        Raises
        ------
        UnknownName
            If the prior has no such set.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> hospital = mx.datasets.load_hospital()
        >>> G = mx.QIDistribution.estimate(hospital, qi=[["Gender"], ["Gender", "Degree"]], sa="Disease", smoothing=1)
        >>> G.attribute_sets, G.select("Gender").attribute_sets
        ([('Gender',), ('Gender', 'Degree')], [('Gender',)])
        """
        key = self.attribute_set(attributes)
        return type(self)({key: self.tables[key]}, about=self.about)

    def signatures(self, people: pd.DataFrame, attributes: AttributeSet | None = None) -> pd.Index:
        """The signature of every tuple: its values of an attribute set (Definition 1), a row of `people` each.

        Parameters
        ----------
        people : DataFrame
            With the attributes as columns; a row a tuple.
        attributes : str or several, optional
            The attribute set; may be left out if there is one.

        Returns
        -------
        MultiIndex
            One signature a row of `people`.

        Raises
        ------
        UnknownName
            If nothing is said about a tuple's signature.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> hospital = mx.datasets.load_hospital()
        >>> G = mx.QIDistribution.estimate(hospital, qi=["Gender"], sa="Disease", smoothing=1)
        >>> G.signatures(hospital.head(3)).to_list()
        [('male',), ('male',), ('female',)]
        """
        arguments.table(people, "people")
        key = self.attribute_set(attributes)
        return self.tables[key].index.take(self.rows(people, key))

    def of(self, people: pd.DataFrame, attributes: AttributeSet | None = None) -> pd.DataFrame:
        """p(t.s : x) of every tuple and value: the rows of the tuples' signatures, probabilities, indexed as `people`.

        Parameters
        ----------
        people : DataFrame
            With the attributes as columns; a row a tuple.
        attributes : str or several, optional
            The attribute set; may be left out if there is one.

        Returns
        -------
        DataFrame
            A row a tuple, a column a sensitive value.

        Raises
        ------
        UnknownName
            If nothing is said about a tuple's signature.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> hospital = mx.datasets.load_hospital()
        >>> G = mx.QIDistribution.estimate(hospital, qi=["Gender"], sa="Disease", smoothing=1)
        >>> print(G.of(hospital.head(3))[["Flu", "HIV"]].round(3))
        Disease    Flu    HIV
        0        0.364  0.182
        1        0.364  0.182
        2        0.111  0.222
        """
        arguments.table(people, "people")
        key = self.attribute_set(attributes)
        return self.tables[key].iloc[self.rows(people, key)].set_axis(people.index)

    def rows(self, people: pd.DataFrame | pd.MultiIndex, attributes: AttributeSet | None = None) -> np.ndarray:
        """The position of every tuple's signature in the table of an attribute set.

        Parameters
        ----------
        people : DataFrame or MultiIndex
            With a column, or a level, for every attribute.
        attributes : str or several, optional
            The attribute set; may be left out if there is one.

        Returns
        -------
        ndarray of int, one a tuple

        Raises
        ------
        UnknownName
            If nothing is said about a tuple's signature.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> hospital = mx.datasets.load_hospital()
        >>> G = mx.QIDistribution.estimate(hospital, qi=["Gender"], sa="Disease", smoothing=1)
        >>> G.rows(hospital.head(3)).tolist()
        [1, 1, 0]
        """
        key = self.attribute_set(attributes)
        code, distinct = _distinct(people, key)
        at = self.tables[key].index.get_indexer(distinct)
        if (at < 0).any():
            for i, name in enumerate(key):
                level, known = distinct.get_level_values(i), self.tables[key].index.unique(level=i)
                if len(strange := level[~level.isin(known)]):
                    raise unknown_name(f"value of {name!r} that the prior has a signature of", strange[0], known)
            raise UnknownName(
                f"the prior has no row for {int((at < 0).sum())} of {len(at)} signatures by {', '.join(key)}: "
                "each value occurs in it, but not together; add their rows"
            )
        return at[code]

    def of_tuples(self, tuples: pd.MultiIndex, values: pd.Index, attributes: AttributeSet | None = None) -> np.ndarray:
        """p(s : x) of every QI tuple and sensitive value of a view, probabilities, shape (tuples, values).

        Parameters
        ----------
        tuples : MultiIndex
            The view's `quasi_identifiers`.
        values : Index
            Its `sensitive_values`.
        attributes : str or several, optional
            The attribute set; may be left out if there is one.

        Returns
        -------
        ndarray

        Raises
        ------
        UnknownName
            If nothing is said about a signature, or a value.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> hospital = mx.datasets.load_hospital()
        >>> G = mx.QIDistribution.estimate(hospital, qi=["Gender"], sa="Disease", smoothing=1)
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> G.of_tuples(release.quasi_identifiers, release.sensitive_values).round(2)[[0, 3]].tolist()
        [[0.33, 0.11, 0.22, 0.22, 0.11], [0.09, 0.36, 0.18, 0.09, 0.27]]
        """
        key = self.attribute_set(attributes)
        return self.tables[key].to_numpy()[self.rows(tuples, key)][:, self.columns(values)]

    def columns(self, values: pd.Index) -> np.ndarray:
        """The position of every sensitive value of a view in the tables.

        Parameters
        ----------
        values : Index

        Returns
        -------
        ndarray of int, one a value

        Raises
        ------
        UnknownName
            If the prior has no entry for one.
        """
        at = self.values.get_indexer(arguments.instance(values, pd.Index, "values"))
        if (at < 0).any():
            raise unknown_name("value that the prior has an entry for", values[at < 0][0], self.values)
        return at

    def attribute_set(self, attributes: AttributeSet | None = None) -> tuple[str, ...]:
        """Find an attribute set, its attributes in any order; None is the only one.

        Parameters
        ----------
        attributes : str or several, optional

        Returns
        -------
        tuple of str
            As in `tables`.

        Raises
        ------
        UnknownName
            If the prior has no such set.
        StatementError
            If none is chosen, and there are several.
        """
        if attributes is None:
            if len(self.tables) > 1:
                raise StatementError(
                    f"the prior has {len(self.tables)} attribute sets, {listing(self.tables)}, and one is needed; "
                    "choose it, as with .select(...)"
                )
            return next(iter(self.tables))
        asked = names(attributes, "attributes of the prior")
        for known in self.tables:
            if set(known) == set(asked):
                return known
        raise unknown_name("attribute set of the prior", asked, self.tables)

    def __repr__(self) -> str:
        sets = "; ".join(f"{', '.join(a)}: {len(t)} signatures" for a, t in self.tables.items())
        return f"<QIDistribution: {sets}; {len(self.values)} values; {self.about}>"

    def _repr_html_(self) -> str:
        parts = [f"<p>{', '.join(a)}</p>{t.head(10).to_html(border=0)}" for a, t in self.tables.items()]
        return f"<p>QIDistribution, {self.about}</p>{''.join(parts)}"


def _distinct(people: pd.DataFrame | pd.MultiIndex, key: tuple[str, ...]) -> tuple[np.ndarray, pd.MultiIndex]:
    """Number the distinct signatures of people, or of QI tuples."""
    if isinstance(people, pd.DataFrame):
        check_columns(people, {"signature": key}, "the table of people")
        return sort_distinct(people[list(key)])
    arguments.instance(people, pd.MultiIndex, "people", "a DataFrame, or the QI tuples of a view, are expected")
    if strangers := [name for name in key if name not in people.names]:
        raise unknown_name("quasi-identifier (given as an attribute of the prior)", strangers[0], people.names)
    at = [people.names.index(name) for name in key]
    code = group_codes([np.asarray(people.codes[i]) for i in at], [len(people.levels[i]) for i in at])
    first = np.unique(code, return_index=True)[1]
    return code, pd.MultiIndex.from_arrays([people.get_level_values(i)[first] for i in at], names=key)

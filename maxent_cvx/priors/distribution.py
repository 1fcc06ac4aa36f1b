"""What an adversary believes before anything is published: P(s | signature), by some QI attributes of people."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pandas as pd

from ..display import FirstRows, Shown
from ..errors import StatementError, TableError, amount, arguments, listing, unknown_name
from ..tables.columns import names
from ..tables.microdata import Microdata
from .estimation import shares
from .lookup import positions
from .reading import AttributeSet, attribute_sets, checked, tables_given

__all__ = ["QIDistribution"]


@dataclass(frozen=True, eq=False, init=False)
class QIDistribution(Shown):
    """G = {(s : x, p(s : x))}: for each signature s, the values of a set of QI attributes, how likely each value x is.

    Parameters
    ----------
    *tables : dict, or DataFrame
        A dictionary from an attribute set, ``"Gender"`` or ``("Gender", "Age")``, to its table: a dictionary
        ``{signature: {value: probability}}`` or a DataFrame. Or a DataFrame alone, a row a signature and a column a
        value, whose index is named by its attributes. Tables of different sets have the same values.
    about : str
        Where the probabilities are from, to be shown.

    Attributes
    ----------
    tables : dict of tuple of str to DataFrame
        Probabilities by attribute set, a row a signature (a MultiIndex), a column a sensitive value.

    Raises
    ------
    TableError
        If an entry is missing, a signature occurs twice, or tables have different values.
    BadProbability
        If a row is not a distribution: an entry is outside [0, 1], or the sum is not 1.

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
        for attributes, table in tables_given(tables):
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
        qi : str, list of str, or list of lists
            An attribute set, ``["sex", "race"]``; or a list of attribute sets, ``[["sex"], ["sex", "race"]]``.
        sa : str or list of str
            The sensitive attribute.
        smoothing : float
            How many records are added to each value of every signature that occurs. With 0, the default, what nobody
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
        sets = attribute_sets(qi)
        Microdata.of_people(table, tuple(dict.fromkeys(name for each in sets for name in each)), names(sa, "sa"))
        found = {each: shares(Microdata(table, each, names(sa, "sa")), smoothing) for each in sets}
        return cls(found, about=f"estimated from {amount(len(table), 'record')}, smoothing {smoothing:g}")

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
        attributes : str or list of str
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
        attributes : str or list of str, optional
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
        attributes : str or list of str, optional
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
        attributes : str or list of str, optional
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
        return positions(self.tables[key].index, people, key)

    def of_tuples(self, tuples: pd.MultiIndex, values: pd.Index, attributes: AttributeSet | None = None) -> np.ndarray:
        """p(s : x) of every QI tuple and sensitive value of a view, probabilities, shape (tuples, values).

        Parameters
        ----------
        tuples : MultiIndex
            The view's `quasi_identifiers`.
        values : Index
            Its `sensitive_values`.
        attributes : str or list of str, optional
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

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> hospital = mx.datasets.load_hospital()
        >>> G = mx.QIDistribution.estimate(hospital, qi="Gender", sa="Disease", smoothing=1)
        >>> import pandas as pd
        >>> G.columns(pd.Index(["HIV", "Flu"])).tolist()                # of Breast Cancer, Flu, HIV, ...
        [2, 1]
        """
        at = self.values.get_indexer(arguments.instance(values, pd.Index, "values"))
        if (at < 0).any():
            raise unknown_name("value that the prior has an entry for", values[at < 0][0], self.values)
        return at

    def attribute_set(self, attributes: AttributeSet | None = None) -> tuple[str, ...]:
        """Find an attribute set, its attributes in any order; None is the only one.

        Parameters
        ----------
        attributes : str or list of str, optional

        Returns
        -------
        tuple of str
            As in `tables`.

        Raises
        ------
        UnknownName
            If the prior has no such set.
        StatementError
            If none is chosen, and there is more than one.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> hospital = mx.datasets.load_hospital()
        >>> G = mx.QIDistribution.estimate(hospital, qi=[["Gender"], ["Gender", "Degree"]], sa="Disease", smoothing=1)
        >>> G.attribute_set(["Degree", "Gender"])                       # in the order of its table
        ('Gender', 'Degree')
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
        sets = "; ".join(f"{', '.join(a)}: {amount(len(t), 'signature')}" for a, t in self.tables.items())
        return f"<QIDistribution: {sets}; {amount(len(self.values), 'value')}; {self.about}>"

    def _tables(self) -> Iterable[FirstRows]:
        return [FirstRows(table, f"signatures of {', '.join(names)}") for names, table in self.tables.items()]

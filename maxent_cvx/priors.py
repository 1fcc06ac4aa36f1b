"""QIDistribution: the adversary's beliefs about people before any publication."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pandas as pd

from ._utils.errors import (
    BadProbability,
    StatementError,
    TableError,
    UnknownName,
    join_names,
    pluralize,
    short_repr,
    unknown_name,
)
from ._utils.formatting import ReprMixin, TablePreview
from ._utils.tables import (
    Microdata,
    check_columns,
    group_codes,
    names,
    plain_index,
    real_numbers,
    repeated,
    sort_distinct,
)
from ._utils.validation import check_dataframe, check_float, check_instance, check_known, is_several


def shares(data: Microdata, smoothing: float) -> pd.DataFrame:
    """Return (n(s, x) + a) / (n(s) + a |X|) for every occurring signature s and value x; a is the smoothing."""
    (s, signatures), (x, values) = data.tuples(), data.values()
    n = np.bincount(s * len(values) + x, minlength=len(signatures) * len(values)).reshape(-1, len(values))
    total = n.sum(axis=1, keepdims=True) + smoothing * len(values)
    return pd.DataFrame((n + smoothing) / total, index=signatures, columns=values)


# Positions of signatures of people, or of a view's QI tuples, in a table of priors.


def positions(index: pd.Index, people: pd.DataFrame | pd.MultiIndex, key: tuple[str, ...]) -> np.ndarray:
    """Find the signature of every row in the index of a table."""
    code, distinct = _distinct(people, key)
    at = index.get_indexer(distinct)
    if (at < 0).any():
        for i, name in enumerate(key):
            level, known = distinct.get_level_values(i), index.unique(level=i)
            if len(strange := level[~level.isin(known)]):
                raise unknown_name(f"value of {name!r} in a signature of the prior", strange[0], known)
        raise UnknownName(
            f"the prior has no row for {int((at < 0).sum())} of {pluralize(len(at), 'signature')} by {', '.join(key)}, "
            "of which it contains each value, but not the combination; add these rows"
        )
    return np.asarray(at[code])


def _distinct(people: pd.DataFrame | pd.MultiIndex, key: tuple[str, ...]) -> tuple[np.ndarray, pd.MultiIndex]:
    """Number the distinct signatures of people, or of QI tuples."""
    if isinstance(people, pd.DataFrame):
        check_columns(people, {"signature": key}, "the table of people")
        return sort_distinct(people[list(key)])
    check_instance(people, pd.MultiIndex, "people", "a DataFrame, or the QI tuples of a view, are expected")
    check_known(key, "quasi-identifier (given as an attribute of the prior)", people.names)
    at = [people.names.index(name) for name in key]
    code = group_codes([np.asarray(people.codes[i]) for i in at], [len(people.levels[i]) for i in at])
    first = np.unique(code, return_index=True)[1]
    return code, pd.MultiIndex.from_arrays([people.get_level_values(i)[first] for i in at], names=key)


# Tables of prior probabilities, in all supported forms, with checks that they are distributions.


#: The tolerance of the sum of a row, which is 1, for roundoff.
ROUNDING = 1e-9
#: One QI attribute or a list of several.
AttributeSet = str | Iterable[str]


def tables_given(tables: tuple[Any, ...]) -> Iterable[tuple[tuple[str, ...], Any]]:
    """Yield attribute sets with one table each, from any supported form."""
    for table in tables:
        if isinstance(table, pd.DataFrame):
            yield tuple(table.index.names), table  # type: ignore[arg-type]  # checked later
        elif isinstance(table, Mapping):
            for attributes, part in table.items():
                if isinstance(attributes, set | frozenset) and len(attributes) > 1:
                    raise TableError(
                        f"the attribute set {short_repr(attributes)} must have the order of its signatures; use a tuple"
                    )
                yield names(attributes, "an attribute set"), part
        else:
            raise TableError(f"a prior must be a dictionary or a DataFrame, not {short_repr(table)}")


def attribute_sets(qi: Any) -> list[tuple[str, ...]]:
    """Read one attribute set, or a list of several."""
    is_one = isinstance(qi, str | bytes | pd.DataFrame) or not is_several(qi)
    sets = [qi] if is_one else list(qi)
    if is_one or all(isinstance(name, str) for name in sets):
        return [names(qi if is_one else sets, "qi")]
    return [names(attributes, "an attribute set") for attributes in sets]


def checked(table: Any, attributes: tuple[str, ...]) -> pd.DataFrame:
    """Check one table, and index it by its signatures."""
    where = f"the prior by {', '.join(map(str, attributes))}"
    if not all(isinstance(name, str) for name in attributes) or len(set(attributes)) < len(attributes):
        raise TableError(
            f"{join_names(attributes)} is not an attribute set; give distinct names of QI attributes, which for a "
            "DataFrame are the names of its index levels"
        )
    if isinstance(table, Mapping):
        table = _table_of_mapping(table, attributes, where)
    if not isinstance(table, pd.DataFrame):
        raise TableError(f"{where} must be a dictionary or a DataFrame, not {short_repr(table)}")
    if table.empty:
        raise TableError(f"{where} is empty")
    if table.index.nlevels != len(attributes):
        raise TableError(f"the index of {where} must have {len(attributes)} levels, got {table.index.nlevels}")
    if set(table.index.names) == set(attributes) and table.index.names != list(attributes):
        table = table.reorder_levels(list(attributes))
    for role, labels in (("signature", table.index), ("value", table.columns)):
        if labels.has_duplicates:
            raise TableError(f"{where} repeats a {role}: {join_names(repeated(labels))}")
    if (missing := table.isna()).any(axis=None):
        first = int(missing.any(axis=1).to_numpy().argmax())
        number = pluralize(int(missing.to_numpy().sum()), "entry", "entries")
        raise TableError(
            f"{where} lacks {number}, such as those of {join_names(table.columns[missing.iloc[first]])} for "
            f"{_label(table.index[first])}; write 0 for impossible values"
        )
    index = table.index if isinstance(table.index, pd.MultiIndex) else pd.MultiIndex.from_arrays([table.index])
    return pd.DataFrame(_distributions(table, where), index.set_names(list(attributes)), table.columns)


def _table_of_mapping(table: Mapping[Any, Any], attributes: tuple[str, ...], where: str) -> pd.DataFrame:
    """Convert {signature: {value: probability}} to a DataFrame; missing probabilities are NaN."""
    if strange := [row for row in table.values() if not isinstance(row, Mapping | pd.Series)]:
        raise TableError(f"{where} must map each signature to {{value: probability}}, not {short_repr(strange[0])}")
    signatures = {key: key if isinstance(key, tuple) else (key,) for key in table}
    if odd := [key for key, signature in signatures.items() if len(signature) != len(attributes)]:
        raise TableError(f"the signatures of {where} must have {len(attributes)} values, not {short_repr(odd[0])}")
    values = {x: None for row in table.values() for x in row.keys()}  # noqa: SIM118 (a Series, too)
    entries = [[row.get(x, np.nan) for x in values] for row in table.values()]
    index = pd.MultiIndex.from_tuples(list(signatures.values()), names=attributes)
    return pd.DataFrame(entries, index, pd.Index(list(values)))


def _distributions(table: pd.DataFrame, where: str) -> np.ndarray:
    """Return the probabilities of a table, whose rows must be distributions."""
    p = real_numbers(table, where, BadProbability)
    if (bad := ~((p >= 0) & (p <= 1))).any():
        i, x = np.argwhere(bad)[0]
        raise BadProbability(
            f"{where} must contain probabilities from 0 to 1, not {p[i, x]:g} for {_label(table.columns[x])} of "
            f"{_label(table.index[i])}"
        )
    total = p.sum(axis=1)
    if (off := np.abs(total - 1) > ROUNDING).any():
        i = int(off.argmax())
        raise BadProbability(
            f"{where} must sum to 1 over the values of each signature, but does not in {int(off.sum())} of "
            f"{len(total)} rows: {total[i]:.10g} for {_label(table.index[i])}; divide rows by their sums, or add "
            "missing values"
        )
    return p


def _label(label: object) -> str:
    """Format a signature or a value."""
    return join_names(label if isinstance(label, tuple) else (label,))


@dataclass(frozen=True, eq=False, init=False)
class QIDistribution(ReprMixin):
    """G = {(s : x, p(s : x))}: P(value x | signature s); a signature is a tuple of values of some QI attributes.

    Parameters
    ----------
    *tables : dict, or DataFrame
        Dictionaries from attribute sets, ``"Gender"`` or ``("Gender", "Age")``, to tables: a dictionary
        ``{signature: {value: probability}}`` or a DataFrame. Alternatively DataFrames alone, one row per signature and
        one column per value, whose index levels are named by the attributes. All tables have the same values.
    about : str
        The origin of the probabilities, for the repr.

    Attributes
    ----------
    tables : dict of tuple of str to DataFrame
        Probabilities by attribute set, one row per signature (a MultiIndex), one column per sensitive value.

    Raises
    ------
    TableError
        If an entry is missing, a signature is repeated, or tables have different values.
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
        checked_tables: dict[tuple[str, ...], pd.DataFrame] = {}
        for attributes, table in tables_given(tables):
            if any(set(attributes) == set(other) for other in checked_tables):
                raise TableError(f"the attribute set {join_names(attributes)} has two tables; pass one")
            checked_tables[attributes] = checked(table, attributes)
        if not checked_tables:
            raise TableError("a prior needs at least one table, {attributes: {signature: {value: probability}}}")
        first = next(iter(checked_tables.values())).columns
        for attributes, table in checked_tables.items():
            if len(odd := first.symmetric_difference(table.columns, sort=False)):
                raise TableError(
                    f"all tables must have the same values, but the table of {join_names(attributes)} and the first "
                    f"differ in {join_names(odd)}; write 0 for impossible values"
                )
        object.__setattr__(self, "tables", {a: table.reindex(columns=first) for a, table in checked_tables.items()})
        object.__setattr__(self, "about", about)

    @classmethod
    def estimate(
        cls, table: pd.DataFrame, *, qi: AttributeSet | Iterable[AttributeSet], sa: AttributeSet, smoothing: float = 0.0
    ) -> Self:
        """Estimate ``p(s : x) = (n(s, x) + a) / (n(s) + a |X|)`` from records, where a is the smoothing.

        Parameters
        ----------
        table : DataFrame
            One row per person.
        qi : str, list of str, or list of lists
            An attribute set, ``["sex", "race"]``; or a list of attribute sets, ``[["sex"], ["sex", "race"]]``.
        sa : str or list of str
            The sensitive attribute.
        smoothing : float
            The number of records added to each value of every occurring signature. With 0, the default, values that
            do not occur with a signature are impossible for it, which excludes possible worlds.

        Raises
        ------
        UnknownName, TableError, BadProbability
            If a column is missing or has missing values, or `smoothing` is not a number of at least 0.

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
        smoothing = check_float(smoothing, "smoothing", 0.0, 2.0**53)
        sets = attribute_sets(qi)
        Microdata.of_people(table, tuple(dict.fromkeys(name for each in sets for name in each)), names(sa, "sa"))
        tables = {each: shares(Microdata(table, each, names(sa, "sa")), smoothing) for each in sets}
        return cls(tables, about=f"estimated from {pluralize(len(table), 'record')}, smoothing {smoothing:g}")

    @property
    def attribute_sets(self) -> list[tuple[str, ...]]:
        """The attribute sets, each a tuple of QI attributes."""
        return list(self.tables)

    @property
    def values(self) -> pd.Index:
        """The sensitive values."""
        return next(iter(self.tables.values())).columns

    def __getitem__(self, attributes: AttributeSet) -> pd.DataFrame:
        """Return the table of an attribute set; a single attribute has a plain Index."""
        table = self.tables[self.attribute_set(attributes)]
        return table.set_axis(plain_index(table.index))

    def select(self, attributes: AttributeSet) -> Self:
        """Return the prior with a single attribute set.

        Parameters
        ----------
        attributes : str or list of str
            The attributes of the set, in any order.

        Raises
        ------
        UnknownName
            If the prior does not have the set.

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
        """Return the signature of every tuple, its values of an attribute set (Definition 1).

        Parameters
        ----------
        people : DataFrame
            One row per tuple, with the attributes as columns.
        attributes : str or list of str, optional
            The attribute set; not needed if there is only one.

        Returns
        -------
        MultiIndex
            One signature per row of `people`.

        Raises
        ------
        UnknownName
            If the prior lacks a signature.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> hospital = mx.datasets.load_hospital()
        >>> G = mx.QIDistribution.estimate(hospital, qi=["Gender"], sa="Disease", smoothing=1)
        >>> G.signatures(hospital.head(3)).to_list()
        [('male',), ('male',), ('female',)]
        """
        check_dataframe(people, "people")
        key = self.attribute_set(attributes)
        return self.tables[key].index.take(self.rows(people, key))

    def of(self, people: pd.DataFrame, attributes: AttributeSet | None = None) -> pd.DataFrame:
        """Return p(t.s : x) of every tuple and value, with the index of `people`; see :meth:`signatures`.

        Returns
        -------
        DataFrame
            One row per tuple, one column per sensitive value.

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
        check_dataframe(people, "people")
        key = self.attribute_set(attributes)
        return self.tables[key].iloc[self.rows(people, key)].set_axis(people.index)

    def rows(self, people: pd.DataFrame | pd.MultiIndex, attributes: AttributeSet | None = None) -> np.ndarray:
        """Return the position of every tuple's signature in the table; see :meth:`signatures`.

        Returns
        -------
        ndarray of int, one per tuple

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
        """Return p(s : x) for the `quasi_identifiers` and `sensitive_values` of a view, shape (tuples, values).

        Raises
        ------
        UnknownName
            If the prior lacks a signature or a value.

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
        """Return the position of every sensitive value of a view in the tables.

        Returns
        -------
        ndarray of int, one per value

        Raises
        ------
        UnknownName
            If the prior lacks a value.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> hospital = mx.datasets.load_hospital()
        >>> G = mx.QIDistribution.estimate(hospital, qi="Gender", sa="Disease", smoothing=1)
        >>> import pandas as pd
        >>> G.columns(pd.Index(["HIV", "Flu"])).tolist()                # among Breast Cancer, Flu, HIV, ...
        [2, 1]
        """
        at = self.values.get_indexer(check_instance(values, pd.Index, "values"))
        if (at < 0).any():
            raise unknown_name("value in the prior", values[at < 0][0], self.values)
        return at

    def attribute_set(self, attributes: AttributeSet | None = None) -> tuple[str, ...]:
        """Find an attribute set by its attributes in any order, or the only one.

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
            If the prior does not have the set.
        StatementError
            If `attributes` is None and there are several.

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
                    f"the prior has {len(self.tables)} attribute sets, {join_names(self.tables)}; choose one, e.g. "
                    "with .select(...)"
                )
            return next(iter(self.tables))
        attribute_set = names(attributes, "attributes of the prior")
        for known in self.tables:
            if set(known) == set(attribute_set):
                return known
        raise unknown_name("attribute set of the prior", attribute_set, self.tables)

    def __repr__(self) -> str:
        sets = "; ".join(f"{', '.join(a)}: {pluralize(len(t), 'signature')}" for a, t in self.tables.items())
        return f"<QIDistribution: {sets}; {pluralize(len(self.values), 'value')}; {self.about}>"

    def _tables(self) -> Iterable[TablePreview]:
        return [TablePreview(table, f"signatures of {', '.join(names)}") for names, table in self.tables.items()]

"""The protocol of statistical disclosure control: what is published, and what an intruder makes of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from typing import Any, Protocol, runtime_checkable

import numpy as np
import pandas as pd

from ..errors import StatementError, TableError, listing, shown
from ..tables.columns import check_columns
from ..tables.numbers import as_numbers
from ..views import QITable

__all__ = [
    "Published",
    "Technique",
    "check_confidential",
    "check_type",
    "domain_of",
    "draws",
    "expected",
    "numeric_domain",
]


@dataclass(frozen=True, eq=False, repr=False)
class Published:
    """What everybody can see after a technique was applied.

    Attributes
    ----------
    table : DataFrame
        Records, or answers.
    confidential : str
        The confidential attribute C.
    domain : Index
        Its domain D, in order, named by it: the categories of a Categorical, else the values that occur.

    Examples
    --------
    >>> import maxent_cvx as mx, pandas as pd
    >>> people = pd.DataFrame({"Age": [37, 37, 50, 50], "Salary": [77, 80, 50, 107]})
    >>> sample = mx.sdc.Sampling(0.5).publish(people, confidential="Salary")
    >>> isinstance(sample, mx.sdc.Published), len(sample), sample.domain.to_list()         # of the whole table
    (True, 2, [50, 77, 80, 107])
    """

    table: pd.DataFrame
    confidential: str
    domain: pd.Index

    def __len__(self) -> int:
        return len(self.table)

    def __repr__(self) -> str:
        kind, values = type(self).__name__, len(self.domain)
        return f"<{kind}: {len(self)} rows; {self.confidential!r} is confidential, one of {values} values>"

    def _repr_html_(self) -> str:
        return f"<p>{escape(repr(self))}</p>{self.table.head(10).to_html(border=0)}"


@runtime_checkable
class Technique(Protocol):
    """publish() says what is disclosed, infer() what an intruder concludes; any class with both is a technique.

    Notes
    -----
    :func:`maxent_cvx.testing.check_technique` checks the one that you write; :func:`maxent_cvx.sdc.experiment` makes
    techniques as ``YourTechnique(strength, seed=seed)``.

    Examples
    --------
    >>> import maxent_cvx as mx, pandas as pd
    >>> class Everything:
    ...     "p_i = f_i / |Mo|: the whole table is published."
    ...     def publish(self, table, confidential):
    ...         return table, confidential
    ...     def infer(self, published, known, population):
    ...         table, confidential = published
    ...         like = table.loc[(table[list(known)] == pd.Series(known)).all(axis=1), confidential]
    ...         return like.value_counts(normalize=True).sort_index()
    >>> everything = Everything()
    >>> people = pd.DataFrame({"Age": [37, 37, 50, 50], "Salary": [77, 80, 50, 107]})
    >>> isinstance(everything, mx.sdc.Technique)
    True
    >>> everything.infer(everything.publish(people, "Salary"), {"Age": 37}, people[["Age"]]).to_dict()
    {77: 0.5, 80: 0.5}
    """

    def publish(self, table: pd.DataFrame, confidential: str) -> Any:
        """Disclose what this technique discloses of the table; the same each time.

        Parameters
        ----------
        table : DataFrame
            One row a person; all columns are published.
        confidential : str
            The confidential attribute.

        Returns
        -------
        object
            Whatever :meth:`infer` reads; a :class:`Published` of the techniques of this package.
        """

    def infer(self, published: Any, known: Mapping[str, object], population: pd.DataFrame | QITable) -> pd.Series:
        """P(confidential value | published, known), by value; a value that is left out has none.

        Parameters
        ----------
        published : object
            What :meth:`publish` returned.
        known : dict
            Supplementary knowledge (SK) of one person: attribute to a value, a list of values or an Interval.
        population : DataFrame or QITable
            Everybody's other attributes, which the intruder has too: ``|Mo|``, how many are as the person is, is known.

        Returns
        -------
        Series
            Probabilities, none negative, that sum to 1, by value of the confidential attribute.
        """


#: Techniques of one seed draw numbers of their own: who publishes by several tells no more by that.
STREAMS = {"Sampling": 1, "RangeQueries": 2, "BinomialNoise": 3}


def draws(technique: str, seed: int) -> np.random.Generator:
    """The random numbers of a technique with a seed."""
    return np.random.default_rng([seed, STREAMS[technique]])


def check_confidential(table: pd.DataFrame, confidential: str) -> None:
    """Check that there is a table, with the confidential attribute, and nothing missing or twice."""
    if not isinstance(confidential, str):
        raise StatementError(f"confidential={shown(confidential)}: the name of one column is expected")
    if not isinstance(table, pd.DataFrame):
        raise TableError(f"the table must be a pandas DataFrame, not {shown(table)}")
    if table.columns.has_duplicates:
        raise TableError(f"the table has two columns {listing(table.columns[table.columns.duplicated()])}; rename one")
    check_columns(table, {"confidential": (confidential,)}, "the table")
    check_columns(table, {"attributes": tuple(table.columns)}, "the table")
    for name in table.columns:
        check_type(table[name])


def check_type(column: pd.Series) -> None:
    """Refuse what pandas has no index of."""
    if column.dtype == np.float16:
        raise TableError(f"column {column.name!r} is of short floats, float16; take .astype('float32')")


def domain_of(column: pd.Series) -> pd.Index:
    """The domain of an attribute, in order: the categories of a Categorical, else the values that occur, sorted."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        return pd.Index(column.cat.categories, name=column.name)
    try:
        return pd.Index(np.sort(column.unique()), name=column.name)
    except TypeError as error:
        raise TableError(f"column {column.name!r} holds values that have no order: {error}") from error


def numeric_domain(column: pd.Series) -> pd.Index:
    """The domain of an attribute whose values are numbers, increasing."""
    domain = domain_of(column)
    return domain.take(np.argsort(as_numbers(domain, f"the values of {column.name!r}"), kind="stable"))


def expected(published: object, kind: type[Published], technique: str) -> Any:
    """Check that something was published by a technique, to be read by the same one."""
    if not isinstance(published, kind):
        raise StatementError(f"{technique}.infer reads what {technique}.publish returned, not {shown(published)}")
    return published

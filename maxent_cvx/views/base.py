"""The published view: which terms can be non-zero, and what is counted of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import ClassVar

import numpy as np
import pandas as pd

from ..errors import TableError
from ..tables.coding import multi_index

__all__ = ["View", "attach", "check_roles"]


class View(ABC):
    """What an adversary is handed: everybody's quasi-identifiers, and something of the sensitive values.

    A term is one combination of a label of each role: P(q, s, b) of a release, P(q, s) where there are no
    buckets.

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
    """

    qi: tuple[str, ...]
    sensitive: tuple[str, ...]
    quasi_identifiers: pd.MultiIndex
    sensitive_values: pd.Index
    noun: ClassVar[str]
    is_conditional: ClassVar[bool] = False

    @property
    def sa(self) -> str | tuple[str, ...]:
        """The sensitive attribute's column; of several, all their columns."""
        return self.sensitive if len(self.sensitive) > 1 else self.sensitive[0]

    @property
    def n_records(self) -> int:
        """N, the number of people."""
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
        """The counts that are published, by roles: records of each label of those roles that occurs, sorted."""

    @abstractmethod
    def terms(self) -> dict[str, np.ndarray]:
        """Number the terms that can be non-zero: codes of every role, sorted by bucket, if any, then q, then s.

        Returns
        -------
        dict of str to ndarray of int
            For every role the position of each term's label in the role's index.
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
        """
        return None

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

"""Of whom and of what a statistic is: terms of those as described, how many they are, and the number of each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ...errors import StatementError, unknown_name
from ...tables.numbers import numbers_of
from ...tables.selection import choose
from ...terms.events import values_named
from ...terms.space import Space
from ...views import OUTSIDE
from ..numbers.numbers_of_terms import numbers_of_values
from ..statements.statement import conditions

__all__ = ["Subjects", "among", "subjects"]


@dataclass(frozen=True, eq=False)
class Subjects:
    """Those as described, and the number that a statistic is of.

    Attributes
    ----------
    terms : ndarray of int
        The terms of those as described.
    x : ndarray, one a term of these
        The number.
    n : int or None
        How many people they are; None where that is not known, since it depends on sensitive values.
    """

    terms: np.ndarray
    x: np.ndarray
    n: int | None


def subjects(
    space: Space, of: str | None, given: Mapping[str, object], values: Mapping[object, float] | pd.Series | None
) -> Subjects:
    """Find those as described, and their numbers.

    Parameters
    ----------
    space : Space
    of : str or None
        A sensitive attribute or a quasi-identifier; None: the only sensitive attribute.
    given : dict
        Conditions on quasi-identifiers and on sensitive attributes.
    values : dict or Series, optional
        The number of each value of the attribute; by default the values themselves.

    Raises
    ------
    UnknownName, TableError
        If the view has no such attribute or value, or values are no numbers.
    StatementError
        If nobody can be as described, or the statistic is known, being of quasi-identifiers only.
    """
    view = space.view
    having = {name: choice for name, choice in given.items() if name in view.sensitive}
    of_tuples = {name: choice for name, choice in given.items() if name not in having}
    space.axes.tell_apart(of_tuples)
    tuples, people = space.described(of_tuples), space.records_described(of_tuples)
    inside = np.asarray(view.sensitive_values.to_flat_index() != OUTSIDE)
    mask = values_named(view, having) if having else inside
    terms = np.flatnonzero(tuples[space.codes["q"]] & mask[space.codes["s"]])
    if not len(terms):
        raise StatementError(f"nobody can have {conditions((n, choose(c, n)) for n, c in given.items())}")
    n: int | None = None
    if mask.all():
        n = people
    elif people == space.n_records and view.n_s is not None:
        n = int(view.n_s[mask].sum())
    return Subjects(terms, _numbers(space, of, values, known=bool(mask.all()))[terms], n)


def among(given: Mapping[str, object]) -> str:
    """Write whom a statistic is of: `` given edu=college``, or nothing."""
    told = conditions((name, choose(chosen, name)) for name, chosen in given.items())
    return f" given {told}" if told else ""


def _numbers(
    space: Space, of: str | None, values: Mapping[object, float] | pd.Series | None, known: bool
) -> np.ndarray:
    """The number of every term."""
    view = space.view
    if of is None:
        if len(view.sensitive) > 1:
            raise StatementError(f"the statistic is of one of {list(view.sensitive)}; say which: of=...")
        of = view.sensitive[0]
    if of in view.sensitive:
        return numbers_of_values(view, of, values)[space.codes["s"]]
    if of not in view.qi:
        raise unknown_name("sensitive attribute or quasi-identifier", of, [*view.sensitive, *view.qi])
    if known:
        raise StatementError(
            f"{of!r} is a quasi-identifier, whose statistics are known; condition on a sensitive value: "
            f"given={{{view.sensitive[0]!r}: ...}}"
        )
    codes, level = space.axes.of_column(of)
    return numbers_of(level.rename(of), values).astype(float)[codes]

"""What every technique of disclosure control promises."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from ..errors import arguments

__all__ = ["check_technique"]


def check_technique(technique: Any, table: pd.DataFrame, confidential: str) -> None:
    """Check the contract of a technique of disclosure control; an :exc:`AssertionError` says what is broken.

    1. It has ``publish`` and ``infer``, and leaves the table and the population as they are.
    2. ``infer`` gives a Series of probabilities, none negative, that sum to 1, over values of the confidential
       attribute; whatever other attributes of a person are known, from none to all, a value or a list of them.
    3. Published again it is the same, as far as ``infer`` tells.

    Parameters
    ----------
    technique : Technique
        See :class:`maxent_cvx.sdc.Technique`.
    table : DataFrame
        Some records to try it on.
    confidential : str
        The confidential attribute, a column of the table.

    Raises
    ------
    AssertionError
        If a part of the contract is broken; which, it says.
    TableError, StatementError, UnknownName
        If there is no table, or it has no such column.

    Examples
    --------
    >>> import maxent_cvx as mx, pandas as pd
    >>> people = pd.DataFrame({"Age": [37, 37, 50, 50], "Salary": [77, 80, 50, 107]})
    >>> mx.testing.check_technique(mx.sdc.Sampling(0.5), people, "Salary")           # nothing is broken
    >>> class Nothing:
    ...     def publish(self, table, confidential):
    ...         return table[confidential].unique()
    ...     def infer(self, published, known, population):
    ...         return pd.Series(0.2, index=published)
    >>> try:
    ...     mx.testing.check_technique(Nothing(), people, "Salary")
    ... except AssertionError as error:
    ...     print(str(error).splitlines()[0])
    Nothing.infer, where nothing is known, gives probabilities that sum to 0.8
    """
    arguments.table(table, "table")
    arguments.text(confidential, "confidential")
    arguments.known_label(confidential, "column of the table (given as confidential)", list(table.columns))
    assert not isinstance(technique, type), f"{technique.__name__} is a class; make a technique of it"
    name = type(technique).__name__
    for method in ("publish", "infer"):
        assert callable(getattr(technique, method, None)), f"{name} has no method {method}"
    given = table.copy()
    published, again = (technique.publish(given, confidential) for _ in range(2))
    pd.testing.assert_frame_equal(given, table, obj=f"the table that {name}.publish was given")
    column, population = table[confidential], table.drop(columns=confidential)
    domain = column.cat.categories if isinstance(column.dtype, pd.CategoricalDtype) else column.unique()
    rng = np.random.default_rng(0)
    for known in [0, *range(len(population.columns) + 1)] * 2:
        person = population.iloc[rng.integers(len(table))]
        names = list(rng.permutation(population.columns)[:known])
        some: dict[str, object] = {attribute: person[attribute] for attribute in names}
        if known > 1:
            others = population[names[0]].iloc[rng.integers(len(table), size=2)]
            some[names[0]] = list(dict.fromkeys([person[names[0]], *others]))
        given = population.copy()
        p, twin = (technique.infer(one, some, given) for one in (published, again))
        about = f"{name}.infer, where {', '.join(names) or 'nothing'} is known,"
        pd.testing.assert_frame_equal(given, population, obj=f"the population that {about} was given")
        assert isinstance(p, pd.Series), f"{about} gives a {type(p).__name__}, not a Series"
        assert not p.index.has_duplicates, f"{about} gives one value more than once"
        assert p.index.isin(domain).all(), f"{about} gives values that are not in the domain"
        assert pd.api.types.is_numeric_dtype(p), f"{about} gives {p.dtype}, which is no probability"
        assert np.isfinite(p).all(), f"{about} gives NaN"
        assert (p >= 0).all(), f"{about} gives {p.min():.3g}, which is no probability"
        assert abs(p.sum() - 1) < 1e-9, f"{about} gives probabilities that sum to {p.sum():.12g}"
        same = p.index.equals(twin.index) and np.allclose(p, twin)
        assert same, f"{about} says something else when all is published again"

"""What every information source, and every technique of disclosure control, promises; run it on those you write.

>>> import maxent_cvx as mx
>>> hospital = mx.datasets.load_hospital()
>>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
>>> check_source(mx.BucketInvariants(release), mx.MaxEnt(release).space, truth=hospital)
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from . import arguments
from .errors import Infeasible, StatementError
from .model.emitted_rows import emit
from .sources import Source
from .terms.space import Space

__all__ = ["check_source", "check_technique"]


def check_source(source: Source, space: Space, truth: pd.DataFrame | None = None, id: str | None = None) -> None:
    """Check the contract of an information source; an :exc:`AssertionError` says what is broken.

    1. Its class has a docstring, and the source a label that is a non-empty text.
    2. :meth:`maxent_cvx.Source.rows` emits rows over the terms of the space (or CVXPY constraints), every value is a
       number, no row has an empty range, and every row has a name.
    3. Asked twice it says the same: building a model twice must not change it.
    4. Given the original records, its rows are true of them: knowledge is sound.

    Parameters
    ----------
    source : Source
        One that you wrote, see :class:`maxent_cvx.Source`.
    space : Space
        Of a model that it is for: ``mx.MaxEnt(release).space``.
    truth : DataFrame, optional
        The original records with the release's QI, sensitive and bucket columns, if the source is supposed to be true
        of them.
    id : str, optional
        Their column of names, if the space names people.

    Raises
    ------
    AssertionError
        If a part of the contract is broken; which, it says.
    StatementError
        If `source` is no Source, or `space` no Space.
    UnknownName, TableError
        If the original records lack a column, or are not the people of the space.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> hospital = mx.datasets.load_hospital()
    >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    >>> class AtMost(mx.Source):
    ...     "P(s | q) <= limit for every q and s."
    ...     def __init__(self, limit):
    ...         self.limit = limit
    ...     def rows(self, space):
    ...         yield space.conditional("s", given="q") <= self.limit
    >>> space = mx.MaxEnt(release).space
    >>> mx.testing.check_source(AtMost(0.5), space)                          # keeps its promises ...
    >>> try:
    ...     mx.testing.check_source(AtMost(0.5), space, truth=hospital)          # ... but is not true of the patients
    ... except AssertionError as error:
    ...     print(str(error).splitlines()[0])
    AtMost(0.5): Breast Cancer, female, junior is false of the original records by 0.5
    """
    arguments.instance(source, Source, "source")
    arguments.instance(space, Space, "space")
    name = type(source).__name__
    assert type(source).__doc__, f"{name} has no docstring of its own; open it with the equation it adds"
    assert isinstance(source.label, str), f"the label of {name} is {source.label!r}, not a text"
    assert source.label, f"the label of {name} is empty"
    try:
        emitted, again = (emit(source, space).rows for _ in range(2))
    except (StatementError, Infeasible) as error:
        raise AssertionError(str(error)) from error
    assert len(emitted) == len(again), f"{source!r} emits other rows when asked again"
    for rows, twin in zip(emitted, again, strict=True):
        assert rows.matrix.shape == (len(rows.low), len(space)), f"{rows.label}: one column a term, one value a row"
        assert np.isfinite(rows.matrix.data).all(), f"{rows.label}: coefficients must be finite"
        assert (np.isfinite(rows.low) | np.isfinite(rows.high)).all(), f"{rows.label}: a row bounds nothing"
        assert all(rows.name(i) for i in {0, len(rows) - 1} if len(rows)), "a row has no name; give its Rows a label"
        assert rows.same_as(twin), f"{rows.label}: other rows when asked again"
        if truth is not None:
            off = rows.residual(space.count(truth, id) / space.n_records)
            worst = int(off.argmax()) if len(off) else 0
            assert not (off > 1e-9).any(), f"{rows.name(worst)} is false of the original records by {off[worst]:.3g}"


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

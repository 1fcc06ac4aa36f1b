"""What every information source promises."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ..errors import Infeasible, StatementError, arguments
from ..model.emitted_rows import emit
from ..sources import Source
from ..terms.space import Space

__all__ = ["check_source"]


def check_source(source: Source, space: Space, truth: pd.DataFrame | None = None, id: str | None = None) -> None:
    """Check the contract of an information source; an :exc:`AssertionError` says what is broken.

    1. Its class has a docstring, and the source a label that is a non-empty text.
    2. :meth:`maxent_cvx.Source.rows` emits rows over the terms of the space (or CVXPY constraints), every value is a
       number, no row has an empty range, and every row has a name.
    3. Asked twice it says the same: building a model twice must not change it.
    4. Given the original records, its rows are true of them, but for soft ones: knowledge is sound.

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
        if truth is not None and rows.penalty is None:  # a soft row may be missed
            off = rows.residual(space.count(truth, id) / space.n_records)
            worst = int(off.argmax()) if len(off) else 0
            assert not (off > 1e-9).any(), f"{rows.name(worst)} is false of the original records by {off[worst]:.3g}"

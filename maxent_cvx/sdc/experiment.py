"""Experiments: techniques x strengths x what the intruder knows x repetitions."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

import pandas as pd

from ..errors import StatementError, arguments, shown, whole
from ..measures.equivocation.areas import widths_asked
from ..system.parallel import Workers
from ..system.progress import progress_bar
from ..tables.columns import names
from ..tables.numbers import as_list
from .domains import check_confidential, numeric_domain
from .intruders import DRAWS, Intruders
from .technique import Technique

__all__ = ["experiment"]

#: More repetitions, or targets of each, than this would take years.
MOST_RUNS = 10**6


def experiment(
    table: pd.DataFrame,
    confidential: str,
    techniques: Mapping[Callable[..., Technique], Iterable[Any]],
    *,
    known: str | Iterable[str] | None = None,
    sizes: Iterable[int] | None = None,
    targets: int = 10,
    draw: str = "people",
    repetitions: int = 30,
    at: Iterable[float] = (),
    seed: int = 0,
    n_jobs: int | None = None,
    client: Any = None,
    progress: bool | None = None,
) -> pd.DataFrame:
    """Publish a table in many ways, and let intruders who know more and more infer confidential values.

    Parameters
    ----------
    table : DataFrame
        One row a person; all columns are published.
    confidential : str
        The confidential attribute, a number.
    techniques : dict
        Techniques and their strengths: ``{mx.sdc.Sampling: [0.05, 0.5], mx.sdc.RangeQueries: [2, 8]}``. A key is
        called as ``key(strength, seed=seed)``, and named by its ``__name__``; your own class or function is a key, too.
    known : list of str, optional
        The attributes that intruders may know; by default all others.
    sizes : list of int, optional
        How many of them; by default from none to all.
    targets : int
        People in every repetition, of whom intruders know these attributes, one more with each size.
    draw : {"people", "values"}
        Targets are people, equally likely; or combinations of values that somebody has, equally likely, as in the
        paper, and then one of those who have it.
    repetitions : int
        In each the table is published anew, and the order in which attributes become known is drawn. Repetitions are
        the same for all techniques and strengths, and so are their targets.
    at : list of float, optional
        eps for which H(eps) is wanted.
    seed : int
        The whole experiment is the same for the same seed.
    n_jobs : int, optional
        Processes, as of joblib; None is one, or what ``joblib.parallel_config`` says, whose backends ("dask", "ray")
        take experiments over as they are.
    client : distributed.Client, optional
        In the place of `n_jobs`: a Dask cluster, whose workers publish and infer. The table is the same.
    progress : bool, optional
        Show a progress bar; by default on a terminal or in a notebook.

    Returns
    -------
    DataFrame
        A row an intruder: `technique`, `strength`, `repetition`, `size` (attributes known) and which `attributes`, the
        `target` (the place of a person in the table), how many `people` match what is known, ``|Mo|``, the probability
        of the `truth`; `initial`, `area`, `eps_max` and
        `disclosure_risk` of :func:`maxent_cvx.measures.equivocation`; and "H(eps)". Average with ``.groupby``.

    Raises
    ------
    StatementError, TableError, UnknownName
        If an argument cannot be read, or `n_jobs` and `client` are both given; or what a technique raises.
    SolverError
        If the cluster is gone.
    BadProbability
        If an eps is negative, or no number.

    Notes
    -----
    CAE, section 5: the paper averages over 30 repetitions, attributes and values.

    Examples
    --------
    >>> import maxent_cvx as mx, pandas as pd
    >>> people = pd.DataFrame({"Age": [20, 20, 30, 30], "Sex": ["F", "M"] * 2, "Salary": [50, 107, 77, 80]})
    >>> found = mx.sdc.experiment(people, "Salary", {mx.sdc.Sampling: [0.5, 1.0]}, repetitions=2, progress=False)
    >>> bool(found.groupby("strength")["area"].mean().is_monotonic_decreasing)
    True
    """
    targets = arguments.whole(targets, "targets", 1, MOST_RUNS)
    repetitions = arguments.whole(repetitions, "repetitions", 1, MOST_RUNS)
    check_confidential(table, confidential)
    numeric_domain(table[confidential])
    attributes = _attributes(table, confidential, known)
    wanted = list(range(len(attributes) + 1)) if sizes is None else _sizes(sizes, len(attributes))
    arguments.choice(draw, "draw", tuple(DRAWS))
    eps = widths_asked(at)
    if progress is not None and not isinstance(progress, bool):
        raise StatementError(f"progress={shown(progress)}: True, False or None is expected")
    workers = Workers.asked(n_jobs, client)
    whole(seed, "seed", 0)
    tasks = [
        (name, make, strength, [seed, repetition])
        for name, make, strengths in _named(techniques)
        for strength in strengths
        for repetition in range(repetitions)
    ]
    intruders = Intruders(table, confidential, attributes, wanted, targets, draw, eps)
    results = workers.map(Intruders.read, intruders, tasks)
    return pd.concat(progress_bar(results, "experiment", progress, total=len(tasks)), ignore_index=True)


def _attributes(table: pd.DataFrame, confidential: str, known: str | Iterable[str] | None) -> list[str]:
    """The attributes that intruders may know."""
    others = [name for name in table.columns if name != confidential]
    if known is None:
        return others
    attributes = list(names(known, "known"))
    if strangers := [name for name in attributes if name not in others]:
        raise StatementError(f"known has {strangers[0]!r}, which is no attribute besides {confidential!r}")
    if len(set(attributes)) < len(attributes):
        raise StatementError(f"known={attributes}: each attribute once is expected")
    return attributes


def _sizes(sizes: object, most: int) -> list[int]:
    """How many attributes are known."""
    found = sorted({whole(size, "sizes", 0, most) for size in as_list(sizes)})
    if not found:
        raise StatementError("sizes=[]: at least one number of known attributes is expected")
    return found


def _named(techniques: object) -> list[tuple[str, Callable[..., Technique], list[Any]]]:
    """Read the techniques, their names and strengths."""
    if not isinstance(techniques, Mapping) or not techniques:
        raise StatementError(f"techniques must be a dictionary {{technique: strengths}}, not {shown(techniques)}")
    found = []
    for make, strengths in techniques.items():
        if not callable(make):
            raise StatementError(f"a technique is a class, or a function of (strength, seed=...), not {shown(make)}")
        if not arguments.is_several(strengths) or isinstance(strengths, str) or not (listed := list(strengths)):
            raise StatementError(f"the strengths of a technique are a list of at least one, not {shown(strengths)}")
        name = getattr(make, "__name__", "")
        if isinstance(make, partial):
            settings = ", ".join(f"{key}={shown(value)}" for key, value in make.keywords.items())
            name = f"{getattr(make.func, '__name__', '')}({settings})"
        try:
            inspect.signature(make).bind(listed[0], seed=0)
        except TypeError as error:
            raise StatementError(f"{name} cannot be called as {name}(strength, seed=0): {error}") from error
        except ValueError:  # built in, and does not tell
            pass
        found.append((name, make, listed))
    called = [name for name, _, _ in found]
    if len(set(called)) < len(called) or "" in called or "<lambda>" in called:
        raise StatementError(f"techniques are called {called}: each needs a name of its own; use def, or a class")
    return found

"""Experiments: techniques x strengths x what the intruder knows x repetitions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from numbers import Integral
from typing import Any

import numpy as np
import pandas as pd
from tqdm import tqdm

from ..errors import StatementError, TableError, shown, whole
from ..measures.areas import areas, widths_asked
from ..measures.units import in_units
from ..numeric import as_numbers
from ..tables import names, sort_distinct
from .technique import Technique, check_confidential, domain_of, numeric_domain

__all__ = ["experiment"]

DRAWS = ("people", "values")
#: What is told of every intruder.
COLUMNS = ["technique", "strength", "repetition", "size", "attributes", "target", "people", "truth"]
#: How far the probabilities of a technique may be from a sum of 1.
ROUNDING = 1e-9


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
    n_jobs : int, optional
        Processes, as of joblib; None is one, or what ``joblib.parallel_config`` says, whose backends ("dask", "ray")
        take experiments over as they are.
    progress : bool, optional
        Show a progress bar; by default on a terminal or in a notebook.

    Returns
    -------
    DataFrame
        A row an intruder: `technique`, `strength`, `repetition`, `size` (attributes known) and which `attributes`, the
        `target` (the place of a person in the table), how many `people` match what is known, |Mo|, the probability of
        the `truth`; `initial`, `area`, `eps_max` and
        `disclosure_risk` of :func:`maxent_cvx.measures.equivocation`; and "H(eps)". Average with ``.groupby``.

    Raises
    ------
    StatementError, TableError, UnknownName
        If an argument cannot be read; or what a technique raises.

    Notes
    -----
    CAE, section 5: the paper averages over 30 repetitions, attributes and values.

    Examples
    --------
    >>> import pandas as pd
    >>> people = pd.DataFrame({"Age": [20, 20, 30, 30], "Sex": ["F", "M"] * 2, "Salary": [50, 107, 77, 80]})
    >>> import maxent_cvx as mx
    >>> found = experiment(people, "Salary", {mx.sdc.Sampling: [0.5, 1.0]}, repetitions=2, progress=False)
    >>> bool(found.groupby("strength")["area"].mean().is_monotonic_decreasing)
    True
    """
    check_confidential(table, confidential)
    numeric_domain(table[confidential])
    attributes = _attributes(table, confidential, known)
    wanted = list(range(len(attributes) + 1)) if sizes is None else _sizes(sizes, len(attributes))
    if draw not in DRAWS:
        raise StatementError(f"draw={shown(draw)}: one of {', '.join(DRAWS)} is expected")
    eps = widths_asked(at)
    if progress is not None and not isinstance(progress, bool):
        raise StatementError(f"progress={shown(progress)}: True, False or None is expected")
    if n_jobs is not None and (not isinstance(n_jobs, Integral) or n_jobs == 0):
        raise StatementError(f"n_jobs={shown(n_jobs)}: a number of processes is expected, or -1 for all there are")
    tasks = [
        (name, make, strength, repetition)
        for name, make, strengths in _named(techniques)
        for strength in strengths
        for repetition in range(whole(repetitions, "repetitions", 1))
    ]
    of = partial(_one, table, confidential, attributes, wanted, whole(targets, "targets", 1), draw, eps)
    from joblib import Parallel, delayed  # takes a while to load, which no other part needs

    calls = (delayed(of)(name, make, strength, [whole(seed, "seed", 0), i]) for name, make, strength, i in tasks)
    results = Parallel(n_jobs=n_jobs, return_as="generator")(calls)
    shown_bar = None if progress is None else not progress
    return pd.concat(tqdm(results, total=len(tasks), desc="experiment", disable=shown_bar), ignore_index=True)


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
    several: Any = sizes if np.ndim(sizes) else [sizes]  # type: ignore[arg-type]
    found = sorted({whole(size, "sizes", 0, most) for size in several})
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
        if not isinstance(strengths, Iterable) or isinstance(strengths, str) or not (several := list(strengths)):
            raise StatementError(f"the strengths of a technique are a list of at least one, not {shown(strengths)}")
        name = getattr(make, "__name__", "")
        if isinstance(make, partial):
            settings = ", ".join(f"{key}={shown(value)}" for key, value in make.keywords.items())
            name = f"{getattr(make.func, '__name__', '')}({settings})"
        found.append((name, make, several))
    called = [name for name, _, _ in found]
    if len(set(called)) < len(called) or "" in called or "<lambda>" in called:
        raise StatementError(f"techniques are called {called}: each needs a name of its own; use def, or a class")
    return found


def _one(
    table: pd.DataFrame,
    confidential: str,
    attributes: list[str],
    sizes: list[int],
    targets: int,
    draw: str,
    eps: list[float],
    name: str,
    make: Callable[..., Technique],
    strength: Any,
    seeds: list[int],
) -> pd.DataFrame:
    """One publication, and all intruders who read it."""
    rng = np.random.default_rng(seeds)  # the same for every technique and strength
    seed, order = int(rng.integers(2**31)), [attributes[i] for i in rng.permutation(len(attributes))]
    technique = make(strength, seed=seed)
    if not isinstance(technique, Technique):
        raise StatementError(f"{name} makes {shown(technique)}, which has not both publish and infer")
    published = technique.publish(table.copy(), confidential)  # whatever a technique does to its table
    population = table.drop(columns=confidential)
    domain = domain_of(table[confidential])
    rows, inferred, seen = [], [], {}
    for size in sizes:
        those = sorted(order[:size], key=list(table.columns).index)
        # The same people know more with each size; combinations of values are drawn for each.
        chances = np.random.default_rng([*seeds, 0 if draw == "people" else size]).random((targets, 2))
        for person in _targets(table, those, chances, draw).tolist():
            key = size, *(table[attribute].iloc[person] for attribute in those)
            if key not in seen:
                p = technique.infer(
                    published, dict(zip(those, ([value] for value in key[1:]), strict=True)), population
                )
                like = [(table[attribute] == table[attribute].iloc[person]).to_numpy() for attribute in those]
                matching = int(np.logical_and.reduce(like).sum()) if those else len(table)
                seen[key] = _checked(p, domain, name), matching
            share, matching = seen[key]
            true = share[domain.get_loc(table[confidential].iloc[person])]
            rows.append((name, strength, seeds[1], size, ", ".join(those), person, matching, true))
            inferred.append(share)
    _, units, unit = in_units(domain, confidential)
    return pd.concat([pd.DataFrame(rows, columns=COLUMNS), areas(units, unit, np.array(inferred), eps)], axis=1)


def _targets(table: pd.DataFrame, attributes: list[str], chances: np.ndarray, draw: str) -> np.ndarray:
    """Positions of people, drawn by two chances each."""
    if draw == "people" or not attributes:
        return (chances[:, 0] * len(table)).astype(int)
    code, tuples = sort_distinct(table[attributes])
    order, size = np.argsort(code, kind="stable"), np.bincount(code)
    drawn = (chances[:, 0] * len(tuples)).astype(int)
    return order[np.cumsum(size)[drawn] - size[drawn] + (chances[:, 1] * size[drawn]).astype(int)]


def _checked(p: object, domain: pd.Index, name: str) -> np.ndarray:
    """The probabilities that a technique gives, over the domain."""
    if not isinstance(p, pd.Series) or not p.index.isin(domain).all() or p.index.has_duplicates:
        raise TableError(f"{name}.infer must give a Series of probabilities by value of the domain, not {shown(p)}")
    share = as_numbers(p.reindex(domain).fillna(0.0), f"what {name}.infer gives").astype(float)
    if not (share >= 0).all():
        raise TableError(f"{name}.infer gives {share.min():.12g}, which is no probability")
    if abs(share.sum() - 1) > ROUNDING:
        raise TableError(f"{name}.infer gives numbers that sum to {share.sum():.12g}; probabilities are expected")
    return share

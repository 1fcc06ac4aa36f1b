"""Experiments: techniques x strengths x intruders' knowledge x repetitions."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from .._utils.errors import StatementError, TableError, short_repr
from .._utils.parallel import Workers
from .._utils.progress import progress_bar
from .._utils.tables import as_list, as_numbers, names, sort_distinct
from .._utils.validation import check_in, check_int, check_optional_bool, check_seed, is_several
from ..measures.equivocation import areas, in_units, widths_asked
from .techniques import Technique, check_confidential, domain_of, numeric_domain

DRAWS = ("people", "values")
#: The columns about every intruder.
COLUMNS = ["technique", "strength", "repetition", "size", "attributes", "target", "people", "truth"]
#: The tolerance of the sum of a technique's probabilities, which is 1.
ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Intruders:
    """The intruders' targets, knowledge and measures; see :func:`maxent_cvx.sdc.experiment`."""

    table: pd.DataFrame
    confidential: str
    attributes: Sequence[str]  # attributes that intruders may know
    sizes: Sequence[int]  # numbers of known attributes
    targets: int  # number of people per size
    draw: str
    eps: Sequence[float]

    def read(self, name: str, make: Callable[..., Technique], strength: Any, seeds: Sequence[int]) -> pd.DataFrame:
        """Publish the table, and return each intruder's inference from it, one row per intruder."""
        rng = np.random.default_rng(seeds)  # the same for every technique and strength
        seed = int(rng.integers(2**31))
        order = [self.attributes[i] for i in rng.permutation(len(self.attributes))]
        technique = make(strength, seed=seed)
        if not isinstance(technique, Technique):
            raise StatementError(f"{name} must return an object with publish and infer, not {short_repr(technique)}")
        published = technique.publish(self.table.copy(), self.confidential)  # a copy, as it may modify its table
        population = self.table.drop(columns=self.confidential)
        domain, truth = domain_of(self.table[self.confidential]), self.table[self.confidential]
        rows, inferred, seen = [], [], {}
        for size in self.sizes:
            attributes = sorted(order[:size], key=list(self.table.columns).index)
            for person in self._targets(attributes, size, seeds):
                cells = {attribute: self.table[attribute].iloc[person] for attribute in attributes}
                if (key := (size, *cells.values())) not in seen:
                    # In a list, as a tuple or an interval could be read as several values.
                    known = {name: [x] if isinstance(x, tuple | pd.Interval) else x for name, x in cells.items()}
                    seen[key] = _checked(technique.infer(published, known, population), domain, name)
                matching = np.ones(len(self.table), dtype=bool)
                for attribute, cell in cells.items():
                    matching &= (self.table[attribute] == cell).to_numpy()
                true = seen[key][domain.get_loc(truth.iloc[person])]
                people = int(matching.sum())
                rows.append((name, strength, seeds[-1], size, ", ".join(attributes), person, people, true))
                inferred.append(seen[key])
        _, units, unit = in_units(domain, self.confidential)
        judged = areas(units, unit, np.array(inferred), self.eps)
        return pd.concat([pd.DataFrame(rows, columns=COLUMNS), judged], axis=1)

    def _targets(self, attributes: list[str], size: int, seeds: Sequence[int]) -> list[int]:
        """Return positions of people in the table: the same for each size, or drawn by existing combinations."""
        chances = np.random.default_rng([*seeds, 0 if self.draw == "people" else size]).random((self.targets, 2))
        if self.draw == "people" or not attributes:
            return [int(place) for place in chances[:, 0] * len(self.table)]
        code, tuples = sort_distinct(self.table[attributes])
        order, people = np.argsort(code, kind="stable"), np.bincount(code)
        drawn = (chances[:, 0] * len(tuples)).astype(int)
        among = np.cumsum(people)[drawn] - people[drawn] + (chances[:, 1] * people[drawn]).astype(int)
        return [int(place) for place in order[among]]


def _checked(p: object, domain: pd.Index, name: str) -> np.ndarray:
    """Check the probabilities of a technique, and return them over the domain."""
    if not isinstance(p, pd.Series) or not p.index.isin(domain).all() or p.index.has_duplicates:
        description = short_repr(p) if not isinstance(p, pd.Series) else "one with other or duplicate values"
        raise TableError(f"{name}.infer must return a Series of probabilities by domain value, not {description}")
    share = as_numbers(p.reindex(domain).fillna(0.0), f"the result of {name}.infer").astype(float)
    if not (share >= 0).all():
        raise TableError(f"{name}.infer must return probabilities, not {share.min():.12g}")
    if abs(share.sum() - 1) > ROUNDING:
        raise TableError(f"{name}.infer must return probabilities that sum to 1, not to {share.sum():.12g}")
    return share


#: The maximum number of repetitions, and of targets per repetition; more would take years.
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
    """Publish a table with several techniques, and measure the inferences of intruders with increasing knowledge.

    Parameters
    ----------
    table : DataFrame
        One row per person; all columns are published.
    confidential : str
        The confidential attribute, which is numeric.
    techniques : dict
        Techniques and their strengths: ``{mx.sdc.Sampling: [0.05, 0.5], mx.sdc.RangeQueries: [2, 8]}``. Each key is
        called as ``key(strength, seed=seed)``, and named by its ``__name__``; it can be a user-defined class or
        function.
    known : list of str, optional
        The attributes that intruders may know; by default, all others.
    sizes : list of int, optional
        The numbers of known attributes; by default, 0 to all.
    targets : int
        The number of people per repetition about whom intruders know attributes.
    draw : {"people", "values"}
        Draw people with equal probability; or, as in the paper, existing combinations of values with equal probability,
        and then a person with the combination.
    repetitions : int
        The number of repetitions. Each publishes the table again, and draws the order in which attributes become known.
        Repetitions and targets are the same for all techniques and strengths.
    at : list of float, optional
        The values of eps at which H(eps) is computed.
    seed : int
        The random seed of the whole experiment.
    n_jobs : int, optional
        The number of processes, as in joblib. None means one, unless set by ``joblib.parallel_config``, whose backends
        ("dask", "ray") are supported.
    client : distributed.Client, optional
        A Dask cluster, instead of `n_jobs`. The result is the same.
    progress : bool, optional
        Whether to show a progress bar; by default, on a terminal or in a notebook.

    Returns
    -------
    DataFrame
        One row per intruder: `technique`, `strength`, `repetition`, `size` (the number of known attributes), the known
        `attributes`, the `target` (the position of a person in the table), the number of `people` who match the
        knowledge, ``|Mo|``, the probability of the `truth`; `initial`, `area`, `eps_max` and `disclosure_risk` of
        :func:`maxent_cvx.measures.equivocation`; and "H(eps)". Average with ``.groupby``.

    Raises
    ------
    StatementError, TableError, UnknownName
        If an argument is invalid, or `n_jobs` and `client` are both given; or from a technique.
    SolverError
        If the cluster does not respond.
    BadProbability
        If an eps is negative, or not a number.

    Notes
    -----
    CAE, section 5: the paper averages over 30 repetitions, attributes and values.

    Examples
    --------
    >>> import maxent_cvx as mx, pandas as pd
    >>> people = pd.DataFrame({"Age": [20, 20, 30, 30], "Sex": ["F", "M"] * 2, "Salary": [50, 107, 77, 80]})
    >>> result = mx.sdc.experiment(people, "Salary", {mx.sdc.Sampling: [0.5, 1.0]}, repetitions=2, progress=False)
    >>> bool(result.groupby("strength")["area"].mean().is_monotonic_decreasing)
    True
    """
    targets = check_int(targets, "targets", 1, MOST_RUNS)
    repetitions = check_int(repetitions, "repetitions", 1, MOST_RUNS)
    check_confidential(table, confidential)
    numeric_domain(table[confidential])
    attributes = _attributes(table, confidential, known)
    most = len(attributes)
    numbers = sorted({check_int(n, "sizes", 0, most) for n in (range(most + 1) if sizes is None else as_list(sizes))})
    if not numbers:
        raise StatementError("sizes must contain at least one number of known attributes, got []")
    check_in(draw, "draw", DRAWS)
    eps = widths_asked(at)
    check_optional_bool(progress, "progress")
    workers = Workers.asked(n_jobs, client)
    check_seed(seed)
    tasks = [
        (name, make, strength, [seed, repetition])
        for name, make, strengths in _named(techniques)
        for strength in strengths
        for repetition in range(repetitions)
    ]
    intruders = Intruders(table, confidential, attributes, numbers, targets, draw, eps)
    results = workers.map(Intruders.read, intruders, tasks)
    return pd.concat(progress_bar(results, "experiment", progress, total=len(tasks)), ignore_index=True)


def _attributes(table: pd.DataFrame, confidential: str, known: str | Iterable[str] | None) -> list[str]:
    """Return the attributes that intruders may know."""
    others = [name for name in table.columns if name != confidential]
    if known is None:
        return others
    attributes = list(names(known, "known"))
    if strangers := [name for name in attributes if name not in others]:
        raise StatementError(f"known must contain attributes other than {confidential!r}, not {strangers[0]!r}")
    if len(set(attributes)) < len(attributes):
        raise StatementError(f"known must not contain duplicates, got {attributes}")
    return attributes


def _named(techniques: object) -> list[tuple[str, Callable[..., Technique], list[Any]]]:
    """Return the names, techniques and strengths."""
    if not isinstance(techniques, Mapping) or not techniques:
        raise StatementError(f"techniques must be a dictionary {{technique: strengths}}, not {short_repr(techniques)}")
    named = []
    for make, strengths in techniques.items():
        if not callable(make):
            raise StatementError(
                f"a technique must be a class, or a function of (strength, seed=...), not {short_repr(make)}"
            )
        if not is_several(strengths) or isinstance(strengths, str) or not (listed := list(strengths)):
            raise StatementError(f"the strengths of a technique must be a nonempty list, not {short_repr(strengths)}")
        name = getattr(make, "__name__", "")
        if isinstance(make, partial):
            settings = ", ".join(f"{key}={short_repr(value)}" for key, value in make.keywords.items())
            name = f"{getattr(make.func, '__name__', '')}({settings})"
        try:
            inspect.signature(make).bind(listed[0], seed=0)
        except TypeError as error:
            raise StatementError(f"{name} cannot be called as {name}(strength, seed=0): {error}") from error
        except ValueError:  # a built-in function without signature
            pass
        named.append((name, make, listed))
    called = [name for name, _, _ in named]
    if len(set(called)) < len(called) or {"", "<lambda>"} & {*called}:
        raise StatementError(f"techniques must have distinct names, not {called}; use def, or a class")
    return named

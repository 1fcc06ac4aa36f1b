"""Sweeps: the posterior as one statement's value, or its vagueness, changes."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ..errors import StatementError, arguments, number, shown
from ..model.maxent import MaxEnt
from ..model.measure import Measure, Measures
from ..model.posterior import Posterior
from ..model.solved_rows import solved_rows
from ..sources import Probability, Source, Statement, read_probability
from ..system.parallel import Workers

__all__ = ["sweep"]

#: The columns of every sweep, beside the measures.
COLUMNS = ("value", "eps", "status", "probability", "entropy", "message")
#: Solves of which each begins with the answer before it; the next begins anew, so that processes can share a sweep.
LONGEST_CHAIN = 4


def sweep(
    model: MaxEnt,
    probability: Probability | str,
    *,
    value: float | Sequence[float] | None = None,
    eps: float | Sequence[float] = 0.0,
    measure: Measure | None = None,
    solver: str = "auto",
    n_jobs: int | None = None,
    client: Any = None,
    time_limit: float = math.inf,
    progress: bool | None = None,
    **options: Any,
) -> pd.DataFrame:
    """Solve a model for every value that a probability is stated to have, and for every vagueness.

    Most solves are warm-started from the one before. The model itself stays as it is.

    Parameters
    ----------
    model : MaxEnt
        Everything else that is known. A statement of the same probability (or of a multiple) that it holds is replaced.
    probability : Probability or str
        ``P("Flu", given={"Gender": "male"})``, ``"P(Flu | Gender=male)"``, or a linear combination.
    value : float or several, optional
        Probabilities; by default the value (or the middle of the two sides) of the one statement that is replaced.
    eps : float or several
        Vagueness: the probability is within eps of the value (Privacy-MaxEnt, section 4.5).
    measure : callable, or dict or list of callables, optional
        From a posterior to a number, or to several by name; a column each, "name" or "name[label]".
    solver : str
        As of :meth:`maxent_cvx.MaxEnt.solve`.
    n_jobs : int, optional
        Processes, as of joblib; None is one, or what ``joblib.parallel_config`` says. The table is the same.
    client : distributed.Client, optional
        In the place of `n_jobs`: a Dask cluster, whose workers do all solves and call the measures.
    time_limit : float
        Seconds for each solve, as of :meth:`maxent_cvx.MaxEnt.solve`.
    progress : bool, optional
        Show a progress bar; by default on a terminal or in a notebook.
    options
        As of :meth:`maxent_cvx.MaxEnt.solve`, but for ``warm_start``.

    Returns
    -------
    DataFrame
        A row a solve, values outermost: `value`, `eps`, `status` (that of the answer, mostly "optimal"; "infeasible"
        where the value contradicts the rest; "failed"), `probability`, that the posterior gives, `entropy`, nats, what
        is measured, and the `message`, why there is no answer; such a row has NaN elsewhere.

    Raises
    ------
    StatementError
        If no value is given and the model holds none; or a measure does not return a number; or if `n_jobs` or `client`
        cannot be read, or both are given.
    BadProbability
        If a value cannot be that of the probability.
    Inaccurate, SolverError
        As of :meth:`maxent_cvx.MaxEnt.solve`, if that is so of every solve; the first one's. Or if the cluster is gone.

    Notes
    -----
    Whatever ends it early, an interrupt or an error of a measure, has the rows that are finished in its attribute
    ``finished``, in a notebook ``sys.last_value.finished``.

    Examples
    --------
    The inference about Grace, the only junior, as the stated share of men with breast cancer varies:

    >>> import maxent_cvx as mx
    >>> hospital = mx.datasets.load_hospital()
    >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    >>> table = mx.sweep(mx.MaxEnt(release), "P(Breast Cancer | Gender=male)", value=[0, 0.1, 0.3, 0.5],
    ...     measure={"Grace": lambda post: post.prob("Breast Cancer", given={"Degree": "junior"})})
    >>> print(table[["value", "status", "entropy", "Grace"]].round(3))
       value      status  entropy  Grace
    0    0.0     optimal    2.823  1.000
    1    0.1     optimal    3.128  0.727
    2    0.3     optimal    3.210  0.125
    3    0.5  infeasible      NaN    NaN
    """
    if not isinstance(model, MaxEnt):
        raise StatementError(f"a sweep solves a MaxEnt model, not {shown(model)}")
    if "warm_start" in options:
        raise StatementError("a sweep begins each solve with the one before; leave warm_start out")
    asked = read_probability(probability) if isinstance(probability, str) else probability
    if not isinstance(asked, Probability):
        raise StatementError(f"a sweep is of a probability such as P('Flu'), not of {shown(asked)}")
    workers = Workers.asked(n_jobs, client)
    measures = Measures({}) if measure is None else Measures.of(measure, reserved=COLUMNS)
    factors = {name: _factor(said, asked) for name, said in model.knowledge.items()}
    own = {name: factor for name, factor in factors.items() if factor is not None}
    values = _numbers(_own_value(model, asked, own) if value is None else value, "value")
    base = model.copy()
    for name in own:
        base.remove(name)
    label = next(name for i in itertools.count() if (name := "swept" + "_" * i) not in base.knowledge)
    points = list(itertools.product(values, _numbers(eps, "eps")))
    said = [asked.about(v, e) if e else asked == v for v, e in points]  # raises, before anything is solved
    arguments.optional_flag(progress, "progress")
    given = {"solver": solver, "time_limit": time_limit, **options}
    cases = _Points(base, asked, label, points, said, measures, given)
    chains = [range(len(points))[i : i + LONGEST_CHAIN] for i in range(0, len(points), LONGEST_CHAIN)]
    rows = solved_rows(cases, chains, "sweep", workers, progress)
    measured = dict.fromkeys(key for row in rows for key in row if key not in COLUMNS)
    return pd.DataFrame(rows, columns=[*COLUMNS[:-1], *(measured or measures.functions), COLUMNS[-1]])


@dataclass(frozen=True)
class _Points:
    """The statements of a sweep, by number: a value and its vagueness each, added to one model."""

    base: MaxEnt
    asked: Probability
    label: str
    points: Sequence[tuple[float, float]]
    statements: Sequence[Statement]
    measures: Measures
    solve: Mapping[str, Any]

    def about(self, i: int) -> dict[str, Any]:
        """The value and eps."""
        return dict(zip(COLUMNS, self.points[i], strict=False))

    def solved(self, i: int, before: Posterior | None) -> Posterior:
        """What is inferred from the statement, and all else that is known."""
        model = self.base.copy().add(self.statements[i], label=self.label)
        return model.solve(warm_start=before, **self.solve)

    def measured(self, i: int, post: Posterior) -> dict[str, Any]:
        """Measure it."""
        found = {"probability": post.prob(self.asked), "entropy": post.entropy}
        return found | self.measures(post, "with value = {:g}, eps = {:g}".format(*self.points[i]))


def _numbers(given: object, what: str) -> list[float]:
    """Read a number, or several."""
    several = given if arguments.is_several(given) and not isinstance(given, str) else [given]
    return [number(one, what) for one in several]


def _factor(said: Source, asked: Probability) -> float | None:
    """The multiple of the probability that a statement constrains; None if it constrains something else."""
    if not isinstance(said, Statement):
        return None
    terms, other = dict(said.terms), {event: a for event, a in asked.terms.items() if a != 0}
    if terms.keys() != other.keys():
        return None
    ratios = np.array([terms[event] / other[event] for event in terms])
    return float(ratios[0]) if np.ptp(ratios) <= 1e-12 * abs(ratios[0]) else None


def _own_value(model: MaxEnt, asked: Probability, own: Mapping[str, float]) -> float:
    """The value that the model's one statement says the probability has, or the middle of its sides."""
    sides = {name: (said.low, said.high) for name, said in model.knowledge.items() if isinstance(said, Statement)}
    middles = [sum(sides[name]) / 2 / factor for name, factor in own.items()]
    if len(middles) != 1 or not np.isfinite(middles[0]):
        raise StatementError(
            f"the model holds {len(middles)} statements of {asked}, not one with a value; say which is meant, value=..."
        )
    return float(middles[0]) + asked.constant

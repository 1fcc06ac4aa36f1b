"""Experiments: series of models with varying knowledge, statements, solvers or releases."""

from __future__ import annotations

import contextlib
import inspect
import itertools
import math
import os
import signal
import sys
import time
import warnings
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ._utils.associations import Associations, mine_associations
from ._utils.errors import (
    BadProbability,
    Infeasible,
    MaxEntError,
    SolverError,
    StatementError,
    TableError,
    UnknownName,
    join_names,
    pluralize,
    short_repr,
    unknown_name,
)
from ._utils.formatting import TablePreview, as_html
from ._utils.parallel import Workers
from ._utils.progress import progress_bar
from ._utils.tables import as_list, ranges
from ._utils.validation import (
    check_bool,
    check_dataframe,
    check_float,
    check_instance,
    check_list,
    check_mapping,
    check_number,
    check_optional_bool,
    check_seconds,
    check_str,
)
from .measures.accuracy import overall_divergence, term_divergence
from .model.bounds import of_combinations
from .model.explain import solved_rows
from .model.maxent import MaxEnt
from .model.measure import Measure, Measures, can_be_called, own_name
from .model.posterior import Posterior
from .releases.readers import with_cells
from .releases.release import Release
from .releases.series import ReleaseSeries
from .solvers.backends import SOLVERS, Backend, OwnBackend, as_backend, find
from .solvers.certificate import ACCURACY
from .sources.associations import StrongestAssociations
from .sources.parser import read_probability
from .sources.statements import ParametricStatement, Probability, Statement
from .terms.space import Space


class SolverTable(pd.DataFrame):
    """A DataFrame with an HTML summary, whose slices are plain DataFrames."""

    @property
    def _constructor(self) -> type[pd.DataFrame]:
        return pd.DataFrame

    def _repr_html_(self) -> str:
        certified = int(self["certified"].sum())
        summary = (
            f"{certified} of {pluralize(len(self), 'answer')} certified; errors of their P(s | q) are within the bound"
        )
        return as_html(f"<Solvers: {summary}>", TablePreview(pd.DataFrame(self), "answers"))


#: Options of every solve, not of the solver.
OF_EVERY_SOLVER = ("verbose", "time_limit", "callback", "polish", "progress")
#: The measurements of an answer, in the order of the columns.
NUMBERS = (
    "bound", "error", "objective", "residual", "gap", "iterations", "tolerance", "build", "solve", "certify", "seconds",
)  # fmt: skip


class _Result(NamedTuple):
    """The result of a solver for one model."""

    post: Posterior | None
    word: str  # the solver's status, or the kind of failure
    seconds: float  # total time
    reason: str


def compare_solvers(
    models: MaxEnt | Mapping[str, MaxEnt] | Sequence[MaxEnt],
    solvers: str | object | Iterable[str | object] | None = None,
    options: Mapping[str, Mapping[str, Any]] | None = None,
    time_limit: float | None = None,
    *,
    presolve: bool = True,
    progress: bool | None = None,
) -> pd.DataFrame:
    """Solve one or several models with several solvers, and certify each answer.

    Parameters
    ----------
    models : MaxEnt, dict of str to MaxEnt, or list of MaxEnt
        The model, which is not changed, or several models by name, or by number from 0.
    solvers : iterable of str or object, optional
        Names from :func:`maxent_cvx.solvers.available`, or backends as for :func:`maxent_cvx.solvers.register`,
        registered or not; by default, all installed registered solvers. Further words after a name distinguish two
        calls of the same solver: "CLARABEL qdldl".
    options : dict of dict, optional
        Options by name in `solvers`: ``{"CLARABEL qdldl": {"direct_solve_method": "qdldl"}}``.
    time_limit : float, optional
        Seconds for each solve, as for :meth:`MaxEnt.solve`. A solver without a time limit, such as ECOS, runs in a
        separate process that is killed after this time.
    presolve : bool
        As for :meth:`MaxEnt.solve`, for all solvers.
    progress : bool, optional
        Show a progress bar; by default on a terminal or in a notebook.

    Returns
    -------
    DataFrame
        One row per solver, in the given order, or, for several models, one row per model and solver:

        * word: the solver's status, "optimal" or less; without an answer, "infeasible" (for contradictory knowledge),
          "time limit", "not installed" or "failed". A solver that raises an error of any type has failed; the others
          are still compared;
        * certified: whether the certificate is valid. bound: the largest error of any P(s | q), by the certificate;
        * error: the largest difference of any P(s | q) from the answer with the smallest bound, whose solver is
          ``attrs["reference"]`` (None without bounds; a dictionary for several models);
        * objective: H(Q, S, B), in nats; residual and gap: of the certificate, in people;
        * iterations, and the tolerance of a conic solver;
        * build, solve, certify: seconds for the construction of the problem (CVXPY's compilation), in the solver, and
          for the certificate. seconds: total, including presolve, further attempts and the start of a process;
        * reason: the error without an answer; otherwise the solver of the answer, if it is another one because the
          requested solver's answer was not certified.

    Raises
    ------
    UnknownName
        If a solver, or an option of DUAL_NEWTON or DUAL_LBFGS, does not exist; raised before any solver is called.
    SolverError
        If an element of `solvers` is neither a name nor a backend, or two different solvers have the same name.
    StatementError
        If `solvers` is empty, or `models` has another type.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> hospital = mx.datasets.load_hospital()
    >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    >>> model = mx.MaxEnt(release).add(mx.P("Flu", given={"Gender": "male"}) == 0.3)
    >>> mx.compare_solvers(model, ["DUAL_NEWTON", "DUAL_LBFGS"])["certified"].to_list()
    [True, True]
    >>> several = {"nothing": mx.MaxEnt(release), "a rumour": model}
    >>> mx.compare_solvers(several, ["DUAL_NEWTON", "DUAL_LBFGS"], time_limit=60)["certified"].to_list()
    [True, True, True, True]
    """
    several = isinstance(models, Mapping | list | tuple)
    by_name = dict(enumerate(models)) if isinstance(models, list | tuple) else models
    named: Mapping[Any, Any] = by_name if isinstance(by_name, Mapping) else {None: by_name}
    if not named:
        raise StatementError("models must not be empty; pass {name: model}")
    for name, model in named.items():
        check_instance(model, MaxEnt, "models" if name is None else f"{name!r} of models")
    check_bool(presolve, "presolve")
    check_optional_bool(progress, "progress")
    limit = math.inf if time_limit is None else check_seconds(time_limit, "time_limit")
    options = {} if options is None else check_mapping(options, "options", "{solver: {option: value}}")
    for label, given in options.items():
        check_mapping(given, f"the options of {label}", "{option: value}")
    backends = _backends(solvers, options)
    if unknown := [label for label in options if label not in backends]:
        raise unknown_name("solver in `solvers`", unknown[0], list(backends))
    answers: dict[Hashable, dict[str, _Result]] = {name: {} for name in named}
    for name, label in progress_bar(list(itertools.product(named, backends)), "solvers", progress):
        given = {"presolve": presolve, **options.get(label, {})}
        answers[name][label] = _answer(named[name], backends[label], given, limit)
    tables = {name: _table(answers[name]) for name in named}
    references = {name: table.attrs.pop("reference") for name, table in tables.items()}
    result = SolverTable(pd.concat(tables, names=["model"]) if several else tables[None])
    result.attrs["reference"] = references if several else references[None]
    return result


def _backends(solvers: object, options: Mapping[str, Mapping[str, Any]]) -> dict[str, Backend | Exception]:
    """Return the backend of every row, or the error if it cannot be called."""
    if solvers is None:
        known = {label: _backend(label, {}) for label in dict.fromkeys([*SOLVERS, *options])}
        return {
            label: solver for label, solver in known.items() if label in options or not isinstance(solver, SolverError)
        }
    is_one = isinstance(solvers, str) or hasattr(solvers, "solve")
    given = [solvers] if is_one else check_list(solvers, "solvers", "names of solvers, or backends")
    if not given:
        raise StatementError("solvers must not be empty; omit it to compare all installed solvers")
    custom: dict[str, Backend] = {}
    labels: list[str] = []
    for solver in given:
        if isinstance(solver, str):
            labels.append(solver)
            continue
        backend = as_backend(solver)
        other = custom.get(backend.name) or (SOLVERS.get(backend.name) if backend.name in given else None)
        if other is not None and getattr(other, "own", other) is not getattr(backend, "own", backend):
            raise SolverError(f"two different solvers have the name {backend.name!r}; rename one of them")
        custom[backend.name] = backend
        labels.append(backend.name)
    backends = {label: _backend(label, custom) for label in labels}
    for label, solver in backends.items():
        if not isinstance(solver, Exception):
            _check_options(solver, options.get(label, {}))
    return backends


def _backend(label: str, custom: Mapping[str, Backend]) -> Backend | Exception:
    """Return the backend named by a label, possibly followed by other words, or the error if it cannot be called."""
    name = label if label in custom or label in SOLVERS or not label.split() else label.split()[0]
    try:
        return find(custom.get(name, name))
    except UnknownName:
        raise
    except Exception as error:  # a user-defined backend may raise any error
        return error


def _check_options(backend: Backend, options: Mapping[str, Any]) -> None:
    """Raise an error for an unknown option of a solver; the solver itself checks its value."""
    try:
        backend.check({name: value for name, value in options.items() if name not in OF_EVERY_SOLVER})
    except Exception as error:
        # A SolverError is reported when the solver is called, as is any error of a user-defined backend.
        if isinstance(error, MaxEntError) and not isinstance(error, SolverError):
            raise


def _answer(model: MaxEnt, backend: Backend | Exception, given: dict[str, Any], limit: float) -> _Result:
    """Return the answer of a solver, or the reason for its failure."""
    if isinstance(backend, Exception):
        word = "not installed" if isinstance(backend, SolverError) else "failed"
        return _Result(None, word, math.nan, _message(backend))
    begun = time.perf_counter()
    limit = min(limit, check_seconds(given.pop("time_limit"), "time_limit") if "time_limit" in given else math.inf)
    try:
        if limit < math.inf and not backend.takes_time_limit:
            post = _in_a_process(model, backend, given, limit)
        else:
            post = model.solve(backend, allow_inaccurate=True, time_limit=limit, **given)
    except _Killed:
        reason = f"{backend.name} does not support a time limit; its process was stopped after {limit:g} seconds"
        return _Result(None, "time limit", time.perf_counter() - begun, reason)
    except Exception as error:  # of any type, so that the other solvers are still compared
        word = "infeasible" if isinstance(error, Infeasible) else "failed"
        return _Result(None, word, time.perf_counter() - begun, _message(error))
    of_another = f"the answer of {post.solver}" if post.solver != backend.name else ""
    return _Result(post, str(post.status), time.perf_counter() - begun, of_another)


class _Killed(Exception):
    """Signal that a process was killed after the time limit."""


def _in_a_process(model: MaxEnt, backend: Backend, given: Mapping[str, Any], limit: float) -> Posterior:
    """Solve a model in a separate process, and kill it after the time limit."""
    from joblib.externals.loky.backend.context import get_context

    model, context = model.at_rest(), get_context("loky")  # which sends objects of the main module by value
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_send_answer, args=(sender, model, backend, given))
    process.start()
    sender.close()  # of this process, so that the pipe ends if the other one dies
    try:
        receiver.recv()  # the package is imported, and the time begins
        if not receiver.poll(limit):
            raise _Killed
        result = receiver.recv()
    except EOFError:
        message = f"the process of {backend.name} ended without an answer, possibly for lack of memory"
        raise SolverError(message) from None
    finally:
        with contextlib.suppress(OSError):  # it has ended
            os.kill(process.pid, getattr(signal, "SIGKILL", signal.SIGTERM))  # solvers may ignore SIGTERM
        process.join()
    if isinstance(result, Exception):
        raise result
    return replace(result, space=model.space, model=model)


def _send_answer(sender: Any, model: MaxEnt, backend: Backend, given: Mapping[str, Any]) -> None:
    """Solve the model, and send the posterior or the error to the parent process."""
    sender.send("ready")
    try:
        with contextlib.redirect_stdout(sys.stderr):  # the output of solvers is not part of the answer
            result: Any = model.solve(backend, allow_inaccurate=True, **given)
        result = replace(result, space=None, model=None)
    except Exception as error:  # raised again by the parent process
        result = error
    try:
        sender.send(result)
    except Exception:  # an error that cannot be pickled
        sender.send(SolverError(_message(result)))


def _message(error: Exception) -> str:
    """Format an error in one line, with its type if it is not from this package."""
    text = str(error) if isinstance(error, MaxEntError) else f"{type(error).__name__}: {error}"
    return " ".join(text.split())


def _table(answers: Mapping[str, _Result]) -> pd.DataFrame:
    """Make the table of one model."""
    solved = {label: answer.post for label, answer in answers.items() if answer.post is not None}
    bounds = {label: post.certificate.bound for label, post in solved.items() if np.isfinite(post.certificate.bound)}
    reference = min(bounds, key=lambda label: bounds[label], default=None)
    rows = [_row(answer, solved[reference] if reference else None) for answer in answers.values()]
    columns = ["word", "certified", *NUMBERS, "reason"]
    table = pd.DataFrame(rows, index=pd.Index(list(answers), name="solver"), columns=columns)
    table.attrs["reference"] = reference
    return table.astype({**dict.fromkeys(NUMBERS, float), "iterations": "Int64"})


def _row(answer: _Result, reference: Posterior | None) -> dict[str, object]:
    """Return the columns of one answer, or of a solver without an answer, which has no numbers but its time."""
    row = {"word": answer.word, "certified": False, "seconds": answer.seconds, "reason": answer.reason}
    if (post := answer.post) is None:
        return row
    proof = post.certificate
    return row | {
        "certified": proof.holds,
        "bound": proof.bound,
        "error": _error(post, reference) if reference else np.nan,
        "objective": post.entropy,
        "residual": proof.residual,
        "gap": proof.gap,
        "iterations": post.iterations,
        "tolerance": post.tolerance,
        "build": post.compile_seconds,
        "solve": post.solve_seconds,
        "certify": post.certify_seconds,
    }


def _error(post: Posterior, reference: Posterior) -> float:
    """Return the largest difference of P(s | q), or of P(s | i) of named people."""
    tables = [(post.conditional(), reference.conditional())]
    if len(post.space.people):
        tables.append((post.people(), reference.people()))
    return max(float(np.abs(table.to_numpy() - other.to_numpy()).max()) for table, other in tables)


def inference_channels(
    series: ReleaseSeries,
    tolerance: float = 1e-4,
    blame: bool = True,
    progress: bool | None = None,
    *,
    n_jobs: int | None = None,
    client: Any = None,
    **solve: Any,
) -> pd.DataFrame:
    """Find people i and values s for which P_u(s | i) from a release u alone differs from P(s | i) from all releases.

    Parameters
    ----------
    series : ReleaseSeries
        Releases of people with pseudonyms.
    tolerance : float
        The largest difference that is ignored; answers are certified to 1e-4.
    blame : bool
        Whether to also solve without each of the releases, to find the one that causes the difference.
    progress : bool, optional
        Whether to show a progress bar; by default, on a terminal or in a notebook.
    n_jobs : int, optional
        The number of joblib processes for these solves; None means one, or the setting of ``joblib.parallel_config``.
    client : distributed.Client, optional
        A Dask cluster for these solves, instead of `n_jobs`.
    **solve
        Passed to :meth:`MaxEnt.solve`.

    Returns
    -------
    DataFrame
        One row per person, value and release u that contains the person, the largest change first: `alone`, P_u(s | i);
        `together`, P(s | i); and `change`. With `blame`, also `because`, the release without which P(s | i) would be
        closest to P_u(s | i), and `without`, that probability.

    Raises
    ------
    StatementError
        If `series` is not a ReleaseSeries; if `n_jobs` or `client` is invalid, or both are given.
    BadProbability
        If the tolerance is negative.
    Infeasible, Inaccurate, SolverError
        As in :meth:`MaxEnt.solve`, or if the cluster is lost.

    Notes
    -----
    Re-publishing, Definition 2.2.

    Examples
    --------
    Two releases of the same patients. Three inferences have probability 1/3 from the first alone, and 1 from both:

    >>> import maxent_cvx as mx
    >>> series = mx.ReleaseSeries(
    ...     mx.Release.from_buckets(table, qi=[], sa="Disease", bucket="Bucket", id="Pseudonym")
    ...     for table in mx.datasets.load_patients())
    >>> print(mx.inference_channels(series, progress=False).head(3).round(2))
       person        value  release  alone  together  change  because  without
    0       7     Diabetes        1   0.33       1.0    0.67        2     0.33
    1      10  Lung Cancer        1   0.33       1.0    0.67        2     0.33
    2      13     Diabetes        1   0.33       1.0    0.67        2     0.33
    """
    check_optional_bool(progress, "progress")
    check_bool(blame, "blame")
    check_instance(series, ReleaseSeries, "series")
    if not check_number(tolerance, "tolerance") >= 0:
        raise BadProbability(f"tolerance must not be negative, got {tolerance!r}")
    workers = Workers.asked(n_jobs, client)
    together = MaxEnt(series).solve(**solve)
    channels = pd.concat([_differing(together, series, u, tolerance) for u in range(len(series.releases))])
    if blame and len(channels) and (n := len(series.releases)) > 1:
        each = workers.map(_without_release, (series, channels, _for_workers(solve)), ((v,) for v in range(n)))
        p = np.array(list(progress_bar(each, "channels", progress, total=n)))  # (releases, channels)
        distance, at = np.abs(p - channels["alone"].to_numpy()), np.arange(len(channels))
        distance[channels["release"].to_numpy() - 1, at] = np.inf
        closest = distance.argmin(axis=0)  # the release without which P(s | i) would be closest to that of one alone
        channels = channels.assign(because=closest + 1, without=p[closest, at])
    elif blame and channels.empty:
        channels = channels.assign(because=0, without=0.0)  # no rows, but the same columns
    channels = channels.sort_values("change", key=lambda change: -change.abs(), kind="stable", ignore_index=True)
    return channels.drop(columns=["i", "s"])


def _differing(post: Posterior, series: ReleaseSeries, u: int, tolerance: float) -> pd.DataFrame:
    """List people and values for which one release alone differs, including values that the others exclude."""
    bucket, s, count = series.values_in(u)
    release = series.releases[u]
    here = np.flatnonzero(series.buckets[u] >= 0)
    size = np.bincount(bucket, count, len(release.buckets))
    start = np.searchsorted(bucket, np.arange(len(size) + 1))
    of = series.buckets[u, here]
    width = start[of + 1] - start[of]
    at = ranges(start[of], width)
    i, value, alone = np.repeat(here, width), s[at], (count / size[bucket])[at]
    if release.with_counterfeits.any():  # then shares of a bucket are not those of its people
        single = ReleaseSeries([release])
        own = single.persons.get_indexer(series.persons[i])
        codes = single.sensitive_values.get_indexer(series.sensitive_values[value])
        alone = MaxEnt(single).solve().table[own, codes]
    p = post.table[i, value]
    differs = np.abs(p - alone) > tolerance
    i, value, alone, p = i[differs], value[differs], alone[differs], p[differs]
    values = series.sensitive_values[value].to_flat_index()
    columns = {"person": series.persons[i], "value": values, "release": u + 1, "alone": alone, "together": p}
    return pd.DataFrame({**columns, "change": p - alone, "i": i, "s": value})


def _for_workers(solve: dict[str, Any]) -> dict[str, Any]:
    """Return the options of a solve for other processes, which do not have the solvers that a user registered."""
    solver = find(solve.get("solver", "auto"))
    return {**solve, "solver": solver} if isinstance(solver, OwnBackend) else solve


def _without_release(given: tuple[ReleaseSeries, pd.DataFrame, dict[str, Any]], v: int) -> np.ndarray:
    """Return P(s | i) of each channel from all other releases; 0 for a person or value that they do not have."""
    series, channels, solve = given
    rest = ReleaseSeries([release for w, release in enumerate(series.releases) if w != v])
    post = MaxEnt(rest).solve(**solve)
    i = rest.persons.get_indexer(series.persons[channels["i"]])
    s = rest.sensitive_values.get_indexer(series.sensitive_values[channels["s"]])
    return np.where((i >= 0) & (s >= 0), post.table[i, s], 0.0)


#: The resolution of clocks, in seconds: shorter solves, such as those completed by presolve, count as this long.
SHORTEST = 1e-3
#: The costs of a performance profile.
MEASURES = ("seconds", "build", "solve", "certify", "iterations")


def performance_profile(
    table: pd.DataFrame, measure: str = "seconds", tau: Iterable[float] | None = None, accuracy: float | None = None
) -> pd.DataFrame:
    """Compute rho_s(tau), the fraction of models that solver s solves at most at tau times the best cost.

    With t_ps the cost of model p for solver s, the performance ratio is r_ps = t_ps / min over s of t_ps. It is
    infinite if the answer is not certified to the accuracy; a model that no solver solves counts for none of them.
    rho_s(1) is the fraction of models for which s is the best, and the limit for large tau is the fraction that it
    solves at all.

    Parameters
    ----------
    table : DataFrame
        The result of :func:`maxent_cvx.compare_solvers` for several models.
    measure : str
        The cost: "seconds", the total, or one of "build", "solve", "certify" and "iterations". The minimum is a
        millisecond, or one iteration.
    tau : iterable of float, optional
        Ratios of at least 1; by default, those at which a fraction changes.
    accuracy : float, optional
        The largest bound on the error of P(s | q) of a solved model, such as 1e-6; by default that of a certified
        answer, 1e-4.

    Returns
    -------
    DataFrame
        One row per solver, in the table's order, and ratio: `solver`, `tau` and `fraction`.

    Raises
    ------
    TableError
        If the table is not for several models, or lacks a solver for a model.
    UnknownName
        If the cost does not exist.
    BadProbability, StatementError
        If a ratio is less than 1, or not a number.

    References
    ----------
    Dolan, E. D. and Moré, J. J. (2002). Benchmarking optimization software with performance profiles. Mathematical
    Programming 91, 201-213.

    Examples
    --------
    Two models. A solves both, in 2 and 6 seconds; B solves only the first one, in 1 second:

    >>> import pandas as pd, maxent_cvx as mx
    >>> index = pd.MultiIndex.from_product([["small", "large"], ["A", "B"]], names=["model", "solver"])
    >>> table = pd.DataFrame({"bound": [1e-9, 1e-9, 1e-9, 0.1], "seconds": [2.0, 1.0, 6.0, 9.0]}, index=index)
    >>> mx.performance_profile(table).values.tolist()
    [['A', 1.0, 0.5], ['A', 2.0, 1.0], ['B', 1.0, 0.5], ['B', 2.0, 0.5]]
    """
    limit = ACCURACY if accuracy is None else check_float(accuracy, "accuracy", 0.0, 1.0)
    cost = _cost(table, measure, limit)
    best = cost.min(axis=1)
    ratio = cost.div(best.where(np.isfinite(best), 1.0), axis=0).to_numpy()
    at = np.unique(np.append(ratio[np.isfinite(ratio)], 1.0))
    if tau is not None:
        at = np.array([check_float(one, "tau", 1.0, np.inf) for one in check_list(tau, "tau", "ratios")])
        if not len(at) or not np.isfinite(at).all():
            raise BadProbability("tau must contain at least one ratio, all of them finite and at least 1")
    fraction = (ratio[:, :, None] <= at).mean(axis=0)
    solvers, ratios = np.repeat(cost.columns, len(at)), np.tile(at, len(cost.columns))
    return pd.DataFrame({"solver": solvers, "tau": ratios, "fraction": fraction.ravel()})


def _cost(table: pd.DataFrame, measure: str, accuracy: float) -> pd.DataFrame:
    """Return the cost by model (rows) and solver (columns), infinite if the bound is not within the accuracy."""
    check_dataframe(table, "the table of compare_solvers")
    if check_str(measure, "measure") not in MEASURES:
        raise unknown_name("cost of a performance profile", measure, list(MEASURES))
    if table.index.names != ["model", "solver"] or not {"bound", measure} <= set(table.columns):
        raise TableError(
            "table must be the result of compare_solvers for several models, {name: model, ...}, indexed by model and "
            f"solver, with the columns bound and {measure}"
        )
    if table.index.has_duplicates:
        raise TableError("the table has duplicate rows for a model and solver")
    least = 1.0 if measure == "iterations" else SHORTEST
    cost = table[measure].astype(float).clip(lower=least)
    wide = cost.where((table["bound"] <= accuracy) & cost.notna(), np.inf).unstack("solver")
    if wide.isna().any(axis=None):
        raise TableError("the table must have one row per model and solver")
    return wide[list(table.index.get_level_values("solver").unique())]


#: The columns of every bound, besides the score.
COLUMNS = ("K+", "K-", "entropy", "certified_error", "seconds", "term_divergence", "status", "message")
#: The last columns.
ACCOUNT = ["status", "message"]


def quantify(
    release: Release,
    original: pd.DataFrame,
    knowledge: Sequence[tuple[int, int]] = ((0, 0), (50, 50), (200, 200)),
    *,
    min_support: int = 3,
    attributes: int | Iterable[int] | None = None,
    measure: Measure = overall_divergence,
    progress: bool | None = None,
    n_jobs: int | None = None,
    client: Any = None,
    time_limit: float = math.inf,
    **solve: Any,
) -> pd.DataFrame:
    """Score a release under bounds (K+, K-) on the adversary's knowledge.

    Bounds are ordered into curves of increasing knowledge; each solve starts from the previous answer of its curve.
    Curves can be solved in parallel by processes or by a Dask cluster.

    Parameters
    ----------
    release : Release
        The release.
    original : DataFrame
        The original records. With the release's bucket column, the divergence over the terms is also reported.
    knowledge : sequence of (int, int)
        Bounds (K+, K-): the adversary knows the K+ strongest associations Q => S and the K- strongest Q => not S.
    min_support, attributes
        See :class:`~maxent_cvx.StrongestAssociations`.
    measure : callable, or dict or list of callables
        A function of a posterior that returns the score, or several scores by name; by default the divergence from the
        truth in bits, where lower is worse. If it needs the original records, bind them:
        ``functools.partial(mx.measures.term_divergence, original=table)``.
    progress : bool, optional
        Whether to show a progress bar; by default, on terminals only.
    n_jobs : int, optional
        The number of joblib processes; None means one, or the setting of ``joblib.parallel_config``.
    client : distributed.Client, optional
        A Dask cluster that solves all bounds and calls the measures, instead of `n_jobs`.
    time_limit : float
        Seconds for each bound, as in :meth:`MaxEnt.solve`.
    **solve
        Passed to :meth:`MaxEnt.solve`, except ``warm_start``.

    Returns
    -------
    DataFrame
        `K+`, `K-`, `score`, `entropy` H(Q, S, B) in nats, `certified_error` of every P(s | q), `seconds` in the solver,
        and `term_divergence` (bits) if `original` has the bucket column. A score of several numbers has the columns
        "score[label]"; several measures have one column each, by name. The last columns are the `status` of the answer,
        or "infeasible" or "failed" without an answer, and the `message` with the reason; such a row has NaN elsewhere.

    Raises
    ------
    StatementError
        If a bound is not a pair, or there are fewer associations than it requests; if `original` is not the published
        table; if a measure cannot be called as ``measure(post)``, or does not return a number; or if `n_jobs` or
        `client` is invalid, or both are given.
    UnknownName, TableError
        If `original` lacks the release's columns.
    Inaccurate, SolverError
        The first error of :meth:`MaxEnt.solve`, if no bound has an answer; or if the cluster is lost.

    Warns
    -----
    DeprecationWarning
        If a measure has two parameters; it is called as ``measure(post, original)``.

    Notes
    -----
    Privacy-MaxEnt, sections 4.3 and 4.4.

    If an interrupt or an error of a measure ends the call early, the exception has the finished rows in its attribute
    ``finished`` (in a notebook ``sys.last_value.finished``); with several processes or a cluster, those of finished
    curves.

    Examples
    --------
    The score decreases, as an adversary with more knowledge is closer to the truth:

    >>> import maxent_cvx as mx
    >>> hospital = mx.datasets.load_hospital()
    >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    >>> scores = mx.quantify(release, hospital, [(0, 0), (2, 2), (4, 8)], min_support=2, progress=False)
    >>> print(scores[["K+", "K-", "score", "entropy"]].round(3))
       K+  K-  score  entropy
    0   0   0  1.197    3.239
    1   2   2  0.321    2.632
    2   4   8  0.034    2.355
    """
    check_instance(release, Release, "release")
    check_dataframe(original, "original")
    knowledge = check_list(knowledge, "knowledge", "pairs (K+, K-)")
    check_optional_bool(progress, "progress")
    workers = Workers.asked(n_jobs, client)
    if release.generalized:
        original = with_cells(release, original)
    score = _scoring(measure, original)
    if wrong := [bound for bound in knowledge if not isinstance(bound, tuple | list) or len(bound) != 2]:
        raise StatementError(f"each bound in knowledge must be a pair (K+, K-), not {short_repr(wrong[0])}")
    if "warm_start" in solve:
        raise StatementError("omit warm_start, as quantify starts each solve from the previous answer")
    mined = mine_associations(
        original, qi=release.qi, sa=release.sensitive, min_support=min_support, attributes=attributes
    )
    for positive, negative in knowledge:
        list(mined.top(positive, negative))  # raises errors before the first solve
    bounds = [(positive, negative) for positive, negative in knowledge]
    cases = _Bounds(release, original, bounds, mined, score, _for_workers({"time_limit": time_limit, **solve}))
    table = pd.DataFrame(solved_rows(cases, _curves(bounds), "bounds", workers, progress))
    return table[[*(name for name in table if name not in ACCOUNT), *(name for name in table if name in ACCOUNT)]]


@dataclass(frozen=True)
class _Bounds:
    """The adversaries of a table, by number, with one bound each on their knowledge of a release."""

    release: Release
    original: pd.DataFrame
    bounds: Sequence[tuple[int | None, int | None]]
    mined: Associations
    score: Callable[[Posterior, str], dict[str, Any]]
    solve: Mapping[str, Any]

    def about(self, i: int) -> dict[str, Any]:
        """Return the bound."""
        return dict(zip(("K+", "K-"), self.bounds[i], strict=True))

    def solved(self, i: int, before: Posterior | None) -> Posterior:
        """Solve the model of this adversary."""
        positive, negative = self.bounds[i]
        model = MaxEnt(self.release)
        if positive != 0 or negative != 0:
            model.add(StrongestAssociations(self.mined, positive, negative))
        return model.solve(warm_start=before, **self.solve)

    def measured(self, i: int, post: Posterior) -> dict[str, Any]:
        """Score the posterior."""
        positive, negative = self.bounds[i]
        row = {
            **self.score(post, f"with K+ = {positive}, K- = {negative}"),
            "entropy": post.entropy,
            "certified_error": post.certificate.bound,
            "seconds": post.compile_seconds + post.solve_seconds,
        }
        if set(self.release.columns) <= set(self.original.columns):
            row["term_divergence"] = term_divergence(post, self.original)
        return row


def _curves(bounds: Sequence[tuple[int | None, int | None]]) -> list[list[int]]:
    """Divide bounds into curves of nondecreasing knowledge; each bound follows the nearest possible one."""
    known = [tuple(math.inf if k is None else k for k in bound) for bound in bounds]
    curves: list[list[int]] = []
    for i in sorted(range(len(known)), key=lambda i: sum(known[i])):
        below = [curve for curve in curves if all(k <= n for k, n in zip(known[curve[-1]], known[i], strict=True))]
        if below:
            max(below, key=lambda curve: sum(known[curve[-1]])).append(i)
        else:
            curves.append([i])
    return curves


def _scoring(measure: Any, original: pd.DataFrame) -> Callable[[Posterior, str], dict[str, Any]]:
    """Return a function from a posterior, and a text about it for errors, to columns of the table."""
    if measure is overall_divergence:  # the default
        measure = partial(overall_divergence, original=original)
    second = _second_parameter(measure) if callable(measure) else None
    alone = not callable(measure) or can_be_called(measure, None)
    if callable(measure) and can_be_called(measure, None, original) and (not alone or second == "original"):
        name = own_name(measure)
        warnings.warn(
            f"a measure is called as measure(post), but {name} has two parameters; pass "
            f"functools.partial({name}, {second or 'original'}=...) instead",
            DeprecationWarning,
            stacklevel=3,
        )
        return lambda post, where: {"score": measure(post, original)}  # of any type, as in earlier versions
    measures = Measures.of(measure, () if callable(measure) else COLUMNS)
    if not measures.is_one:
        return measures
    return lambda post, where: {measures.heading(key, "score"): number for key, number in measures(post, where).items()}


def _second_parameter(measure: Callable[..., Any]) -> str | None:
    """Return the name of a function's second positional parameter, if it has a signature."""
    try:
        every = [p.name for p in inspect.signature(measure).parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD]
    except (OverflowError, TypeError, ValueError):
        return None
    return every[1] if len(every) > 1 else None


#: The columns of every sweep, besides the measures.
SWEEP_COLUMNS = ("value", "eps", "status", "probability", "entropy", "message")
#: The number of solves in a chain of warm starts; the next chain starts afresh, so that processes can share a sweep.
LONGEST_CHAIN = 4


def sweep(
    model: MaxEnt,
    probability: Probability | str,
    *,
    value: float | Iterable[float] | None = None,
    eps: float | Iterable[float] = 0.0,
    measure: Measure | None = None,
    solver: str | object = "auto",
    n_jobs: int | None = None,
    client: Any = None,
    time_limit: float = math.inf,
    progress: bool | None = None,
    **options: Any,
) -> pd.DataFrame:
    """Solve a model for several values of a probability, and several tolerances eps.

    Most solves start from the previous answer. The model itself is not changed.

    Parameters
    ----------
    model : MaxEnt
        The other knowledge. A statement about the same probability, or a multiple of it, is replaced.
    probability : Probability or str
        ``P("Flu", given={"Gender": "male"})``, ``"P(Flu | Gender=male)"``, or a linear combination.
    value : float or several, optional
        Probabilities; by default the value (or the middle of the two sides) of the only replaced statement.
    eps : float or several
        The vagueness: the probability is within eps of the value (Privacy-MaxEnt, section 4.5).
    measure : callable, or dict or list of callables, optional
        Functions of a posterior that return a number, or several by name; one column each, "name" or "name[label]".
    solver : str or object
        As in :meth:`maxent_cvx.MaxEnt.solve`.
    n_jobs : int, optional
        The number of joblib processes; None means one, or the setting of ``joblib.parallel_config``.
    client : distributed.Client, optional
        A Dask cluster that does all solves and calls the measures, instead of `n_jobs`.
    time_limit : float
        Seconds for each solve, as in :meth:`maxent_cvx.MaxEnt.solve`.
    progress : bool, optional
        Show a progress bar; by default on a terminal or in a notebook.
    options
        As in :meth:`maxent_cvx.MaxEnt.solve`, except ``warm_start``.

    Returns
    -------
    DataFrame
        One row per solve, with values outermost: `value`, `eps`, `status` (of the answer, mostly "optimal";
        "infeasible" if the value contradicts other knowledge; "failed"), the posterior's `probability`, `entropy` in
        nats, the measures, and the `message` with the reason if there is no answer; such a row has NaN elsewhere.

    Raises
    ------
    StatementError
        If no value is given and the model contains none; if a measure does not return a number; or if `n_jobs` or
        `client` is invalid, or both are given.
    BadProbability
        If a value is impossible for the probability.
    Inaccurate, SolverError
        The first error of :meth:`maxent_cvx.MaxEnt.solve`, if every solve fails; or if the cluster is lost.

    Notes
    -----
    If an interrupt or an error of a measure ends the call early, the exception has the finished rows in its attribute
    ``finished`` (in a notebook ``sys.last_value.finished``).

    Examples
    --------
    The inference about Grace, the only junior, as the share of men with breast cancer in the knowledge varies:

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
    check_instance(model, MaxEnt, "model")
    if "warm_start" in options:
        raise StatementError("omit warm_start, as sweep starts each solve from the previous answer")
    swept = read_probability(probability) if isinstance(probability, str) else probability
    if not isinstance(swept, Probability):
        raise StatementError(f"probability must be an expression such as P('Flu'), not {short_repr(swept)}")
    workers = Workers.asked(n_jobs, client)
    measures = Measures({}) if measure is None else Measures.of(measure, reserved=SWEEP_COLUMNS)
    base, current = model.copy(), {}
    for name, source in model.knowledge.items():
        stated = source.now() if isinstance(source, ParametricStatement) else source
        if isinstance(stated, Statement) and (factor := _factor(stated, swept, model.space)) is not None:
            base.remove(name)
            current[name] = (stated.low + stated.high) / 2 / factor + swept.constant
    if value is None and (len(current) != 1 or not np.isfinite([*current.values()]).all()):
        raise StatementError(
            f"to sweep without values, the model must contain one statement with a value of {swept}, but it contains "
            f"{join_names(current) or 'none'}; pass the values (value)"
        )
    values = _numbers([*current.values()] if value is None else value, "value")
    label = next(name for i in itertools.count() if (name := "swept" + "_" * i) not in base.knowledge)
    points = list(itertools.product(values, _numbers(eps, "eps")))
    statements = [swept.about(v, e) if e else swept == v for v, e in points]  # raises errors before the first solve
    check_optional_bool(progress, "progress")
    given = _for_workers({"solver": solver, "time_limit": time_limit, **options})
    cases = _Points(base, swept, label, points, statements, measures, given)
    chains = [range(len(points))[i : i + LONGEST_CHAIN] for i in range(0, len(points), LONGEST_CHAIN)]
    rows = solved_rows(cases, chains, "sweep", workers, progress)
    measured = dict.fromkeys(key for row in rows for key in row if key not in SWEEP_COLUMNS)
    return pd.DataFrame(rows, columns=[*SWEEP_COLUMNS[:-1], *(measured or measures.functions), SWEEP_COLUMNS[-1]])


@dataclass(frozen=True)
class _Points:
    """The statements of a sweep, by number, each with a value and its vagueness, to add to one model."""

    base: MaxEnt
    swept: Probability
    label: str
    points: Sequence[tuple[float, float]]
    statements: Sequence[Statement]
    measures: Measures
    solve: Mapping[str, Any]

    def about(self, i: int) -> dict[str, Any]:
        """Return the value and eps."""
        return dict(zip(SWEEP_COLUMNS, self.points[i], strict=False))

    def solved(self, i: int, before: Posterior | None) -> Posterior:
        """Solve the model with the statement."""
        model = self.base.copy().add(self.statements[i], label=self.label)
        return model.solve(warm_start=before, **self.solve)

    def measured(self, i: int, post: Posterior) -> dict[str, Any]:
        """Measure the posterior."""
        measured = {"probability": post.prob(self.swept), "entropy": post.entropy}
        return measured | self.measures(post, "with value = {:g}, eps = {:g}".format(*self.points[i]))


def _numbers(given: object, what: str) -> list[float]:
    """Read one number or several."""
    return [check_number(number, what) for number in as_list(given)]


def _factor(statement: Statement, swept: Probability, space: Space) -> float | None:
    """Return the multiple of the probability that a statement constrains; None for other statements."""
    terms, other = dict(statement.terms), {event: a for event, a in swept.terms.items() if a != 0}
    if terms.keys() == other.keys():
        ratios = np.array([terms[event] / other[event] for event in terms])
    else:
        try:  # the events may be the same, as P(Flu) and P(Disease=Flu) are
            rows = of_combinations([Probability(terms), swept], space).matrix
        except MaxEntError:  # a mean of an unknown number of people has no row
            return None
        first, second = rows[[0]], rows[[1]]
        if not first.nnz or not np.array_equal(first.indices, second.indices):
            return None
        ratios = first.data / second.data
    return float(ratios[0]) if np.ptp(ratios) <= 1e-12 * abs(ratios[0]) else None

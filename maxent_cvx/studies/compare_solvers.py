"""Models, every solver: what each answers, how far that can be off, and how long it takes."""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from ..errors import Infeasible, MaxEntError, SolverError, StatementError, UnknownName, arguments, unknown_name
from ..model.maxent import MaxEnt
from ..model.posterior import Posterior
from ..solvers import SOLVERS, find
from ..solvers.backends.registry import Backend, as_backend
from ..system.progress import progress_bar
from .solver_table import SolverTable

__all__ = ["PROBABLE", "compare_solvers"]

#: Probabilities P(q, s, b) of the reference above this are compared; below, a ratio says nothing.
PROBABLE = 1e-6
#: Options that are not the solver's, but those of every solve.
OF_EVERY_SOLVER = ("verbose", "time_limit", "callback", "polish", "progress")
#: An answer or None, the status, and the message.
_Result = tuple[Posterior | None, str, str]
#: What is measured of an answer, in the order of the columns.
NUMBERS = (
    "objective", "residual", "gap", "bound", "difference", "iterations", "compile_seconds", "solve_seconds",
)  # fmt: skip


def compare_solvers(
    model: MaxEnt | Mapping[str, MaxEnt],
    solvers: str | object | Iterable[str | object] | None = None,
    *,
    presolve: bool = True,
    options: Mapping[str, Mapping[str, Any]] | None = None,
    time_limit: float = math.inf,
    progress: bool | None = None,
) -> pd.DataFrame:
    """Solve a model, or several, with several solvers, and certify what each of them answers.

    Parameters
    ----------
    model : MaxEnt, or dict of str to MaxEnt
        What is solved; it stays as it is. Several models have names.
    solvers : iterable of str or object, optional
        Names that :func:`maxent_cvx.solvers.available` lists, or backends as :func:`maxent_cvx.solvers.register` takes
        them, registered or not; by default all registered solvers that are installed. More words may follow a name, to
        distinguish two calls of one solver: "CLARABEL qdldl".
    presolve : bool
        As for :meth:`MaxEnt.solve`, for all of them.
    options : dict of dict, optional
        Options by solver, as named in `solvers`: ``{"CLARABEL qdldl": {"direct_solve_method": "qdldl"}}``.
    time_limit : float
        Seconds for each solve, as for :meth:`MaxEnt.solve`. A solver that has no time limit, such as ECOS, runs without
        one, and its message says so.
    progress : bool, optional
        Show a progress bar; by default on a terminal or in a notebook.

    Returns
    -------
    DataFrame
        A row a solver, in the order asked for, or of several models a row a model and solver:

        * status: the solver's own account, "optimal" or less; without an answer "infeasible" (so is the
          knowledge), "not installed" or "failed". A solver that raises an error of any type has failed, and the others
          are compared all the same. certified: whether the certificate holds, which is what counts;
        * objective: H(Q, S, B), nats;
        * residual and gap: of the certificate, people; bound: how far any P(s | q) can be off;
        * difference: the largest ``|p - p'| / p'`` over the probabilities P(q, s, b) whose p' is above 1e-6,
          where p' is the answer with the smallest bound, which ``attrs["reference"]`` names (None: no bounds; of
          several models, a dictionary of these);
        * iterations, compile_seconds, solve_seconds: without presolve and certificate, which are the same for all;
        * message: the error, where there is no answer; otherwise whose the answer is, where the solver did not certify
          its own, and whether the time limit was left out.

    Raises
    ------
    UnknownName
        If there is no such solver, or it has no such option; before any is called.
    SolverError
        If an element of `solvers` is neither a name nor a backend, or two different solvers have one name.
    StatementError
        If `solvers` is empty, or `model` is something else.

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
    models = _models(model)
    arguments.flag(presolve, "presolve")
    arguments.optional_flag(progress, "progress")
    limit = {} if arguments.seconds(time_limit, "time_limit") == math.inf else {"time_limit": time_limit}
    options = _options(options)
    backends = _backends(solvers, options)
    if unknown := [label for label in options if label not in backends]:
        raise unknown_name("solver to be compared", unknown[0], list(backends))
    answers: dict[Hashable, dict[str, _Result]] = {name: {} for name in models}
    for name, label in progress_bar(list(itertools.product(models, backends)), "solvers", progress):
        given = {"presolve": presolve, **limit, **options.get(label, {})}
        answers[name][label] = _answer(models[name], backends[label], given)
    tables = {name: _table(answers[name]) for name in models}
    references = {name: table.attrs.pop("reference") for name, table in tables.items()}
    several = isinstance(model, Mapping)
    table = pd.concat(tables, names=["model"]) if several else tables[None]
    found = SolverTable(table)
    found.attrs["reference"] = references if several else references[None]
    return found


def _models(model: object) -> dict[Hashable, MaxEnt]:
    """What is compared, by name; a single model has none."""
    if not isinstance(model, Mapping):
        return {None: arguments.instance(model, MaxEnt, "what is compared")}
    if not model:
        raise StatementError("no model is given to compare solvers on; give at least one, {name: model}")
    return {name: arguments.instance(one, MaxEnt, f"{name!r} of what is compared") for name, one in model.items()}


def _options(options: Mapping[str, Mapping[str, Any]] | None) -> dict[str, Mapping[str, Any]]:
    """The options by solver, checked."""
    if options is not None:
        arguments.mapping(options, "options", "{solver: {option: value}}")
        for label, given in options.items():
            arguments.mapping(given, f"the options of {label}", "{option: value}")
    return dict(options or {})


def _backends(solvers: object, options: Mapping[str, Mapping[str, Any]]) -> dict[str, Backend | Exception]:
    """The backend of every row, or the error of one that cannot be called."""
    if solvers is None:
        every = {label: _backend(label, {}) for label in dict.fromkeys([*SOLVERS, *options])}
        return {label: one for label, one in every.items() if label in options or not isinstance(one, SolverError)}
    is_one = isinstance(solvers, str) or hasattr(solvers, "solve")
    asked = [solvers] if is_one else arguments.list_of(solvers, "solvers", "names of solvers, or backends")
    if not asked:
        raise StatementError("solvers=[]: at least one is expected; leave it out to compare all that are installed")
    own: dict[str, Backend] = {}
    for solver in asked:
        if isinstance(solver, str):
            continue
        backend = as_backend(solver)
        other = own.get(backend.name) or (SOLVERS.get(backend.name) if backend.name in asked else None)
        if other is not None and getattr(other, "own", other) is not getattr(backend, "own", backend):
            raise SolverError(f"two solvers have the name {backend.name!r}; give one of them another name")
        own[backend.name] = backend
    labels = [solver if isinstance(solver, str) else as_backend(solver).name for solver in asked]
    found = {label: _backend(label, own) for label in labels}
    for label, one in found.items():
        _check_options(one, options.get(label, {}))
    return found


def _backend(label: str, own: Mapping[str, Backend]) -> Backend | Exception:
    """The backend that a label names, alone or followed by more words; the error of one that cannot be called."""
    name = label if label in own or label in SOLVERS or not label.split() else label.split()[0]
    try:
        return find(own.get(name, name))
    except UnknownName:
        raise
    except Exception as error:  # a backend from outside the package may raise anything
        return error


def _check_options(backend: Backend | Exception, options: Mapping[str, Any]) -> None:
    """Refuse an option that a solver does not have; of values only the solver can say whether it takes them."""
    if isinstance(backend, Exception):
        return
    try:
        backend.check({name: value for name, value in options.items() if name not in OF_EVERY_SOLVER})
    except SolverError:
        return  # raised again, and reported, when the solver is called
    except MaxEntError:
        raise
    except Exception:  # as above: a backend from outside the package may raise anything
        return


def _answer(model: MaxEnt, backend: Backend | Exception, given: dict[str, Any]) -> _Result:
    """The answer of a solver, its status, and what is to be said about it; None if it does not answer."""
    if isinstance(backend, Exception):
        return None, "not installed" if isinstance(backend, SolverError) else "failed", _message(backend)
    notes = []
    try:
        if "time_limit" in given and not backend.takes_time_limit:
            seconds = arguments.seconds(given.pop("time_limit"), "time_limit")
            notes = [f"{backend.name} has no time limit, and ran without one"] * (seconds < math.inf)
        post = model.solve(backend, allow_inaccurate=True, **given)
    except Exception as error:  # of any type, so that the other solvers are compared all the same
        return None, "infeasible" if isinstance(error, Infeasible) else "failed", "; ".join([_message(error), *notes])
    if post.solver != backend.name:
        notes.insert(0, f"the answer of {post.solver}")
    return post, str(post.status), "; ".join(notes)


def _message(error: Exception) -> str:
    """An error in one line, with its type if it is not one of this package."""
    text = str(error) if isinstance(error, MaxEntError) else f"{type(error).__name__}: {error}"
    return " ".join(text.split())


def _table(answers: Mapping[str, _Result]) -> pd.DataFrame:
    """The table of one model."""
    found = {label: post for label, (post, _, _) in answers.items() if post is not None}
    bounds = {label: post.certificate.bound for label, post in found.items() if np.isfinite(post.certificate.bound)}
    reference = min(bounds, key=lambda label: bounds[label], default=None)
    rows = [_row(*answer, found[reference] if reference else None) for answer in answers.values()]
    table = pd.DataFrame(rows, index=pd.Index(list(answers), name="solver")).astype({"iterations": "Int64"})
    table.attrs["reference"] = reference
    return table


def _row(answer: Posterior | None, status: str, message: str, reference: Posterior | None) -> dict[str, object]:
    """The columns of one answer, or of a solver without an answer."""
    if answer is None:
        nothing = {"certified": False, **dict.fromkeys(NUMBERS, np.nan), "iterations": pd.NA}
        return {"status": status, **nothing, "message": message}
    proof = answer.certificate
    return {
        "status": status,
        "certified": proof.holds,
        "objective": answer.entropy,
        "residual": proof.residual,
        "gap": proof.gap,
        "bound": proof.bound,
        "difference": _difference(answer, reference) if reference else np.nan,
        "iterations": answer.iterations,
        "compile_seconds": answer.compile_seconds,
        "solve_seconds": answer.solve_seconds,
        "message": message,
    }


def _difference(answer: Posterior, reference: Posterior) -> float:
    """The largest relative difference of probabilities that are not all but zero."""
    p, exact = (post.counts / post.space.n_records for post in (answer, reference))
    probable = exact > PROBABLE
    return float((np.abs(p - exact)[probable] / exact[probable]).max(initial=0.0))

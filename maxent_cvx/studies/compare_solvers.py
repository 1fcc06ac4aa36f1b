"""Models, every solver: what each answers, how far that can be off, and how long it takes."""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Hashable, Iterable, Mapping
from contextlib import suppress
from typing import Any

import numpy as np
import pandas as pd

from ..errors import Infeasible, MaxEntError, SolverError, StatementError, arguments, unknown_name
from ..model.maxent import MaxEnt
from ..model.posterior import Posterior
from ..solvers import SOLVERS, find
from ..system.progress import progress_bar
from .solver_table import SolverTable

__all__ = ["PROBABLE", "compare_solvers"]

#: Probabilities P(q, s, b) of the reference above this are compared; below, a ratio says nothing.
PROBABLE = 1e-6
#: Options that are not the solver's, but those of every solve.
OF_EVERY_SOLVER = ("verbose", "time_limit", "callback", "polish", "progress")
#: What is measured of an answer, in the order of the columns.
NUMBERS = (
    "objective", "residual", "gap", "bound", "difference", "iterations", "compile_seconds", "solve_seconds",
)  # fmt: skip


def compare_solvers(
    model: MaxEnt | Mapping[str, MaxEnt],
    solvers: str | Iterable[str] | None = None,
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
    solvers : iterable of str, optional
        Names that :func:`maxent_cvx.solvers.available` lists; by default all that are installed. More words
        may follow a name, to distinguish two calls of one solver: "CLARABEL qdldl".
    presolve : bool
        As for :meth:`MaxEnt.solve`, for all of them.
    options : dict of dict, optional
        Options by solver, as named in `solvers`: ``{"CLARABEL qdldl": {"direct_solve_method": "qdldl"}}``.
    time_limit : float
        Seconds for each solve, as for :meth:`MaxEnt.solve`. A solver that cannot be given one is a row that says so.
    progress : bool, optional
        Show a progress bar; by default on a terminal or in a notebook.

    Returns
    -------
    DataFrame
        A row a solver, in the order asked for, or of several models a row a model and solver:

        * status: the solver's own account, "optimal" or less; without an answer "infeasible" (so is the
          knowledge), "not installed" or "failed". certified: whether the certificate holds, which is what counts;
        * objective: H(Q, S, B), nats;
        * residual and gap: of the certificate, people; bound: how far any P(s | q) can be off;
        * difference: the largest ``|p - p'| / p'`` over the probabilities P(q, s, b) whose p' is above 1e-6,
          where p' is the answer with the smallest bound, which ``attrs["reference"]`` names (None: no bounds; of
          several models, a dictionary of these);
        * iterations, compile_seconds, solve_seconds: without presolve and certificate, which are the same for all;
        * message: why there is no answer, or whose it is, where the solver did not certify its own.

    Raises
    ------
    UnknownName
        If there is no such solver, or it has no such option; before any is called.
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
    labels = _labels(solvers, options)
    missing = {label: error for label in labels if (error := _missing(label, options.get(label, {})))}
    if unknown := [label for label in options if label not in set(labels)]:
        raise unknown_name("solver to be compared", unknown[0], labels)
    answers: dict[Hashable, dict[str, Posterior | MaxEntError]] = {name: dict(missing) for name in models}
    for name, label in progress_bar(list(itertools.product(models, labels)), "solvers", progress):
        if label not in missing:
            given = {**limit, **options.get(label, {})}
            answers[name][label] = _answer(models[name], _name(label), presolve=presolve, **given)
    tables = {name: _table(answers[name], labels, missing) for name in models}
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


def _labels(solvers: str | Iterable[str] | None, options: Mapping[str, Any]) -> list[str]:
    """The rows that are asked for."""
    if solvers is None:
        solvers = [name for name, backend in SOLVERS.items() if backend.installed]
        solvers += [label for label in options if label not in solvers]
    asked = [solvers] if isinstance(solvers, str) else arguments.list_of(solvers, "solvers", "names of solvers")
    if not asked:
        raise StatementError("solvers=[]: at least one is expected; leave it out to compare all that are installed")
    return list(dict.fromkeys(label if isinstance(label, str) else find(label).name for label in asked))


def _answer(model: MaxEnt, solver: str, **given: Any) -> Posterior | MaxEntError:
    """What a solver answers, certified or not, or why it does not."""
    try:
        return model.solve(solver, allow_inaccurate=True, **given)
    except MaxEntError as error:
        return error


def _table(answers: Mapping[str, Posterior | MaxEntError], labels: list[str], missing: Collection[str]) -> pd.DataFrame:
    """The table of one model."""
    found = {label: answer for label, answer in answers.items() if isinstance(answer, Posterior)}
    bounds = {label: post.certificate.bound for label, post in found.items() if np.isfinite(post.certificate.bound)}
    reference = min(bounds, key=lambda label: bounds[label], default=None)
    rows = [
        _row(answers[label], found[reference] if reference else None, label in missing, _own(label)) for label in labels
    ]
    table = pd.DataFrame(rows, index=pd.Index(labels, name="solver")).astype({"iterations": "Int64"})
    table.attrs["reference"] = reference
    return table


def _name(label: str) -> str:
    """The solver of a row."""
    return label.split()[0] if label.split() else label


def _own(label: str) -> str:
    """What the solver of a row calls itself in its answers."""
    with suppress(SolverError):
        return find(_name(label)).name
    return label


def _missing(label: str, options: Mapping[str, Any]) -> SolverError | None:
    """Refuse what no solver has; give the error of one that is not installed."""
    if not isinstance(label, str):
        find(label)  # raises
    try:
        backend = find(_name(label))
    except SolverError as error:
        return error
    own = {name: value for name, value in options.items() if name not in OF_EVERY_SOLVER}
    with suppress(SolverError):  # only the solver knows its options: if it does not take these, it says so when called
        backend.check(own)
    return None


def _row(answer: Posterior | MaxEntError, reference: Posterior | None, missing: bool, own: str) -> dict[str, object]:
    """The columns of one answer, or of a solver without an answer."""
    nothing = {"certified": False, **dict.fromkeys(NUMBERS, np.nan), "iterations": pd.NA}
    if isinstance(answer, MaxEntError):
        status = "infeasible" if isinstance(answer, Infeasible) else "not installed" if missing else "failed"
        return {"status": status, **nothing, "message": str(answer)}
    proof = answer.certificate
    return {
        "status": str(answer.status),
        "certified": proof.holds,
        "objective": answer.entropy,
        "residual": proof.residual,
        "gap": proof.gap,
        "bound": proof.bound,
        "difference": _difference(answer, reference) if reference else np.nan,
        "iterations": answer.iterations,
        "compile_seconds": answer.compile_seconds,
        "solve_seconds": answer.solve_seconds,
        "message": "" if answer.solver == own else f"the answer of {answer.solver}",
    }


def _difference(answer: Posterior, reference: Posterior) -> float:
    """The largest relative difference of probabilities that are not all but zero."""
    p, exact = (post.counts / post.space.n_records for post in (answer, reference))
    probable = exact > PROBABLE
    return float((np.abs(p - exact)[probable] / exact[probable]).max(initial=0.0))

"""Sweeps: the posterior as one statement's value, or its vagueness, changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from tqdm import tqdm

from .errors import Infeasible, StatementError, shown
from .model import MaxEnt
from .posterior import Posterior
from .sources import Probability, Statement, read_probability

__all__ = ["sweep"]

#: What is measured: a function of the posterior, or several by name.
Measure = Callable[[Posterior], Any] | Mapping[str, Callable[[Posterior], Any]]


def sweep(
    model: MaxEnt,
    probability: Probability | str,
    *,
    value: float | Sequence[float] | None = None,
    eps: float | Sequence[float] = 0.0,
    measure: Measure | None = None,
    solver: str = "auto",
    **options: Any,
) -> pd.DataFrame:
    """Solve a model for every value that a probability is said to have, and for every vagueness.

    Each solve begins with the posterior of the one before. The model itself stays as it is.

    Parameters
    ----------
    model : MaxEnt
        What is known besides. An equation, or "about" a value, that it holds of the same probability is replaced.
    probability : Probability or str
        ``P("Flu", given={"Gender": "male"})``, ``"P(Flu | Gender=male)"``, or a linear combination.
    value : float or several, optional
        Probabilities; by default the value (or the middle of the two sides) that the model's own statement has.
    eps : float or several
        Vagueness: the probability is within eps of the value (Privacy-MaxEnt, section 4.5).
    measure : callable or dict of callables, optional
        From a posterior to a number; one column each, by name.
    solver, options
        As of :meth:`maxent_cvx.MaxEnt.solve`.

    Returns
    -------
    DataFrame
        A row a solve, values outermost: `value`, `eps`, `status` ("optimal" or "infeasible"), `probability`, that
        the posterior gives, `entropy`, nats, and what is measured. NaN where the value contradicts the rest.

    Raises
    ------
    StatementError
        If no value is given and the model holds none; or if the model's other errors apply.
    """
    asked = read_probability(probability) if isinstance(probability, str) else probability
    if not isinstance(asked, Probability):
        raise StatementError(f"a sweep is of a probability such as P('Flu'), not of {shown(asked)}")
    measures = _measures(measure)
    own = {name: said for name, said in model.knowledge.items() if isinstance(said, Statement) and _is_of(said, asked)}
    if value is None:
        if len(own) != 1:
            raise StatementError(
                f"the model holds {len(own)} statements of a value of {asked}; say which value is meant, value=..."
            )
        (said,) = own.values()
        value = (said.low + said.high) / 2 + asked.constant
    base = model.copy()
    for name in own:
        base.remove(name)
    cases = [(float(v), float(e)) for v in np.atleast_1d(value) for e in np.atleast_1d(eps)]
    rows, before = [], None
    for v, e in tqdm(cases, desc="sweep", disable=None):
        statement = asked.about(v, e) if e else asked == v
        try:
            post = base.copy().add(statement, label="swept").solve(solver, warm_start=before, **options)
        except Infeasible:
            rows.append({"value": v, "eps": e, "status": "infeasible"})
            continue
        found = {"value": v, "eps": e, "status": str(post.status), "probability": post.prob(asked)}
        rows.append(found | {"entropy": post.entropy} | {name: of(post) for name, of in measures.items()})
        before = post
    return pd.DataFrame(rows, columns=["value", "eps", "status", "probability", "entropy", *measures])


def _measures(measure: Measure | None) -> Mapping[str, Callable[[Posterior], Any]]:
    """Name what is measured."""
    if measure is None or isinstance(measure, Mapping):
        return measure or {}
    if not callable(measure):
        raise StatementError(
            f"measure must be a function of the posterior, or a dictionary of some, not {shown(measure)}"
        )
    name = getattr(measure, "__name__", "measure")
    return {"measure" if name == "<lambda>" else name: measure}


def _is_of(said: Statement, asked: Probability) -> bool:
    """Whether a statement says what value the probability has."""
    same = dict(said.terms) == {event: a for event, a in asked.terms.items() if a != 0}
    return same and bool(np.isfinite([said.low, said.high]).all())

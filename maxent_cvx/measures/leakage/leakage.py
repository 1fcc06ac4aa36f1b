"""Leakage: what an adversary has learnt, from a prior to a posterior, in the measures of several fields."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from ...errors import arguments
from ...model.posterior import Posterior
from ...priors import QIDistribution
from ..disclosure import distances
from .beliefs import Beliefs, inferred, prior_of
from .breaches import distance as farthest
from .breaches import gamma, log_ratio, ratio, rho2, rho2_of_sets
from .measured import Measured
from .vulnerability import Gain, gains, vulnerability

__all__ = ["leakage"]


def leakage(
    prior: Posterior | QIDistribution | pd.DataFrame | pd.Series | str,
    post: Posterior,
    *,
    gain: Gain = None,
    rho1: float = 0.1,
    d: float = 0.1,
    distance: str = "auto",
) -> pd.DataFrame:
    """Compare P0(s | q), believed before, with P1(s | q), inferred after: one row a measure, larger is worse.

    Parameters
    ----------
    prior : Posterior, QIDistribution, DataFrame, Series or "overall"
        P0: a posterior with less knowledge; P(s | q) by some of the QI attributes; the same P(s) for everybody, by
        value; or "overall", how frequent each value is in what is published.
    post : Posterior
        P1.
    gain : function or DataFrame, optional
        g(w, s), what guessing w gains if s is true: a function of two values, or a table, a row a guess and a column a
        value. By default 1 if they are the same, 0 otherwise.
    rho1, d : float
        The thresholds of (rho1, rho2) and of (d, gamma), probabilities.
    distance : {"auto", "equal", "ordered"}
        Of t, as in :func:`disclosure`.

    Returns
    -------
    DataFrame
        A row a measure: its `value`; `low` and `high`, between which it is for the exact maximum-entropy answers, from
        their certificates; `unit`; `q` and `s`, the people, as in ``post.inferences()``, and the value that attain it;
        and what it `says`. The mean over people is M, the largest entry over q and s is max.

        prior Bayes vulnerability, posterior Bayes vulnerability
            V0 = M max_s P0(s | q) and V1 = M max_s P1(s | q): how often the best guess is right.
        min-entropy leakage
            log2(V1 / V0), bits (Smith, 2009).
        multiplicative g-leakage, additive g-leakage
            V1 / V0 and V1 - V0, with V = M max_w sum_s P(s | q) g(w, s) (Alvim et al., 2020). The ratio is NaN if V0 is
            negative, or both are 0.
        rho2
            max P1 where P0 <= rho1: there is an upward (rho1, rho2) breach for a single value up to this rho2
            (Evfimievski et al., 2003). NaN if there is no such value.
        rho2 of sets
            An upper bound on the same for any set of values, the property of that paper. Some set may reach it.
        gamma
            The least gamma of (d, gamma)-privacy: where P0 <= d, P1 <= gamma and P1 / P0 >= d / gamma (Rastogi et al.,
            2007). Infinite where something possible is ruled out; above 1 the second condition decides.
        beta
            max (P1 - P0) / P0, basic beta-likeness (Cao and Karras, 2012); infinite where P0 = 0 < P1.
        delta
            The largest size of ln(P1 / P0), delta-disclosure (Brickell and Shmatikov, 2008), nats; infinite where
            exactly one of them is 0.
        t
            The largest distance of P1(. | q) from P0(. | q), t-closeness (Li et al., 2007).

    Raises
    ------
    StatementError, TableError, UnknownName
        If `post` is no Posterior, the prior or the gains are not of its people and values, or the overall distribution
        is not published.
    BadProbability
        If a prior is no distribution, or a threshold or a gain no number in its range.

    Notes
    -----
    What is within a posterior's certificate of 0, and below 1e-9, counts as 0. Rounding of these measures, in the last
    digits, is not in `low` and `high`. Both sides of a vulnerability are averaged over the people of `post`.

    pyCANON, which takes the shares in equivalence classes for P1, leaves ratios of 0 out of its delta, where ours is
    infinite. Enhanced beta-likeness is another measure, a bound on beta that varies with P0.

    Examples
    --------
    What a release says beyond the shares of each disease, if one knows that no man has breast cancer:

    >>> import maxent_cvx as mx
    >>> hospital = mx.datasets.load_hospital()
    >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    >>> post = mx.MaxEnt(release).add("P(Breast Cancer | Gender=male) = 0").solve()
    >>> found = mx.measures.leakage("overall", post, rho1=0.2)
    >>> print(found.loc[["min-entropy leakage", "rho2", "beta", "t"], ["value", "unit"]].round(3))
                         value         unit
    measure
    min-entropy leakage  0.688         bits
    rho2                 1.000  probability
    beta                 4.000        ratio
    t                    0.800     distance
    >>> print(found["says"]["beta"])
    P(Breast Cancer | Gender=female, Degree=junior) was 0.2, is 1: rose by 4 times itself
    """
    arguments.instance(post, Posterior, "post")
    rho1, d = arguments.real(rho1, "rho1", 0.0, 1.0), arguments.real(d, "d", 0.0, 1.0)
    arguments.choice(distance, "distance", ("auto", "equal", "ordered"))
    rows, people, after = inferred(post)
    before = prior_of(prior, post, rows)
    size = len(rows.columns)
    far = distances(after.p, before.p, rows.columns, distance)
    found = [
        *_of_guesses(before, after, people, gains(gain, rows.columns)),
        *_of_values(before, after, rho1, d),
        ("t", farthest(far, (before.bound + after.bound) * size / max(size - 1, 1)), "distance", "moved by {:.3g}"),
    ]
    at = [[it.row, it.column] for _, it, _, _ in found]
    columns = {
        "value": [it.value for _, it, _, _ in found],
        "low": [it.low for _, it, _, _ in found],
        "high": [it.high for _, it, _, _ in found],
        "unit": [unit for _, _, unit, _ in found],
        "q": pd.array([None if row is None else rows.index[row] for row, _ in at], dtype=object),
        "s": pd.array([None if column is None else rows.columns[column] for _, column in at], dtype=object),
        "says": [
            _where(rows, it, before, after) + (UNDEFINED if math.isnan(it.value) else says.format(it.value))
            for _, it, _, says in found
        ],
    }
    return pd.DataFrame(columns, index=pd.Index([name for name, *_ in found], name="measure"))


#: What a measure says that is NaN.
UNDEFINED = "there is no such number here"
#: A measure's name, what was measured, its unit, and what that says, with a place for the value.
Row = tuple[str, Measured, str, str]


def _of_guesses(before: Beliefs, after: Beliefs, people: np.ndarray, gained: np.ndarray) -> list[Row]:
    """The measures that are means over people."""
    right = np.eye(before.p.shape[1])
    v0, v1 = (vulnerability(beliefs, people, right) for beliefs in (before, after))
    g0, g1 = (vulnerability(beliefs, people, gained) for beliefs in (before, after))
    return [
        ("prior Bayes vulnerability", v0, "probability", "the likeliest value was right of {:.1%} of people"),
        ("posterior Bayes vulnerability", v1, "probability", "the likeliest value is right of {:.1%} of people"),
        ("min-entropy leakage", v1.over(v0).log2(), "bits", "guesses are 2 to the {:.3g} times as often right"),
        ("multiplicative g-leakage", g1.over(g0), "ratio", "the best guesses gain {:.3g} times as much"),
        ("additive g-leakage", g1.minus(g0), "gain", "the best guesses gain {:.3g} more"),
    ]


def _of_values(before: Beliefs, after: Beliefs, rho1: float, d: float) -> list[Row]:
    """The measures that are the worst over people and values."""
    single = rho2(before, after, rho1)
    sets = rho2_of_sets(before, after, rho1, single)
    return [
        ("rho2", single, "probability", f"of what was at most rho1 = {rho1:g}, nothing is above {{:.3g}}"),
        ("rho2 of sets", sets, "probability", f"no set that was at most rho1 = {rho1:g} is above {{:.3g}}"),
        ("gamma", gamma(before, after, d), "ratio", f"({d:g}, {{:.3g}})-private"),
        ("beta", ratio(before, after).plus(-1.0), "ratio", "rose by {:.3g} times itself"),
        ("delta", log_ratio(before, after), "nats", "moved by a factor of e to the {:.3g}"),
    ]


def _where(rows: pd.DataFrame, found: Measured, before: Beliefs, after: Beliefs) -> str:
    """Write who and what attains a measure, and what its probability was and is."""
    if found.row is None:
        return ""
    label = rows.index[found.row]
    who = ", ".join(
        f"{name}={value}"
        for name, value in zip(rows.index.names, label if isinstance(label, tuple) else (label,), strict=True)
    )
    if found.column is None:
        return f"of {who}: "
    at = found.row, found.column
    return f"P({rows.columns[found.column]} | {who}) was {before.p[at]:.3g}, is {after.p[at]:.3g}: "

"""Entropy pooling beside skfolio: ``python -m tests.benchmarks.peers.views``.

skfolio's EntropyPooling takes the name of any of CVXPY's solvers, so that DUAL_NEWTON is its guest: skfolio states the
problems (scenarios weighted so that views hold, at the least divergence from equal weights), one after another where a
view is not linear, and a root search around them for CVaR. Beside are its default, SciPy's TNC on the dual, and
CLARABEL. The sets of views are of the kinds of skfolio's own tests, on its 20 assets, 2,263 days from 2014 on:

    seconds    processor time of a fit, compilations by CVXPY included
    MiB        what the process took at most, beyond what it held before
    entropy    the divergence from equal weights: of two answers that satisfy the views, the smaller is the better
    violated   by how much the answer misses a mean that is said to equal a number, as a part of it; or a sum of 1
    apart      the largest difference from DUAL_NEWTON's weights, divided by the largest weight
    said       optimal_inaccurate where skfolio warns of it, which it does not of problems inside its search for CVaR
    ours       DUAL_NEWTON's seconds divided by those of the method: above 1 we lose
"""

from __future__ import annotations

import importlib.util
import re
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from maxent_cvx.solvers.cvxpy.solver import register_with_cvxpy

from .comparing import CLARABEL, OURS, apart_from_others, parser, show, timed

#: Views by their kinds, as EntropyPooling takes them.
VIEWS: dict[str, dict[str, list[str]]] = {
    "means": {"mean_views": ["AAPL >= 0.0018", "JPM == 0.0012", "GE <= -0.0002", "2 * KO == PEP + 0.5 * WMT"]},
    "means, relative to the prior": {"mean_views": ["MSFT >= 1.3 * prior(MSFT)", "CVX == prior(CVX)"]},
    "value at risk": {"value_at_risk_views": ["AAPL == 0.032", "XOM >= 0.035"]},
    "CVaR": {"cvar_views": ["JPM == 0.05"]},
    "two CVaR": {"cvar_views": ["AAPL == 0.048", "XOM == 0.055"]},
    "variances": {"variance_views": ["AAPL >= 0.00045", "JPM == 0.0005", "KO <= 0.0001"]},
    "means, variances": {
        "mean_views": ["JPM == 0.0012", "2 * KO == PEP + 0.5 * WMT"],
        "variance_views": ["AAPL >= 0.00045", "JPM == 0.0005"],
    },
    "correlations": {"correlation_views": ["(AAPL,MSFT) == 0.5", "(JPM,BAC) <= 0.8", "(KO,XOM) >= 0.45"]},
    "means, variances, correlations": {
        "mean_views": ["JPM == 0.0012"],
        "variance_views": ["AAPL == 0.0004", "JPM == 0.0005"],
        "correlation_views": ["(AAPL,MSFT) == 0.5", "(JPM,BAC) <= 0.8"],
    },
    "skewness": {"skew_views": ["AAPL == -0.15", "JPM >= 1.0", "WMT <= -0.2"]},
    "kurtosis": {"kurtosis_views": ["AAPL == 9.5", "KO <= 9", "WMT <= 11"]},
    "variances, CVaR": {"variance_views": ["AAPL >= 0.0005"], "cvar_views": ["AAPL == 0.08"]},
    "correlations, CVaR": {"correlation_views": ["(AAPL,MSFT) == 0.5"], "cvar_views": ["AAPL == 0.06"]},
}
#: Methods: skfolio's names of solvers.
METHODS = (OURS, "TNC", CLARABEL)
#: The columns of the table.
COLUMNS = ("views", "method", "seconds", "MiB", "entropy", "violated", "apart", "ours", "said")
#: A view that a mean is a number.
MEAN = re.compile(r"^(\w+) == ([-\d.]+)$")


def fitted(kind: str, method: str) -> dict[str, Any]:
    """Fit a set of views by one of skfolio's solvers."""
    from skfolio.datasets import load_sp500_dataset
    from skfolio.preprocessing import prices_to_returns
    from skfolio.prior import EntropyPooling

    register_with_cvxpy()
    returns = prices_to_returns(load_sp500_dataset().loc["2014":])
    views = VIEWS[kind]
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        EntropyPooling(solver=method, mean_views=["AAPL >= 0.0018"]).fit(returns)  # pays for imports
        try:
            seconds, memory, result = timed(lambda: EntropyPooling(solver=method, **views).fit(returns))
        except Exception as error:  # whatever skfolio says of a solver's failure
            return {"said": f"{type(error).__name__}: {str(error).split('. ')[0]}"}
    inaccurate = any(str(one.message).startswith("Solution may be inaccurate") for one in warned)
    weights = result.return_distribution_.sample_weight
    means = [MEAN.match(view) for view in views.get("mean_views", [])]
    missed = [abs(weights @ returns[m[1]] / float(m[2]) - 1) for m in means if m]
    return {
        "seconds": seconds, "MiB": memory, "entropy": result.relative_entropy_, "answer": weights,
        "violated": max([*missed, abs(weights.sum() - 1)]), "said": "optimal_inaccurate" if inaccurate else "",
    }  # fmt: skip


def lines(kinds: Sequence[str], together: bool) -> Iterator[dict[str, Any]]:
    """The lines of every set of views."""
    for kind in kinds:
        own: dict[str, Any] = {}
        for method in METHODS:
            result = apart_from_others(fitted, kind, method, together=together)
            weights = result.pop("answer", None)
            if weights is not None and method == OURS:
                own = {"weights": weights, "seconds": result["seconds"]}
            elif weights is not None and own:
                result["apart"] = float(np.abs(weights - own["weights"]).max() / own["weights"].max())
                result["ours"] = own["seconds"] / result["seconds"]
            yield {"views": kind, "method": method, **result}


def main(arguments: list[str] | None = None) -> pd.DataFrame:
    """Print and return the table."""
    options = parser(__doc__)
    options.add_argument("--kinds", nargs="+", default=list(VIEWS), choices=list(VIEWS))
    args = options.parse_args(arguments)
    if importlib.util.find_spec("skfolio") is None:
        missing = "skfolio is not installed: pip install skfolio"
        return show(({"views": kind, "said": missing} for kind in args.kinds), COLUMNS)
    return show(lines(args.kinds, args.together), COLUMNS)


if __name__ == "__main__":
    main()

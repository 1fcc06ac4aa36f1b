"""Plots; each returns its Axes and takes ``ax=``."""

from __future__ import annotations

from .posterior import before_and_after, inference_channels, intervals, likeliest_values, posterior, prices, sweep
from .risk import equivocation, exposure, quantification, risk_utility, roc, uncertain_knowledge, worst_case
from .solvers import performance_profile, solver_comparison

__all__ = [
    "before_and_after",
    "equivocation",
    "exposure",
    "inference_channels",
    "intervals",
    "likeliest_values",
    "performance_profile",
    "posterior",
    "prices",
    "quantification",
    "risk_utility",
    "roc",
    "solver_comparison",
    "sweep",
    "uncertain_knowledge",
    "worst_case",
]

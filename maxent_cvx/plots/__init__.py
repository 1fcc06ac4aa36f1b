"""Plots; each returns its Axes and takes ``ax=``."""

from __future__ import annotations

from .before_and_after import before_and_after
from .channel_lines import inference_channels
from .entropy_steps import equivocation
from .exposure_steps import exposure
from .heat_map import posterior
from .interval_lines import intervals
from .likeliest_values import likeliest_values
from .price_bars import prices
from .profile_steps import performance_profile
from .risk_utility_points import risk_utility
from .roc_lines import roc
from .score_lines import quantification
from .solver_points import solver_comparison
from .sweep_lines import sweep
from .worst_case_lines import worst_case

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
    "worst_case",
]

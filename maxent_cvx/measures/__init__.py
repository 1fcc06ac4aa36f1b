"""Measures of a posterior: accuracy of the adversary's inference, disclosure, re-identification risk, and utility."""

from __future__ import annotations

from .accuracy import (
    estimation_accuracy,
    individual_divergence,
    individual_entropy,
    overall_divergence,
    term_divergence,
    top_differences,
)
from .counterfactual import counterfactual
from .disclosure import disclosure
from .equivocation import Equivocation, equivocation, individual_equivocation
from .exposure import Exposure, exposed
from .leakage import leakage
from .reidentification import Reidentification, reidentification
from .uncertainty import UncertainKnowledge
from .utility import marginal_distance, query_error, risk_utility

__all__ = [
    "Equivocation",
    "Exposure",
    "Reidentification",
    "UncertainKnowledge",
    "counterfactual",
    "disclosure",
    "equivocation",
    "estimation_accuracy",
    "exposed",
    "individual_divergence",
    "individual_entropy",
    "individual_equivocation",
    "leakage",
    "marginal_distance",
    "overall_divergence",
    "query_error",
    "reidentification",
    "risk_utility",
    "term_divergence",
    "top_differences",
]

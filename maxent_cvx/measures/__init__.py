"""Measures of a posterior: how close an adversary comes to the truth, and what that discloses."""

from __future__ import annotations

from .accuracy import estimation_accuracy, individual_divergence, overall_divergence, term_divergence
from .differences import top_differences
from .disclosure import disclosure
from .equivocation.equivocation import Equivocation, equivocation
from .equivocation.individual_equivocation import individual_equivocation
from .exposure.exposed import exposed
from .exposure.exposure import Exposure
from .leakage.leakage import leakage
from .marginals import marginal_distance
from .queries import query_error
from .reidentification.reidentification import reidentification
from .reidentification.result import Reidentification
from .risk_utility import risk_utility
from .uncertainty import individual_entropy

__all__ = [
    "Equivocation",
    "Exposure",
    "Reidentification",
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

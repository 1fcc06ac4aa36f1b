"""What association rules say of the people of a view: patterns, those that are no rules, and printed scores."""

from __future__ import annotations

from .non_rules import NonRules, count_patterns, non_rules
from .patterns import Patterns, rule_patterns
from .scores import score_bounds

__all__ = ["NonRules", "Patterns", "count_patterns", "non_rules", "rule_patterns", "score_bounds"]

"""What association rules say of a view: patterns, those that are no rules, and printed scores."""

from __future__ import annotations

from .non_rules import NonRules, count_patterns, non_rules
from .patterns import Patterns, find_values, rule_patterns
from .scores import records_of_scores

__all__ = ["NonRules", "Patterns", "count_patterns", "find_values", "non_rules", "records_of_scores", "rule_patterns"]

"""Information sources, one a file: each turns something an adversary knows into rows."""

from __future__ import annotations

from .answered_queries import AnsweredQueries
from .base import Custom, Source, as_source, several
from .bucket_invariants import BucketInvariants
from .facts import facts_of
from .group_invariants import GroupInvariants, Population
from .named_people import NamedPeople
from .noisy_marginal import NoisyMarginal
from .notation import read_knowledge, read_probability, read_statement
from .prior_zeros import PriorZeros
from .probability import Count, P, Probability
from .published import PublishedRows
from .published_rule_list import PublishedRuleList
from .published_rules import PublishedRules
from .published_tree import PublishedTree
from .qi_constraints import QIConstraints, SAConstraints
from .randomized_response import RandomizedResponse
from .same_value import SameValue
from .series_constraints import OtherRelations, SeriesConstraints
from .statement import Statement
from .strongest_associations import StrongestAssociations

__all__ = [
    "AnsweredQueries",
    "BucketInvariants",
    "Count",
    "Custom",
    "GroupInvariants",
    "NamedPeople",
    "NoisyMarginal",
    "OtherRelations",
    "P",
    "Population",
    "PriorZeros",
    "Probability",
    "PublishedRows",
    "PublishedRuleList",
    "PublishedRules",
    "PublishedTree",
    "QIConstraints",
    "RandomizedResponse",
    "SAConstraints",
    "SameValue",
    "SeriesConstraints",
    "Source",
    "Statement",
    "StrongestAssociations",
    "as_source",
    "facts_of",
    "read_knowledge",
    "read_probability",
    "read_statement",
    "several",
]

"""Information sources, one a file: each turns something an adversary knows into rows."""

from __future__ import annotations

from .base import Custom, Source, as_list, as_source, names_its_rows
from .classifiers.published_rule_list import PublishedRuleList
from .classifiers.published_rules import PublishedRules
from .classifiers.published_tree import PublishedTree
from .moments.covariance import Covariance
from .moments.published_correlation import PublishedCorrelation
from .moments.published_moments import PublishedMoments
from .moments.published_quantile import PublishedQuantile
from .monotone import Monotone
from .notation import read_knowledge, read_probability, read_statement
from .published.bucket_invariants import BucketInvariants
from .published.facts import published_sources
from .published.group_invariants import GroupInvariants, Population
from .published.named_people import NamedPeople
from .published.prior_zeros import PriorZeros
from .published.published_counts import PublishedCounts, PublishedZeros
from .published.published_rows import PublishedRows
from .published.qi_constraints import QIConstraints, SAConstraints
from .published.series_constraints import OtherRelations, SeriesConstraints
from .regression.published_regression import PublishedRegression
from .same_value import SameValue
from .soft import SoftSource, soft
from .statements.events import Count, P
from .statements.expectation import E
from .statements.parametric_statement import ParametricStatement
from .statements.probability import Probability
from .statements.statement import Statement
from .statistics.answered_queries import AnsweredQueries
from .statistics.noisy_marginal import NoisyMarginal
from .statistics.randomized_response import RandomizedResponse
from .strongest_associations import StrongestAssociations
from .tables.published_table import PublishedTable

__all__ = [
    "AnsweredQueries",
    "BucketInvariants",
    "Count",
    "Covariance",
    "Custom",
    "E",
    "GroupInvariants",
    "Monotone",
    "NamedPeople",
    "NoisyMarginal",
    "OtherRelations",
    "P",
    "ParametricStatement",
    "Population",
    "PriorZeros",
    "Probability",
    "PublishedCorrelation",
    "PublishedCounts",
    "PublishedMoments",
    "PublishedQuantile",
    "PublishedRegression",
    "PublishedRows",
    "PublishedRuleList",
    "PublishedRules",
    "PublishedTable",
    "PublishedTree",
    "PublishedZeros",
    "QIConstraints",
    "RandomizedResponse",
    "SAConstraints",
    "SameValue",
    "SeriesConstraints",
    "SoftSource",
    "Source",
    "Statement",
    "StrongestAssociations",
    "as_list",
    "as_source",
    "names_its_rows",
    "published_sources",
    "read_knowledge",
    "read_probability",
    "read_statement",
    "soft",
]

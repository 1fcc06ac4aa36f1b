"""Information sources, each of which converts some knowledge of an adversary to rows."""

from __future__ import annotations

from .associations import StrongestAssociations
from .base import Custom, Source, as_list, as_source, names_its_rows
from .invariants import (
    BucketInvariants,
    GroupInvariants,
    NamedPeople,
    OtherRelations,
    Population,
    PriorZeros,
    PublishedCounts,
    PublishedRows,
    PublishedZeros,
    QIConstraints,
    SAConstraints,
    SeriesConstraints,
    published_sources,
)
from .moments import Covariance, PublishedCorrelation, PublishedMoments, PublishedQuantile
from .order import Monotone
from .parser import read_knowledge, read_probability, read_statement
from .people import SameValue
from .queries import AnsweredQueries, NoisyMarginal, RandomizedResponse
from .regression import PublishedRegression
from .rules import PublishedRuleList, PublishedRules
from .soft import SoftSource, soft
from .statements import Count, E, P, ParametricStatement, Probability, Statement
from .tables import PublishedTable
from .trees import PublishedTree

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

from . import anonymize, attacks, datasets, measures, plots, sdc, solvers, testing, worlds
from ._utils.associations import mine_associations
from ._utils.errors import (
    BadProbability,
    DuplicateLabel,
    GroupTooLarge,
    Inaccurate,
    Infeasible,
    LabelMismatch,
    LargeModel,
    MaxEntError,
    NotDecided,
    RepeatedStatement,
    RulesLeftOut,
    SolverError,
    StatementError,
    TableError,
    UnknownName,
)
from .experiments import compare_solvers, inference_channels, performance_profile, quantify, sweep
from .explorer.explorer import explore
from .measures.uncertainty import attribute, uncertain
from .model.maxent import MaxEnt, load_posterior
from .model.partitioned import PartitionedMaxEnt, PartitionedPosterior
from .model.posterior import Posterior
from .priors import QIDistribution
from .releases.base import View
from .releases.generalized import GroupedRelease
from .releases.partitioned import PartitionedRelease
from .releases.qi_table import QITable
from .releases.release import Release
from .releases.series import ReleaseSeries
from .reporting.report import report
from .rules import RuleSet
from .sources.associations import StrongestAssociations
from .sources.base import Source
from .sources.invariants import BucketInvariants
from .sources.moments import Covariance, PublishedCorrelation, PublishedMoments, PublishedQuantile
from .sources.order import Monotone
from .sources.parser import read_knowledge
from .sources.people import SameValue
from .sources.queries import AnsweredQueries, NoisyMarginal, RandomizedResponse
from .sources.regression import PublishedRegression
from .sources.rules import PublishedRuleList, PublishedRules
from .sources.soft import soft
from .sources.statements import Count, E, P, Statement
from .sources.tables import PublishedTable
from .sources.trees import PublishedTree
from .terms.block import Block
from .terms.rows import Rows
from .terms.space import Space

__all__ = [
    "AnsweredQueries",
    "BadProbability",
    "Block",
    "BucketInvariants",
    "Count",
    "Covariance",
    "DuplicateLabel",
    "E",
    "GroupTooLarge",
    "GroupedRelease",
    "Inaccurate",
    "Infeasible",
    "LabelMismatch",
    "LargeModel",
    "MaxEnt",
    "MaxEntError",
    "Monotone",
    "NoisyMarginal",
    "NotDecided",
    "P",
    "PartitionedMaxEnt",
    "PartitionedPosterior",
    "PartitionedRelease",
    "Posterior",
    "PublishedCorrelation",
    "PublishedMoments",
    "PublishedQuantile",
    "PublishedRegression",
    "PublishedRuleList",
    "PublishedRules",
    "PublishedTable",
    "PublishedTree",
    "QIDistribution",
    "QITable",
    "RandomizedResponse",
    "Release",
    "ReleaseSeries",
    "RepeatedStatement",
    "Rows",
    "RuleSet",
    "RulesLeftOut",
    "SameValue",
    "SolverError",
    "Source",
    "Space",
    "Statement",
    "StatementError",
    "StrongestAssociations",
    "TableError",
    "UnknownName",
    "View",
    "anonymize",
    "attacks",
    "attribute",
    "compare_solvers",
    "datasets",
    "explore",
    "inference_channels",
    "load_posterior",
    "measures",
    "mine_associations",
    "performance_profile",
    "plots",
    "quantify",
    "read_knowledge",
    "report",
    "sdc",
    "soft",
    "solvers",
    "sweep",
    "testing",
    "uncertain",
    "worlds",
]

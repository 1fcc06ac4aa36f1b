from . import attacks, datasets, disguise, measures, plots, sdc, solvers, testing, worlds
from .errors import (
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
from .explorer import explore
from .model.loading import load_posterior
from .model.maxent import MaxEnt
from .model.partitioned.partitioned_maxent import PartitionedMaxEnt
from .model.partitioned.partitioned_posterior import PartitionedPosterior
from .model.posterior import Posterior
from .priors import QIDistribution
from .reporting.report import report
from .rules.rule_set import RuleSet
from .sources import (
    AnsweredQueries,
    BucketInvariants,
    Count,
    Covariance,
    E,
    Monotone,
    NoisyMarginal,
    P,
    PublishedCorrelation,
    PublishedMoments,
    PublishedQuantile,
    PublishedRegression,
    PublishedRuleList,
    PublishedRules,
    PublishedTable,
    PublishedTree,
    RandomizedResponse,
    SameValue,
    Source,
    Statement,
    StrongestAssociations,
    read_knowledge,
    soft,
)
from .studies.compare_solvers import compare_solvers
from .studies.inference_channels import inference_channels
from .studies.performance_profile import performance_profile
from .studies.quantify import quantify
from .studies.sweep import sweep
from .tables.mining import mine_associations
from .terms.blocks.block import Block
from .terms.rows import Rows
from .terms.space import Space
from .views import GroupedRelease, PartitionedRelease, QITable, Release, ReleaseSeries, View

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
    "attacks",
    "compare_solvers",
    "datasets",
    "disguise",
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
    "worlds",
]

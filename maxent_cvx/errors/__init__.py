"""What may be wrong, in words: exceptions, the words of their messages, and checks of arguments."""

from . import exceptions
from .arguments import number, whole
from .exceptions import (
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
from .wording import amount, listing, shown, unknown_name

__all__ = [
    "BadProbability",
    "DuplicateLabel",
    "GroupTooLarge",
    "Inaccurate",
    "Infeasible",
    "LabelMismatch",
    "LargeModel",
    "MaxEntError",
    "NotDecided",
    "RepeatedStatement",
    "RulesLeftOut",
    "SolverError",
    "StatementError",
    "TableError",
    "UnknownName",
    "amount",
    "listing",
    "number",
    "shown",
    "unknown_name",
    "whole",
]

for _name in exceptions.__all__:
    getattr(exceptions, _name).__module__ = __name__  # where users import it from, in tracebacks and pickles
del _name

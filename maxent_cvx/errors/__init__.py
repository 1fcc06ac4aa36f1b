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
from .wording import amount, listing, one_line, shown, unknown_name, visible

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
    "one_line",
    "shown",
    "unknown_name",
    "visible",
    "whole",
]

for _name in exceptions.__all__:
    getattr(exceptions, _name).__module__ = __name__  # where users import it from, in tracebacks and pickles
del _name

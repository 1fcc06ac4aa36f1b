"""Information sources, one a file: each turns something an adversary knows into rows."""

from __future__ import annotations

from .base import Custom, Source, as_source, several
from .bucket_invariants import BucketInvariants
from .named_people import NamedPeople
from .notation import read_knowledge, read_probability, read_statement
from .probability import Count, P, Probability
from .same_value import SameValue
from .statement import Statement
from .strongest_associations import StrongestAssociations

__all__ = [
    "BucketInvariants",
    "Count",
    "Custom",
    "NamedPeople",
    "P",
    "Probability",
    "SameValue",
    "Source",
    "Statement",
    "StrongestAssociations",
    "as_source",
    "read_knowledge",
    "read_probability",
    "read_statement",
    "several",
]

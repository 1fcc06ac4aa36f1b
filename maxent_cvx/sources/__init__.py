"""Information sources, one a file: each turns something an adversary knows into rows."""

from __future__ import annotations

from .base import Custom, Source, as_source, several
from .bucket_invariants import BucketInvariants
from .notation import read_knowledge, read_probability, read_statement
from .probability import P, Probability
from .statement import Statement
from .strongest_associations import StrongestAssociations

__all__ = [
    "BucketInvariants",
    "Custom",
    "P",
    "Probability",
    "Source",
    "Statement",
    "StrongestAssociations",
    "as_source",
    "read_knowledge",
    "read_probability",
    "read_statement",
    "several",
]

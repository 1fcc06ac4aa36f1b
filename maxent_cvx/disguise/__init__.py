"""The publisher's side: ways to disguise microdata before they are published."""

from __future__ import annotations

from .anatomy import anatomy, anatomy_buckets
from .linkage.similar_linkage import similar_linkage, similar_linkage_groups
from .mine_rules import mine_rules
from .mondrian import mondrian, mondrian_table
from .randomize import randomize
from .republish import republish
from .sanitize import Sanitized, sanitize

__all__ = [
    "Sanitized",
    "anatomy",
    "anatomy_buckets",
    "mine_rules",
    "mondrian",
    "mondrian_table",
    "randomize",
    "republish",
    "sanitize",
    "similar_linkage",
    "similar_linkage_groups",
]

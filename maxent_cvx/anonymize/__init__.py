"""The publisher's side: methods of anonymization of microdata."""

from __future__ import annotations

from .anatomy import anatomy, anatomy_buckets
from .channel import Channel, channel
from .merging import Merging, merge_buckets
from .mondrian import mondrian, mondrian_table
from .randomize import randomize
from .republish import republish
from .rules import Sanitized, mine_rules, sanitize
from .search import Search, search
from .similar_linkage import similar_linkage, similar_linkage_groups

__all__ = [
    "Channel",
    "Merging",
    "Sanitized",
    "Search",
    "anatomy",
    "anatomy_buckets",
    "channel",
    "merge_buckets",
    "mine_rules",
    "mondrian",
    "mondrian_table",
    "randomize",
    "republish",
    "sanitize",
    "search",
    "similar_linkage",
    "similar_linkage_groups",
]

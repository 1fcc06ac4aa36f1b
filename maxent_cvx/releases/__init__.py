"""Releases: the published views of the microdata that an adversary has."""

from __future__ import annotations

from .base import OUTSIDE, BucketView, View
from .generalized import GroupedRelease
from .partitioned import PartitionedRelease
from .qi_table import QITable
from .release import Release
from .series import ReleaseSeries

__all__ = [
    "OUTSIDE",
    "BucketView",
    "GroupedRelease",
    "PartitionedRelease",
    "QITable",
    "Release",
    "ReleaseSeries",
    "View",
]

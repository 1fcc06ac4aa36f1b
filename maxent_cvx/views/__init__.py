"""What is published: the views of the microdata that an adversary is handed."""

from __future__ import annotations

from .base import View
from .buckets import BucketView
from .grouped import OUTSIDE, GroupedRelease
from .partitioned.partitioned_release import PartitionedRelease
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

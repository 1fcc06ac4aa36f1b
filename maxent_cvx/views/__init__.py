"""What is published: the views of the microdata that an adversary is handed."""

from __future__ import annotations

from .base import View
from .grouped import OUTSIDE, GroupedRelease
from .qi_table import QITable
from .release import Release
from .series import ReleaseSeries

__all__ = ["OUTSIDE", "GroupedRelease", "QITable", "Release", "ReleaseSeries", "View"]

"""The explorer: a model under the hand, whose knowledge is moved while what follows from it is seen."""

from __future__ import annotations

from .explorer import Explorer, explore

__all__ = [
    "Explorer",
    "explore",
]

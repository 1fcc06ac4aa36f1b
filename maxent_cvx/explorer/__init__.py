"""The explorer: a model whose knowledge is changed interactively, with immediate display of the inferences."""

from __future__ import annotations

from .explorer import Explorer, explore

__all__ = ["Explorer", "explore"]

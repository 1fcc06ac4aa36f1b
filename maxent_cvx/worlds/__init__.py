"""Possible worlds: everything that a group's tuples and values may be, each as likely as its prior says."""

from __future__ import annotations

from .exact import linkage, posterior, r_robustness

__all__ = ["linkage", "posterior", "r_robustness"]

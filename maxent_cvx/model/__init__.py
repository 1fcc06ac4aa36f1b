"""The model: solve, bound, explain and save an adversary's knowledge."""

from __future__ import annotations

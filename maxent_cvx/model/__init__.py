"""The model: what an adversary knows, solved, bounded, explained, saved."""

from __future__ import annotations

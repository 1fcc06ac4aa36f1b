"""What an adversary believes of people before anything is published."""

from __future__ import annotations

from .distribution import QIDistribution

__all__ = ["QIDistribution"]

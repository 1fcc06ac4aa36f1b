"""Generalised values: how they are written, which exact values they stand for, and tables that are made of them."""

from .cells import generalised_cells
from .coverage import coverage, covers
from .dialects import SUPPRESSED, label_of
from .hierarchies import Hierarchies, check_readable, read_hierarchies

__all__ = [
    "SUPPRESSED",
    "Hierarchies",
    "check_readable",
    "coverage",
    "covers",
    "generalised_cells",
    "label_of",
    "read_hierarchies",
]

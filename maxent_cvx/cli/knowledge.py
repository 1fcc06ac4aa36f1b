"""What is known besides what is published: statements of the command line and of a file, and people by name."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ..errors import Infeasible
from ..sources import Statement, read_knowledge, read_statement
from ..sources.notation import read_statements
from .streams import DASH, read_text

__all__ = ["located", "statements_of", "where_of"]


def statements_of(options: argparse.Namespace) -> list[Statement]:
    """Read the statements of --know and --knowledge."""
    found = [replace(read_statement(text), where=f"--know {text!r}") for text in options.know]
    if options.knowledge == DASH:
        return [*found, *read_statements(read_text(DASH), "standard input")]
    return [*found, *(read_knowledge(options.knowledge) if options.knowledge else [])]


def where_of(knowledge: Mapping[str, Any]) -> dict[str, str]:
    """File and line of every piece of knowledge that has one, by its label."""
    return {label: where for label, source in knowledge.items() if (where := getattr(source, "where", None))}


def located(error: Infeasible, knowledge: Mapping[str, Any]) -> Infeasible:
    """The same error with file and line of every statement of the conflict."""
    labels = () if error.conflict is None else map(str, error.conflict.index)
    where = where_of(knowledge)
    if not (lines := [f"{label} ({where[label]})" for label in labels if label in where and "line" in where[label]]):
        return error
    found = Infeasible(f"{error}; {'; '.join(lines)}")
    found.conflict = error.conflict
    return found

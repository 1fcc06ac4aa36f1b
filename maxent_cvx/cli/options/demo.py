"""``maxent-cvx demo``: the hospital example of the paper."""

from __future__ import annotations

from ..parsing import Commands

__all__ = ["add"]


def add(commands: Commands) -> None:
    """Describe the command."""
    command = commands.add_parser(
        "demo",
        help="the hospital example of the paper, as a story",
        description="Tells what is inferred from ten patients in three buckets, as more and more is known.",
        example="maxent-cvx demo",
    )
    command.set_defaults(command="demo:run")

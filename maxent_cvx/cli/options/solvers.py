"""``maxent-cvx solvers``: what can be asked for by name."""

from __future__ import annotations

from ..parsing import Commands

__all__ = ["add"]


def add(commands: Commands) -> None:
    """Describe the command."""
    command = commands.add_parser(
        "solvers",
        help="list the solvers, for --solver",
        description="Lists the solvers, and which are installed; the first one is taken unless --solver says another.",
        example="maxent-cvx solvers",
    )
    command.set_defaults(command="solvers:run")

"""``maxent-cvx solvers``: what can be asked for by name."""

from __future__ import annotations

from ..parsing import Commands

__all__ = ["add"]


def add(commands: Commands) -> None:
    """Describe the command."""
    command = commands.add_parser("solvers", help="list the solvers")
    command.set_defaults(command="solvers:run")

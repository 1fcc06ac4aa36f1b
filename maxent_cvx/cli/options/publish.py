"""``maxent-cvx publish``: disguise a table, and write what is published."""

from __future__ import annotations

from ..parsing import Commands
from .tables import table_options

__all__ = ["add"]


def add(commands: Commands) -> None:
    """Describe the command."""
    command = commands.add_parser("publish", help="disguise a table; write the two tables that are published")
    table_options(command)
    command.add_argument("--method", choices=["anatomy"], default="anatomy")
    command.add_argument("--out", metavar="NAME", default="published", help="writes NAME_qi.csv and NAME_sa.csv")
    command.set_defaults(command="publish:run")

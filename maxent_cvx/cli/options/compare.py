"""``maxent-cvx compare``: one model with every solver."""

from __future__ import annotations

from ..parsing import Commands, whole
from .tables import table_options

__all__ = ["add"]


def add(commands: Commands) -> None:
    """Describe the command."""
    command = commands.add_parser(
        "compare",
        help="what every solver makes of one model, how precisely, and how fast",
        description="Solve one model with every solver: a release, and an adversary who knows strong associations.",
        example="maxent-cvx compare adult --rows 2000 --known 100 --solvers DUAL_NEWTON,CLARABEL --plot errors.png",
    )
    table_options(command)
    command.add_argument(
        "--bucket", metavar="B", help="column of the published buckets; without it, Anatomy makes them (--l)"
    )
    command.add_argument(
        "--known", type=whole, default=0, metavar="K", help="associations known, half of each kind (0)"
    )
    command.add_argument("--min-support", type=int, default=3, metavar="N", help="records behind an association (3)")
    command.add_argument("--solvers", metavar="A,B,...", help="names that 'maxent-cvx solvers' lists (all installed)")
    command.add_argument("--no-presolve", action="store_true", help="give them the problem as posed")
    command.add_argument("--json", action="store_true", help="print the table as one JSON document, and nothing else")
    command.add_argument("--out", metavar="FILE", help="write the table: .csv, or - for standard output")
    command.add_argument("--plot", metavar="FILE", help="draw errors against seconds: .png, .pdf or .svg")
    command.set_defaults(command="compare:run")

"""The command line: ``maxent-cvx demo | quantify | compare | publish | attack | solvers``."""

from __future__ import annotations

import pkgutil
import sys
from collections.abc import Sequence

from ..errors import MaxEntError
from .options import attack, compare, demo, publish, quantify, solvers
from .parsing import Parser

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; 0 if it worked, 2 with one line on stderr if the input is not usable."""
    options = parser().parse_args(arguments)
    try:
        command = pkgutil.resolve_name(f"{__package__}.{options.command}")  # which loads what the command needs
        command(options)
    except (MaxEntError, OSError) as error:
        print(f"maxent-cvx: error: {' '.join(str(error).split())}", file=sys.stderr)
        return 2
    return 0


def parser() -> Parser:
    """Describe the commands, in the order in which help lists them."""
    top = Parser(prog="maxent-cvx", description="What can an adversary infer from published data?")
    commands = top.add_subparsers(required=True, metavar="COMMAND")
    for described in (demo, solvers, quantify, compare, publish, attack):
        described.add(commands)
    return top

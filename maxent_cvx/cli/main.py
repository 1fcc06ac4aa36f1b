"""The command line: ``maxent-cvx demo | quantify | compare | publish | attack | solvers``."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from ..errors import MaxEntError
from ..solvers import available
from . import attack, compare, publish, quantify
from .demo import story
from .parsing import Parser

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; 0 if it worked, 2 with one line on stderr if the input is not usable."""
    options = parser().parse_args(arguments)
    try:
        options.command(options)
    except (MaxEntError, OSError) as error:
        print(f"maxent-cvx: error: {' '.join(str(error).split())}", file=sys.stderr)
        return 2
    return 0


def parser() -> Parser:
    """Describe the commands, in the order in which help lists them."""
    top = Parser(prog="maxent-cvx", description="What can an adversary infer from published data?")
    commands = top.add_subparsers(required=True, metavar="COMMAND")

    command = commands.add_parser("demo", help="the hospital example of the paper, as a story")
    command.set_defaults(command=lambda options: print("\n\n".join(story())))

    command = commands.add_parser("solvers", help="list the solvers")
    command.set_defaults(command=lambda options: print(available().to_string()))

    for described in (quantify, compare, publish, attack):
        described.add(commands)
    return top

"""The command line: ``maxent-cvx demo | quantify | report | compare | publish | attack | solvers``."""

from __future__ import annotations

import argparse
import pkgutil
import sys
import traceback
import warnings
from collections.abc import Sequence

from ..errors import Infeasible, MaxEntError
from .options import attack, compare, demo, publish, quantify, report, solvers
from .parsing import Parser, Version
from .statuses import CONTRADICTORY, DEFECT, INTERRUPTED, NO_READER, UNUSABLE
from .streams import check_streams, no_reader_left, talking
from .wording import in_options

__all__ = ["main"]

DESCRIPTION = """\
What can be inferred about people from what is published, and from what else is known?

Exit status: 0; 1 if somebody is exposed above --fail-above; 2 if there is no answer, such as for bad input; \
3 if what is known contradicts what is published."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line, and give its exit status; what is wrong is one line on standard error."""
    try:
        try:
            status = _run(parser().parse_args(arguments))
        finally:  # of --help, too, which ends the program
            sys.stdout.flush()
    except BrokenPipeError:
        no_reader_left()
        return NO_READER
    except KeyboardInterrupt:
        print("maxent-cvx: interrupted", file=sys.stderr)
        return INTERRUPTED
    return status


def _run(options: argparse.Namespace) -> int:
    """Do what is asked for."""
    try:
        check_streams(options)
        with talking(options), warnings.catch_warnings():
            warnings.simplefilter("always", UserWarning)
            warnings.showwarning = lambda message, *_, **__: _say("warning", in_options(str(message), options))
            command = pkgutil.resolve_name(f"{__package__}.{options.command}")  # which loads what the command needs
            return command(options) or 0
    except BrokenPipeError:
        raise
    except (MaxEntError, OSError) as error:
        status = CONTRADICTORY if isinstance(error, Infeasible) else UNUSABLE
        is_gone = isinstance(error, FileNotFoundError) and error.filename is not None
        said = f"there is no file {error.filename!r}" if is_gone else str(error)  # type: ignore[union-attr]
        message = in_options(" ".join(said.split()), options)
        if getattr(options, "json", False):
            from .document import failure  # which needs a table

            failure(options, error, message, status)
        _say("error", message)
        return status
    except Exception:  # a defect of this program; its status must not be that of somebody who is exposed
        traceback.print_exc()
        return DEFECT


def _say(what: str, message: str) -> None:
    """Print a line on standard error."""
    print(f"maxent-cvx: {what}: {' '.join(message.split())}", file=sys.stderr)


def parser() -> Parser:
    """Describe the commands, in the order in which help lists them."""
    example = "maxent-cvx demo\nmaxent-cvx quantify people.csv --qi age,sex --sa disease --l 3 --fail-above 0.5"
    top = Parser(prog="maxent-cvx", description=DESCRIPTION, example=example)
    top.add_argument("--version", action=Version, nargs=0, help="print the version, and end")
    commands = top.add_subparsers(required=True, metavar="COMMAND")
    for described in (demo, quantify, report, publish, attack, compare, solvers):
        described.add(commands)
    return top

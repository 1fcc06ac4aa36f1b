"""The command line: ``maxent-cvx demo | quantify | report | compare | publish | attack | solvers``."""

from __future__ import annotations

import argparse
import os
import pkgutil
import sys
import traceback
import warnings
from collections.abc import Sequence

from ..errors import Infeasible, MaxEntError
from .options import attack, compare, demo, publish, quantify, report, solvers
from .parsing import Parser, UsageError, Version, is_json
from .statuses import CONTRADICTORY, DEFECT, INTERRUPTED, NO_READER, UNUSABLE
from .streams import ForPeople, Output, Unwritable, check_inputs_kept, check_streams, discard, talking
from .wording import in_options

__all__ = ["main"]

DESCRIPTION = """\
What can be inferred about people from what is published, and from what else is known?

Exit status: 0; 1 if somebody is exposed above --fail-above; 2 if there is no answer, such as for bad input; \
3 if what is known contradicts what is published."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status; an error is one line on standard error."""
    if sys.stderr is None:  # closed; print() would take standard output instead
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    if sys.stdout is None:
        _say("error: standard output is closed; redirect it to a file, or to /dev/null")
        return UNUSABLE
    try:
        try:
            return _run(sys.argv[1:] if arguments is None else [*arguments])
        finally:  # of --help, too, which ends the program
            Output(sys.stdout).flush()
    except BrokenPipeError:
        discard(sys.stdout)
        return NO_READER
    except Unwritable as error:
        discard(sys.stdout)
        _say(f"error: {error}")
        return UNUSABLE


def _run(arguments: Sequence[str]) -> int:
    """Run a command; what ends it without an answer is a document, too, if that is what was asked for."""
    options = argparse.Namespace(json=is_json(arguments), table=[])
    try:
        options = parser().parse_args(arguments)
        check_streams(options)
        check_inputs_kept(options)
        with talking(options), warnings.catch_warnings():
            warnings.simplefilter("always", UserWarning)
            warnings.showwarning = lambda message, *_, **__: _say(f"warning: {in_options(str(message), options)}")
            command = pkgutil.resolve_name(f"{__package__}.{options.command}")  # which loads what the command needs
            return command(options) or 0
    except (BrokenPipeError, Unwritable):
        raise
    except UsageError as error:
        return _failed(options, error, str(error), UNUSABLE)
    except (MaxEntError, OSError) as error:
        status = CONTRADICTORY if isinstance(error, Infeasible) else UNUSABLE
        is_gone = isinstance(error, FileNotFoundError) and error.filename is not None
        said = f"there is no file {error.filename!r}" if is_gone else str(error)  # type: ignore[union-attr]
        return _failed(options, error, in_options(" ".join(said.split()), options), status)
    except UnicodeEncodeError as error:
        why = f"standard output is in {error.encoding}, which lacks some characters; set PYTHONIOENCODING=utf-8"
        return _failed(options, error, why, UNUSABLE)
    except KeyboardInterrupt as error:
        return _failed(options, error, "interrupted", INTERRUPTED, "interrupted")
    except Exception as error:  # a defect of this program; its status must not be that of somebody who is exposed
        _print_error(traceback.format_exc())
        return _failed(options, error, f"a defect of this program, {type(error).__name__}; please report it", DEFECT)


def _failed(
    options: argparse.Namespace, error: BaseException, message: str, status: int, line: str | None = None
) -> int:
    """Say why there is no answer, on standard error and in the document; the status is returned."""
    _say(line or f"error: {message}")
    if getattr(options, "json", False):
        from .document import failure  # which needs a table

        failure(options, error, message, status)
    return status


def _say(message: str) -> None:
    """Print a line on standard error."""
    _print_error(f"maxent-cvx: {' '.join(message.split())}\n")


def _print_error(text: str) -> None:
    """Print on standard error; if that cannot be written, the exit status has to be enough."""
    try:
        print(text, end="", file=ForPeople(sys.stderr), flush=True)
    except (BrokenPipeError, Unwritable):
        discard(sys.stderr)


def parser() -> Parser:
    """Describe the commands, in the order in which help lists them."""
    example = "maxent-cvx demo\nmaxent-cvx quantify people.csv --qi age,sex --sa disease --l 3 --fail-above 0.5"
    top = Parser(prog="maxent-cvx", description=DESCRIPTION, example=example)
    top.add_argument("--version", action=Version, nargs=0, help="print the version, and end")
    commands = top.add_subparsers(required=True, metavar="COMMAND")
    for described in (demo, quantify, report, publish, attack, compare, solvers):
        described.add(commands)
    return top

"""``maxent-cvx``: runs a command, and reports errors as an exit status and one line on standard error."""

from __future__ import annotations

import os
import pkgutil
import sys
import traceback
import warnings
from collections.abc import Sequence

from .._utils.errors import Infeasible, MaxEntError
from .options import UsageError, is_json, parse
from .streams import (
    CONTRADICTORY,
    DEFECT,
    INTERRUPTED,
    NO_READER,
    UNUSABLE,
    MessageStream,
    Output,
    Unwritable,
    check_files,
    discard,
    left_out,
    redirect_messages,
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status; an error is one line on standard error."""
    if sys.stderr is None:  # closed; print() would write to standard output instead
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    if sys.stdout is None:
        _say("error: standard output is closed; redirect it to a file, or to /dev/null")
        return UNUSABLE
    try:
        try:
            return _run(sys.argv[1:] if arguments is None else [*arguments])
        finally:  # after --help too, which raises SystemExit
            Output(sys.stdout).flush()
    except BrokenPipeError:
        discard(sys.stdout)
        return NO_READER
    except Unwritable as error:
        discard(sys.stdout)
        _say(f"error: {error}")
        return UNUSABLE


def _run(arguments: Sequence[str]) -> int:
    """Run a command; with --json an error is reported as a document too."""
    tables: Sequence[str] = ()
    writes_json = is_json(arguments)
    left_out().clear()

    def fail(error: BaseException, message: str, status: int, line: str | None = None) -> int:
        _say(line or f"error: {message}")
        if writes_json:
            from .output import write_failure  # imports pandas

            write_failure(tables, error, message, status)
        return status

    try:
        options = parse(arguments)
        tables, writes_json = getattr(options, "tables", ()), options.json
        check_files(options)
        with redirect_messages(options), warnings.catch_warnings():
            warnings.simplefilter("always", UserWarning)
            warnings.showwarning = lambda message, *_, **__: _say(f"warning: {message}")
            command = pkgutil.resolve_name(f"{__package__}.{options.command}")  # imports one command only
            return command(options) or 0
    except (BrokenPipeError, Unwritable):
        raise
    except UsageError as error:
        return fail(error, str(error), UNUSABLE)
    except (MaxEntError, OSError) as error:
        status = CONTRADICTORY if isinstance(error, Infeasible) else UNUSABLE
        is_missing = isinstance(error, FileNotFoundError) and error.filename is not None
        message = f"file {error.filename!r} does not exist" if is_missing else str(error)  # type: ignore[union-attr]
        return fail(error, " ".join(message.split()), status)
    except UnicodeEncodeError as error:
        return fail(
            error,
            f"standard output is in {error.encoding}, which lacks some characters; set PYTHONIOENCODING=utf-8",
            UNUSABLE,
        )
    except KeyboardInterrupt as error:
        return fail(error, "interrupted", INTERRUPTED, "interrupted")
    except Exception as error:  # a bug; its exit status must not mean that somebody is exposed
        _print_error(traceback.format_exc())
        return fail(error, f"internal error, {type(error).__name__}; please report it", DEFECT)


def _say(message: str) -> None:
    """Print one line on standard error."""
    _print_error(f"maxent-cvx: {' '.join(message.split())}\n")


def _print_error(text: str) -> None:
    """Print on standard error; if it cannot be written, only the exit status reports the error."""
    try:
        print(text, end="", file=MessageStream(sys.stderr), flush=True)
    except (BrokenPipeError, Unwritable):
        discard(sys.stderr)

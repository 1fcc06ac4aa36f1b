"""Standard input and output, for which a dash stands in the place of a file."""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from contextvars import ContextVar
from typing import TextIO

from ..errors import TableError, arguments

__all__ = ["DASH", "check_streams", "data_stream", "no_reader_left", "read_text", "source_name", "talking"]

#: Stands for standard input, or output.
DASH = "-"
#: Options that name what is written.
WRITTEN = ("out", "plot", "report")
#: Options without a name of their own.
POSITIONAL = ("table", "more", "tables", "reports")

#: Where data go that another program reads, while what is said for people goes elsewhere.
_data: ContextVar[TextIO | None] = ContextVar("data", default=None)


def source_name(path: str) -> str:
    """What a file is called in messages."""
    return "standard input" if path == DASH else repr(path)


def read_text(path: str) -> str:
    """Read a text in UTF-8, or standard input, whole."""
    if path != DASH:
        return arguments.text_of_file(path, "the file")
    try:
        return sys.stdin.read()
    except UnicodeDecodeError as error:
        raise TableError(f"standard input is no text in {error.encoding}: {error.reason}; write it so") from None


def check_streams(options: argparse.Namespace) -> None:
    """Refuse two readers of standard input, or two writers of standard output, before any work."""
    readers = []
    for name, value in vars(options).items():
        files = [one[1] if isinstance(one, tuple) else one for one in (value if isinstance(value, list) else [value])]
        option = "TABLE" if name in POSITIONAL else f"--{name.replace('_', '-')}"
        readers += [option] * (files.count(DASH) if name not in WRITTEN else 0)
    if len(readers) > 1:
        raise TableError(f"{' and '.join(readers)} both read standard input (-), which is there once; give a file")
    if getattr(options, "json", False) and getattr(options, "out", None) == DASH:
        raise TableError("--json and --out - both write to standard output; give --out a file")


@contextmanager
def talking(options: argparse.Namespace) -> Iterator[None]:
    """Take what is printed for people out of the way of programs, which then find their data alone on standard output.

    With ``--json`` it goes nowhere, as the document says it all; with ``--out -`` to standard error.
    """
    is_json = getattr(options, "json", False)
    if not is_json and getattr(options, "out", None) != DASH:
        yield
        return
    reset = _data.set(sys.stdout)
    try:
        with redirect_stdout(io.StringIO() if is_json else sys.stderr):
            yield
    finally:
        _data.reset(reset)


def data_stream() -> TextIO:
    """Standard output, for data that another program reads."""
    return _data.get() or sys.stdout


def no_reader_left() -> None:
    """Point standard output at nothing: its reader is gone, and the interpreter writes what is left at its end."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nothing, sys.stdout.fileno())
    except (OSError, ValueError, AttributeError):  # no real stream
        sys.stdout = io.StringIO()
    finally:
        os.close(nothing)

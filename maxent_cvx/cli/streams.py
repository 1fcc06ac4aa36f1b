"""Standard input, output and error, and the exit statuses."""

from __future__ import annotations

import argparse
import io
import os
import re
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, TextIO

from .._utils.errors import TableError, one_line, visible
from .._utils.validation import read_file_text

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "CONTRADICTORY",
    "DASH",
    "DEFECT",
    "EXPOSED",
    "INTERRUPTED",
    "NO_READER",
    "UNDECIDED",
    "UNUSABLE",
    "ForPeople",
    "Output",
    "Unwritable",
    "check_inputs_kept",
    "check_streams",
    "data_stream",
    "discard",
    "in_options",
    "outputs",
    "read_text",
    "redirect_messages",
    "say",
    "source_name",
    "table_text",
]

# Exit statuses, which scripts rely on.


#: Somebody is exposed above what --fail-above allows.
EXPOSED = 1
#: There is no answer: the input cannot be used, or a solver has none.
UNUSABLE = 2
#: What is known contradicts what is published.
CONTRADICTORY = 3
#: Nobody is exposed above what --fail-above allows, but the values cannot be judged as they are; --within decides.
UNDECIDED = 4
#: A defect of this program: EX_SOFTWARE of sysexits.h. Python's own status would be that of somebody who is exposed.
DEFECT = 70
#: The user has stopped it: 128 and SIGINT's 2, as shells give.
INTERRUPTED = 130
#: Who read standard output is gone: 128 and SIGPIPE's 13, as shells give for a program that this has ended.
NO_READER = 141


#: Stands for standard input, or output.
DASH = "-"
#: Options that name files to be written.
WRITTEN = ("out", "plot", "report")
#: What each method of publish appends to its --out.
PUBLISHED = {"mondrian": [""], "rules": ["_rules", "_qi"]}
#: Options without a name of their own.
POSITIONAL = ("table", "more", "tables", "reports")

#: Where data go that another program reads, while messages for people go elsewhere.
_data: ContextVar[TextIO | None] = ContextVar("data", default=None)


class Unwritable(TableError):
    """Standard output cannot be written: the disk is full, say."""


class Output(io.TextIOBase):
    """A stream for data; an error of writing it, but for a reader who is gone, is :class:`Unwritable`."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        """Write a text as it is; to a terminal, which shows it to people, with control characters as escapes."""
        self._tried(lambda: self.stream.write(visible(text) if self.isatty() else text))
        return len(text)

    def flush(self) -> None:
        """Write what is buffered."""
        self._tried(self.stream.flush)

    def close(self) -> None:
        """Leave the stream open, and do not flush it when this object is forgotten, where an error would be lost."""

    def isatty(self) -> bool:
        """Whether it is a terminal."""
        return self.stream.isatty()

    def _tried(self, write: Callable[[], object]) -> None:
        try:
            write()
        except BrokenPipeError:
            raise
        except OSError as error:
            raise Unwritable(f"standard output cannot be written: {error.strerror or error}") from error


class ForPeople(Output):
    """A stream for people: control characters are escapes, as are characters that its encoding lacks."""

    def write(self, text: str) -> int:
        """Write a text."""
        encoding = self.stream.encoding or "utf-8"
        shown = visible(text).encode(encoding, "backslashreplace").decode(encoding)
        self._tried(lambda: self.stream.write(shown))
        return len(text)


def source_name(path: str) -> str:
    """What a file is called in messages."""
    return "standard input" if path == DASH else repr(path)


def read_text(path: str) -> str:
    """Read a text in UTF-8, or standard input, whole."""
    if path != DASH:
        return read_file_text(path, "the file")
    if sys.stdin is None:
        raise TableError("standard input is closed; give a file")
    try:
        return sys.stdin.read()
    except UnicodeDecodeError as error:
        raise TableError(f"standard input is no text in {error.encoding}: {error.reason}; write it so") from None


def check_streams(options: argparse.Namespace) -> None:
    """Refuse two readers of standard input, or two writers of standard output, before any work."""
    readers = [option for option, text in _given(options) if text == DASH]
    if len(readers) > 1:
        raise TableError(f"{' and '.join(readers)} both read standard input (-), which is there once; give a file")
    if getattr(options, "json", False) and getattr(options, "out", None) == DASH:
        raise TableError("--json and --out - both write to standard output; give --out a file")


def outputs(options: argparse.Namespace) -> list[tuple[str, str]]:
    """The files that a command writes, each with the option that names it."""
    named = [(f"--{name}", path) for name in WRITTEN if (path := getattr(options, name, None)) not in (None, DASH)]
    if options.command != "publish:run":
        return named
    parts = PUBLISHED.get(options.method, ["_qi", "_sa"])
    return [(option, f"{path}{part}.csv") for option, path in named for part in parts]


def check_inputs_kept(options: argparse.Namespace) -> None:
    """Refuse to write a file that is also read, under whichever name, or to write one file twice, before any work."""
    read = {found: option for option, text in _given(options) if (found := _identity(text)) is not None}
    written: dict[object, str] = {}
    for option, path in outputs(options):
        now = _identity(path)
        if now in read:
            raise TableError(f"{option} would overwrite {path!r}, which {read[now]} is read from; give another name")
        for same in {os.path.realpath(path), now} - {None}:
            if same in written:
                raise TableError(f"{written[same]} and {option} would both write {path!r}; give each a file of its own")
            written[same] = option


def _given(options: argparse.Namespace) -> list[tuple[str, str]]:
    """Every text that is given, with its option, but for those that name files to be written."""
    found: list[tuple[str, str]] = []
    for name, value in vars(options).items():
        option = "TABLE" if name in POSITIONAL else f"--{name.replace('_', '-')}"
        for one in value if isinstance(value, list) else [value]:
            text = one[1] if isinstance(one, tuple) else one
            if isinstance(text, str) and name not in (*WRITTEN, "command"):
                found.append((option, text))
    return found


def _identity(path: str) -> tuple[int, int] | None:
    """Device and number of a file, which are the same under all its names; None if there is no file."""
    try:
        found = os.fstat(sys.stdin.fileno()) if path == DASH else os.stat(path)
    except (OSError, ValueError, AttributeError):
        return None
    return (found.st_dev, found.st_ino) if stat.S_ISREG(found.st_mode) else None


@contextmanager
def redirect_messages(options: argparse.Namespace) -> Iterator[None]:
    """Take messages for people out of the way of programs, which then find their data alone on standard output."""
    stdout = sys.stdout
    messages: TextIO = ForPeople(sys.stderr if getattr(options, "out", None) == DASH else stdout)  # type: ignore[assignment]
    reset = _data.set(Output(stdout))  # type: ignore[arg-type]
    try:
        with redirect_stdout(io.StringIO() if getattr(options, "json", False) else messages):
            yield
    finally:
        _data.reset(reset)


def say(*sentences: object) -> None:
    """Print sentences for people, each on a line of its own, whatever line breaks the labels in it have."""
    for sentence in sentences:
        print(one_line(str(sentence)))


def table_text(table: pd.DataFrame, **settings: Any) -> str:
    """Write a table for people, each row on a line of its own, whatever line breaks its labels have."""
    shown = table.map(one_line).rename(index=one_line, columns=one_line).rename_axis(index=one_line, columns=one_line)
    return shown.to_string(**settings)


def data_stream() -> TextIO:
    """Standard output, for data that another program reads."""
    return _data.get() or Output(sys.stdout)  # type: ignore[return-value]


def discard(stream: TextIO) -> None:
    """Point a stream at nothing: it cannot be written, and the interpreter would try again at its end, and fail."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nothing, stream.fileno())
    except (OSError, ValueError, AttributeError):  # not a real stream
        pass
    finally:
        os.close(nothing)


# Messages in the words of the command line: what a function calls ``exempt=1`` is ``--exempt 1`` here.


#: Parameters of functions, where the option of the same meaning has another name.
RENAMED = {
    "hierarchies": "hierarchy", "method": "strategy", "sa_values": "values", "sa_distribution": "distribution",
}  # fmt: skip
#: What a user has written, which stays as it is: quoted texts, and statements.
OWN = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|(?:\b[PE]|#)\([^()]*\)"
#: A parameter with its value, as Python is told: exempt=1, id='Pseudonym', limit=..., qi=[], safe=(0.5, 1).
VALUE = r"\.\.\.|\[[^\]]*\]|\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}|\([^()]*\)|-?[\w.]*\w|'[^']*'"
TOLD = rf"\b(?P<name>[a-z][a-z_]*)=(?P<value>{VALUE})?|\b(?P<bare>[a-z]+_[a-z_]+)\b"
EITHER = re.compile(f"{OWN}|{TOLD}")
#: Advice that only a program can follow, and what it is here.
ADVICE = tuple(
    (re.compile(said), instead)
    for said, instead in (
        (r"make (it|statements) vague with \.about\(value, eps\)", r"make \1 vague, as in '= 0.3 +- 0.05'"),
        (r"drop those rows with \.dropna\(subset=\[\.\.\.\]\)", "leave those rows out"),
        (r"make 'missing' a value of its own with \.fillna\('\?'\)", "give what is missing a value of its own"),
        (r"repeat the rows, table\.loc\[.*?\]\)\]\.drop\(columns='(.*?)'\)", r"if it is that, give --count \1"),
        (r"say who that is with MaxEnt\(release, people=.*?\}\)", "say who that is (--people)"),
        (r"P\(value, who=\.\.\.\); leave people out", "P(value | pseudonym); leave out --people"),
        (r"leave it out, \.drop\(columns=.*?\)", "rename it or leave it out"),
        (r"Judge it by itself, sensitive=\{'(.*?)': None\}", r"Judge it by itself, --sa \1"),
        (r",? or (pass|solve with) allow_inaccurate=True( to see how far it is off)?", ""),
        (r"use (\w+), which is more precise, or polish=True, change its tolerances", r"--solver \1 is more precise"),
    )
)
#: The role of a column.
ROLE = re.compile(r"\b(given as|and as) (qi|sa|bucket|count|id|population)\b")


def in_options(message: str, options: argparse.Namespace) -> str:
    """Write the parameters of functions in a message as the options of the command that was called."""

    def option(found: re.Match[str]) -> str:
        name = RENAMED.get(found["name"] or "", found["name"] or found["bare"])
        if name is None or name not in vars(options):
            return found[0]
        return f"--{name.replace('_', '-')} {_as_typed(found['value'] or '')}".rstrip()

    for said, instead in ADVICE:
        message = said.sub(instead, message)
    return ROLE.sub(r"\1 --\2", EITHER.sub(option, message))


def _as_typed(value: str) -> str:
    """Write a value as it is typed after an option."""
    if value.startswith("{"):
        return "..."
    plain = re.sub(r"['\[\]()]", "", value)
    return "" if plain in ("True", "None") else re.sub(r",\s+", ",", plain)

"""Standard input, output and error, and the exit statuses."""

from __future__ import annotations

import io
import os
import stat
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, TextIO

from .._utils.errors import TableError, one_line, shortened, visible
from .._utils.validation import check_path, read_file_text

if TYPE_CHECKING:
    import pandas as pd

    from .options import Options

# Exit statuses, which scripts rely on.

#: Somebody is exposed above --fail-above.
EXPOSED = 1
#: No result: the input is invalid, or the solver has failed.
UNUSABLE = 2
#: The knowledge contradicts the published data.
CONTRADICTORY = 3
#: Nobody is exposed above --fail-above, but the values cannot be compared as they are; --within decides.
UNDECIDED = 4
#: Internal error: EX_SOFTWARE of sysexits.h. Python's own status, 1, would mean that somebody is exposed.
DEFECT = 70
#: Interrupted: 128 and SIGINT's 2, as in shells.
INTERRUPTED = 130
#: Broken pipe: 128 and SIGPIPE's 13, as in shells.
NO_READER = 141

#: Denotes standard input or output.
DASH = "-"
#: Options that name input files, and options that name output files.
READ = (
    "table", "more", "sa_table", "hierarchy", "population", "knowledge", "people", "original", "baseline", "within", "qi_table",
    "distribution", "before", "before_sa", "prior",
)  # fmt: skip
WRITTEN = ("out", "plot", "report")
#: Suffixes that each method of publish appends to --out; other methods write the two tables of buckets.
PUBLISHED = {"mondrian": [""], "search": ["", "_qi", "_sa"], "rules": ["_rules", "_qi"]}

#: The stream of data for other programs, separate from messages.
_data: ContextVar[TextIO | None] = ContextVar("data", default=None)
#: The rows with missing cells that the running command has dropped, by table.
_left_out: ContextVar[list[dict[str, object]] | None] = ContextVar("left_out", default=None)


class Unwritable(TableError):
    """Standard output cannot be written, for example because the disk is full."""


class Output(io.TextIOBase):
    """A stream for data; write errors other than broken pipes are raised as :class:`Unwritable`."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        """Write a text unchanged; to a terminal, with control characters escaped."""
        self._try(lambda: self.stream.write(visible(text) if self.isatty() else text))
        return len(text)

    def flush(self) -> None:
        """Flush the buffer."""
        self._try(self.stream.flush)

    def close(self) -> None:
        """Leave the stream open and unflushed, since an error while this object is collected would be lost."""

    def isatty(self) -> bool:
        """Return whether the stream is a terminal."""
        return self.stream.isatty()

    def _try(self, write: Callable[[], object]) -> None:
        try:
            write()
        except BrokenPipeError:
            raise
        except OSError as error:
            raise Unwritable(f"standard output cannot be written: {error.strerror or error}") from error


class MessageStream(Output):
    """A stream for messages, in which control characters and characters missing in its encoding are escaped."""

    def write(self, text: str) -> int:
        """Write a text, escaped."""
        encoding = self.stream.encoding or "utf-8"
        shown = visible(text).encode(encoding, "backslashreplace").decode(encoding)
        self._try(lambda: self.stream.write(shown))
        return len(text)


def source_name(path: str) -> str:
    """Return the name of a file in messages."""
    return "standard input" if path == DASH else repr(path)


def read_text(path: str) -> str:
    """Read all of a text file, or of standard input, in UTF-8."""
    if path != DASH:
        return read_file_text(path, "the file")
    if sys.stdin is None:
        raise TableError("standard input is closed; give a file")
    if (buffer := getattr(sys.stdin, "buffer", None)) is None:
        return sys.stdin.read()
    try:
        return io.TextIOWrapper(io.BytesIO(buffer.read()), encoding="utf-8-sig").read()
    except UnicodeDecodeError as error:
        raise TableError(
            f"standard input is not UTF-8 text ({error.reason} at byte {error.start}); save it as UTF-8"
        ) from None


def read_bytes(path: str) -> bytes:
    """Read all of a file, or of standard input."""
    if path != DASH:
        name = check_path(path, "the file")
        try:
            return name.read_bytes()
        except OSError as error:
            raise TableError(f"{path!r} cannot be read: {error.strerror or error}") from None
    buffer = getattr(sys.stdin, "buffer", None)
    return buffer.read() if buffer is not None else read_text(DASH).encode()


def check_files(options: Options) -> None:
    """Refuse, before any work, two uses of standard input, two outputs to one file, and an output that is an input."""
    files = [
        ("TABLE" if name in ("table", "more") else flag(name), path)
        for name in READ
        for path in _paths(getattr(options, name, None))
    ]
    readers = [option for option, path in files if path == DASH]
    if len(readers) > 1:
        raise TableError(f"{' and '.join(readers)} both read standard input (-); give a file for all but one")
    if options.json and options.out == DASH:
        raise TableError("--json and --out - both write to standard output; give a file for --out")
    read = {identity: option for option, path in files if (identity := _identity(path)) is not None}
    written: dict[object, str] = {}
    for option, path in output_files(options):
        identity = _identity(path)
        if identity in read:
            raise TableError(f"{option} would overwrite {path!r}, which {read[identity]} reads; choose another name")
        for same in {os.path.realpath(path), identity} - {None}:
            if same in written:
                raise TableError(f"{written[same]} and {option} would both write {path!r}; choose different files")
            written[same] = option


def flag(name: str) -> str:
    """Return an option as it is typed."""
    return f"--{name.replace('_', '-')}"


def _paths(value: object) -> list[str]:
    """Return the paths in the value of an option; hierarchies are pairs of an attribute and a path."""
    values = value if isinstance(value, tuple) else (value,)
    return [text for option in values if isinstance(text := option[1] if isinstance(option, tuple) else option, str)]


def output_files(options: Options) -> list[tuple[str, str]]:
    """Return the files that a command writes, each with the option that names it."""
    named = [(f"--{name}", path) for name in WRITTEN if (path := getattr(options, name, None)) not in (None, DASH)]
    if (method := getattr(options, "method", None)) is None:
        return named
    parts = PUBLISHED.get(method, ["_qi", "_sa"])
    return [(option, f"{path.removesuffix('.csv')}{part}.csv") for option, path in named for part in parts]


def _identity(path: str) -> tuple[int, int] | None:
    """Return device and inode of a file, which are the same for all its names; None if it does not exist."""
    try:
        status = os.fstat(sys.stdin.fileno()) if path == DASH else os.stat(path)
    except (OSError, ValueError, AttributeError):
        return None
    return (status.st_dev, status.st_ino) if stat.S_ISREG(status.st_mode) else None


@contextmanager
def redirect_messages(options: Options) -> Iterator[None]:
    """Reserve standard output for data: drop messages with --json, and write them to standard error with --out -."""
    stdout = sys.stdout
    messages: TextIO = MessageStream(sys.stderr if options.out == DASH else stdout)  # type: ignore[assignment]
    data = _data.set(Output(stdout))  # type: ignore[arg-type]
    try:
        with redirect_stdout(io.StringIO() if options.json else messages):
            yield
    finally:
        _data.reset(data)


def left_out() -> list[dict[str, object]]:
    """Return the list of tables from which the running command has dropped rows, to which entries are appended."""
    if (omissions := _left_out.get()) is None:
        _left_out.set(omissions := [])
    return omissions


def say(*sentences: object) -> None:
    """Print each sentence on one line, even if its labels contain line breaks."""
    for sentence in sentences:
        print(one_line(str(sentence)))


def warn(sentence: str) -> None:
    """Warn of input that may be wrong; the command prints the warning and continues."""
    warnings.warn(sentence, stacklevel=2)


def table_text(table: pd.DataFrame, **settings: Any) -> str:
    """Format a table with each row on one line, even if labels contain line breaks; long labels are shortened."""

    def short(label: object) -> object:
        return shortened(str(one_line(label))) if isinstance(label, str) else label

    shown = table.map(short).rename(index=short, columns=short).rename_axis(index=short, columns=short)
    return shown.to_string(**settings)


def data_stream() -> TextIO:
    """Return standard output, for data that another program reads."""
    return _data.get() or Output(sys.stdout)  # type: ignore[return-value]


def discard(stream: TextIO) -> None:
    """Redirect a stream to the null device; otherwise the interpreter would flush it at exit, and fail again."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nothing, stream.fileno())
    except (OSError, ValueError, AttributeError):  # not a real stream
        pass
    finally:
        os.close(nothing)

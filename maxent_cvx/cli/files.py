"""Tables in files as they come: CSV with any separator, encoding and decimal sign; Excel; Parquet.

What a CSV file looks like is detected, unless options say it, and said in a line if it is not commas, points and UTF-8:

* the encoding is that of a byte order mark, UTF-16 if many bytes are zero, UTF-8 if all bytes are valid, or else the likeliest
  (:mod:`.encodings`);
* lines above the header that fill at most half of its cells, such as a title, are left out;
* the separator is the sign among ``, ; tab |`` with which the most first lines have the same number of cells, above one;
* the decimal sign is the comma if the cells of some column are numbers with a decimal comma.

A column has thousands, "1.234,5" or "1,234.5", if all its cells are such numbers, and not if they are dates. Integers stay
integers beside missing cells, and digits with leading zeros are codes.
"""

from __future__ import annotations

import codecs
import csv
import io
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib.util import find_spec
from itertools import islice, zip_longest
from pathlib import Path

import numpy as np
import pandas as pd

from .._utils.errors import MaxEntError, TableError, join_names, unknown_name
from .encodings import likeliest_encoding
from .streams import read_bytes, say, source_name

#: The signs that cells may be separated by, the likeliest first.
SEPARATORS = (",", ";", "\t", "|")
#: Byte order marks and their encodings; that of UTF-32 begins with that of UTF-16.
MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF32_LE, "utf-32"), (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"),
)  # fmt: skip
#: Bytes of which many, one in this number, are zero in UTF-16 without a mark.
FIRST_BYTES, MANY_ZEROS = 10_000, 6
#: Lines by which the separator and the decimal sign are detected.
FIRST_LINES = 200
#: Numbers whose thousands may be separated, by their decimal sign; digits with leading zeros are codes.
NUMBERS = {
    ",": r"[+-]?(?:0|[1-9]\d*|[1-9]\d{0,2}(?:\.\d{3})+)(?:,\d+)?",
    ".": r"[+-]?(?:0|[1-9]\d*|[1-9]\d{0,2}(?:,\d{3})+)(?:\.\d+)?",
}
#: How dates are written, besides the standard form; and values that are looked at first.
DATE_FORMS, FIRST_DATES = ("%Y-%m-%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%Y/%m/%d", "%d-%m-%Y"), 100
#: What a missing cell of numbers may be written as; pandas reads these.
MISSING = ("", "NA", "N/A", "n/a", "NaN", "nan", "null", "NULL", "None", "#N/A", "<NA>")
#: Endings of Excel files, of which one sheet is read.
EXCEL = (".xlsx", ".xlsm")


@dataclass(frozen=True)
class Format:
    """How a file is written; None is detected, and of a further table of a command also what does not fit it."""

    separator: str | None = None
    encoding: str | None = None
    decimal: str | None = None
    sheet: str | None = None
    is_further: bool = False


def read_table(path: str, form: Format = Format()) -> pd.DataFrame:
    """Read a table of people: a CSV file or standard input, an Excel or a Parquet file."""
    ending = Path(path).suffix.lower()
    if ending == ".parquet":
        return _read_parquet(path)
    return _read_excel(path, form) if ending in EXCEL else read_csv(path, form=form)


def read_csv(path: str, dtype: type | None = None, form: Format = Format()) -> pd.DataFrame:
    """Read a CSV file with a header, or standard input; with a type, all columns as that type."""
    data = read_bytes(path)
    text, encoding = _decoded(path, data, form)
    if "\n" not in text:  # lines as Excel for Mac ends them
        text = text.replace("\r", "\n")
    if form.is_further and form.separator and form.separator not in "".join(islice(io.StringIO(text), FIRST_LINES)):
        form = replace(form, separator=None, decimal=None)
    separator = form.separator or _separator(text)
    first, n_above = _first_rows(text, separator)
    if not first:
        raise TableError(f"{source_name(path)} is not a CSV file with a header: it is empty")
    _say_left_out(path, n_above)
    text = text.split("\n", n_above)[-1]
    decimal = form.decimal or _decimal_sign(first, separator)
    _check_header(path, first[0])
    settings: dict[str, object] = {"sep": separator, "decimal": decimal}
    try:
        # As text, NA is a value.
        table = pd.read_csv(io.StringIO(text), dtype=dtype, keep_default_na=dtype is None, **settings)  # type: ignore
        if numeric := [*table.select_dtypes("number").columns]:
            cells = pd.read_csv(io.StringIO(text), dtype=str, usecols=numeric, sep=separator)
            # A column with leading zeros contains codes: 01234 is not 1234.
            if codes := [name for name in numeric if cells[name].str.fullmatch(r"0\d+").any()]:
                table = pd.read_csv(io.StringIO(text), dtype=dict.fromkeys(codes, str), **settings)  # type: ignore
    except (pd.errors.ParserError, pd.errors.EmptyDataError) as error:
        raise TableError(f"{source_name(path)} is not a CSV file with a header: {error}") from error
    if len(table) and not table.index.equals(pd.RangeIndex(len(table))):  # pandas makes an index of the extra cells
        raise TableError(
            f"{source_name(path)} has lines with more cells than the header; quote cells with {separator!r} in them, or "
            "give another separator, --sep"
        )
    with_thousands = {} if dtype else _columns_with_thousands(table, decimal)
    _say_format(path, separator, decimal, encoding, form, [*with_thousands])
    return _with_integers(table.assign(**with_thousands))


def _columns_with_thousands(table: pd.DataFrame, decimal: str) -> dict[str, pd.Series]:
    """The columns of texts that are all numbers, thousands of some being separated, as numbers."""
    sign, numbers = {",": ".", ".": ","}.get(decimal, ","), {}
    for name in table.select_dtypes(exclude="number").columns:
        texts = table[name].dropna()
        if pd.api.types.infer_dtype(texts) != "string":
            continue
        if texts.str.fullmatch(NUMBERS[decimal if decimal in NUMBERS else "."]).all():
            plain = texts.str.replace(sign, "", regex=False).str.replace(decimal, ".", regex=False)
            numbers[str(name)] = pd.to_numeric(plain).reindex(table.index)
    return numbers


def _say_left_out(path: str, n: int) -> None:
    if n:
        lines = "the first line" if n == 1 else f"the first {n} lines"
        say(f"{lines} of {source_name(path)}, above the header, {'is' if n == 1 else 'are'} left out")


def _say_format(
    path: str, separator: str, decimal: str, encoding: str, form: Format, with_thousands: list[str]
) -> None:
    """Say in a line what was detected, if it is not what a CSV file usually has."""
    detected = []
    if separator != "," and form.separator is None:
        sign = "a tab" if separator == "\t" else repr(separator)
        detected.append(f"cells separated by {sign} (--sep)")
    if decimal != "." and form.decimal is None:
        detected.append("a decimal comma (--decimal)")
    if with_thousands:
        detected.append(f"separated thousands in {join_names(with_thousands)}")
    if encoding not in ("utf-8", "ascii", form.encoding):
        detected.append(f"the encoding {encoding} (--encoding)")
    if detected:
        say(f"{source_name(path)} is read with {', '.join(detected)}")


def _decoded(path: str, data: bytes, form: Format) -> tuple[str, str]:
    """The text of a file, and its encoding."""
    given = form.encoding
    encoding = None if form.is_further else given
    encoding = encoding or next((name for mark, name in MARKS if data.startswith(mark)), None)
    if encoding is None and data[:FIRST_BYTES].count(0) > len(data[:FIRST_BYTES]) / MANY_ZEROS:
        encoding = "utf-16-le" if data[1:FIRST_BYTES:2].count(0) > data[:FIRST_BYTES:2].count(0) else "utf-16-be"
    try:
        if encoding is not None:
            return data.decode(encoding), encoding
        with suppress(UnicodeDecodeError):
            return data.decode("utf-8"), "utf-8"
        encoding = given if given is not None and _can_decode(data, given) else likeliest_encoding(data)
        return data.decode(encoding), encoding
    except UnicodeDecodeError:
        other = next(name for name in ("utf-8", "cp1252", "latin-1") if _can_decode(data, name))
        advice = "save it in UTF-8" if form.is_further else f"give its encoding, such as --encoding {other}"
        raise TableError(f"{source_name(path)} cannot be decoded as {encoding}; {advice}") from None
    except LookupError:
        raise TableError(f"--encoding: there is no encoding {given!r}; give one such as utf-8 or cp1252") from None


def _can_decode(data: bytes, encoding: str) -> bool:
    try:
        data.decode(encoding)
    except UnicodeDecodeError:
        return False
    return True


def _first_rows(text: str, separator: str) -> tuple[list[list[str]], int]:
    """The cells of the first lines, from the header on, and how many lines are above it."""
    rows, ends, reader = [], [0], csv.reader(io.StringIO(text), delimiter=separator)
    try:
        for row in reader:
            rows.append(row)
            ends.append(reader.line_num)
            if len(rows) == FIRST_LINES:
                break
    except csv.Error:  # a cell of more than 131,072 characters
        pass
    header = _header_row([sum(cell.strip() != "" for cell in row) for row in rows], [len(row) for row in rows])
    return [row for row in rows[header:] if row], ends[header]


def _header_row(filled: list[int], widths: list[int]) -> int:
    """The number of the first row that fills more than half of the cells that most rows have, if these are three."""
    usual = max(Counter(width for width in widths if width).items(), key=lambda pair: pair[1], default=(0, 0))[0]
    return next((i for i, n in enumerate(filled) if n > usual / 2), 0) if usual >= 3 else 0


def _separator(text: str) -> str:
    """The sign with which the most first lines have as many cells as the header; the comma if none divides it."""

    def agreement(sign: str) -> tuple[float, int]:
        rows, n_above = _first_rows(text, sign)
        width = len(rows[0]) if rows else 0
        n_alike = sum(len(row) == width for row in rows)
        return (n_alike / (n_above + len(rows)), width) if width > 1 else (0.0, 0)

    return max(SEPARATORS, key=agreement)


def _decimal_sign(rows: list[list[str]], separator: str) -> str:
    """A comma, if the cells of some column are numbers with a decimal comma; else a point."""
    # Where cells are separated by commas, "18,19" can be a set of two numbers, and "1,234" be 1234.
    signs = "," if separator != "," else ",."
    for column in islice(zip_longest(*rows[1:], fillvalue=""), len(rows[0])):
        numbers = pd.Series([cell for cell in map(str.strip, column) if cell not in MISSING], dtype=str)
        has_signs = all(numbers.str.contains(sign, regex=False).any() for sign in signs)
        if has_signs and numbers.str.fullmatch(NUMBERS[","]).all():
            return ","
    return "."


def _check_header(path: str, header: Iterable[object]) -> None:
    """Refuse two columns of one name, which pandas would rename: Gender and Gender.1."""
    twins = [name for name, n in Counter(str(name) for name in header if str(name) not in ("", "nan")).items() if n > 1]
    if twins:
        raise TableError(f"{source_name(path)} has more than one column named {join_names(twins)}; rename all but one")


def _with_integers(table: pd.DataFrame) -> pd.DataFrame:
    """The same table where integers beside missing cells, which pandas reads as floats, are integers again."""
    changed = {}
    for name in table.select_dtypes("float").columns:
        column = table[name]
        missing = column.isna()
        present = column[~missing]
        if missing.any() and len(present) and (np.abs(present) < 2**53).all() and (present % 1 == 0).all():
            integers = column.astype(object)
            integers[~missing] = [int(value) for value in present]
            changed[name] = integers
    return table.assign(**changed) if changed else table


def _read_excel(path: str, form: Format) -> pd.DataFrame:
    """Read one sheet of an Excel file."""
    if find_spec("openpyxl") is None:
        raise TableError(
            f"{path!r} is an Excel file; install pip install 'maxent-cvx[excel]', or save it as CSV"
        ) from None
    try:
        with pd.ExcelFile(path, engine="openpyxl") as book:
            sheet = _sheet(path, book, form)
            first = pd.read_excel(book, sheet_name=sheet, header=None, nrows=FIRST_LINES, dtype=object)
            filled = first.notna().sum(axis=1).to_list()
            n_above = _header_row(filled, filled)
            # Otherwise texts of digits become numbers.
            table = pd.read_excel(book, sheet_name=sheet, dtype=object, skiprows=n_above).infer_objects()
    except MaxEntError:
        raise
    except (OSError, ValueError, KeyError) as error:
        raise TableError(f"{path!r} cannot be read as an Excel file: {error}") from error
    if first.empty:
        raise TableError(f"sheet {sheet!r} of {path!r} is empty; it must have a header, or give another one, --sheet")
    _say_left_out(path, n_above)
    _check_header(path, first.iloc[n_above])
    table = table.rename(columns=str)
    for decimal in NUMBERS:  # in texts, "1.234" is one thing or the other: some number must have both signs
        numbers = _columns_with_thousands(table, decimal)
        both = [name for name in numbers if table[name].dropna().str.contains(r"\..*,|,.*\.").any()]
        table = table.assign(**{name: numbers[name] for name in both})
    return _with_integers(table)


def _sheet(path: str, book: pd.ExcelFile, form: Format) -> str:
    """The sheet that is given, or else the first one with a table; said if there are several."""
    sheets = [str(name) for name in book.sheet_names]
    if form.sheet in sheets:
        return form.sheet
    if form.sheet is not None and not form.is_further:
        raise unknown_name(f"sheet of {path!r} (given as --sheet)", form.sheet, sheets)
    if len(sheets) == 1:
        return sheets[0]
    sheet = next((name for name in sheets if _has_table(book, name)), sheets[0])
    covers, others = sheets[: sheets.index(sheet)], sheets[sheets.index(sheet) + 1 :]
    no_table = (
        f"; {join_names(covers)} {'has' if len(covers) == 1 else 'have'} one row or one column only" if covers else ""
    )
    also = f"; it also has {join_names(others)}" if others else ""
    say(f"{path!r} is read from its sheet {sheet!r} (--sheet){no_table}{also}")
    return sheet


def _has_table(book: pd.ExcelFile, sheet: str) -> bool:
    """Whether cells are filled in more than one row and one column."""
    filled = pd.read_excel(book, sheet_name=sheet, header=None, nrows=FIRST_LINES, dtype=object).notna()
    return bool(filled.any(axis=1).sum() > 1 and filled.any(axis=0).sum() > 1)


def _read_parquet(path: str) -> pd.DataFrame:
    """Read a Parquet file, or a folder of Parquet files."""
    try:
        table = pd.read_parquet(path)
    except (OSError, ValueError) as error:  # pyarrow's errors are among these
        raise TableError(f"{path!r} cannot be read as a Parquet file: {error}") from error
    _check_header(path, table.columns)
    return _with_integers(table.rename(columns=str).reset_index(drop=True))


def as_dates(column: pd.Series) -> pd.Series:
    """A column of texts that are all dates in one of :data:`DATE_FORMS`, as dates; else the column as it is.

    01/02/2024 is January or February: a column of which both ways read all dates stays as it is.
    """
    texts = column.dropna()
    if pd.api.types.infer_dtype(texts) != "string":
        return column
    for first in (texts.head(FIRST_DATES), texts):  # most columns are no dates, which their first values show
        forms = [form for form in DATE_FORMS if pd.to_datetime(first, format=form, errors="coerce").notna().all()]
        if not forms:
            return column
    return pd.to_datetime(column, format=forms[0]) if len(forms) == 1 else column

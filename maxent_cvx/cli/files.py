"""Tables in files: CSV with any separator, encoding and decimal sign; Excel; Parquet.

The format of a CSV file is detected, unless given by options, and printed in a line unless it is commas, points and UTF-8:

* a file compressed by gzip is decompressed; files that are not text are refused;
* the encoding is that of a byte order mark, UTF-16 if many bytes are zero, UTF-8 if all bytes are valid, and otherwise the
  likeliest (:mod:`.encodings`);
* lines above the header that fill at most half of its cells, such as a title, are left out;
* the separator is the one of ``, ; tab |`` with which most of the first lines have the same number of cells, above one;
* the decimal sign is the comma if the cells of some column are numbers with a decimal comma, or if points are only
  between thousands, 990 and 1.005, and cells are not separated by commas.

In all files, texts such as "1.234,5", "51'695.25" or "12 %" are converted to numbers if all cells of the column are numbers
but not dates. Blanks and invisible characters at the ends of texts are removed, and rows without any value. Columns of
integers with missing cells remain integers, and digits with leading zeros are codes. All cells of a column have one type.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import re
import unicodedata
import zlib
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib.util import find_spec
from itertools import islice, zip_longest
from pathlib import Path
from statistics import mode
from typing import Any
from zipfile import BadZipFile

import numpy as np
import pandas as pd

from .._utils.errors import MaxEntError, TableError, join_names, pluralize, unknown_name
from ..model.storage import is_saved
from ..releases.generalized import text_of
from .encodings import likeliest_encoding
from .options import composed, without_line_breaks
from .streams import read_bytes, say, source_name, warn

#: Separators of cells, the likeliest first.
SEPARATORS = (",", ";", "\t", "|")
#: Byte order marks and their encodings; that of UTF-32 begins with that of UTF-16.
MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF32_LE, "utf-32"), (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"),
)  # fmt: skip
#: The first bytes of a file are UTF-16 without a mark if more than one in this number of them is zero.
FIRST_BYTES, MANY_ZEROS = 10_000, 6
#: First bytes of files that are not text, with what such a file is, and what to do.
NOT_TEXT = {
    b"PK\x03\x04": ("a workbook or a zip archive", "save a workbook as .xlsx, or extract the archive"),
    b"\xd0\xcf\x11\xe0": ("an Excel workbook of before 2007", "save it as .xlsx"),
    b"PAR1": ("a Parquet file", "give it the ending .parquet"),
    b"ARROW1": ("a Feather file", "save it as CSV or Parquet"),
    b"$FL2": ("an SPSS file", "save it as CSV, Excel (.xlsx) or Parquet"),
    b"%PDF": ("a PDF file", "save the table as CSV, Excel (.xlsx) or Parquet"),
    b"BZh": ("a file compressed by bzip2", "decompress it, or compress it by gzip"),
    b"\xfd7zXZ": ("a file compressed by xz", "decompress it, or compress it by gzip"),
    b"\x28\xb5\x2f\xfd": ("a file compressed by Zstandard", "decompress it, or compress it by gzip"),
    b"7z\xbc\xaf": ("a 7z archive", "extract the archive"),
}
#: The first line of a file with the line ends of Excel for Mac.
FIRST_LINE_OF_MAC = re.compile(r'(?:"[^"]*"|[^"\r\n])*\r(?!\n)')
GZIP = b"\x1f\x8b"
#: Number of lines from which the separator and the decimal sign are detected.
FIRST_LINES = 200
#: Blanks and apostrophes, which separate thousands, and units, which are removed from numbers.
GAPS, UNIT = " \u00a0\u2009\u202f'\u2019", r"(?:R\$|[$€£¥\uffe5円%]|EUR|USD|GBP|CHF|JPY|BRL)"
#: The further separator of thousands, by decimal sign.
THOUSANDS = {",": ".", ".": ","}
#: Patterns of numbers, by decimal sign; digits with leading zeros are codes.
NUMBERS = {
    decimal: rf"(?:[+\u2212-]?(?:{UNIT}[{GAPS}]?)?|{UNIT}[{GAPS}]?[+\u2212-])"
    rf"(?:0|[1-9][0-9]*|[1-9][0-9]{{0,2}}(?:[{sign}{GAPS}][0-9]{{3}})+)(?:[{decimal}][0-9]+)?(?:[{GAPS}]?{UNIT})?"
    for decimal, sign in THOUSANDS.items()
}
#: Formats of dates, and the number of values tried first. Two-digit years are the latest such years that are not in the future.
DATE_FORMS, FIRST_DATES = (
    "%Y-%m-%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%Y/%m/%d", "%d-%m-%Y", "%m-%d-%Y", "%Y年%m月%d日", "%Y-%m", "%m/%Y",
    "%d-%b-%Y", "%b %d, %Y", "%B %d, %Y",
    "%d.%m.%y", "%y.%m.%d", "%d/%m/%y", "%m/%d/%y", "%y/%m/%d", "%d-%m-%y", "%m-%d-%y", "%y-%m-%d",
    "%Y-%m-%d %H:%M", "%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M:%S.%f", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S",
    "%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%dT%H:%M:%S.%f", "%Y-%m-%dT%H:%M:%S.%fZ", "%d.%m.%Y %H:%M", "%d.%m.%Y %H:%M:%S",
), 100  # fmt: skip
#: English, German and French names of the months and their abbreviations, and dates with such a name.
MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "january jan januar jänner janvier janv", "february feb februar feber février févr fév", "march mar märz mrz mars",
            "april apr avril avr", "may mai", "june jun juni juin", "july jul juli juillet juil", "august aug août",
            "september sep sept septembre", "october oct oktober okt octobre", "november nov novembre",
            "december dec dezember dez décembre déc",
        ),
        start=1,
    )
    for name in names.split()
}  # fmt: skip
DAY_OF_MONTH = re.compile(r"([0-9]{1,2})(?:\.|er)? ?([^\W\d_]+)\.? ([0-9]{4})")
#: Numbers without separators and leading zeros.
PLAIN_NUMBER = r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?"
#: Integers that floats may not represent.
LONG_INTEGER = r"(?:^|[^.0-9])[0-9]{16}"
#: Characters without width, at the ends of texts that were copied from web pages.
INVISIBLE = "\u00ad\u200b\u200c\u200d\u2060\ufeff"
#: Texts of missing cells, as in pandas.
MISSING = (
    "", "NA", "N/A", "n/a", "NaN", "nan", "-NaN", "-nan", "null", "NULL", "None", "#N/A", "#N/A N/A", "#NA", "<NA>",
)  # fmt: skip
#: Pattern of the names given to columns without a name.
UNNAMED_COLUMN = "column [0-9]+"
#: Endings of Excel files; one sheet is read.
EXCEL = (".xlsx", ".xlsm")


@dataclass(frozen=True)
class Format:
    """The format of a file; None is detected, and in further tables of a command also settings that do not fit.

    The columns `texts` of a CSV file are read as texts.
    """

    separator: str | None = None
    encoding: str | None = None
    decimal: str | None = None
    sheet: str | None = None
    is_further: bool = False
    texts: frozenset[str] = frozenset()


def read_table(path: str, form: Format = Format()) -> pd.DataFrame:
    """Read a table of people: a CSV file or standard input, an Excel or a Parquet file."""
    ending = Path(path).suffix.lower()
    if ending == ".parquet":
        return _read_parquet(path, form)
    return _read_excel(path, form) if ending in EXCEL else read_csv(path, form)


@dataclass(frozen=True)
class CsvText:
    """The text of a CSV file from its header on, its format, and the number of lines above the header."""

    path: str
    text: str
    separator: str
    decimal: str
    encoding: str
    n_above: int

    @classmethod
    def read(cls, path: str, form: Format) -> CsvText:
        """Read a file, or standard input, and detect its format."""
        text, encoding = _decoded(path, _bytes_of_text(path), form)
        if FIRST_LINE_OF_MAC.match(text):  # cells may contain line breaks of another kind
            text = text.replace("\r", "\n")
        if form.is_further and form.separator and form.separator not in "".join(islice(io.StringIO(text), FIRST_LINES)):
            form = replace(form, separator=None, decimal=None)
        declared = re.match(r'"?sep=(.)"?\r?\n', text, re.IGNORECASE)  # a line for Excel
        text = text[declared.end() if declared else 0 :]
        separator = form.separator or (declared[1] if declared else _separator(text))
        first, n_above = _first_rows(text, separator)
        if not first:
            raise TableError(f"{source_name(path)} is not a CSV file with a header: it is empty")
        if re.match(r'\s*\[?\s*{\s*["}]', text) or re.search(r"[\x00-\x08]", "".join(first[0])):  # JSON, or not text
            raise TableError(f"{source_name(path)} is not a CSV file; save the table as CSV, Excel (.xlsx) or Parquet")
        _say_left_out(path, n_above)
        _check_header(path, first[0])
        decimal = form.decimal or _decimal_sign(first, separator)
        text = text.split("\n", n_above)[-1]
        return cls(path, text, separator, decimal, encoding, n_above + (declared is not None))

    def table(self, **settings: Any) -> pd.DataFrame:
        """Parse the table with pandas, with the given settings."""
        try:
            table = pd.read_csv(io.StringIO(self.text), sep=self.separator, skipinitialspace=True, **settings)
        except (pd.errors.ParserError, pd.errors.EmptyDataError):
            raise TableError(f"{source_name(self.path)} cannot be read: {self._wrong_line()}") from None
        if len(table) and not table.index.equals(pd.RangeIndex(len(table))):  # pandas reads extra cells as an index
            raise TableError(f"{source_name(self.path)} cannot be read: {self._wrong_line()}")
        return table

    def cells_of_lines(self) -> dict[int, int]:
        """Return the number of cells of every row below the header, by its first line; blank lines are no rows."""
        lines = io.StringIO(self.text, newline=None).readlines()
        reader = csv.reader(lines, delimiter=self.separator, skipinitialspace=True)
        numbers, start = list[tuple[int, int]](), 0
        for row in reader:  # cells may have line breaks
            if len(row) > 1 or lines[start].strip(" \t\n"):
                numbers.append((self.n_above + start + 1, len(row)))
            start = reader.line_num
        return dict(numbers[1:])

    def _wrong_line(self) -> str:
        """Describe the line that has more cells than the header, or an unclosed quote."""
        reader = csv.reader(io.StringIO(self.text), delimiter=self.separator, skipinitialspace=True)
        width, line, next_line = 0, 0, self.n_above + 1
        try:
            for row in reader:
                line, next_line = next_line, self.n_above + reader.line_num + 1
                width = width or len(row)
                if len(row) > width:
                    return f"line {line} has {pluralize(len(row), 'cell')}, and the header has {width}; " + (
                        f"quote cells with {self.separator!r} in them, or give another separator, --sep"
                        if any(row[width:])
                        else f"end the header with {self.separator!r}, too"
                    )
        except csv.Error:  # a cell of more than 131,072 characters
            line = next_line
        return f"a quote in line {line} opens a cell, and no quote closes it"


def read_csv(path: str, form: Format = Format()) -> pd.DataFrame:
    """Read a CSV file with a header, or standard input."""
    source = CsvText.read(path, form)
    cells = source.table(dtype=str, keep_default_na=False)
    _warn_of_short_lines(source, cells)
    words = _missing_words(cells)
    cells = _without_words(cells, words)
    has_points = False
    if form.decimal is None and source.decimal == "." and source.separator != ",":
        has_points = _are_points_between_thousands(cells)
        source = replace(source, decimal="," if has_points else ".")
    codes = [name for name, column in cells.items() if plain_name(name) in form.texts or _are_codes(column)]
    missing: Any = {name: [*found] for name, found in words.items()}
    table = source.table(
        dtype=dict.fromkeys(codes, str), decimal=source.decimal, keep_default_na=False, na_values=missing,
        low_memory=False,  # otherwise, the type of a cell depends on the cells near it
    )  # fmt: skip
    table, changes = with_plain_values(table, [source.decimal])
    _say_format(source, form, has_points, changes)
    _say_missing(path, table, words)
    return table


def _warn_of_short_lines(source: CsvText, cells: pd.DataFrame) -> None:
    """Warn if some lines, but not most, have fewer cells than the header; pandas appends empty cells to them."""
    if not cells.iloc[:, -1].eq("").any():
        return
    with suppress(csv.Error):  # a cell of more than 131,072 characters
        short = {line: n for line, n in source.cells_of_lines().items() if n < cells.shape[1]}
        if 0 < len(short) <= len(cells) / 2:
            line, n = next(iter(short.items()))
            warn(
                f"{pluralize(len(short), 'line')} of {source_name(source.path)} {'has' if len(short) == 1 else 'have'} fewer "
                f"cells than the header; the first is line {line}, with {n} of {cells.shape[1]} cells. The last cells are "
                "read as missing; if other cells were left out, add them to the file"
            )


def read_texts(path: str) -> tuple[pd.DataFrame, str]:
    """Read all cells of a CSV file with a header as texts, with line numbers as index; also return its decimal sign."""
    source = CsvText.read(path, Format())
    _say_format(source, Format(), False, [])
    table = source.table(dtype=str, keep_default_na=False).map(composed).set_axis([*source.cells_of_lines()])
    return _with_plain_names(table), source.decimal


def _are_codes(texts: pd.Series) -> bool:
    """Return whether digits are codes: 01234 is not 1234, and integers beside missing cells that floats do not represent."""
    if texts.str.fullmatch(r"\s*0[0-9]+\s*", na=False).any():
        return True
    are_long = texts.str.contains(LONG_INTEGER, na=False)
    return bool(are_long.any()) and not texts.str.fullmatch(r"\s*[+-]?[0-9]+\s*", na=False).all()


def _missing_words(table: pd.DataFrame) -> dict[str, dict[str, int]]:
    """Return the texts that denote missing cells, by column, with their numbers of cells."""
    words = {}
    for name, column in table.items():
        texts = pd.Series([text for text in column.unique() if isinstance(text, str)], dtype=object)
        found = texts[texts.map(stripped).isin(MISSING)]
        words[str(name)] = {text: int(column.eq(text).sum()) for text in found}
    return {name: found for name, found in words.items() if found}


def _without_words(table: pd.DataFrame, words: dict[str, dict[str, int]]) -> pd.DataFrame:
    """Replace the texts that denote missing cells by missing cells."""
    return table.assign(**{name: table[name].mask(table[name].isin(found)) for name, found in words.items()})


def _say_missing(path: str, table: pd.DataFrame, words: dict[str, dict[str, int]]) -> None:
    """Print which words of columns of numbers are read as missing; warn of those that can be values."""
    in_numbers = []
    for name, found in words.items():
        column, shown = table.get(plain_name(name)), [text for text in found if stripped(text)]
        if not shown or column is None:
            continue
        cells = pluralize(sum(found[text] for text in shown), "cell")
        what = f"{join_names(dict.fromkeys(map(stripped, shown)))} in {plain_name(name)!r} ({cells})"
        kind = pd.api.types.infer_dtype(column, skipna=True)
        if column.notna().any() and kind not in ("string", "mixed", "mixed-integer", "categorical"):
            in_numbers.append(what)
            continue
        warn(
            f"{what} of {source_name(path)} is read as missing; if it is a value, replace it in the file by another word"
        )
    if in_numbers:
        say(f"{source_name(path)} has missing cells for {'; '.join(in_numbers)}")


def _are_points_between_thousands(cells: pd.DataFrame) -> bool:
    """Return whether numbers have points, all of them between thousands, and others have at most three digits."""
    has_points = False
    for _, column in cells.items():
        texts = column.dropna().str.replace(rf"[{GAPS}]*{UNIT}[{GAPS}]*", "", regex=True).str.strip()
        if not texts.str.contains(".", regex=False).any():
            continue
        if texts.str.fullmatch(r"[+-]?(?:[0-9]{1,3}|[1-9][0-9]{0,2}(?:\.[0-9]{3})+)").all():
            has_points = True
        elif texts.str.fullmatch(r"[+-]?[0-9]*\.?[0-9]*").all():  # a point has a single meaning in a file
            return False
    return has_points


def _with_plain_names(table: pd.DataFrame) -> pd.DataFrame:
    """Strip blanks and line breaks from the names of columns, and number columns without a name."""
    names = [plain_name(name) for name in table.columns]
    for i, name in enumerate(names):
        if re.fullmatch(r"(?:Unnamed: [0-9]+)?", name) and (new := f"column {i + 1}") not in names:
            names[i] = new
    return table.set_axis(names, axis=1)


def with_plain_values(table: pd.DataFrame, decimals: Iterable[str]) -> tuple[pd.DataFrame, list[str]]:
    """Strip blanks from texts, and convert texts that are numbers; also return descriptions of the changes.

    A text such as "1.234", whose value depends on the decimal sign, is converted only if other columns show the decimal
    sign.
    """
    table = _with_plain_names(table)
    changes = []
    if table.shape[1] > 1 and (are_empty := table.isna().all(axis=1)).any():
        table = _with_integers(table)[~are_empty].reset_index(drop=True).infer_objects()
        changes.append(f"{pluralize(int(are_empty.sum()), 'row')} without any value left out")
    changed, readings = dict[str, pd.Series](), dict[str, dict[str, pd.Series]]()
    in_blanks, in_marks = list[str](), list[str]()
    for name, column in table.items():
        kind = pd.api.types.infer_dtype(column, skipna=True)
        if kind not in ("string", "mixed", "mixed-integer"):
            continue
        texts = column.map(lambda cell: stripped(cell) if isinstance(cell, str) else cell)
        if not texts.equals(column):
            in_blanks.append(str(name))
            changed[str(name)] = column = texts.mask(texts.eq("") & column.ne(""))
        texts = column.map(lambda cell: composed(cell) if isinstance(cell, str) and not cell.isascii() else cell)
        if not texts.equals(column):
            in_marks.append(str(name))
            changed[str(name)] = column = texts
        if kind != "string" and (typed := _with_one_type(column)) is not None:
            pair = next(
                pair for pair in zip(column, typed, strict=True) if isinstance(pair[0], str) != isinstance(pair[1], str)
            )
            changes.append(f"cells of one type in {name!r}, {join_names(pair[:1])} as {join_names(pair[1:])}")
            changed[str(name)] = typed
        present = column.dropna()
        if kind == "string" and len(present):
            by_sign = {sign: x for sign in decimals if (x := as_numbers(present, sign)) is not None}
            if by_sign:
                readings[str(name)] = by_sign
    signs = {sign for by_sign in readings.values() if len(by_sign) == 1 for sign in by_sign}
    if in_blanks:
        changes.append(f"blanks at the ends of cells left out in {join_names(in_blanks)}")
    if in_marks:
        changes.append(f"letters and their separate accents composed (Unicode NFC) in {join_names(in_marks)}")
    for name, by_sign in readings.items():
        first, *others = [x for sign, x in by_sign.items() if len(by_sign) == 1 or len(signs) != 1 or sign in signs]
        if differs := [row for other in others for row in first.index[first.ne(other)]]:
            changes.append(f"texts in {name!r}, since {table[name][differs[0]]!r} can be two numbers (--decimal)")
            continue
        changes.append(f"numbers in {name!r}, '{table[name][first.index[0]]}' as {first.iloc[0]}")
        changed[name] = first.reindex(table.index)
    return _with_integers(table.assign(**changed)), changes


def stripped(text: str) -> str:
    """Remove blanks and invisible characters from the ends of a text."""
    return text.strip().strip(INVISIBLE).strip() if not text.isascii() else text.strip()


def plain_name(name: object) -> str:
    """Return the name of a column as it can be typed."""
    return without_line_breaks(composed(stripped(str(name))))


def _with_one_type(column: pd.Series) -> pd.Series | None:
    """Convert cells of a column of texts and numbers, or texts and dates, to one type; return None for other columns."""
    present = column.dropna()
    are_texts = present.map(lambda cell: isinstance(cell, str)).astype(bool)
    texts, others = present[are_texts], present[~are_texts]
    kind = pd.api.types.infer_dtype(others)
    if kind in ("datetime", "datetime64"):
        dates = as_dates(texts)
        is_date = pd.api.types.is_datetime64_any_dtype(dates)
        return pd.concat([dates, pd.to_datetime(others)]).reindex(column.index) if is_date else None
    if kind not in ("integer", "floating", "mixed-integer-float"):
        return None
    if not texts.str.contains("[0-9]").any():  # words, which no number equals
        return None
    if texts.str.fullmatch(PLAIN_NUMBER).all():
        return pd.concat([pd.to_numeric(texts), others.infer_objects()]).reindex(column.index)
    widths = {len(text) if text.isdecimal() else 0 for text in texts}
    width = widths.pop() if len(widths) == 1 else 0  # of codes, which may have lost their zeros as numbers
    as_texts = others.map(text_of).str.zfill(width)
    return pd.concat([texts, as_texts]).reindex(column.index)


def as_numbers(texts: pd.Series, decimal: str) -> pd.Series | None:
    """Convert texts that are all numbers with at most one unit; return None for others, and for digits alone."""
    sign = THOUSANDS.get(decimal, ",")
    if not texts.str.fullmatch(NUMBERS.get(decimal, NUMBERS["."])).all() or texts.str.fullmatch("[+-]?[0-9]+").all():
        return None
    if texts.str.contains(LONG_INTEGER).any():
        return None
    units = texts.str.extract(f"({UNIT})")[0]
    if units.nunique(dropna=False) > 1:
        return None
    plain = texts.str.replace(rf"{UNIT}|[{sign}{GAPS}]", "", regex=True).str.replace("\u2212", "-", regex=False)
    return pd.to_numeric(plain.str.replace(decimal, ".", regex=False))


def _say_left_out(path: str, n: int) -> None:
    if n:
        lines = "the first line" if n == 1 else f"the first {n} lines"
        say(f"{lines} of {source_name(path)}, above the header, {'is' if n == 1 else 'are'} left out")


def _say_format(source: CsvText, form: Format, has_points: bool, changes: list[str]) -> None:
    """Print one line with the detected format, where it is not that of most CSV files, and the changed cells."""
    detected = []
    if source.separator != "," and form.separator is None:
        sign = "a tab" if source.separator == "\t" else repr(source.separator)
        detected.append(f"cells separated by {sign} (--sep)")
    if source.decimal != "." and form.decimal is None:
        detected.append("points between thousands (--decimal)" if has_points else "a decimal comma (--decimal)")
    if source.encoding not in ("utf-8", "ascii", form.encoding):
        detected.append(f"the encoding {source.encoding} (--encoding)")
    _say_changes(source.path, [*detected, *changes])


def _say_changes(path: str, changes: list[str]) -> None:
    if changes:
        say(f"{source_name(path)} is read with {'; '.join(changes)}")


def _bytes_of_text(path: str) -> bytes:
    """Read a text file, or standard input, that may be compressed by gzip."""
    data = read_bytes(path)
    if data.startswith(GZIP):
        try:
            data = gzip.decompress(data)
        except (OSError, EOFError, zlib.error) as error:
            raise TableError(f"{source_name(path)} cannot be decompressed: {error}") from None
    for start, (kind, advice) in NOT_TEXT.items():
        if data.startswith(start):
            raise TableError(f"{source_name(path)} is not a CSV file but {kind}; {advice}")
    return data


def _decoded(path: str, data: bytes, form: Format) -> tuple[str, str]:
    """Decode a file; return its text and its encoding."""
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
        raise TableError(f"--encoding: unknown encoding {given!r}; expected, for example, utf-8 or cp1252") from None


def _can_decode(data: bytes, encoding: str) -> bool:
    try:
        data.decode(encoding)
    except UnicodeDecodeError:
        return False
    return True


def _first_rows(text: str, separator: str) -> tuple[list[list[str]], int]:
    """Return the cells of the first lines, from the header on, and the number of lines above it."""
    rows, ends, reader = [], [0], csv.reader(io.StringIO(text), delimiter=separator, skipinitialspace=True)
    with suppress(csv.Error):  # a cell of more than 131,072 characters
        for row in islice(reader, FIRST_LINES):
            rows.append(row)
            ends.append(reader.line_num)
    header = _header_row([sum(cell.strip() != "" for cell in row) for row in rows], [len(row) for row in rows])
    return [row for row in rows[header:] if row], ends[header]


def _header_row(filled: list[int], widths: list[int]) -> int:
    """Return the position of the first row with more than half the usual width filled; 0 for widths below three."""
    usual = mode([width for width in widths if width] or [0])
    return next((i for i, n in enumerate(filled) if n > usual / 2), 0) if usual >= 3 else 0


def _separator(text: str) -> str:
    """Return the separator with which most of the first lines have as many cells as the header; by default a comma."""

    def agreement(sign: str) -> tuple[float, int]:
        rows, n_above = _first_rows(text, sign)
        width = len(rows[0]) if rows else 0
        n_alike = sum(len(row) == width for row in rows)
        return (n_alike / (n_above + len(rows)), width) if width > 1 else (0.0, 0)

    return max(SEPARATORS, key=agreement)


def _decimal_sign(rows: list[list[str]], separator: str) -> str:
    """Return a comma if a column consists of numbers with a decimal comma; otherwise a point."""
    # If cells are separated by commas, "18,19" can be a set of two numbers, and "-4,9" or "0,05" cannot; only with
    # semicolons "1,234" is not 1234.
    other = rf"[0-9][.{GAPS}][0-9]"
    if separator == ",":
        other = rf"{other}|^-[0-9]+,(?![0-9]{{3}}$)|,0[0-9]$"
    else:
        other = "," if separator == ";" else rf"{other}|^\D*0,|[0-9]{{4}},|,(?![0-9]{{3}}(?![0-9]))"
    for column in islice(zip_longest(*rows[1:], fillvalue=""), len(rows[0])):
        numbers = pd.Series([cell for cell in map(str.strip, column) if cell not in MISSING], dtype=str)
        has_signs = numbers.str.contains(",", regex=False).any() and numbers.str.contains(other).any()
        if has_signs and numbers.str.fullmatch(NUMBERS[","]).all():
            return ","
    return "."


def _check_header(path: str, header: Iterable[object]) -> None:
    """Refuse two columns of one name, which pandas would rename: Gender and Gender.1."""
    counts = Counter(plain_name(name) for name in header)
    twins = [name for name, n in counts.items() if n > 1 and name not in ("", "nan")]
    if twins:
        raise TableError(
            f"{source_name(path)} has more than one column named {join_names(twins)}; rename all but one, or add a header if "
            "these are values of a record"
        )


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
        raise TableError(f"{path!r} is an Excel file; run  pip install 'maxent-cvx[excel]',  or save it as CSV")
    try:
        with pd.ExcelFile(path, engine="openpyxl") as book:
            sheet = _sheet(path, book, form)
            first = pd.read_excel(book, sheet_name=sheet, header=None, nrows=FIRST_LINES, dtype=object)
            filled = first.notna().sum(axis=1).to_list()
            n_above = _header_row(filled, filled)
            # With another dtype, texts of digits would become numbers.
            table = pd.read_excel(
                book, sheet_name=sheet, dtype=object, skiprows=n_above, keep_default_na=False, na_values=[""]
            )
    except MaxEntError:
        raise
    except BadZipFile:
        raise TableError(
            f"{path!r} is not an Excel file; if it is protected by a password, save it without one; if it is a CSV file, give it "
            "the ending .csv"
        ) from None
    except (OSError, ValueError, KeyError) as error:
        raise TableError(f"{path!r} cannot be read as an Excel file: {error}") from error
    if first.empty:
        raise TableError(f"sheet {sheet!r} of {path!r} is empty; a header is expected. Give another sheet with --sheet")
    _say_left_out(path, n_above)
    _check_header(path, first.iloc[n_above])
    return _from_cells(path, table, form)


def _from_cells(path: str, table: pd.DataFrame, form: Format) -> pd.DataFrame:
    """Return the table of a file with typed cells, in which only texts need to be interpreted."""
    table = _with_plain_names(table)
    words = _missing_words(table[[name for name, column in table.items() if not is_nested(column)]])
    decimals = [*THOUSANDS] if form.decimal is None else [form.decimal]
    table, changes = with_plain_values(_without_words(table, words).infer_objects(), decimals)
    _say_changes(path, changes)
    _say_missing(path, table, words)
    return table


def is_nested(column: pd.Series) -> bool:
    """Return whether cells are lists or records, which Parquet files may contain."""
    return column.dtype == object and not column.dropna().map(pd.api.types.is_hashable).all()


def _sheet(path: str, book: pd.ExcelFile, form: Format) -> str:
    """Return the given sheet, or the first one with a table; print the choice if there are several sheets."""
    sheets = [str(name) for name in book.sheet_names]
    sheets.sort(key=lambda name: book.book[name].sheet_state != "visible")  # hidden ones often have lists of values
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
    """Return whether more than one row and more than one column are filled."""
    filled = pd.read_excel(book, sheet_name=sheet, header=None, nrows=FIRST_LINES, dtype=object).notna()
    return bool(filled.any(axis=1).sum() > 1 and filled.any(axis=0).sum() > 1)


def _read_parquet(path: str, form: Format) -> pd.DataFrame:
    """Read a Parquet file, or a folder of Parquet files."""
    if is_saved(path):
        raise TableError(
            f"{path!r} is a saved posterior or model, and a table is expected; load it in Python, or give a posterior as "
            "--baseline"
        )
    try:
        table = pd.read_parquet(path)
    except FileNotFoundError:
        raise TableError(f"file {path!r} does not exist") from None
    except (OSError, ValueError) as error:  # including pyarrow's errors
        raise TableError(f"{path!r} cannot be read as a Parquet file: {error}") from error
    # Levels of a named index are columns; an index without a name contains row numbers.
    named = [name for name in table.index.names if name is not None and name not in table.columns]
    table = table.reset_index(level=named).reset_index(drop=True)
    _check_header(path, table.columns)
    halves = {
        name: "float32" for name, dtype in table.dtypes.items() if dtype == np.float16
    }  # pandas cannot index float16
    return _from_cells(path, table.astype(halves), form)


def as_dates(column: pd.Series) -> pd.Series:
    """Convert a column of texts that are all dates in one of :data:`DATE_FORMS`; return other columns unchanged.

    01/02/2024 is in January or February: a column in which both formats fit all dates is not converted.
    """
    readings = readings_as_dates(column)
    return readings[0] if len(readings) == 1 else column


def are_ambiguous_dates(column: pd.Series) -> bool:
    """Return whether all texts of a column are dates that can be read in several ways."""
    return len(readings_as_dates(column)) > 1


def notations_of_dates(column: pd.Series) -> list[str]:
    """Return a date in each notation if all texts of a column are dates, but not in a single notation; otherwise none.

    >>> notations_of_dates(pd.Series(["2024-01-31", "2024-02-28", "31.01.2024"]))
    ['2024-01-31', '31.01.2024']
    """
    texts, examples = pd.Series(column.dropna().unique(), dtype=object), list[str]()
    if pd.api.types.infer_dtype(texts) != "string":
        return []
    while len(texts):
        plain = texts.map(_with_number)
        if not (forms := _forms_of(plain.head(1))):
            return []
        examples.append(texts.iloc[0])
        fits = [pd.to_datetime(plain, format=form, errors="coerce").notna() for form in forms]
        texts = texts[~np.any(fits, axis=0)]
    return examples if len(examples) > 1 else []


def _forms_of(texts: pd.Series, forms: Iterable[str] = DATE_FORMS) -> list[str]:
    """Return the formats that fit all texts."""
    if not re.search(r"\d", texts.iloc[0]):  # most columns have none, and formats are slow to try
        return []
    return [form for form in forms if pd.to_datetime(texts, format=form, errors="coerce").notna().all()]


def _with_number(text: str) -> str:
    """Replace the name of the month in a date by its number; return other texts unchanged.

    >>> _with_number("3. März 2020"), _with_number("1er août 2020"), _with_number("3 marzo 2020")
    ('2020-3-3', '2020-8-1', '3 marzo 2020')
    """
    match = DAY_OF_MONTH.fullmatch(unicodedata.normalize("NFC", text))
    month = MONTHS.get(match[2].lower()) if match else None
    return f"{match[3]}-{month}-{match[1]}" if match and month else text


def readings_as_dates(column: pd.Series) -> list[pd.Series]:
    """Return every reading of all texts of a column as dates."""
    texts, forms, readings = column.dropna(), [*DATE_FORMS], list[pd.Series]()
    if pd.api.types.infer_dtype(texts) != "string":
        return []
    if any(_with_number(text) != text for text in texts.head(1)):
        column = column.map(_with_number, na_action="ignore")
        texts = column.dropna()
    # Most columns do not contain dates; their first values exclude most formats.
    for sample in (texts.head(1), texts.head(FIRST_DATES), texts):
        forms = _forms_of(sample, forms)
    for form in forms:
        dates = pd.to_datetime(column, format=form)
        if "%y" in form:
            dates = dates.mask(dates > pd.Timestamp.today(), dates - pd.DateOffset(years=100))
        if not any(dates.equals(other) for other in readings):
            readings.append(dates)
    return readings

"""A checksum inside a Parquet file, which is checked before anything in the file is decoded.

It finds damage. It is not a signature: whoever changes a file can compute the checksum of the changed file, too.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

from ...errors import MaxEntError, TableError
from ...system.files import path_of

__all__ = ["POSTERIOR", "decoding", "metadata_of", "read_verified", "sealed", "verified"]

#: What writes a file of a posterior, for messages.
POSTERIOR = "Posterior.save"

#: The name of the checksum among the file's key-value metadata, where any Parquet program finds it.
KEY = "maxent_cvx checksum"
#: Hexadecimal digits of the checksum, all 0 while it is computed.
DIGITS = 64
BLANK = b"0" * DIGITS
#: How the pair is written: in Thrift's compact protocol a field's header and the length stand before its text.
PAIR = re.compile(re.escape(KEY.encode()) + rb"\x18" + bytes([DIGITS]) + rb"([0-9a-f]{%d})" % DIGITS, re.DOTALL)
#: A Parquet file begins and ends with it; before the last one is the length of the footer, four bytes.
MAGIC = b"PAR1"
TAIL = 4 + len(MAGIC)
#: Where the file keeps what is not a column.
METADATA = b"maxent_cvx"
#: Characters of the message of an error in the content of a file that are repeated: the content may be of any length.
LONGEST = 600


def sealed(table: Any) -> bytes:
    """Write an Arrow table as a Parquet file that holds the checksum of all its bytes, those of the checksum being 0.

    Any program reads the file. If one writes it again, changed or not, that is another file, without this checksum.
    The metadata of the table's schema become metadata of the file: left in the schema, Arrow would write them twice,
    the second time inside its own copy of the schema, ``ARROW:schema``.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    sink = pa.BufferOutputStream()
    plain = table.replace_schema_metadata(None)
    with pq.ParquetWriter(sink, plain.schema) as writer:
        writer.write_table(plain)
        if table.schema.metadata:
            writer.add_key_value_metadata(
                {name.decode(): said.decode() for name, said in table.schema.metadata.items()}
            )
        writer.add_key_value_metadata({KEY: BLANK.decode()})  # last, see _place
    data = bytearray(sink.getvalue())
    place = _place(data, 0)
    assert place is not None, "the Parquet library writes metadata in another way; the checksum has no place"
    data[place] = _digest(data, place)
    return bytes(data)


def read_verified(path: object, writer: str = POSTERIOR) -> Any:
    """Read the table of a file that is as it was written.

    Raises
    ------
    TableError
        If there is no such file, or it is another one than was written.
    """
    found = path_of(path)
    what = repr(str(found))
    try:
        if not found.is_file():  # nor a pipe, which would be waited for
            is_there = f"{what} is no ordinary file" if found.exists() else f"there is no file {what}"
            raise TableError(f"{is_there}; give one that {writer} wrote")
        with found.open("rb") as file:
            return verified(file, what, writer)
    except OSError as error:
        raise TableError(f"cannot read {what}: {error.strerror or error}; give a file that can be read") from error


def verified(file: BinaryIO, what: str, writer: str = POSTERIOR) -> Any:
    """Check a file's bytes, and only then read the table: a damaged file could claim any size.

    The metadata of the file are those of the table's schema.

    Raises
    ------
    TableError
        If the file is no Parquet file, has no checksum, or not this content's.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    advice = f"was not written by {writer}; give such a Parquet file"
    size = file.seek(0, os.SEEK_END)
    file.seek(max(size - TAIL, 0))
    tail = file.read(TAIL)
    footer = TAIL + int.from_bytes(tail[: -len(MAGIC)], "little")
    if not tail.endswith(MAGIC) or not len(MAGIC) <= size - footer:
        raise TableError(f"{what} {advice}: it is no whole Parquet file")
    file.seek(size - footer)
    if _place(file.read(footer), 0) is None:  # seen in the footer: a large file need not be read
        raise TableError(
            f"{what} {advice}: it has no checksum (another program wrote it, or an early version of this "
            "package, whose files are to be made again)"
        )
    file.seek(0)
    data = file.read()
    place = _place(data, max(len(data) - footer, 0))
    if place is None or _digest(data, place) != data[place]:
        raise TableError(
            f"{what} is not as {writer} wrote it: its checksum does not match, so that it is damaged or edited; "
            "take a copy, or save again"
        )
    with decoding(what, "write the file again"):  # such as a compression that this pyarrow was built without
        pairs = pq.read_metadata(pa.BufferReader(data)).metadata  # which Arrow's own schema does not repeat
        return pq.read_table(pa.BufferReader(data)).replace_schema_metadata(pairs)


@contextmanager
def decoding(what: str, remedy: str) -> Iterator[None]:
    """Decode the content of a file whose checksum matches; anybody may have written it, so that anything can fail.

    Raises
    ------
    TableError
        For any error in the block.
    """
    try:
        yield
    except MaxEntError as error:
        raise TableError(f"{what}: {str(error)[:LONGEST]}") from error
    except Exception as error:
        reason = f"{type(error).__name__}: {' '.join(str(error).split())[:LONGEST]}"
        raise TableError(
            f"{what} cannot be understood ({reason}): another version of maxent_cvx, pandas or pyarrow has written it, "
            f"or another program; {remedy}"
        ) from error


def metadata_of(stored: Any) -> dict[str, Any]:
    """Read the metadata of a table that was read from a file; a dictionary in JSON."""
    found = json.loads((stored.schema.metadata or {}).get(METADATA, b"{}"))
    if not isinstance(found, dict):
        raise TableError(f"the metadata must be a JSON object, not a {type(found).__name__}")
    return found


def _place(data: bytes | bytearray, start: int) -> slice | None:
    """Find the digits of the checksum; statistics and other metadata come before it: it is the last such pair."""
    found = [pair.span(1) for pair in PAIR.finditer(data, start)]
    return slice(*found[-1]) if found else None


def _digest(data: bytes | bytearray, place: slice) -> bytes:
    """Compute the checksum of a file in whose place for it there are zeros."""
    digest = hashlib.blake2b(digest_size=DIGITS // 2)
    view = memoryview(data)
    for part in (view[: place.start], BLANK, view[place.stop :]):
        digest.update(part)
    return digest.hexdigest().encode()

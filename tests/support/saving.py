"""Attacks on saving: processes that are killed, disks that are full, several writers, bytes that change."""

from __future__ import annotations

import copy
import io
import json
import math
import os
import random
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import maxent_cvx as mx
from maxent_cvx import P
from maxent_cvx.model import storage


def posteriors() -> list[mx.Posterior]:
    """Two answers about the hospital, which differ in every term that can differ."""
    hospital = mx.datasets.load_hospital()
    release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    return [mx.MaxEnt(release).add(P("Flu", given={"Gender": "male"}) == p).solve() for p in (0.3, 0.4)]


def at_line(file: str, step: int, act: Callable[[], None]) -> Callable[..., object]:
    """A trace function that acts when this line of a file, counted as lines are run, is reached."""
    left = step

    def trace(frame, event, _argument):
        nonlocal left
        if frame.f_code.co_filename != file:
            return None
        if event == "line":
            left -= 1
            if not left:
                act()
        return trace

    return trace


@contextmanager
def traced(trace: Callable[..., object]) -> Iterator[None]:
    """Trace what is done."""
    before = sys.gettrace()
    sys.settrace(trace)
    try:
        yield
    finally:
        sys.settrace(before)


@contextmanager
def room_for(size: int) -> Iterator[None]:
    """A disk on which no file may grow beyond so many bytes."""
    import resource

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, ignored)


def in_child(act: Callable[[], object]) -> int:
    """Start a copy of this process that acts, and nothing else; its number."""
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        act()
        code = 0
    finally:
        os._exit(code)


#: What stands in a forged file in place of something else.
HOSTILE: tuple[Any, ...] = (
    None, True, -1, 0, 1.5, 10**30, math.nan, math.inf, "", "x", "\ud7ff\0", "AAAA", [], {}, [None], {"x": 1},
    [["x"]], {"table": "AAAA"}, {"table": None}, {"tuple": 5}, {"mapping": []},
)  # fmt: skip


def resealed(data: bytearray) -> bytes:
    """The bytes with their own checksum, as anybody can compute it."""
    end = len(data) - storage._footer_size(bytes(data))
    start = end - storage.DIGEST
    if start > 0:
        data[start:end] = storage._digest(bytes(data[:start] + data[end:]))
    return bytes(data)


def forgeries(whole: bytes, tries: int, draw: random.Random) -> Iterator[bytes]:
    """Files with a valid checksum and other content: bytes, metadata, columns and rows that were changed."""
    stored = pq.read_table(io.BytesIO(whole))
    metadata = json.loads(pq.read_metadata(io.BytesIO(whole)).metadata[storage.METADATA])
    for i in range(tries):
        if i % 4 == 0:
            data = bytearray(whole)
            for _ in range(draw.randrange(1, 4)):
                data[draw.randrange(len(data))] = draw.randrange(256)
            yield resealed(data)
            continue
        forged, table = copy.deepcopy(metadata), stored
        if i % 4 == 3:
            table = _other_columns(stored, draw)
        else:
            _change(forged, draw)
        text = json.dumps(forged) if i % 8 != 1 else _other_text(json.dumps(forged), draw)
        yield storage.sealed(table.replace_schema_metadata({storage.METADATA: text.encode()}))


def _change(node: Any, draw: random.Random) -> None:
    """Replace, remove or change one entry somewhere in the metadata."""
    while True:
        keys = list(node) if isinstance(node, dict) else list(range(len(node)))
        key = draw.choice(keys)
        if isinstance(node[key], dict | list) and node[key] and draw.random() < 0.8:
            node = node[key]
            continue
        if draw.random() < 0.2:
            del node[key]
        elif isinstance(node[key], str) and node[key] and draw.random() < 0.5:
            node[key] = _other_text(node[key], draw)
        else:
            node[key] = draw.choice(HOSTILE)
        return


def _other_text(text: str, draw: random.Random) -> str:
    """Change, remove or repeat a piece of a text."""
    start = draw.randrange(len(text))
    end = min(start + draw.randrange(1, 9), len(text))
    return text[:start] + draw.choice(["", "A", "0", '"', "[" * 2000, text[start:end] * 2]) + text[end:]


def _other_columns(table: pa.Table, draw: random.Random) -> pa.Table:
    """Change the rows, the types or the number of the columns."""
    at, n = draw.randrange(table.num_columns), len(table)
    name, column = table.column_names[at], table.column(at)
    others = (
        pa.nulls(n), pa.array(["x"] * n), pa.array([-1.0] * n), pa.array([math.nan] * n), pa.array([math.inf] * n),
        pa.array([[1]] * n), pa.array([2**62] * n), column.take(pa.array(draw.sample(range(n), n), pa.int64())),
    )  # fmt: skip
    made = (
        lambda: table.set_column(at, name, draw.choice(others)),
        lambda: table.remove_column(at),
        lambda: table.append_column(draw.choice([name, "x"]), draw.choice(others)),
        lambda: table.take(pa.array(draw.sample(range(n), n), pa.int64())),
        lambda: table.slice(draw.randrange(n + 1)),
        lambda: table.set_column(at, "x", column),
    )
    return draw.choice(made)()

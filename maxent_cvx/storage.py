"""Terms in a Parquet file: labels, published counts and inferred counts, and everything needed to read them back."""

from __future__ import annotations

import base64
import json
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from .errors import TableError
from .people import People
from .space import Space
from .views import Release

__all__ = ["read_terms", "write_terms"]

#: Where the file keeps what is not a column.
METADATA = b"maxent_cvx"
#: The last three columns of the file.
COUNTS = ("N P(q,b)", "N P(s,b)", "N P(q,s,b)")


def write_terms(path: str | PathLike[str], space: Space, counts: np.ndarray, about: dict[str, Any]) -> None:
    """Write one row a term: its labels, n(q, b), n(s, b) and the inferred count; whole or not at all.

    Raises
    ------
    TableError
        If a column holds values that Parquet cannot store together.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    view, codes = space.view, space.codes
    roles = {"qi": list(view.qi), "sa": list(view.sensitive), "bucket": view.bucket}
    people = {"names": [n if isinstance(n, str) else int(n) for n in space.people.names], "q": space.people.q.tolist()}
    frame = _labels(space)
    columns, categories = {}, {}
    for name in frame.columns:
        column = frame[name]
        if isinstance(column.dtype, pd.CategoricalDtype):  # Arrow loses the order of some categories
            categories[name] = (_encode(column.cat.categories), bool(column.cat.ordered))
            column = pd.Series(column.cat.categories.take(column.cat.codes.to_numpy()), name=name)
        try:
            columns[name] = pa.Array.from_pandas(column)
        except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as error:
            raise TableError(f"Parquet cannot store the values of {name!r} together: {error.args[0]}") from error
    published = (view.n_qb[codes["q"], codes["bucket"]], view.n_sb[codes["s"], codes["bucket"]])
    arrays = [*columns.values(), *(pa.array(np.asarray(n).ravel()) for n in published), pa.array(counts)]
    table = pa.Table.from_arrays(arrays, names=[*columns, *COUNTS])
    metadata = json.dumps({"roles": roles, "people": people, "categories": categories, "about": about}).encode()
    pq.write_table(table.replace_schema_metadata({METADATA: metadata}), path)


def read_terms(path: str | PathLike[str]) -> tuple[Space, np.ndarray, dict[str, Any]]:
    """Read what :func:`write_terms` wrote: the space, the inferred counts, and what was said about them.

    Raises
    ------
    TableError
        If the file is another one.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    if not Path(path).is_file():
        raise TableError(f"there is no file {str(path)!r}")
    try:
        stored = pq.read_table(path)
        metadata: dict[str, Any] = json.loads((stored.schema.metadata or {})[METADATA])
    except (pa.ArrowInvalid, KeyError) as error:
        raise TableError(f"{str(path)!r} was not written by Posterior.save; give such a Parquet file") from error
    frame = stored.to_pandas()
    for name, (encoded, ordered) in metadata["categories"].items():
        frame[name] = pd.Categorical(frame[name], categories=_decode(encoded), ordered=ordered)
    roles = metadata["roles"]
    qi, sa, bucket = roles["qi"], roles["sa"], roles["bucket"]
    tables = [
        frame[labels].assign(**{COUNTS[i]: frame.iloc[:, -3 + i]}).drop_duplicates()
        for i, labels in enumerate(([*qi, bucket], [bucket, *sa]))
    ]
    tables[1].columns = pd.Index([bucket, *sa, COUNTS[0]])
    view = Release.from_tables(*tables, qi=qi, sa=sa, bucket=bucket, count=COUNTS[0])
    space = Space.of(view, People.at(metadata["people"]["names"], np.array(metadata["people"]["q"], dtype=int), view))
    if not all(frame[name].equals(column) for name, column in _labels(space).items()):
        raise TableError(f"the terms in {str(path)!r} are not in the order in which they were written")
    return space, frame.iloc[:, -1].to_numpy(), metadata["about"]


def _labels(space: Space) -> pd.DataFrame:
    """The labels of the terms; names as texts, since Parquet stores no column of texts and numbers."""
    frame = space.index.to_frame(index=False)
    return frame.astype({"who": str}) if len(space.people) else frame


def _encode(values: pd.Index) -> str:
    """Write an Index as text, types and all."""
    import pyarrow as pa

    table = pa.Table.from_pandas(pd.DataFrame({"value": values}), preserve_index=False)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return base64.b64encode(sink.getvalue().to_pybytes()).decode()


def _decode(text: str) -> pd.Index:
    """Read what :func:`_encode` wrote."""
    import pyarrow as pa

    with pa.ipc.open_stream(base64.b64decode(text)) as stream:
        return pd.Index(stream.read_all().to_pandas()["value"].array)

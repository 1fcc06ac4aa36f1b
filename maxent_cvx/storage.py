"""Terms in a Parquet file: labels, published counts and inferred counts, and everything needed to read them back."""

from __future__ import annotations

import base64
import json
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

from .errors import TableError
from .people import People
from .space import Space
from .tables import sort_distinct
from .views import GroupedRelease, QITable, Release, ReleaseSeries, View

__all__ = ["read_terms", "write_terms"]

#: Where the file keeps what is not a column.
METADATA = b"maxent_cvx"
#: The column of a published table that holds its counts, while it is read back.
COUNT = "N P"


def write_terms(path: str | PathLike[str], space: Space, counts: np.ndarray, about: dict[str, Any]) -> None:
    """Write one row a term: its labels, the published counts and the inferred one; whole or not at all.

    Raises
    ------
    TableError
        If a column holds values that Parquet cannot store together.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    view = space.view
    roles: dict[str, Any] = {"view": type(view).__name__, "generalized": getattr(view, "generalized", False)} | {
        role: list(columns) for role, (columns, _) in view.axes.items()
    }
    names = [str(count.name) for count in view.published.values()]
    names.append(f"N {space.term.replace(' ', '')}")
    if clash := set(names) & set(view.columns):
        raise TableError(f"a column is called {sorted(clash)[0]!r}, which the file needs for counts; rename the column")
    domain = [_domain(view.sensitive_values.get_level_values(i), name) for i, name in enumerate(view.sensitive)]
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
    for name, (by, count) in zip(names[:-1], view.published.items(), strict=True):
        row = space.marginal(by).matrix.tocsc().indices  # every term is in one row
        columns[name] = pa.array(count.to_numpy()[row])
    columns[names[-1]] = pa.array(counts)
    table = pa.Table.from_arrays(list(columns.values()), names=list(columns))
    releases = [_release(one) for one in view.releases] if isinstance(view, ReleaseSeries) else []
    about = {
        "roles": roles,
        "releases": releases,
        "domain": domain,
        "people": people,
        "categories": categories,
        "about": about,
    }
    metadata = json.dumps(about).encode()
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
    view = _view(frame, metadata["roles"], metadata["domain"], metadata.get("releases", []))
    space = Space.of(view, People.at(metadata["people"]["names"], np.array(metadata["people"]["q"], dtype=int), view))
    if not all(frame[name].equals(column) for name, column in _labels(space).items()):
        raise TableError(f"the terms in {str(path)!r} are not in the order in which they were written")
    return space, frame.iloc[:, -1].to_numpy(), metadata["about"]


def _release(release: Release) -> dict[str, Any]:
    """Write a release of a series."""
    assert release.persons is not None
    people, values = (_encode_table(table) for table in release.to_tables_of_people())
    name = release.persons.id
    qi = [column for column in release.qi if column != name]
    return {
        "people": people,
        "values": values,
        "qi": qi,
        "bucket": release.bucket,
        "id": name,
        "generalized": release.generalized,
    }


def _view(frame: pd.DataFrame, roles: dict[str, Any], domain: list[str], releases: list[dict[str, Any]]) -> View:
    """Make the view again, from the counts that were published."""
    qi, sa = roles["q"], roles["s"]
    if roles["view"] == "ReleaseSeries":
        return ReleaseSeries(
            replace(
                Release.from_tables(
                    _decode_table(one["people"]), _decode_table(one["values"]), qi=one["qi"], sa=sa,
                    bucket=one["bucket"], id=one["id"], count="Count", counterfeits=True,
                ),
                generalized=one["generalized"],
            )
            for one in releases
        )  # fmt: skip
    if roles["view"] == "Release":
        bucket = roles["bucket"][0]
        qi_table, sa_table = (
            frame[[*labels, bucket, count]].drop_duplicates().rename(columns={count: COUNT})
            for labels, count in ((qi, "N P(q,b)"), (sa, "N P(s,b)"))
        )
        found = Release.from_tables(qi_table, sa_table, qi=qi, sa=sa, bucket=bucket, count=COUNT, counterfeits=True)
        return replace(found, generalized=roles.get("generalized", False))
    if roles["view"] == "GroupedRelease":
        return _groups(frame, qi, sa[0], roles["bucket"][0], _decode(domain[0]).rename(sa[0]))
    levels = [_decode(level).rename(name) for level, name in zip(domain, sa, strict=True)]
    values = pd.MultiIndex.from_arrays(levels) if len(sa) > 1 else levels[0]
    distribution = None
    if "N P(s)" in frame.columns:
        by_value = frame[[*sa, "N P(s)"]].drop_duplicates().set_index(sa if len(sa) > 1 else sa[0])["N P(s)"]
        distribution = by_value.reindex(values, fill_value=0)
    people = frame[[*qi, "N P(q)"]].drop_duplicates()
    return QITable(people, qi=qi, sa=sa, sa_values=values, sa_distribution=distribution, count="N P(q)")


def _groups(frame: pd.DataFrame, qi: list[str], sa: str, bucket: str, values: pd.Index) -> View:
    """Make groups of a population again; terms are sorted by group, and every group has one of each tuple it covers."""
    q, tuples = sort_distinct(frame[qi])
    n_q = np.zeros(len(tuples), dtype=np.int64)
    n_q[q] = frame["N P(q)"]
    b, names = pd.factorize(frame[bucket])
    s = values.get_indexer(pd.Index(frame[sa]))
    _, first = np.unique(b * len(values) + s, return_index=True)
    shape = len(values), len(names)
    n_sb = sp.csr_array((frame["N P(s,b)"].to_numpy()[first], (s[first], b[first])), shape=shape)
    covered = sp.csr_array((np.ones(len(q)), (b, q)), shape=(len(names), len(tuples)))
    covered.data[:] = 1.0
    return GroupedRelease(tuple(qi), (sa,), tuples, n_q, values, pd.Index(names, name=bucket), n_sb, covered)


def _labels(space: Space) -> pd.DataFrame:
    """The labels of the terms; names as texts, since Parquet stores no column of texts and numbers."""
    frame = space.index.to_frame(index=False)
    return frame.astype({"who": str}) if len(space.people) else frame


def _domain(values: pd.Index, name: str) -> str:
    """Write the values of a sensitive attribute."""
    import pyarrow as pa

    try:
        return _encode(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as error:
        raise TableError(f"Parquet cannot store the values of {name!r} together: {error.args[0]}") from error


def _encode(values: pd.Index) -> str:
    """Write an Index as text, types and all."""
    return _encode_table(pd.DataFrame({"value": values}))


def _encode_table(frame: pd.DataFrame) -> str:
    """Write a table as text, types and all."""
    import pyarrow as pa

    table = pa.Table.from_pandas(frame, preserve_index=False)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return base64.b64encode(sink.getvalue().to_pybytes()).decode()


def _decode(text: str) -> pd.Index:
    """Read what :func:`_encode` wrote."""
    return pd.Index(_decode_table(text)["value"].array)


def _decode_table(text: str) -> pd.DataFrame:
    """Read what :func:`_encode_table` wrote."""
    import pyarrow as pa

    with pa.ipc.open_stream(base64.b64decode(text)) as stream:
        return stream.read_all().to_pandas()

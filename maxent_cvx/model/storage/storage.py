"""Terms in a Parquet file: labels, published counts and inferred counts, and everything needed to read them back."""

from __future__ import annotations

import json
from io import BytesIO
from typing import Any

import numpy as np
import pandas as pd

from ...errors import TableError, listing, shown
from ...system.files import path_of, write_beside
from ...terms.people import People
from ...terms.space import Space
from .checksum import METADATA, decoding, metadata_of, read_verified, sealed, verified
from .format_2 import read_view_of_format_2
from .labels import check_labels, from_arrow, same_labels, to_arrow
from .stored_views import read_view, view_parts

__all__ = ["read_terms", "write_terms"]

#: The way in which all is laid out, and the earlier one that is read, too; a file of another one is refused.
FORMAT, EARLIER = 3, 2


def write_terms(
    path: object, space: Space, counts: np.ndarray, about: dict[str, Any], model: dict[str, Any] | None = None
) -> None:
    """Write one row per term: its labels, the published counts and the inferred one; whole or not at all.

    What is written is read again before it takes the place of a file. `model` is what
    :func:`.models.knowledge_parts` gives.

    Raises
    ------
    TableError
        If the file cannot be written, or something of the posterior would not come back as it is.
    """
    found = path_of(path)
    try:
        data = sealed(_table(space, counts, about, model))
    except UnicodeEncodeError as error:
        raise TableError(f"a name holds {error.object!r}, which no file can; rename it") from error
    again, same_counts, *_ = _terms(verified(BytesIO(data), "what was written"), "what was written")
    if not (_same_space(space, again) and np.array_equal(counts, same_counts)):
        raise TableError(
            f"the posterior of this {space.view.noun} would not come back from the file as it is; "
            "report this, with the types of its columns"
        )
    write_beside(found, lambda draft: draft.write_bytes(data))


def _table(space: Space, counts: np.ndarray, about: dict[str, Any], model: dict[str, Any] | None) -> Any:
    """Make the table that is written."""
    import pyarrow as pa

    view = space.view
    names = [_count_name(count.name, by) for by, count in view.published.items()]
    names.append(f"N {space.term.replace(' ', '')}")
    if len(set(names)) < len(names):
        raise TableError(f"two tables of counts are called alike, {listing(names)}; name each by what it counts")
    if clash := set(names) & set(view.columns):
        raise TableError(f"a column is called {sorted(clash)[0]!r}, which the file needs for counts; rename the column")
    for labels, index in view.axes.values():
        for i, name in enumerate(labels):
            check_labels(index.levels[i] if isinstance(index, pd.MultiIndex) else index, name)
    pairs = {str(name): to_arrow(column) for name, column in _labels(space).items()}
    columns = {name: array for name, (array, _) in pairs.items()}
    for name, (by, count) in zip(names[:-1], view.published.items(), strict=True):
        row = space.marginal(by).matrix.tocsc().indices  # every term is in one row
        columns[name] = pa.array(count.to_numpy()[row])
    columns[names[-1]] = pa.array(counts)
    said = {
        "format": FORMAT,
        "view": view_parts(view),
        "columns": {name: spec for name, (_, spec) in pairs.items()},
        "people": {
            "names": [n if isinstance(n, str) else int(n) for n in space.people.names],
            "q": space.people.q.tolist(),
        },
        "about": about,
        "model": model,
    }
    metadata = json.dumps(said, default=lambda number: number.item()).encode()
    return pa.table(columns).replace_schema_metadata({METADATA: metadata})


def _count_name(given: object, by: tuple[str, ...]) -> str:
    """The column of published counts: as they are called, if it says what they are, or by what they are of."""
    return given if isinstance(given, str) and given.startswith("N P(") else f"N P({','.join(by)})"


#: The space, the inferred counts, what was written about them, and the knowledge of the model, if it is in the file.
Terms = tuple[Space, np.ndarray, dict[str, Any], dict[str, Any] | None]


def read_terms(path: object) -> Terms:
    """Read what :func:`write_terms` wrote.

    Raises
    ------
    TableError
        If there is no such file, or it is another one than was written.
    """
    return _terms(read_verified(path), repr(str(path_of(path))))


def _terms(stored: Any, what: str) -> Terms:
    """Make the terms again from a table that is as it was written, if only by other versions of what reads it."""
    with decoding(what, "solve and save again"):
        metadata = metadata_of(stored)
        if (version := metadata.get("format")) in (FORMAT, EARLIER):
            return _understood(stored, metadata)
        if "knowledge" in metadata:
            raise TableError("it holds a model, and not a posterior; MaxEnt.load reads it")
        raise TableError(
            f"it is of format {shown(version)}, and this version of maxent_cvx reads formats {EARLIER} and {FORMAT}; "
            "solve and save again"
        )


def _understood(stored: Any, metadata: dict[str, Any]) -> Terms:
    """Make the view again, and number its terms; they must be those of the file, in the same order."""
    columns, named = metadata["columns"], metadata["people"]
    frame = pd.DataFrame(
        {
            name: from_arrow(stored[name], columns[name]) if name in columns else stored[name].to_pandas()
            for name in stored.column_names
        }
    )
    earlier = metadata["format"] == EARLIER
    view = read_view_of_format_2(frame, metadata["view"]) if earlier else read_view(metadata["view"])
    space = Space.of(view, People.at(named["names"], np.array(named["q"], dtype=int), view))
    if not all(frame[name].equals(column) for name, column in _labels(space).items()):
        raise TableError("the terms are not in the order in which they were written")
    counts = frame.iloc[:, -1].to_numpy()
    if counts.dtype != float or not (np.isfinite(counts) & (counts >= 0)).all():
        raise TableError(f"the column {frame.columns[-1]!r} must hold finite, non-negative numbers of records")
    return space, counts, metadata["about"], metadata.get("model")


def _same_space(one: Space, other: Space) -> bool:
    """Whether the views are of one class, and the terms have the same labels, codes and published counts."""
    mine, theirs = one.view.published, other.view.published
    published = zip(mine.values(), theirs.values(), strict=False)
    return (
        type(one.view) is type(other.view)
        and (one.view.qi, one.view.sensitive) == (other.view.qi, other.view.sensitive)
        and (list(mine), list(one.codes)) == (list(theirs), list(other.codes))
        and np.array_equal(one.view.n_q, other.view.n_q)
        and all(np.array_equal(code, other.codes[role]) for role, code in one.codes.items())
        and all(same_labels(one.view.axes[role][1], other.view.axes[role][1]) for role in one.view.axes)
        and all(np.array_equal(first.to_numpy(), second.to_numpy()) for first, second in published)
        and same_labels(one.people.names, other.people.names)
    )


def _labels(space: Space) -> pd.DataFrame:
    """The labels of the terms; names as texts, since Parquet stores no column of texts and numbers."""
    frame = space.index.to_frame(index=False)
    return frame.astype({"who": str}) if len(space.people) else frame

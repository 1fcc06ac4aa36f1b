"""A model in a Parquet file: its view, people, prior and knowledge, and everything that is needed to make it again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ...errors import MaxEntError, StatementError, TableError, shown
from ...priors import QIDistribution
from ...sources import PriorZeros, Source, Statement, read_statement
from ...terms.people import People
from ...terms.rows import Rows
from ...terms.space import Space
from ...views import View
from ..emitted_rows import EmittedRows, StoredSource
from .checksum import METADATA, decoding, metadata_of, sealed
from .labels import from_arrow, index_of, to_arrow
from .stored_rows import Blocks, read_blocks, write_blocks
from .stored_views import read_value, read_view, view_parts, write_value

__all__ = ["WRITER", "StoredModel", "knowledge_parts", "model_of_parts", "read_model", "sealed_model"]

#: What writes such a file, for messages.
WRITER = "MaxEnt.save"
#: The way in which all is laid out; a file of another one is refused.
FORMAT = "model 1"


@dataclass(frozen=True, eq=False)
class StoredModel:
    """What a model was made of.

    Attributes
    ----------
    view : View
    people : People
    prior : QIDistribution or None
    knowledge : list of dict
        Of every piece of knowledge its label, its source, and how many blocks of rows it has.
    blocks : Blocks
        The rows of all of them.
    """

    view: View
    people: People
    prior: QIDistribution | None
    knowledge: list[dict[str, Any]]
    blocks: Blocks

    def entries(self, space: Space) -> dict[str, EmittedRows | None]:
        """The knowledge by its labels; None for what the prior rules out, which a model emits by itself."""
        blocks = read_blocks(self.blocks, len(space), space.view)
        found: dict[str, EmittedRows | None] = {}
        for one in self.knowledge:
            rows = tuple(next(blocks) for _ in range(one["blocks"]))
            if one["of_prior"]:
                found[one["label"]] = None
                continue
            text = one["statement"]
            source = StoredSource(one["kind"], one["own_label"], rows) if text is None else read_statement(text)
            found[one["label"]] = EmittedRows(source, rows)
        return found


def sealed_model(space: Space, prior: QIDistribution | None, knowledge: Mapping[str, EmittedRows]) -> bytes:
    """Write a model as the bytes of a Parquet file with a checksum: a row a coefficient of the knowledge.

    Raises
    ------
    StatementError
        If knowledge is convex, and not linear.
    TableError
        If labels or names would not come back as they are.
    """
    import pyarrow as pa

    entries, parts = _knowledge(prior, knowledge)
    pairs = {name: to_arrow(column) for name, column in entries.items()}
    metadata = {
        "format": FORMAT,
        "view": view_parts(space.view),
        "people": {
            "names": [n if isinstance(n, str) else int(n) for n in space.people.names],
            "q": space.people.q.tolist(),
        },
        "columns": {name: spec for name, (_, spec) in pairs.items()},
        **parts,
    }
    try:
        written = json.dumps(metadata, default=lambda number: number.item()).encode()
        table = pa.table({name: array for name, (array, _) in pairs.items()})
        return sealed(table.replace_schema_metadata({METADATA: written}))
    except UnicodeEncodeError as error:
        raise TableError(f"a name holds {error.object!r}, which no file can; rename it") from error


def knowledge_parts(prior: QIDistribution | None, knowledge: Mapping[str, EmittedRows]) -> dict[str, Any]:
    """Write the prior and the knowledge of a model down for the file of its posterior; or why no file can hold them."""
    try:
        entries, parts = _knowledge(prior, knowledge)
        return {**parts, "entries": write_value(entries, "model")}
    except MaxEntError as error:
        return {"missing": str(error)}


def model_of_parts(view: View, people: People, parts: dict[str, Any]) -> StoredModel:
    """Read what :func:`knowledge_parts` wrote."""
    return _model(view, people, parts, read_value(parts["entries"]))


def _knowledge(
    prior: QIDistribution | None, knowledge: Mapping[str, EmittedRows]
) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Write the prior and the knowledge of a model down: the table of coefficients, and everything else."""
    said: list[dict[str, Any]] = []
    blocks: list[Rows] = []
    for label, one in knowledge.items():
        if one.convex:
            raise StatementError(
                f"{label!r} is a convex constraint of CVXPY, which no file can hold; save a copy without it, "
                f"model.copy().remove({label!r}), and add it again to what MaxEnt.load gives"
            )
        of_prior = isinstance(one.source, PriorZeros)
        blocks += [] if of_prior else one.rows
        kind = one.source.kind if isinstance(one.source, StoredSource) else type(one.source).__name__
        about = {"label": label, "kind": kind, "own_label": one.source.label, "statement": _text(one.source)}
        said.append({**about, "of_prior": of_prior, "blocks": 0 if of_prior else len(one.rows)})
    entries, numbers, of_blocks = write_blocks(blocks)
    return entries, {
        "prior": None if prior is None else _prior_parts(prior),
        "knowledge": said,
        "numbers": write_value(numbers, "model"),
        "blocks": of_blocks,
    }


def read_model(stored: Any, what: str) -> StoredModel:
    """Make the parts of a model again from a table that is as it was written, if only by other versions of this.

    Raises
    ------
    TableError
    """
    with decoding(what, "make the model again"):
        metadata = metadata_of(stored)
        if "about" in metadata:
            raise TableError("it holds a posterior, and not a model; load_posterior reads it")
        if (version := metadata.get("format")) != FORMAT:
            raise TableError(
                f"it is of format {shown(version)}, and this version of maxent_cvx reads {FORMAT!r}; make the model "
                "again"
            )
        view, named, specs = read_view(metadata["view"]), metadata["people"], metadata["columns"]
        entries = pd.DataFrame({name: from_arrow(stored[name], specs[name]) for name in specs})
        return _model(view, People.at(named["names"], np.array(named["q"], dtype=int), view), metadata, entries)


def _model(view: View, people: People, parts: dict[str, Any], entries: pd.DataFrame) -> StoredModel:
    """Make the parts of a model of what was written."""
    prior = None if parts["prior"] is None else _prior(parts["prior"])
    blocks = entries, read_value(parts["numbers"]), parts["blocks"]
    return StoredModel(view, people, prior, parts["knowledge"], blocks)


def _text(source: Source) -> str | None:
    """A statement in the papers' notation, if that says exactly the same."""
    if not isinstance(source, Statement):
        return None
    try:
        return str(source) if read_statement(str(source)) == source else None
    except MaxEntError:  # labels that cannot be written
        return None


def _prior_parts(prior: QIDistribution) -> dict[str, Any]:
    """Write a prior down."""
    tables = []
    for attributes, table in prior.tables.items():
        levels = {str(i): table.index.get_level_values(i) for i in range(table.index.nlevels)}
        signatures = pd.DataFrame({name: pd.Series(level.array, dtype=level.dtype) for name, level in levels.items()})
        numbers = pd.DataFrame(table.to_numpy(), columns=[str(i) for i in range(table.shape[1])])
        values = pd.DataFrame({"value": pd.Series(table.columns.array, dtype=table.columns.dtype)})
        parts = {"attributes": list(attributes), "signatures": signatures, "values": values, "p": numbers}
        tables.append({**parts, "name": table.columns.name})
    return {"tables": write_value(tables, "prior"), "about": prior.about}


def _prior(parts: dict[str, Any]) -> QIDistribution:
    """Make a prior again."""
    tables = {}
    for one in read_value(parts["tables"]):
        levels = [index_of(one["signatures"][name]) for name in one["signatures"]]
        index = pd.MultiIndex.from_arrays(levels, names=one["attributes"])
        columns = index_of(one["values"]["value"]).rename(one["name"])
        tables[tuple(one["attributes"])] = pd.DataFrame(one["p"].to_numpy(), index=index, columns=columns)
    return QIDistribution(tables, about=parts["about"])

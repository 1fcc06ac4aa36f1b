"""The outputs of commands: tables, pictures and JSON documents, checked before any work is done."""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
from collections.abc import Callable, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .. import measures
from .._utils.errors import MaxEntError, TableError
from .._utils.files import write_beside
from ..measures.exposure import Exposure
from ..model.partitioned import PartitionedPosterior
from ..model.posterior import Posterior
from ..releases.generalized import label_of
from .inputs import where_of
from .streams import DASH, data_stream, say

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .quantify import Verdict

__all__ = [
    "PICTURES",
    "check_output",
    "draw",
    "not_a_formula",
    "scored",
    "tabulated",
    "without_formulas",
    "write",
    "write_result",
]

# The JSON documents of ``--json``; its keys are explained in docs/reference/command_line.md.


#: The version of the document: another one where a key goes or changes its meaning, and the same where one is new.
FORMAT = 1
#: Statements that are left out one after the other, each with a solve, to say through which people are exposed.
LEFT_OUT = 10
#: Packages whose version may matter to a number.
PACKAGES = {"maxent_cvx": "maxent-cvx", "numpy": "numpy", "scipy": "scipy", "pandas": "pandas"}


def write_result(
    options: argparse.Namespace,
    post: Posterior | PartitionedPosterior,
    knowledge: Mapping[str, Any],
    verdict: Verdict,
    more: Mapping[str, object],
    status: int,
) -> None:
    """Write the answer to standard output."""
    view: Any = post.release if isinstance(post, PartitionedPosterior) else post.space.view
    where = where_of(knowledge)
    worst = measures.disclosure(post, worst=True).iloc[0].to_dict()
    few = len(knowledge) <= LEFT_OUT
    limit = {"above": verdict.limit, **_exposure(verdict.above, few)} if verdict.above is not None else None
    _write(
        options,
        status,
        {
            "release": _release(view),
            "knowledge": [{"statement": label, "where": where.get(label)} for label in knowledge],
            "entropy_nats": post.entropy,
            "certificate": {**post.certificate.to_dict(), "holds": post.certificate.holds},
            "exposure": _exposure(verdict.exposure, few),
            "worst_disclosure": worst,
            "fail_above": limit,
            "people": [],
            "divergence_bits": None,
            "advice": [],
            "risks": [],
            **more,
        },
    )


def scored(options: argparse.Namespace, view: Any, table: pd.DataFrame) -> None:
    """Write the scores of --top to standard output."""
    _write(options, 0, {"release": _release(view), "scores": table.to_dict("records")})


def tabulated(options: argparse.Namespace, **found: object) -> None:
    """Write tables, and what else is found, to standard output."""
    _write(options, 0, {key: _rows(one) if isinstance(one, pd.DataFrame) else one for key, one in found.items()})


def _rows(table: pd.DataFrame) -> list[Any]:
    """A table as its rows; of probabilities, which are labelled, each with the group that it is of."""
    rows = table.to_dict("records")
    if isinstance(table.index, pd.RangeIndex):
        return rows
    names = [*map(str, table.index.names)]
    return [
        {"group": dict(zip(names, _labels(label), strict=True)), "P": row}
        for label, row in zip(table.index, rows, strict=True)
    ]


def _labels(label: object) -> tuple[object, ...]:
    return label if isinstance(label, tuple) else (label,)


def failure(options: argparse.Namespace, error: BaseException, message: str, status: int) -> None:
    """Write why there is no answer to standard output."""
    conflict = getattr(error, "conflict", None)
    among = None if conflict is None else conflict.reset_index().to_dict("records")
    _write(options, status, {"error": {"kind": type(error).__name__, "message": message, "conflict": among}})


def _write(options: argparse.Namespace, status: int, found: Mapping[str, object]) -> None:
    versions = {name: version(package) for name, package in PACKAGES.items()} | {"python": platform.python_version()}
    first = {
        "format": FORMAT,
        "status": status,
        "tables": _tables(options),
        "left_out": getattr(options, "dropped", []),
    }
    text = json.dumps(_plain({**first, **found, "versions": versions}), indent=2, allow_nan=False)
    print(text.replace("\x7f", "\\u007f"), file=data_stream(), flush=True)  # the one control character json leaves


def _tables(options: argparse.Namespace) -> list[str]:
    """What was read, of a series and of partitions all of it."""
    given = options.table if hasattr(options, "table") else options.tables
    return [*(given if isinstance(given, list) else [given]), *(getattr(options, "more", None) or [])]


def _release(view: Any) -> dict[str, object]:
    """What is published, without anybody's record."""
    values: list[object] = [",".join(map(str, one)) if isinstance(one, tuple) else one for one in view.sensitive_values]
    numbers = None if view.n_s is None else np.asarray(view.n_s).tolist()
    return {
        "kind": type(view).__name__,
        "said": f"{view!r}"[1:-1],
        "records": int(view.n_records),
        "qi": list(view.qi),
        "sensitive": list(view.sensitive),
        "qi_tuples": len(view.quasi_identifiers) if hasattr(view, "quasi_identifiers") else None,
        "buckets": len(view.buckets) if hasattr(view, "buckets") and np.ndim(view.buckets) == 1 else None,
        "values": [
            {"value": value, "records": n} for value, n in zip(values, numbers or [None] * len(values), strict=True)
        ],
    }


def _exposure(found: Exposure, few: bool) -> dict[str, object]:
    """Who is exposed, by what."""
    attributes = [name for name in found.who.index.names if name is not None]
    who = []
    for group, row in zip(found.who.index, found.who.to_dict("records"), strict=True):
        said = {str(name): row.pop(name) for name in ("P", "baseline", "people") if name in row}
        if "baseline" in said:
            said["lift"] = said["P"] / said["baseline"] if said["baseline"] else None
        of = {str(name): label for name, label in zip(attributes, _labels(group), strict=True)}
        who.append({"group": of, "value": row, **said})
    values = getattr(found, "values", pd.DataFrame())
    uncounted = getattr(found, "uncounted", pd.DataFrame())
    return {
        "threshold": found.threshold,
        "baseline": getattr(found, "baseline", None),
        "people": found.people,
        "of": int(found.histogram.sum()),
        "who": who,
        "values": values.reset_index().to_dict("records"),
        "uncounted": uncounted.reset_index().to_dict("records"),
        "warnings": list(getattr(found, "warnings", ())),
        "undecided": list(found.undecided),
        "within": _measured(found.within),
        "expected_error": _measured(found.expected_error),
        "expected_error_before": _measured(found.expected_error_before),
        "through": _through(found) if few and found.people else None,
        "said": str(found),
        "attack_success": found.attack_success,
    }


def _measured(distance: object) -> object:
    """A number; a duration as text."""
    return str(distance) if isinstance(distance, pd.Timedelta) else distance


def _through(found: Exposure) -> list[Any] | None:
    """How many of the exposed people are exposed through each statement, if that can be found out."""
    try:
        return found.statements.reset_index().to_dict("records")
    except MaxEntError:
        return None


def _plain(value: Any) -> Any:
    """What JSON holds: infinite and missing numbers are null, intervals and sets the texts that they are read from."""
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [_plain(one) for one in value]
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or value is pd.NA or value is pd.NaT:
        return None
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if isinstance(value, str | int | bool) else label_of(value)


#: Endings of files that a plot is drawn to.
PICTURES = {".png", ".pdf", ".svg"}
#: What formulas begin with in spreadsheets; of some languages with the wide form of a sign.
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")


def check_output(path: str | None, endings: set[str]) -> None:
    """Refuse a file that cannot be written, before any work."""
    if path is None or (path == DASH and ".csv" in endings):
        return
    folder = Path(path).resolve().parent
    if not folder.is_dir() or not os.access(folder, os.W_OK):
        raise TableError(f"cannot write {path!r}: there is no writable folder {str(folder)!r}")
    if Path(path).is_dir():
        raise TableError(f"cannot write {path!r}: it is a folder")
    if Path(path).suffix not in endings:
        raise TableError(f"cannot write {path!r}: the name must end in {' or '.join(sorted(endings))}")


def without_formulas(table: pd.DataFrame, options: argparse.Namespace) -> pd.DataFrame:
    """Put an apostrophe before each text, name or label that a spreadsheet would take for a formula, if asked for."""
    if not options.escape_formulas:
        return table
    changed = table.map(not_a_formula).rename(index=not_a_formula, columns=not_a_formula)
    if (changed.nunique().to_numpy() < table.nunique().to_numpy()).any() or changed.columns.has_duplicates:
        raise TableError("--escape-formulas: a text is there both with and without an apostrophe before it; rename one")
    return changed.rename_axis(index=not_a_formula, columns=not_a_formula)


def not_a_formula(cell: object) -> object:
    """Put an apostrophe before a text that a spreadsheet would take for a formula."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(FORMULA) else cell


def draw(path: str, axes: Axes) -> None:
    """Write a plot."""
    import matplotlib.pyplot as plt

    figure = axes.get_figure(root=True)
    assert figure is not None
    write(path, lambda to: figure.savefig(to, dpi=150))
    plt.close(figure)


def write(path: str, save: Callable[[Any], object], what: str = "") -> None:
    """Write a file whole or not at all; for a dash, to standard output."""
    if path == DASH:
        save(data_stream())
        return
    write_beside(path, save)
    say(f"wrote {path}{what}")

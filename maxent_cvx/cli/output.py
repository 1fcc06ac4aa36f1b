"""The outputs of commands: tables, plots and JSON documents, whose files are checked before any work is done."""

from __future__ import annotations

import json
import math
import os
import platform
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
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
from .inputs import printed, where_of
from .streams import DASH, data_stream, left_out, say

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .quantify import Verdict

#: The version of the JSON document; it changes if a key is removed or changes its meaning, but not if a key is added.
FORMAT = 1
#: With more statements, the exposure is not attributed to them, which takes one solve per statement.
MOST_STATEMENTS = 10
#: Packages whose version may affect a number.
PACKAGES = {"maxent_cvx": "maxent-cvx", "numpy": "numpy", "scipy": "scipy", "pandas": "pandas"}
#: Endings of plot files.
PICTURES = {".png", ".pdf", ".svg"}
#: First signs of formulas in spreadsheets; the last four are full-width signs.
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")


# ---------------------------------------------------- JSON documents, whose keys docs/reference/command_line.md explains


def write_result(
    options: Any,
    post: Posterior | PartitionedPosterior,
    knowledge: Mapping[str, Any],
    verdict: Verdict,
    *,
    advice: Sequence[str] = (),
    risks: Sequence[object] = (),
    divergence_bits: float | None = None,
    people: Sequence[object] = (),
) -> None:
    """Write the answer of ``quantify`` to standard output."""
    view: Any = post.view
    where = where_of(knowledge)
    attribute = len(knowledge) <= MOST_STATEMENTS
    limit = None
    if verdict.above is not None:
        limit = {"above": verdict.limit, **_exposure(verdict.above, attribute)}
    document = {
        "release": describe_release(view),
        "knowledge": [{"statement": label, "where": where.get(label)} for label in knowledge],
        "entropy_nats": post.entropy,
        "certificate": {**post.certificate.to_dict(), "holds": post.certificate.holds},
        "exposure": _exposure(verdict.exposure, attribute),
        "worst_disclosure": measures.disclosure(post, worst=True).iloc[0].to_dict(),
        "fail_above": limit,
        "people": people,
        "divergence_bits": divergence_bits,
        "advice": advice,
        "risks": risks,
    }
    _write(options.tables, verdict.status, document)


def write_tables(options: Any, **results: object) -> None:
    """Write tables, and other results, to standard output."""
    document = {key: _rows(result) if isinstance(result, pd.DataFrame) else result for key, result in results.items()}
    _write(options.tables, 0, document)


def write_failure(tables: Sequence[str], error: BaseException, message: str, status: int) -> None:
    """Write the error document to standard output."""
    conflict = getattr(error, "conflict", None)
    among = None if conflict is None else conflict.reset_index().to_dict("records")
    _write(tables, status, {"error": {"kind": type(error).__name__, "message": message, "conflict": among}})


def _write(tables: Sequence[str], status: int, results: Mapping[str, object]) -> None:
    versions = {name: version(package) for name, package in PACKAGES.items()} | {"python": platform.python_version()}
    first = {"format": FORMAT, "status": status, "tables": tables, "left_out": left_out()}
    text = json.dumps(_plain({**first, **results, "versions": versions}), indent=2, allow_nan=False)
    print(text.replace("\x7f", "\\u007f"), file=data_stream(), flush=True)  # not escaped by json


def _rows(table: pd.DataFrame) -> list[Any]:
    """Return the rows of a table; labelled probabilities with their groups."""
    rows = table.to_dict("records")
    if isinstance(table.index, pd.RangeIndex):
        return rows
    names = [*map(str, table.index.names)]
    return [
        {"group": dict(zip(names, _as_tuple(label), strict=True)), "P": row}
        for label, row in zip(table.index, rows, strict=True)
    ]


def _as_tuple(label: object) -> tuple[object, ...]:
    return label if isinstance(label, tuple) else (label,)


def describe_release(view: Any) -> dict[str, object]:
    """Describe the release, without any record."""
    values = [printed(value) if isinstance(value, tuple) else value for value in view.sensitive_values]
    counts = [None] * len(values) if view.n_s is None else np.asarray(view.n_s).tolist()
    has_buckets = hasattr(view, "buckets") and np.ndim(view.buckets) == 1
    n_buckets = getattr(view, "n_buckets", len(view.buckets) if has_buckets else None)
    return {
        "kind": type(view).__name__,
        "said": f"{view!r}"[1:-1],
        "records": int(view.n_records),
        "qi": list(view.qi),
        "sensitive": list(view.sensitive),
        "qi_tuples": len(view.quasi_identifiers) if hasattr(view, "quasi_identifiers") else None,
        "buckets": n_buckets,
        "values": [{"value": value, "records": n} for value, n in zip(values, counts, strict=True)],
    }


def _exposure(exposure: Exposure, attribute: bool) -> dict[str, object]:
    """Describe the exposed groups, and the statements that expose them."""
    attributes = [name for name in exposure.who.index.names if name is not None]
    who = []
    for group, row in zip(exposure.who.index, exposure.who.to_dict("records"), strict=True):
        numbers = {str(name): row.pop(name) for name in ("P", "baseline", "people") if name in row}
        if "baseline" in numbers:
            numbers["lift"] = numbers["P"] / numbers["baseline"] if numbers["baseline"] else None
        labels = {str(name): label for name, label in zip(attributes, _as_tuple(group), strict=True)}
        who.append({"group": labels, "value": row, **numbers})
    through = None
    if attribute and exposure.people:
        with suppress(MaxEntError):  # raised in partitions, or if no model can be solved
            through = exposure.statements.reset_index().to_dict("records")
    return {
        "threshold": exposure.threshold,
        "baseline": exposure.baseline,
        "people": exposure.people,
        "of": exposure.total,
        "who": who,
        "values": exposure.values.reset_index().to_dict("records"),
        "uncounted": exposure.uncounted.reset_index().to_dict("records"),
        "warnings": exposure.warnings,
        "undecided": exposure.undecided,
        "within": exposure.within,
        "expected_error": exposure.expected_error,
        "expected_error_before": exposure.expected_error_before,
        "through": through,
        "said": str(exposure),
        "attack_success": exposure.attack_success,
    }


def _plain(value: Any) -> Any:
    """Convert a value for JSON: infinite and missing numbers to null, intervals and sets to their text."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [_plain(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or value is pd.NA or value is pd.NaT:
        return None
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if isinstance(value, str | int | bool) else label_of(value)


# ----------------------------------------------------------------------------------------------------------------- files


def check_output(path: str | None, endings: set[str]) -> None:
    """Refuse an output file that cannot be written, before any work."""
    if path is None or (path == DASH and ".csv" in endings):
        return
    folder = Path(path).resolve().parent
    if not folder.is_dir() or not os.access(folder, os.W_OK):
        raise TableError(f"cannot write {path!r}: {str(folder)!r} is not a writable folder")
    if Path(path).is_dir():
        raise TableError(f"cannot write {path!r}: it is a folder")
    if Path(path).suffix not in endings:
        raise TableError(f"cannot write {path!r}: the name must end in {' or '.join(sorted(endings))}")


def without_formulas(table: pd.DataFrame, options: Any) -> pd.DataFrame:
    """With --escape-formulas, put an apostrophe before every text that spreadsheets would run as a formula."""
    if not options.escape_formulas:
        return table
    changed = table.map(not_a_formula).rename(index=not_a_formula, columns=not_a_formula)
    if (changed.nunique().to_numpy() < table.nunique().to_numpy()).any() or changed.columns.has_duplicates:
        raise TableError("--escape-formulas: a text occurs both with and without a leading apostrophe; rename one")
    return changed.rename_axis(index=not_a_formula, columns=not_a_formula)


def not_a_formula(cell: object) -> object:
    """Put an apostrophe before a text that spreadsheets would run as a formula.

    >>> not_a_formula("=1+1"), not_a_formula("'=1"), not_a_formula(-1)
    ("'=1+1", "'=1", -1)
    """
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(FORMULA) else cell


def draw(path: str, axes: Axes) -> None:
    """Write a plot, and close it."""
    import matplotlib.pyplot as plt

    figure = axes.get_figure(root=True)
    assert figure is not None
    write(path, lambda to: figure.savefig(to, dpi=150))
    plt.close(figure)


def write_answer(
    options: Any, table: pd.DataFrame, plot: Callable[[], Axes], *, index: bool = True, **results: object
) -> None:
    """Write the table to --out and the plot to --plot, and print the results with --json."""
    if options.out:
        write(options.out, partial(without_formulas(table, options).to_csv, index=index))
    if options.plot:
        draw(options.plot, plot())
    if options.json:
        write_tables(options, **results)


def write(path: str, save: Callable[[Any], object], what: str = "") -> None:
    """Write a file completely or not at all; "-" is standard output."""
    if path == DASH:
        save(data_stream())
        return
    write_beside(path, save)
    say(f"wrote {path}{what}")

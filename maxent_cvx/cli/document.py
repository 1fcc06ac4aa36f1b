"""The JSON document of ``maxent-cvx quantify --json``; its keys are explained in docs/reference/command_line.md."""

from __future__ import annotations

import argparse
import json
import math
import platform
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

import numpy as np
import pandas as pd

from .. import measures
from ..errors import MaxEntError
from ..measures import Exposure
from ..model.partitioned.partitioned_posterior import PartitionedPosterior
from ..model.posterior import Posterior
from ..views.generalized.dialects import label_of
from .judging import Verdict
from .knowledge import where_of
from .streams import data_stream

__all__ = ["answered", "failure", "scored"]

#: The version of the document: another one where a key goes or changes its meaning, and the same where one is new.
FORMAT = 1
#: Packages whose version may matter to a number.
PACKAGES = {"maxent_cvx": "maxent-cvx", "numpy": "numpy", "scipy": "scipy", "pandas": "pandas"}


def answered(
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
    limit = {"above": verdict.limit, **_exposure(verdict.above)} if verdict.above is not None else None
    _write(
        options,
        status,
        {
            "release": _release(view),
            "knowledge": [{"statement": label, "where": where.get(label)} for label in knowledge],
            "entropy_nats": post.entropy,
            "certificate": {**post.certificate.to_dict(), "holds": post.certificate.holds},
            "exposure": _exposure(verdict.exposure),
            "worst_disclosure": worst,
            "fail_above": limit,
            **more,
        },
    )


def scored(options: argparse.Namespace, view: Any, table: pd.DataFrame) -> None:
    """Write the scores of --top to standard output."""
    _write(options, 0, {"release": _release(view), "scores": table.to_dict("records")})


def failure(options: argparse.Namespace, error: MaxEntError | OSError, message: str, status: int) -> None:
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
    text = json.dumps(_plain({**first, **found, "versions": versions}), indent=2, ensure_ascii=False, allow_nan=False)
    print(text, file=data_stream())


def _tables(options: argparse.Namespace) -> list[str]:
    """What was read, of a series and of partitions all of it."""
    return [options.table, *(getattr(options, "more", None) or [])]


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


def _exposure(found: Exposure) -> dict[str, object]:
    """Who is exposed, by what."""
    attributes = [name for name in found.who.index.names if name is not None]
    who = []
    for group, row in zip(found.who.index, found.who.to_dict("records"), strict=True):
        labels = group if isinstance(group, tuple) else (group,)
        said = {str(name): row.pop(name) for name in ("P", "baseline", "people") if name in row}
        of = {str(name): label for name, label in zip(attributes, labels, strict=True)}
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
        "said": str(found),
        "attack_success": found.attack_success,
    }


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

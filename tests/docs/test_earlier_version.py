"""Code written for an earlier version runs, and the files that it saved can be read."""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import maxent_cvx as mx
from support import public_api
from support.stored_views import KINDS

SUPPORT = Path(public_api.__file__).parent
#: Removed after 0.2.0, each with a line in the changelog.
REMOVED = (
    "mx.solvers.Answer.corner",
    "mx.solvers.Iteration.part",
    "mx.solvers.Iteration.parts",
    "mx.testing.problems",
    "mx.worlds.sample_linkage",
)


def signatures(lines) -> dict[str, ast.arguments | None]:
    """Map each public name to its parameters, or to None if it is not called."""
    result = {}
    for line in lines:
        name, bracket, rest = line.partition("(")
        text = f"def f({rest}: pass".replace("<factory>", "None")
        result[name] = ast.parse(text).body[0].args if bracket else None  # type: ignore[attr-defined]
    return result


def is_compatible(old: ast.arguments, new: ast.arguments) -> bool:
    """Whether every call that the old parameters permit is permitted by the new ones."""
    old_positional, positional = ([a.arg for a in args.posonlyargs + args.args] for args in (old, new))
    accepted = {*positional, *(a.arg for a in new.kwonlyargs)}
    optional = {
        *(positional[len(positional) - len(new.defaults) :]),
        *(a.arg for a, default in zip(new.kwonlyargs, new.kw_defaults, strict=True) if default is not None),
    }
    known = {*old_positional, *(a.arg for a in old.kwonlyargs)}
    return (
        positional[: len(old_positional)] == old_positional
        and (known <= accepted or new.kwarg is not None)
        and accepted - known <= optional
    )


def test_public_names():
    """Every name of 0.2.0 exists and takes the same arguments, unless the changelog says that it was removed."""
    text = (SUPPORT / "public_api_0.2.0.txt").read_text(encoding="utf-8").replace("mx.disguise", "mx.anonymize")
    before = signatures(line for line in text.splitlines() if not line.startswith("errors."))
    before = {name: old for name, old in before.items() if not any(f"{name}.".startswith(f"{r}.") for r in REMOVED)}
    now = signatures(public_api.lines())
    assert len(before) > 500
    assert set(before) - set(now) == set()
    changed = [name for name, old in before.items() if old and not (now[name] and is_compatible(old, now[name]))]
    # `models` for `model`; no `corner`; no `part` and `parts`
    assert changed == ["mx.compare_solvers", "mx.solvers.Answer", "mx.solvers.Iteration"]


@pytest.mark.parametrize("kind", KINDS)
def test_what_0_2_0_saved_is_read(kind: str):
    """Posteriors of every kind of view, saved by version 0.2.0, are those that are solved for now."""
    earlier = mx.load_posterior(SUPPORT / "saved" / "0.2.0" / f"{kind}.parquet")
    now = KINDS[kind]().solve()
    assert type(earlier.space.view) is type(now.space.view)
    pd.testing.assert_index_equal(earlier.joint().index, now.joint().index)
    bound = earlier.certificate.bound + now.certificate.bound + 1e-12
    np.testing.assert_allclose(earlier.conditional(), now.conditional(), atol=bound)


def test_what_0_1_0_saved_can_be_converted():
    """The error says that version 0.2.0 reads the file and saves it again."""
    with pytest.raises(mx.TableError, match=r"0\.2\.0"):
        mx.load_posterior(SUPPORT / "saved" / "0.1.0" / "release.parquet")

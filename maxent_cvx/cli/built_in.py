"""Tables that travel with the package, and what a command assumes of them unless told otherwise."""

from __future__ import annotations

import argparse
from collections.abc import Callable

import pandas as pd

from .. import datasets

__all__ = ["BUILT_IN", "assume"]

BUILT_IN: dict[str, tuple[Callable[[], pd.DataFrame], dict[str, object]]] = {
    "adult": (
        datasets.load_adult,
        {
            "qi": ",".join(datasets.ADULT_QI), "sa": "education", "rows": 14_210, "l": 5, "exempt": 2,
            "top": [0, 10, 50, 100, 200, 500],
        },
    ),
    "hospital": (datasets.load_hospital, {"qi": "Gender,Degree", "sa": "Disease", "bucket": "Bucket"}),
}  # fmt: skip
#: Of what is assumed, what is not if another option is given: who asks for Anatomy (--l) does not want the buckets that
#: the table has, and the other way round; who asks for a verdict does not want scores.
INSTEAD = {
    "bucket": ("l",), "l": ("bucket",), "exempt": ("bucket",),
    "top": ("bucket", "json", "know", "knowledge", "people", "fail_above", "sensitive", "baseline"),
}  # fmt: skip


def assume(options: argparse.Namespace) -> None:
    """Fill in what is known of a built-in table, and was not said."""
    _, known = BUILT_IN.get(options.table, (None, {}))
    said = {name for name, value in vars(options).items() if value not in (None, False, [])}
    for name, value in known.items():
        if name in vars(options) and name not in said and not said & {*INSTEAD.get(name, ())}:
            setattr(options, name, value)

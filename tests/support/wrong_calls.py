"""Wrong calls of every public door, and what comes of each."""

from __future__ import annotations

import contextlib
import datetime
import decimal
import inspect
import io
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

import maxent_cvx as mx

from .door import Door
from .doors import doors

#: A person in the records that are given by mistake; no message may print it.
SECRET = "Person 4711"
#: What is given instead of an argument; most of it is wrong for most of them.
WRONG: dict[str, Any] = {
    "None": None, "-1": -1, "0": 0, "1.5": 1.5, "nan": float("nan"), "inf": float("inf"), "-inf": float("-inf"),
    "1e400": 10**400, "1e-320": 1e-320, "2**63": 2**63, "1j": 1j, "True": True, "'x'": "x", "''": "", "b'x'": b"x",
    "'\\0'": "\0", "[]": [], "()": (), "{}": {}, "set()": set(), "['x']": ["x"], "[None]": [None], "[-1]": [-1],
    "[nan]": [float("nan")], "[[1]]": [[1]], "{'x': 1}": {"x": 1}, "{1: None}": {1: None}, "('a', 1)": ("a", 1),
    "object()": object(), "a class": int, "a function": lambda *given, **more: None, "a generator": None,
    "an empty table": pd.DataFrame(), "a table": pd.DataFrame({"x": [1, 2]}), "a Series": pd.Series([1.0, 2.0]),
    "an empty Series": pd.Series(dtype=float), "an Index": pd.Index(["x", "y"]), "an array": np.array([1.0, np.nan]),
    "a matrix": np.ones((2, 2)), "no array": np.array([]), "a sparse matrix": sp.csr_array(np.eye(2)),
    "an Interval": pd.Interval(0, 1), "NA": pd.NA, "NaT": pd.NaT, "a date": datetime.date(2020, 1, 1),
    "Decimal": decimal.Decimal("0.5"), "np.int64(-1)": np.int64(-1), "np.float64(nan)": np.float64("nan"),
    "an Ellipsis": ..., "a lone surrogate": "\ud800",
    "a ragged list": [[1], [1, 2]], "records": pd.DataFrame({"Name": [SECRET, "b"], "S": [1, 2]}),
}  # fmt: skip
#: What may be raised besides a MaxEntError, by door and argument, and why.
MAY_RAISE: dict[tuple[str, str], tuple[type[Exception], str]] = {
    ("mx.attacks.minimality", "algorithm"): (TypeError, "what a user's own function raises is the user's"),
    ("mx.testing.check_backend", "*"): (AssertionError, "says what is broken, as tests do"),
    ("mx.testing.check_source", "*"): (AssertionError, "says what is broken, as tests do"),
    ("mx.testing.check_technique", "*"): (AssertionError, "says what is broken, as tests do"),
    ("mx.testing.check_view", "*"): (AssertionError, "says what is broken, as tests do"),
    ("mx.Posterior.prices", "measure"): (TypeError, "what a user's own function raises is the user's"),
    ("mx.quantify", "measure"): (TypeError, "what a user's own function raises is the user's"),
    ("mx.sweep", "measure"): (TypeError, "what a user's own function raises is the user's"),
}


@dataclass(frozen=True)
class Outcome:
    """What came of one call: "taken", the name of a typed error, or untyped, with the error."""

    door: str
    argument: str
    value: str
    ended: str
    error: str = ""

    @property
    def is_typed(self) -> bool:
        return not self.error

    def __str__(self) -> str:
        return f"{self.door}({self.argument}={self.value}): {self.ended} {self.error}"


def calls(every: dict[str, Door] | None = None) -> Iterator[tuple[str, Door, str, str]]:
    """Every door, argument and wrong value."""
    for name, door in (doors() if every is None else every).items():
        for argument in door.exchangeable:
            for value in WRONG:
                yield name, door, argument, value


def outcome(name: str, door: Door, argument: str, value: str) -> Outcome:
    """Make one call."""
    given = (one for one in ()) if value == "a generator" else WRONG[value]
    reason = MAY_RAISE.get((name, argument)) or MAY_RAISE.get((name, "*"))
    quiet = io.StringIO()
    with warnings.catch_warnings(), contextlib.redirect_stdout(quiet), contextlib.redirect_stderr(quiet):
        warnings.simplefilter("error")
        for kind in (DeprecationWarning, FutureWarning, mx.RepeatedStatement, mx.RulesLeftOut):
            warnings.simplefilter("ignore", kind)
        try:
            found = door.call(**{argument: given})
            if inspect.isgenerator(found):
                list(found)
        except mx.MaxEntError as error:
            message = str(error)
            if not message or "\n" in message or len(message) > 1000:
                return Outcome(name, argument, value, "a message that is not one line", message)
            if SECRET in message and value == "records":  # of a list, the name that is wrong is told
                return Outcome(name, argument, value, "a message that prints a record", message)
            return Outcome(name, argument, value, type(error).__name__)
        except Exception as error:
            if reason and isinstance(error, reason[0]):
                return Outcome(name, argument, value, type(error).__name__)
            return Outcome(name, argument, value, type(error).__name__, str(error).split("\n")[0][:200] or "no message")
    return Outcome(name, argument, value, "taken")

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
    "a 0-d array": np.array(1.0), "a 0-d text": np.array("x"), "[['x']]": [["x"]], "[{}]": [{}], "[{1}]": [{1}],
    "[array]": [np.array(["x"])], "{'x': [1]}": {"x": [1]}, "{'x': array}": {"x": np.array([1.0, 2.0])},
    "1e308": 1e308, "-1e308": -1e308, "{'x': 1e308}": {"x": 1e308}, "(['x'],)": (["x"],),
    "a ragged list": [[1], [1, 2]], "records": pd.DataFrame({"Name": [SECRET, "b"], "S": [1, 2]}),
}  # fmt: skip
#: What stands in an otherwise valid argument in place of one cell, one entry or one name.
ELEMENTS: dict[str, Any] = {
    "None": None, "nan": float("nan"), "inf": float("inf"), "-1": -1, "1e308": 1e308,
    "-1e308": -1e308, "1e400": 10**400, "True": True, "''": "", "b'x'": b"x", "1j": 1j, "NA": pd.NA, "NaT": pd.NaT,
    "Decimal NaN": decimal.Decimal("NaN"),
    "a Timestamp": pd.Timestamp("2020-01-01"), "an Interval": pd.Interval(0, 1), "object()": object(), "a class": int,
    "a 0-d array": np.array(1.0), "a 0-d text": np.array("x"), "an array": np.array([1.0, 2.0]), "a list": ["x"],
    "an empty list": [], "a tuple": ("x", 1), "a tuple of lists": (["x"],), "a dict": {"x": 1}, "a set": {"x"},
    "a Series": pd.Series([1.0, 2.0]), "a table": pd.DataFrame({"x": [1, 2]}), "a lone surrogate": "\ud800",
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


def spoiled(value: Any, depth: int = 2) -> dict[str, Any]:
    """A valid argument with one hostile element, or another structure, by names."""
    if isinstance(value, pd.DataFrame):
        return _spoiled_table(value)
    if isinstance(value, pd.Series):
        tables = _spoiled_table(value.to_frame("x")) if value.index.nlevels == 1 else {}
        return {name: table.iloc[:, 0] for name, table in tables.items() if table.shape[1]}
    if isinstance(value, dict) and value:
        key, first = next(iter(value.items()))
        rest = {name: entry for name, entry in value.items() if name != key}
        found = {f"{key!r}: {name}": {**value, key: element} for name, element in ELEMENTS.items()}
        found |= {
            f"the key {name}": {element: first, **rest}
            for name, element in ELEMENTS.items()
            if getattr(type(element), "__hash__", None) and name != "a tuple of lists"
        }
        inner = spoiled(first, depth - 1) if depth else {}
        return found | {f"{key!r}: {name}": {**value, key: one} for name, one in inner.items()}
    if isinstance(value, list | tuple) and value:
        kind, rest = type(value), list(value[1:])
        found = {f"[{name}, ...]": kind([element, *rest]) for name, element in ELEMENTS.items()}
        inner = spoiled(value[0], depth - 1) if depth else {}
        return found | {f"[{name}, ...]": kind([one, *rest]) for name, one in inner.items()}
    if isinstance(value, np.ndarray) and value.ndim == 1 and len(value):
        return {
            f"[{name}, ...]": _with_cell(pd.Series(value), element).to_numpy() for name, element in ELEMENTS.items()
        }
    return {}


def _spoiled_table(table: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """A table with one hostile cell or name, or another structure."""
    n = len(table)
    found = {
        "no rows": table.head(0),
        "no columns": table.iloc[:, :0],
        "one row": table.head(1),
        "rows twice": table.iloc[np.repeat(range(n), 2)],
        "columns twice": pd.concat([table, table], axis=1),
        "transposed": table.T,
        "of objects": table.astype(object),
        "of text": table.astype(str),
        "of categories": table.astype("category"),
        "all missing": table.where(np.zeros(table.shape, bool)),
        "levels of columns": pd.concat([table], axis=1, keys=["x"]),
        "levels of rows": pd.concat([table], keys=["x"]),
        "columns by number": table.set_axis(range(table.shape[1]), axis=1),
        "an index of 0": table.set_axis([0] * n),
        "an index of lists": table.set_axis(pd.Index([["x"]] * n, dtype=object)),
    }
    for i in {0, table.shape[1] - 1} if len(table) else ():
        for name, element in ELEMENTS.items():
            cell = table.copy()
            cell.isetitem(i, _with_cell(table.iloc[:, i], element))
            found[f"{name} in column {i}"] = cell
    for name, element in ELEMENTS.items():
        if getattr(type(element), "__hash__", None) and table.shape[1]:
            names = np.empty(table.shape[1], dtype=object)
            names[:] = [element, *table.columns[1:]]
            found[f"a column called {name}"] = table.set_axis(pd.Index(names, object, tupleize_cols=False), axis=1)
    return found


def _with_cell(column: pd.Series, element: Any) -> pd.Series:
    """A column with another first cell."""
    cells = np.empty(len(column), dtype=object)
    cells[:] = list(column)
    cells[0] = element
    return pd.Series(cells, column.index, object, name=column.name)


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
    """Every door, argument and wrong value, or valid value with one wrong element."""
    for name, door in (doors() if every is None else every).items():
        for argument in door.exchangeable:
            for value in (*WRONG, *spoiled(door.arguments.get(argument))):
                yield name, door, argument, value


def outcome(name: str, door: Door, argument: str, value: str) -> Outcome:
    """Make one call."""
    given = (one for one in ()) if value == "a generator" else WRONG.get(value)
    if value not in WRONG:
        given = spoiled(door.arguments[argument])[value]
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

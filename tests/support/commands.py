"""Tables in files of any format for the command line, and the commands that it prints."""

from __future__ import annotations

import shlex
from pathlib import Path

import pandas as pd
import pytest


def write_table(table: pd.DataFrame, path: str, **csv: object) -> str:
    """Write a table as CSV, Excel or Parquet by the ending of the path, and return the path."""
    if path.endswith(".xlsx"):
        pytest.importorskip("openpyxl")
        table.to_excel(path, index=False)
    elif path.endswith(".parquet"):
        table.to_parquet(path)
    else:
        table.to_csv(path, index=False, **csv)
    return path


def write_text(path: str, text: str) -> str:
    """Write a text in UTF-8 with its ends of lines unchanged, and return the path."""
    Path(path).write_text(text, encoding="utf-8", newline="")
    return path


def printed_command(text: str, before: str) -> list[str]:
    """Return the arguments of the command that is printed after some words."""
    program, *arguments = shlex.split(text.split(before)[1].splitlines()[0])
    assert program == "maxent-cvx"
    return arguments

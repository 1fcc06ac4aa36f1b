"""The parser of the command line."""

from __future__ import annotations

import argparse
from typing import NoReturn, TypeAlias

__all__ = ["Commands", "Parser", "counts"]


class Parser(argparse.ArgumentParser):
    """A parser that says what is wrong in one line."""

    def error(self, message: str) -> NoReturn:
        """Print the line, and where to find help; exit status 2."""
        self.exit(2, f"maxent-cvx: error: {message} (see {self.prog} --help)\n")


#: What commands are added to.
Commands: TypeAlias = "argparse._SubParsersAction[Parser]"


def counts(text: str) -> list[int]:
    """Read a list of counts."""
    if not all(part.strip().isdigit() for part in text.split(",")):
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of counts such as 0,10,50")
    return [int(part) for part in text.split(",")]

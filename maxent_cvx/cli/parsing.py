"""The parser of the command line."""

from __future__ import annotations

import argparse
from typing import NoReturn, TypeAlias

__all__ = ["Commands", "Parser"]


class Parser(argparse.ArgumentParser):
    """A parser that says what is wrong in one line."""

    def error(self, message: str) -> NoReturn:
        """Print the line, and where to find help; exit status 2."""
        self.exit(2, f"maxent-cvx: error: {message} (see {self.prog} --help)\n")


#: What commands are added to.
Commands: TypeAlias = "argparse._SubParsersAction[Parser]"

"""The parser of the command line.

It is argparse's. With click, the best known other one, every option is a parameter of a function, which would have
thirty, while the functions that commands share need them as one object all the same. What click has and argparse has
not, a dash for a standard stream and a quiet end when the reader of a pipe is gone, is a few lines in :mod:`.streams`
and :mod:`.main`. So click would make this room no smaller, and ``--help`` slower.
"""

from __future__ import annotations

import argparse
import platform
import sys
from collections.abc import Sequence
from typing import Any, NoReturn, TypeAlias

from .streams import Output

__all__ = [
    "Commands",
    "Parser",
    "UsageError",
    "Version",
    "counts",
    "is_json",
    "limit",
    "named_file",
    "pair",
    "share",
    "told",
    "whole",
]


class _Layout(argparse.HelpFormatter):
    """Paragraphs are filled, and lines that begin with a space, such as examples, are left as they are."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        paragraphs = (
            part if part.startswith(" ") else super(_Layout, self)._fill_text(part, width, indent)
            for part in text.split("\n")
        )
        return "\n".join(paragraphs)


class UsageError(Exception):
    """The options cannot be read."""


def is_json(arguments: Sequence[str]) -> bool:
    """Whether --json is given, possibly abbreviated, also where the options cannot be read."""
    return any(len(one) > 2 and "--json".startswith(one) for one in arguments)


class Parser(argparse.ArgumentParser):
    """A parser that says what is wrong in one line, and ends its help with an example."""

    def __init__(self, *arguments: Any, example: str | None = None, **settings: Any) -> None:
        if example is not None:
            settings["epilog"] = "For example:\n" + "\n".join(f"  {line}" for line in example.split("\n"))
        super().__init__(*arguments, **settings)
        self.formatter_class = _Layout

    def _print_message(self, message: str, file: Any = None) -> None:  # of argparse, which drops errors of writing
        """Print help."""
        Output(file or sys.stdout).write(message)

    def error(self, message: str) -> NoReturn:
        """Say what is wrong, and where to find help."""
        raise UsageError(f"{message} (see {self.prog} --help)")


#: What commands are added to.
Commands: TypeAlias = "argparse._SubParsersAction[Parser]"


class Version(argparse.Action):
    """Print which versions answer, and end; they are looked up only when they are asked for."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        """Print them."""
        from importlib.metadata import version

        print(f"maxent-cvx {version('maxent-cvx')} (Python {platform.python_version()})")
        parser.exit()


def counts(text: str) -> list[int]:
    """Read a list of counts."""
    if not all(part.strip().isdigit() for part in text.split(",")):
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of counts such as 0,10,50")
    return [int(part) for part in text.split(",")]


def whole(text: str) -> int:
    """Read a number of something."""
    if not text.strip().isdigit():
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 0")
    return int(text)


def share(text: str) -> float:
    """Read a probability."""
    try:
        found = float(text)
    except ValueError:
        found = -1.0
    if not 0 <= found <= 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a probability; write 0.3 for 30%")
    return found


def limit(text: str) -> float:
    """Read a probability that something can be above."""
    if (found := share(text)) == 1:
        raise argparse.ArgumentTypeError("nothing is above a probability of 1; give less")
    if found == 0:
        raise argparse.ArgumentTypeError("every value that somebody has is above 0 anyway; give more")
    return found


def named_file(text: str) -> tuple[str, str]:
    """Read ATTRIBUTE=FILE."""
    name, equals, path = text.partition("=")
    if not equals or not name.strip() or not path.strip():
        raise argparse.ArgumentTypeError(f"{text!r} is not ATTRIBUTE=FILE, such as age=age.csv")
    return name.strip(), path.strip()


def told(text: str) -> tuple[str, str]:
    """Read WHAT=TEXT: something that readers are told."""
    what, equals, said = text.partition("=")
    if not equals or not what.strip() or not said.strip():
        raise argparse.ArgumentTypeError(f"{text!r} is not WHAT=TEXT, such as 'source=ward 3, 2024'")
    return what.strip(), said.strip()


def pair(text: str) -> tuple[float, int]:
    """Read P,K: a probability and a number of statements."""
    probability, comma, number = text.partition(",")
    if not comma or not number.strip().isdigit():
        raise argparse.ArgumentTypeError(f"{text!r} is not P,K, a probability and a number, such as 0.5,1")
    return share(probability), int(number)

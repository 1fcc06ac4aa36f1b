"""``maxent-cvx solvers``: what can be asked for by name."""

from __future__ import annotations

import argparse

from ..solvers import available

__all__ = ["run"]


def run(options: argparse.Namespace) -> None:
    """Print the solvers, and which are installed."""
    print(available().to_string())

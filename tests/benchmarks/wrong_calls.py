"""How calls with a wrong argument end, at every public door: ``python -m tests.benchmarks.wrong_calls``."""

from __future__ import annotations

import argparse
import os
import signal
import tempfile
import time
from collections import Counter
from typing import Any

import numpy as np

from ..support.doors import doors
from ..support.wrong_calls import Outcome, calls, outcome

#: Seconds that one call may take.
LONGEST = 10


def stop(*_: Any) -> None:
    """End a call that takes too long."""
    raise TimeoutError(f"no end in {LONGEST} s")


def main(arguments: list[str] | None = None) -> list[Outcome]:
    """Make the calls, and list those that end untyped."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--door", default="", help="only doors whose name holds this")
    parser.add_argument("--calls", type=int, help="so many of them, drawn at random; by default all")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    signal.signal(signal.SIGALRM, stop)
    every = {name: door for name, door in doors().items() if options.door in name}
    asked = list(calls(every))
    if options.calls is not None:
        chosen = np.random.default_rng(options.seed).choice(len(asked), min(options.calls, len(asked)), replace=False)
        asked = [asked[i] for i in sorted(chosen)]
    found = []
    os.chdir(tempfile.mkdtemp())  # "x" is the name of a file, and some calls write it
    for one in asked:
        begun = time.perf_counter()
        signal.alarm(LONGEST)  # a call that does not end is untyped, too
        found.append(outcome(*one))
        signal.alarm(0)
        if time.perf_counter() - begun > 1:
            print(f"{found[-1]}: {time.perf_counter() - begun:.1f} s", flush=True)
    untyped = [one for one in found if not one.is_typed]
    for one in untyped:
        print(one)
    for ended, n in Counter(one.ended if one.is_typed else "untyped" for one in found).most_common():
        print(f"{n:6d} {ended}")
    print(
        f"{len(found)} calls at {len(every)} doors with {len({one[:3:2] for one in asked})} arguments: "
        f"{len(untyped)} end untyped"
    )
    return untyped


if __name__ == "__main__":
    main()

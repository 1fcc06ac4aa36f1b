"""Is a saved posterior ever lost? Kills, full disks, writers and readers at once, and every byte of a file changed.

Run ``python -m tests.benchmarks.saving --kills 200 --full 200 --seconds 60`` (not on Windows). Each part prints what it
did and what was read; anything but whole files is an error.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import tempfile
import time
from collections import Counter
from pathlib import Path

import maxent_cvx as mx

from ..support.saving import in_child, posteriors, room_for, which


def killed(path: Path, known: list[mx.Posterior], times: int, draw: random.Random) -> None:
    """Kill a process that saves all the time, at a random moment or while it writes, and read what is there."""
    found, drafts = Counter[int](), 0
    known[0].save(path)
    for time_of_kill in range(times):
        reading, writing = os.pipe()

        def save(writing: int = writing) -> None:
            for i in range(1_000_000):
                known[i % 2].save(path)
                os.write(writing, b".")

        child = in_child(save)
        os.read(reading, 1)  # it is at work
        time.sleep(draw.uniform(0, 0.2))
        while time_of_kill % 2 and len(os.listdir(path.parent)) == 1:
            pass  # every other time it is killed with a draft beside the file
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(reading)
        os.close(writing)
        found[which(path, known)] += 1
        for draft in path.parent.glob(".*"):
            drafts += 1
            draft.unlink()
    print(f"{times} kills: {sum(found.values())} whole files read ({found[0]} the one, {found[1]} the other); ", end="")
    print(f"{drafts} kills hit a draft, which was left beside")


def full(path: Path, known: list[mx.Posterior], times: int, draw: random.Random) -> None:
    """Save where a part of the file has room, and read what is there."""
    known[0].save(path)
    before, refused = path.read_bytes(), 0
    for _ in range(times):
        try:
            with room_for(draw.randrange(len(before))):
                known[1].save(path)
        except mx.TableError:
            refused += 1
        assert path.read_bytes() == before
        assert which(path, known) == 0
        assert list(path.parent.iterdir()) == [path]
    print(f"{times} full disks: {refused} typed refusals, {times} times the old file whole, nothing left beside")


def at_once(path: Path, known: list[mx.Posterior], seconds: float) -> None:
    """Two processes save to one file, and two read it."""
    known[0].save(path)
    end = time.monotonic() + seconds
    reading, writing = os.pipe()

    def write(i: int) -> None:
        count = 0
        while time.monotonic() < end:
            known[i].save(path)
            count += 1
        os.write(writing, f"{count} saved,".encode())

    def read() -> None:
        found = Counter[int]()
        while time.monotonic() < end:
            found[which(path, known)] += 1
        os.write(writing, f"{found.total()} whole files read ({found[0]} + {found[1]}),".encode())

    children = [in_child(lambda i=i: write(i)) for i in (0, 1)] + [in_child(read) for _ in range(2)]
    codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    os.close(writing)
    with os.fdopen(reading) as said:
        print(f"two writers, two readers for {seconds:g} s: {said.read()} {sum(map(bool, codes))} failures")
    assert not any(codes)
    assert list(path.parent.iterdir()) == [path]


def changed(path: Path, post: mx.Posterior, every: int, draw: random.Random) -> None:
    """Flip single bits, replace bytes, cut the file and add to it: each is refused."""
    post.save(path)
    whole = path.read_bytes()
    positions = range(draw.randrange(every), len(whole), every)
    flips = [(at, whole[at] ^ 1 << bit) for at in positions for bit in range(8)]
    others = [(at, draw.choice([b for b in range(256) if b != whole[at]])) for at in positions]
    attacks = [whole[:at] + bytes([byte]) + whole[at + 1 :] for at, byte in (*flips, *others)]
    attacks += [whole[:size] for size in positions] + [whole + draw.randbytes(n) for n in (1, 8, 64)]
    refused = 0
    for attack in attacks:
        path.write_bytes(attack)
        try:
            mx.load_posterior(path)
        except mx.TableError:
            refused += 1
    print(f"{len(attacks)} changes of a file of {len(whole)} bytes ({len(flips)} flipped bits): {refused} refused")
    assert refused == len(attacks)


def main(arguments: list[str] | None = None) -> None:
    """Attack a file in every way."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--kills", type=int, default=200)
    options.add_argument("--full", type=int, default=200)
    options.add_argument("--seconds", type=float, default=60)
    options.add_argument("--every", type=int, default=1, help="change every n-th byte")
    options.add_argument("--seed", type=int, default=0)
    said = options.parse_args(arguments)
    draw, known = random.Random(said.seed), posteriors()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "post.parquet"
        killed(path, known, said.kills, draw)
        full(path, known, said.full, draw)
        at_once(path, known, said.seconds)
        changed(path, known[0], said.every, draw)


if __name__ == "__main__":
    main()

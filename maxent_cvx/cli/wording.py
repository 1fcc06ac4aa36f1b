"""Messages in the words of the command line: what a function calls ``exempt=1`` is ``--exempt 1`` here."""

from __future__ import annotations

import argparse
import re

__all__ = ["in_options"]

#: Parameters of functions, where the option of the same meaning has another name.
RENAMED = {
    "hierarchies": "hierarchy", "method": "strategy", "sa_values": "values", "sa_distribution": "distribution",
}  # fmt: skip
#: What a user has written, which stays as it is: quoted texts, and statements.
OWN = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|(?:\b[PE]|#)\([^()]*\)"
#: A parameter with its value, as Python is told: exempt=1, id='Pseudonym', limit=..., qi=[], safe=(0.5, 1).
VALUE = r"\.\.\.|\[[^\]]*\]|\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}|\([^()]*\)|-?[\w.]*\w|'[^']*'"
TOLD = rf"\b(?P<name>[a-z][a-z_]*)=(?P<value>{VALUE})?|\b(?P<bare>[a-z]+_[a-z_]+)\b"
EITHER = re.compile(f"{OWN}|{TOLD}")
#: Advice that only a program can follow, and what it is here.
ADVICE = tuple(
    (re.compile(said), instead)
    for said, instead in (
        (r"make (it|statements) vague with \.about\(value, eps\)", r"make \1 vague, as in '= 0.3 +- 0.05'"),
        (r"drop those rows with \.dropna\(subset=\[\.\.\.\]\)", "leave those rows out"),
        (r"make 'missing' a value of its own with \.fillna\('\?'\)", "give what is missing a value of its own"),
        (r"repeat the rows, table\.loc\[.*?\]\)\]\.drop\(columns='(.*?)'\)", r"if it is that, give --count \1"),
        (r"say who that is with MaxEnt\(release, people=.*?\}\)", "say who that is (--people)"),
        (r"P\(value, who=\.\.\.\); leave people out", "P(value | pseudonym); leave out --people"),
        (r"leave it out, \.drop\(columns=.*?\)", "rename it or leave it out"),
        (r"Judge it by itself, sensitive=\{'(.*?)': None\}", r"Judge it by itself, --sa \1"),
        (r",? or (pass|solve with) allow_inaccurate=True( to see how far it is off)?", ""),
        (r"use (\w+), which is more precise, or polish=True, change its tolerances", r"--solver \1 is more precise"),
    )
)
#: The role of a column.
ROLE = re.compile(r"\b(given as|and as) (qi|sa|bucket|count|id|population)\b")


def in_options(message: str, options: argparse.Namespace) -> str:
    """Write the parameters of functions in a message as the options of the command that was called."""

    def option(found: re.Match[str]) -> str:
        name = RENAMED.get(found["name"] or "", found["name"] or found["bare"])
        if name is None or name not in vars(options):
            return found[0]
        return f"--{name.replace('_', '-')} {_as_typed(found['value'] or '')}".rstrip()

    for said, instead in ADVICE:
        message = said.sub(instead, message)
    return ROLE.sub(r"\1 --\2", EITHER.sub(option, message))


def _as_typed(value: str) -> str:
    """Write a value as it is typed after an option."""
    if value.startswith("{"):
        return "..."
    plain = re.sub(r"['\[\]()]", "", value)
    return "" if plain in ("True", "None") else re.sub(r",\s+", ",", plain)

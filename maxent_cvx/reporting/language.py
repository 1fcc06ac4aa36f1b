"""The language of a report: a catalogue of messages for each language, and its format of numbers.

The sentences of templates and tables are in English. ``languages/de.json`` contains their German translations, by English
sentence; for another language add a file of the same form, named by its code. Untranslated messages remain English.
"""

from __future__ import annotations

import json
import re
import string
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

from .._utils.formatting import Message

#: Keeps a number and its unit on one line.
SPACE = "\u00a0"
#: A number as Python writes it, "1,234.5" or "12.3%".
NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?\s?%?")


@dataclass(frozen=True, eq=False)
class Language:
    """A language: its code, the signs of its numbers, and its messages by English message."""

    code: str = "en"
    decimal_sign: str = "."
    thousands_sign: str = ","
    messages: Mapping[str, str] = field(default_factory=dict)


ENGLISH = Language()
_CURRENT: ContextVar[Language] = ContextVar("language", default=ENGLISH)


@cache
def languages() -> list[str]:
    """List the codes of all languages."""
    catalogues = files(__package__) / "languages"
    return [
        "en",
        *sorted(file.name.removesuffix(".json") for file in catalogues.iterdir() if file.name.endswith(".json")),
    ]


@cache
def _language(code: str) -> Language:
    """Read the catalogue of a language."""
    if code == "en":
        return ENGLISH
    catalogue = json.loads((files(__package__) / "languages" / f"{code}.json").read_text(encoding="utf-8"))
    return Language(code, catalogue["decimal_sign"], catalogue["thousands_sign"], catalogue["messages"])


@contextmanager
def speaking(code: str) -> Iterator[None]:
    """Set the language of the messages written inside a block."""
    token = _CURRENT.set(_language(code))
    try:
        yield
    finally:
        _CURRENT.reset(token)


def localized(number: str) -> str:
    """Convert a number formatted by Python to the current language."""
    language = _CURRENT.get()
    return number.translate({ord(","): language.thousands_sign, ord("."): language.decimal_sign})


class _Formatter(string.Formatter):
    """Format values as ``str.format`` does, numbers and nested messages in the current language.

    Texts among the values of a :class:`Message` that are numbers are in English format; other texts are not converted.
    """

    def __init__(self, write: Callable[[object], str], *, in_english: bool) -> None:
        self.write, self.in_english = write, in_english

    def format_field(self, value: Any, format_spec: str) -> str:
        if hasattr(value, "__html__"):
            return str(value)
        if isinstance(value, Message):
            return text(value, self.write)
        formatted = str(super().format_field(value, format_spec))
        is_english = self.in_english or not isinstance(value, str)
        if is_english and NUMBER.fullmatch(formatted):
            formatted = re.sub(r"\s?%", f"{SPACE}%", localized(formatted))
        return self.write(formatted)


def text(message: str, write: Callable[[object], str] = str, /, **values: Any) -> str:
    """Translate a message, and insert its values; `write` is applied to each text, for example to escape it."""
    template = message
    if isinstance(message, Message):
        template, values = message.template, message.values
    translated = write(_CURRENT.get().messages.get(template, template))
    formatter = _Formatter(write, in_english=isinstance(message, Message))
    return formatter.vformat(translated, (), values) if values else translated

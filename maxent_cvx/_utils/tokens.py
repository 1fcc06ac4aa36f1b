"""A reader of one text, token by token, for the notations of statements and of sentences."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeVar

from .errors import StatementError
from .formatting import constant

T = TypeVar("T")

#: A text in quotes.
QUOTED = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'")
SPACES = re.compile(r"\s*")


class TokenReader:
    """Base class of readers by recursive descent; errors point at a character."""

    def __init__(self, text: str) -> None:
        self.text = text.rstrip()
        self.at = self.begun = 0  # the position, and that of the last token

    def sees(self, token: re.Pattern[str]) -> re.Match[str] | None:
        """Match a token if it comes next."""
        return token.match(self.text, self.next())

    def take(self, token: re.Pattern[str]) -> str | None:
        """Consume a token if it comes next."""
        if (match := self.sees(token)) is None:
            return None
        self.begun, self.at = match.span()
        return match[0]

    def need(self, token: re.Pattern[str], what: str) -> str:
        """Consume a token, which must come next."""
        if (text := self.take(token)) is None:
            raise self.error(f"{what} is expected")
        return text

    def several(self, read: Callable[[], T], separator: re.Pattern[str]) -> tuple[T, ...]:
        """``part {separator part}``."""
        parts = [read()]
        while self.take(separator):
            parts.append(read())
        return tuple(parts)

    def word(self, plain: re.Pattern[str], what: str) -> object:
        """Read a text in quotes, or words, which may be a number."""
        is_text = self.sees(QUOTED)
        text = self.text_of(plain, what)
        return text if is_text else constant(text)

    def text_of(self, plain: re.Pattern[str], what: str) -> str:
        """Read a text in quotes, or words."""
        if quoted := self.take(QUOTED):
            return re.sub(r"\\(.)", r"\1", quoted[1:-1], flags=re.DOTALL)
        return self.need(plain, what)

    def next(self) -> int:
        """Return the position of the next character that is not a space."""
        spaces = SPACES.match(self.text, self.at)
        assert spaces is not None  # none at all match, too
        return spaces.end()

    def error(self, what: str, at: int | None = None) -> StatementError:
        """Make an error that points at a character, by default the next one."""
        at = self.next() if at is None else at
        rest = repr(self.text[at:]) if at < len(self.text) else "the end"
        return StatementError(f"{what}, at {rest} (character {at + 1} of {self.text!r})")

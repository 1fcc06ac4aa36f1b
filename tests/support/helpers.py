"""How the tests look at errors."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from maxent_cvx import MaxEntError


@contextmanager
def refused(error: type[MaxEntError], *says: str, never: str | None = None) -> Iterator[None]:
    """Expect this very error; its message is one line, has all of these pieces, and not the one it must never have."""
    with pytest.raises(error) as caught:
        yield
    message = str(caught.value)
    assert type(caught.value) is error, f"a {type(caught.value).__name__}: {message}"
    for piece in says:
        assert piece in message, f"{piece!r} is missing from {message!r}"
    assert never is None or never not in message, f"{never!r} has no place in {message!r}"
    assert "\n" not in message, "a message is one line, and no table of records"

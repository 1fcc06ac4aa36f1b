"""The words of messages: values shortened, lists cut, names that come close; never a person's record."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

from .exceptions import UnknownName

__all__ = ["amount", "listing", "one_line", "shown", "unknown_name", "visible"]

#: Characters of a value that a message shows.
MOST_SHOWN = 80
#: Characters that change how the text around them is shown: control characters other than tabs and line breaks, line
#: and paragraph separators, bidirectional embeddings, overrides and isolates; and surrogates, which cannot be encoded.
ACTIVE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def shown(value: object) -> str:
    """Write a value for a message; of a table, array or other container of data only its type: no record is printed."""
    if isinstance(value, type):
        return f"the class {value.__name__}"
    if _holds_data(value):
        return f"a {type(value).__name__}"
    try:
        text = " ".join(repr(_plain(value)).splitlines())
    except Exception:  # Python refuses to write integers of more than 4,300 digits, and objects may fail to be written
        return f"a {type(value).__name__}"
    return text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}... (a {type(value).__name__})"


def visible(text: str) -> str:
    r"""Write characters that would control a terminal or a page as escapes, so that they are seen and do nothing.

    >>> print(visible("\x1b[31mFlu\u202e"))
    \x1b[31mFlu\u202e
    """
    return ACTIVE.sub(lambda found: ascii(found[0])[1:-1], text)


def one_line(value: object) -> object:
    """Write a text as :func:`visible` does, and its line breaks as escapes, too; what is not a text stays as it is."""
    return visible(value).replace("\n", "\\n") if isinstance(value, str) else value


def amount(n: int, one: str, many: str | None = None) -> str:
    """Word a number of things: "1 rule", "2 rules"; `many` is the plural where that is not `one` with an s."""
    return f"{n} {one if n == 1 else many or one + 's'}"


def listing(items: Iterable[object], limit: int = 5) -> str:
    """Write the first few of many items: ``'a', 'b', ... (7 in total)``."""
    items = list(items)
    first = ", ".join(shown(item) if _holds_data(item) else repr(_plain(item)) for item in items[:limit])
    return first if len(items) <= limit else f"{first}, ... ({len(items)} in total)"


def unknown_name(what: str, found: object, known: Iterable[object]) -> UnknownName:
    """Say that `found` is not a `what`, with near misses or else what there is.

    >>> print(unknown_name("value of 'Disease'", "Fluu", ["Flu", "HIV"]))
    'Fluu' is not a value of 'Disease'; did you mean 'Flu'?
    """
    known = list(known)
    found = _plain(found)
    by_text = {str(_plain(item)): _plain(item) for item in known}
    if _holds_data(found):  # to compare it as a text would take long, and to print it would print records
        return UnknownName(f"{shown(found)} is not {'an' if what[0] in 'aeiou' else 'a'} {what}")
    by_lower = {text.lower(): item for text, item in by_text.items()}
    text = found if isinstance(found, str) else _as_text(found)
    near = [by_lower[name] for name in difflib.get_close_matches(text.lower(), by_lower, n=3)]
    if text in by_text:
        twin = by_text[text]
        hint = f"{twin!r} ({type(twin).__name__}) is, but this is a {type(found).__name__}"
    elif near:
        hint = f"did you mean {' or '.join(map(repr, near))}?"
    else:
        hint = f"expected one of {listing(known, 8)}" if known else "there is none"
    return UnknownName(f"{shown(found)} is not {'an' if what[0] in 'aeiou' else 'a'} {what}; {hint}")


def _as_text(value: object) -> str:
    """Write a value as :class:`str` does, abbreviated; of what cannot be written, its kind."""
    try:
        return str(value)[:MOST_SHOWN]
    except Exception:  # see shown
        return shown(value)


def _holds_data(value: object) -> bool:
    """Whether something is a table, an array or another container whose text would print data."""
    return bool(getattr(value, "shape", ()) or hasattr(value, "matrix"))


def _plain(item: object) -> object:
    """Turn a NumPy scalar into the Python value it stands for, so that messages read well."""
    return item.item() if hasattr(item, "item") and getattr(item, "ndim", 1) == 0 else item

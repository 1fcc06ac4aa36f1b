"""Exceptions, and the functions that shorten values and lists for their messages."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from dataclasses import fields, is_dataclass
from typing import Any
from unicodedata import normalize

# Exceptions and warnings. Each message describes what was found, what was expected, where, and what to do.
#
# Every error is a :class:`MaxEntError`, which is a ``ValueError``. Messages contain names of columns and labels, but
# never a person's record.


class MaxEntError(ValueError):
    """Any error this package raises on purpose.

    It is a ``ValueError``. Catch it to handle any error in tables, statements, models or answers; the subclasses
    distinguish the kinds of errors. Any other exception is a bug.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> try:
    ...     mx.P("Flu") == 1.2
    ... except mx.MaxEntError as error:
    ...     print(type(error).__name__)
    BadProbability
    """


class TableError(MaxEntError):
    """A table cannot be used: it is empty, or has missing values, wrong columns or counts.

    The message contains the column, bucket or label. Correct the table, or select other columns.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> hospital = mx.datasets.load_hospital()
    >>> try:
    ...     mx.Release.from_buckets(hospital, qi="Disease", sa="Disease", bucket="Bucket")
    ... except mx.TableError as error:
    ...     print(str(error).partition(";")[0])
    column 'Disease' is given as qi and as sa
    """


class UnknownName(MaxEntError):
    """A column, value, solver or label that does not exist.

    The message contains similar names, or the existing ones. A number differs from the same number as text.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> hospital = mx.datasets.load_hospital()
    >>> mx.Release.from_buckets(hospital, qi="Gendre", sa="Disease", bucket="Bucket")
    Traceback (most recent call last):
    ...
    maxent_cvx.UnknownName: 'Gendre' is not a column of the table (given as qi); did you mean 'Gender'?
    """


class BadProbability(MaxEntError):
    """A number that is not a possible probability: outside [0, 1], not finite, or not attainable by a sum.

    Write 0.3 for 30%; the message contains the attainable range.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> mx.P("Flu", given={"Gender": "male"}) == 30
    Traceback (most recent call last):
    ...
    maxent_cvx.BadProbability: P(Flu | Gender=male) must be between 0 and 1, not 30
    """


class StatementError(MaxEntError):
    """A statement without information, or one that is not linear knowledge; or an invalid argument.

    The message describes what is expected instead.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> mx.P("Flu", given={"Gender": "male"}) < 0.3
    Traceback (most recent call last):
    ...
    maxent_cvx.StatementError: a strict < has no maximum-entropy answer of its own; write <=
    """


class LabelMismatch(MaxEntError):
    """The labels of the values differ from those of the rows that they are compared with.

    Give a Series with one entry for each row of the block, in any order; or compare a coarser marginal.

    Examples
    --------
    >>> import maxent_cvx as mx, pandas as pd
    >>> hospital = mx.datasets.load_hospital()
    >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    >>> try:
    ...     mx.MaxEnt(release).space.marginal("Gender") == pd.Series({"male": 0.6, "femal": 0.4})
    ... except mx.LabelMismatch as error:
    ...     print(str(error).partition(";")[0])
    the values for P(Gender) lack 'female' and have 'femal'
    """


class DuplicateLabel(MaxEntError):
    """One label for two different pieces of knowledge.

    Choose another label, or remove the old knowledge first, with :meth:`MaxEnt.remove`.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> hospital = mx.datasets.load_hospital()
    >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    >>> model = mx.MaxEnt(release).add("P(Flu | Gender=male) = 0.3", label="rumour")
    >>> try:
    ...     model.add("P(Flu | Gender=male) = 0.4", label="rumour")
    ... except mx.DuplicateLabel as error:
    ...     print(str(error).partition(";")[0])
    the label 'rumour' belongs to other knowledge
    """


class Infeasible(MaxEntError):
    """No distribution satisfies the published data and the knowledge together.

    Correct one of the conflicting statements, make it vague with ``.about(value, eps)``, remove it, or find the least
    change with :meth:`MaxEnt.relax`.

    Attributes
    ----------
    conflict : DataFrame or None
        An irreducible set of statements that contradict each other, the result of ``model.diagnose()``.

    Examples
    --------
    Only three of the ten patients have the flu, so at most half of the six men do:

    >>> import maxent_cvx as mx
    >>> hospital = mx.datasets.load_hospital()
    >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    >>> try:
    ...     mx.MaxEnt(release).add("P(Flu | Gender=male) >= 0.6").solve()
    ... except mx.Infeasible as error:
    ...     print(error.conflict[["low", "most", "move"]].round(3))
                                 low  most  move
    statement
    P(Flu | Gender=male) >= 0.6  0.6   0.5   0.1
    """

    conflict: Any = None


class SolverError(MaxEntError):
    """A solver stopped without an answer, or does not accept the model.

    Use another solver; :func:`maxent_cvx.solvers.available` lists them, and "auto" chooses one that accepts the model.

    Examples
    --------
    >>> import cvxpy as cp, maxent_cvx as mx
    >>> hospital = mx.datasets.load_hospital()
    >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    >>> mx.MaxEnt(release).add(lambda space: cp.exp(space.p[0]) <= 1.1).bounds("P(Flu)", integer=True)
    Traceback (most recent call last):
    ...
    maxent_cvx.SolverError: integer=True requires linear constraints, but the model has convex ones; remove them
    """


class Inaccurate(SolverError):
    """An answer whose certificate does not reach :data:`maxent_cvx.solvers.ACCURACY`.

    Solve with ``polish=True`` or with another solver; ``allow_inaccurate=True`` returns the answer anyway, with the bound
    on its error in ``post.certificate``.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> hospital = mx.datasets.load_hospital()
    >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    >>> model = mx.MaxEnt(release).add("P(Flu | Gender=male) = 0.3")
    >>> model.solve("DUAL_LBFGS", max_iterations=1, allow_inaccurate=True).certificate.holds
    False
    >>> model.solve("DUAL_LBFGS", max_iterations=1, polish=True).certificate.holds
    True
    """


class NotDecided(SolverError):
    """A question about bounds, certainties or contradictions was not decided within the time limit.

    Increase ``time_limit``, or ask about fewer people at a time.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> hospital = mx.datasets.load_hospital()
    >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    >>> model = mx.MaxEnt(release).add("P(Flu | Gender=male) = 0.3")
    >>> model.bounds("P(Flu | Degree=college)", time_limit=0)
    Traceback (most recent call last):
    ...
    maxent_cvx.NotDecided: not decided in 0 seconds; increase time_limit, or ask for less
    """


class GroupTooLarge(MaxEntError):
    """Exact possible worlds of a group would cost more than is allowed.

    Sample them instead, with :func:`maxent_cvx.worlds.sample`, or increase ``limit``; for an equivocation, round the
    values.

    Examples
    --------
    >>> import maxent_cvx as mx, pandas as pd
    >>> prior = pd.DataFrame({"yes": [0.1, 0.003], "no": [0.9, 0.997]}, index=["Alan", "Betty"])
    >>> try:
    ...     mx.worlds.posterior(prior, ["yes", "no"], limit=1)
    ... except mx.GroupTooLarge as error:
    ...     print(str(error).partition(":")[0])
    1 of 1 group is too large for exact possible worlds
    """


class LargeModel(UserWarning):
    """A model needs gigabytes of memory, or minutes; the message contains an estimate made before memory is allocated.

    A warning of :class:`MaxEnt` with named people: each of them has a term for every possible value and bucket. Name
    only people about whom the adversary has knowledge: by symmetry, anybody else has the probabilities of the unnamed
    people with the same quasi-identifiers.

    Examples
    --------
    >>> import maxent_cvx as mx, warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", mx.LargeModel)  # raise an error instead of building a large model
    ...     release = mx.Release.from_buckets(mx.datasets.load_hospital(), qi="Gender", sa="Disease", bucket="Bucket")
    ...     mx.MaxEnt(release, people={"Iris": {"Gender": "female"}})
    <MaxEnt: 27 terms, 16 rows from 2 sources>
    """


class RulesLeftOut(UserWarning):
    """Some rules could not be read, so the information in them is not in the model.

    A warning, for example of :meth:`RuleSet.from_mlxtend`; rules between quasi-identifiers reveal nothing and cause none.

    Examples
    --------
    >>> import maxent_cvx as mx, pandas as pd, warnings
    >>> left, right = frozenset({"Salary_50K+"}), frozenset({"Gender_Male"})
    >>> mined = pd.DataFrame({"antecedents": [left], "consequents": [right], "support": 0.35, "confidence": 0.875})
    >>> with warnings.catch_warnings(record=True, action="always") as caught:
    ...     rules = mx.RuleSet.from_mlxtend(mined, qi="Gender", sa="Salary", support=0.1, confidence=0.6)
    >>> str(caught[0].message)
    '1 rule left out (1 with sensitive values on the left), as only QI => SA is used'
    """


class RepeatedStatement(UserWarning):
    """Knowledge that the model contains already was added again; nothing changed.

    A warning of :meth:`MaxEnt.add`; statements are compared by meaning, not by text.

    Examples
    --------
    >>> import maxent_cvx as mx, warnings
    >>> hospital = mx.datasets.load_hospital()
    >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    >>> model = mx.MaxEnt(release).add("P(Flu | Gender=male) <= 0.3")
    >>> with warnings.catch_warnings(record=True, action="always") as caught:
    ...     model = model.add("0.3 >= P(Flu | Gender=male)")
    >>> str(caught[0].message), len(model.knowledge)
    ("the model already contains 'P(Flu | Gender=male) <= 0.3'; nothing was added", 1)
    """


#: The largest number of characters of a value in a message.
MOST_SHOWN = 80
#: Characters of a label in a sentence or in a cell of a table.
LONGEST_LABEL = 48
#: Characters that change the display of the surrounding text: control characters other than tabs and line breaks, line
#: and paragraph separators, bidirectional embeddings, overrides and isolates; and surrogates, which cannot be encoded.
ACTIVE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def short_repr(value: object) -> str:
    """Return a short text of a value for a message. Containers of data appear as their type, never with records."""
    if isinstance(value, type):
        return f"the class {value.__name__}"
    try:
        # A text of several lines, such as that of a queue of tables, contains a table or an array.
        if _holds_data(value) or len((text := repr(as_python(value))).splitlines()) > 1:
            return f"a {type(value).__name__}"
    except Exception:  # integers of more than 4,300 digits, or an object whose repr fails
        return f"a {type(value).__name__}"
    return text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}... (a {type(value).__name__})"


def shortened(text: str, longest: int = LONGEST_LABEL) -> str:
    """Write a long text by its beginning and its end, which often distinguishes two names.

    >>> shortened("the first of two long names", 20)
    'the first of…names'
    """
    if len(text) <= longest:
        return text
    end = (longest - 1) // 3
    return f"{text[: longest - 1 - end].rstrip()}…{text[-end:].lstrip()}"


def visible(text: str) -> str:
    r"""Return the text with escapes in place of characters that would control a terminal or a page.

    >>> print(visible("\x1b[31mFlu\u202e"))
    \x1b[31mFlu\u202e
    """
    return ACTIVE.sub(lambda match: ascii(match[0])[1:-1], text)


def one_line(value: object) -> object:
    """Return a text as :func:`visible` does, with line breaks escaped, too; return any other value unchanged."""
    return visible(value).replace("\n", "\\n") if isinstance(value, str) else value


def pluralize(n: int, one: str, many: str | None = None) -> str:
    """Return a number with its noun: "1 rule", "2 rules"; `many` is the plural unless it is `one` plus an s."""
    return f"{n} {one if n == 1 else many or one + 's'}"


def join_names(items: Iterable[object], limit: int = 5) -> str:
    """Return the first few of many items: ``'a', 'b', ... (7 in total)``."""
    items = list(items)
    first = ", ".join(short_repr(item) if _holds_data(item) else repr(as_python(item)) for item in items[:limit])
    return first if len(items) <= limit else f"{first}, ... ({len(items)} in total)"


def unknown_name(what: str, unknown: object, known: Iterable[object]) -> UnknownName:
    r"""Return the error that `unknown` is not a `what`, with similar names or else the existing ones.

    >>> print(unknown_name("value of 'Disease'", "Fluu", ["Flu", "HIV"]))
    'Fluu' is not a value of 'Disease'; did you mean 'Flu'?
    >>> print(unknown_name("value of 'Place'", "Ko\u0308ln", ["K\u00f6ln"]).args[0].partition("; ")[2])
    'K\xf6ln' is, which looks the same, but this is 'Ko\u0308ln'; convert both with unicodedata.normalize('NFC', ...)
    """
    known = list(known)
    unknown = as_python(unknown)
    message = f"{short_repr(unknown)} is not {'an' if what[0] in 'aeiou' else 'a'} {what}"
    if _holds_data(unknown):  # comparing its text would be slow, and printing it would disclose records
        return UnknownName(message)
    by_text = {str(as_python(item)): as_python(item) for item in known}
    by_lower = {text.lower(): item for text, item in by_text.items()}
    text = unknown if isinstance(unknown, str) else _as_text(unknown)
    near = [by_lower[name] for name in difflib.get_close_matches(text.lower(), by_lower, n=3)]
    if text in by_text:
        twin = by_text[text]
        hint = f"{twin!r} ({type(twin).__name__}) is, but this is a {type(unknown).__name__}"
    elif twin := next((name for name in by_text if normalize("NFC", name) == normalize("NFC", text)), None):
        hint = (
            f"{twin!a} is, which looks the same, but this is {text!a}; convert both with "
            "unicodedata.normalize('NFC', ...)"
        )
    elif near:
        hint = f"did you mean {' or '.join(map(repr, near))}?"
    else:
        hint = f"expected one of {join_names(known, 8)}" if known else "none exists"
    return UnknownName(f"{message}; {hint}")


def _as_text(value: object) -> str:
    """Return the abbreviated ``str`` of a value, or its type if that fails."""
    try:
        return str(value)[:MOST_SHOWN]
    except Exception:  # see short_repr
        return short_repr(value)


def _holds_data(value: object) -> bool:
    """Return whether a value is a table, an array or another container whose text would print data."""
    if isinstance(value, list | tuple | dict):
        return any(map(_holds_data, value.values() if isinstance(value, dict) else value))
    if is_dataclass(value) and not isinstance(value, type) and repr(value).startswith(f"{type(value).__qualname__}("):
        return any(_holds_data(getattr(value, field.name)) for field in fields(value))  # its text prints all fields
    return bool(getattr(value, "shape", ()) or hasattr(value, "matrix"))


def as_python(item: object) -> object:
    """Return the Python value of a NumPy scalar, which is easier to read in messages."""
    return item.item() if hasattr(item, "item") and getattr(item, "ndim", 1) == 0 else item


for _error in [value for value in vars().copy().values() if isinstance(value, type) and issubclass(value, MaxEntError)]:
    _error.__module__ = "maxent_cvx"  # where users import it from, in tracebacks and pickles

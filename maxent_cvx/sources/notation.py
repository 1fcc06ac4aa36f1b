"""Statements as text, in the papers' notation: ``P(Flu | Gender=male) = 0.3 +- 0.05``.

::

    statement    =  sum relation sum ["+-" number] | number "<=" sum "<=" number | sum "is anything"
                 |  sum soft sum cost | number "<~" sum "<~" number cost
    relation     =  "=" | "==" | "<=" | ">="
    soft         =  "~" | "<~" | ">~"
    cost         =  "+-" number ["," "delta" number] | "," "weight" number
    sum          =  ["-"] term { ("+" | "-") term }
    term         =  number | [number ["*"]] ( probability | mean | count )
    probability  =  "P(" sensitive ["|" ( person | condition {"," condition} )] ")"
    mean         =  "E(" name ["|" ( person | condition {"," condition} )] ")"
    count        =  "#(" sensitive ":" person {"," person} ")"
    sensitive    =  value {"or" value} | interval | condition {"," condition}
    condition    =  name "=" value {"or" value} | name interval
    interval     =  "in" ("[" | "(") number "," number ("]" | ")")
    name, value, person  =  words | "text in quotes" | 'text in quotes'

Words are anything without ``, | ( ) = : #`` and quotes, spaces inside included; a value (or person) that
reads as a number, True or False is one unless it is quoted. A text is parsed, never evaluated, and
str(statement) is read as the same statement (but for values that are neither numbers nor texts, such as
dates; and the numbers that ``E(..., values=...)`` was told). From ``#`` to the end of a line is comment, unless
"(" follows it.
"""

from __future__ import annotations

from dataclasses import replace
from os import PathLike

from ..errors import MaxEntError, StatementError, arguments
from .statements.probability import Probability
from .statements.reader import Reader, without_comments
from .statements.statement import Statement

__all__ = ["read_knowledge", "read_probability", "read_statement", "read_statements"]


def read_statement(text: str) -> Statement:
    """Read one statement in the papers' notation; the grammar is that of the module.

    Parameters
    ----------
    text : str

    Returns
    -------
    Statement

    Raises
    ------
    StatementError
        If it cannot be read, pointing at the character.

    Examples
    --------
    >>> read_statement("P(Flu | Gender=male) = 0.3 +- 0.05")
    <Statement: 0.25 <= P(Flu | Gender=male) <= 0.35>
    >>> read_statement("P(Flu | Gender=male) ~ 0.3 +- 0.05")           # soft: a standard deviation, not an interval
    <Statement: P(Flu | Gender=male) ~ 0.3 +- 0.05>
    >>> read_statement("P(HIV | Gender=male) <= 2 P(Flu or 'Lung cancer' | Gender=female)")
    <Statement: P(HIV | Gender=male) <= 2 P(Flu or Lung cancer | Gender=female)>
    >>> read_statement("E(income | edu=college) = 42.9 +- 0.05")
    <Statement: 42.85 <= E(income | edu=college) <= 42.95>
    >>> read_statement("#(HIV: Alice, Bob, Charlie) >= 2")
    <Statement: #(HIV: Alice, Bob, Charlie) >= 2>
    >>> read_statement("P(Flu | A=1 = 0.3")
    Traceback (most recent call last):
    ...
    maxent_cvx.errors.StatementError: ')' is expected at character 13, where '= 0.3' stands, of 'P(Flu | A=1 = 0.3'
    """
    return Reader(text).statement()


def read_probability(text: str) -> Probability:
    """Read a probability, or a linear combination of some: ``P(Flu | Gender=male) - P(Flu | Gender=female)``.

    Parameters
    ----------
    text : str

    Returns
    -------
    Probability

    Raises
    ------
    StatementError
        If it cannot be read, pointing at the character.

    Examples
    --------
    >>> read_probability("P(Flu | Gender=male) - 2 P(HIV)").attainable()
    (-2.0, 1.0)
    """
    reader = Reader(text)
    found = reader.sum()
    if reader.at < len(reader.text):
        raise reader.error("the end is expected")
    return found


def read_knowledge(path: str | PathLike[str]) -> list[Statement]:
    """Read a file of statements, one a line; empty lines and what follows a ``#`` are left out.

    The notation is that of the papers, ``help("maxent_cvx.sources.notation")`` is its grammar.

    Parameters
    ----------
    path : str or path
        A text in UTF-8.

    Returns
    -------
    list of Statement
        In the order of the lines, for ``model.add(*statements)``.

    Raises
    ------
    StatementError, BadProbability
        If there is no such file, or a line cannot be read, naming file and line; so does the error that a model raises
        when it has no such value or attribute.

    Examples
    --------
    >>> import maxent_cvx as mx, pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "gossip.txt")
    ...     written = path.write_text("P(Flu | Gender=male) = 0.3 +- 0.05  # from the bakery", encoding="utf-8")
    ...     mx.read_knowledge(path)
    [<Statement: 0.25 <= P(Flu | Gender=male) <= 0.35>]
    """
    return read_statements(arguments.text_of_file(path, "path", StatementError), str(path))


def read_statements(text: str, name: str) -> list[Statement]:
    """Read statements, one a line, of a text that is called by a name in messages.

    Raises
    ------
    StatementError, BadProbability
        As of :func:`read_knowledge`.
    """
    found = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not without_comments(line).strip():
            continue
        where = f"{name}, line {number}"
        try:
            found.append(replace(read_statement(line), where=where))
        except MaxEntError as error:
            raise type(error)(f"{where}: {error}") from None
    return found

"""The roles of the columns of a table, quasi-identifiers and sensitive, proposed from their values and names."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Sequence

import pandas as pd

from .._utils.errors import TableError, pluralize
from .._utils.validation import check_label
from .files import UNNAMED_COLUMN, as_dates, is_nested
from .options import INSTEAD, PublishOptions, TableOptions, as_arguments, format_list, given, names
from .streams import say, table_text

#: Words in the names of columns, in English, German, French, Spanish and Italian.
IDENTIFIERS = (
    r"id|key|uuid|ssn|name|vorname|nachname|nom|prenom|nombre|e-?mail|phone|telefon|tel|iban|nummer|number|nr|no"
)
QUASI_IDENTIFIERS = (
    r"age|alter|edad|eta|sex|sexe|sexo|gender|geschlecht|genre|birth\w*|geburts\w*|naissance|dob|zip\w*|plz|postal\w*|"
    r"postleitzahl|postcode|city|ort|wohnort|stadt|ville|ciudad|region|county|country|land|pays|state|nationality|race|"
    r"ethnicity|marital\w*|familienstand|education|bildung|occupation|beruf|profession|job|department|abteilung"
)
SENSITIVE = (
    r"disease\w*|diagnos\w*|krankheit\w*|maladie\w*|enfermedad\w*|icd\w*|condition|illness|hiv|medication|medikament|"
    r"treatment|salary|salaries|gehalt|lohn|salaire\w*|salario|income|einkommen|revenu\w*|ingreso\w*|pay|wage\w*|debt|"
    r"religion|konfession|party|partei|vote|wahl|crime|offence|score|grade|note|rating|balance|kontostand|sensitive"
)
#: Least number of rows for which a column of distinct values is a key.
FEWEST_ROWS = 20
#: Share of distinct values above which a column of texts is too identifying to be a quasi-identifier.
MOST_DISTINCT = 0.5
#: Roles, as printed.
KEY, QI, SA, TEXT = "identifies records: not published", "quasi-identifier", "sensitive", "free text: not used"
OTHER_SA = "sensitive, too: analyse it separately"
UNNAMED, BUCKET = "no name: not used", "bucket"
EMPTY, NESTED = "no values: not used", "several values per cell: not used"


def chosen_roles(
    table: pd.DataFrame, name: str, options: TableOptions, qi: Sequence[str] | None, sa: Sequence[str] | None
) -> tuple[list[str], list[str]]:
    """Return the quasi-identifiers and the sensitive columns: those given, and otherwise the user's answers.

    Raises
    ------
    TableError
        If the session is not interactive; the message contains the command to type.
    """
    has_source = isinstance(options, PublishOptions) or not given(options).isdisjoint(("bucket", *INSTEAD["bucket"]))
    free = () if has_source else table.columns.difference([*(qi or ()), *(sa or ())], sort=False)
    bucket = [column for column in free if str(column).lower() == BUCKET][:1]
    roles = proposed_roles(table.drop(columns=bucket), qi or (), sa or ()).reindex(table.columns, fill_value=BUCKET)
    shown = pd.DataFrame({"column": table.columns, "values": _n_distinct(table), "looks like": roles})
    rows = f"{len(table):,} {'row' if len(table) == 1 else 'rows'}"
    say(f"{name} has {rows} and {pluralize(len(table.columns), 'column')}:")
    print(table_text(shown, index=False))
    proposed = {role: [column for column in table.columns if roles[column] == role] for role in (QI, SA)}
    if not proposed[SA] or not (proposed[QI] or options.id):
        raise TableError(f"--qi and --sa must be given; the columns of {name} are {', '.join(map(str, table.columns))}")
    if is_terminal():
        answers = {
            role: list(named) if named is not None else _answer(question, proposed[role], table)
            for role, named, question in ((QI, qi, "Quasi-identifiers"), (SA, sa, "Sensitive"))
        }
        return answers[QI], answers[SA]
    missing = {
        f"--{option}": proposed[role]
        for option, named, role in (("qi", qi, QI), ("sa", sa, SA))
        if named is None and proposed[role]
    }
    more = [text for option, columns in missing.items() for text in as_arguments(option, format_list(columns))]
    more += [text for column in bucket for text in as_arguments("--bucket", column)]
    command = shlex.join([*options.program.split(), *options.arguments, *more])
    raise TableError(f"{' and '.join(missing)} must be given. If the proposals above are right, type:  {command}")


def is_terminal() -> bool:
    """Return whether the session is interactive."""
    return sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty()


def _answer(question: str, proposed: list[str], table: pd.DataFrame) -> list[str]:
    """Ask for columns; an empty answer accepts the proposed ones."""
    answer = names(input(f"{question} [{format_list(proposed)}]: ")) or proposed
    for column in answer:
        check_label(column, "column of the table", table.columns)
    return answer


def proposed_roles(table: pd.DataFrame, qi: Sequence[str] = (), sa: Sequence[str] = ()) -> pd.Series:
    """Propose a role for each column, by name; given columns have their given roles."""
    distinct, n = _n_distinct(table), len(table)
    roles = {}
    for column in table.columns:
        values, is_varied = table[column], distinct[column] > MOST_DISTINCT * n
        if is_nested(values) or (n and not distinct[column]):
            roles[column] = NESTED if distinct[column] else EMPTY
            continue
        if re.fullmatch(UNNAMED_COLUMN, str(column)):
            roles[column] = UNNAMED
            continue
        is_unique = n >= FEWEST_ROWS and distinct[column] == n and not pd.api.types.is_float_dtype(values)
        if pd.api.types.is_datetime64_any_dtype(as_dates(values)) or (
            _is_called(column, QUASI_IDENTIFIERS) and not is_unique
        ):
            roles[column] = QI
        elif is_unique or (_is_called(column, IDENTIFIERS) and is_varied):
            roles[column] = TEXT if _is_called(column, SENSITIVE) else KEY  # all salaries may be different
        else:
            is_text = is_varied and distinct[column] > FEWEST_ROWS and not pd.api.types.is_numeric_dtype(values)
            roles[column] = TEXT if is_text else QI
    candidates = [column for column in table.columns if roles[column] in (QI, TEXT) and column not in qi]
    called_sensitive = [column for column in candidates if _is_called(column, SENSITIVE)]
    called_sensitive.sort(key=lambda column: distinct[column] > MOST_DISTINCT * n)  # columns with repeated values first
    unknown = [column for column in candidates if not _is_called(column, QUASI_IDENTIFIERS) and roles[column] == QI]
    chosen = [*sa] or called_sensitive[:1] or unknown[-1:] or candidates[-1:]
    roles |= dict.fromkeys(called_sensitive, OTHER_SA)
    roles |= dict.fromkeys(chosen, SA)
    roles |= dict.fromkeys(qi, QI)
    return pd.Series(roles, index=table.columns)


def _n_distinct(table: pd.DataFrame) -> pd.Series:
    """Return the number of distinct values of each column."""
    return pd.Series(
        {name: (cells.map(repr) if is_nested(cells) else cells).nunique() for name, cells in table.items()}
    )


def _is_called(column: object, words: str) -> bool:
    """Return whether a part of a column's name matches some words: "Wohnort_PLZ", "birthDate"."""
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", str(column))
    return any(re.fullmatch(words, part) for part in re.split(r"[\W_]+", spaced.lower()))

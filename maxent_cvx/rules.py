"""RuleSet: association rules, their patterns, and patterns known not to be rules."""

from __future__ import annotations

import json
import math
import re
import warnings
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from fractions import Fraction
from numbers import Integral
from os import PathLike
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

from ._utils.associations import Cube, cubes, members, mine_associations, pattern_names, sizes_of, value_names
from ._utils.errors import (
    BadProbability,
    Infeasible,
    RulesLeftOut,
    StatementError,
    TableError,
    join_names,
    pluralize,
    short_repr,
    unknown_name,
)
from ._utils.files import write_beside
from ._utils.formatting import ReprMixin, TablePreview, format_value
from ._utils.tables import check_named, group_codes, multi_index, names, places_of, repeated
from ._utils.validation import (
    check_bool,
    check_in,
    check_int,
    check_known,
    check_number,
    check_positions,
    check_str,
    label_of,
    read_file_text,
)
from .releases.base import View

#: The columns of a rule's published scores.
SCORES = ("support", "confidence")

#: The tolerance of scores that are integer numbers of records, for roundoff, relative to the number of records.
NEAR_INTEGER = 1e-9


def records_of_scores(
    score: np.ndarray, of: np.ndarray, names: Sequence[str], what: str, decimals: int | None, *, integer: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Return the least and the largest number of records that are consistent with each published score."""
    if decimals is None:
        records = score * of
        nearest = np.rint(records)
        off = np.abs(records - nearest) > NEAR_INTEGER * np.maximum(of, 1)
        if integer and off.any():
            first = int(off.argmax())
            raise StatementError(
                f"the {what} {score[first]:.12g} of {names[first]!r} is {records[first]:.6g} of {of[first]} people, "
                "which is not an integer; if the scores are rounded, pass their number of decimals"
            )
        return (nearest, nearest) if integer else (records, records)
    half = Fraction(1, 2 * 10 ** check_int(decimals, "decimals", 0, 15))
    printed = [Fraction(round(value * 10**decimals), 10**decimals) for value in score]
    if unlike := [i for i, value in enumerate(printed) if abs(float(value) - score[i]) > 1e-12]:
        raise StatementError(
            f"the {what} {score[unlike[0]]:.12g} of {names[unlike[0]]!r} has more than {decimals} decimals; pass the "
            "number of decimals to which the scores are rounded, or round them first"
        )
    ends = [((value - half) * int(m), (value + half) * int(m)) for value, m in zip(printed, of, strict=True)]
    low = np.array([float(math.ceil(a) if integer else a) for a, _ in ends])
    high = np.array([float(math.floor(b) if integer else b) for _, b in ends])
    low, high = np.maximum(low, 0), np.minimum(high, of)
    if (nobody := low > high).any():
        first = int(nobody.argmax())
        raise Infeasible(
            f"no share of {of[first]} people rounds to the {what} {score[first]:.12g} of {names[first]!r} "
            f"with {decimals} decimals; correct the number of decimals, or the people"
        )
    return low, high


def decimals_of(score: float) -> int:
    """Return the number of decimals of a score."""
    text = repr(float(score))
    return 15 if "e" in text else len(text.removesuffix(".0").partition(".")[2])


def rounding(score: float) -> float:
    """Return half a unit of the last decimal of a score, which is tiny if it is not rounded."""
    return 0.5 * 10.0 ** -decimals_of(score) + 1e-12


#: The largest product that is exact in 64 bits.
LARGEST = 2**62


@dataclass(frozen=True)
class Thresholds:
    """Q => X is a rule if P(Q, X) >= support and P(X | Q) >= confidence; with > if `strict`."""

    support: Fraction  # the decimal number: 0.1 is one tenth, not the nearest float
    confidence: Fraction  # the decimal number: 0.1 is one tenth, not the nearest float
    strict: bool = False

    @classmethod
    def of(cls, support: object, confidence: object, strict: bool = False) -> Thresholds:
        """Read thresholds, which must be shares of people."""
        return cls(exact(support, "support"), exact(confidence, "confidence"), bool(strict))

    def least(self, n_q: np.ndarray, n: int) -> np.ndarray:
        """Return the smallest number n(Q, X) of a rule; one less is the largest of a non-rule."""
        # max(ceil(n s), ceil(n(Q) c)), or max(floor(n s), floor(n(Q) c)) + 1 if strict; at least one record.
        return np.maximum(self._up(self.confidence, n_q), self.least_support(n))

    def least_support(self, n: int) -> int:
        """Return the smallest number n(Q, X) that reaches the support, of n records."""
        return max(int(self._up(self.support, np.array([n]))[0]), 1)

    def bound(self, n_q: np.ndarray, n: int) -> np.ndarray:
        """Return max(s, c P(Q)), Eq. (3), a probability."""
        return np.maximum(float(self.support), float(self.confidence) * n_q / n)

    def only_support(self, n_q: np.ndarray, n: int, *, integer: bool) -> np.ndarray:
        """Mark where c P(Q) <= s (Theorem 3), so that the support is the bound; in integers if `integer`."""
        if integer:
            return np.asarray(self._up(self.confidence, n_q) <= self.least_support(n))
        return np.asarray(
            self.confidence.numerator * n_q.astype(object) <= self.support * n * self.confidence.denominator
        )

    def _up(self, share: Fraction, n: np.ndarray) -> np.ndarray:
        """Return the smallest integer that is at least a share of n, or, if strict, larger."""
        top, bottom = share.numerator, share.denominator
        if top * int(n.max(initial=0)) > LARGEST or bottom > LARGEST:
            n = n.astype(object)  # Python's own integers
        least = n * top // bottom + 1 if self.strict else -(-n * top // bottom)
        return np.asarray(least.astype(np.int64))

    def __str__(self) -> str:
        sign = ">" if self.strict else ">="
        return f"support {sign} {float(self.support):.12g}, confidence {sign} {float(self.confidence):.12g}"


def exact(value: object, what: str) -> Fraction:
    """Read a share of records as a decimal number: 0.1 is one tenth."""
    share = value if isinstance(value, Fraction) else Fraction(str(check_number(value, what)))
    if not 0 <= share <= 1:
        raise BadProbability(f"{what} must be a share of the people, from 0 to 1, got {float(share):.12g}")
    return share


# Rules in CSV files, whose first line describes them.


#: Arguments that the file or the reader must specify.
NEEDED = ("qi", "sa", "support", "confidence")
#: Arguments that a file may specify: those of RuleSet, except the table.
ARGUMENTS = (*NEEDED, "strict", "complete", "attributes")


def write_rules(table: pd.DataFrame, arguments: Mapping[str, Any], path: str | PathLike[str]) -> None:
    """Write a first line that describes the rules, then one row per rule."""
    for column in (*arguments["qi"], *arguments["sa"]):
        if (table[column] == "").any():
            raise TableError(
                f"column {column!r} contains the empty string, which a file does not distinguish from an unset "
                "attribute; rename the value"
            )
    first = {name: _written(value) if name in SCORES else value for name, value in arguments.items()}
    text = f"# {json.dumps(first)}\n{table.to_csv(index=False)}"
    write_beside(path, lambda draft: draft.write_text(text, encoding="utf-8"))


def read_rules(path: str | PathLike[str], arguments: dict[str, Any]) -> dict[str, Any]:
    """Read the arguments of a RuleSet from a file, completed by those of the user."""
    for role in ("qi", "sa"):
        if arguments.get(role) is not None:
            names(arguments[role], role)
    stored = _stored_arguments(path)
    for name, value in arguments.items():
        if name in stored and not _agree(name, stored[name], value):
            convention = ""
            if name == "strict":
                convention = " (rules mined with >= and with > differ, as do the patterns that are not rules)"
            raise StatementError(
                f"{name} is {short_repr(value)}, but {str(path)!r} has {name}={stored[name]!r}{convention}; omit {name}"
            )
    merged = stored | arguments
    if missing := [name for name in NEEDED if name not in merged]:
        raise StatementError(
            f"{str(path)!r} does not specify {join_names(missing)} of its rules; pass {', '.join(missing)}, or use a "
            "file from RuleSet.to_csv or 'maxent-cvx publish --method rules'"
        )
    return {"table": _stored_table(path, 1 if stored else 0), **merged}


def _stored_arguments(path: str | PathLike[str]) -> dict[str, Any]:
    """Read the arguments in the first line of a file; none if the file begins with its table."""
    first = read_file_text(path, "path").partition("\n")[0]
    if not first.startswith("# {"):
        return {}
    try:
        stored: dict[str, Any] = json.loads(first[2:])
        for name in SCORES:
            if isinstance(stored.get(name), str):
                stored[name] = Fraction(stored[name])
    except (ValueError, ZeroDivisionError, RecursionError) as error:
        reason = " ".join(str(error).split())
        raise TableError(f"the first line of {str(path)!r} does not describe rules: {reason}") from error
    if unknown := stored.keys() - set(ARGUMENTS):
        raise TableError(
            f"the first line of {str(path)!r} must only contain {join_names(ARGUMENTS, 20)}, not "
            f"{join_names(sorted(unknown))}"
        )
    return stored


def _stored_table(path: str | PathLike[str], skipped: int) -> pd.DataFrame:
    """Read the table of rules below some lines of a file."""
    # An empty cell is an attribute that is not set; "NA" and "007" are values and remain strings.
    try:
        rows = pd.read_csv(
            path, skiprows=skipped, header=None, keep_default_na=False, na_values=[""], encoding="utf-8",
            dtype=str,
        )  # fmt: skip
    except (pd.errors.EmptyDataError, pd.errors.ParserError) as error:
        raise TableError(f"{str(path)!r} is not a table of rules: {' '.join(str(error).split())}") from error
    header = rows.iloc[0]  # pandas would make duplicates distinct, Gender and Gender.1
    if (twins := header[header.notna() & header.duplicated()]).size:
        raise TableError(f"{str(path)!r} has duplicate columns {join_names(twins.unique())}; rename all but one")
    table = rows[1:].set_axis(pd.Index(header.fillna("").tolist()), axis=1).reset_index(drop=True)
    for name in (name for name in SCORES if name in table):
        table[name] = pd.to_numeric(table[name], errors="coerce").astype(float)
    return table


def _written(threshold: Fraction) -> float | str:
    """Return a threshold as a number if that is exact, else as the text of a fraction."""
    return float(threshold) if Fraction(str(float(threshold))) == threshold else str(threshold)


def _agree(name: str, stored: Any, value: Any) -> bool:
    """Return whether an argument agrees with a file; complete=False always does."""
    if name in SCORES:
        return exact(stored, name) == exact(value, name)
    if name == "complete":
        return bool(stored) or not value
    if name in ("qi", "sa", "attributes"):
        lists = ([value] if isinstance(value, str | int) else value for value in (stored, value))
        stored, value = (value if value is None else list(value) for value in lists)
    return bool(stored == value)


# Rules from mlxtend's ``association_rules``.


def read_items(rules: pd.DataFrame, qi: tuple[str, ...], sa: tuple[str, ...], separator: str) -> pd.DataFrame:
    """Convert mlxtend's rules of items "attribute_value" to one column per attribute."""
    columns = ["antecedents", "consequents", *SCORES]
    if not isinstance(rules, pd.DataFrame) or (missing := [name for name in columns if name not in rules.columns]):
        received = short_repr(rules) if not isinstance(rules, pd.DataFrame) else f"a table without {', '.join(missing)}"
        raise TableError(f"rules must be a result of association_rules with {', '.join(columns)}, not {received}")
    if rules.columns.has_duplicates:
        raise TableError(f"the rules have duplicate columns {join_names(repeated(rules.columns))}")
    for items in ("antecedents", "consequents"):
        if strange := [itemset for itemset in rules[items] if not isinstance(itemset, Set | list | tuple)]:
            raise TableError(f"{items} must be sets of items, as in association_rules, not {short_repr(strange[0])}")
    if len(rules) and rules["confidence"].isna().all():
        raise TableError("the rules have no confidence; call association_rules without support_only=True")
    known = {item: _read_item(item, (*qi, *sa), separator) for items in ("antecedents", "consequents")
             for itemset in rules[items] for item in itemset}  # fmt: skip
    records, left_out = [], Counter[str]()
    for antecedent, right, *scores in rules[columns].itertuples(index=False):
        conditions, consequents = dict(known[item] for item in antecedent), dict(known[item] for item in right)
        if conditions.keys() <= set(qi) and consequents.keys() == set(sa):
            records.append({**conditions, **consequents, **dict(zip(SCORES, scores, strict=True))})
        elif (conditions.keys() | consequents.keys()) & set(sa):
            left_out["sensitive values on the left" if conditions.keys() & set(sa) else "QI on the right"] += 1
    if left_out:
        kinds = ", ".join(f"{count} with {kind}" for kind, count in left_out.items())
        warnings.warn(
            f"{pluralize(left_out.total(), 'rule')} left out ({kinds}), as only QI => SA is used",
            RulesLeftOut,
            stacklevel=3,
        )
    return pd.DataFrame(records, columns=[*qi, *sa, *SCORES], dtype=object)


def least_scores(table: pd.DataFrame, scores: dict[str, Any], exact: str) -> dict[str, Any]:
    """Return the given thresholds, or, if missing, the least score of all rules."""
    unsaid = [f"{name}=..." for name in SCORES if scores[name] is None]
    if unsaid and (exact or table.empty):
        raise StatementError(f"pass {' and '.join(unsaid)} of the mining; {exact or 'an empty set'} does not imply it")
    return {name: table[name].min() if scores[name] is None else scores[name] for name in SCORES}


def _read_item(item: object, attributes: tuple[str, ...], separator: str) -> tuple[str, str]:
    """Read one item, "attribute_value"; the name of a boolean column alone means that it is True."""
    if isinstance(item, Integral):
        raise StatementError(
            f"the item {item!r} is the number of a column; mine with column names, apriori(..., use_colnames=True)"
        )
    fits = [
        name for name in attributes if isinstance(item, str) and (item == name or item.startswith(name + separator))
    ]
    if len(fits) > 1:
        raise StatementError(
            f"the item {item!r} is ambiguous between {join_names(fits)}; name items with another separator, "
            "pandas.get_dummies(..., prefix_sep='='), and pass separator='='"
        )
    for name in fits:
        return name, "True" if item == name else str(item)[len(name + separator) :]
    error = str(unknown_name(f"item 'attribute{separator}value' of {', '.join(attributes)}", item, [])).partition(";")[
        0
    ]
    for name in attributes:
        if between := re.match(r"[\W_]+", str(item)[len(name) :] if str(item).startswith(name) else ""):
            raise StatementError(f"{error}; pass separator={between[0]!r}")
    raise StatementError(
        f"{error}; pass every attribute in qi or sa, and the separator between attribute and value, and name items "
        "like columns of pandas.get_dummies"
    )


# The table of a rule set: checks of rules, their names, and checks of scores against the thresholds.


def check_names(columns: Sequence[str]) -> None:
    """Raise an error if a column has the name of a score."""
    if clash := [name for name in columns if name in SCORES]:
        raise TableError(f"the column name {clash[0]!r} is reserved for a score of rules; rename the column")


def named_rules(
    table: pd.DataFrame, qi: tuple[str, ...], sensitive: tuple[str, ...], attributes: Sequence[int] | None
) -> pd.DataFrame:
    """Check the rules, and index them by their texts, "Education=Doctorate, Gender=Female => 50K+"."""
    if not isinstance(table, pd.DataFrame):
        raise TableError(f"rules must be a pandas DataFrame, one row per rule, not a {type(table).__name__}")
    columns = check_named(table.columns, {"qi": qi, "sa": sensitive}, "the rules")
    check_names(columns)
    frame = table[[*columns, *(name for name in SCORES if name in table.columns)]].reset_index(drop=True)
    for column in columns:
        frame[column] = frame[column].astype(object).where(frame[column].notna(), None)
    if (lacks := frame[list(sensitive)].isna().any(axis=1)).any():
        raise TableError(
            f"rule {int(lacks.argmax()) + 1} lacks a value of {join_names(sensitive)}; every rule needs one"
        )
    sizes = frame[list(qi)].notna().sum(axis=1)
    if (sizes == 0).any():
        raise TableError(f"rule {int((sizes == 0).argmax()) + 1} sets no QI attribute; every rule needs at least one")
    frame.index = pd.Index(_texts(frame, qi, sensitive), name="rule")
    if frame.index.has_duplicates:
        raise TableError(f"the rules {join_names(repeated(frame.index), 3)} are repeated; give one row per rule")
    if attributes is not None and not set(sizes) <= set(attributes):
        first = frame.index[~sizes.isin(attributes).to_numpy()][0]
        raise StatementError(f"the number of QI attributes of {first!r} is not in attributes={list(attributes)}")
    return frame


def _texts(frame: pd.DataFrame, qi: tuple[str, ...], sensitive: tuple[str, ...]) -> list[str]:
    """Return the texts of the rules."""
    antecedents = _pairs(frame[sorted(qi)])
    named = len(sensitive) > 1  # with a single attribute, the right side is the value alone
    consequents = _pairs(frame[list(sensitive)]) if named else map(format_value, frame[sensitive[0]])
    return [f"{antecedent} => {consequent}" for antecedent, consequent in zip(antecedents, consequents, strict=True)]


def _pairs(frame: pd.DataFrame) -> list[str]:
    """Return the texts of the values in every row: "Education=Doctorate, Gender=Female"."""
    rows = zip(*(frame[column] for column in frame), strict=True)
    return [
        ", ".join(f"{c}={format_value(v)}" for c, v in zip(frame, row, strict=True) if v is not None) for row in rows
    ]


def check_scores(table: pd.DataFrame, thresholds: Thresholds) -> None:
    """Check that scores are shares, and not below their thresholds by more than their rounding."""
    for name in (name for name in SCORES if name in table):
        score, least = table[name], float(getattr(thresholds, name))
        for rule, value in score.items():
            check_number(value, f"the {name} of {rule!r}")
        values = score.to_numpy(dtype=float)
        short = values + [rounding(value) for value in values] < least
        if (short | (values > 1 + 1e-9)).any():
            first = int((short | (values > 1 + 1e-9)).argmax())
            raise StatementError(
                f"rules must have {thresholds}, but the {name} of {table.index[first]!r} is {values[first]:.12g}; "
                "correct the thresholds, or remove the rule"
            )


# Published association rules Q => X.


#: The maximum number of decimals of a double.
MOST_DECIMALS = 300


class RuleSet(ReprMixin):
    """Rules Q => X with P(Q, X) >= support and P(X | Q) >= confidence; with > if `strict`.

    Parameters
    ----------
    table : DataFrame
        One row per rule: one column per QI attribute, with missing values (NaN, None) if the rule does not set it, one
        column per sensitive attribute, and, if published, the scores "support" and "confidence".
    qi, sa : str or list of str
        The mined attributes; a rule sets some of `qi`.
    support, confidence : float
        The thresholds, shares of all records and of the records with Q. They are decimal numbers: 0.1 is one tenth;
        five sixths are ``Fraction(5, 6)``.
    strict : bool
        Whether rules exceed the thresholds (>) or may equal them (>=).
    complete : bool
        Whether these are all rules, so that missing patterns are known not to be rules.
    attributes : int or list of int, optional
        The allowed numbers of QI attributes in a rule; None means any number.

    Attributes
    ----------
    table : DataFrame
        The rules, indexed by their texts, "Education=Doctorate, Gender=Female => 50K+".
    thresholds : Thresholds

    Raises
    ------
    UnknownName, TableError, StatementError, BadProbability
        If a column is missing, or a rule is incomplete, repeated, or below the thresholds.

    Notes
    -----
    Published rules, section V.A. See also :func:`maxent_cvx.anonymize.mine_rules`.

    Examples
    --------
    >>> import maxent_cvx as mx, pandas as pd
    >>> table = pd.DataFrame({"Education": ["Doctorate", None], "Gender": [None, "Female"], "Salary": ["50K+", "50K-"],
    ...     "confidence": [0.875, 0.625]})             # each sets one of two attributes
    >>> rules = mx.RuleSet(table, qi=["Education", "Gender"], sa="Salary", support=0.1, confidence=0.6)
    >>> rules.rounded(1).table["confidence"].to_dict()
    {'Education=Doctorate => 50K+': 0.9, 'Gender=Female => 50K-': 0.6}
    >>> rules
    <RuleSet: 2 rules (Education, Gender) => Salary; some of the rules with support >= 0.1, confidence >= 0.6>
    """

    def __init__(
        self,
        table: pd.DataFrame,
        *,
        qi: str | Iterable[str],
        sa: str | Iterable[str],
        support: float | Fraction,
        confidence: float | Fraction,
        strict: bool = False,
        complete: bool = False,
        attributes: int | Iterable[int] | None = None,
    ) -> None:
        strict, self.complete = check_bool(strict, "strict"), check_bool(complete, "complete")
        self.qi, self.sensitive = names(qi, "qi"), names(sa, "sa")
        self.thresholds = Thresholds.of(support, confidence, strict)
        self.attributes = None if attributes is None else tuple(sizes_of(attributes, len(self.qi)))
        self.table = named_rules(table, self.qi, self.sensitive, self.attributes)
        check_scores(self.table, self.thresholds)

    @property
    def support(self) -> float:
        """The threshold of the support."""
        return float(self.thresholds.support)

    @property
    def confidence(self) -> float:
        """The threshold of the confidence."""
        return float(self.thresholds.confidence)

    @property
    def strict(self) -> bool:
        """Whether rules exceed the thresholds (>) or may equal them (>=)."""
        return self.thresholds.strict

    @property
    def sa(self) -> str | tuple[str, ...]:
        """The column of the sensitive attribute; a tuple of columns if there are several."""
        return self.sensitive if len(self.sensitive) > 1 else self.sensitive[0]

    def __len__(self) -> int:
        return len(self.table)

    def head(self, n: int) -> RuleSet:
        """Return the first n rules; the set is not complete unless it has all rules.

        Raises
        ------
        StatementError
            If `n` is not an integer of at least 0.

        Examples
        --------
        >>> import maxent_cvx as mx, pandas as pd
        >>> table = pd.DataFrame({"Gender": ["Male", "Female"], "Pay": ["50K+", "50K-"], "confidence": [0.875, 0.625]})
        >>> rules = mx.RuleSet(table, qi="Gender", sa="Pay", support=0.1, confidence=0.6, complete=True)
        >>> rules.head(1)
        <RuleSet: 1 rule (Gender) => Pay; some of the rules with support >= 0.1, confidence >= 0.6>
        """
        check_int(n, "n", 0)
        return self.at(np.arange(len(self)) < n)

    def at(self, rules: np.ndarray) -> RuleSet:
        """Select rules by a mask or by positions; the result is not complete if any rule is left out.

        Parameters
        ----------
        rules : ndarray of bool or of int

        Raises
        ------
        StatementError
            If `rules` is neither a mask nor positions.

        Examples
        --------
        >>> import maxent_cvx as mx, pandas as pd
        >>> table = pd.DataFrame({"Gender": ["Male", "Female"], "Pay": ["50K+", "50K-"], "confidence": [0.875, 0.625]})
        >>> rules = mx.RuleSet(table, qi="Gender", sa="Pay", support=0.1, confidence=0.6, complete=True)
        >>> rules.at(rules.table["confidence"].to_numpy() > 0.8).table.index.to_list()
        ['Gender=Male => 50K+']
        >>> rules.complete, rules.head(1).complete
        (True, False)
        """
        table = self.table.iloc[check_positions(rules, "rules", len(self))]
        return self._with(table, complete=self.complete and len(table) == len(self))

    def incomplete(self) -> RuleSet:
        """Return the same rules, without the claim that the set is complete.

        Examples
        --------
        >>> import maxent_cvx as mx, pandas as pd
        >>> table = pd.DataFrame({"Gender": ["Male", "Female"], "Pay": ["50K+", "50K-"], "confidence": [0.875, 0.625]})
        >>> rules = mx.RuleSet(table, qi="Gender", sa="Pay", support=0.1, confidence=0.6, complete=True)
        >>> rules
        <RuleSet: 2 rules (Gender) => Pay; all rules with support >= 0.1, confidence >= 0.6>
        >>> rules.incomplete()
        <RuleSet: 2 rules (Gender) => Pay; some of the rules with support >= 0.1, confidence >= 0.6>
        """
        return self._with(self.table, complete=False)

    def without_scores(self, *names: str) -> RuleSet:
        """Drop scores, by default both, so that only the thresholds are known.

        Parameters
        ----------
        *names : "support" or "confidence"

        Raises
        ------
        StatementError
            If a name is not that of a score.

        Examples
        --------
        >>> import maxent_cvx as mx, pandas as pd
        >>> table = pd.DataFrame({"Gender": ["Male", "Female"], "Pay": ["50K+", "50K-"], "confidence": [0.875, 0.625]})
        >>> rules = mx.RuleSet(table, qi="Gender", sa="Pay", support=0.1, confidence=0.6, complete=True)
        >>> rules.without_scores("confidence").table.columns.to_list()
        ['Gender', 'Pay']
        """
        for name in names:
            check_in(name, "a score", SCORES)
        return self._with(self.table.drop(columns=[n for n in names or SCORES if n in self.table]), self.complete)

    def rounded(self, decimals: int) -> RuleSet:
        """Round the scores.

        Raises
        ------
        StatementError
            If `decimals` is not an integer from 0 to 300.

        Examples
        --------
        >>> import maxent_cvx as mx, pandas as pd
        >>> table = pd.DataFrame({"Gender": ["Male", "Female"], "Pay": ["50K+", "50K-"], "confidence": [0.875, 0.625]})
        >>> rules = mx.RuleSet(table, qi="Gender", sa="Pay", support=0.1, confidence=0.6, complete=True)
        >>> rules.rounded(1).table["confidence"].to_list()
        [0.9, 0.6]
        """
        check_int(decimals, "decimals", 0, MOST_DECIMALS)
        scores = [name for name in SCORES if name in self.table]
        return self._with(
            self.table.assign(**{name: self.table[name].round(decimals) for name in scores}), self.complete
        )

    def to_csv(self, path: str | PathLike[str]) -> None:
        """Write the rules as CSV, with a first line "# {...}" of thresholds and roles for :meth:`from_csv`.

        Parameters
        ----------
        path : str or path

        Raises
        ------
        TableError
            If the file cannot be written, or a value is the empty string.

        Examples
        --------
        >>> import maxent_cvx as mx, pandas as pd
        >>> table = pd.DataFrame({"Gender": ["Male", "Female"], "Pay": ["50K+", "50K-"], "confidence": [0.875, 0.625]})
        >>> rules = mx.RuleSet(table, qi="Gender", sa="Pay", support=0.1, confidence=0.6, complete=True)
        >>> import pathlib, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     rules.to_csv(pathlib.Path(folder, "rules.csv"))
        ...     pathlib.Path(folder, "rules.csv").read_text().splitlines()[1:]
        ['Gender,Pay,confidence', 'Male,50K+,0.875', 'Female,50K-,0.625']
        """
        write_rules(self.table, self._arguments | {"sa": self.sensitive}, path)

    @classmethod
    def from_csv(cls, path: str | PathLike[str], **arguments: Any) -> RuleSet:
        """Read rules from a CSV file with one row per rule and empty cells for attributes that are not set.

        Parameters
        ----------
        path : str or path
        **arguments
            Arguments of :class:`RuleSet` that are not in the first line of the file (see :meth:`to_csv`). Values are
            strings, which are matched with the text of a view's values.

        Returns
        -------
        RuleSet

        Raises
        ------
        TableError
            If the file does not exist.
        StatementError
            If an argument is missing, or contradicts the file.

        Examples
        --------
        >>> import maxent_cvx as mx, pandas as pd, pathlib, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder, "rules.csv")
        ...     pd.DataFrame({"Gender": ["Male"], "Pay": ["50K+"]}).to_csv(path, index=False)
        ...     mx.RuleSet.from_csv(path, qi="Gender", sa="Pay", support=0.1, confidence=0.6)
        <RuleSet: 1 rule (Gender) => Pay; some of the rules with support >= 0.1, confidence >= 0.6>
        """
        check_known(arguments, "argument of RuleSet", ARGUMENTS)
        return cls(**read_rules(path, arguments))

    @classmethod
    def from_mlxtend(
        cls,
        rules: pd.DataFrame,
        *,
        qi: str | Iterable[str],
        sa: str | Iterable[str],
        support: float | None = None,
        confidence: float | None = None,
        strict: bool = False,
        complete: bool = False,
        separator: str = "_",
        attributes: int | Iterable[int] | None = None,
    ) -> RuleSet:
        """Read the result of mlxtend's ``association_rules``.

        mlxtend compares with >= in floating point, where (4/12) / (5/12) is less than 0.8, so a rule whose score equals
        a threshold may be missing. Use thresholds that no score equals.

        Parameters
        ----------
        rules : DataFrame
            A table with "antecedents" and "consequents", sets of items "attribute_value" like columns of
            ``pandas.get_dummies``, or names of boolean columns, and with "support" and "confidence". Mine with
            ``use_colnames=True``.
        qi, sa : str, or several
        support, confidence : float, optional
            The thresholds of the mining; by default the smallest scores, unless `complete` or `strict`.
        strict, complete : bool
            See :class:`RuleSet`.
        separator : str
            The separator between attribute and value.
        attributes : int, or several, optional
            See :class:`RuleSet`.

        Returns
        -------
        RuleSet

        Raises
        ------
        UnknownName, TableError, StatementError, BadProbability
            If `rules` is not such a table, an item matches no attribute or several, or a rule is below the thresholds.

        Warns
        -----
        RulesLeftOut
            If rules about the sensitive attribute are left out, as they are not of the form QI => SA.

        Examples
        --------
        >>> import maxent_cvx as mx, pandas as pd
        >>> left, right = frozenset({"Gender_Male"}), frozenset({"Salary_50K+"})
        >>> mined = pd.DataFrame({"antecedents": [left], "consequents": [right], "support": 0.35, "confidence": 0.875})
        >>> mx.RuleSet.from_mlxtend(mined, qi="Gender", sa="Salary", support=0.1, confidence=0.6).table.index.to_list()
        ['Gender=Male => 50K+']
        """
        check_str(separator, "separator")
        strict, complete = check_bool(strict, "strict"), check_bool(complete, "complete")
        qi, sa = names(qi, "qi"), names(sa, "sa")
        table = read_items(rules, qi, sa, separator)
        exact = "complete=True" if complete else "strict=True" if strict else ""
        scores = least_scores(table, {"support": support, "confidence": confidence}, exact)
        return cls(table, qi=qi, sa=sa, strict=strict, complete=complete, attributes=attributes, **scores)

    @property
    def _arguments(self) -> dict[str, Any]:
        return {name: getattr(self.thresholds if name in SCORES else self, name) for name in ARGUMENTS}

    def _with(self, table: pd.DataFrame, complete: bool) -> RuleSet:
        return RuleSet(table, **self._arguments | {"complete": complete})

    def __repr__(self) -> str:
        rules = f"{pluralize(len(self), 'rule')} ({', '.join(self.qi)}) => {', '.join(self.sensitive)}"
        return f"<RuleSet: {rules}; {'all' if self.complete else 'some of the'} rules with {self.thresholds}>"

    def _tables(self) -> Iterable[TablePreview]:
        return [TablePreview(self.table[[name for name in SCORES if name in self.table]], "rules")]


# Patterns Q => X of a view: sets of QI tuples with a sensitive value.


@dataclass(frozen=True, eq=False)
class Patterns:
    """Patterns Q => X, as sets of QI tuples of a view with a sensitive value."""

    names: np.ndarray  # "Education=Doctorate, Gender=Female => 50K+"
    members: sp.csr_array  # (patterns, QI tuples): 1 for the QI tuples that match Q
    s: np.ndarray  # the position of X among the view's sensitive values
    n_q: np.ndarray  # number of records with Q

    def __len__(self) -> int:
        return len(self.s)


def rule_patterns(rules: RuleSet, view: View) -> Patterns:
    """Find the QI tuples of a view that each rule matches."""
    if stranger := [name for name in rules.qi if name not in view.qi]:
        raise unknown_name(f"quasi-identifier of the {view.noun}, although the rules use it", stranger[0], view.qi)
    if rules.sensitive != view.sensitive:
        raise StatementError(
            f"the rules are about {', '.join(rules.sensitive)}, but the {view.noun} is about "
            f"{', '.join(view.sensitive)}; mine rules for the same sensitive attributes, in the same order"
        )
    tuples, table = view.quasi_identifiers, rules.table
    codes = np.full((len(rules), len(view.qi)), -1)
    for name in rules.qi:
        i = view.qi.index(name)
        is_set = table[name].notna().to_numpy()
        codes[is_set, i] = find_values(table[name][is_set], tuples.levels[i], f"value of {name!r}")
    s = _values(table, view)
    members = _members(codes, tuples)
    n_q = np.asarray(members @ view.n_q).astype(np.int64)
    if (n_q == 0).any():
        raise StatementError(
            f"nobody in the {view.noun} matches the rule {table.index[int((n_q == 0).argmax())]!r}, whose values do "
            "not occur together; use rules that were mined from the same people"
        )
    return Patterns(table.index.to_numpy(dtype=object), members, s, n_q)


def _members(codes: np.ndarray, tuples: pd.MultiIndex) -> sp.csr_array:
    """Mark the QI tuples with the codes of each pattern, -1 meaning any."""
    rows, columns = [np.empty(0, dtype=int)], [np.empty(0, dtype=int)]
    for is_set in np.unique(codes >= 0, axis=0):  # patterns that set the same attributes together
        at = np.flatnonzero(((codes >= 0) == is_set).all(axis=1))
        attributes = np.flatnonzero(is_set)
        joined = [np.concatenate([np.asarray(tuples.codes[i]), codes[at, i]]) for i in attributes]
        key = group_codes(joined, [len(tuples.levels[i]) for i in attributes])
        which, described = places_of(key[: len(tuples)], key[len(tuples) :])
        rows.append(at[which])
        columns.append(described)
    where = np.concatenate(rows), np.concatenate(columns)
    return sp.csr_array((np.ones(len(where[0])), where), shape=(len(codes), len(tuples)))


def _values(table: pd.DataFrame, view: View) -> np.ndarray:
    """Return the view's positions of the sensitive values."""
    known, description = view.sensitive_values, "value of {!r}"
    if not isinstance(known, pd.MultiIndex):
        return find_values(table[view.sensitive[0]], known, description.format(view.sensitive[0]))
    each = [
        find_values(table[name], known.levels[i], description.format(name)) for i, name in enumerate(view.sensitive)
    ]
    at = pd.MultiIndex.from_arrays([np.asarray(code) for code in known.codes]).get_indexer(
        pd.MultiIndex.from_arrays(each)
    )
    if (at < 0).any():
        raise unknown_name(f"combination of {', '.join(view.sensitive)}", table.index[int((at < 0).argmax())], [])
    return np.asarray(at)


def find_values(column: pd.Series, known: pd.Index, what: str) -> np.ndarray:
    """Find the positions of values; values from a file also match by their text."""
    labels = pd.Index(column.to_numpy(dtype=object), dtype=object)
    try:
        at = pd.Index(known, dtype=object).get_indexer(labels)
    except TypeError as error:
        raise StatementError(f"{what[0].upper() + what[1:]} must be a single value in each cell: {error}") from error
    as_texts = pd.Index(known.map(_text), dtype=object)
    if (at < 0).any() and as_texts.is_unique:
        at = np.where(at < 0, as_texts.get_indexer(labels.map(_text)), at)
    if (at < 0).any() and pd.api.types.is_numeric_dtype(getattr(known, "categories", known)) and known.is_unique:
        numbers = pd.to_numeric(
            pd.Series([w if isinstance(w, str | float) else None for w in labels], dtype=object), errors="coerce"
        ).map(lambda number: label_of(number, known))
        at = np.where(at < 0, pd.Index(known.astype(float)).get_indexer(pd.Index(numbers, dtype=float)), at)
    if (at < 0).any():
        raise unknown_name(f"{what} (of the rule {column.index[int((at < 0).argmax())]!r})", labels[at < 0][0], known)
    return np.asarray(at)


def _text(value: object) -> str:
    """Return the text of a value; a date without a time is 2024-01-31, as pandas writes columns of dates."""
    return str(value).removesuffix(" 00:00:00")


# Patterns that are not rules: if a set of rules is complete, every missing pattern is below a threshold.


@dataclass(frozen=True, eq=False)
class NonRules:
    """Patterns that are not rules, without those that others imply."""

    patterns: Patterns
    given: np.ndarray  # their left sides
    n_pruned: int  # the number after pruning by Theorem 3, including those that cannot bind


def non_rules(rules: RuleSet, patterns_of_rules: Patterns, view: View, *, integer: bool, prune: bool) -> NonRules:
    """Return the patterns Q => X of a view that are not rules, and whose bound on n(Q, X) can bind."""
    thresholds, n, found = rules.thresholds, view.n_records, patterns_of_rules
    tuples, sizes = _mined(rules, view), sizes_of(rules.attributes, len(rules.qi))
    sets = rules.table[list(rules.qi)].notna().to_numpy()
    first = found.members.indices[found.members.indptr[:-1]]
    is_found = np.zeros(len(rules), dtype=bool)
    bounds: dict[tuple[int, ...], tuple[np.ndarray, np.ndarray]] = {}
    # By attributes: the pattern in its cube, the value, and n(Q) of every non-rule that can bind.
    binding: dict[tuple[int, ...], tuple[np.ndarray, np.ndarray, np.ndarray]] = {}
    n_pruned = 0

    def closes(cube: Cube) -> np.ndarray:
        """Record the non-rules of a cube; mark those below which all patterns are redundant (Theorem 3)."""
        nonlocal n_pruned
        is_rule = np.zeros((len(cube), len(view.sensitive_values)), dtype=bool)
        if len(cube.attributes) not in sizes:  # not mined, so missing patterns may be rules
            return is_rule
        n_q = cube.counts[:, 0]
        is_set = np.isin(np.arange(sets.shape[1]), cube.attributes)
        at = np.flatnonzero((sets == is_set).all(axis=1))
        pattern = cube.group[first[at]]
        at, pattern = at[pattern >= 0], pattern[pattern >= 0]
        closed = np.broadcast_to(cube.closed, is_rule.shape)
        is_found[at] = ~closed[pattern, found.s[at]]
        is_rule[pattern, found.s[at]] = True
        is_open = ~is_rule & ~closed
        only = thresholds.only_support(n_q, n, integer=integer)
        repeats = np.zeros_like(is_rule)
        bound = thresholds.least(n_q, n) if integer else np.where(only, -1, n_q)
        for parent, above in cube.parents.items():
            if prune and parent in bounds:
                of_parent, is_none = bounds[parent]
                repeats |= (of_parent[above] == bound)[:, None] & is_none[above] & (above >= 0)[:, None]
        bounds[cube.attributes] = bound, ~is_rule
        n_pruned += int(is_open.sum())
        can_bind = bound <= n_q  # a bound below the number of records with Q
        if not integer:
            can_bind = (n_q > thresholds.support * n // 1) & (thresholds.confidence < 1)
        pattern, s = np.nonzero(is_open & ~repeats & can_bind[:, None])
        binding[cube.attributes] = pattern, s, n_q[pattern]
        return np.asarray(~is_rule & only[:, None] & prune)

    seen = list(cubes(rules.qi, tuples, view.n_q[:, None], closes, sizes))
    if prune and not is_found.all():  # a rule is below a non-rule that has at least its support
        raise StatementError(
            f"{found.names[int((~is_found).argmax())]!r} is a rule, but a more general pattern, with at least its "
            f"support, is not, although that suffices for {thresholds}. The set is not complete, or was mined with "
            "other thresholds; correct them, or pass non_rules=False to ignore missing patterns"
        )
    parts = [binding[cube.attributes] for cube in seen]
    pattern, s, n_q = (np.concatenate(part) for part in zip(*parts, strict=True))
    of_cube = np.repeat(np.arange(len(seen)), [len(part) for part, _, _ in parts])
    conditions = pattern_names(rules.qi, tuples, seen, of_cube, pattern)
    names = conditions + " => " + value_names(view.sensitive, view.sensitive_values)[s]
    return NonRules(Patterns(names, members(seen, of_cube, pattern, len(tuples)), s, n_q), conditions, n_pruned)


def count_patterns(rules: RuleSet, view: View) -> int:
    """Count the patterns Q => X in a view, rules or not, which is the number of rows without pruning."""
    never = np.zeros((1, 1), dtype=bool)
    sizes = sizes_of(rules.attributes, len(rules.qi))
    lattice = cubes(rules.qi, _mined(rules, view), view.n_q[:, None], lambda cube: never, sizes)
    return sum(map(len, lattice)) * len(view.sensitive_values)


def _mined(rules: RuleSet, view: View) -> pd.MultiIndex:
    """Return a view's QI tuples with the mined attributes."""
    at, tuples = [view.qi.index(name) for name in rules.qi], view.quasi_identifiers
    return multi_index([tuples.levels[i] for i in at], [np.asarray(tuples.codes[i]) for i in at], rules.qi)


def mined_rules(
    table: pd.DataFrame,
    qi: str | Iterable[str],
    sa: str | Iterable[str],
    thresholds: Thresholds,
    attributes: int | Iterable[int] | None,
) -> RuleSet:
    """Return all rules of a table that reach the thresholds."""
    check_names([*names(qi, "qi"), *names(sa, "sa")])
    least = thresholds.least_support(max(len(table), 1)) if isinstance(table, pd.DataFrame) else 1
    mined = mine_associations(table, qi=qi, sa=sa, min_support=least, attributes=attributes, negative=False)
    ranked = mined.positive
    ranked = ranked[ranked["support"] >= thresholds.least(ranked["n_q"], len(table))]
    columns = {name: np.full(len(ranked), None, dtype=object) for name in mined.qi}
    first = mined.first(ranked)
    for i, cube in enumerate(mined.cubes):
        at = np.flatnonzero(ranked["cube"] == i)
        for attribute in cube.attributes if len(at) else ():
            level, codes = mined.tuples.levels[attribute], np.asarray(mined.tuples.codes[attribute])
            columns[mined.qi[attribute]][at] = level.to_numpy(dtype=object)[codes[first[at]]]
    values = mined.sensitive_values[ranked["s"]]
    rules = pd.DataFrame(columns, dtype=object).assign(  # pandas would turn intervals of integers into floats
        **{name: values.get_level_values(i).to_numpy(dtype=object) for i, name in enumerate(mined.sensitive)},
        support=ranked["support"] / len(table),
        confidence=ranked["support"] / ranked["n_q"],
    )
    return RuleSet(
        rules, qi=mined.qi, sa=mined.sensitive, support=thresholds.support, confidence=thresholds.confidence,
        strict=thresholds.strict, complete=True, attributes=attributes,
    )  # fmt: skip

"""Association rules Q => X, as they are published."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from html import escape
from os import PathLike
from typing import Any

import numpy as np
import pandas as pd

from .. import arguments
from ..errors import StatementError, TableError, listing, number, unknown_name, whole
from ..tables.columns import names
from ..tables.lattice import sizes_of
from ..tables.selection import written
from .files import SCORES, read_items, read_rules, write_rules
from .thresholds import Thresholds

__all__ = ["RuleSet", "check_names", "decimals_of"]

#: What a RuleSet is made of, besides its table.
ARGUMENTS = ("qi", "sa", "support", "confidence", "strict", "complete", "attributes")
#: More decimals than this no double has.
MOST_DECIMALS = 300


class RuleSet:
    """Rules Q => X with P(Q, X) >= support and P(X | Q) >= confidence; if `strict`, both by >.

    Parameters
    ----------
    table : DataFrame
        One row a rule: a column for each QI attribute, missing (NaN, None) where the rule does not set it, a column
        for each sensitive attribute, and, if they are published, the scores "support" and "confidence".
    qi, sa : str or several
        The attributes that were mined; any of `qi` may be set by a rule.
    support, confidence : float
        The thresholds: shares of all people, and of those with Q. A number means what it is written as: 0.1 is one
        tenth, and five sixths are ``Fraction(5, 6)``.
    strict : bool
        Whether a rule is above the thresholds, or may be equal to them.
    complete : bool
        Whether these are all rules, so that whatever is missing is known to be none.
    attributes : int or several, optional
        How many QI attributes a rule may set; None is any number.

    Attributes
    ----------
    table : DataFrame
        As above, indexed by the rules' texts, "Education=Doctorate, Gender=Female => 50K+".
    thresholds : Thresholds

    Raises
    ------
    UnknownName, TableError, StatementError, BadProbability
        If a column is missing, or a rule is incomplete, repeated, or short of the thresholds.

    Notes
    -----
    Published rules, section V.A. See also :func:`maxent_cvx.disguise.mine_rules`.

    Examples
    --------
    >>> import maxent_cvx as mx, pandas as pd, pathlib, tempfile
    >>> table = pd.DataFrame({"Education": ["Doctorate", None], "Gender": [None, "Female"], "Salary": ["50K+", "50K-"],
    ...     "confidence": [0.875, 0.625]})             # each sets one of two attributes
    >>> rules = mx.RuleSet(table, qi=["Education", "Gender"], sa="Salary", support=0.1, confidence=0.6)
    >>> rules.rounded(1).table["confidence"].to_dict()
    {'Education=Doctorate => 50K+': 0.9, 'Gender=Female => 50K-': 0.6}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     rules.head(1).to_csv(pathlib.Path(folder, "rules.csv"))
    ...     mx.RuleSet.from_csv(pathlib.Path(folder, "rules.csv"))
    <RuleSet: 1 rules (Education, Gender) => Salary; some of the rules with support >= 0.1, confidence >= 0.6>
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
        arguments.flag(strict, "strict")
        arguments.flag(complete, "complete")
        self.qi, self.sensitive = names(qi, "qi"), names(sa, "sa")
        self.thresholds = Thresholds.of(support, confidence, strict)
        self.complete = bool(complete)
        self.attributes = None if attributes is None else tuple(sizes_of(attributes, len(self.qi)))
        self.table = self._read(table)
        self._check_scores()

    @property
    def support(self) -> float:
        """The threshold of support."""
        return float(self.thresholds.support)

    @property
    def confidence(self) -> float:
        """The threshold of confidence."""
        return float(self.thresholds.confidence)

    @property
    def strict(self) -> bool:
        """Whether rules are above the thresholds, or may be equal to them."""
        return self.thresholds.strict

    @property
    def sa(self) -> str | tuple[str, ...]:
        """The sensitive attribute's column; of several, all their columns."""
        return self.sensitive if len(self.sensitive) > 1 else self.sensitive[0]

    def __len__(self) -> int:
        return len(self.table)

    def head(self, n: int) -> RuleSet:
        """The first n rules; unless they are all, what is missing is no longer known to be none.

        Parameters
        ----------
        n : int

        Returns
        -------
        RuleSet

        Raises
        ------
        StatementError
            If `n` is no whole number from 0 on.
        """
        arguments.whole(n, "n", 0)
        return self.at(np.arange(len(self)) < n)

    def at(self, rules: np.ndarray) -> RuleSet:
        """Publish some of the rules only, by a mask or by position; if any is left out, the set is not complete.

        Parameters
        ----------
        rules : ndarray of bool or of int

        Returns
        -------
        RuleSet

        Raises
        ------
        StatementError
            If it is neither a mask of the rules nor positions of some.
        """
        kept = self.table.iloc[arguments.places(rules, "rules", len(self))]
        return self._with(kept, complete=self.complete and len(kept) == len(self))

    def incomplete(self) -> RuleSet:
        """The same rules, without the claim that they are all."""
        return self._with(self.table, complete=False)

    def without_scores(self, *names: str) -> RuleSet:
        """Withhold some scores, by default both: users then know the thresholds alone.

        Parameters
        ----------
        *names : "support" or "confidence"

        Returns
        -------
        RuleSet
        """
        for name in names:
            arguments.choice(name, "a score", SCORES)
        return self._with(self.table.drop(columns=[n for n in names or SCORES if n in self.table]), self.complete)

    def rounded(self, decimals: int) -> RuleSet:
        """Print the scores to so many decimals.

        Parameters
        ----------
        decimals : int

        Returns
        -------
        RuleSet

        Raises
        ------
        StatementError
            If `decimals` is no whole number from 0 to 300.
        """
        whole(decimals, "decimals", 0, MOST_DECIMALS)
        scores = [name for name in SCORES if name in self.table]
        return self._with(
            self.table.assign(**{name: self.table[name].round(decimals) for name in scores}), self.complete
        )

    def to_csv(self, path: str | PathLike[str]) -> None:
        """Write the rules for :meth:`from_csv`, and others; the first line, "# {...}", says what they are.

        Parameters
        ----------
        path : str or path

        Raises
        ------
        TableError
            If the file cannot be written, or the empty text is a value.
        """
        said = {name: getattr(self.thresholds, name) for name in ("support", "confidence")}
        more = {"strict": self.strict, "complete": self.complete, "attributes": self.attributes}
        write_rules(self.table, {"qi": list(self.qi), "sa": list(self.sensitive), **said, **more}, path)

    @classmethod
    def from_csv(cls, path: str | PathLike[str], **said: Any) -> RuleSet:
        """Read rules from a CSV file: a row a rule, an empty cell where an attribute is not set.

        Parameters
        ----------
        path : str or path
        **said
            The arguments of :class:`RuleSet`, as far as the file's first line, which :meth:`to_csv` writes, does not
            say them. Values are texts, and are found in a view by how they are written.

        Returns
        -------
        RuleSet

        Raises
        ------
        TableError
            If there is no such file.
        StatementError
            If an argument is missing, or is not what the file says.
        """
        arguments.keywords(said, "argument of RuleSet", ARGUMENTS)
        return cls(**read_rules(path, said))

    @classmethod
    def from_mlxtend(
        cls,
        rules: pd.DataFrame,
        *,
        qi: str | Iterable[str],
        sa: str | Iterable[str],
        support: float,
        confidence: float,
        strict: bool = False,
        complete: bool = False,
        separator: str = "_",
        attributes: int | Iterable[int] | None = None,
    ) -> RuleSet:
        """Read what mlxtend's ``association_rules`` returns.

        It compares by >=, but in floating point, where (4/12) / (5/12) is less than 0.8: a rule that has just the
        confidence of the threshold may be missing. Take thresholds that no rule meets exactly.

        Parameters
        ----------
        rules : DataFrame
            With "antecedents" and "consequents", sets of items "attribute_value", as ``pandas.get_dummies`` names
            columns, and "support" and "confidence".
        separator : str
            What stands between attribute and value.
        qi, sa, support, confidence, strict, complete, attributes
            See :class:`RuleSet`.

        Returns
        -------
        RuleSet

        Raises
        ------
        UnknownName, TableError, StatementError, BadProbability
            If it is no such table, an item is of no attribute or of several, or a rule is no rule by the thresholds.

        Warns
        -----
        RulesLeftOut
            If rules are not of the form QI => SA, but say something of the sensitive attribute.

        Examples
        --------
        >>> import maxent_cvx as mx, pandas as pd
        >>> left, right = frozenset({"Gender_Male"}), frozenset({"Salary_50K+"})
        >>> mined = pd.DataFrame({"antecedents": [left], "consequents": [right], "support": 0.35, "confidence": 0.875})
        >>> mx.RuleSet.from_mlxtend(mined, qi="Gender", sa="Salary", support=0.1, confidence=0.6).table.index.to_list()
        ['Gender=Male => 50K+']
        """
        arguments.text(separator, "separator")
        qi, sa = names(qi, "qi"), names(sa, "sa")
        table = read_items(rules, qi, sa, separator)
        return cls(
            table, qi=qi, sa=sa, support=support, confidence=confidence, strict=strict, complete=complete,
            attributes=attributes,
        )  # fmt: skip

    def _with(self, table: pd.DataFrame, complete: bool) -> RuleSet:
        said: Mapping[str, Any] = {"support": self.thresholds.support, "confidence": self.thresholds.confidence}
        return RuleSet(
            table,
            qi=self.qi,
            sa=self.sensitive,
            strict=self.strict,
            complete=complete,
            attributes=self.attributes,
            **said,
        )

    def _read(self, table: pd.DataFrame) -> pd.DataFrame:
        """Check the rules, and name them."""
        if not isinstance(table, pd.DataFrame):
            raise TableError(f"rules must be a pandas DataFrame, a row a rule, not a {type(table).__name__}")
        columns = [*self.qi, *self.sensitive]
        check_names(columns)
        if twice := [name for name in columns if list(table.columns).count(name) > 1]:
            raise TableError(f"the rules have more than one column named {twice[0]!r}; rename one")
        if unknown := [name for name in columns if name not in table.columns]:
            raise unknown_name("column of the rules", unknown[0], table.columns)
        frame = table[[*columns, *(name for name in SCORES if name in table.columns)]].reset_index(drop=True)
        for column in columns:
            frame[column] = frame[column].astype(object).where(frame[column].notna(), None)
        if (lacks := frame[list(self.sensitive)].isna().any(axis=1)).any():
            raise TableError(
                f"rule {int(lacks.argmax()) + 1} lacks a value of {listing(self.sensitive)}; every rule has one"
            )
        sizes = frame[list(self.qi)].notna().sum(axis=1)
        if (sizes == 0).any():
            raise TableError(
                f"rule {int((sizes == 0).argmax()) + 1} sets no QI attribute; every rule sets one at least"
            )
        frame.index = pd.Index(self._texts(frame), name="rule")
        if frame.index.has_duplicates:
            repeated = frame.index[frame.index.duplicated()].unique()
            raise TableError(f"the rules {listing(repeated, 3)} are given more than once; one row a rule")
        if self.attributes is not None and not set(sizes) <= set(self.attributes):
            first = frame.index[~sizes.isin(self.attributes).to_numpy()][0]
            raise StatementError(f"{first!r} sets a number of QI attributes that is not among {list(self.attributes)}")
        return frame

    def _texts(self, frame: pd.DataFrame) -> list[str]:
        """Write the rules."""
        given = _pairs(frame[sorted(self.qi)])
        several = len(self.sensitive) > 1
        values = _pairs(frame[list(self.sensitive)]) if several else map(written, frame[self.sensitive[0]])
        return [f"{left} => {right}" for left, right in zip(given, values, strict=True)]

    def _check_scores(self) -> None:
        """Check that scores are shares, and not below their thresholds by more than their own rounding."""
        for name in (name for name in SCORES if name in self.table):
            score, least = self.table[name], float(getattr(self.thresholds, name))
            for rule, value in score.items():
                number(value, f"the {name} of {rule!r}")
            values = score.to_numpy(dtype=float)
            short = values + [rounding(value) for value in values] < least
            if (short | (values > 1 + 1e-9)).any():
                first = int((short | (values > 1 + 1e-9)).argmax())
                raise StatementError(
                    f"{self.table.index[first]!r} has the {name} {values[first]:.12g}, and rules have "
                    f"{self.thresholds}; correct the thresholds, or leave the rule out"
                )

    def __repr__(self) -> str:
        which = "all rules" if self.complete else "some of the rules"
        return (
            f"<RuleSet: {len(self)} rules ({', '.join(self.qi)}) => {', '.join(self.sensitive)}; {which} with "
            f"{self.thresholds}>"
        )

    def _repr_html_(self) -> str:
        shown = self.table[[name for name in SCORES if name in self.table]].head(10)
        return f"<p>{escape(repr(self)[1:-1])}</p>{shown.to_html(border=0, float_format=lambda score: f'{score:.4g}')}"


def _pairs(frame: pd.DataFrame) -> list[str]:
    """Write what every row sets: "Education=Doctorate, Gender=Female"."""
    rows = zip(*(frame[column] for column in frame), strict=True)
    return [", ".join(f"{c}={written(v)}" for c, v in zip(frame, row, strict=True) if v is not None) for row in rows]


def check_names(columns: Sequence[str]) -> None:
    """Refuse a column with two roles, and one that has the name of a score."""
    if clash := [name for name in columns if name in SCORES]:
        raise TableError(f"a column is called {clash[0]!r}, which is a rule's score here; rename the column")
    if twice := [name for name in columns if list(columns).count(name) > 1]:
        raise TableError(f"column {twice[0]!r} is given twice in qi and sa; a column has one role")


def decimals_of(score: float) -> int:
    """With how many decimals a score is written."""
    text = repr(float(score))
    return 15 if "e" in text else len(text.removesuffix(".0").partition(".")[2])


def rounding(score: float) -> float:
    """Half a unit of the last decimal that a score is written with: next to nothing if it was not rounded."""
    return 0.5 * 10.0 ** -decimals_of(score) + 1e-12

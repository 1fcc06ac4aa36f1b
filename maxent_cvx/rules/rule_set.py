"""Association rules Q => X, as they are published."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from os import PathLike
from typing import Any

import numpy as np
import pandas as pd

from ..display import FirstRows, Shown
from ..errors import amount, arguments, whole
from ..tables.columns import names
from ..tables.lattice import sizes_of
from .files import ARGUMENTS, read_rules, write_rules
from .mlxtend import least_scores, read_items
from .rule_table import check_scores, named_rules
from .scores import SCORES
from .thresholds import Thresholds

__all__ = ["RuleSet"]

#: More decimals than this no double has.
MOST_DECIMALS = 300


class RuleSet(Shown):
    """Rules Q => X with P(Q, X) >= support and P(X | Q) >= confidence; if `strict`, both by >.

    Parameters
    ----------
    table : DataFrame
        One row a rule: a column for each QI attribute, missing (NaN, None) where the rule does not set it, a column
        for each sensitive attribute, and, if they are published, the scores "support" and "confidence".
    qi, sa : str or list of str
        The attributes that were mined; any of `qi` may be set by a rule.
    support, confidence : float
        The thresholds: shares of all records, and of those with Q. A number means what it is written as: 0.1 is one
        tenth, and five sixths are ``Fraction(5, 6)``.
    strict : bool
        Whether a rule is above the thresholds, or may be equal to them.
    complete : bool
        Whether these are all rules, so that whatever is missing is known to be none.
    attributes : int or list of int, optional
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
        arguments.flag(strict, "strict")
        arguments.flag(complete, "complete")
        self.qi, self.sensitive = names(qi, "qi"), names(sa, "sa")
        self.thresholds = Thresholds.of(support, confidence, strict)
        self.complete = bool(complete)
        self.attributes = None if attributes is None else tuple(sizes_of(attributes, len(self.qi)))
        self.table = named_rules(table, self.qi, self.sensitive, self.attributes)
        check_scores(self.table, self.thresholds)

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
            If `n` is no integer from 0 on.

        Examples
        --------
        >>> import maxent_cvx as mx, pandas as pd
        >>> table = pd.DataFrame({"Gender": ["Male", "Female"], "Pay": ["50K+", "50K-"], "confidence": [0.875, 0.625]})
        >>> rules = mx.RuleSet(table, qi="Gender", sa="Pay", support=0.1, confidence=0.6, complete=True)
        >>> rules.head(1)
        <RuleSet: 1 rule (Gender) => Pay; some of the rules with support >= 0.1, confidence >= 0.6>
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

        Examples
        --------
        >>> import maxent_cvx as mx, pandas as pd
        >>> table = pd.DataFrame({"Gender": ["Male", "Female"], "Pay": ["50K+", "50K-"], "confidence": [0.875, 0.625]})
        >>> rules = mx.RuleSet(table, qi="Gender", sa="Pay", support=0.1, confidence=0.6, complete=True)
        >>> rules.at(rules.table["confidence"].to_numpy() > 0.8).table.index.to_list()
        ['Gender=Male => 50K+']
        >>> rules.complete, rules.head(1).complete                   # what is left out may be a rule, too
        (True, False)
        """
        kept = self.table.iloc[arguments.places(rules, "rules", len(self))]
        return self._with(kept, complete=self.complete and len(kept) == len(self))

    def incomplete(self) -> RuleSet:
        """The same rules, without the claim that they are all.

        Returns
        -------
        RuleSet

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
        """Withhold some scores, by default both: users then know the thresholds alone.

        Parameters
        ----------
        *names : "support" or "confidence"

        Returns
        -------
        RuleSet

        Raises
        ------
        StatementError
            If a name is no score's.

        Examples
        --------
        >>> import maxent_cvx as mx, pandas as pd
        >>> table = pd.DataFrame({"Gender": ["Male", "Female"], "Pay": ["50K+", "50K-"], "confidence": [0.875, 0.625]})
        >>> rules = mx.RuleSet(table, qi="Gender", sa="Pay", support=0.1, confidence=0.6, complete=True)
        >>> rules.without_scores("confidence").table.columns.to_list()
        ['Gender', 'Pay']
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
            If `decimals` is no integer from 0 to 300.

        Examples
        --------
        >>> import maxent_cvx as mx, pandas as pd
        >>> table = pd.DataFrame({"Gender": ["Male", "Female"], "Pay": ["50K+", "50K-"], "confidence": [0.875, 0.625]})
        >>> rules = mx.RuleSet(table, qi="Gender", sa="Pay", support=0.1, confidence=0.6, complete=True)
        >>> rules.rounded(1).table["confidence"].to_list()
        [0.9, 0.6]
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

        Examples
        --------
        >>> import maxent_cvx as mx, pandas as pd, pathlib, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder, "rules.csv")
        ...     pd.DataFrame({"Gender": ["Male"], "Pay": ["50K+"]}).to_csv(path, index=False)
        ...     mx.RuleSet.from_csv(path, qi="Gender", sa="Pay", support=0.1, confidence=0.6)
        <RuleSet: 1 rule (Gender) => Pay; some of the rules with support >= 0.1, confidence >= 0.6>
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
        support: float | None = None,
        confidence: float | None = None,
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
            columns, and "support" and "confidence". A column of True and False is an item by its name alone. mlxtend's
            miners need ``use_colnames=True``: else items are numbers.
        qi, sa : str, or several
        support, confidence : float, optional
            The thresholds of mining; None is the least that any of the rules has. Not if `complete` or `strict`.
        strict, complete : bool
            See :class:`RuleSet`.
        separator : str
            What stands between attribute and value.
        attributes : int, or several, optional
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
        strict, complete = arguments.flag(strict, "strict"), arguments.flag(complete, "complete")
        qi, sa = names(qi, "qi"), names(sa, "sa")
        table = read_items(rules, qi, sa, separator)
        exact = "complete=True" if complete else "strict=True" if strict else ""
        scores = least_scores(table, {"support": support, "confidence": confidence}, exact)
        return cls(table, qi=qi, sa=sa, strict=strict, complete=complete, attributes=attributes, **scores)

    def _with(self, table: pd.DataFrame, complete: bool) -> RuleSet:
        said: dict[str, Any] = {name: getattr(self, name) for name in ARGUMENTS} | {"complete": complete}
        return RuleSet(table, **said | {name: getattr(self.thresholds, name) for name in SCORES})

    def __repr__(self) -> str:
        rules = f"{amount(len(self), 'rule')} ({', '.join(self.qi)}) => {', '.join(self.sensitive)}"
        return f"<RuleSet: {rules}; {'all' if self.complete else 'some of the'} rules with {self.thresholds}>"

    def _tables(self) -> Iterable[FirstRows]:
        return [FirstRows(self.table[[name for name in SCORES if name in self.table]], "rules")]

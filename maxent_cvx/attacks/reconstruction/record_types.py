"""The records that somebody can have: all combinations of the attributes' values, or those that are listed."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
import pandas as pd

from ...errors import StatementError, TableError, arguments, listing, unknown_name
from ...tables.columns import check_columns
from .statistic import Statistic, as_fraction

__all__ = ["RecordTypes"]

#: Types of records beyond which an integer program with a variable each is not tried: HiGHS would take gigabytes.
MOST_TYPES = 200_000
#: The largest number, in units of their common denominator, that a coefficient may be, so that HiGHS' precision of
#: 1e-6 (``INTEGER_PRECISION``) is far below one unit of a sum.
LARGEST_NUMBER = 10**6


@dataclass(frozen=True, eq=False)
class RecordTypes:
    """The types of records, a variable of the integer program each.

    Attributes
    ----------
    frame : DataFrame
        A row a type, a column an attribute.
    """

    frame: pd.DataFrame

    @classmethod
    def read(cls, domain: object) -> RecordTypes:
        """Read a dictionary from attribute to its values, or a table of the records that are possible.

        Raises
        ------
        TableError, StatementError
            If it is neither, empty, too large, or says something twice.
        """
        if isinstance(domain, pd.DataFrame):
            columns = list(domain.columns)
            check_columns(domain, {"an attribute": columns}, "the domain")
            if domain.duplicated().any():
                raise TableError("the domain lists a record twice; drop_duplicates() leaves each once")
            _check_size(len(domain))
            return cls(domain.reset_index(drop=True))
        given = arguments.mapping(domain, "domain", "{attribute: values}, or a DataFrame of possible records")
        values = {arguments.text(name, "an attribute of the domain"): _values(name, one) for name, one in given.items()}
        if not values:
            raise StatementError("the domain has no attribute; give {attribute: values}")
        size = math.prod(map(len, values.values()))
        _check_size(size)
        product = pd.MultiIndex.from_product(list(values.values()), names=list(values))
        return cls(product.to_frame(index=False))

    def __len__(self) -> int:
        return len(self.frame)

    @cached_property
    def levels(self) -> dict[str, tuple[np.ndarray, pd.Index]]:
        """The code of every type, and the values, by attribute."""
        found = {}
        for name in self.frame.columns:
            codes, values = pd.factorize(self.frame[name])
            found[str(name)] = codes, pd.Index(values, name=name)
        return found

    def mask(self, statistic: Statistic) -> np.ndarray:
        """Mark the types that a statistic is about.

        Raises
        ------
        UnknownName, StatementError
            If the domain has no such attribute or value.
        """
        chosen = np.ones(len(self), dtype=bool)
        for name, choice in statistic.where.items():
            if name not in self.levels:
                raise unknown_name("attribute of the domain", name, list(self.levels))
            codes, values = self.levels[name]
            chosen &= choice.mask(values, name)[codes]
        return chosen

    def numbers(self, of: str | None) -> tuple[np.ndarray, Fraction]:
        """The number of every type, as an integer multiple of a unit, and the unit.

        Raises
        ------
        UnknownName, StatementError, TableError
            If there is no such attribute, or no numbers in it, or they have too many digits.
        """
        name = self._of(of)
        codes, values = self.levels[name]
        if not _are_numbers(values):
            raise TableError(f"the values of {name!r} are no numbers, so that they have no mean and no median")
        exact = [as_fraction(one) for one in values.tolist()]
        unit = Fraction(1, math.lcm(*(one.denominator for one in exact)))
        multiples = [int(one / unit) for one in exact]
        if max(map(abs, multiples)) > LARGEST_NUMBER:
            raise TableError(
                f"the values of {name!r} are up to {max(map(abs, multiples))} times their common unit {unit}; at most "
                f"{LARGEST_NUMBER} are decided reliably: write them in a larger unit, or with fewer digits"
            )
        return np.array(multiples, dtype=np.int64)[codes], unit

    def _of(self, of: str | None) -> str:
        if of is not None:
            if of not in self.levels:
                raise unknown_name("attribute of the domain", of, list(self.levels))
            return of
        numeric = [name for name, (_, values) in self.levels.items() if _are_numbers(values)]
        if len(numeric) != 1:
            raise StatementError(
                f"numbers are the values of {listing(numeric)}; say what a mean or median is of: of=..."
            )
        return numeric[0]


def _values(name: object, values: object) -> list[object]:
    """The values of an attribute, each once."""
    found = arguments.list_of(values, f"the values of {name!r}", "values")
    try:
        twice = len(set(found)) < len(found)
    except TypeError as error:
        raise StatementError(f"the values of {name!r} hold something that is no single value: {error}") from error
    if not found or twice or pd.Series(found, dtype=object).isna().any():
        raise StatementError(f"the values of {name!r}: one at least, each once and none missing, is expected")
    return found


def _check_size(size: int) -> None:
    if size > MOST_TYPES:
        raise TableError(
            f"the domain has {size} types of records; at most {MOST_TYPES} are decided. Use classes of values, or list "
            "the records that are possible in a DataFrame"
        )


def _are_numbers(values: pd.Index) -> bool:
    plain = pd.api.types.is_numeric_dtype(values) and not pd.api.types.is_bool_dtype(values)
    return bool(plain and not pd.api.types.is_complex_dtype(values) and np.isfinite(values.to_numpy(dtype=float)).all())

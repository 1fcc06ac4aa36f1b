"""The privacy skyline: knowledge of three kinds, and how much of each is too much (Chen et al., VLDB 2007)."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product

import numpy as np
import pandas as pd

from ..errors import arguments
from ..views import Release
from ..worlds.worst.formula import as_double
from ..worlds.worst.frequencies import Frequencies, sensitive_values
from ..worlds.worst.skyline import worst_breach
from .sentences import Wording
from .worst_case import numbers_of

__all__ = ["skyline"]


def skyline(
    release: Release,
    target: int | Iterable[int] = range(3),
    others: int | Iterable[int] = range(3),
    same: int | Iterable[int] = range(3),
    *,
    sensitive: object = None,
    threshold: float | None = None,
) -> pd.DataFrame:
    """Max P(the target has a value | the release, l values the target has not, k others' values, m relatives).

    A relative is somebody of whom it is known that, if he or she has the value, the target has it, too; he or she is
    none of the others whose values are known, or nothing would be left to infer. Everything that is consistent with the
    release counts, whether it is true or not.

    Parameters
    ----------
    release : Release
        Without pseudonyms and counterfeits. All worlds that deal a bucket's values to its people are equally likely.
    target : int or list of int
        l: how many values the target is known not to have.
    others : int or list of int
        k: of how many other people the values are known.
    same : int or list of int
        m: how many relatives of the target are known. At most so many of each do no less.
    sensitive : list, optional
        The values that must not be inferred; by default all.
    threshold : float, optional
        A probability: where nothing is inferred with that much, the release is safe.

    Returns
    -------
    DataFrame
        A row for each combination, with the columns `target`, `others`, `same`; `disclosure`, `person`, `bucket`,
        `quasi_identifiers`, `value` and `sentences` as of :func:`worst_case`; and with a threshold `safe`, whether the
        disclosure is below it, and `skyline`, whether no other combination of the table that is safe has as much of
        each kind of knowledge.

    Raises
    ------
    StatementError
        If it is no release of buckets, or has pseudonyms or counterfeits; or numbers are no whole numbers.
    UnknownName
        If the release has no such sensitive value.
    BadProbability
        If the threshold is none.

    Notes
    -----
    Chen, LeFevre and Ramakrishnan call the numbers (l, k, m), and the greatest that are safe the skyline. With `others`
    and `same` 0 only negated atoms are known, as in l-diversity. The proof that three ways to distribute what is known
    over buckets suffice is in ``worlds/worst/skyline.py``.

    References
    ----------
    Chen, B.-C., LeFevre, K. and Ramakrishnan, R. (2007). Privacy skyline: privacy with multidimensional adversarial
    knowledge. VLDB, 770-781.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> hospital = mx.datasets.load_hospital()
    >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    >>> found = mx.attacks.skyline(release, [0, 1], [0, 1], [0, 1], threshold=0.75)
    >>> print(found[["target", "others", "same", "disclosure", "safe", "skyline"]].round(3))
       target  others  same  disclosure   safe  skyline
    0       0       0     0       0.500   True    False
    1       0       0     1       0.750  False    False
    2       0       1     0       0.667   True     True
    3       0       1     1       1.000  False    False
    4       1       0     0       0.667   True     True
    5       1       0     1       0.857  False    False
    6       1       1     0       1.000  False    False
    7       1       1     1       1.000  False    False
    >>> found["sentences"][5]
    ('not person 1 of bucket 1=Breast Cancer', 'person 2 of bucket 1=Flu -> person 1 of bucket 1=Flu')
    """
    marked = sensitive_values(release, sensitive)
    numbers = [numbers_of(value, name) for value, name in ((target, "target"), (others, "others"), (same, "same"))]
    safe = None if threshold is None else arguments.real(threshold, "threshold", 0.0, 1.0)
    frequencies, words = Frequencies.of(release.n_sb, marked), Wording(release)
    rows, is_safe = [], []
    for l, k, m in product(*numbers):
        found = worst_breach(frequencies, l, k, m)
        p = 1 / (1 + found.odds)
        said = [~words.has(atom) for atom in found.without] + [words.has(atom) for atom in found.others]
        said += [words.implies(atom, found.target) for atom in found.family]
        rows.append({"target": l, "others": k, "same": m, "disclosure": as_double(p), **words.described(found.target)})
        rows[-1]["sentences"] = tuple(map(str, said))
        is_safe.append(safe is not None and as_double(p) < safe)  # 9/10 is not below 0.9
    table = pd.DataFrame(rows)
    if safe is None:
        return table
    return table.assign(safe=is_safe, skyline=_greatest(table[["target", "others", "same"]].to_numpy(), is_safe))


def _greatest(points: np.ndarray, is_safe: list[bool]) -> np.ndarray:
    """Mark the safe points than which no other safe one is at least as large in everything."""
    safe = np.asarray(is_safe, dtype=bool)
    as_much = (points[None, safe] >= points[:, None]).all(axis=2)
    more = as_much & (points[None, safe].sum(axis=2) > points[:, None].sum(axis=2))
    return np.asarray(safe & ~more.any(axis=1))

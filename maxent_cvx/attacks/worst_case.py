"""The largest disclosure that k pieces of knowledge can cause (Martin et al., ICDE 2007)."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product

import numpy as np
import pandas as pd

from .._utils.errors import StatementError
from .._utils.validation import check_float, check_int, check_list, is_several
from ..releases.release import Release
from ..worlds.worst_case import Frequencies, as_double, sensitive_values, worst_breach, worst_formulas
from .result import ImplicationFormatter

__all__ = [
    "skyline",
    "worst_case",
]


def worst_case(release: Release, k: int | Iterable[int] = range(4), *, sensitive: object = None) -> pd.DataFrame:
    """Max P(somebody has a value | the release, k basic implications): the worst over all sets of k implications.

    A basic implication is (atom and atom and ...) -> (atom or atom or ...), an atom being "somebody has a value", of
    anybody and any value; "Ann has not the flu" is one, too: "Ann=Flu -> Ann=HIV". All conjunctions of k of them that
    are consistent with the release count, whether they are true or not.

    Parameters
    ----------
    release : Release
        Without pseudonyms and counterfeits. All worlds that deal a bucket's values to its people are equally likely.
    k : int or list of int
        How many implications are known. At most so many do no less.
    sensitive : list, optional
        The values that must not be inferred; by default all. Of the others, too, the adversary may know anything.

    Returns
    -------
    DataFrame
        A row for each k, with the columns

        k
            As it was given.
        disclosure
            The largest probability: exactly, up to its rounding to a double. 1.0 is certainty, and nothing else is.
        person, bucket
            Who it is about: anybody of a bucket, called "person 1 of bucket 7".
        quasi_identifiers
            The tuple that all people of that bucket have, if it is one; else None.
        value
            What is inferred.
        sentences
            A tuple of the implications that do it, at most k. There are others that do as much.

    Raises
    ------
    StatementError
        If it is not a release of buckets, or has pseudonyms or counterfeits; or `k` is no whole number, or list of them.
    UnknownName
        If the release has no such sensitive value.
    GroupTooLarge
        If `k` is above 100, and so few implications make nobody's value certain.

    Notes
    -----
    The worst are k simple implications, "atom -> target", with one target. *Proof.* Let the target be fixed. To add it
    to the consequences of an implication excludes none of the worlds where it is true, and no others than before where
    it is false; to drop the other consequences then, and all premises but one, only excludes more of these. What is
    left to find is the least P(neither the target nor a premise) / P(the target), by dynamic programming: in each
    bucket, people lack its most frequent values, and how many of them each person lacks is what is searched; then atoms
    are shared between buckets. Proofs are in ``worlds/worst``. Martin et al. treat the case that all values are
    sensitive; with `sensitive` the target's value need not be the most frequent, and sets of values contain one another
    all the same.

    This is not the worst over all knowledge: an adversary with a prior, such as how frequent a disease is among men and
    among women, may infer more from the release without any implication, see :func:`maxent_cvx.worlds.linkage`.

    With k one less than the number of values of a bucket the disclosure is 1: the person has none of the others.

    References
    ----------
    Martin, D. J., Kifer, D., Machanavajjhala, A., Gehrke, J. and Halpern, J. Y. (2007). Worst-case background knowledge
    for privacy-preserving data publishing. ICDE, 126-135; arXiv 0705.2787.

    Examples
    --------
    Two buckets of five, as in the paper's introduction:

    >>> import maxent_cvx as mx, pandas as pd
    >>> men, women = ["Flu", "Flu", "Lung", "Lung", "Mumps"], ["Flu", "Flu", "Breast", "Ovary", "Heart"]
    >>> people = pd.DataFrame({"Sex": ["m"] * 5 + ["f"] * 5, "Disease": men + women, "Ward": [1] * 5 + [2] * 5})
    >>> release = mx.Release.from_buckets(people, qi="Sex", sa="Disease", bucket="Ward")
    >>> found = mx.attacks.worst_case(release, k=range(3))
    >>> print(found[["k", "disclosure", "quasi_identifiers", "value"]].round(3))
       k  disclosure quasi_identifiers value
    0  0       0.400              (m,)   Flu
    1  1       0.667              (m,)   Flu
    2  2       1.000              (m,)   Flu
    >>> found["sentences"][1]
    ('person 1 of bucket 1=Lung -> person 1 of bucket 1=Flu',)
    >>> found = mx.attacks.worst_case(release, k=2, sensitive=["Breast", "Ovary"])
    >>> found["disclosure"].round(3).item(), found["sentences"].item()[0]
    (0.556, 'person 1 of bucket 1=Flu -> person 1 of bucket 2=Breast')
    """
    marked = sensitive_values(release, sensitive)
    numbers = numbers_of(k, "k")
    words = ImplicationFormatter(release)
    rows = []
    for number, formula in zip(numbers, worst_formulas(Frequencies.of(release.n_sb, marked), numbers), strict=True):
        sentences = tuple(str(words.implies(premise, formula.target)) for premise in formula.premises)
        rows.append({"k": number, "disclosure": as_double(formula.disclosure), **words.described(formula.target)})
        rows[-1]["sentences"] = sentences
    return pd.DataFrame(rows)


def numbers_of(value: object, name: str) -> list[int]:
    """Read how many pieces are known: a whole number, or several."""
    some = [value] if not is_several(value) else check_list(value, name, "whole numbers")
    if not some:
        raise StatementError(f"{name}=[] asks nothing; give a whole number, or several")
    return [check_int(one, name, 0) for one in some]


# The privacy skyline: knowledge of three kinds, and how much of each is too much (Chen et al., VLDB 2007).


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
        If it is not a release of buckets, or has pseudonyms or counterfeits; or numbers are no whole numbers.
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
    safe = None if threshold is None else check_float(threshold, "threshold", 0.0, 1.0)
    frequencies, words = Frequencies.of(release.n_sb, marked), ImplicationFormatter(release)
    rows, is_safe = [], []
    for l, k, m in product(*numbers):
        breach = worst_breach(frequencies, l, k, m)
        p = 1 / (1 + breach.odds)
        sentences = [~words.has(atom) for atom in breach.without] + [words.has(atom) for atom in breach.others]
        sentences += [words.implies(atom, breach.target) for atom in breach.family]
        rows.append({"target": l, "others": k, "same": m, "disclosure": as_double(p), **words.described(breach.target)})
        rows[-1]["sentences"] = tuple(map(str, sentences))
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

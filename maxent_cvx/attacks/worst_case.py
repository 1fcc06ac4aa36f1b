"""The largest disclosure that k pieces of knowledge can cause (Martin et al., ICDE 2007)."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from .._utils.errors import StatementError, as_python
from .._utils.tables import undominated
from .._utils.validation import check_float, check_int, check_list, is_several
from ..releases.release import Release
from ..worlds.sentences import Has, Sentence
from ..worlds.worst_case import (
    Atom,
    Breach,
    Formula,
    Frequencies,
    as_double,
    sensitive_values,
    worst_breach,
    worst_formulas,
)


def worst_case(release: Release, k: int | Iterable[int] = range(4), *, sensitive: object = None) -> pd.DataFrame:
    """Compute max P(person has value | release, k basic implications) over people, values and sets of k implications.

    A basic implication is (atom and atom and ...) -> (atom or atom or ...), where an atom is "person has value". It also
    covers "Ann does not have the flu": "Ann=Flu -> Ann=HIV". The maximum is over all conjunctions of k of them that are
    consistent with the release, true or not.

    Parameters
    ----------
    release : Release
        A release without pseudonyms and counterfeits; all assignments of a bucket's values are equally likely.
    k : int or list of int
        Number of known implications; fewer never disclose more.
    sensitive : list, optional
        The values that must not be inferred; by default all. Implications may be about any value.

    Returns
    -------
    DataFrame
        One row per `k`: `disclosure`, the largest probability, exact up to rounding to a double (1.0 only if certain);
        `person` and `bucket`, the target, such as "person 1 of bucket 7"; `quasi_identifiers`, the tuple of all people
        of that bucket, None if they differ; the inferred `value`; and `sentences`, a tuple of at most k implications that
        attain it (there may be others).

    Raises
    ------
    StatementError
        If `release` is not a Release, or has pseudonyms or counterfeits; or `k` is not an integer or a list of them.
    UnknownName
        If a sensitive value does not occur in the release.
    GroupTooLarge
        If `k` is above 100 and no value becomes certain with fewer implications.

    Notes
    -----
    The worst case is attained by k simple implications "atom -> target" with one target. *Proof.* Fix the target. If it
    is added to the consequences of an implication, no world in which it is true is excluded, and the same worlds as
    before in which it is false; if the other consequences, and all premises but one, are dropped, only more of the
    latter are excluded. It remains to minimise P(neither the target nor a premise) / P(target), by dynamic programming:
    in each bucket over the number of its most frequent values that each person lacks, then over the distribution of
    atoms among buckets. The proofs are in ``worlds/worst_case.py``. Martin et al. treat the case that all values are
    sensitive; with `sensitive`, the target's value need not be the most frequent one.

    This is not the worst case over all knowledge: an adversary with a prior, such as the frequency of a disease among
    men and among women, may infer more without any implication; see :func:`maxent_cvx.worlds.linkage`.

    The disclosure is 1 if k is one less than the number of values of a bucket: all other values are excluded.

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
    >>> result = mx.attacks.worst_case(release, k=range(3))
    >>> print(result[["k", "disclosure", "quasi_identifiers", "value"]].round(3))
       k  disclosure quasi_identifiers value
    0  0       0.400              (m,)   Flu
    1  1       0.667              (m,)   Flu
    2  2       1.000              (m,)   Flu
    >>> result["sentences"][1]
    ('person 1 of bucket 1=Lung -> person 1 of bucket 1=Flu',)
    >>> result = mx.attacks.worst_case(release, k=2, sensitive=["Breast", "Ovary"])
    >>> result["disclosure"].round(3).item(), result["sentences"].item()[0]
    (0.556, 'person 1 of bucket 1=Flu -> person 1 of bucket 2=Breast')
    """
    marked = sensitive_values(release, sensitive)
    numbers = numbers_of(k, "k")
    rows, premises = [], []
    for number, formula in zip(numbers, worst_formulas(Frequencies.of(release.n_sb, marked), numbers), strict=True):
        target, atoms = _has(release, formula.target), [_has(release, premise) for premise in formula.premises]
        rows.append({"k": number} | _row(release, formula, [atom.implies(target) for atom in atoms]))
        premises.append([(atom.person, atom.value) for atom in atoms])
    table = pd.DataFrame(rows)
    table.attrs["premises"] = premises  # for reports, which write the sentences in words
    return table


def _has(release: Release, atom: Atom) -> Has:
    """Return the sentence of an atom; people are exchangeable within a bucket and numbered from 1."""
    label: Hashable = release.sensitive_values[atom.value]
    value = tuple(map(as_python, label)) if isinstance(label, tuple) else label  # prints as it is typed
    return Has(f"person {atom.person} of bucket {release.buckets[atom.bucket]}", value)


def _row(release: Release, worst: Formula | Breach, sentences: list[Sentence]) -> dict[str, Any]:
    """Return the disclosure, its target, and the sentences that attain it."""
    target = _has(release, worst.target)
    # The QI tuple is given if all people of the bucket have the same one, otherwise it is None.
    tuples = np.flatnonzero(release.n_qb[:, [worst.target.bucket]].toarray()[:, 0])
    return {
        "disclosure": as_double(worst.disclosure),
        "person": target.person,
        "bucket": release.buckets[worst.target.bucket],
        "quasi_identifiers": release.quasi_identifiers[tuples[0]] if len(tuples) == 1 else None,
        "value": target.value,
        "sentences": tuple(map(str, sentences)),
    }


def numbers_of(value: object, name: str) -> list[int]:
    """Read an integer, or a list of them."""
    listed = [value] if not is_several(value) else check_list(value, name, "whole numbers")
    if not listed:
        raise StatementError(f"{name} must be an integer or a list of at least one, got []")
    return [check_int(number, name, 0) for number in listed]


def skyline(
    release: Release,
    target: int | Iterable[int] = range(3),
    others: int | Iterable[int] = range(3),
    same: int | Iterable[int] = range(3),
    *,
    sensitive: object = None,
    threshold: float | None = None,
) -> pd.DataFrame:
    """Compute max P(target has value | release, l values the target lacks, k other people's values, m relatives).

    A relative is a person such that, if the relative has the value, the target is known to have it, too; relatives are
    not among the people whose values are known. The maximum is over all knowledge of these sizes that is consistent with
    the release, true or not.

    Parameters
    ----------
    release : Release
        A release without pseudonyms and counterfeits; all assignments of a bucket's values are equally likely.
    target : int or list of int
        l: number of values that the target is known not to have.
    others : int or list of int
        k: number of other people whose values are known.
    same : int or list of int
        m: number of relatives of the target. Less knowledge never discloses more.
    sensitive : list, optional
        The values that must not be inferred; by default all.
    threshold : float, optional
        A probability; the release is safe if the disclosure is below it.

    Returns
    -------
    DataFrame
        One row per combination of `target`, `others` and `same`; `disclosure`, `person`, `bucket`, `quasi_identifiers`,
        `value` and `sentences` as in :func:`worst_case`; and with a threshold `safe`, whether the disclosure is below
        it, and `skyline`, whether no other safe combination in the table has as much of each kind of knowledge.

    Raises
    ------
    StatementError
        If `release` is not a Release, or has pseudonyms or counterfeits; or a number is not an integer.
    UnknownName
        If a sensitive value does not occur in the release.
    BadProbability
        If the threshold is not a probability.

    Notes
    -----
    Chen, LeFevre and Ramakrishnan call the maximal safe (l, k, m) the skyline. If `others` and `same` are 0, only
    negated atoms are known, as in l-diversity. The proof that three ways to distribute knowledge over buckets suffice
    is in ``worlds/worst_case.py``.

    References
    ----------
    Chen, B.-C., LeFevre, K. and Ramakrishnan, R. (2007). Privacy skyline: privacy with multidimensional adversarial
    knowledge. VLDB, 770-781.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> hospital = mx.datasets.load_hospital()
    >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    >>> result = mx.attacks.skyline(release, [0, 1], [0, 1], [0, 1], threshold=0.75)
    >>> print(result[["target", "others", "same", "disclosure", "safe", "skyline"]].round(3))
       target  others  same  disclosure   safe  skyline
    0       0       0     0       0.500   True    False
    1       0       0     1       0.750  False    False
    2       0       1     0       0.667   True     True
    3       0       1     1       1.000  False    False
    4       1       0     0       0.667   True     True
    5       1       0     1       0.857  False    False
    6       1       1     0       1.000  False    False
    7       1       1     1       1.000  False    False
    >>> result["sentences"][5]
    ('not person 1 of bucket 1=Breast Cancer', 'person 2 of bucket 1=Flu -> person 1 of bucket 1=Flu')
    """
    marked = sensitive_values(release, sensitive)
    numbers = [numbers_of(value, name) for value, name in ((target, "target"), (others, "others"), (same, "same"))]
    safe = None if threshold is None else check_float(threshold, "threshold", 0.0, 1.0)
    frequencies = Frequencies.of(release.n_sb, marked)
    rows = []
    for l, k, m in product(*numbers):
        breach = worst_breach(frequencies, l, k, m)
        negated, known, family = ([_has(release, atom) for atom in atoms] for atoms in breach.knowledge)
        conclusion = _has(release, breach.target)
        sentences = [*(~atom for atom in negated), *known, *(atom.implies(conclusion) for atom in family)]
        rows.append({"target": l, "others": k, "same": m} | _row(release, breach, sentences))
    table = pd.DataFrame(rows)
    if safe is None:
        return table
    is_safe = table["disclosure"].to_numpy() < safe  # 9/10 is not below 0.9
    skyline = is_safe.copy()
    skyline[skyline] = undominated(-table.loc[skyline, ["target", "others", "same"]].to_numpy())
    return table.assign(safe=is_safe, skyline=skyline)

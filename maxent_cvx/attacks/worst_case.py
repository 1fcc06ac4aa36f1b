"""The worst that k pieces of knowledge can do (Martin et al., ICDE 2007)."""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

from ..errors import StatementError, arguments, whole
from ..views import Release
from ..worlds.worst.formula import as_double, worst_formulas
from ..worlds.worst.frequencies import Frequencies, sensitive_values
from .sentences import Wording

__all__ = ["numbers_of", "worst_case"]


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
        If it is no release of buckets, or has pseudonyms or counterfeits; or `k` is no whole number, or list of them.
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
    words = Wording(release)
    rows = []
    for number, found in zip(numbers, worst_formulas(Frequencies.of(release.n_sb, marked), numbers), strict=True):
        said = tuple(str(words.implies(premise, found.target)) for premise in found.premises)
        rows.append({"k": number, "disclosure": as_double(found.disclosure), **words.described(found.target)})
        rows[-1]["sentences"] = said
    return pd.DataFrame(rows)


def numbers_of(value: object, name: str) -> list[int]:
    """Read how many pieces are known: a whole number, or several."""
    some = [value] if not arguments.is_several(value) else arguments.list_of(value, name, "whole numbers")
    if not some:
        raise StatementError(f"{name}=[] asks nothing; give a whole number, or several")
    return [whole(one, name, 0) for one in some]

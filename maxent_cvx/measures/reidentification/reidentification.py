"""Prosecutor, journalist and marketer risk, k-anonymity, and uniques in the sample and in its population."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

import numpy as np
import pandas as pd

from ...errors import whole
from ...model.partitioned.partitioned_posterior import PartitionedPosterior
from ...model.posterior import Posterior
from ...views import QITable, View
from ...views.partitioned.partitioned_release import PartitionedRelease
from .classes import classes_of
from .individual_risk import individual_risk
from .pitman import expected_risk, fitted, still_unique
from .result import Reidentification
from .zayatz import share_unique

__all__ = ["reidentification"]

#: The largest population, people.
LARGEST = 10**12
#: A measure: its name, value and unit, and what it says.
Row = tuple[str, float, str, str]


def reidentification(
    published: pd.DataFrame | View | PartitionedRelease | Posterior | PartitionedPosterior,
    qi: str | Iterable[str] | None = None,
    *,
    population: pd.DataFrame | QITable | int | None = None,
    k: int = 5,
) -> Reidentification:
    """1 / f of prosecutors, 1 / F of journalists: risks of records whose class has f records, and F people to be of.

    Whoever looks for somebody who is in the release, a prosecutor, finds the f records that have their
    quasi-identifiers; whoever looks for anybody of the population of whom a record can be, a journalist, finds F
    people. A marketer links all records, and is right for sum f / F of them. What is inferred of people without finding
    their record is another risk, :func:`exposed`.

    Parameters
    ----------
    published : DataFrame, Release, GroupedRelease, QITable, PartitionedRelease, or a posterior of one
        A row a person. Generalised values are values: records that have the same ones are a class, "*" too.
    qi : str or several, optional
        Of a DataFrame its quasi-identifiers.
    population : DataFrame, QITable or int, optional
        Everybody, the people of the release among them, by the same quasi-identifiers; or only how many they are, and
        then F is estimated. A :class:`maxent_cvx.GroupedRelease` has its own.
    k : int
        Classes of fewer than k are small, risks above 1 / k high.

    Returns
    -------
    Reidentification
        With the table ``.measures``, a row each, and ``.classes``:

        classes, k, records below k
            How many classes; the smallest, the k of k-anonymity (Samarati, 2001); records in classes of fewer than k.
        sample uniques
            Records of which no other has the same quasi-identifiers.
        prosecutor risk, highest prosecutor risk
            The mean of 1 / f over records, classes by records; and the largest.
        population k, records below k in the population, population uniques
            The smallest F, the k of k-map (Sweeney, 2002); records with F < k; records with F = 1.
        journalist risk, highest journalist risk
            The mean over records of 1 / F, and the largest (El Emam and Dankar, 2008).
        individual risk, highest individual risk (Benedetti-Franconi)
            E[1 / F | f] where only the number of people N is given; its mean over records, and the largest. Everybody
            is in the release with probability n / N, and each class stands for itself (Benedetti and Franconi, 1998,
            the individual risk of mu-Argus and sdcMicro): too low where many people are unique.
        individual risk, highest individual risk, population uniques (Pitman)
            The same, and how many sample uniques are expected to be unique among N people, of a simple random sample of
            people who fall into classes as in Pitman's sampling formula, its parameters being those of the largest
            likelihood (Pitman, 1995; Hoshino, 2001). Nothing is learnt from one class, or from classes of one record.
        population uniques (Zayatz)
            The same number if the population's classes were of as many people as the sample's are of records, which is
            too high where n / N is small (Zayatz, 1991). ARX offers both estimates.
        marketer risk
            The share of all records that are linked rightly with the population, by whoever chooses at random within a
            class: the mean of 1 / F over records (Dankar and El Emam, 2010), of a number of people Pitman's, or else
            Benedetti and Franconi's; without a population that of 1 / f.

    Raises
    ------
    StatementError
        If it is nothing that has classes, `qi` is lacking or too much, or `k` or the number of people is out of range.
    UnknownName, TableError
        If a column is lacking or misses values, or the population lacks people of the release.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> hospital = mx.datasets.load_hospital()
    >>> found = mx.measures.reidentification(hospital, qi=["Gender", "Degree"], population=100)
    >>> print(found.measures[["value", "unit"]].round(3).tail(7))
                                                  value         unit
    measure
    individual risk (Benedetti-Franconi)          0.124  probability
    highest individual risk (Benedetti-Franconi)  0.256  probability
    individual risk (Pitman)                      0.159  probability
    highest individual risk (Pitman)              0.320  probability
    population uniques (Pitman)                   0.414      records
    population uniques (Zayatz)                   0.988      records
    marketer risk                                 0.159        share
    """
    whole(k, "k", 1)
    is_number = not isinstance(population, pd.DataFrame | QITable) and population is not None
    classes = classes_of(published, qi, population)
    classes = classes.iloc[np.argsort(classes["records"].to_numpy(), kind="stable")]
    records = classes["records"].to_numpy()
    rows = list(_of_sample(records, k))
    if "people" in classes:
        of_people = classes["people"].to_numpy()
        rows += _of_population(records, of_people, k)
        risk = 1 / of_people
    elif is_number:
        estimated, risk = _of_number(records, whole(population, "population", int(records.sum()), LARGEST))
        rows += estimated
    else:
        risk = 1 / records
    marketer = float(records @ risk / records.sum())
    rows.append(("marketer risk", marketer, "share", f"{_percent(marketer)} of all records would be linked rightly"))
    index = pd.Index([name for name, *_ in rows], name="measure")
    measures = pd.DataFrame([row for _, *row in rows], index=index, columns=["value", "unit", "says"])
    return Reidentification(measures, classes.assign(risk=risk), k)


def _of_sample(records: np.ndarray, k: int) -> Iterator[Row]:
    """What the records say by themselves."""
    n, least = int(records.sum()), int(records.min())
    below, unique = int(records[records < k].sum()), int((records == 1).sum())
    mean = len(records) / n
    yield "classes", len(records), "classes", f"{n} records have {len(records)} different quasi-identifiers"
    yield "k", least, "records", f"{least}-anonymous: the smallest class"
    yield "records below k", below, "records", f"{_percent(below / n)} of all are in classes of fewer than {k}"
    yield "sample uniques", unique, "records", f"{_percent(unique / n)} of all are like no other"
    yield "prosecutor risk", mean, "probability", "of a record that is known to be in the release, on average"
    yield "highest prosecutor risk", 1 / least, "probability", "of a record that is known to be in the release"


def _of_population(records: np.ndarray, people: np.ndarray, k: int) -> Iterator[Row]:
    """What is known if everybody of the population is."""
    n, least = int(records.sum()), int(people.min())
    below, unique = int(records[people < k].sum()), int(records[people == 1].sum())
    mean = float(records @ (1 / people) / n)
    yield "population k", least, "people", "the fewest people of whom a record can be"
    yield (
        "records below k in the population",
        below,
        "records",
        f"{_percent(below / n)} can be of fewer than {k} people",
    )
    yield "population uniques", unique, "records", f"{_percent(unique / n)} can be of one person only"
    yield "journalist risk", mean, "probability", "of a record of anybody in the population, on average"
    yield "highest journalist risk", 1 / least, "probability", "of a record of anybody in the population"


def _of_number(records: np.ndarray, n_population: int) -> tuple[list[Row], np.ndarray]:
    """What is estimated if only the size of the population is known; the risk of each class, Pitman's if there is."""
    n, unique = int(records.sum()), int((records == 1).sum())
    by_class = individual_risk(records, n / n_population)
    rows = list(_risks("Benedetti-Franconi", records, by_class))
    zayatz = unique * share_unique(records, n_population) if unique else 0.0
    pitman = float(unique) if n == n_population or not unique else math.nan
    if 1 < len(records) < n:
        alpha, theta = fitted(records)
        sizes, at = np.unique(records, return_inverse=True)
        by_class = expected_risk(alpha, theta, sizes, n, n_population)[at]
        pitman = unique * still_unique(alpha, theta, n, n_population)
        rows += _risks("Pitman", records, by_class)
    for name, value in (("Pitman", pitman), ("Zayatz", zayatz)):
        says = f"{_percent(value / n)} of all are expected to be unique among {n_population} people"
        nothing = "nothing can be learnt of it from one class, or from classes of one record each"
        rows.append((f"population uniques ({name})", value, "records", nothing if math.isnan(value) else says))
    return rows, by_class


def _risks(name: str, records: np.ndarray, risk: np.ndarray) -> Iterator[Row]:
    """The mean and the largest of an estimate of 1 / F."""
    mean, says = float(records @ risk / records.sum()), "of a record of anybody in the population, estimated"
    yield f"individual risk ({name})", mean, "probability", f"{says}, on average"
    yield f"highest individual risk ({name})", float(risk.max()), "probability", says


def _percent(share: float) -> str:
    """Write a share with three digits, however small."""
    return f"{100 * share:.3g}%"

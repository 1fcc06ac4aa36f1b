"""Re-identification: prosecutor, journalist and marketer risk, k-anonymity, and uniqueness."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.optimize import minimize
from scipy.special import betaln, expit, gammaln, hyp2f1, logit

from .._utils.errors import StatementError, TableError, pluralize, short_repr
from .._utils.formatting import Message, ReprMixin, TablePreview
from .._utils.tables import REPEAT, check_columns, check_no_count, names, plain_index, sort_distinct
from .._utils.validation import check_int
from ..model.partitioned import PartitionedPosterior
from ..model.posterior import Posterior
from ..releases.base import OUTSIDE, View
from ..releases.generalized import GroupedRelease
from ..releases.partitioned import PartitionedRelease
from ..releases.qi_table import QITable
from ..releases.release import Release
from ..releases.series import ReleaseSeries
from .leakage import in_order

# Equivalence classes: numbers of records with the same quasi-identifiers, and of people of a population.


def classes_of(published: object, qi: str | Iterable[str] | None, population: object) -> pd.DataFrame:
    """Count the records of every class, and the people of the population if it is given as a table."""
    if isinstance(published, Posterior | PartitionedPosterior):
        published = published.view
    if isinstance(published, pd.DataFrame):
        if qi is None:
            raise StatementError("qi, the quasi-identifiers of the table, must be given")
        code, tuples = _tuples(published, names(qi, "qi"), "the table")
        classes = pd.DataFrame({"records": np.bincount(code)}, index=tuples)
    elif isinstance(published, View | PartitionedRelease) and not isinstance(published, ReleaseSeries):
        if qi is not None:
            raise StatementError(
                f"qi must not be given for a {published.noun}, whose quasi-identifiers are {list(published.qi)}"
            )
        if isinstance(published, GroupedRelease) or (isinstance(published, Release) and published.matched):
            return _groups_of(published, population)
        classes = pd.DataFrame({"records": published.n_q}, index=published.quasi_identifiers)
    else:
        series = "; for a series pass one of its releases" * isinstance(published, ReleaseSeries)
        raise StatementError(
            f"published must be a DataFrame, a release or a table of quasi-identifiers, not {short_repr(published)}{series}"
        )
    if isinstance(population, pd.DataFrame | QITable):
        classes["people"] = _found_in(population, classes)
    return classes.set_axis(plain_index(classes.index))


def _groups_of(release: Release | GroupedRelease, population: object) -> pd.DataFrame:
    """Return the groups of a generalised release, with the number of people of its population in each."""
    if population is not None:
        raise StatementError("the release contains its population; omit population")
    records = people = np.asarray(release.n_sb.sum(axis=0))
    if isinstance(release, GroupedRelease):
        people = np.asarray(release.cover @ release.n_q)
    table = pd.DataFrame({"records": records, "people": people}, index=release.buckets)
    return table[table.index != OUTSIDE].astype(np.int64)


def _found_in(population: pd.DataFrame | QITable, classes: pd.DataFrame) -> np.ndarray:
    """Count the people of a population in each class."""
    if isinstance(population, QITable):
        tuples, n = population.quasi_identifiers, population.n_q
        if set(tuples.names) != set(classes.index.names):
            raise StatementError(
                f"the quasi-identifiers of the population, {list(tuples.names)}, must be those of the records, "
                f"{list(classes.index.names)}"
            )
    else:
        code, tuples = _tuples(population, tuple(map(str, classes.index.names)), "the population")
        n = np.bincount(code)
    at = in_order(tuples, classes.index.names).get_indexer(classes.index)
    people = np.where(at >= 0, n[at], 0)
    if (lacking := people < classes["records"].to_numpy()).any():
        raise TableError(
            f"the population lacks people of {int(lacking.sum())} of {pluralize(len(classes), 'class', 'classes')}; "
            "it must contain all people of the release, with the same quasi-identifiers. If records are generalized, "
            "make a release of them and the population with Release.from_generalized"
        )
    return np.asarray(people)


def _tuples(table: pd.DataFrame, qi: tuple[str, ...], what: str) -> tuple[np.ndarray, pd.MultiIndex]:
    """Number the distinct quasi-identifiers of a table with one row per person."""
    check_columns(table, {"qi": qi}, what)
    check_no_count(table, {"qi": qi}, what, REPEAT)
    return sort_distinct(table[list(qi)])


# E[1 / F | f]: the probability that a record is linked correctly, if f of F people of the population are in the sample.


#: Up to this share of the population the recursion is stable; above it, the hypergeometric series converges quickly.
HALF = 0.5


def individual_risk(records: np.ndarray, share: float) -> np.ndarray:
    """Compute E[1 / F | f] = p int_0^1 v^(f - 1) / (p + (1 - p) v) dv, with F given f negative binomial."""
    if share > HALF:
        return np.asarray(share / records * hyp2f1(1.0, 1.0, records + 1.0, 1.0 - share))
    # p I(1) + (1 - p) I(2) = 1, and so on: f (p I(f) + (1 - p) I(f + 1)) = 1. Errors are multiplied by p / (1 - p).
    sizes = np.unique(records)
    integral, at, risks = -np.log(share) / (1 - share), 1, np.empty(len(sizes))
    for i, size in enumerate(sizes.tolist()):
        for f in range(at, size):
            integral = (1 / f - share * integral) / (1 - share)
        at, risks[i] = size, share * integral
    return risks[np.searchsorted(sizes, records)]


# Pitman's sampling formula: from the classes of a sample to those of its population.


#: Largest number of evaluations of the likelihood; about 200 are needed.
MOST_EVALUATIONS = 2_000
#: Additions to a class up to this number are summed one by one; the smooth probabilities beyond it are integrated.
ONE_BY_ONE = 400
#: Nodes of the quadrature, over the logarithm of the additions.
NODES = 800
#: For classes of more records the mean and the variance of F give the mean of 1 / F to six digits.
LARGE = 1_000
#: Precision of the parameters, on their logarithmic scales; the statistical error is larger by far.
PRECISION = 1e-7


def log_likelihood(alpha: float, theta: float, sizes: np.ndarray, classes: np.ndarray) -> float:
    """Compute the logarithm of Pitman's sampling formula, up to a constant, in nats."""
    opened = np.log(theta + alpha * np.arange(1, classes.sum())).sum()
    joined = (classes * (gammaln(sizes - alpha) - gammaln(1 - alpha))).sum()
    return float(opened + joined - (gammaln(theta + sizes @ classes) - gammaln(theta + 1)))


def fitted(records: np.ndarray) -> tuple[float, float]:
    """Return the maximum-likelihood parameters alpha and theta."""
    sizes, classes = np.unique(records, return_counts=True)

    def parameters(x: np.ndarray) -> tuple[float, float]:
        alpha = float(expit(x[0]))
        return alpha, float(np.exp(x[1])) - alpha

    def loss(x: Any) -> float:
        return -log_likelihood(*parameters(x), sizes, classes)

    share = float((records == 1).mean())  # tends to alpha for large samples
    start = np.array([logit(np.clip(share, 0.05, 0.95)), math.log(len(records))])
    options: Any = {"xatol": PRECISION, "fatol": PRECISION, "maxfev": MOST_EVALUATIONS}
    with np.errstate(all="ignore"):  # the likelihood may overflow far from its maximum
        result = minimize(loss, start, method="Nelder-Mead", options=options)
    return parameters(result.x)


def still_unique(alpha: float, theta: float, n: float, n_population: float) -> float:
    """Return the probability that a record that is unique among n is unique among the N people of the population."""
    a = 1 - alpha
    return float(np.exp(betaln(theta + n_population - a, a) - betaln(theta + n - a, a)))


def expected_risk(alpha: float, theta: float, sizes: np.ndarray, n: float, n_population: float) -> np.ndarray:
    """Compute E[1 / F | f] = E[1 / (f + X)], where X of the other N - n people join a class of f records."""
    others = n_population - n
    a, b = sizes - alpha, theta + n - sizes + alpha
    mean = sizes + others * a / (a + b)
    variance = others * a * b * (a + b + others) / ((a + b) ** 2 * (a + b + 1))
    risks = (1 + variance / mean**2) / mean
    x, weight = _additions(others)
    chosen = gammaln(others + 1) - gammaln(x + 1) - gammaln(others - x + 1)
    for i in np.flatnonzero(sizes <= LARGE):
        log_p = chosen + betaln(x + a[i], others - x + b[i]) - betaln(a[i], b[i])
        risks[i] = np.exp(log_p) @ (weight / (sizes[i] + x))
    return risks


def _additions(others: float) -> tuple[np.ndarray, np.ndarray]:
    """Return numbers of people who may join a class, and their weights in a sum over all numbers up to `others`."""
    x = np.arange(min(ONE_BY_ONE, others) + 1.0)
    if others <= ONE_BY_ONE:
        return x, np.ones(len(x))
    low, high = math.log(ONE_BY_ONE + 0.5), math.log(others + 0.5)
    node, share = np.polynomial.legendre.leggauss(NODES)
    far = np.exp(low + (node + 1) / 2 * (high - low))
    weight = np.concatenate([np.ones(len(x)), share * (high - low) / 2 * far])
    return np.concatenate([x, np.minimum(far, others)]), weight


#: Number of measures that do not depend on a population.
OF_SAMPLE = 6


@dataclass(frozen=True, eq=False)
class Reidentification(ReprMixin):
    """Risks that a record is linked with its person.

    Attributes
    ----------
    measures : DataFrame
        One row per measure: its `value`, its `unit`, and its meaning, `says`.
    classes : DataFrame
        By quasi-identifiers, the smallest class first: the number of `records`, and of `people` in the population; and
        the `risk` of each record in the class: 1 / people if available, otherwise 1 / records; if only the size of the
        population is known, Pitman's individual risk if available, otherwise Benedetti and Franconi's.
    k : int
        Classes of fewer records, or people, are small.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> hospital = mx.datasets.load_hospital()
    >>> risks = mx.measures.reidentification(hospital, qi=["Gender", "Degree"], k=3)
    >>> print(risks)
    7 of 10 records in classes of fewer than 3, 3 unique; risk of a record 0.6 on average, 1 at most
    >>> risks.classes.head(2)
                     records  risk
    Gender Degree
    female graduate        1   1.0
           junior          1   1.0
    """

    measures: pd.DataFrame
    classes: pd.DataFrame
    k: int

    def __str__(self) -> str:
        records, value = self.classes["records"].to_numpy(), self.measures["value"]
        return (
            f"{records[records < self.k].sum()} of {records.sum()} records in classes of fewer than {self.k}, "
            f"{np.sum(records == 1)} unique; risk of a record {value['marketer risk']:.3g} on average, "
            f"{self.classes['risk'].max():.3g} at most"
        )

    def __repr__(self) -> str:
        return f"<Reidentification: {self}>"

    def _tables(self) -> Iterable[TablePreview]:
        """Return the measures of the records, the measures of the population, and the classes."""
        tables = self.measures.iloc[:OF_SAMPLE], self.measures.iloc[OF_SAMPLE:]
        return [*(TablePreview(table, "measures") for table in tables), TablePreview(self.classes, "classes")]


# Zayatz's estimator: the share of the records unique in a sample that are unique in its population.


def share_unique(records: np.ndarray, n_population: int) -> float:
    """Compute P(F = 1 | f = 1) = P(F = 1) P(f = 1 | F = 1) / sum_i P(F = i) P(f = 1 | F = i), by Bayes' rule."""
    n = int(records.sum())
    size = np.arange(1, int(records.max()) + 1)
    share = np.bincount(records)[1:] / len(records)
    # i n / N times the probability that the other i - 1 are not drawn.
    others, n_others = np.arange(len(size) - 1), float(n_population - 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        missed = np.clip((n_population - n - others) / np.maximum(n_others - others, 1), 0.0, 1.0)
        none = np.exp(np.concatenate([[0.0], np.cumsum(np.log(missed))]))
    of_one = size * n / n_population * none
    return float(share[0] * of_one[0] / (share @ of_one))


#: Largest size of a population.
LARGEST = 10**12
#: A measure: its name, value, unit and meaning.
Row = tuple[str, float, str, str]


def reidentification(
    published: pd.DataFrame | View | PartitionedRelease | Posterior | PartitionedPosterior,
    qi: str | Iterable[str] | None = None,
    *,
    population: pd.DataFrame | QITable | int | None = None,
    k: int = 5,
) -> Reidentification:
    """Compute re-identification risks: prosecutor 1 / f, journalist 1 / F for classes of f records and F people.

    A prosecutor looks for a person who is known to be in the release, and finds the f records with the person's
    quasi-identifiers. A journalist looks for anybody to whom a record may belong, and finds F people of the population.
    A marketer links all records at random within their classes, and is right for the share mean(1 / F). Inferring a
    person's value without finding the record is a different risk; see :func:`exposed`.

    Parameters
    ----------
    published : DataFrame, Release, GroupedRelease, QITable, PartitionedRelease, or a posterior of one
        One row per person. Records with the same (possibly generalized) quasi-identifiers form a class.
    qi : str or several, optional
        The quasi-identifiers, if `published` is a DataFrame.
    population : DataFrame, QITable or int, optional
        The population, which includes the people of the release, with the same quasi-identifiers; or only its size, from
        which F is then estimated. A :class:`maxent_cvx.GroupedRelease` has its own population.
    k : int
        Classes of fewer than k records (or people) are small, and risks above 1 / k are high.

    Returns
    -------
    Reidentification
        With the tables ``.measures`` and ``.classes``. The measures are:

        classes, k, records below k
            The number of classes; the size of the smallest, the k of k-anonymity (Samarati, 2001); the number of records
            in classes of fewer than k.
        sample uniques
            Number of records with unique quasi-identifiers.
        prosecutor risk, highest prosecutor risk
            The mean of 1 / f over records, which is classes / records; and the largest.
        population k, records below k in the population, population uniques
            The smallest F, the k of k-map (Sweeney, 2002); records with F < k; records with F = 1.
        journalist risk, highest journalist risk
            The mean over records of 1 / F, and the largest (El Emam and Dankar, 2008).
        individual risk, highest individual risk (Benedetti-Franconi)
            E[1 / F | f], if only the size N of the population is given; its mean over records, and the largest. It
            assumes that everybody is in the release with probability n / N, and treats each class separately
            (Benedetti and Franconi, 1998, the individual risk of mu-Argus and sdcMicro). It is too low if many people
            are unique.
        individual risk, highest individual risk, population uniques (Pitman)
            The same, and the expected number of sample uniques that are unique in the population, for a simple random
            sample of people who fall into classes by Pitman's sampling formula, with maximum-likelihood parameters
            (Pitman, 1995; Hoshino, 2001). Not available for a single class, or if all classes have one record.
        population uniques (Zayatz)
            The same number, if the sizes of the population's classes were distributed like those of the sample, which is
            too high if n / N is small (Zayatz, 1991). ARX offers both estimates.
        marketer risk
            The share of records that are linked correctly with the population by random choice within a class: the mean
            of 1 / F over records (Dankar and El Emam, 2010); if only N is given, its estimate by Pitman's formula if
            available, otherwise by Benedetti and Franconi's; without a population, the mean of 1 / f.

    Raises
    ------
    StatementError
        If `published` cannot be divided into classes, `qi` is missing or not allowed, or `k` or the size of the
        population is out of range.
    UnknownName, TableError
        If a column is missing or has missing values, or the population lacks people of the release.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> hospital = mx.datasets.load_hospital()
    >>> risks = mx.measures.reidentification(hospital, qi=["Gender", "Degree"], population=100)
    >>> print(risks.measures[["value", "unit"]].round(3).tail(7))
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
    check_int(k, "k", 1)
    classes = classes_of(published, qi, population)
    classes = classes.iloc[np.argsort(classes["records"].to_numpy(), kind="stable")]
    records = classes["records"].to_numpy()
    rows = list(_of_sample(records, k))
    if "people" in classes:
        of_people = classes["people"].to_numpy()
        rows += _of_population(records, of_people, k)
        risk = 1 / of_people
    elif population is not None:
        estimated, risk = _of_number(records, check_int(population, "population", int(records.sum()), LARGEST))
        rows += estimated
    else:
        risk = 1 / records
    marketer = float(records @ risk / records.sum())
    says = Message("{share} of all records would be linked correctly", share=_percent(marketer))
    rows.append(("marketer risk", marketer, "share", says))
    return Reidentification(table_of_measures(rows), classes.assign(risk=risk), k)


def table_of_measures(rows: Iterable[Row]) -> pd.DataFrame:
    """Tabulate measures; texts have the dtype object, because strings of pandas would lose their templates."""
    measures, values, units, says = zip(*rows, strict=True)
    index = pd.Index(measures, name="measure")
    return pd.DataFrame({"value": values, "unit": units, "says": pd.Series(says, index, object)}, index)


def _of_sample(records: np.ndarray, k: int) -> Iterator[Row]:
    """Yield the measures that do not depend on a population."""
    n, least = int(records.sum()), int(records.min())
    below, unique = int(records[records < k].sum()), int((records == 1).sum())
    says = Message("{n:,} records have {classes:,} different quasi-identifiers", n=n, classes=len(records))
    yield "classes", len(records), "classes", says
    yield "k", least, "records", Message("{k}-anonymous: the smallest class", k=least)
    says = Message("{share} of all are in classes of fewer than {k}", share=_percent(below / n), k=k)
    yield "records below k", below, "records", says
    says = Message("{share} of all have unique quasi-identifiers", share=_percent(unique / n))
    yield "sample uniques", unique, "records", says
    mean = len(records) / n
    yield "prosecutor risk", mean, "probability", "for a person known to be in the release, on average"
    yield "highest prosecutor risk", 1 / least, "probability", "for a person known to be in the release"


def _of_population(records: np.ndarray, people: np.ndarray, k: int) -> Iterator[Row]:
    """Yield the measures for a known population."""
    n, least = int(records.sum()), int(people.min())
    below, unique = int(records[people < k].sum()), int(records[people == 1].sum())
    yield "population k", least, "people", "least number of people to whom a record may belong"
    says = Message("{share} may belong to fewer than {k} people", share=_percent(below / n), k=k)
    yield "records below k in the population", below, "records", says
    says = Message("{share} can belong to one person only", share=_percent(unique / n))
    yield "population uniques", unique, "records", says
    mean = float(records @ (1 / people) / n)
    yield "journalist risk", mean, "probability", "for anybody in the population, on average"
    yield "highest journalist risk", 1 / least, "probability", "for anybody in the population"


def _of_number(records: np.ndarray, n_population: int) -> tuple[list[Row], np.ndarray]:
    """Return estimates for a population of known size, and the risk by class, by Pitman's formula if available."""
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
        template, share = "{share} of all are expected to be unique among {n:,} people", _percent(value / n)
        says: str = Message(template, share=share, n=n_population)
        if math.isnan(value):
            says = "not available for a single class, or if all classes have one record"
        rows.append((f"population uniques ({name})", value, "records", says))
    return rows, by_class


def _risks(name: str, records: np.ndarray, risk: np.ndarray) -> Iterator[Row]:
    """Yield the mean and the largest of an estimate of 1 / F."""
    mean, says = float(records @ risk / records.sum()), "estimated, for anybody in the population"
    yield f"individual risk ({name})", mean, "probability", f"{says}, on average"
    yield f"highest individual risk ({name})", float(risk.max()), "probability", says


def _percent(share: float) -> str:
    """Write a share with three digits, however small."""
    return f"{100 * share:.3g}%"

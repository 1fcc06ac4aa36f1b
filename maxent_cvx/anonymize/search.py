"""The release with the least loss that exposes nobody: a search over generalisations, Mondrian's groups and Anatomy's.

Full-domain generalisation gives every attribute one level of its hierarchy; the levels of all attributes are a node of a
lattice. A release is safe if no sensitive value is inferred with the threshold's probability, by the rule of
:func:`maxent_cvx.measures.exposed`. What makes the search exact:

* Nodes are taken in the order of a lower bound on their loss, and the search ends where that reaches the best loss. NCP
  without suppression is a sum over attributes, which needs no grouping of records. By discernibility and classification a
  node loses at least what a finer one does without suppression.
* Without knowledge and suppression a node that is not safe rules out every finer one: the groups of the finer node are
  parts of its groups, and a share of a group is a mean of those of its parts. So the first safe node of a path to the
  most general one is found by bisection, as in Flash.

With knowledge or suppression the promise is not monotone; every node that could be better is judged.
"""

from __future__ import annotations

import heapq
import itertools
import math
import operator
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .._utils.errors import (
    NotDecided,
    SolverError,
    StatementError,
    TableError,
    join_names,
    pluralize,
    short_repr,
    unknown_name,
)
from .._utils.formatting import ReprMixin, TablePreview, format_number
from .._utils.progress import progress_bar
from .._utils.tables import Microdata, group_codes
from .._utils.validation import (
    check_float,
    check_in,
    check_list,
    check_mapping,
    check_optional_bool,
    check_seconds,
    is_several,
)
from ..measures.events import read_events
from ..measures.exposure import SUM_ROUNDING, WITHOUT_HER, Baseline, ExposureRule, exposed
from ..measures.utility import query_error
from ..model.maxent import MaxEnt
from ..plots._style import AGAINST, COLOURS, FAINT, LINES, MARKERS, axes_for, legend_beside
from ..releases.base import unused_name
from ..releases.generalized import Domain, hierarchy_table, text_of
from ..releases.release import Release
from .anatomy import anatomy
from .mondrian import has_scale, mondrian_table

if TYPE_CHECKING:
    from matplotlib.axes import Axes


#: The methods that can be searched, and the losses by which releases are compared.
METHODS, LOSSES = ("full-domain", "mondrian", "anatomy"), ("ncp", "discernibility", "classification", "queries")
#: The approximate number of finest ranges made for numbers, each 1, 2 or 5 times a power of ten wide.
RANGES = 32
#: If the lattice has more nodes, a safe node is first searched for from the most general node on.
MOST_NODES = 100_000
#: The group sizes tried for Mondrian, times each power of ten, and the largest number of values in Anatomy's buckets.
SIZES, MOST_VALUES = (1, 2, 3, 5), 10
#: The first and the last microsecond of the years 1 to 9999, outside of which pandas has no Timestamps.
YEARS = np.array([datetime.min, datetime.max], dtype="datetime64[us]")


@dataclass(frozen=True, eq=False)
class Search(ReprMixin):
    """The safe release of least loss, and all releases that were judged.

    Attributes
    ----------
    release : Release
        The best one. It exposes nobody to an adversary who knows the release and the knowledge.
    loss : float
        Its loss, between 0 and 1; for "queries" the mean relative error.
    nodes : int
        Number of releases that were judged.
    optimal : bool
        Whether it is proved that no other release that was searched is safe and has less loss: with "full-domain", no
        node of the lattice; with "mondrian" and "anatomy", none of the releases that these algorithms were called to
        make.
    method : str
        "full-domain", "mondrian" or "anatomy".
    levels : dict of str to int
        The level of every attribute, 0 for exact values; empty for other methods.
    suppressed : int
        Number of records that are left out.
    candidates : DataFrame
        A row for each release that was judged: `method`, `parameters`, `loss`, `largest`, the largest probability of an
        event that counts (NaN if it was not solved), and whether it is `safe`.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> hospital = mx.datasets.load_hospital()
    >>> best = mx.anonymize.search(hospital, qi=["Gender", "Degree"], sa="Disease", methods=["full-domain"])
    >>> best.levels, round(best.loss, 3), best.optimal
    ({'Gender': 0, 'Degree': 1}, 0.5, True)
    """

    release: Release
    loss: float
    nodes: int
    optimal: bool
    method: str
    levels: dict[str, int]
    suppressed: int
    candidates: pd.DataFrame
    threshold: float

    def plot(self, ax: Axes | None = None) -> Axes:
        """Plot the loss of every release against its largest probability; a line joins the releases on the Pareto front.

        Parameters
        ----------
        ax : Axes, optional
            Axes to draw on; by default those of a new figure.

        Returns
        -------
        Axes
        """
        table = self.candidates.dropna(subset=["loss", "largest"])
        with axes_for(ax, *LINES) as drawn:
            for number, (method, part) in enumerate(table.groupby("method", sort=False)):
                for is_safe, points in part.groupby("safe"):
                    drawn.plot(
                        points["largest"], points["loss"], MARKERS[number], linestyle="", markersize=5,
                        color=COLOURS[number] if is_safe else FAINT, label=method if is_safe else f"{method}, not safe",
                    )  # fmt: skip
            best = table.sort_values(["largest", "loss"])
            best = best[best["loss"] < best["loss"].cummin().shift(fill_value=np.inf)]
            drawn.step(best["largest"], best["loss"], where="post", color=AGAINST, linewidth=1, label="Pareto front")
            drawn.axvline(self.threshold, color="0.3", linewidth=1, linestyle=":")
            drawn.set(xlabel="largest probability that counts", ylabel="loss")
            drawn.set_xlim(right=1.02)
            if n_others := len(self.candidates) - len(table):
                drawn.set_title(
                    f"not shown: {pluralize(n_others, 'release')} without a loss or a probability", fontsize="small"
                )
            legend_beside(drawn)
        return drawn

    def __repr__(self) -> str:
        best = "least loss" if self.optimal else "least loss so far"
        return f"<Search: {self.method}, {best} {self.loss:.4g}, of {pluralize(self.nodes, 'release')} judged>"

    def _tables(self) -> Iterable[TablePreview]:
        return [TablePreview(self.candidates.sort_values("loss"), "releases")]


def search(
    table: pd.DataFrame,
    qi: str | Iterable[str],
    sa: str | Iterable[str],
    hierarchies: Mapping[str, object] | None = None,
    threshold: float = 0.8,
    baseline: Any = None,
    knowledge: object = (),
    loss: str = "ncp",
    time_limit: float | None = None,
    *,
    methods: Iterable[str] = METHODS,
    suppression: float = 0.0,
    progress: bool | None = None,
) -> Search:
    """Find the release with the least loss that exposes nobody: no P(s | q) that counts reaches the threshold.

    Parameters
    ----------
    table : DataFrame
        One row per person.
    qi, sa : str or list of str
        Column names.
    hierarchies : dict, optional
        For an attribute its hierarchy: ``{value: [level 1, level 2, ...]}``, a table with values in the first column and
        their generalisations in the others, or the name of a hierarchy file of ARX. Attributes without one get ranges
        that nest (numbers: of 5, 10, 20, 40, for example), months, years and decades (dates), or "*".
    threshold, baseline
        As in :func:`maxent_cvx.measures.exposed`. The default counts every value; ``maxent-cvx publish --method search``
        has the baseline "overall", by which a value does not count if its share among all people reaches the threshold.
    knowledge : list, or one statement
        What the adversary is assumed to know, as :meth:`maxent_cvx.MaxEnt.add` takes it.
    loss : {"ncp", "discernibility", "classification", "queries"}
        "ncp": for a cell the share of the hierarchy's leaves below it, 0 for one leaf; the mean over records and
        attributes. "discernibility": sum of squared group sizes, divided by n^2. "classification": share of records whose
        value is not the most frequent of their group. "queries": mean relative error of random counting queries
        (:func:`maxent_cvx.measures.query_error`). A record that is left out counts as 1.
    time_limit : float, optional
        Seconds, after which the best release so far is returned.
    methods : list of str
        What is searched: "full-domain", "mondrian", "anatomy". Anatomy publishes exact quasi-identifiers, so that its NCP
        is 0.
    suppression : float
        The share of records that may be left out of a full-domain generalisation, by groups. Groups are judged by their
        shares, so that neither knowledge nor a baseline other than "overall" can be given with it.
    progress : bool, optional
        Show a progress bar; by default on a terminal or in a notebook.

    Returns
    -------
    Search

    Raises
    ------
    TableError
        If no release exposes nobody; if a hierarchy lacks a value, or its levels do not nest.
    NotDecided
        If none was found within the time limit.
    StatementError, UnknownName, BadProbability
        If an argument cannot be read.
    Infeasible
        If the knowledge contradicts the table.

    Notes
    -----
    El Emam et al. (2009) and Kohlmayer et al. (Flash, 2012) search such lattices for k-anonymity and similar promises about
    groups; here the limit applies to inferences. Xu et al. (2006) define NCP; Bayardo and Agrawal (2005)
    discernibility; Iyengar (2002) classification.

    Without knowledge a full-domain search by NCP is exact. With knowledge every node is judged by a model for adversaries
    who know exact quasi-identifiers. `optimal` says whether all releases with less loss were judged.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> hospital = mx.datasets.load_hospital()
    >>> best = mx.anonymize.search(hospital, qi=["Gender", "Degree"], sa="Disease", threshold=0.6)
    >>> best.method, best.loss
    ('anatomy', 0.0)
    >>> mx.measures.exposed(mx.MaxEnt(best.release).solve(), 0.6).people
    0
    """
    threshold = check_float(threshold, "threshold", 0.0, 1.0)
    check_in(loss, "loss", LOSSES)
    chosen = [check_in(method, "a method", METHODS) for method in check_list(methods, "methods", "names")]
    if not chosen:
        raise StatementError(f"methods must contain at least one of {join_names(METHODS)}")
    suppression = check_float(suppression, "suppression", 0.0, 1.0)
    check_optional_bool(progress, "progress")
    seconds = np.inf if time_limit is None else check_seconds(time_limit, "time_limit")
    data = Microdata.of_people(table, qi, sa)
    data = replace(data, frame=data.frame.reset_index(drop=True))  # records are identified by position
    given = {} if hierarchies is None else check_mapping(hierarchies, "hierarchies", "{attribute: its hierarchy}")
    if strangers := [name for name in given if name not in data.qi]:
        raise unknown_name("quasi-identifier (given in hierarchies)", strangers[0], data.qi)
    attributes = [Attribute.of(data.frame[name], given.get(name)) for name in data.qi]
    if isinstance(baseline, str) and baseline == WITHOUT_HER:
        raise StatementError(
            f'baseline={baseline!r} is not supported by search; pass "overall", None, or P(s) as a Series'
        )
    pieces = list(knowledge) if is_several(knowledge) and not isinstance(knowledge, str) else [knowledge]
    judge = Judge.of(data, threshold, baseline, pieces)
    if suppression > 0 and judge.rule is None:
        raise StatementError(
            "suppression leaves out groups by their shares, which knowledge and the baseline change; omit suppression, or "
            'omit knowledge and give the baseline None or "overall"'
        )
    best = Best(data, attributes, judge, loss, suppression, time.monotonic() + seconds)
    with progress_bar(None, "search", progress, unit="release") as bar:
        best.bar = bar
        # Methods with few candidates come first, since a small loss ends the search over the lattice.
        for method, candidates in (
            ("anatomy", best.anatomy), ("mondrian", best.mondrian), ("full-domain", best.full_domain),
        ):  # fmt: skip
            if method in chosen:
                candidates()
    return best.result()


# ----------------------------------------------------------------------------- attributes, their levels and their losses


@dataclass(frozen=True, eq=False)
class Attribute:
    """A quasi-identifier: the node of every record at every level of its hierarchy."""

    name: str
    leaves: pd.Index  # all exact values of the hierarchy, including those without records
    codes: list[np.ndarray]  # one per level: the number of the node of every record
    nodes: list[np.ndarray]  # one per level: the published label of every record
    below: list[np.ndarray]  # one per level: the number of leaves below every node
    hierarchy: pd.DataFrame  # the levels, given or made

    @classmethod
    def of(cls, column: pd.Series, hierarchy: object) -> Attribute:
        """Read the hierarchy of a column, or make one."""
        record, values = pd.factorize(column)
        values = pd.Index(values)
        levels = _made_levels(values) if hierarchy is None else _read_levels(hierarchy, str(column.name))
        if levels.isna().iloc[:, 1:].any(axis=None):
            raise TableError(f"the hierarchy of {column.name!r} has a missing node; name every generalization")
        leaves = pd.Index(levels.iloc[:, 0])
        if leaves.has_duplicates:
            raise TableError(f"the hierarchy of {column.name!r} has {leaves[leaves.duplicated()][0]!r} twice")
        place = leaves.get_indexer(values)
        if (place < 0).any():  # hierarchy files contain texts
            for texts in (values.astype(str), values.map(text_of)):  # 21.0 is "21" in a file
                place = np.where(place < 0, leaves.get_indexer(texts), place)
        if len(left := np.flatnonzero(place < 0)):  # 1.5 can be "1.50", as in generalised releases
            domain = Domain(values[left], str(column.name))
            for row in np.setdiff1d(np.arange(len(leaves)), place):
                at = left[domain.places(leaves[row])]
                if (place[at] >= 0).any():
                    twice = f"{leaves[place[at[0]]]!r} and {leaves[row]!r}"
                    raise TableError(f"the hierarchy of {column.name!r} has {twice} for one value; keep one of them")
                place[at] = row
        if (place < 0).any():
            value = values[int((place < 0).argmax())]
            raise TableError(
                f"the hierarchy of {column.name!r} lacks the value {short_repr(value)}; add it, with all its levels"
            )
        try:
            factors = [pd.factorize(levels.iloc[:, level].to_numpy(object)) for level in range(levels.shape[1])]
        except TypeError as error:
            raise TableError(f"the nodes of the hierarchy of {column.name!r} must be labels: {error}") from None
        for (fine, _), (coarse, _) in itertools.pairwise(factors):
            if len(np.unique(fine * np.int64(len(leaves)) + coarse)) != len(np.unique(fine)):
                raise TableError(f"the levels of the hierarchy of {column.name!r} do not nest: a node has two parents")
        nodes = [pd.Series(leaves, dtype=object).to_numpy(), *(node for _, node in factors[1:])]
        codes, below = [code[place[record]] for code, _ in factors], [np.bincount(code) for code, _ in factors]
        return cls(str(column.name), leaves, codes, nodes, below, levels)

    def ncp(self, level: int) -> np.ndarray:
        """Return the NCP of the cell of every record at a level."""
        below = self.below[level][self.codes[level]]
        return np.where(below > 1, below / len(self.leaves), 0.0)

    def ncp_of(self, cells: pd.Series) -> np.ndarray:
        """Return the NCP of generalised cells: intervals, sets of values, "*" or exact values."""
        code, _ = pd.factorize(cells.map(str))
        first = np.unique(code, return_index=True)[1]
        below = np.array([self._leaves_below(cell) for cell in cells.iloc[first]])
        return np.where(below > 1, below / len(self.leaves), 0.0)[code]

    def _leaves_below(self, cell: object) -> int:
        if isinstance(cell, pd.Interval):
            values: Any = pd.Series(self.leaves)
            if isinstance(cell.left, pd.Timestamp):  # the leaves of a file are texts
                values = pd.to_datetime(values, utc=cell.left.tz is not None)
            else:
                values = pd.to_numeric(values, errors="coerce")
            return int(((values >= cell.left) & (values <= cell.right)).sum())
        if isinstance(cell, frozenset):
            return len(cell)
        return len(self.leaves) if isinstance(cell, str) and cell == "*" else 1


def _read_levels(hierarchy: object, attribute: str) -> pd.DataFrame:
    """Read {value: [level 1, ...]}, a table of levels, or a file of ARX."""
    if isinstance(hierarchy, pd.DataFrame | str | PathLike):
        return hierarchy_table(hierarchy, attribute)
    levels = check_mapping(hierarchy, f"the hierarchy of {attribute!r}", "{value: [level 1, level 2, ...]}")
    rows = [
        [value, *(nodes if isinstance(nodes, Sequence) and not isinstance(nodes, str) else [nodes])]
        for value, nodes in levels.items()
    ]
    if len({len(row) for row in rows}) > 1 or not rows:
        raise TableError(f"every value of the hierarchy of {attribute!r} must have equally many levels")
    return pd.DataFrame(rows, dtype=object)


def _made_levels(values: pd.Index) -> pd.DataFrame:
    """Make a hierarchy: nested ranges; months, years and decades; or a single level "*"."""
    with suppress(TypeError, NotImplementedError):  # labels of several types, and Arrow's dictionaries, need no order
        values = values.sort_values()
    levels: list[Any] = [pd.Series(values, dtype=object).to_numpy()]
    if pd.api.types.is_datetime64_any_dtype(values):
        times = pd.DatetimeIndex(values)
        for unit in ("M", "Y", "10Y"):
            first = times.tz_localize(None).to_numpy().astype(f"datetime64[{unit}]")
            ends = (pd.DatetimeIndex(np.clip(end.astype("datetime64[us]"), *YEARS)) for end in (first, first + 1))
            # In some time zones a day begins twice, or at 1 o'clock.
            left, right = (end.tz_localize(times.tz, np.ones(len(end), dtype=bool), "shift_forward") for end in ends)
            levels.append(pd.IntervalIndex.from_arrays(left, right, closed="left").to_numpy(object))
    elif has_scale(values) and len(values) > 2 and 0 < np.ptp(numbers := values.to_numpy(float)) < np.inf:
        # Doubles are too coarse for the ends of some ranges, such as those of integers above 2 ** 53.
        levels += [level for level in _ranges(numbers) if all(map(operator.contains, level, levels[0]))]
    levels.append(np.full(len(values), "*", dtype=object))
    return pd.DataFrame(dict(enumerate(levels)), dtype=object)  # pandas has no intervals of integers from 2 ** 63 on


def _ranges(numbers: np.ndarray) -> list[np.ndarray]:
    """Return levels of nested ranges, of 5, 10, 20 and 40 years for example, with about RANGES at the finest level."""
    spread = float(numbers.max() - numbers.min())
    power = 10.0 ** np.floor(np.log10(spread / RANGES))
    width = float(next(step * power for step in (1, 2, 5, 10) if step * power >= spread / RANGES * (1 - 1e-12)))
    if are_whole := bool((numbers == np.floor(numbers)).all()):
        width = max(width, 1.0)
    digits = -int(np.floor(np.log10(width) + 1e-9))
    # Widths of 1 and 2 become 5 and 10 if several tens (20-29, 30-39, ...) remain; otherwise, and then, widths double.
    leading = round(width * 10.0**digits)
    factor = 5 if leading < 5 and spread >= 20 * 10.0**-digits else 2

    def ends(place: np.ndarray) -> np.ndarray:
        return np.round(place * width, max(digits, 0))

    low = np.floor(numbers / width)
    low += (numbers >= ends(low + 1)).astype(int) - (numbers < ends(low))  # 0.3 / 0.1 is less than 3
    levels = []
    while low.max() > low.min():
        if len(np.unique(low)) < len(numbers):
            pairs = zip(ends(low).tolist(), ends(low + 1).tolist(), strict=True)
            kind = int if are_whole else float
            levels.append(
                np.array([pd.Interval(kind(left), kind(right), "left") for left, right in pairs], dtype=object)
            )
        if -width < numbers.min() < 0 <= numbers.max() < width:  # the two ranges at 0 are never merged
            break
        low, width, factor = low // factor, width * factor, 2
    return levels


# ---------------------------------------------------------------------------------------- whether a release exposes anybody


@dataclass(frozen=True, eq=False)
class Judge:
    """Decide whether somebody is exposed: by the shares of groups, or by a model if there is knowledge."""

    data: Microdata
    threshold: float
    baseline: Any
    knowledge: list[Any]
    s: np.ndarray  # the value of every record
    values: pd.Index
    rule: ExposureRule | None  # None if models decide

    @classmethod
    def of(cls, data: Microdata, threshold: float, baseline: Any, knowledge: list[Any]) -> Judge:
        """Read the rule of exposure and the knowledge."""
        s, values = data.values()
        rule = None
        if not knowledge and (baseline is None or (isinstance(baseline, str) and baseline == "overall")):
            events, intervals = read_events(values, None, None)
            rule = ExposureRule(threshold, SUM_ROUNDING, values, events, None, intervals)
            if baseline is not None:
                overall = rule.units.of(np.bincount(s, minlength=len(values))[None] / len(s))
                rule = replace(rule, baseline=Baseline(overall, np.zeros_like(overall), "overall"))
        return cls(data, threshold, baseline, knowledge, s, values, rule)

    def counts(self, group: np.ndarray) -> np.ndarray:
        """Count the records with each value in each group."""
        n = len(self.values)
        return np.bincount(group * n + self.s, minlength=(int(group.max()) + 1) * n).reshape(-1, n)

    def largest(self, counts: np.ndarray) -> np.ndarray:
        """Return the largest probability of an event that counts, for every group."""
        assert self.rule is not None
        return np.asarray(self.rule.surest(counts / counts.sum(axis=1, keepdims=True))[0])

    def of_release(self, release: Release) -> tuple[float, bool]:
        """Solve a model: return the largest probability (NaN if not certified), and whether nobody is exposed."""
        try:
            post = MaxEnt(release).add(*self.knowledge).solve()
        except SolverError:  # not Infeasible: knowledge that contradicts a release is false for the table
            return np.nan, False
        result = exposed(post, self.threshold, baseline=self.baseline)
        surest = float(result.who["P"].max()) if result.people else float(post.conditional().to_numpy().max())
        return surest, result.people == 0

    def of_groups(self, group: np.ndarray) -> tuple[float, bool]:
        """Solve a model of groups of records, for an adversary with exact quasi-identifiers."""
        if self.rule is not None:
            largest = self.largest(self.counts(group))
            return float(largest.max()), not self.rule.reaches(largest).any()
        columns = [*self.data.qi, *self.data.sa]
        bucket = unused_name("group", columns)
        table = self.data.frame[columns].assign(**{bucket: group})
        return self.of_release(Release.from_buckets(table, qi=list(self.data.qi), sa=list(self.data.sa), bucket=bucket))


# -------------------------------------------------------------------------------------------------------- the search itself


@dataclass(eq=False)
class Best:
    """The best release so far, and all judged candidates."""

    data: Microdata
    attributes: list[Attribute]
    judge: Judge
    loss_name: str
    suppression: float
    until: float
    bar: Any = None
    loss: float = np.inf
    ncp: float = np.inf  # of the best release; it breaks ties between equal losses
    release: Callable[[], Release] | None = None
    about: tuple[str, dict[str, int], int] = ("", {}, 0)  # the method, the levels, and the suppressed records
    is_complete: bool = True  # whether every candidate with less loss was judged
    candidates: list[tuple[str, str, float, float, bool]] = field(default_factory=list)

    @property
    def is_over(self) -> bool:
        """Return whether the time is over, in which case candidates were not judged."""
        if time.monotonic() > self.until:
            self.is_complete = False
            return True
        return False

    def anatomy(self) -> None:
        """Judge Anatomy's buckets of 2, 3, ... different values; the first safe ones are the smallest."""
        frequency = np.sort(np.bincount(self.judge.s))[::-1]
        for l in range(2, min(MOST_VALUES, len(frequency)) + 1):
            if self.is_over:
                return
            exempt = int((frequency > len(self.data) // l).sum())
            try:
                release = anatomy(self.data.frame, qi=list(self.data.qi), sa=list(self.data.sa), l=l, exempt=exempt)
            except TableError:  # too few records, or too few sufficiently rare values
                continue

            def published(release: Release = release) -> Release:
                return release

            sizes, most_frequent = np.asarray(release.n_qb.sum(axis=0)), release.n_sb.max(axis=0).toarray()
            loss = self._loss(0.0, sizes, most_frequent, published)
            largest, is_safe = self.judge.of_release(release)
            self._add("anatomy", f"l={l}, exempt={exempt}", loss, 0.0, largest, is_safe, published)

    def mondrian(self) -> None:
        """Judge Mondrian's groups that stay safe when they are cut, and those of at least k records."""
        data = self.data
        sizes = [size * 10**power for power in range(7) for size in SIZES if size * 10**power <= len(data)]
        limit = self.judge.threshold
        settings: list[dict[str, Any]] = [{"k": 1, "safe": (limit, 0)}] if 0 < limit < 1 else []
        for setting in [*settings, *({"k": k} for k in sizes)]:
            if self.is_over:
                return
            try:
                cells = mondrian_table(data.frame, qi=list(data.qi), sa=list(data.sa), **setting)
            except TableError:  # the whole table as one group is not safe
                continue
            group = cells.map(str).groupby(list(data.qi), sort=False).ngroup().to_numpy()
            published = partial(_generalized, cells, data)
            ncp = float(np.mean([a.ncp_of(cells[a.name]) for a in self.attributes]))
            counts = self.judge.counts(group)
            loss = self._loss(ncp, counts.sum(axis=1), counts.max(axis=1), published)
            largest, is_safe = self.judge.of_groups(group)
            text = ", ".join(f"{name}={value}" for name, value in setting.items())
            self._add("mondrian", text, loss, ncp, largest, is_safe, published)
            if is_safe and "safe" not in setting:
                return  # larger groups usually lose more

    def full_domain(self) -> None:
        """Search the lattice of levels in the order of a lower bound on the loss."""
        lattice = _Lattice(self)
        if lattice.is_monotone:
            if self.is_over or not lattice.is_safe(lattice.top):
                return  # no other node can be safe
        elif math.prod(lattice.heights) > MOST_NODES:  # the search may end early, so find a safe release first
            lattice.descend()
        # Every node is queued once: by the node one level below it in its last attribute that is not exact.
        queue: list[tuple[float, float, Node]] = [(0.0, 0.0, (0,) * len(lattice.top))]
        while queue:
            least, least_ncp, node = heapq.heappop(queue)
            if (least, least_ncp) >= (self.loss, self.ncp) or self.is_over:
                return
            lattice.decide(node)
            if node in lattice.judged:
                least = max(least, lattice.judged[node][1])
            start = max((at for at, level in enumerate(node) if level), default=0)
            for coarser in lattice.coarser(node, start):
                ncp = lattice.ncp(coarser)
                heapq.heappush(queue, (ncp if self.loss_name == "ncp" else least, ncp, coarser))

    def judge_node(self, node: np.ndarray, ncp: float) -> tuple[bool, float]:
        """Judge a node: return whether it is safe, and a lower bound on its loss and that of all coarser nodes."""
        judge, at_levels = self.judge, list(zip(self.attributes, node, strict=True))
        columns = [a.codes[level] for a, level in at_levels]
        group = group_codes(columns, [len(a.nodes[level]) for a, level in at_levels])
        counts, kept, least = judge.counts(group), np.ones(len(group), dtype=bool), 0.0
        if self.loss_name != "queries":  # suppressing a record never reduces its loss
            least = self._loss(ncp, counts.sum(axis=1), counts.max(axis=1))
        if judge.rule is not None:
            largest = judge.largest(counts)
            reaches = judge.rule.reaches(largest)
            surest, is_safe = float(largest.max()), not reaches.any()
            n_exposed = int(counts[reaches].sum())
            if 0 < n_exposed <= min(self.suppression * len(group) + 1e-9, len(group) - 1):
                surest, is_safe = float(largest[~reaches].max()), True
                counts, kept = counts[~reaches], ~reaches[group]
        else:
            surest, is_safe = judge.of_groups(group)

        def published() -> Release:
            cells = {a.name: a.nodes[level][a.codes[level]] for a, level in at_levels}
            return _generalized(pd.DataFrame(cells, self.data.frame.index)[kept], self.data)

        n_suppressed = int((~kept).sum())
        if n_suppressed:
            cells = np.mean([a.ncp(level) for a, level in at_levels], axis=0)
            ncp = float(np.where(kept, cells, 1.0).mean())
        loss = np.nan
        if is_safe or self.loss_name != "queries":  # answering random queries is slow
            loss = self._loss(ncp, counts.sum(axis=1), counts.max(axis=1), published, kept)
        levels = {a.name: int(level) for a, level in at_levels}
        if n_suppressed and is_safe and loss <= self.loss and judge.baseline is not None:
            # Suppression changes the shares of all people, and with them the baseline.
            is_safe = exposed(MaxEnt(published()).solve(), judge.threshold, baseline=judge.baseline).people == 0
        self._add("full-domain", str(levels), loss, ncp, surest, is_safe, published, levels, n_suppressed)
        return is_safe, least

    def _loss(
        self,
        ncp: float,
        sizes: np.ndarray,
        most_frequent: np.ndarray,
        published: Callable[[], Release] | None = None,
        kept: np.ndarray | slice = slice(None),
    ) -> float:
        """Return the loss of groups, given their sizes and the counts of their most frequent values."""
        n = len(self.data)
        lost = n - int(sizes.sum())  # suppressed records
        if self.loss_name == "ncp":
            return ncp
        if self.loss_name == "discernibility":
            return float((sizes.astype(float) ** 2).sum() + n * lost) / n**2
        if self.loss_name == "classification":
            return float(n - most_frequent.sum()) / n
        assert published is not None
        hierarchies = {a.name: a.hierarchy for a in self.attributes}
        error = query_error(published(), self.data.frame[kept], hierarchies=hierarchies)["error"].mean()
        return float(error * (n - lost) / n + lost / n)

    def _add(
        self,
        method: str,
        parameters: str,
        loss: float,
        ncp: float,
        largest: float,
        is_safe: bool,
        release: Callable[[], Release],
        levels: dict[str, int] | None = None,
        suppressed: int = 0,
    ) -> None:
        """Record a candidate, and keep it if it is the best so far."""
        self.candidates.append((method, parameters, loss, largest, is_safe))
        self.is_complete &= not np.isnan(largest)
        if is_safe and (loss, ncp) < (self.loss, self.ncp):
            self.loss, self.ncp, self.release, self.about = loss, ncp, release, (method, levels or {}, suppressed)
        self.bar.update()
        self.bar.set_postfix_str("none is safe so far" if self.release is None else f"least loss {self.loss:.4g}")

    def result(self) -> Search:
        """Return the best release; raise an error if there is none."""
        if self.release is None:
            if not self.is_complete:
                raise NotDecided(
                    f"no safe release was found among {pluralize(len(self.candidates), 'release')} judged; give more time "
                    "(time_limit; --time-limit), or choose a larger threshold"
                )
            judge, share = self.judge, np.bincount(self.judge.s) / len(self.data)
            none_is_safe = f"no release of those searched exposes nobody at P >= {format_number(judge.threshold)}"
            if judge.baseline is None and share.max() >= judge.threshold - SUM_ROUNDING:
                raise TableError(
                    f"{none_is_safe}: P({judge.values[int(share.argmax())]}) = {share.max():.4g} in the whole table; choose a "
                    'larger threshold, or baseline="overall", by which values that are so frequent do not count'
                )
            if any(method == "full-domain" for method, *_ in self.candidates):
                remedies = "coarser hierarchies, or let records be left out (suppression; --suppress)"
            else:
                remedies = "search other methods too (methods; --methods)"
            raise TableError(f"{none_is_safe}; choose a larger threshold or {remedies}")
        method, levels, suppressed = self.about
        candidates = pd.DataFrame(self.candidates, columns=["method", "parameters", "loss", "largest", "safe"])
        return Search(
            self.release(), self.loss, len(candidates), self.is_complete or self.loss == 0, method, levels, suppressed,
            candidates, self.judge.threshold,
        )  # fmt: skip


Node = tuple[int, ...]  # the level of every attribute


class _Lattice:
    """The nodes of the generalization lattice: those that were judged, and those of which others decide."""

    def __init__(self, best: Best) -> None:
        self.best, self.heights = best, [len(attribute.codes) for attribute in best.attributes]
        self.top = tuple(height - 1 for height in self.heights)
        self._ncp = [[float(a.ncp(level).mean()) for level in range(len(a.codes))] for a in best.attributes]
        #: Whether all nodes coarser than a safe node are safe.
        self.is_monotone = best.judge.rule is not None and best.suppression == 0
        #: Whether a node is safe, and a lower bound on the loss of the node and of all coarser ones.
        self.judged: dict[Node, tuple[bool, float]] = {}
        self._unsafe = self._safe = np.empty((0, len(self.heights)), dtype=np.int64)

    def ncp(self, node: Node) -> float:
        """Return the normalized certainty penalty of a node; suppression only adds to it."""
        return sum(of_level[level] for of_level, level in zip(self._ncp, node, strict=True)) / len(node)

    def coarser(self, node: Node, start: int = 0) -> list[Node]:
        """Return the nodes that are one level coarser in one attribute, from a given one on."""
        places = (at for at in range(start, len(node)) if node[at] < self.top[at])
        return [(*node[:at], node[at] + 1, *node[at + 1 :]) for at in places]

    def decided(self, node: Node) -> bool | None:
        """Decide by an unsafe coarser node, or by a safe finer one that loses no more; None if neither exists."""
        if not self.is_monotone:
            return None
        if (self._unsafe >= node).all(axis=1).any():
            return False
        return True if self.best.loss_name != "queries" and (self._safe <= node).all(axis=1).any() else None

    def is_safe(self, node: Node) -> bool:
        """Judge a node, unless others decide."""
        answer = self.decided(node)
        if answer is not None:
            return answer
        if node not in self.judged:
            self.judged[node] = self.best.judge_node(np.array(node), self.ncp(node))
            if self.is_monotone and self.judged[node][0]:
                self._safe = np.vstack([self._safe, node])
            elif self.is_monotone:
                self._unsafe = np.vstack([self._unsafe, node])
        return self.judged[node][0]

    def decide(self, node: Node) -> None:
        """Judge a node or, by bisection, nodes on a path to the top: they are unsafe up to one, and safe from there on."""
        path = [node]
        if self.is_monotone and self.decided(node) is None:
            while path[-1] != self.top:  # by the steps of least NCP
                path.append(min(self.coarser(path[-1]), key=self.ncp))
        first, last = 0, len(path) - 1
        while first < last and not self.best.is_over:
            middle = (first + last) // 2
            first, last = (first, middle) if self.is_safe(path[middle]) else (middle + 1, last)
        if not self.best.is_over:
            self.is_safe(path[first])

    def descend(self) -> None:
        """Go from the top to safe finer nodes, one attribute after the other, as long as there are any."""
        node, best = self.top, self.best
        remaining = set(range(len(node))) if not best.is_over and self.is_safe(node) else set()
        while remaining:
            for at in sorted(remaining):
                finer = (*node[:at], node[at] - 1, *node[at + 1 :])
                if node[at] and not best.is_over and self.is_safe(finer):
                    node = finer
                else:
                    remaining.discard(at)


def _generalized(cells: pd.DataFrame, data: Microdata) -> Release:
    """Make the release of generalised cells with the sensitive values of their records."""
    table = cells[list(data.qi)].assign(**{name: data.frame.loc[cells.index, name] for name in data.sa})
    release = Release.from_generalized(table, qi=list(data.qi), sa=list(data.sa))
    assert isinstance(release, Release)
    return release

"""Counts that were published with noise of a known distribution, differentially private ones among them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Literal

import numpy as np
import pandas as pd
import scipy.sparse as sp

from ...errors import StatementError, TableError, arguments, listing, shown, unknown_name
from ...tables.numbers import as_numbers
from ...terms.blocks.block import Block
from ...terms.rows import Rows
from ...terms.space import Space
from ...views import OUTSIDE
from ..base import Source
from .integer_counts import integer_counts
from .noise import Noise, noise_interval, noise_penalty

__all__ = ["NoisyMarginal"]


class NoisyMarginal(Source):
    """noisy - z_high <= N P(by) <= noisy - z_low, z the quantiles of the noise; or the log-likelihood of the noise.

    Parameters
    ----------
    counts : Series
        Noisy numbers of people, indexed by the attributes (their names are the names of the levels): quasi-identifiers
        or sensitive ones. Cells that are left out were not published.
    noise : frozen distribution of scipy.stats
        Of the noise in each of them, ``scipy.stats.laplace(scale=1 / epsilon)`` for instance.
    confidence : float, optional
        Of a box alone: with what probability all rows are true together; None is 0.95. Quantiles leave out
        (1 - confidence) / (2 rows) on each side (Bonferroni). 1 takes the ends of a noise that has some.
    integer : bool, optional
        Of a box alone: True, which None is, too, takes the whole numbers in each interval, as numbers of people are
        whole; False takes the interval as it is.
    how : {"box", "likelihood"}
        "box" requires every count to be within the noise. "likelihood" adds the log-likelihood of the noise to N H(p),
        nats, so that the answer is the maximum a posteriori: a soft row a count. Gaussian noise costs
        (noisy - N P)^2 / (2 scale^2), Laplace noise abs(noisy - N P) / scale, discrete Laplace noise
        a abs(noisy - N P); others are refused.

    Raises
    ------
    TableError, BadProbability, StatementError
        If an argument cannot be read, or the noise has no ends and confidence is 1; with a likelihood, if the noise is
        neither normal nor Laplace around 0, or `confidence` or `integer` is given, which it does not use.
    UnknownName
        When added to a model, if it has no such attribute, or none of its values.

    Notes
    -----
    Of a population (:class:`maxent_cvx.GroupedRelease`) those in the release are counted, not those outside.

    A count that the noise made negative says that few people are there, and is used as it is: nothing is clipped. What
    the interval says beyond 0 and N is left out. Noise beyond the confidence makes the model infeasible, which
    ``model.diagnose()`` tells. A likelihood contradicts nothing; ``post.penalties`` tells what each count costs.
    Private-PGM (McKenna, Sheldon and Miklau, 2019, Graphical-model based estimation and inference for differential
    privacy) minimises a loss alone, and takes the entropy to choose among the minima: for equal noise in all counts
    that is the limit of small noise. Its L2 loss divides by the standard deviation, not by its square.

    Examples
    --------
    Two counts of the hospital's patients, with the noise of a differentially private release: the published buckets
    alone leave a man the flu with a probability from 1/6 to 1/2; with the counts it is 1/3 at least.

    >>> import maxent_cvx as mx, pandas as pd, scipy.stats
    >>> hospital = mx.datasets.load_hospital()
    >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    >>> flu = pd.Series([4.2, -0.7], index=pd.MultiIndex.from_tuples(
    ...     [("male", "Flu"), ("female", "Flu")], names=["Gender", "Disease"]))
    >>> source = mx.NoisyMarginal(flu, scipy.stats.laplace(scale=1), confidence=0.9)
    >>> low, high = mx.MaxEnt(release).add(source).bounds("P(Flu | Gender=male)")
    >>> round(low, 3), round(high, 3)
    (0.333, 0.5)

    The likelihood has one answer, near the noisy counts, and a price for each:

    >>> post = mx.MaxEnt(release).add(mx.NoisyMarginal(flu, scipy.stats.laplace(scale=1), how="likelihood")).solve()
    >>> round(post.prob("Flu", given={"Gender": "male"}), 3), post.penalties.round(2).tolist()
    (0.409, [1.75, 1.25])
    """

    def __init__(
        self,
        counts: pd.Series,
        noise: Noise,
        confidence: float | None = None,
        integer: bool | None = None,
        how: Literal["box", "likelihood"] = "box",
    ) -> None:
        arguments.choice(how, "how", ("box", "likelihood"))
        if not isinstance(counts, pd.Series):
            raise TableError(f"counts must be a pandas Series, indexed by attributes, not {shown(counts)}")
        if isinstance(counts.index, pd.MultiIndex) and counts.index.nlevels == 1:  # as DataFrame.value_counts gives it
            counts = counts.set_axis(counts.index.get_level_values(0))
        labels = list(counts.index.names)
        if not len(counts) or not all(isinstance(name, str) for name in labels) or len(set(labels)) < len(labels):
            raise TableError(
                f"counts must have an entry, and each level of their index the name of another attribute, not {labels}"
            )
        if counts.index.has_duplicates:
            raise TableError(f"counts repeat {listing(counts.index[counts.index.duplicated()])}; one entry a cell")
        as_numbers(counts, "counts")
        self.counts, self.penalty = counts, None
        if how == "likelihood":
            for name, given in (("confidence", confidence), ("integer", integer)):
                if given is not None:
                    raise StatementError(f"{name}= is of how='box'; a likelihood has no use for it: leave it out")
            self.penalty = noise_penalty(noise)
            return
        confidence, self.integer = 0.95 if confidence is None else confidence, integer is None or integer
        arguments.flag(self.integer, "integer")
        self.least, self.most = noise_interval(noise, confidence, len(counts))

    @property
    def label(self) -> str:
        """The attributes that are counted by, and what it costs to miss a count."""
        softly = "" if self.penalty is None else f", softly ({self.penalty})"
        return f"noisy counts by {', '.join(map(str, self.counts.index.names))}{softly}"

    def rows(self, space: Space) -> Iterator[Rows]:
        """Emit a row a cell; a cell without terms emits a hard one only if the noise does not explain its count.

        Parameters
        ----------
        space : Space
            The terms of the model, by which rows are numbered.

        Yields
        ------
        Rows
            low <= P(by) <= high, probabilities; of a likelihood N P(by) ~ noisy, records.

        Raises
        ------
        UnknownName
            If the view has no such attribute, or none of its values.
        StatementError
            If with `integer` no whole number of people is within the noise of a count.

        Examples
        --------
        >>> import maxent_cvx as mx, pandas as pd, scipy.stats
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> flu = pd.Series([4.2], index=pd.MultiIndex.from_tuples([("male", "Flu")], names=["Gender", "Disease"]))
        >>> source = mx.NoisyMarginal(flu, scipy.stats.laplace(scale=1), confidence=0.9)
        >>> (rows,) = source.rows(mx.MaxEnt(release).space)
        >>> rows.name(0), rows.low.round(3).tolist(), rows.high.round(3).tolist()          # from 2 to 6 of 10 people
        ('noisy counts by Gender, Disease: male, Flu', [0.2], [0.6])
        """
        block = self._block(space)
        noisy = self.counts.to_numpy(dtype=float)
        at = block.index.get_indexer(self.counts.index)
        known = np.flatnonzero(at >= 0)
        pick = sp.csr_array((np.ones(len(known)), (known, at[known])), shape=(len(at), len(block)))
        matrix = sp.csr_array(pick @ block.matrix)
        if self.penalty is not None:
            matrix, index = matrix * float(space.n_records), self.counts.index
            yield Rows(matrix, noisy, noisy.copy(), self.label, index, space.view, penalty=self.penalty)
            return
        low, high = noisy - self.most, noisy - self.least
        if self.integer:
            low, high = integer_counts(low, high, self.counts.index, "within the noise of")
        low, high = np.where(low > 0, low, -np.inf), np.where(high < space.n_records, high, np.inf)
        said = np.where(at >= 0, np.isfinite(low) | np.isfinite(high), np.isfinite(low) | (high < 0))
        share = 1 / space.n_records
        rows = Rows(matrix, low * share, high * share, self.label, self.counts.index, space.view)
        yield rows.at(np.flatnonzero(said))

    def _block(self, space: Space) -> Block:
        """P(by), of those in the release."""
        view, names = space.view, [str(name) for name in self.counts.index.names]
        if strangers := [name for name in names if name not in view.columns]:
            raise unknown_name(f"attribute of the {view.noun}", strangers[0], view.columns)
        block = space.marginal(names)
        for name in names:
            found, there = self.counts.index.get_level_values(name), block.index.get_level_values(name)
            if not found.isin(there).any():
                raise unknown_name(f"value of {name!r}", found[0], there.unique())
        inside = np.asarray(view.sensitive_values.to_flat_index() != OUTSIDE)[space.codes["s"]]  # of a population
        return replace(block, matrix=sp.csr_array(block.matrix @ sp.diags_array(inside.astype(float))))

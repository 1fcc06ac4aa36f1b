"""What an adversary knows: what a view publishes, and labelled sources, which are added and removed."""

from __future__ import annotations

import copy
import itertools
from functools import cached_property
from io import BytesIO
from os import PathLike
from typing import Any, Self

import numpy as np
import pandas as pd

from ..errors import DuplicateLabel, StatementError, TableError, arguments, shown
from ..priors import QIDistribution
from ..solvers.program.linear_form import LinearForm
from ..solvers.program.problem import Problem
from ..sources import NamedPeople, PriorZeros, PublishedRows, Source, as_source, published_sources, read_statement
from ..system.files import path_of, write_beside
from ..terms.people import People
from ..terms.space import Space
from ..views import View
from .emitted_rows import StoredSource, emit
from .knowledge_base import KnowledgeBase
from .labelling import new_label
from .row_blocks import RowBlocks
from .storage.checksum import decoding, read_verified, verified
from .storage.models import WRITER, StoredModel, read_model, sealed_model
from .storage.same_system import same_system

__all__ = ["Adversary"]


class Adversary:
    """Sources over one space, by label: facts, the hard constraints of what is published, and knowledge of any kind.

    Parameters
    ----------
    view : View
    people : People
        Who is known by name.
    prior : QIDistribution, optional
        What is believed before anything is published, of one attribute set.
    published : tuple of Source, optional
        What the view says, as :func:`published_sources` gives it.
    """

    def __init__(
        self,
        view: View,
        people: People,
        prior: QIDistribution | None = None,
        published: tuple[PublishedRows, *tuple[Source, ...]] | None = None,
    ) -> None:
        self.view = view
        self.prior = prior
        self.invariants: PublishedRows
        self.invariants, *others = published_sources(view) if published is None else published
        self.space = Space.of(view, people, prior)
        self.facts: list[Source] = [self.invariants, *others, *[NamedPeople()][: len(people)]]
        if len({fact.label for fact in self.facts}) < len(self.facts):
            raise DuplicateLabel(f"two sources of what a {type(view).__name__} says have one label; give each its own")
        emitted = {fact.label: emit(fact, self.space) for fact in self.facts}
        if prior is not None and (self.space.prior == 0).any():  # type: ignore[union-attr]
            zeros = PriorZeros(prior.attribute_set())
            emitted[zeros.label] = emit(zeros, self.space, zeros.label)
        self._held = KnowledgeBase.of(self.space, tuple(self.facts), emitted)

    def add(self, *sources: Any, label: str | None = None) -> Self:
        """Add what the adversary knows; nothing is added if anything is wrong with it.

        Parameters
        ----------
        *sources
            Statements (``P("Flu", given={"Gender": "male"}) <= 0.3``, or as text,
            ``"P(Flu | Gender=male) <= 0.3"``), sources such as
            :class:`~maxent_cvx.StrongestAssociations`, rows (``model.space.marginal(...) == series``),
            CVXPY constraints on ``model.space.p``, or functions from the space to any of these.
        label : str, optional
            The name to hold it under (one source at a time). By default a statement's own text.

        Returns
        -------
        MaxEnt
            The model itself.

        Raises
        ------
        DuplicateLabel
            If other knowledge has the label.
        UnknownName, StatementError, BadProbability, LabelMismatch
            If a source does not fit the view.

        Warns
        -----
        RepeatedStatement
            If the model holds the same knowledge already; then nothing changes.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> model = mx.MaxEnt(release)
        >>> model = model.add("P(Breast Cancer | Gender=male) = 0", mx.P("Flu", given={"Gender": "male"}) <= 0.4)
        >>> model = model.add(lambda space: space.conditional("s", given="q") <= 0.9, label="nobody is sure")
        >>> list(model.knowledge)
        ['P(Breast Cancer | Gender=male) = 0', 'P(Flu | Gender=male) <= 0.4', 'nobody is sure']
        """
        if label is not None and (not isinstance(label, str) or not label):
            raise StatementError(f"label={shown(label)}: a label is a text, to be shown in tables and errors")
        if label is not None and len(sources) != 1:
            raise StatementError(f"label={label!r} names one piece of knowledge, and {len(sources)} are given")
        base = self._base.draft()
        for given in sources:
            source = read_statement(given) if isinstance(given, str) else as_source(given)
            emitted = emit(source, self.space, label)
            if (name := new_label(base, emitted, label)) is not None:
                is_numbered = label is None and name != source.label  # "your own (2)"
                base.hold(name, emitted.named(name) if is_numbered and base.calls_like(emitted) else emitted)
        self._hold(base)
        return self

    def remove(self, label: str) -> Self:
        """Take a source out by its label; returns the model itself.

        Parameters
        ----------
        label : str
            One of ``model.knowledge``.

        Returns
        -------
        MaxEnt
            The model itself.

        Raises
        ------
        UnknownName
            If no knowledge has the label: what is published cannot be taken out.
        StatementError
            If it is what the prior rules out.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> model = mx.MaxEnt(release).add("P(Flu | Gender=male) = 0.4", label="rumour")
        >>> model.remove("rumour")
        <MaxEnt: 27 terms, 18 rows from 1 source>
        """
        arguments.known_label(label, "label of the model's knowledge", self.knowledge)
        if isinstance(self.knowledge[label], PriorZeros):
            raise StatementError("the prior is no knowledge that comes and goes; make a model without prior=")
        self._hold(self._base.without(label))
        return self

    def copy(self) -> Self:
        """Copy the model; sources are shared, and adding to one copy leaves the other alone.

        Returns
        -------
        MaxEnt

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> model = mx.MaxEnt(release).add("P(Breast Cancer | Gender=male) = 0")
        >>> more = model.copy().add("P(Flu | Gender=male) <= 0.4")
        >>> len(model.knowledge), len(more.knowledge)
        (1, 2)
        """
        twin = copy.copy(self)  # everything held is immutable
        twin._hold(self._base)
        return twin

    def without_row(self, row: int) -> Self:
        """Copy the model without one row of its knowledge, by its number among the rows of `form`.

        Parameters
        ----------
        row : int
            From ``model.form.n_facts`` on: rows before it are published.

        Returns
        -------
        MaxEnt

        Raises
        ------
        StatementError
            If it is no number of such a row.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> model = mx.MaxEnt(release).add("P(Flu | Gender=male) <= 0.4", "P(HIV | Gender=male) >= 0.1")
        >>> list(model.without_row(model.form.n_facts).knowledge)
        ['P(HIV | Gender=male) >= 0.1']
        """
        n_facts, n_rows = self.form.n_facts, self.form.shape[0]
        if n_rows == n_facts:
            raise StatementError("the model holds no rows of knowledge, so that there is none to leave out")
        row = arguments.whole(row, "row", n_facts, n_rows - 1)
        twin = self.copy()
        twin._hold(self._base.without_row(row))
        return twin

    def save(self, path: str | PathLike[str]) -> None:
        """Write the model to a file, for :meth:`load`: what is published, people, the prior, and all knowledge.

        Knowledge is stored as its rows, by its labels, so that the model that is loaded has the same answer to the last
        digit. Statements come back as statements; what was a function, or any other source, comes back as the rows that
        it emitted, and what depends on CVXPY parameters as it is now. The file replaces one that is there when it is
        complete and was read again and compared, and it holds a checksum, by which any change is found.

        Parameters
        ----------
        path : str or path

        Raises
        ------
        StatementError
            If the model holds a convex constraint of CVXPY, which no file can hold; the message says what to do.
        TableError
            If labels would not come back from a file as they are, or if the file cannot be written; what was there
            before is unchanged.

        Examples
        --------
        >>> import maxent_cvx as mx, pathlib, tempfile
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> model = mx.MaxEnt(release).add("P(Flu | Gender=male) = 0.3")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     model.save(pathlib.Path(folder, "model.parquet"))
        ...     again = mx.MaxEnt.load(pathlib.Path(folder, "model.parquet"))
        >>> list(again.knowledge), (again.solve().counts == model.solve().counts).all().item()
        (['P(Flu | Gender=male) = 0.3'], True)
        """
        found = path_of(path)
        data = sealed_model(self.space, self.prior, self._base.knowledge)
        again = self._made_of(read_model(verified(BytesIO(data), "what was written", WRITER), "what was written"))
        if not same_system(self.form, again.form):
            raise TableError(
                f"the model of this {self.view.noun} would not come back from the file as it is; report this, with "
                "the types of its columns"
            )
        write_beside(found, lambda draft: draft.write_bytes(data))

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Self:
        """Read a model that :meth:`save` wrote.

        Parameters
        ----------
        path : str or path

        Returns
        -------
        MaxEnt

        Raises
        ------
        TableError
            If the file is not one, or not as it was written: damaged, cut, or edited; if it is of a view of one's own
            whose class is not defined here. The checksum is not a signature: a forged file is a model like any other.

        Examples
        --------
        >>> import maxent_cvx as mx, pathlib, tempfile
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> model = mx.MaxEnt(release).add(lambda space: space.conditional("s", given="q") <= 0.9)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     model.save(pathlib.Path(folder, "model.parquet"))
        ...     again = mx.MaxEnt.load(pathlib.Path(folder, "model.parquet"))
        >>> again.add("P(HIV | Gender=male) <= 0.3").describe()[["source", "rows"]].iloc[1:].values.tolist()
        [['Custom', 22], ['Statement', 1]]
        """
        stored, what = read_verified(path, WRITER), repr(str(path_of(path)))
        parts = read_model(stored, what)
        with decoding(what, "make the model again"):
            model = cls._made_of(parts)
            model.form  # noqa: B018 - rows that do not fit together are found here
        return model

    @classmethod
    def _made_of(cls, parts: StoredModel) -> Self:
        """Make a model of its parts."""
        model = object.__new__(cls)
        Adversary.__init__(model, parts.view, parts.people, parts.prior)
        own = model._base.emitted
        facts = {fact.label: own[fact.label] for fact in model.facts}
        knowledge = {label: entry or own[label] for label, entry in parts.entries(model.space).items()}
        model._hold(KnowledgeBase.of(model.space, tuple(model.facts), facts | knowledge))
        return model

    def _hold(self, base: KnowledgeBase) -> None:
        """Hold other sources, and forget what a subclass has derived from those before."""
        self._held = base
        for name in [name for name in vars(self) if isinstance(getattr(type(self), name, None), cached_property)]:
            delattr(self, name)

    @property
    def _base(self) -> KnowledgeBase:
        """What is held, at the values that CVXPY parameters have now."""
        if (now := self._held.at_parameters()) is not self._held:
            self._hold(now)
        return self._held

    def at_rest(self) -> Self:
        """Copy the model as it is; a CVXPY parameter that gets another value does not change the copy.

        Returns
        -------
        MaxEnt

        Examples
        --------
        >>> import cvxpy as cp, maxent_cvx as mx
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> rumour = cp.Parameter(value=0.3, name="rumour")
        >>> model = mx.MaxEnt(release).add(mx.P("Flu", given={"Gender": "male"}) == rumour)
        >>> before = model.at_rest()
        >>> rumour.value = 0.4
        >>> [round(one.solve().prob("Flu", given={"Gender": "male"}), 6) for one in (before, model)]
        [0.3, 0.4]
        """
        twin = copy.copy(self)
        twin._hold(self._base.at_rest())
        return twin

    @property
    def knowledge(self) -> dict[str, Source]:
        """What the adversary knows beyond the published view, by label; what a prior rules out, first."""
        return {label: emitted.source for label, emitted in self._base.knowledge.items()}

    def describe(self) -> pd.DataFrame:
        """List the sources.

        Returns
        -------
        DataFrame
            A row a source, by label: its kind, how many rows it emits, how many terms they touch, and
            a note on rows that touch none (such a row is true of any distribution, or contradictory), and on what it
            costs to miss soft ones.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> print(mx.MaxEnt(release).add("P(Flu | Gender=male) = 0.4").describe())
                                              source  rows  terms note
        label
        published buckets           BucketInvariants    18     27
        P(Flu | Gender=male) = 0.4         Statement     1      3
        """
        found = []
        for entry in self._base.emitted.values():
            touched = np.concatenate([np.empty(0, int), *(rows.matrix.indices for rows in entry.rows)])
            empty = sum(int((np.diff(rows.matrix.indptr) == 0).sum()) for rows in entry.rows)
            costs = dict.fromkeys(f"soft: {rows.penalty}" for rows in entry.rows if rows.penalty is not None)
            none = f"{empty} redundant: no such record can exist" * bool(empty)
            notes = [none, "convex" * bool(entry.convex), *itertools.islice(costs, 3), "..." * (len(costs) > 3)]
            n_rows = sum(map(len, entry.rows))
            kind = entry.source.kind if isinstance(entry.source, StoredSource) else type(entry.source).__name__
            found.append((kind, n_rows, len(np.unique(touched)), "; ".join(filter(None, notes))))
        index = pd.Index(list(self._base.emitted), name="label")
        return pd.DataFrame(found, columns=["source", "rows", "terms", "note"], index=index)

    @property
    def form(self) -> LinearForm:
        """All rows as one sparse system over records."""
        return self._base.form

    @property
    def posed(self) -> Problem:
        """The optimization problem: the rows, the closed form of the published ones, QI tuples, convex constraints."""
        return self._base.posed

    @property
    def blocks(self) -> RowBlocks:
        """The rows as the sources emitted them, in the order of :attr:`form`."""
        return self._base.blocks

    @property
    def ruled_out(self) -> range:
        """The rows of `form` that say what the prior rules out; without them the prior would be another one."""
        return self._base.ruled_out

    @property
    def convex(self) -> list[Any]:
        """Constraints of the user's own that are convex and not affine."""
        return self._base.convex

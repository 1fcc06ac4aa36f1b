"""What every view promises."""

from __future__ import annotations

import tempfile
from collections.abc import Hashable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..errors import MaxEntError, StatementError, TableError, arguments
from ..model.loading import load_posterior
from ..model.maxent import MaxEnt
from ..model.posterior import Posterior
from ..views import View
from .source import check_source

__all__ = ["check_view"]


def check_view(view: View, truth: pd.DataFrame | None = None, id: str | None = None) -> None:
    """Check the contract of a kind of published data; an :exc:`AssertionError` says what is broken.

    1. Its class has a docstring and a `noun`; its roles have columns, "q" and "s" first, and no label twice.
    2. :meth:`maxent_cvx.View.terms` numbers terms by labels that there are, each term once, sorted by bucket, if any,
       then q, then s; everybody has a term; asked twice it says the same.
    3. The counts of `published` are not negative, and agree with `n_q`, `n_s` and N; whoever is counted has a term.
    4. :meth:`maxent_cvx.View.named` and :meth:`maxent_cvx.View.described` give None or a mark for every QI tuple.
    5. A model takes it and is solved to a certificate, and what it says keeps :func:`check_source`: it is true of the
       original records, if these are given.
    6. If it can be written as tables (``to_frames``), it comes back as it was, and so does a posterior that is saved.

    Parameters
    ----------
    view : View
        One that you wrote, with some data.
    truth : DataFrame, optional
        The original records with all columns that play a role.
    id : str, optional
        Their column of names, if the view names people.

    Raises
    ------
    AssertionError
        If a part of the contract is broken; which, it says.
    StatementError
        If `view` is no View.
    UnknownName, TableError
        If the original records lack a column, or are not the people of the view.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> hospital = mx.datasets.load_hospital()
    >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    >>> mx.testing.check_view(release, truth=hospital)                       # keeps its promises
    >>> class Backwards(mx.QITable):
    ...     "A table whose terms are in another order."
    ...     def terms(self):
    ...         return {role: codes[::-1] for role, codes in super().terms().items()}
    >>> try:
    ...     mx.testing.check_view(Backwards(hospital, qi="Gender", sa="Disease", sa_values=["Flu", "HIV"]))
    ... except AssertionError as error:
    ...     print(error)
    Backwards.terms are not sorted by q, s, at term 1
    """
    arguments.instance(view, View, "view")
    name = type(view).__name__
    assert type(view).__doc__, f"{name} has no docstring of its own; open it with what is published"
    assert isinstance(view.noun, str), f"{name}.noun is {view.noun!r}, not what it is called in messages"
    assert view.noun, f"{name}.noun is empty; it is what the view is called in messages"
    _check_roles(view, name)
    _check_terms(view, name)
    _check_published(view, name)
    _check_marks(view, name)
    try:
        model = MaxEnt(view)
    except (StatementError, TableError) as error:
        raise AssertionError(f"no model takes the {view.noun}: {error}") from error
    for fact in model.facts:
        check_source(fact, model.space, truth, id)
    try:
        post = model.solve()
    except MaxEntError as error:
        raise AssertionError(f"what the {view.noun} says by itself has no answer: {error}") from error
    _check_storage(view, name, post)


def _check_roles(view: View, name: str) -> None:
    """Columns and labels of every role."""
    assert list(view.axes)[:2] == ["q", "s"], f"{name}.axes begin with {list(view.axes)[:2]}, not with q, s"
    for role, (columns, labels) in view.axes.items():
        named = isinstance(columns, tuple) and all(isinstance(column, Hashable) for column in columns)
        assert named, f"{name}.axes: the columns of {role} are {columns!r}, not a tuple of names"
        assert isinstance(labels, pd.Index), f"{name}.axes: the labels of {role} are a {type(labels).__name__}"
        assert not labels.has_duplicates, f"{name}.axes: a label of {role} is there twice"
    for role, counts, labels in (("q", view.n_q, view.quasi_identifiers), ("s", view.n_s, view.sensitive_values)):
        if counts is None and role == "s":
            continue
        is_counts = isinstance(counts, np.ndarray) and counts.shape == (len(labels),) and counts.dtype.kind in "iu"
        assert is_counts, f"{name}.n_{role} must be an array of {len(labels)} whole numbers, one a label"
        assert (np.asarray(counts) >= 0).all(), f"{name}.n_{role} has a negative count"
    assert view.n_records > 0, f"{name}.n_q counts nobody"


def _check_terms(view: View, name: str) -> None:
    """Each term once, of labels that there are, in order, everybody with one, and the same again."""
    terms, again = view.terms(), view.terms()
    assert set(terms) == set(view.axes), f"{name}.terms are of {sorted(terms)}; its axes are {sorted(view.axes)}"
    sizes = {role: np.shape(codes) for role, codes in terms.items()}
    assert len(set(sizes.values())) == 1, f"{name}.terms has codes of several lengths: {sizes}"
    for role, codes in terms.items():
        n = len(view.axes[role][1])
        is_codes = isinstance(codes, np.ndarray) and codes.ndim == 1 and codes.dtype.kind in "iu"
        assert is_codes, f"{name}.terms: codes of {role} must be an array of whole numbers"
        assert ((codes >= 0) & (codes < n)).all(), f"{name}.terms: a code of {role} is not from 0 to {n - 1}"
        assert np.array_equal(codes, again[role]), f"{name}.terms are others when asked again"
    order = [*(role for role in terms if role not in ("q", "s")), "q", "s"]
    rows = np.column_stack([terms[role] for role in order]).astype(np.int64)
    step = np.diff(rows, axis=0)
    first = np.take_along_axis(step, (step != 0).argmax(axis=1)[:, None], axis=1).ravel()
    assert (first != 0).all(), f"{name}.terms has a term twice, at term {np.flatnonzero(first == 0)[0] + 1}"
    down = np.flatnonzero(first < 0)
    assert not len(down), f"{name}.terms are not sorted by {', '.join(order)}, at term {down[0] + 1}"
    without = np.flatnonzero((view.n_q > 0) & ~np.isin(np.arange(len(view.n_q)), terms["q"]))
    assert not len(without), f"{name}.terms has none for {len(without)} QI tuples that somebody has"


def _check_published(view: View, name: str) -> None:
    """Counts agree with each other, and nobody is counted where no term is."""
    terms = view.terms()
    for by, counts in view.published.items():
        about = f"{name}.published[{', '.join(map(repr, by))}]"
        assert isinstance(counts, pd.Series), f"{about} is a {type(counts).__name__}, not a Series"
        assert not counts.index.has_duplicates, f"{about} has a label twice"
        assert np.isfinite(counts).all(), f"{about} has a count that is no number"
        assert (counts >= 0).all(), f"{about} has a negative count"
        if not set(by) <= set(view.axes):  # by columns, which a model checks
            continue
        labels = _labels(view, by, counts)
        there = pd.MultiIndex.from_arrays([terms[role] for role in by]).unique()
        held = pd.MultiIndex.from_arrays([codes[counts.to_numpy() > 0] for codes in labels])
        assert held.isin(there).all(), f"{about} counts somebody where there is no term"
        for role, total in (("q", view.n_q), ("s", None if "q" in by else view.n_s)):
            if role in by and total is not None:
                found = np.bincount(labels[by.index(role)], counts, len(total))
                assert np.array_equal(found, total), f"{about} does not add up to n_{role}"


def _labels(view: View, by: tuple[str, ...], counts: pd.Series) -> list[np.ndarray]:
    """Codes of the labels of a published table, role by role."""
    found, level = [], 0
    for role in by:
        labels = view.axes[role][1]
        n = labels.nlevels if counts.index.nlevels > 1 else 1
        levels = [counts.index.get_level_values(i) for i in range(level, level + n)]
        own = pd.MultiIndex.from_arrays(levels) if labels.nlevels > 1 and n > 1 else levels[0]
        if isinstance(labels, pd.MultiIndex) and not isinstance(own, pd.MultiIndex):
            labels = labels.get_level_values(0)
        codes = labels.get_indexer(own)
        assert (codes >= 0).all(), f"{type(view).__name__}.published has a label of {role} that is not among its labels"
        found.append(codes)
        level += n
    return found


def _check_marks(view: View, name: str) -> None:
    """What marks people gives a mark for each QI tuple, or None, or refuses."""
    first = [view.quasi_identifiers.get_level_values(i)[0] for i in range(view.quasi_identifiers.nlevels)]
    asked: Iterable[tuple[str, Any, tuple[Any, ...]]] = [
        ("named", view.named, ("nobody has this name",)),
        *(("described", view.described, (column, value)) for column, value in zip(view.qi, first, strict=False)),
        ("described", view.described, ("no such attribute", 1)),
    ]
    for method, function, given in asked:
        try:
            marks = function(*given)
        except MaxEntError:
            continue
        shape = np.shape(marks)
        fits = marks is None or (shape == (len(view.n_q),) and np.asarray(marks).dtype == bool)
        assert fits, f"{name}.{method}{given} gives neither None nor {len(view.n_q)} times True or False"


def _check_storage(view: View, name: str, post: Posterior) -> None:
    """Written and read again it is the same, if it can be written."""
    if not hasattr(view, "to_frames"):
        return
    try:
        frames = view.to_frames()
    except TableError:  # which says that this one cannot
        return
    try:
        twin = type(view).from_frames(frames)
        _check_same(view, twin, f"{name}.from_frames(view.to_frames())")
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "posterior.parquet"
            post.save(file)
            loaded = load_posterior(file)
    except AssertionError:
        raise
    except Exception as error:  # of the author's own code
        raise AssertionError(f"a {name} cannot be written and read again: {type(error).__name__}: {error}") from error
    _check_same(view, loaded.space.view, f"a {name} that is saved and loaded")
    assert np.array_equal(loaded.counts, post.counts), f"a posterior of a {name} has other counts when saved and loaded"


def _check_same(view: View, twin: View, what: str) -> None:
    """The same class, labels, terms and published counts."""
    assert type(twin) is type(view), f"{what} is a {type(twin).__name__}"
    for role, (columns, labels) in view.axes.items():
        same = role in twin.axes and twin.axes[role][0] == columns and twin.axes[role][1].equals(labels)
        assert same, f"{what} has other labels of {role}"
    terms, others = view.terms(), twin.terms()
    assert all(np.array_equal(terms[role], others[role]) for role in terms), f"{what} has other terms"
    assert _equal(view.published, twin.published), f"{what} has other published counts"


def _equal(first: Mapping[tuple[str, ...], pd.Series], second: Mapping[tuple[str, ...], pd.Series]) -> bool:
    return set(first) == set(second) and all(counts.equals(second[by]) for by, counts in first.items())

"""A problem in memory as partitions of whole buckets, for the solver of partitions."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from maxent_cvx.solvers.columns import SplitMatrix
from maxent_cvx.solvers.existence import residues, residues_of_fraction
from maxent_cvx.solvers.form import ClosedForm, Groups, LinearForm, Problem
from maxent_cvx.solvers.partitions import Part


class NamesOfSome:
    """The names of some rows of a form, numbered from 0."""

    def __init__(self, form: LinearForm, rows: np.ndarray) -> None:
        self.form, self.numbers, self.starts = form, rows, np.array([0, len(rows)])

    def name(self, row: int) -> str:
        return self.form.name(int(self.numbers[row]))

    def remedy(self, row: int) -> str:
        return self.form.remedy(int(self.numbers[row]))


class RowsAsTyped:
    """The rows of knowledge of some terms, modulo a prime, from what the whole problem knows of them."""

    def __init__(self, form: LinearForm, terms: np.ndarray) -> None:
        self.form, self.terms = form, terms

    def residues(self, rows: np.ndarray, prime: int) -> sp.csr_array:
        numbers = rows + self.form.n_published
        parts = []
        for place, row in enumerate(numbers.tolist()):
            if self.form.origin is None or not self.form.coefficient_error[row]:
                own = self.form.rows(np.array([row]))
                parts.append((np.full(own.nnz, place), own.indices, residues(own.data, prime)))
                continue
            for a, at in self.form.origin.coefficients(row):
                parts.append((np.full(len(at), place), at, np.full(len(at), residues_of_fraction(a, prime))))
        row, term, value = (np.concatenate(some) for some in zip(*parts, strict=True))
        matrix = sp.csr_array((value, (row, term)), shape=(len(rows), self.form.shape[1]))
        matrix.data %= prime
        return sp.csr_array(matrix[:, self.terms])


def parted(problem: Problem, of_bucket: np.ndarray) -> tuple[list[Part], LinearForm, list[np.ndarray]]:
    """The parts of a problem, its rows of knowledge without terms, and the terms of each part.

    Parameters
    ----------
    problem : Problem
        All of whose facts are published rows.
    of_bucket : ndarray of int
        The partition of every connected component of the published rows.
    """
    form, (counts, multipliers), groups = problem.form, problem.closed_form, problem.groups
    of_row, of_term = (of_bucket[bucket] for bucket in form.bucket)
    known = np.arange(form.n_published, form.shape[0])
    parts, places = [], []
    for i in range(int(of_bucket.max(initial=-1)) + 1):
        rows, terms = np.flatnonzero(of_row == i), np.flatnonzero(of_term == i)
        own = form.select(np.concatenate([rows, known])).select_terms(terms)
        q, numbers = np.unique(groups.of_term[terms], return_inverse=True)
        parts.append(
            Part(
                replace(own, penalties=None, origin=None), ClosedForm(counts[terms], multipliers[rows]),
                Groups(numbers, groups.records[q]), q, RowsAsTyped(form, terms),
            )
        )  # fmt: skip
        places.append(terms)
    selected = form.select(known)
    empty = SplitMatrix(sp.csr_array((0, 0)), selected.known.columns(np.arange(0)))
    names: Any = NamesOfSome(form, known)
    return parts, replace(selected, coefficients=empty, weights=np.ones(0), origin=names, n_facts=0), places

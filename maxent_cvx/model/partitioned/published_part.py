"""What one partition publishes: its rows, the answer to them alone, and the groups that are asked about."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from ...errors import StatementError
from ...solvers.program.problem import ClosedForm, Groups
from ...solvers.rows.sparse import compact
from ...sources import BucketInvariants
from ...terms.partitioned.part_space import PartSpace
from ...terms.partitioned.surroundings import Surroundings
from ...terms.people import People
from ...terms.space import Space
from ...views.partitioned.release_part import ReleasePart

__all__ = ["check_buckets", "groups_of", "own_space", "published_rows"]


def check_buckets(part: ReleasePart) -> None:
    """Check that a partition can be solved apart from others.

    Raises
    ------
    StatementError
        If it has counterfeit values.
    """
    if part.with_counterfeits.any():
        raise StatementError(
            "a release in partitions has buckets with more values than people; counterfeits are solved in memory: "
            "make one Release of it"
        )


def own_space(part: ReleasePart, surroundings: Surroundings) -> Space:
    """The terms of a partition alone; of named people, all have their numbers in the whole."""
    around = PartSpace.around(part, surroundings)
    codes = {role: code[: around.n_own] for role, code in around.codes.items()}
    people, n = around.people, len(part.quasi_identifiers)
    return Space(part, People(people.names, people.q, people.unnamed[:n]), codes)


def published_rows(part: ReleasePart, space: Space) -> tuple[sp.csr_array, np.ndarray]:
    """The rows of :class:`maxent_cvx.BucketInvariants`, in their order, over counts: each term is in two of them.

    Returns
    -------
    csr_array
        Entries of 1.
    ndarray
        The sides, records.
    """
    n_qb, n_sb = part.n_qb, part.n_sb
    qb, sb = (
        sp.csr_array((np.arange(table.nnz), table.indices, table.indptr), shape=table.shape).tocsc()
        for table in (n_qb, n_sb)
    )
    q, s, b = (space.codes[role] for role in ("q", "s", "bucket"))
    shape = n_qb.nnz + n_sb.nnz, len(space)
    rows = np.concatenate([_entry(qb, q, b), n_qb.nnz + _entry(sb, s, b)]).astype(np.int32)
    terms = np.tile(np.arange(len(space), dtype=np.int32), 2)
    matrix = sp.coo_array((np.ones(len(rows), dtype=bool), (rows, terms)), shape=shape).tocsr()
    matrix.sort_indices()
    matrix = sp.csr_array((np.ones(matrix.nnz), matrix.indices, matrix.indptr), shape=shape)
    return compact(matrix), np.concatenate([n_qb.data, n_sb.data]).astype(float)


def _entry(table: sp.csc_array, row: np.ndarray, column: np.ndarray) -> np.ndarray:
    """The data of a table at some places, all of which are there: its columns are short."""
    n = int(np.int64(table.shape[0]))
    of_column = np.repeat(np.arange(table.shape[1]), np.diff(table.indptr))
    keys = of_column * n + table.indices  # ascending
    return table.data[np.searchsorted(keys, column * n + row)]


def groups_of(part: ReleasePart, space: Space, n_tuples: int) -> tuple[Groups, np.ndarray]:
    """The groups of a partition's terms, and their numbers in the whole: of QI tuples, then of named people.

    Parameters
    ----------
    part : ReleasePart
    space : Space
        Its own terms.
    n_tuples : int
        QI tuples of the whole.
    """
    q = space.codes["q"]
    if not len(space.people):
        return Groups(q.astype(np.int32), part.n_q), part.q_numbers
    who, n = space.codes["who"], len(space.people)
    of_term, records = space.groups
    number = np.empty(len(records), dtype=np.int64)
    number[of_term] = np.where(who < n, n_tuples + who, part.q_numbers[q])
    return Groups(of_term.astype(np.int32), records), number


def closed_form(part: ReleasePart, space: Space) -> ClosedForm:
    """The answer where nothing is known but what is published."""
    return ClosedForm(*BucketInvariants(part).closed_form(space))

"""The problem of a model in partitions: a part in every partition, and the shared rows on the driver."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from ...solvers.partitioned.part import Part
from ...solvers.program.linear_form import LinearForm
from ...solvers.program.shared_columns import SharedColumns
from ...solvers.program.split_matrix import SplitMatrix
from ...solvers.rows.sparse import with_shared_ones
from ...sources import Statement
from ...terms.partitioned.surroundings import Surroundings
from ...terms.rows import Rows
from ...views.partitioned.release_part import ReleasePart
from ..row_blocks import RowBlocks
from ..stacking import penalties, rounding_errors, sides
from .divisible import check_divisible
from .published_part import check_buckets, closed_form, groups_of, own_space, published_rows
from .shared_rows import RawColumns, Sizes, emitted_columns, larger
from .told_source import ToldSource, in_order
from .whole import Whole

__all__ = ["PosedInParts", "posed_in_parts"]


@dataclass(frozen=True, eq=False)
class PosedInParts:
    """What is to be solved, partition by partition.

    Attributes
    ----------
    parts : list
        Handles, one a partition, of :class:`~maxent_cvx.solvers.partitioned.part.Part`.
    shared : LinearForm
        The shared rows, over no terms: sides, scale, names, costs.
    """

    parts: list[Any]
    shared: LinearForm


def posed_in_parts(whole: Whole, facts: Sequence[ToldSource], knowledge: Sequence[ToldSource]) -> PosedInParts:
    """Emit all sources in every partition, and scale their rows alike.

    Parameters
    ----------
    whole : Whole
    facts, knowledge : sequence of ToldSource
        The facts beside what is published, and what is known.

    Raises
    ------
    StatementError
        If a source says other things of different partitions.
    """
    sources = [*facts, *knowledge]
    around = {columns: whole.surroundings(columns) for columns in {frozenset(), *(one.columns for one in sources)}}
    order = in_order(sources, len(facts))
    map_, reduce = whole.executor.map, whole.executor.reduce
    if own := [one for one in sources if not one.patterns and not isinstance(one.source, Statement)]:
        whole.executor.gather(map_(check_divisible, whole.parts[:1], common=(own, around)))
    raw = map_(emitted_columns, whole.parts, common=([one.sent for one in sources], around, order))
    sizes = reduce(larger, map_(RawColumns.sizes, raw))
    told = [one.without_terms for one in sources]
    shared = shared_form(told[: len(facts)], told[len(facts) :], sizes, whole.release.n_records)
    n_tuples = len(whole.release.quasi_identifiers)
    common = (replace(shared, origin=None), sizes, around[frozenset()], n_tuples)
    return PosedInParts(map_(part_of_problem, whole.parts, raw, common=common), shared)


def shared_form(
    facts: Sequence[ToldSource], knowledge: Sequence[ToldSource], sizes: Sizes, n_records: int
) -> LinearForm:
    """The shared rows over no terms; see :func:`~maxent_cvx.model.stacking.stacked`, which does the same in memory."""
    first, known = ([rows for one in some for rows in one.rows] for some in (facts, knowledge))
    known.sort(key=lambda rows: rows.penalty is not None)
    blocks: list[Rows] = [*first, *known]
    n_facts, n_rows = sum(map(len, first)), sum(map(len, blocks))
    scale, is_fact = n_records / sizes.largest, np.arange(n_rows) < n_facts
    low, high = sides(blocks, scale, is_fact)
    side_error, coefficient_error = rounding_errors(low, high, sizes.mixed, is_fact, n_records)
    matrix = SplitMatrix(sp.csr_array((0, 0)), SharedColumns(sp.csr_array((n_rows, 0))))
    return LinearForm(
        matrix, low, high, scale, RowBlocks(blocks, len(first)), 0, n_facts, np.empty(0), side_error=side_error,
        coefficient_error=coefficient_error, penalties=penalties(known, scale),
    )  # fmt: skip


def part_of_problem(
    part: ReleasePart, raw: RawColumns, shared: LinearForm, sizes: Sizes, surroundings: Surroundings, n_tuples: int
) -> Part:
    """The published rows of a partition, and below them its columns of the shared rows.

    Parameters
    ----------
    part : ReleasePart
    raw : RawColumns
    shared : LinearForm
        Without names.
    sizes : Sizes
        Of all partitions.
    surroundings : Surroundings
        Those that know who is named.
    n_tuples : int
        QI tuples of the whole.
    """
    check_buckets(part)
    space = own_space(part, surroundings)
    published, records = published_rows(part, space)
    n, zeros, ones = len(records), np.zeros(len(records)), np.ones(len(records))
    published = with_shared_ones(published)
    known = raw.scaled(sizes.largest, sizes.largest_typed)
    form = LinearForm(
        SplitMatrix(published, known),
        np.concatenate([records, shared.low]),
        np.concatenate([records, shared.high]),
        np.concatenate([part.n_records * ones, shared.scale]),
        None,
        n,
        n + shared.n_facts,
        space.weights,
        side_error=np.concatenate([zeros, shared.side_error]),
        coefficient_error=np.concatenate([zeros, shared.coefficient_error]),
        penalties=shared.penalties,
    )
    groups, numbers = groups_of(part, space, n_tuples)
    return Part(form, closed_form(part, space), groups, numbers, raw)

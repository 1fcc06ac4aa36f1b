"""An answer in partitions as a folder of files, which is there as a whole or not at all."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ...errors import TableError
from ...solvers.partitioned.projection import PointPart
from ...system.executors import Executor
from ...system.files import path_of
from ...system.temporary import removed_if_killed
from ...terms.partitioned.surroundings import Surroundings
from ...views.partitioned.release_part import ReleasePart
from .asking import terms_table

__all__ = ["write_parts"]


def write_parts(
    folder: object, executor: Executor, parts: Sequence[Any], points: Sequence[Any], surroundings: Surroundings
) -> None:
    """Write a file a partition into a hidden folder, and give it its name when all are complete.

    Parameters
    ----------
    folder : str or path
    executor : Executor
    parts, points : sequence of handles
    surroundings : Surroundings
        Those that know who is named.

    Raises
    ------
    TableError
        If there is something of that name, or the files cannot be written.
    """
    target = path_of(folder)
    if target.exists() or target.is_symlink():
        raise TableError(f"{str(target)!r} is there already; name a folder that is not, or remove it first")
    draft = target.absolute().with_name(f".{target.name}.{secrets.token_hex(8)}")
    try:
        with removed_if_killed(draft):
            draft.mkdir()
            files = [draft / f"part-{i:05d}.parquet" for i in range(len(parts))]
            executor.gather(executor.map(write_part, parts, points, files, common=(surroundings,)))
            os.rename(draft, target)
    except BaseException as error:
        shutil.rmtree(draft, ignore_errors=True)
        if isinstance(error, OSError):
            raise TableError(f"the folder {str(target)!r} cannot be written: {error}") from error
        raise


def write_part(part: ReleasePart, point: PointPart, file: Path, surroundings: Surroundings) -> None:
    """Write the terms of one partition."""
    import pyarrow as pa

    table = terms_table(part, point, surroundings)
    try:
        table.to_parquet(file, index=False)
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise TableError(
            f"Parquet cannot store the labels of the release: {' '.join(str(error).split())}; before the release is "
            "made, turn the column into text, or into numbers of one type"
        ) from error

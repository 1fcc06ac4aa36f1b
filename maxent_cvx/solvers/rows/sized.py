"""How many bytes an object holds, as a scheduler must know it: what is large is worked on where it is, or spilled."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

__all__ = ["Sized", "bytes_held"]


class Sized:
    """An object that says how many bytes its arrays take; Dask asks ``sys.getsizeof``."""

    def __sizeof__(self) -> int:
        """The bytes of all arrays that are reached from here, each counted once."""
        return object.__sizeof__(self) + bytes_held(vars(self), set())


def bytes_held(found: Any, seen: set[int]) -> int:
    """The bytes of the arrays of an object, and of the objects that it holds.

    Parameters
    ----------
    found : object
    seen : set of int
        The identities of what has been counted.
    """
    if id(found) in seen or found is None or isinstance(found, (str, bytes, int, float)):
        return 0
    seen.add(id(found))
    if isinstance(found, np.ndarray):
        return bytes_held(found.base, seen) if isinstance(found.base, np.ndarray) else found.nbytes
    if isinstance(found, (sp.csr_array, sp.csc_array)):
        return sum(bytes_held(part, seen) for part in (found.data, found.indices, found.indptr))
    if isinstance(found, Mapping):
        return sum(bytes_held(one, seen) for one in found.values())
    if isinstance(found, (tuple, list)):
        return sum(bytes_held(one, seen) for one in found)
    return bytes_held(getattr(found, "__dict__", None), seen)

"""The explorer: a model under the hand, whose knowledge is moved while what follows from it is seen."""

from .explore import explore
from .explorer import Explorer

__all__ = ["Explorer", "explore"]

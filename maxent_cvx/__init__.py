"""What can an adversary infer about people from what was published, plus what the adversary knows?"""

from __future__ import annotations

from .model import MaxEnt
from .posterior import Posterior, load_posterior
from .sources import P, Source, StrongestAssociations
from .views import Release

__all__ = ["MaxEnt", "P", "Posterior", "Release", "Source", "StrongestAssociations", "load_posterior"]

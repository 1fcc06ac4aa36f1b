"""What tests of soft statements are about: the ten patients, and two statements about the men."""

from __future__ import annotations

import maxent_cvx as mx
from maxent_cvx import MaxEnt, P, Release

QI = ["Gender", "Degree"]
MALE, FEMALE = {"Gender": "male"}, {"Gender": "female"}
FLU, HIV = P("Flu", given=MALE), P("HIV", given=MALE)


def hospital() -> MaxEnt:
    """What is published of the ten patients."""
    table = mx.datasets.load_hospital()
    return MaxEnt(Release.from_buckets(table, qi=QI, sa="Disease", bucket="Bucket"))

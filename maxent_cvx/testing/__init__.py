"""What a source, a view, a solver and a technique of one's own promise, and problems whose answers are known.

Run them on those you write:

>>> import maxent_cvx as mx
>>> hospital = mx.datasets.load_hospital()
>>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
>>> check_source(mx.BucketInvariants(release), mx.MaxEnt(release).space, truth=hospital)
"""

from __future__ import annotations

from .checks import check_backend, check_source, check_technique, check_view

__all__ = [
    "check_backend",
    "check_source",
    "check_technique",
    "check_view",
    "problems",
]

"""Newton systems: blocks of buckets eliminated, a Schur complement of the knowledge, conjugate gradients."""

"""Newton systems: block elimination of the buckets, conjugate gradients on the Schur complement of the knowledge."""

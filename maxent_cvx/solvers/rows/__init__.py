"""Rows over probabilities made into rows over counts, each rounded once; numbers an entry of a sparse matrix."""

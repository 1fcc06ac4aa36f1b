"""CAE: the entropy of a number that is asked for within a range, and all its curve."""

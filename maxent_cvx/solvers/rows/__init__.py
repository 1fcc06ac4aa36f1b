"""Rows over probabilities made into a problem over counts: stacked, rewritten where coefficients hide each other."""

"""Statements about probabilities: what they are about, how they are written and read."""

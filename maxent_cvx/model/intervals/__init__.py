"""How low and how high probabilities and counts can be: intervals over everything that satisfies the rows."""

"""Convex constraints that users write in CVXPY: sums of costs as soft rows with one multiplier, others by cuts."""

"""Sums of ranges of records: what they tell of each of them."""

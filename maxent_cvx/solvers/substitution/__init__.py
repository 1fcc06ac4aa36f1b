"""Rows in which a large coefficient hides the others, rewritten by published equations."""

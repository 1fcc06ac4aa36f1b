"""Badly scaled rows, in which a large coefficient hides the others, rewritten by substituting published equations."""

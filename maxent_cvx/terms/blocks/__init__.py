"""Blocks: labelled families of linear expressions, their algebra and their comparisons."""

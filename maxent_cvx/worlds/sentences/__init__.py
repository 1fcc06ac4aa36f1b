"""Sentences over atoms "person has value": objects, text, and what is left of them once values are known."""

from __future__ import annotations

from .amounts import at_least, at_most, exactly
from .reader import read_sentence
from .syntax import Sentence, has

__all__ = ["Sentence", "at_least", "at_most", "exactly", "has", "read_sentence"]

"""The variables of a model, P(q, s, b): what they are about, and linear expressions of them."""

from __future__ import annotations

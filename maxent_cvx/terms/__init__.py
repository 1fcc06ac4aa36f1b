"""The variables of a model, P(q, s, b): their labels, and linear expressions of them."""

from __future__ import annotations

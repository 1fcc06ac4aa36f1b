"""The data sets of the papers."""

from __future__ import annotations

from .load import ADULT_QI, load_adult, load_hospital, load_patients

__all__ = ["ADULT_QI", "load_adult", "load_hospital", "load_patients"]

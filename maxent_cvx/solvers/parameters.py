"""Tolerances shared by several modules. The certificate, not a tolerance, decides whether an answer is right."""

from __future__ import annotations

import numpy as np

#: Twice the unit roundoff of a double: the distance from 1 to the next larger number.
EPS = float(np.finfo(float).eps)
#: Relative to the right-hand side, at least one record: the largest violation of a row that holds. It is above the
#: resolution of solvers of linear programs (HiGHS: 1e-10), and above the rounding error of a sum of millions of counts.
FEASIBLE = 1e-9
#: Multiple of `FEASIBLE` within which a typed value still agrees with the possible values.
FEASIBLE_MULTIPLE = 10.0
#: Relative rounding error of a coefficient or side while a row is built. A share, its inverse, a statement's factor,
#: the row's scale and the product with the value each have an error of at most EPS / 2.
PLACES = 4 * EPS

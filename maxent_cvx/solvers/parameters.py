"""Tolerances that several modules share. No tolerance decides whether an answer is right: the certificate does."""

from __future__ import annotations

import numpy as np

#: Twice the unit roundoff of a double: the distance from 1 to the next larger number.
EPS = float(np.finfo(float).eps)
#: Relative to the right-hand side, at least one record: the largest violation of a row that holds. Below what solvers
#: of linear programs distinguish (HiGHS: 1e-10), above the rounding of a sum of millions of counts.
FEASIBLE = 1e-9
#: Multiple of it at which a typed value still agrees with the values that are possible.
FEASIBLE_MULTIPLE = 10.0
#: Relative: by how much a coefficient or a side can be rounded while a row is built. A share, its inverse, a statement's
#: factor, the row's scale and the product with the value are each off by at most EPS / 2.
PLACES = 4 * EPS

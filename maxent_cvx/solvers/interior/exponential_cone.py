"""The exponential cone for an interior-point method: barriers, their derivatives, and the scaling of a pair of points.

A triple (t, u, w) is in the cone if t <= u log(w / u) and u, w >= 0. A triple (p, q, r) is in its dual cone if p < 0
and r >= -p exp(q / p - 1). The barrier of the dual cone is

    f*(p, q, r) = -log(q - p - p log(-r / p)) - log(-p) - log(r),

and that of the cone its conjugate f, which Wright's omega function gives (Dahl and Andersen, 2022, section 7). Arrays
have three columns, and a row for each cone.
"""

from __future__ import annotations

import numpy as np
from scipy.special import wrightomega

from ..parameters.dual_methods import INTERIOR

__all__ = [
    "CENTRE",
    "correction",
    "dual_gradient",
    "dual_hessian",
    "is_inside",
    "primal_gradient",
    "proximity",
    "scaling",
]

#: The point that is minus the gradient of the barrier at itself.
CENTRE = np.array([-1.051383945322714, 0.556409619469370, 1.258967884768947])


def is_inside(s: np.ndarray, z: np.ndarray) -> bool:
    """Whether all s are in the interior of the cone, and all z in that of the dual cone."""
    if not ((s[:, 1:] > 0).all() and (z[:, 0] < 0).all() and (z[:, 2] > 0).all()):
        return False
    room = s[:, 1] * np.log(s[:, 2] / s[:, 1]) - s[:, 0]
    return bool((room > 0).all() and (_psi(z)[0] > 0).all())


def _psi(z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What the first logarithm of f* is of, and log(-r / p)."""
    logarithm = np.log(-z[:, 2] / z[:, 0])
    return z[:, 1] - z[:, 0] - z[:, 0] * logarithm, logarithm


def dual_gradient(z: np.ndarray) -> np.ndarray:
    """The gradient of f*."""
    psi, logarithm = _psi(z)
    p, r = z[:, 0], z[:, 2]
    return np.stack([logarithm / psi - 1 / p, -1 / psi, p / (r * psi) - 1 / r], axis=1)


def dual_hessian(z: np.ndarray) -> np.ndarray:
    """The Hessian of f*, a 3 x 3 matrix a cone."""
    psi, logarithm = _psi(z)
    p, r = z[:, 0], z[:, 2]
    slope = np.stack([-logarithm, np.ones(len(z)), -p / r], axis=1)
    hessian = slope[:, :, None] * slope[:, None, :] / (psi**2)[:, None, None]
    hessian[:, 0, 0] += 1 / p**2 - 1 / (p * psi)
    hessian[:, 0, 2] += 1 / (r * psi)
    hessian[:, 2, 0] += 1 / (r * psi)
    hessian[:, 2, 2] += 1 / r**2 - p / (r**2 * psi)
    return hessian


def _omega(s: np.ndarray) -> np.ndarray:
    return wrightomega(1 - s[:, 0] / s[:, 1] - np.log(s[:, 1] / s[:, 2])).real


def primal_gradient(s: np.ndarray) -> np.ndarray:
    """The gradient of f."""
    omega = _omega(s)
    first = 1 / ((omega - 1) * s[:, 1])
    second = first + first * np.log(omega * s[:, 1] / s[:, 2]) - 1 / s[:, 1]
    return np.stack([first, second, omega / ((1 - omega) * s[:, 2])], axis=1)


def proximity(s: np.ndarray, z: np.ndarray) -> float:
    """The sum of f(s) + f*(z) + 3, which is least, -3 log(s' z / 3), on the central path."""
    omega = _omega(s)
    primal = -np.log((omega - 1) ** 2 / omega) - 2 * np.log(s[:, 1]) - np.log(s[:, 2])
    dual = -np.log(_psi(z)[0]) - np.log(-z[:, 0]) - np.log(z[:, 2])
    return float((primal + dual).sum())


def scaling(s: np.ndarray, z: np.ndarray, mu: float) -> tuple[np.ndarray, np.ndarray]:
    """The scaling matrix W of each cone, W z = s, and the Hessian of f*.

    W is the one of the primal-dual pair (Tuncel, 2001; Dahl and Andersen, 2022, section 5), and mu times the Hessian
    where the pair is so near to the central path that it cannot be computed.
    """
    hessian = dual_hessian(z)
    shadow_s, shadow_z = -dual_gradient(z), -primal_gradient(s)
    product = (s * z).sum(axis=1)
    own, shadow = product / 3, (shadow_s * shadow_z).sum(axis=1) / 3
    off_s, off_z = s - own[:, None] * shadow_s, z - own[:, None] * shadow_z
    off = (off_s * off_z).sum(axis=1)
    image = np.einsum("nij,nj->ni", hessian, shadow_z)
    first, second = own * shadow - 1, (shadow_z * image).sum(axis=1) - 3 * shadow**2
    eps = np.finfo(float).eps
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        left = image - shadow[:, None] * shadow_s
        rest = hessian - shadow_s[:, :, None] * shadow_s[:, None, :] / 3
        rest -= left[:, :, None] * left[:, None, :] / second[:, None, None]
        factor = own * np.sqrt((rest**2).sum(axis=(1, 2)))
        axis = np.cross(z, shadow_z)
        axis /= np.sqrt((axis**2).sum(axis=1))[:, None]
        found = (
            s[:, :, None] * s[:, None, :] / product[:, None, None]
            + off_s[:, :, None] * off_s[:, None, :] / off[:, None, None]
            + factor[:, None, None] * axis[:, :, None] * axis[:, None, :]
        )
    usable = (np.abs(first) > np.sqrt(eps)) & (np.abs(second) > eps) & (product > 0) & (off > 0)
    usable &= np.isfinite(found).all(axis=(1, 2))
    return np.where(usable[:, None, None], found, mu * hessian), hessian


def correction(hessian: np.ndarray, z: np.ndarray, ds: np.ndarray, dz: np.ndarray) -> np.ndarray:
    """Half the third derivative of f* along H^-1 ds and dz, which corrects for the curvature of the central path."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        try:
            u = np.linalg.solve(hessian, ds[:, :, None])[:, :, 0]
        except np.linalg.LinAlgError:
            return np.zeros_like(z)
        p, r = z[:, 0], z[:, 2]
        psi, logarithm = _psi(z)
        slope = np.stack([-logarithm, np.ones(len(z)), -p / r], axis=1)
        of_u, of_v = (slope * u).sum(axis=1), (slope * dz).sum(axis=1)
        u0, u2, v0, v2 = u[:, 0], u[:, 2], dz[:, 0], dz[:, 2]
        common = ((u0 * (v0 / p - v2 / r) + u2 * (p * v2 / r - v0) / r) * psi - 2 * of_u * of_v) / psi**3
        found = slope * common[:, None]
        found[:, 0] += (1 / psi - 2 / p) * u0 * v0 / p**2 - u2 * v2 / r**2 / psi
        found[:, 0] += (of_u * (v0 / p - v2 / r) + of_v * (u0 / p - u2 / r)) / psi**2
        found[:, 2] += 2 * (p / psi - 1) * u2 * v2 / r**3 - (u2 * v0 + u0 * v2) / r**2 / psi
        found[:, 2] += (of_u * (p * v2 / r**2 - v0 / r) + of_v * (p * u2 / r**2 - u0 / r)) / psi**2
    found /= 2
    fine = np.isfinite(found).all(axis=1) & (np.abs(found).max(axis=1) < INTERIOR.largest_correction)
    return np.where(fine[:, None], found, 0.0)

"""How colours look to people whose vision lacks a kind of cone, and how far apart two colours then are."""

from __future__ import annotations

import numpy as np

__all__ = ["EYES", "apart", "seen"]

#: What each deficiency makes of linear RGB, wholly without a kind of cones (Machado, Oliveira and Fernandes, "A
#: physiologically-based model for simulation of color vision deficiency", 2009, Table 1, severity 1).
EYES = {
    "all cones": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "tritanopia": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}
#: From linear sRGB to CIE XYZ, with the white of daylight D65 (IEC 61966-2-1).
TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])


def seen(rgb: np.ndarray, eyes: str) -> np.ndarray:
    """CIE L*a*b* of colours in sRGB, shape (n, 3), as these eyes see them; L* is the lightness, 0 to 100."""
    rgb = np.asarray(rgb, dtype=float)
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    xyz = np.clip(linear @ EYES[eyes].T, 0, 1) @ TO_XYZ.T / TO_XYZ.sum(axis=1)
    f = np.where(xyz > (6 / 29) ** 3, np.cbrt(xyz), xyz / (3 * (6 / 29) ** 2) + 4 / 29)
    x, y, z = f.T
    return np.column_stack([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def apart(rgb: np.ndarray, eyes: str) -> np.ndarray:
    """The distance of every two colours in L*a*b*, shape (n, n); 2.3 is just noticeable (Mahy et al., 1994)."""
    lab = seen(rgb, eyes)
    return np.linalg.norm(lab[:, None] - lab[None], axis=2)

"""How colours look to people who do not see red or green, and how far apart they are."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Colour = npt.NDArray[np.float64]

# Machado, Oliveira and Fernandes (2009), severity 1, for linear red, green and blue.
VISION: dict[str, list[list[float]]] = {
    "normal": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
    "protan": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deutan": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
}
# Ottosson (2020): linear red, green and blue to the cones, and their cube roots to OKLab.
TO_CONES = [
    [0.4122214708, 0.5363325363, 0.0514459929],
    [0.2119034982, 0.6806995451, 0.1073969566],
    [0.0883024619, 0.2817188376, 0.6299787005],
]
TO_LAB = [
    [0.2104542553, 0.7936177850, -0.0040720468],
    [1.9779984951, -2.4285922050, 0.4505937099],
    [0.0259040371, 0.7827717662, -0.8086757660],
]


def linear(colour: str) -> Colour:
    """Return linear red, green and blue of a colour such as ``"#7c45f2"``."""
    parts = np.array([int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)])
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def luminance(colour: str) -> float:
    """Return the relative luminance as WCAG defines it."""
    return float(linear(colour) @ [0.2126, 0.7152, 0.0722])


def contrast(colour: str, other: str) -> float:
    """Return the contrast ratio of WCAG, from 1 to 21."""
    darker, lighter = sorted(luminance(one) for one in (colour, other))
    return (lighter + 0.05) / (darker + 0.05)


def seen(colour: str, vision: str) -> Colour:
    """Return OKLab of what somebody sees."""
    light = np.clip(np.array(VISION[vision]) @ linear(colour), 0, 1)
    found: Colour = np.array(TO_LAB) @ np.cbrt(np.array(TO_CONES) @ light)
    return found


def distance(colour: str, other: str, vision: str) -> float:
    """Return the distance in OKLab between what somebody sees of two colours."""
    return float(np.linalg.norm(seen(colour, vision) - seen(other, vision)))

"""Scenes of masks that share voxels, and brute force on their voxels (D16)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

import panmatch as pm
from tests.brute_force import Scene

Masks = npt.NDArray[np.bool_]


def random_masks(rng: np.random.Generator, n: int, shape: tuple[int, ...] = (7, 6)) -> Masks:
    """Return blocks that often lie on each other; some are empty, some are equal."""
    masks = np.zeros((n, *shape), np.bool_)
    for i, mask in enumerate(masks):
        low = [int(rng.integers(0, side)) for side in shape]
        high = [int(rng.integers(at, side + 1)) for at, side in zip(low, shape, strict=True)]
        mask[tuple(slice(a, b) for a, b in zip(low, high, strict=True))] = True
        mask &= rng.random(shape) < rng.choice([0.6, 1.0])
        if i and rng.random() < 0.2:
            mask[...] = masks[rng.integers(i)]
    return masks


def random_pair(rng: np.random.Generator, most: int = 4) -> tuple[Masks, Masks]:
    """Return the masks of both sides, none of them empty."""
    sides = [random_masks(rng, int(rng.integers(0, most + 1))) for _ in range(2)]
    refs, preds = (side[side.any(axis=(1, 2))] for side in sides)
    return refs, preds


@dataclass(frozen=True)
class MaskScene(Scene):
    """A scene whose unions are counted voxel by voxel."""

    masks: tuple[Masks, Masks]

    @classmethod
    def of_masks(cls, refs: Masks, preds: Masks, overlap: pm.Overlap) -> MaskScene:
        plain = Scene.of(overlap)
        return cls(
            plain.refs, plain.preds, plain.shared, plain.dismissible, plain.owners, (refs, preds)
        )

    def iou(self, g: int, preds: list[int]) -> Fraction:
        """IoU(union of the predictions, g), each voxel once."""
        ref, union = self.masks[0][g], self.masks[1][preds].any(axis=0)
        return Fraction(int((ref & union).sum()), int((ref | union).sum()))


def runs_of(mask: npt.NDArray[np.bool_]) -> dict[str, object]:
    """Return the plain run-length encoding of COCO, counted pixel by pixel."""
    counts, inside = [0], False
    for pixel in mask.ravel(order="F").tolist():
        if pixel != inside:
            counts.append(0)
            inside = pixel
        counts[-1] += 1
    return {"size": list(mask.shape), "counts": counts}


def text_of(counts: Sequence[int]) -> str:
    """Return the compressed text of run lengths: five bits per character, differences from the
    fourth number on."""
    text = ""
    for i, length in enumerate(counts):
        value = length - counts[i - 2] if i > 2 else length
        more = True
        while more:
            bits, value = value & 31, value >> 5
            more = value != -1 if bits & 16 else value != 0
            text += chr(48 + bits + 32 * more)
    return text

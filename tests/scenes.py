"""Canonical scenes, as strips of voxels that can be read at a glance; shared by all tests.

Each character is a voxel: `.` is background, letters are ids (a = 1, b = 2 …).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

import panmatch as pm

Labels = npt.NDArray[np.int64]


def strip(text: str) -> Labels:
    """Return the label image that `text` draws."""
    return np.array([0 if c == "." else ord(c) - ord("a") + 1 for c in text])


def overlap(reference: str, prediction: str) -> pm.Overlap:
    """Return the overlap of two strips."""
    return pm.count_overlaps(strip(reference), strip(prediction))


PERFECT = overlap("aaaa..bbbb", "aaaa..bbbb")
SHIFTED = overlap("aaaa..bbbb..", ".aaaa...bbbb")  # IoU 3/5 and 2/6
SPLIT = overlap("aaaaaaaaaa", "aaaaabbbcc")  # IoU 1/2, 3/10, 2/10; their union is perfect
MERGED = overlap("aaaabbbbbb", "aaaaaaaaaa")  # IoU 4/10 and 6/10
MISSED = overlap("aaaa..bbbb", "aaaa......")
SPURIOUS = overlap("aaaa......", "aaaa..bbbb")
EMPTY = overlap("..........", "..........")
NO_REFERENCE = overlap("..........", "aaa..bbb..")
NO_PREDICTION = overlap("aaa..bbb..", "..........")
# Greedy takes the 6/16 of the first pair and leaves the rest alone; optimal takes 5/16 twice.
GREEDY_TRAP = pm.Overlap.from_dense([[6, 5], [5, 0]], ref_sizes=[11, 10], pred_sizes=[11, 10])

ALL: dict[str, pm.Overlap] = {
    "perfect": PERFECT,
    "shifted": SHIFTED,
    "split": SPLIT,
    "merged": MERGED,
    "missed": MISSED,
    "spurious": SPURIOUS,
    "empty": EMPTY,
    "no reference": NO_REFERENCE,
    "no prediction": NO_PREDICTION,
    "greedy trap": GREEDY_TRAP,
}

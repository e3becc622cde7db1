"""Made-up scenes and known mistakes: for the demo, the notebooks, tests and benchmarks.

A scene is a label image that serves as reference; a mistake turns it into a prediction whose true
positives, false positives and false negatives are known beforehand.

Examples
--------
>>> from panmatch import phantoms
>>> reference = phantoms.balls((48, 48), 5, radius=(3, 5))
>>> prediction = phantoms.miss(phantoms.dilate(reference, 1), ids=[2])
>>> sorted(set(reference.flat) - set(prediction.flat)) == [2]
True
"""

from panmatch.phantoms.mistakes import (
    dilate,
    erode,
    fragment,
    hallucinate,
    merge_neighbours,
    miss,
    relabel,
    shift,
)
from panmatch.phantoms.scenes import balls, blobs, tissue

__all__ = [
    "balls",
    "blobs",
    "dilate",
    "erode",
    "fragment",
    "hallucinate",
    "merge_neighbours",
    "miss",
    "relabel",
    "shift",
    "tissue",
]

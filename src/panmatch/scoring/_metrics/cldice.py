"""clDice (centre-line Dice)."""

from __future__ import annotations

from panmatch.matching import ratio
from panmatch.overlap import Floats
from panmatch.scoring._metrics.metric import share_metric
from panmatch.scoring._objects import ComparedObjects


def cldice(objects: ComparedObjects) -> Floats:
    """Return the harmonic mean of topology precision and topology sensitivity per row.

    After Shit et al. (2021), with the skeleton of scikit-image, in voxels: spacing does not
    matter. If thinning erases a small block, its most central voxel is the skeleton. 2-D and 3-D
    only.
    """
    found = objects.skeletons
    precision = ratio(found.pred_inside, found.pred_length)
    sensitivity = ratio(found.ref_inside, found.ref_length)
    together = precision + sensitivity
    score = ratio(2 * precision * sensitivity, together)
    score[together == 0] = 0.0
    return objects.scatter(score, otherwise=0.0)


METRIC = share_metric(
    cldice,
    "clDice (centre-line Dice)",
    "2 T S / (T + S); T = |skel(p) ∩ g| / |skel(p)|, S = |skel(g) ∩ p| / |skel(g)|",
    needs="skeleton",
)

"""Objects at random places in an organ, so far apart that each is a component of its own."""

from __future__ import annotations

import numpy as np

from panmatch.phantoms.objects import Floats, Ints
from panmatch.phantoms.outlines import Mask
from panmatch.phantoms.placement import find_room, image_clearance, keep_clear_of, largest_first


def scatter(
    room: Mask,
    radii: Floats,
    sizes: Floats,
    rng: np.random.Generator,
    *,
    occupied: Mask | None = None,
) -> list[tuple[Ints, float]]:
    """Return centres and radii of balls inside `room` that touch under no connectivity.

    Parameters
    ----------
    room
        Where balls must lie with all their voxels.
    radii
        The radii wanted, in the units of `sizes`.
    sizes
        Distance between voxels along each axis.
    rng
        Source of the centres.
    occupied
        Voxels that balls must not touch.

    Returns
    -------
    list of tuple
        The largest first; shorter than wanted where no voxel is left for the next.

    Examples
    --------
    >>> room = np.ones((1, 3), dtype=bool)
    >>> taken = np.array([[True, False, False]])
    >>> scatter(room, np.zeros(9), np.ones(2), np.random.default_rng(0), occupied=taken)
    [(array([0, 2]), 0.0)]
    """
    gap = float(np.linalg.norm(sizes)) * (1 + 1e-6)  # farther apart than any two neighbours
    clearance = image_clearance(room.shape, sizes)
    keep_clear_of(clearance, ~room, 0.0, sizes)
    if occupied is not None:
        keep_clear_of(clearance, occupied, gap, sizes)
    centres = find_room(clearance, radii, gap=gap, rng=rng, spacing=sizes)
    falling = radii[largest_first(radii)][: len(centres)]
    return list(zip(centres, falling.tolist(), strict=True))

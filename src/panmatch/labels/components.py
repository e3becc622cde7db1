"""Connected components."""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from panmatch.errors import check_choice
from panmatch.labels.validation import LabelArray, as_mask

Connectivity = Literal["full", "faces"]


def connected_components(
    labels: npt.ArrayLike, connectivity: Connectivity = "full", name: str = "labels"
) -> LabelArray:
    """Give each connected component of everything that is not background a number.

    Parameters
    ----------
    labels
        Mask or label image; touching labels are one component.
    connectivity
        ``"full"``: voxels that share a face, an edge or a corner are connected (26 neighbours in
        3-D, 8 in 2-D). ``"faces"``: only those that share a face (6 and 4).
    name
        What to call the argument in an error message.

    Returns
    -------
    numpy.ndarray
        1, 2, … on the components, 0 on the background; of the shape of `labels`.

    Examples
    --------
    >>> connected_components([[1, 0, 2], [0, 1, 0]]).tolist()
    [[1, 0, 1], [0, 1, 0]]
    >>> connected_components([[1, 0, 2], [0, 1, 0]], "faces").tolist()
    [[1, 0, 2], [0, 3, 0]]
    """
    check_choice("connectivity", connectivity, get_args(Connectivity))
    mask = as_mask(labels, name)
    if mask.ndim in (2, 3) and mask.size:
        import cc3d

        neighbours: dict[tuple[str, int], Any] = {
            ("full", 2): 8,
            ("full", 3): 26,
            ("faces", 2): 4,
            ("faces", 3): 6,
        }
        # As bytes: cc3d's shortcut for booleans is wrong for some small images.
        found: npt.NDArray[Any] = cc3d.connected_components(
            mask.view(np.uint8), connectivity=neighbours[connectivity, mask.ndim]
        )
        return found
    from scipy import ndimage

    reach = mask.ndim if connectivity == "full" else 1
    numbered: npt.NDArray[Any] = ndimage.label(
        mask, ndimage.generate_binary_structure(mask.ndim, reach)
    )[0]
    return np.asarray(numbered)

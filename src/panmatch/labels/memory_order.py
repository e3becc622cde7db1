"""Reading arrays in the order in which they lie in memory."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt


def memory_axes(array: npt.NDArray[Any]) -> tuple[int, ...]:
    """Return the axes from the largest to the smallest step in memory.

    Examples
    --------
    >>> import numpy as np
    >>> memory_axes(np.zeros((2, 3, 4), order="F"))
    (2, 1, 0)
    """
    return tuple(sorted(range(array.ndim), key=lambda axis: (-abs(array.strides[axis]), axis)))

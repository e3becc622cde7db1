"""The arrays that an overlap graph is made of."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Areas = npt.NDArray[Any]  # int64 voxel counts, or float64 areas from geometry

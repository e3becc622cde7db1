"""The scores of ISLES 2022 by the challenge's own functions, which no package has.

Usage, in .venv-peers: python -m tests.peers.protocols.run_isles eval_utils.py

The file is utils/eval_utils.py of ezequieldlrosa/isles22 (commit 31b7c8c), unchanged. It was
written for numpy 1.19, so the alias `np.float` that it uses is put back.
"""

import math
import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from tests.peers.protocols.records import load, write
from tests.peers.protocols.scenes import Scene

vars(np)["float"] = float


def evaluate(scene: Scene, program: Any) -> Mapping[str, Any]:
    sides = scene.reference, scene.prediction
    millilitres = np.float64(math.prod(scene.spacing) / 1000)
    return {
        "dice": program.compute_dice(*sides),
        "absolute_volume_difference": program.compute_absolute_volume_difference(
            *sides, millilitres
        ),
        "absolute_lesion_difference": program.compute_absolute_lesion_difference(*sides),
        "lesion_f1_score": program.compute_lesion_f1_score(*sides),
    }


if __name__ == "__main__":
    script = Path(sys.argv[1])
    write(
        "isles-2022",
        partial(evaluate, program=load(script)),
        packages=("connected-components-3d",),
        scripts=(script,),
        family="lesion masks",
    )

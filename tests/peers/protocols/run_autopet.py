"""The scores of autoPET by the challenge's own script, which no package has.

Usage, in .venv-peers: python -m tests.peers.protocols.run_autopet val_script.py

The file is val_script.py of lab-midas/autoPET (commit 468179b), unchanged.
"""

import sys
import tempfile
import warnings
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import nibabel
import numpy as np

from tests.peers.protocols.records import load, write
from tests.peers.protocols.scenes import Scene

NAMES = ("dice_sc", "false_pos_vol", "false_neg_vol")


def evaluate(scene: Scene, program: Any) -> Mapping[str, Any]:
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # 0 / 0
        files = []
        for side in ("reference", "prediction"):
            files.append(f"{folder}/{side}.nii.gz")
            affine = np.diag([*scene.spacing, 1.0])
            image = nibabel.Nifti1Image(getattr(scene, side).astype(np.uint8), affine)
            nibabel.save(image, files[-1])
        return dict(zip(NAMES, program.compute_metrics(*files), strict=True))


if __name__ == "__main__":
    script = Path(sys.argv[1])
    write(
        "autopet",
        partial(evaluate, program=load(script)),
        packages=("connected-components-3d",),
        scripts=(script,),
        family="lesion masks",
        tolerance=1e-7,  # its volume of a voxel is float32
    )

"""The summary of nnU-Net: python -m tests.peers.protocols.run_nnunet.

A scene is a folder with one case. `datasets` holds `mean` and `foreground_mean` of all scenes as
one folder.
"""

import tempfile
import warnings
from collections.abc import Mapping, Sequence
from multiprocessing import dummy
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import SimpleITK
from nnunetv2.evaluation import evaluate_predictions
from nnunetv2.imageio.simpleitk_reader_writer import SimpleITKIO

from tests.peers.protocols.records import flat, write
from tests.peers.protocols.scenes import Scene, lesions

LABELS = [1, 2, 3]

# Its pool of processes takes seconds to start, once per folder; threads give the same numbers.
evaluate_predictions.multiprocessing = SimpleNamespace(get_context=lambda _: dummy)


def save(folder: Path, scenes: Sequence[Scene]) -> None:
    for side in ("reference", "prediction"):
        (folder / side).mkdir()
        for i, scene in enumerate(scenes):
            image = SimpleITK.GetImageFromArray(getattr(scene, side).astype("uint8"))
            image.SetSpacing(scene.spacing[::-1])
            SimpleITK.WriteImage(image, str(folder / side / f"{i:03}.nii.gz"))


def summary(scenes: Sequence[Scene]) -> Mapping[str, Any]:
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # the mean of nothing but NaN
        save(Path(folder), scenes)
        found: Mapping[str, Any] = evaluate_predictions.compute_metrics_on_folder(
            f"{folder}/reference",
            f"{folder}/prediction",
            None,
            SimpleITKIO(),
            ".nii.gz",
            LABELS,
            num_processes=1,
        )
    return {key: found[key] for key in ("mean", "foreground_mean")}


def evaluate(scene: Scene) -> Mapping[str, Any]:
    return summary([scene])


if __name__ == "__main__":
    everything = list(lesions())
    names = [scene.name for scene in everything]
    write(
        "nnunet-summary",
        evaluate,
        packages=("nnunetv2",),
        family="lesions",
        datasets=[{"scenes": names, "numbers": dict(flat(summary(everything)))}],
    )

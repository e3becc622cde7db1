"""What nnU-Net leaves in its folders: where its predictions are, and what lies beside them."""

from __future__ import annotations

import re
from pathlib import Path

VALIDATION = "validation"
_FOLD = re.compile(r"fold_(\d+|all)")

# Patterns of what training leaves in the folder of a fold, beside the validation output.
_LEFT_BY_TRAINING = ("checkpoint_*.pth", "training_log_*.txt", "debug.json")
_PICTURE = "progress.png"


def prediction_folders(folder: Path) -> list[Path]:
    """Return the folders that hold the predictions: those of the folds, or the folder itself.

    A fold has its predictions in ``validation``; a trained model has several folds.
    """
    if _is_fold(folder):
        return [folder / VALIDATION]
    folds = [one for one in sorted(folder.iterdir()) if _is_fold(one)]
    return [fold / VALIDATION for fold in folds] or [folder]


def is_validation_output(folder: Path) -> bool:
    """Return whether a folder has the validation output of a fold: predictions of its cases only.

    Examples
    --------
    >>> is_validation_output(Path("model/fold_0/validation")), is_validation_output(Path("fold_0"))
    (True, False)
    """
    place = folder.absolute()
    return place.name == VALIDATION and bool(_FOLD.fullmatch(place.parent.name))


def is_training_picture(path: Path) -> bool:
    """Return whether a PNG file is the picture of a training's progress, not a label image."""
    return path.name == _PICTURE and any(
        True for pattern in _LEFT_BY_TRAINING for _ in path.parent.glob(pattern)
    )


def _is_fold(folder: Path) -> bool:
    return bool(_FOLD.fullmatch(folder.absolute().name)) and (folder / VALIDATION).is_dir()

"""The folders of nnU-Net: where its predictions are, and what else is there."""

from __future__ import annotations

import re
from pathlib import Path

VALIDATION = "validation"
_FOLD = re.compile(r"fold_(\d+|all)")

# Patterns of the files that training leaves in the folder of a fold, next to validation.
_LEFT_BY_TRAINING = ("checkpoint_*.pth", "training_log_*.txt", "debug.json")
_PICTURE = "progress.png"


def prediction_folders(folder: Path) -> list[Path]:
    """Return the folders that hold the predictions: those of the folds, or the folder itself.

    A fold keeps its predictions in ``validation``; a trained model has several folds.
    """
    if _is_fold(folder):
        return [folder / VALIDATION]
    folds = [one for one in sorted(folder.iterdir()) if _is_fold(one)]
    return [fold / VALIDATION for fold in folds] or [folder]


def is_validation_output(folder: Path) -> bool:
    """Return whether a folder is the validation output of a fold, with only that fold's cases.

    Examples
    --------
    >>> is_validation_output(Path("model/fold_0/validation")), is_validation_output(Path("fold_0"))
    (True, False)
    """
    place = folder.absolute()
    return place.name == VALIDATION and bool(_FOLD.fullmatch(place.parent.name))


def is_training_picture(path: Path) -> bool:
    """Return whether a PNG file shows the progress of training, and is not a label image."""
    return path.name == _PICTURE and any(
        True for pattern in _LEFT_BY_TRAINING for _ in path.parent.glob(pattern)
    )


def _is_fold(folder: Path) -> bool:
    return bool(_FOLD.fullmatch(folder.absolute().name)) and (folder / VALIDATION).is_dir()

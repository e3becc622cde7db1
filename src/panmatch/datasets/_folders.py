"""Folders of label files, evaluated from Python in one call."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from panmatch.datasets._pairing import DatasetPaths, find_pairs
from panmatch.datasets._run import RunOptions, run_dataset
from panmatch.datasets._score_sources import expect_scores, score_places, with_scores
from panmatch.datasets._worker import Job
from panmatch.errors import OptionError, check_size, named_only
from panmatch.evaluation import Result, warn_of
from panmatch.spec import SpecLike, as_spec

Folder: TypeAlias = str | os.PathLike[str]
Folders: TypeAlias = Folder | Mapping[str, Folder]

ONE_MODEL = "prediction"  # its name where a single file is given


@named_only
def evaluate_folders(
    *,
    reference: Folder,
    prediction: Folders,
    out: Folder,
    spec: SpecLike = "instances",
    reference_parts: Folder | None = None,
    prediction_parts: Folders | None = None,
    patterns: Sequence[str] = (),
    scores: Folders | None = None,
    workers: int = 1,
) -> Result:
    """Evaluate folders of label files, as ``panmatch evaluate`` does.

    Files with the same name belong together. Tables are written to `out`, and every case as soon as
    it is finished: call it again to evaluate only what is new or has changed.

    Parameters
    ----------
    reference
        Folder with the references, or a single file.
    prediction
        Folder with the predictions, which names the model, or folders by the name of the model.
    out
        Folder for the tables; made if missing.
    spec
        As for `evaluate`.
    reference_parts, prediction_parts
        Folders with part images, given like `reference` and `prediction`.
    patterns
        Where file names differ: one pattern for both sides, or one for the references and one for
        the predictions, such as ``("{case}_ref.nii.gz", "{case}_pred.nii.gz")``.
    scores
        How sure the model is of each predicted object (D17): a folder with a CSV file or an image
        of probabilities for each case, a CSV file with the column ``case``, or a pattern such as
        ``"scores/{case}.csv"``; with several models, by the name of the model.
    workers
        Number of processes.

    Returns
    -------
    Result
        With the cases of all models. A case that could not be evaluated is in `Result.failures`.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> import panmatch as pm
    >>> with tempfile.TemporaryDirectory() as name:
    ...     folder = Path(name)
    ...     for side in ("reference", "unet"):
    ...         (folder / side).mkdir()
    ...         np.save(folder / side / "case1.npy", np.array([[1, 1, 0, 2]]))
    ...     result = pm.evaluate_folders(
    ...         reference=folder / "reference", prediction=folder / "unet", out=folder / "results"
    ...     )
    ...     written = (folder / "results" / "scores.csv").exists()
    >>> result.models, result.table(["pq"])["pq"].tolist()[0], written
    (('unet',), 1.0, True)
    """
    check_size("workers", workers, 1)
    models = by_model(prediction)
    parts = None if prediction_parts is None else by_model(prediction_parts, tuple(models))
    places = score_places(scores, tuple(models))
    chosen = expect_scores(as_spec(spec), places, None)
    pairing = find_pairs(
        DatasetPaths(
            Path(reference),
            models,
            tuple(patterns),
            None if reference_parts is None else Path(reference_parts),
            parts,
            () if chosen.confidence is None else (".csv",),
        )
    )
    cases, notices = with_scores(pairing.cases, chosen, places)
    result = run_dataset(
        cases,
        Job(chosen.canonical(), threads=None if workers == 1 else 1),
        Path(out),
        RunOptions(workers, resume=True),
        notices=(*pairing.notices, *notices),
    )
    warn_of(result.notices)
    return result


def by_model(folders: Folders, models: Sequence[str] = ()) -> dict[str, Path]:
    """Return folders by model; one that is not named belongs to the only model there is.

    Examples
    --------
    >>> {model: folder.name for model, folder in by_model("runs/unet_parts", ["unet"]).items()}
    {'unet': 'unet_parts'}
    """
    if isinstance(folders, Mapping):
        return {model: Path(folder) for model, folder in folders.items()}
    if len(models) > 1:
        raise OptionError(
            f"prediction_parts={os.fspath(folders)!r} is one folder for the models "
            f"{', '.join(models)}: pass a mapping from models to folders."
        )
    path = Path(folders)
    name = path.resolve().name if path.is_dir() else ONE_MODEL
    return {models[0] if models else name: path}

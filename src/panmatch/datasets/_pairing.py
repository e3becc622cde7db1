"""Which prediction belongs to which reference."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from panmatch.datasets._cases import Case, ImageFile
from panmatch.datasets._label_files import FoundFiles, find_label_files
from panmatch.datasets._nnunet import is_validation_output, prediction_folders
from panmatch.errors import FileError, OptionError
from panmatch.evaluation import Notice, plural
from panmatch.formats import case_name, is_label_file

MOST_NAMES = 5

RULE = "two files pair if their paths inside REF and PRED are equal, apart from the suffix"


@dataclass(frozen=True, slots=True)
class DatasetPaths:
    """Where the images of a dataset are stored.

    Attributes
    ----------
    reference
        A file or a folder.
    predictions
        Files or folders by the name of the model.
    patterns
        Up to two patterns for the paths inside the folders: one for both sides, or one for the
        references and one for the predictions. ``{case}`` stands for the name of the case,
        ``{model}`` for the name of the model, ``*`` and ``?`` for anything.
    reference_parts, prediction_parts
        Files or folders of part images, the latter by model.
    beside
        Suffixes of files that belong next to images, such as ``".csv"`` for confidences.
    """

    reference: Path
    predictions: Mapping[str, Path]
    patterns: tuple[str, ...] = ()
    reference_parts: Path | None = None
    prediction_parts: Mapping[str, Path] | None = None
    beside: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Pairing:
    """The cases in the folders of a dataset.

    Attributes
    ----------
    cases
        All cases, including those without a partner.
    notices
        Which files were ignored.
    """

    cases: list[Case]
    notices: tuple[Notice, ...] = ()


def pair(paths: DatasetPaths) -> list[Case]:
    """Return all cases, including those without a partner."""
    return find_pairs(paths).cases


def find_pairs(paths: DatasetPaths) -> Pairing:
    """Return all cases, including those without a partner, and which files were ignored."""
    if not paths.predictions:
        raise OptionError("PRED is missing: name a file or folder, or models with --model.")
    for path in (paths.reference, *paths.predictions.values()):
        if not path.exists():
            raise FileError(
                f"path={str(path)!r} does not exist: check its spelling and the current folder."
            )
    if len(paths.patterns) > 2:
        raise OptionError(
            "--pattern is given more than twice: pass one for both sides, or one for each."
        )
    if all(_is_one(path) for path in (paths.reference, *paths.predictions.values())):
        return Pairing(_pair_files(paths))
    for path in (paths.reference, *paths.predictions.values()):
        if not path.is_dir() or _is_one(path):
            raise OptionError(
                f"path={str(path)!r} is a file, but others are folders: pass only files, or only "
                f"folders."
            )
    return _pair_folders(paths)


def _is_one(path: Path) -> bool:
    return path.is_file() or is_label_file(path)


def _pair_files(paths: DatasetPaths) -> list[Case]:
    parts = paths.prediction_parts or {}
    reference = ImageFile(paths.reference, paths.reference_parts)
    name = case_name(paths.reference)
    return [
        Case(name, model, reference, ImageFile(path, parts.get(model)))
        for model, path in paths.predictions.items()
    ]


def _pair_folders(paths: DatasetPaths) -> Pairing:
    of_ref = paths.patterns[0] if paths.patterns else None
    of_pred = paths.patterns[-1] if paths.patterns else None
    references = find_label_files(paths.reference, of_ref, "REF")
    ref_parts = _parts(paths.reference_parts, of_ref)
    found = {paths.reference: references}
    cases: list[Case] = []
    for model, folder in paths.predictions.items():
        pred_parts = _parts((paths.prediction_parts or {}).get(model), of_pred)
        found[folder] = find_label_files(folder, of_pred, "PRED")
        by_model: dict[str, dict[str, Path]] = {}
        for (case, named), path in found[folder].images.items():
            by_model.setdefault(named or model, {})[case] = path
        for name, predictions in by_model.items():
            cases += _matched(
                name,
                {case: path for (case, _), path in references.images.items()},
                predictions,
                {case: path for (case, _), path in ref_parts.items()},
                {case: path for (case, _), path in pred_parts.items()},
                of_some_folds=any(map(is_validation_output, prediction_folders(folder))),
            )
    if not any(case.reference and case.prediction for case in cases):
        raise FileError(_nothing_pairs(paths, cases))
    seen = {folder: files.without(paths.beside) for folder, files in found.items()}
    return Pairing(cases, tuple(_ignored_notices(seen)))


def _matched(
    model: str,
    references: Mapping[str, Path],
    predictions: Mapping[str, Path],
    ref_parts: Mapping[str, Path],
    pred_parts: Mapping[str, Path],
    *,
    of_some_folds: bool,
) -> list[Case]:
    cases = []
    for name in sorted({*references, *predictions}):
        ref, pred = references.get(name), predictions.get(name)
        problem = ""
        if pred is None:
            problem = f"there is no prediction for {str(ref)!r}"
        elif ref is None:
            problem = f"there is no reference for {str(pred)!r}"
        cases.append(
            Case(
                name,
                model,
                None if ref is None else ImageFile(ref, ref_parts.get(name)),
                None if pred is None else ImageFile(pred, pred_parts.get(name)),
                problem,
                of_some_folds,
            )
        )
    return cases


def _parts(folder: Path | None, pattern: str | None) -> dict[tuple[str, str], Path]:
    return {} if folder is None else find_label_files(folder, pattern, "parts").images


def _ignored_notices(found: Mapping[Path, FoundFiles]) -> Iterator[Notice]:
    """Yield a notice for every folder with files that were not read."""
    for folder, files in found.items():
        if files.n_ignored:
            text = (
                f"{plural(files.n_ignored, 'file')} in {str(folder)!r} "
                f"{'was' if files.n_ignored == 1 else 'were'} ignored: {files.ignored_text}."
            )
            yield Notice("ignored-files", text)


def _nothing_pairs(paths: DatasetPaths, cases: list[Case]) -> str:
    sides = {
        "REF": [case.name for case in cases if case.reference],
        "PRED": [case.name for case in cases if case.prediction],
    }
    shown = "; ".join(
        f"{side} has {', '.join(map(repr, sorted(set(names))[:MOST_NAMES]))}"
        f"{' …' if len(set(names)) > MOST_NAMES else ''}"
        for side, names in sides.items()
    )
    remedy = (
        "With these patterns, no name is on both sides"
        if paths.patterns
        else "Say where the case is in a file name, for instance --pattern '{case}_ref.nii.gz' "
        "--pattern '{case}_pred.nii.gz', or pass a manifest"
    )
    return f"no reference has a prediction: {shown}. By default {RULE}. {remedy}."

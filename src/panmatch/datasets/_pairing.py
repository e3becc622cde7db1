"""Which prediction belongs to which reference."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from panmatch.datasets._cases import Case, ImageFile
from panmatch.errors import FileError, OptionError
from panmatch.formats import case_name, is_label_file

MOST_NAMES = 5

RULE = "files pair if their names are equal, folders below REF and PRED included, suffixes aside"


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
        None, one or two patterns for the paths below the folders: of both sides, or of the
        references and of the predictions. ``{case}`` stands for the name of the case,
        ``{model}`` for that of the model, ``*`` and ``?`` for anything.
    reference_parts, prediction_parts
        Files or folders of part images, the latter by model.
    """

    reference: Path
    predictions: Mapping[str, Path]
    patterns: tuple[str, ...] = ()
    reference_parts: Path | None = None
    prediction_parts: Mapping[str, Path] | None = None


def pair(paths: DatasetPaths) -> list[Case]:
    """Return all cases, those without a partner included, each with its problem."""
    if not paths.predictions:
        raise OptionError("PRED is missing: name a file or folder, or models with --model.")
    for path in (paths.reference, *paths.predictions.values()):
        if not path.exists():
            raise FileError(f"path={str(path)!r} does not exist.")
    if len(paths.patterns) > 2:
        raise OptionError("--pattern is given more than twice: once for both sides, or for each.")
    if all(_is_one(path) for path in (paths.reference, *paths.predictions.values())):
        return _pair_files(paths)
    for path in (paths.reference, *paths.predictions.values()):
        if not path.is_dir() or _is_one(path):
            raise OptionError(
                f"path={str(path)!r} is a file where others are folders: pass files only, or "
                f"folders only."
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


def _pair_folders(paths: DatasetPaths) -> list[Case]:
    of_ref = paths.patterns[0] if paths.patterns else None
    of_pred = paths.patterns[-1] if paths.patterns else None
    references = _found(paths.reference, of_ref, "REF")
    ref_parts = _parts(paths.reference_parts, of_ref)
    cases: list[Case] = []
    for model, folder in paths.predictions.items():
        pred_parts = _parts((paths.prediction_parts or {}).get(model), of_pred)
        by_model: dict[str, dict[str, Path]] = {}
        for (case, named), path in _found(folder, of_pred, "PRED").items():
            by_model.setdefault(named or model, {})[case] = path
        for name, predictions in by_model.items():
            cases += _matched(
                name,
                {case: path for (case, _), path in references.items()},
                predictions,
                {case: path for (case, _), path in ref_parts.items()},
                {case: path for (case, _), path in pred_parts.items()},
            )
    if not any(case.reference and case.prediction for case in cases):
        raise FileError(_nothing_pairs(paths, cases))
    return cases


def _matched(
    model: str,
    references: Mapping[str, Path],
    predictions: Mapping[str, Path],
    ref_parts: Mapping[str, Path],
    pred_parts: Mapping[str, Path],
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
            )
        )
    return cases


def _parts(folder: Path | None, pattern: str | None) -> dict[tuple[str, str], Path]:
    return {} if folder is None else _found(folder, pattern, "parts")


def _found(folder: Path, pattern: str | None, side: str) -> dict[tuple[str, str], Path]:
    """Return the label files below a folder by case and model (empty where none is named)."""
    match = None if pattern is None else _compiled(pattern)
    found: dict[tuple[str, str], Path] = {}
    for path in sorted(_label_files(folder)):
        below = path.relative_to(folder)
        if match is None:
            key = (below.parent / case_name(below)).as_posix(), ""
        else:
            names = match.fullmatch(below.as_posix())
            if names is None:
                continue
            key = names["case"], names.groupdict().get("model") or ""
        if key in found:
            raise FileError(
                f"{str(found[key])!r} and {str(path)!r} are both case {key[0]!r}: drop one, or "
                f"tell them apart with --pattern."
            )
        found[key] = path
    if not found:
        fits = f" that fits the pattern {pattern!r}" if pattern else ""
        raise FileError(f"{side}={str(folder)!r} holds no label file{fits}.")
    return found


def _label_files(folder: Path) -> Iterable[Path]:
    """Return label files below a folder; a Zarr store is one, and hidden ones are none."""
    for path in folder.iterdir():
        if path.name.startswith("."):
            continue
        if is_label_file(path):
            yield path
        elif path.is_dir():
            yield from _label_files(path)


def _compiled(pattern: str) -> re.Pattern[str]:
    """Return the pattern as a regular expression; a name that is repeated must agree.

    Examples
    --------
    >>> found = _compiled("{case}/{case}_pred_{model}.*").fullmatch("p7/p7_pred_unet.nii.gz")
    >>> found["case"], found["model"]
    ('p7', 'unet')
    """
    if "{case}" not in pattern:
        raise OptionError(
            f"--pattern {pattern!r} must say where the name of the case is: {{case}}."
        )
    strange = sorted(set(re.findall(r"\{[^}]*\}", pattern)) - {"{case}", "{model}"})
    if strange:
        raise OptionError(
            f"--pattern {pattern!r} has {strange[0]}, which means nothing; there are {{case}} and "
            f"{{model}}."
        )
    text, seen = "", set()
    for token in re.split(r"(\{case\}|\{model\}|\*|\?)", pattern):
        if token in ("{case}", "{model}"):
            name = token[1:-1]
            text += f"(?P={name})" if name in seen else f"(?P<{name}>.+?)"
            seen.add(name)
        else:
            text += {"*": ".*", "?": "."}.get(token, re.escape(token))
    return re.compile(text)


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
        "The patterns leave no name in common"
        if paths.patterns
        else "Say where the name of a case is, for instance --pattern '{case}_ref.nii.gz' "
        "--pattern '{case}_pred.nii.gz', or pass a manifest"
    )
    return f"no reference has a prediction: {shown}. By default {RULE}. {remedy}."

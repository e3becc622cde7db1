"""Which cases `panmatch evaluate` evaluates, and where their confidences are."""

from __future__ import annotations

from collections.abc import Sequence

from panmatch.datasets import (
    DatasetPaths,
    Pairing,
    ScorePlaces,
    coco_cases,
    expect_scores,
    find_pairs,
    instance_cases,
    is_panoptic,
    read_manifest,
    score_places,
    with_scores,
)
from panmatch.errors import OptionError
from panmatch.spec import Spec

NO_PLACES = ScorePlaces({})


def default_spec(paths: DatasetPaths) -> str:
    """Return the preset for the kind of COCO file, or the default one."""
    if paths.reference.suffix.lower() != ".json":
        return "instances"
    return "coco" if is_panoptic(paths.reference) else "coco-instances"


def find_cases(paths: DatasetPaths, spec: Spec, places: ScorePlaces = NO_PLACES) -> Pairing:
    """Return all cases of a manifest, of COCO files, of two files or of folders."""
    found = _listed_cases(paths, spec)
    cases, notices = with_scores(found.cases, spec, places)
    return Pairing(cases, (*found.notices, *notices))


def _listed_cases(paths: DatasetPaths, spec: Spec) -> Pairing:
    if paths.reference.suffix.lower() == ".csv":
        if paths.predictions:
            raise OptionError("PRED: a manifest already names the predictions; drop PRED.")
        return Pairing(read_manifest(paths.reference))
    if spec.encoding in ("coco", "coco-instances"):
        if not paths.predictions:
            raise OptionError("PRED is missing: name a JSON file, or models with --model.")
        find = coco_cases if spec.encoding == "coco" else instance_cases
        return Pairing(find(paths.reference, paths.predictions))
    return find_pairs(paths)


def read_places(given: Sequence[str], models: Sequence[str]) -> ScorePlaces:
    """Return where confidences are, from ``--scores``: one place, or NAME=PLACE for each model.

    Examples
    --------
    >>> dict(read_places(["a=out/a.csv", "b=out/b"], ["a", "b"]).of_model)
    {'a': 'out/a.csv', 'b': 'out/b'}
    """
    if len(given) == 1:
        name, _, place = given[0].partition("=")
        return score_places({name: place} if name in models and place else given[0], models)
    pairs = [text.partition("=") for text in given]
    for name, equals, place in pairs:
        if not (name in models and equals and place):
            raise OptionError(
                f"--scores {name}{equals}{place}: with several of them, each must be the name of a "
                f"model and a place, such as {next(iter(models), 'unet')}=scores."
            )
    return score_places({name: place for name, _, place in pairs} if pairs else None, models)


def choose_scores(
    spec: Spec, given: Sequence[str], cut: str | None, paths: DatasetPaths
) -> tuple[Spec, ScorePlaces]:
    """Return the spec with what ``--scores`` and ``--cut`` add to it, and where confidences are."""
    if given and spec.encoding != "labels":
        raise OptionError("--scores: COCO files have scores of their own, or none; drop it.")
    models = tuple(paths.predictions) or ("",)
    places = read_places(given, models)
    return expect_scores(spec, places, read_cut(cut)), places


def read_cut(text: str | None) -> float | None:
    """Return the cut that is given as text.

    Examples
    --------
    >>> read_cut("0.5"), read_cut(None)
    (0.5, None)
    """
    try:
        return None if text is None else float(text)
    except ValueError as error:
        raise OptionError(f"--cut {text!r} must be a number, such as 0.5.") from error


def check_missing(missing: str, spec: Spec) -> None:
    """Raise an `OptionError` if a missing prediction would need a confidence."""
    if missing == "worst" and spec.confidence is not None:
        raise OptionError(
            "--missing worst cannot be used with confidences: a worst prediction has none. Use "
            "--missing empty."
        )


def beside_images(spec: Spec) -> tuple[str, ...]:
    """Return the suffixes of files that belong next to images."""
    return () if spec.confidence is None else (".csv",)

"""Where the confidences of each case are, and how to read them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from panmatch.datasets._cases import Case, ImageFile
from panmatch.datasets._confidence_like import TABLE, confidences_from_file, is_table, open_table
from panmatch.datasets._label_files import find_images
from panmatch.datasets._loading import Loaded
from panmatch.errors import FileError, OptionError, check_choice
from panmatch.evaluation import Confidences, Notice, plural, some_names
from panmatch.formats import case_name, check_same_grid, read_probabilities
from panmatch.labels import as_labels
from panmatch.spec import Spec

Source = Literal["csv", "image"]
NO_SCORES = Confidences({})  # of a prediction without objects


@dataclass(frozen=True, slots=True)
class ScorePlaces:
    """Where the confidences of each model are.

    Attributes
    ----------
    of_model
        By model: a folder with a file for each case, a CSV file with the column ``case``, or a
        pattern with ``{case}`` and perhaps ``{model}``. Empty if they are next to the predictions.
    """

    of_model: Mapping[str, str]

    def guess_source(self) -> Source:
        """Return whether these are CSV files or images."""
        for given in self.of_model.values():
            path = Path(given)
            if is_table(path) or (path.is_dir() and any(path.rglob(f"*{TABLE}"))):
                return "csv"
        return "image"


def score_places(
    given: str | os.PathLike[str] | Mapping[str, str | os.PathLike[str]] | None,
    models: Sequence[str],
) -> ScorePlaces:
    """Return where the confidences of each model are; one place without a name is for all models.

    Examples
    --------
    >>> dict(score_places("out/{model}/{case}.csv", ["a", "b"]).of_model)
    {'a': 'out/{model}/{case}.csv', 'b': 'out/{model}/{case}.csv'}
    """
    if given is None:
        return ScorePlaces({})
    if isinstance(given, Mapping):
        for model in given:
            check_choice("model of scores", model, models)
        return ScorePlaces({model: os.fspath(place) for model, place in given.items()})
    place = os.fspath(given)
    if len(models) > 1 and "{model}" not in place:
        raise OptionError(
            f"scores={place!r} is one place for the models {', '.join(models)}: name one for each "
            f"model, or write {{model}} where its name is."
        )
    return ScorePlaces(dict.fromkeys(models, place))


def expect_scores(spec: Spec, places: ScorePlaces, cut: float | None) -> Spec:
    """Return a spec that has confidences if there are scores, and the cut if there is one."""
    if spec.confidence is None and not places.of_model:
        if cut is None:
            return spec
        raise OptionError("--cut needs confidences: say where they are with --scores.")
    content = spec.model_dump(mode="json")
    how = content["confidence"] or {"source": places.guess_source()}
    content["confidence"] = how | ({} if cut is None else {"cut": cut})
    return Spec.model_validate(content)


def with_scores(
    cases: Sequence[Case], spec: Spec, places: ScorePlaces
) -> tuple[list[Case], list[Notice]]:
    """Return the cases with the files of their confidences, and what those hold beyond them.

    A case whose file is missing cannot be evaluated; its problem says why.
    """
    if spec.confidence is None or spec.encoding != "labels":
        return list(cases), []
    finders = {model: _Finder(given, spec.confidence.source)
               for model, given in places.of_model.items()}  # fmt: skip
    if any(case.model not in finders for case in cases):
        finders |= dict.fromkeys({case.model for case in cases} - set(finders),
                                 _Finder("", spec.confidence.source))  # fmt: skip
    found = [_with_file(case, finders[case.model]) for case in cases]
    notices = [
        notice
        for model, finder in finders.items()
        for notice in finder.notices({case.name for case in cases if case.model == model})
    ]
    return found, notices


def _with_file(case: Case, finder: _Finder) -> Case:
    pred = case.prediction
    if pred is None or case.reference is None or pred.scores is not None:
        return case
    path = finder.path_of(case, pred)
    if path is None or not path.exists():
        where = f" in {finder.given!r}" if path is None else f": {str(path)!r} does not exist"
        return replace(case, problem=f"there are no confidences for {str(pred.path)!r}{where}")
    return replace(case, prediction=replace(pred, scores=path))


class _Finder:
    """Finds the confidences of cases at one place."""

    def __init__(self, given: str, source: Source) -> None:
        self.given = given
        self._source = source
        self._images: dict[str, Path] = {}
        path = Path(given)
        if not given:
            if source == "image":
                raise OptionError(
                    "the spec says `confidence: {source: image}`: say where the images of "
                    "probabilities are with --scores."
                )
        elif "{case}" in given:
            pass
        elif not path.exists():
            raise FileError(f"--scores {given!r} does not exist: check its spelling.")
        elif path.is_dir() and source == "image":
            self._images = find_images(path)

    def path_of(self, case: Case, prediction: ImageFile) -> Path | None:
        """Return where the confidences of a case should be; None if that is not known."""
        path = Path(self.given)
        if not self.given:
            return prediction.path.with_name(f"{case_name(prediction.path)}{TABLE}")
        if "{case}" in self.given:
            return Path(self.given.replace("{case}", case.name).replace("{model}", case.model))
        if not path.is_dir():
            return path
        if self._source == "image":
            return self._images.get(case.name)
        return path / f"{case.name}{TABLE}"

    def notices(self, known: set[str]) -> list[Notice]:
        """Return a notice if a CSV file of all cases has others than these."""
        if not self.given or "{case}" in self.given or not is_table(self.given):
            return []
        others = sorted(str(case) for case in open_table(Path(self.given)).rows
                        if case is not None and case not in known)  # fmt: skip
        if not others:
            return []
        text = (
            f"{self.given!r} has confidences of {plural(len(others), 'case')} without a "
            f"prediction: {some_names(others)}."
        )
        return [Notice("ignored-rows", text)]


def load_confidences(
    case: Case, loaded: Loaded, spec: Spec, *, allow_header_mismatch: bool
) -> Confidences | None:
    """Read the confidences of a case; None if the spec does not ask for any."""
    if spec.confidence is None:
        return None
    if case.prediction is None:
        return NO_SCORES
    path = case.prediction.scores
    if path is None:
        raise FileError(f"there are no confidences for {str(case.prediction.path)!r}.")
    if is_table(path):
        found = confidences_from_file(path, case.name)
        return _still_there(found, loaded) if loaded.resampled else found
    if loaded.resampled:
        raise FileError(
            f"path={str(path)!r} cannot be used with --resample: probabilities are not resampled. "
            f"Resample it with its prediction, or reduce it to a CSV file of scores."
        )
    image = read_probabilities(path)
    if loaded.grid is not None:
        check_same_grid(loaded.grid, image, allow_header_mismatch=allow_header_mismatch)
    return Confidences(image.labels, f"path={str(path)!r}")  # type: ignore[arg-type]


def _still_there(found: Confidences, loaded: Loaded) -> Confidences:
    """Leave out objects that were lost when the prediction was resampled."""
    assert isinstance(found.values, Mapping)
    labels = as_labels(loaded.prediction.labels, "prediction")  # type: ignore[arg-type]
    there = {one: value for one, value in found.values.items() if (labels == one).any()}
    return Confidences(there, found.source)

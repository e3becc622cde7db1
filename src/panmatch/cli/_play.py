"""`panmatch play`: scenes or files in the browser, scored as they change."""

from __future__ import annotations

import shlex
import threading
import webbrowser
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from panmatch import playground
from panmatch.datasets import Case, listed_cases, load_run, play_command
from panmatch.errors import OptionError, check_choice, nearest_name
from panmatch.evaluation import MEANS, CostlyMistake, Result, some_names
from panmatch.matching import Matcher
from panmatch.playground import (
    STRATEGIES,
    FilePair,
    ShownClass,
    State,
    View,
    page_link,
    read_link,
    write_link,
)


@dataclass(frozen=True, slots=True)
class OpenRequest:
    """What to open: drawn scenes, two files, or a case of a run."""

    ref: Path | None = None  # a file, or the output folder of a run
    pred: Path | None = None
    case: str | None = None
    model: str | None = None
    slice_number: int | None = None
    link: str | None = None
    image: Path | None = None  # to show beneath the labels
    scores: Path | None = None  # how sure a model is of every prediction

    def open(self, *, allow_header_mismatch: bool) -> tuple[FilePair | None, str]:
        """Return the files, or None for scenes, and the end of the page's address."""
        if self.link is not None and self.slice_number is not None:
            raise OptionError("--link already says which slice to show: drop --slice.")
        end = "" if self.link is None else page_link(self.link)
        if self.ref is None:
            self._check_unused(case=self.case, model=self.model, slice=self.slice_number)
            if self.image is not None:
                raise OptionError(
                    "--image shows an image beneath two label files: name REF and PRED as well."
                )
            if self.scores is not None:
                raise OptionError(
                    "--scores gives the predictions of a label file their confidences: name REF "
                    "and PRED as well."
                )
            return None, end
        view, shown = View(slice=self.slice_number), None
        if self.ref.is_dir() and self.pred is None:
            if self.scores is not None:
                raise OptionError(
                    "--scores is about the labels of one file: name REF and PRED instead of a run."
                )
            files, shown, view = self._from_run(self.ref)
        else:
            self._check_unused(case=self.case, model=self.model)
            if self.pred is None:
                raise OptionError(
                    "PRED is missing: name two files, or leave out REF too to draw scenes."
                )
            files = self.ref, self.pred
        pair = FilePair.open(
            *files,
            image=self.image,
            shown_class=shown,
            allow_header_mismatch=allow_header_mismatch,
            scores=self.scores,
        )
        if view == View() or self.link is not None:
            return pair, end
        if view.slice is not None and (len(pair.shape) < 3 or view.slice >= min(pair.shape)):
            raise OptionError(
                f"--slice {view.slice} does not exist: the images have the shape {pair.shape}, and "
                f"are sliced along their shortest axis."
            )
        axis = pair.shape.index(min(pair.shape))
        return pair, write_link(State(None, replace(view, axis=axis)))

    def _from_run(self, folder: Path) -> tuple[tuple[Path, Path], ShownClass | None, View]:
        """Return the files of a case of a run, and the class and view of its costliest mistake."""
        case = self._find_case(folder)
        if play_command(folder, case) is None or case.reference is None or case.prediction is None:
            raise OptionError(
                f"--case {self.case!r} cannot be opened here: it is not stored as two separate "
                f"image files."
            )
        found = load_run(folder)
        worst = next(iter(found.look_first(1, case.model, case.name)), None)
        number = worst.slice if worst and self.slice_number is None else self.slice_number
        view = _matched_by(found.spec.matching[0], found.spec.thresholds[0])
        shown = ShownClass.of(found.spec, _class_to_show(found, case, worst))
        return (case.reference.path, case.prediction.path), shown, replace(view, slice=number)

    def _find_case(self, folder: Path) -> Case:
        """Return the case of a run that `--case` and `--model` name."""
        known = listed_cases(folder)
        every = list(dict.fromkeys(name for _, name in known))
        if self.case is None:
            raise OptionError(f"--case is missing: name a case of the run ({some_names(every)}).")
        models = [model for model, name in known if name == self.case]
        if not models:
            meant = nearest_name(self.case, every)
            raise OptionError(f"--case {self.case!r} is not in the run{meant}")
        if self.model is None and len(models) > 1:
            names = some_names(models)
            raise OptionError(
                f"--model is missing: several models have the case {self.case!r} ({names})."
            )
        model = models[0] if self.model is None else self.model
        check_choice("--model", model, models)
        return known[model, self.case]

    def _check_unused(self, **options: object) -> None:
        for name, value in options.items():
            if value is not None:
                raise OptionError(
                    f"--{name} needs the output folder of a run: panmatch play OUT --{name} …"
                )


def _class_to_show(found: Result, case: Case, worst: CostlyMistake | None) -> str:
    """Return the class of a mistake; without one the headline class, or the first that occurs."""
    if worst is not None:
        return worst.setting.class_name
    if found.headline_class not in MEANS:
        return found.headline_class
    there = (
        entry.setting.class_name
        for one in found.cases
        if (one.model, one.case) == (case.model, case.name)
        for entry in one.entries
        if entry.levels[0].tally.tp
    )
    return next(there, next(iter(found.spec.classes)))


def _matched_by(matcher: Matcher, threshold: float) -> View:
    """Return the view that matches objects as a run does, with the default strategy if it cannot.

    Examples
    --------
    >>> from panmatch.matching import RegionUnion
    >>> view = _matched_by(Matcher(RegionUnion(), regions="voronoi"), 0.1)
    >>> view.strategy, view.regions, view.threshold
    ('union', True, 0.1)
    """
    key, regions = matcher.strategy.key, matcher.regions == "voronoi"
    if STRATEGIES.get(key) != matcher.strategy or matcher != Matcher(
        matcher.strategy, regions="voronoi" if regions else None
    ):
        return View(threshold=threshold)
    return View(strategy=key, threshold=threshold, regions=regions)


def run_play(
    request: OpenRequest, port: int, *, browser: bool, allow_header_mismatch: bool
) -> None:
    """Serve the playground until the user interrupts it."""
    pair, end = request.open(allow_header_mismatch=allow_header_mismatch)
    with playground.listen(port) as listening:
        address, number = listening.getsockname()
        url = f"http://{address}:{number}/{end}"
        with suppress(KeyboardInterrupt):
            print(f"Playground: {url} (press Ctrl-C to stop)", flush=True)
            if browser:
                # Some browsers run in the terminal and outlive the server.
                threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()
            playground.serve(listening, pair)


def run_export(folder: Path, link: str | None) -> None:
    """Write a scene to files, and say how to evaluate them."""
    state, _ = read_link(link or "")
    for path in playground.export_scene(state, folder):
        print(f"File: {path}")
    print(f"\nTo evaluate them:\n  {shlex.join(playground.evaluate_command(state, folder))}")

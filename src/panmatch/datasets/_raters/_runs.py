"""Folders with several references: one run for each rater as the reference, and tables of all."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import get_args

from panmatch.datasets._cases import Case
from panmatch.datasets._folders import Folder, Folders, by_model
from panmatch.datasets._outputs import read_run
from panmatch.datasets._pairing import DatasetPaths, Pairing, find_pairs
from panmatch.datasets._phases import Stopwatch
from panmatch.datasets._raters._comparison import (
    RaterComparison,
    RaterTable,
    check_names,
    check_spec,
)
from panmatch.datasets._run import RunOptions, Watch, load_run, run_dataset
from panmatch.datasets._table_files import write_table
from panmatch.datasets._worker import Job
from panmatch.errors import FileError, OptionError, check_size, named_only
from panmatch.evaluation import Notice
from panmatch.formats import case_name, is_label_file, write_atomically
from panmatch.spec import Spec, SpecLike, as_spec

FORMAT = "panmatch-raters-1"
LIST = "raters.json"  # which raters and models there are
# The file of each table.
FILES: Mapping[RaterTable, str] = {
    "pairs": "raters",
    "agreement": "agreement",
    "spread": "rater_spread",
    "bounds": "rater_bounds",
}


@dataclass(frozen=True, slots=True)
class RaterPaths:
    """Where the images are: files or folders of each rater and of each model.

    Attributes
    ----------
    references, predictions
        By the name of the rater or model.
    patterns
        Up to two patterns for the paths inside the folders: one for all, or one for the raters and
        one for the models.
    """

    references: Mapping[str, Path]
    predictions: Mapping[str, Path]
    patterns: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_names(tuple(self.references), tuple(self.predictions))
        if len(self.patterns) > 2:
            raise OptionError(
                "--pattern is given more than twice: pass one for all, or one for the raters and "
                "one for the models."
            )

    def pairings(self) -> dict[str, Pairing]:
        """Return the cases with each rater as the reference."""
        return {rater: self._against(rater) for rater in self.references}

    def _against(self, rater: str) -> Pairing:
        cases: list[Case] = []
        notices: list[Notice] = []
        others = {name: path for name, path in self.references.items() if name != rater}
        for sides, patterns in ((others, self.patterns[:1]), (self.predictions, self.patterns)):
            if sides:
                found = find_pairs(DatasetPaths(self.references[rater], sides, patterns))
                cases += found.cases
                notices += [one for one in found.notices if one not in notices]
        if all(path.is_file() or is_label_file(path) for path in self.references.values()):
            name = case_name(next(iter(self.references.values())))
            cases = [replace(case, name=name) for case in cases]  # whoever is the reference
        return Pairing(cases, tuple(notices))


def run_raters(
    pairings: Mapping[str, Pairing],
    models: Sequence[str],
    job: Job,
    folder: Path,
    options: RunOptions = RunOptions(),  # noqa: B008
    watch: Watch = lambda _: None,
    clock: Stopwatch | None = None,
    *,
    margin: float = 0.0,
) -> RaterComparison:
    """Run each rater as the reference in a folder of its own, and write the tables of all.

    Parameters
    ----------
    pairings
        The cases by rater: see `RaterPaths.pairings`.
    models
        Names of the models.
    job, folder, options, watch, clock
        As for `run_dataset`. The folder of a rater is inside `folder`, and has its name.
    margin
        Differences from a rater up to this do not matter for the verdict.
    """
    check_spec(Spec.model_validate_json(job.spec))
    if (folder / "run.json").exists():
        raise FileError(
            f"OUT={str(folder)!r} contains the results of a run with one reference: name another "
            f"folder with -o."
        )
    kept, clock = replace(job, keep_overlaps=True), clock or Stopwatch()
    results = {
        rater: run_dataset(found.cases, kept, folder / rater, options, watch, clock, found.notices)
        for rater, found in pairings.items()
    }
    comparison = RaterComparison(results, tuple(models))
    with clock.phase("bootstrap"):
        tables = {name: comparison.plain(name, margin=margin) for name in get_args(RaterTable)}
    with clock.phase("tables"):
        for name, table in tables.items():
            write_table(folder, FILES[name], table)
    content = {"format": FORMAT, "raters": list(comparison.raters), "models": list(models),
               "margin": margin}  # fmt: skip
    write_atomically(folder / LIST, f"{json.dumps(content, indent=2)}\n".encode())
    return comparison


def holds_raters(folder: Path) -> bool:
    """Return whether a folder is the output of a run with several references."""
    return (folder / LIST).is_file()


def load_raters(folder: Path) -> tuple[RaterComparison, float]:
    """Return the comparison in a folder, and the margin of its verdicts."""
    try:
        content = json.loads((folder / LIST).read_text(encoding="utf-8"))
        if content["format"] != FORMAT:
            raise ValueError(f"its format is {content['format']!r}, not {FORMAT!r}")
        raters, models, margin = content["raters"], content["models"], float(content["margin"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise FileError(
            f"path={str(folder)!r} is not an output folder of `panmatch evaluate --reference`: "
            f"{error}."
        ) from error
    for rater in raters:
        read_run(folder / rater)  # the error names the folder
    results = {rater: load_run(folder / rater) for rater in raters}
    return RaterComparison(results, tuple(models)), margin


@named_only
def compare_rater_folders(
    *,
    references: Mapping[str, Folder],
    prediction: Folders | None = None,
    out: Folder,
    spec: SpecLike = "instances",
    patterns: Sequence[str] = (),
    workers: int = 1,
    margin: float = 0.0,
) -> RaterComparison:
    """Compare folders of several raters and models, as ``panmatch evaluate --reference`` does.

    Parameters
    ----------
    references
        The folder of each rater, by name; two or more. Files with the same name belong together.
    prediction
        Folder with predictions, which names the model, or folders by the name of the model. Without
        it, raters are only compared with each other.
    out
        Folder for the tables; made if missing. Each rater as the reference gets a folder in it,
        with all tables of `evaluate_folders`. Call it again to evaluate only what is new or has
        changed.
    spec, workers
        As for `evaluate_folders`.
    patterns
        Where file names differ: one pattern for all, or one for raters and one for models.
    margin
        Differences from a rater up to this do not matter for the verdict in ``rater_spread.csv``.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> import panmatch as pm
    >>> with tempfile.TemporaryDirectory() as name:
    ...     folders = {who: Path(name) / who for who in ("ann", "bob", "unet")}
    ...     for folder in folders.values():
    ...         folder.mkdir()
    ...         np.save(folder / "case1.npy", np.array([[1, 1, 0, 2]]))
    ...     unet = {"unet": folders.pop("unet")}
    ...     found = pm.compare_rater_folders(
    ...         references=folders, prediction=unet, out=Path(name) / "out"
    ...     )
    ...     written = sorted(path.name for path in (Path(name) / "out").glob("*.csv"))
    >>> found
    RaterComparison(raters ann and bob, model unet, 1 case)
    >>> written
    ['agreement.csv', 'rater_bounds.csv', 'rater_spread.csv', 'raters.csv']
    """
    check_size("workers", workers, 1)
    models = {} if prediction is None else by_model(prediction)
    paths = RaterPaths(
        {name: Path(folder) for name, folder in references.items()}, models, tuple(patterns)
    )
    job = Job(as_spec(spec).canonical(), threads=None if workers == 1 else 1)
    options = RunOptions(workers, resume=True)
    return run_raters(paths.pairings(), tuple(models), job, Path(out), options, margin=margin)

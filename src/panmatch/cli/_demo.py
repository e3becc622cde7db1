"""`panmatch demo`: a phantom dataset with three simulated models, evaluated and compared."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from panmatch import phantoms
from panmatch.cli._compare import ranking_rows, stability_lines
from panmatch.cli._progress import show_progress
from panmatch.datasets import (
    Comparison,
    DatasetPaths,
    Job,
    RunOptions,
    Stopwatch,
    compare,
    pair,
    run_dataset,
)
from panmatch.errors import FileError, needs_extra
from panmatch.evaluation import Score, table
from panmatch.labels import LabelArray
from panmatch.matching import ManyToOne, OneToMany, OneToOne, Strategy, match
from panmatch.overlap import count_overlaps
from panmatch.report import draw_comparison, write_report
from panmatch.scoring import curve
from panmatch.spec import as_spec

MODELS = {"splits": "splits", "misses": "misses-small", "redraws": "redraws"}
RATERS = ("ann", "bob", "eve")
CASES = 8
SHAPE, LESIONS = (72, 84, 72), 9
PRESET = "brats-mets"

DRAWN: tuple[Strategy, ...] = (OneToOne(), ManyToOne(), OneToMany())
DRAWN_AT = 0.3
OBJECTS = 19


def run_demo(out: Path, seed: int) -> None:
    """Make brains with metastases, simulate three models, and say which is best."""
    data, results = out / "data", out / "results"
    _make_folder(out)
    print(
        f"{CASES} phantom brains with metastases, and three simulated models: one cuts lesions\n"
        f"into pieces, one misses the small ones, one draws outlines badly.\n"
    )
    cases, job = pair(make_dataset(data, seed)), Job(as_spec(PRESET).canonical())
    options = RunOptions(overwrite=True)
    with show_progress() as shown:
        shown.expect(len(cases))
        clock = Stopwatch(shown.enter)
        comparison = compare(run_dataset(cases, job, results, options, shown.finished, clock))
    for score in comparison.scores:
        if not score.is_area:
            print("\n".join(_ranking_lines(comparison, score)), end="\n\n")
    print("\n".join(stability_lines(comparison, comparison.headline_class)))
    figure = out / "demo.png"
    draw_strategies(figure, seed)
    print(
        f"\nReport: {write_report(results)}\nTables: {results}\nFigure: {figure}\n"
        f"Data:   {data}\n\nTo do the same with your own folders, adapt these commands:"
    )
    print("\n".join(_commands(data)))
    print("\nThree simulated raters drew the same brains. Is a model as good as they are?")
    print("\n".join(_rater_commands(data)))


def make_dataset(folder: Path, seed: int) -> DatasetPaths:
    """Write the references, each model's predictions and what three raters drew as NIfTI files."""
    for case in range(CASES):
        brain = phantoms.brain_metastases(SHAPE, LESIONS, seed=CASES * seed + case)
        name = f"brain{case + 1:02}.nii.gz"
        _save(folder / "reference" / name, brain.labels)
        for model, habit in MODELS.items():
            prediction = phantoms.SIMULATED_MODELS[habit].predict(brain, seed=case)
            _save(folder / model / name, prediction.labels)
        for rater, drawn in phantoms.simulate_raters(brain.objects, RATERS, seed=case).items():
            seen = np.where(brain.labels > 0, brain.labels, brain.layers[0])
            _save(folder / "raters" / rater / name, np.where(drawn > 0, seen, 0))
    return DatasetPaths(folder / "reference", {model: folder / model for model in MODELS})


def draw_strategies(path: Path, seed: int) -> None:
    """Draw a scene under three strategies, with its threshold curves."""
    reference, prediction = make_scene(seed)
    overlap = count_overlaps(reference, prediction)
    draw_comparison(
        path,
        reference,
        prediction,
        [match(overlap, strategy, DRAWN_AT) for strategy in DRAWN],
        [curve(overlap, strategy) for strategy in DRAWN],
    )


def make_scene(seed: int) -> tuple[LabelArray, LabelArray]:
    """Return a reference of irregular blobs and a prediction with every typical mistake."""
    reference = phantoms.blobs((200, 280), OBJECTS, radius=(13, 18), gap=2, seed=seed)
    prediction = phantoms.merge_neighbours(reference, 3, seed=seed)
    single = _unmerged(reference, prediction)
    prediction = phantoms.shift(prediction, (4, 3), ids=single[:3] + single[8:10])
    prediction = phantoms.erode(prediction, 2, ids=single[3:5])
    prediction = phantoms.dilate(prediction, 2, ids=single[5:7])
    prediction = phantoms.split(prediction, 2, ids=single[7:10])
    prediction = phantoms.miss(prediction, ids=single[10:12])
    prediction = phantoms.add_spurious(
        prediction, 2, radius=(5, 7), avoid=reference, gap=1, seed=seed
    )
    return reference, prediction


def _unmerged(reference: LabelArray, prediction: LabelArray) -> list[int]:
    sizes = [np.bincount(labels.flat, minlength=OBJECTS + 1) for labels in (reference, prediction)]
    return [i for i in range(1, OBJECTS + 1) if sizes[0][i] == sizes[1][i]]


def _save(path: Path, labels: LabelArray) -> None:
    with needs_extra("files", "NIfTI files"):
        import nibabel

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        nibabel.save(nibabel.Nifti1Image(labels.astype(np.uint8), np.eye(4)), path)
    except OSError as error:
        raise FileError(f"path={str(path)!r} cannot be written: {error}.") from error


def _ranking_lines(comparison: Comparison, score: Score) -> list[str]:
    """Return the models by their mean of cases, one line for each strategy and threshold."""
    shown = comparison.headline_class
    rows = [["strategy", "τ", f"mean {score.title} of cases ({shown})"]]
    for ranking in ranking_rows(comparison, shown, score):
        criterion = ranking[0].criterion
        order = " > ".join(f"{placing.model} {placing.value:.3f}" for placing in ranking)
        rows.append([criterion.setting.label, criterion.level, order])
    return table(rows, left=3)


def _commands(data: Path) -> list[str]:
    lines = [f"  panmatch evaluate {data / 'reference'}"]
    lines += [f"    --model {name}={data / name}" for name in MODELS]
    lines.append(f"    --spec {PRESET} -o mine --report")
    return [*_continued(lines), "  panmatch compare mine"]


def _rater_commands(data: Path) -> list[str]:
    lines = [f"  panmatch evaluate {data / 'redraws'}"]
    lines += [f"    --reference {name}={data / 'raters' / name}" for name in RATERS]
    return _continued([*lines, f"    --spec {PRESET} -o raters --report"])


def _continued(lines: list[str]) -> list[str]:
    """Return the lines of one command."""
    return [*(f"{line} \\" for line in lines[:-1]), lines[-1]]


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(
            f"--out {str(folder)!r} cannot be created: {error}. Name another folder."
        ) from error

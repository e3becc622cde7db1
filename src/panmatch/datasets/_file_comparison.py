"""Comparing models by scores that panoptica wrote, in one TSV file per model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from panmatch.datasets._case_table import CaseDescription
from panmatch.datasets._comparison import Comparison, shared_cases, with_means
from panmatch.datasets._criteria import Criterion
from panmatch.datasets._notices import few_cases_of
from panmatch.datasets._score_files import Key, ScoreFile, read_score_file
from panmatch.errors import Argument, FileError, OptionError, check_choice
from panmatch.evaluation import MEANS, ClassSetting, Notice, Score, some_names
from panmatch.overlap import Floats
from panmatch.spec import PanopticaColumn

FIRST = "pq"  # the score to put first, if the files have it


@dataclass(frozen=True, slots=True)
class FileSetting(ClassSetting):
    """A group in a file; the file does not say how its objects were matched."""

    @property
    def label(self) -> str:
        """How objects were matched, in words."""
        return "as in the files"

    def mean(self, title: str) -> FileSetting:
        """Return the setting of a mean over groups."""
        return FileSetting(title, "mean")


def compare_files(
    paths: Sequence[Path],
    scores: Sequence[str] = (),
    how: CaseDescription = CaseDescription(),  # noqa: B008
) -> Comparison:
    """Compare models by TSV files from panoptica or ``panmatch evaluate --wide``.

    Parameters
    ----------
    paths
        One file per model. A model takes the name of its file.
    scores
        Names of the metrics to compare by, in panoptica's or panmatch's spelling; by default all
        metrics for which higher or lower is known to be better, PQ first.
    how
        A case table, the column of clusters, and the bootstrap interval.
    """
    if len({path.resolve() for path in paths}) < len(paths):
        raise OptionError("the same file is named twice.")
    if len(paths) < 2:
        raise OptionError("there is only one file, and so only one model: name a second file.")
    files = dict(zip(_model_names(paths), map(read_score_file, paths), strict=True))
    good = {model: file.subjects for model, file in files.items()}
    shared, left_out = shared_cases(good, {case for cases in good.values() for case in cases})
    keys = _shared_keys(files)
    chosen = _chosen_scores(files, keys, scores)
    tables = {
        Criterion(FileSetting(group, "things"), column.threshold, chosen[column.base]): _case_table(
            (group, column), files, shared
        )
        for group, column in keys
        if column.base in chosen
    }
    ordered = tuple(chosen.values())
    groups = dict.fromkeys(criterion.setting.class_name for criterion in tables)
    return Comparison(
        models=tuple(files),
        cases=shared,
        left_out=left_out,
        scores=ordered,
        values=with_means(tables, ordered),
        headline_class=next(iter(MEANS)) if len(groups) > 1 else next(iter(groups)),
        notices=(
            *_notes(files, keys),
            *few_cases_of(_defined(tables, ordered[0]), len(shared), how.interval or "studentised"),
        ),
        source="the files",
        units=how.units(shared),
        interval=how.interval or "studentised",
    )


def _model_names(paths: Sequence[Path]) -> list[str]:
    """Return a unique name for each file.

    Examples
    --------
    >>> _model_names([Path("x/unet.tsv"), Path("x/ours.tsv")])
    ['unet', 'ours']
    >>> _model_names([Path("unet/wide.tsv"), Path("ours/wide.tsv")])
    ['unet', 'ours']
    """
    for names in (
        [path.stem for path in paths],
        [path.resolve().parent.name for path in paths],
        [f"{path.resolve().parent.name}/{path.stem}" for path in paths],
    ):
        if len(set(names)) == len(names) and all(names):
            return names
    return [str(path) for path in paths]


def _shared_keys(files: Mapping[str, ScoreFile]) -> list[Key]:
    """Return the groups and metrics that all files have and that can be ranked."""
    first, *others = files.values()
    shared = [key for key in first.values if all(key in other.values for other in others)]
    keys = [key for key in shared if key[1].better]
    if not keys:
        has = "; ".join(
            f"{str(file.path)!r} has {some_names([_title(key) for key in file.values]) or 'none'}"
            for file in files.values()
        )
        raise FileError(f"the files have no column in common to compare by: {has}.")
    return keys


def _chosen_scores(
    files: Mapping[str, ScoreFile], keys: Sequence[Key], wanted: Sequence[str]
) -> dict[str, Score]:
    """Return the scores to compare by, keyed by column name."""
    known = {column.base: _score(column) for _, column in keys}
    ours = {column.ours: column.base for _, column in keys if column.ours}
    for name in wanted:
        lacking = [
            str(file.path)
            for file in files.values()
            if not any(name in (column.base, column.ours) for _, column in file.values)
        ]
        if 0 < len(lacking) < len(files):
            raise OptionError(
                Argument("scores", flag="--score", value=name),
                f" is not in every file: {lacking[0]!r} has no such column.",
            )
        check_choice(Argument("scores", flag="--score"), name, dict.fromkeys([*known, *ours]))
    names = [name if name in known else ours[name] for name in wanted]
    names = names or sorted(known, key=lambda name: name != FIRST)
    return {name: known[name] for name in names}


def _score(column: PanopticaColumn) -> Score:
    """Return a column as a score, without a unit, because files do not give one."""
    name = column.base
    start, _, end = name.partition("_")
    label = name.replace("_", " ")
    if column.is_area:
        label = f"AUTC ({end})"
    elif start in ("pq", "sq", "rq"):
        label = f"{start.upper()} ({end})" if end else start.upper()
    return Score(
        name,
        column.metric or "iou",
        "higher" if column.better == "higher" else "lower",
        is_area=column.is_area,
        label=label,
    )


def _case_table(key: Key, files: Mapping[str, ScoreFile], cases: Sequence[str]) -> Floats:
    """Return the values of a column, shape (cases, models)."""
    columns = []
    for file in files.values():
        places = {subject: i for i, subject in enumerate(file.subjects)}
        columns.append(file.values[key][[places[case] for case in cases]])
    return np.stack(columns, axis=1)


def _defined(tables: Mapping[Criterion, Floats], score: Score) -> dict[str, int]:
    """Return, for each group, the number of cases with a defined score: the lowest of any model."""
    counts: dict[str, int] = {}
    for criterion, table in tables.items():
        if criterion.score == score:
            n = int(np.count_nonzero(~np.isnan(table), axis=0).min())
            name = criterion.setting.class_name
            counts[name] = min(counts.get(name, n), n)
    return counts


def _notes(files: Mapping[str, ScoreFile], keys: Sequence[Key]) -> list[Notice]:
    """Return notes about what is not compared, apart from columns that cannot be ranked."""
    found = []
    for model, file in files.items():
        alone = [_title(key) for key in file.values if key[1].better and key not in keys]
        texts = {
            "columns that other files lack are left out": alone,
            "columns that are not panoptica's are left out": file.others,
        }
        found += [
            Notice("ignored-columns", f"{text}: {some_names(names)}.", model=model)
            for text, names in texts.items()
            if names
        ]
        for n, text in (
            (file.n_instances, "rows about single instances are left out"),
            (file.n_infinite, "infinite values count as undefined"),
        ):
            found += [Notice("ignored-rows", f"{text}: {n}.", model=model)] if n else []
    return found


def _title(key: Key) -> str:
    return f"{key[0]}-{key[1].name}"

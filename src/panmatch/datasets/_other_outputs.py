"""What others read: nnU-Net's ``summary.json``, grand-challenge's ``metrics.json``, maps."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from panmatch.datasets._cases import Case
from panmatch.evaluation import (
    MAP_LEGEND,
    CaseResult,
    Entry,
    Json,
    Level,
    MaskCounts,
    Result,
)
from panmatch.formats import write_atomically
from panmatch.matching import Matcher
from panmatch.spec import Spec

MAPS = "maps"
LEGEND = "legend.txt"


def nnunet_summary(result: Result, model: str, cases: Sequence[Case]) -> Json:
    """Return the voxel counts of every class as one mask, in the shape of nnU-Net's summary.

    Keys are labels, as nnU-Net has them: ``"1"``, or ``"(1, 2)"`` for a class with several; a class
    of all labels has its name. Values that are not defined are NaN.
    """
    files = {case.name: case for case in cases if case.model == model}
    keys = _label_keys(result.spec)
    per_case: list[Json] = [
        {
            "metrics": {
                keys.get(one.class_name, one.class_name): _mask_metrics(one) for one in found.masks
            },
            "prediction_file": _file(files, found.case, "prediction"),
            "reference_file": _file(files, found.case, "reference"),
        }
        for found in result.evaluated(model)
    ]
    labels = dict.fromkeys(label for one in per_case for label in one["metrics"])
    mean = {label: _means([one["metrics"].get(label, {}) for one in per_case]) for label in labels}
    names = dict.fromkeys(name for values in mean.values() for name in values)
    return {
        "foreground_mean": {
            name: float(np.mean([values[name] for values in mean.values()])) for name in names
        },
        "mean": mean,
        "metric_per_case": per_case,
    }


def _label_keys(spec: Spec) -> dict[str, str]:
    keys = {}
    for name, kind in spec.classes.items():
        if kind.numbers is not None:
            several = len(kind.numbers) > 1
            keys[name] = str(kind.numbers) if several else str(kind.numbers[0])
    return keys if len(set(keys.values())) == len(keys) else {}  # two classes of the same labels


def _mask_metrics(counts: MaskCounts) -> dict[str, float]:
    tp, fp, fn = counts.tp, counts.fp, counts.fn
    either = tp + fp + fn
    return {
        "Dice": 2 * tp / (tp + either) if either else math.nan,
        "FN": fn,
        "FP": fp,
        "IoU": tp / either if either else math.nan,
        "TN": counts.tn,
        "TP": tp,
        "n_pred": tp + fp,
        "n_ref": tp + fn,
    }


def _means(rows: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Return the mean of every metric over the cases where it is defined."""
    means = {}
    for name in dict.fromkeys(name for row in rows for name in row):
        values = [row[name] for row in rows if name in row and not math.isnan(row[name])]
        means[name] = math.fsum(values) / len(values) if values else math.nan
    return means


def _file(files: Mapping[str, Case], case: str, side: str) -> str | None:
    image = getattr(files[case], side) if case in files else None
    return None if image is None else str(image.path)


def challenge_metrics(result: Result, model: str) -> Json:
    """Return all scores in the shape of grand-challenge's metrics: cases, and aggregates.

    Paths are made of words that leaderboards accept: the pooled PQ of lesions at the threshold 0.5
    is ``aggregates.lesion.one-to-one.at_50.pq.pooled``. Areas have no threshold. A matcher is
    called by its strategy, or by its whole label where a spec has several of one strategy.
    """
    aggregates: Json = {}
    short = _matcher_words(result.spec)
    for average in (one for one in result.average_scores if one.model == model):
        place = aggregates
        at = () if average.threshold is None else (_percent(average.threshold),)
        setting = average.setting
        names = (setting.class_name, short[setting.matcher], *at, average.score.name)
        for name in map(_word, names):
            place = place.setdefault(name, {})
        place[_word(average.averaging)] = _or_null(average.value)
    cases = [
        {
            "case": case.case,
            "status": case.status,
            "reason": case.reason,
            "scores": _scores(case, short),
        }
        for case in result.cases
        if case.model == model
    ]
    return {"case": cases, "aggregates": aggregates}


def _matcher_words(spec: Spec) -> dict[Matcher, str]:
    names = [matcher.name for matcher in spec.matching]
    return {
        matcher: matcher.name if names.count(matcher.name) == 1 else _word(matcher.label)
        for matcher in spec.matching
    }


def _scores(case: CaseResult, short: Mapping[Matcher, str]) -> Json:
    scores: Json = {}
    for entry in case.entries:
        of_class = scores.setdefault(_word(entry.setting.class_name), {})
        of_class[short[entry.setting.matcher]] = _entry_scores(entry)
    return scores


def _entry_scores(entry: Entry) -> Json:
    found: Json = {_percent(level.threshold): _level_scores(level) for level in entry.levels}
    if entry.curve is not None:
        found["autc"] = _or_null(entry.curve.autc)
    return found


def _level_scores(level: Level) -> Json:
    tally = level.tally
    names = ("tp", "fp", "fn", "pq", "sq", "rq", "precision", "recall")
    plain = {name: getattr(tally, name) for name in names}
    measured = {name: value for name, value in level.measurements.scores.items() if name != "rq"}
    return {name: _or_null(value) for name, value in {**plain, **measured}.items()}


def _or_null(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _percent(threshold: float) -> str:
    """Return a threshold as a word.

    Examples
    --------
    >>> _percent(0.5), _percent(0.125)
    ('at_50', 'at_12_5')
    """
    return f"at_{100 * threshold:.10g}".replace(".", "_")


def _word(text: str) -> str:
    """Return a text without blanks, dots and whatever else a path cannot have.

    Examples
    --------
    >>> _word("mean of cases"), _word("many-to-one, merge (gate: edge)")
    ('mean_of_cases', 'many-to-one_merge_gate_edge')
    """
    return re.sub(r"[^\w-]+", "_", text).strip("_")


OTHER_OUTPUTS = ("summary.json", "metrics.json")


def write_other_outputs(
    folder: Path, result: Result, cases: Sequence[Case], names: Sequence[str]
) -> None:
    """Write what was asked for, one file per model; a single model has the plain name."""
    makers: dict[str, Callable[[str], Json]] = {
        "summary.json": lambda model: nnunet_summary(result, model, cases),
        "metrics.json": lambda model: challenge_metrics(result, model),
    }
    for name in names:
        for model in result.models:
            stem, suffix = name.split(".")
            whose = f"_{_word(model)}" if len(result.models) > 1 else ""
            content = _json_text(makers[name](model), nan=name == "summary.json")
            write_atomically(folder / f"{stem}{whose}.{suffix}", content.encode())


def _json_text(content: Any, *, nan: bool) -> str:
    return json.dumps(content, indent=2, allow_nan=nan) + "\n"


def map_name(case: Case, class_name: str, *, several: bool) -> str:
    """Return the place of a map below the folder of maps, without its suffix."""
    parts = [part for part in case.name.split("/") if part not in ("", ".", "..")]
    place = "/".join([_word(case.model), *parts] if case.model else parts)
    return f"{place}.{_word(class_name)}" if several else place


def write_legend(folder: Path) -> None:
    """Write what the codes of maps mean, in the format of ITK-SNAP's label descriptions."""
    lines = [
        "# Codes of the label maps in this folder; ITK-SNAP reads this file as label descriptions.",
        "# What is matched is that of the first matcher of the spec, at its lowest threshold.",
        '    0     0    0    0        0  0  0    "background"',
    ]
    for code, (name, about, (red, green, blue)) in MAP_LEGEND.items():
        lines.append(
            f'    {code}   {red:3}  {green:3}  {blue:3}        1  1  1    "{name}: {about}"'
        )
    folder.mkdir(parents=True, exist_ok=True)
    write_atomically(folder / LEGEND, ("\n".join(lines) + "\n").encode())

"""Files for other tools: nnU-Net's ``summary.json``, ``metrics.json``, panoptica's TSV, maps."""

from __future__ import annotations

import hashlib
import json
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from panmatch.datasets._cases import Case
from panmatch.datasets._wide import wide_text
from panmatch.evaluation import (
    MAP_LEGEND,
    CaseSeries,
    ClassSeries,
    Json,
    MaskCounts,
    Result,
    Setting,
)
from panmatch.formats import write_atomically
from panmatch.matching import Matcher
from panmatch.spec import Spec

MAPS = "maps"
LEGEND = "legend.txt"
LONGEST_NAME = 100  # bytes of a file name, before its suffix
MOST_FOLDERS = 8
DEVICE = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)  # of Windows


def nnunet_summary(result: Result, model: str, cases: Sequence[Case]) -> Json:
    """Return the voxel counts of each class as one mask, in the layout of nnU-Net's summary.

    As in nnU-Net, keys are labels: ``"1"``, or ``"(1, 2)"`` for a class with several. A class of
    all labels goes by its name. Undefined values are NaN.
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
    return keys if len(set(keys.values())) == len(keys) else {}  # two classes share all labels


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
    """Return the mean of each metric over the cases where it is defined."""
    means = {}
    for name in dict.fromkeys(name for row in rows for name in row):
        values = [row[name] for row in rows if name in row and not math.isnan(row[name])]
        means[name] = math.fsum(values) / len(values) if values else math.nan
    return means


def _file(files: Mapping[str, Case], case: str, side: str) -> str | None:
    image = getattr(files[case], side) if case in files else None
    return None if image is None else str(image.path)


def challenge_metrics(result: Result, model: str) -> Json:
    """Return all scores in the layout of grand-challenge's metrics: cases, and aggregates.

    Paths consist of words that leaderboards accept: the pooled PQ of lesions at the threshold 0.5
    is ``aggregates.lesion.one-to-one.at_50.pq.pooled``. Areas have no threshold. A matcher goes by
    its strategy, or by its full label if the spec has several with the same strategy.
    """
    aggregates: Json = {}
    short = _matcher_words(result.spec)
    for average in (one for one in result.average_scores if one.model == model):
        place = aggregates
        at = () if average.threshold is None else (_percent(average.threshold),)
        setting = average.setting
        how = short[setting.matcher] if isinstance(setting, Setting) else setting.label
        names = (setting.class_name, how, *at, average.score.name)
        for name in map(_word, names):
            place = place.setdefault(name, {})
        place[_word(average.averaging)] = _or_null(average.value)
    scores = _scores_of_cases(result, model, short)
    cases = [
        {
            "case": case.case,
            "status": case.status,
            "reason": case.reason,
            "scores": scores.get(case.case, {}),
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


def _scores_of_cases(result: Result, model: str, short: Mapping[Matcher, str]) -> dict[str, Json]:
    """Return the scores of each case as in the tables, by class, matcher and threshold."""
    found: dict[str, Json] = {}
    for series in (one for one in result.all_series if one.model == model):
        setting = series.setting
        how = short[setting.matcher] if isinstance(setting, Setting) else _word(setting.label)
        scores = {key: values.tolist() for key, values in series.case_scores().items()}
        for i, case in enumerate(series.cases):
            if not series.there[i]:
                continue
            of_class = found.setdefault(case, {}).setdefault(_word(setting.class_name), {})
            place = of_class.setdefault(how, _counts(series, i))
            for (threshold, score), values in scores.items():
                at = place if threshold is None else place[_percent(threshold)]
                at[_word(score.name)] = _or_null(values[i])
    return found


def _counts(series: CaseSeries | ClassSeries, case: int) -> Json:
    """Return TP, FP and FN of a case at each threshold; there are none without a matcher."""
    if isinstance(series, ClassSeries):
        return {}
    return {
        _percent(threshold): {
            name: int(getattr(counts.tallies, name)[case]) for name in ("tp", "fp", "fn")
        }
        for threshold, counts in series.counts.items()
    }


def _or_null(value: float) -> float | None:
    """Return a value that JSON can hold: null if it is undefined or infinite."""
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
    """Return a text without spaces, dots and other characters that a path cannot contain.

    Examples
    --------
    >>> _word("mean of cases"), _word("many-to-one, merge (gate: edge)")
    ('mean_of_cases', 'many-to-one_merge_gate_edge')
    """
    return re.sub(r"[^\w-]+", "_", text).strip("_")


WIDE = "wide.tsv"
OTHER_OUTPUTS = ("summary.json", "metrics.json", WIDE)


def write_other_outputs(
    folder: Path, result: Result, cases: Sequence[Case], names: Sequence[str]
) -> None:
    """Write the files that were asked for, one per model; a single model gets the plain name."""
    if WIDE in names:
        write_wide(folder, result)
    makers: dict[str, Callable[[str], Json]] = {
        "summary.json": lambda model: nnunet_summary(result, model, cases),
        "metrics.json": lambda model: challenge_metrics(result, model),
    }
    words = file_words(result.models)
    for name in (name for name in names if name in makers):
        for model in result.models:
            stem, suffix = name.split(".")
            whose = f"_{words[model]}" if len(result.models) > 1 else ""
            content = _json_text(makers[name](model), nan=name == "summary.json")
            write_atomically(folder / f"{stem}{whose}.{suffix}", content.encode())


def wide_files(result: Result) -> dict[str, tuple[str, Matcher, float]]:
    """Return the files in panoptica's layout, and the model, matcher and threshold of each.

    A single file is ``wide.tsv``. Several go into the folder ``wide`` and are named after what
    distinguishes them: ``unet_one-to-one_at_50.tsv``, or ``unet.tsv`` if only models differ.
    """
    models, short = file_words(result.models), _matcher_words(result.spec)
    matchers, thresholds = result.spec.matching, result.spec.thresholds
    found = {}
    for model in result.models:
        for matcher in matchers:
            for threshold in thresholds:
                parts = (
                    models[model] if len(models) > 1 else "",
                    short[matcher] if len(matchers) > 1 else "",
                    _percent(threshold) if len(thresholds) > 1 else "",
                )
                word = "_".join(filter(None, parts))
                found[f"wide/{word}.tsv" if word else WIDE] = model, matcher, threshold
    return found


def write_wide(folder: Path, result: Result) -> None:
    """Write the files in panoptica's layout, and remove those of an earlier run."""
    files = wide_files(result)
    place = folder / WIDE.removesuffix(".tsv")
    for old in (folder / WIDE, *place.glob("*.tsv")):
        if old.relative_to(folder).as_posix() not in files:
            old.unlink(missing_ok=True)
    if WIDE not in files:
        place.mkdir(parents=True, exist_ok=True)
    for name, (model, matcher, threshold) in files.items():
        write_atomically(folder / name, wide_text(result, model, matcher, threshold).encode())


def _json_text(content: Any, *, nan: bool) -> str:
    return json.dumps(content, indent=2, allow_nan=nan) + "\n"


def with_map_places(cases: Sequence[Case]) -> list[Case]:
    """Return the cases with a distinct place for the label maps of each."""
    models = file_words(case.model for case in cases)
    names = file_words((case.name for case in cases), folders=True)
    return [
        replace(case, map_place="/".join(filter(None, (models[case.model], names[case.name]))))
        for case in cases
    ]


def map_name(case: Case, class_name: str, classes: Iterable[str]) -> str:
    """Return the path of a map inside the folder of maps, without its suffix."""
    words = file_words(classes)
    return f"{case.map_place}.{words[class_name]}" if len(words) != 1 else case.map_place


def file_words(texts: Iterable[str], *, folders: bool = False) -> dict[str, str]:
    """Return a file name for each text, or a path with `folders`.

    Plain texts of letters and digits stay as they are. Texts that cannot be file names, lead out
    of the folder or are too long are replaced, and get a digest of the text. So do names that
    differ only in capitals, because some disks treat them as one.

    Examples
    --------
    >>> file_words(["unet", "a/b"])
    {'unet': 'unet', 'a/b': 'a_b-c14cddc0'}
    >>> file_words(["site 1/p7", "../p7"], folders=True)
    {'site 1/p7': 'site 1/p7', '../p7': '_/p7-8ecf5809'}
    """
    words = {text: _safe_path(text) if folders else _safe_name(text) for text in texts}
    times = Counter(_regardless_of_capitals(word) for word in words.values())
    return {
        text: word
        if word == text and times[_regardless_of_capitals(word)] == 1
        else f"{word}-{hashlib.sha256(text.encode(errors='surrogateescape')).hexdigest()[:8]}"
        for text, word in words.items()
    }


def _safe_path(text: str) -> str:
    parts = text.split("/")
    if len(parts) > MOST_FOLDERS:
        return _safe_name(text)
    return "/".join(_safe_name(part) or "_" for part in parts)


def _safe_name(text: str) -> str:
    word = re.sub(r"[^\w .=+,@()-]", "_", text)
    word = "_" if text and not word.strip(". ") else word.strip(" ").rstrip(".")
    if DEVICE.fullmatch(word):
        word = f"_{word}"
    return word.encode()[:LONGEST_NAME].decode(errors="ignore")


def _regardless_of_capitals(text: str) -> str:
    return unicodedata.normalize("NFC", text).casefold()


def write_legend(folder: Path) -> None:
    """Write the meaning of the codes in the maps, as label descriptions for ITK-SNAP."""
    lines = [
        "# Codes of the label maps in this folder; ITK-SNAP reads this file as label descriptions.",
        "# Matches are those of the first matcher of the spec, at its lowest threshold.",
        '    0     0    0    0        0  0  0    "background"',
    ]
    for code, (name, about, (red, green, blue)) in MAP_LEGEND.items():
        lines.append(
            f'    {code}   {red:3}  {green:3}  {blue:3}        1  1  1    "{name}: {about}"'
        )
    folder.mkdir(parents=True, exist_ok=True)
    write_atomically(folder / LEGEND, ("\n".join(lines) + "\n").encode())

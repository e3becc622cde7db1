"""The tables of detections of a run, with bootstrap intervals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np

from panmatch.datasets._statistics import FEWEST_CASES, ResampledCuts, Resampling, resampled_cuts
from panmatch.datasets._statistics import interval as percentiles
from panmatch.datasets._table_files import write_table
from panmatch.evaluation import (
    DETECTION_TABLES,
    ClassSetting,
    DetectionScore,
    DetectionSeries,
    Result,
    Row,
    Table,
    detection_scores,
    detection_table,
    families,
    mean_setting,
    passed_threshold,
)
from panmatch.matching import Weights, ratio
from panmatch.overlap import Floats
from panmatch.scoring import COCO_THRESHOLDS

MOST_RESAMPLES, FEWEST_RESAMPLES = 1000, 100
WORK = 20_000_000  # cuts times thresholds times resamples of a class, beyond which there are fewer

Key = tuple[str, ClassSetting, float | None, str]
Samples = dict[Key, Floats]


def write_detections(folder: Path, result: Result, resamplings: Mapping[str, Resampling]) -> None:
    """Write the tables of detections.

    Parameters
    ----------
    resamplings
        How the cases of each model are resampled.
    """
    for name in DETECTION_TABLES:
        table = (
            detections_with_intervals(result, resamplings)
            if name == "detections"
            else result.plain(name)
        )
        write_table(folder, name, table)


def detections_with_intervals(result: Result, resamplings: Mapping[str, Resampling]) -> Table:
    """Return the scores of detections with 95 % percentile intervals over resamples of cases.

    Fewer than 5 cases get no interval. Classes with very many predictions get fewer resamples,
    which the table states.
    """
    scores, samples = [], Samples()
    for model, resampling in resamplings.items():
        series = [one for one in result.detection_series if one.model == model]
        found = list(detection_scores(series))
        scores += found
        if resampling.n_units >= FEWEST_CASES:
            for one in series:
                samples |= _samples(one, resampling.drawn)
            samples |= _mean_samples(found, samples)
    none = np.zeros(0)
    return detection_table(
        scores, result.cases, lambda one: _interval_columns(samples.get(_key(one), none))
    )


def _key(one: DetectionScore) -> Key:
    return one.model, one.setting, one.threshold, one.measure


def _interval_columns(samples: Floats) -> Row:
    ends = percentiles(samples)
    return {"low": ends.low, "high": ends.high, "resamples": len(samples)}


def n_resamples_of(series: DetectionSeries) -> int:
    """Return how many resamples a class gets: fewer if it has very many predictions."""
    cuts = len(np.unique(series.surface.confidences))
    levels = len({*series.thresholds, *COCO_THRESHOLDS})
    return int(np.clip(WORK // max(cuts * levels, 1), FEWEST_RESAMPLES, MOST_RESAMPLES))


def _samples(series: DetectionSeries, drawn: Weights) -> Samples:
    """Return the scores of a series in every resample."""
    weights = drawn[: n_resamples_of(series)]
    at: dict[float, dict[str, Floats]] = {}
    for threshold in dict.fromkeys([*series.thresholds, *COCO_THRESHOLDS]):
        asked = passed_threshold(series.matcher, threshold)
        blocks = [
            _of_block(one, full=threshold in series.thresholds)
            for one in resampled_cuts(series.surface, asked, weights)
        ]
        at[threshold] = {name: np.concatenate([one[name] for one in blocks]) for name in blocks[0]}
    for threshold, calibrated in series.calibrations.items():
        at[threshold]["ece"] = np.array([calibrated.pooled(row).ece for row in weights])
    means = {"map": "ap", "map_101": "ap_101", "ar": "recall"}
    over: Samples = {
        (series.model, series.setting, None, name): np.mean(
            [at[threshold][of] for threshold in COCO_THRESHOLDS], axis=0
        )
        for name, of in means.items()
    }
    return over | {
        (series.model, series.setting, threshold, name): at[threshold][name]
        for threshold in series.thresholds
        for name in at[threshold]
        if name != "recall"
    }


def _of_block(cuts: ResampledCuts, *, full: bool) -> dict[str, Floats]:
    """Return the scores of some resamples; not those that only the thresholds of the spec have."""
    every, sampled = cuts.average_precision()
    found = {"ap": every, "ap_101": sampled, "recall": cuts.recall_of_all()}
    return found | (cuts.froc() | cuts.best_cut() if full else {})


def _mean_samples(scores: Iterable[DetectionScore], samples: Samples) -> Samples:
    """Return the means over classes in every resample; classes without references are skipped."""
    found: Samples = {}
    for family in families(scores):
        known = [samples[_key(one)] for one in family]
        least = min(map(len, known))
        values = np.stack([one[:least] for one in known])
        defined = ~np.isnan(values)
        first = family[0]
        key = first.model, mean_setting(first), first.threshold, first.measure
        found[key] = ratio(np.where(defined, values, 0.0).sum(axis=0), defined.sum(axis=0))
    return found

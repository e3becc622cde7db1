"""Models against each other: differences, rankings, and how much these depend on the matching."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from panmatch.datasets.intervals import RESAMPLES, SEED
from panmatch.datasets.run import load_run
from panmatch.datasets.statistics import (
    RankStability,
    holm,
    interval,
    lead_share,
    paired_test,
    rank_counts,
    rank_stability,
    ranking_over_threshold,
    ranks,
    resample,
)
from panmatch.datasets.statistics.bootstrap import bootstrap_mean
from panmatch.errors import FileError, OptionError, check_choice
from panmatch.evaluation import Result
from panmatch.evaluation.averages import filled
from panmatch.evaluation.groups import AREAS, WAY, Group, Key, scores_of
from panmatch.overlap import Floats, Ints
from panmatch.scoring import all_metrics

if TYPE_CHECKING:
    import pandas as pd

MEAN = "mean of classes"


@dataclass(frozen=True, slots=True)
class Setting:
    """What models are compared by: a class, a way to match, a threshold (NaN for areas)."""

    way: Key
    threshold: float
    measure: str

    @property
    def columns(self) -> dict[str, Any]:
        """The setting as columns of a table."""
        way = dict(zip(WAY, self.way, strict=True))
        return way | {"threshold": self.threshold, "measure": self.measure}

    @property
    def higher_is_better(self) -> bool:
        """Whether more is better."""
        metric = all_metrics().get(self.measure[3:])
        return metric is None or metric.better == "higher"


@dataclass(frozen=True, eq=False)
class Comparison:
    """Several models on the cases that all of them have.

    Attributes
    ----------
    result
        The shared cases of all models.
    left_out
        For every model the cases that it has, or failed, and others lack.
    measures
        Scores to compare by.
    """

    result: Result
    left_out: Mapping[str, tuple[str, ...]]
    measures: tuple[str, ...] = ("pq", "autc")

    @property
    def models(self) -> tuple[str, ...]:
        """Names of the models."""
        return self.result.models

    @cached_property
    def values(self) -> dict[Setting, Floats]:
        """Scores of every setting, shape (cases, models)."""
        found: dict[Setting, dict[str, Floats]] = {}
        for group in self.result.groups:
            for setting, values in self._settings(group):
                found.setdefault(setting, {}).setdefault(group.model, values)
        n = len(self.result.evaluated(self.models[0]))
        none = np.full(n, np.nan)
        tables = {
            setting: np.stack([by_model.get(model, none) for model in self.models], axis=1)
            for setting, by_model in found.items()
        }
        return tables | _over_classes(tables)

    @cached_property
    def counts(self) -> Ints:
        """How often each case is drawn in every resample."""
        return resample(len(self.result.evaluated(self.models[0])), RESAMPLES, SEED)

    def differences(self) -> pd.DataFrame:
        """Paired differences of every two models; p corrected over the pairs of a setting."""
        import pandas as pd

        rows: list[dict[str, Any]] = []
        for setting, table in self.values.items():
            pairs = list(combinations(range(len(self.models)), 2))
            tests = [
                paired_test(
                    table[:, a],
                    table[:, b],
                    counts=self.counts,
                    higher_is_better=setting.higher_is_better,
                )
                for a, b in pairs
            ]
            adjusted = holm([test.p_value for test in tests]).tolist()
            for (a, b), test, p_holm in zip(pairs, tests, adjusted, strict=True):
                rows.append(
                    setting.columns
                    | {
                        "first": self.models[a],
                        "second": self.models[b],
                        "difference": test.mean_difference,
                        "low": test.interval.low,
                        "high": test.interval.high,
                        "p": test.p_value,
                        "p_holm": p_holm,
                        "wins": test.wins,
                        "losses": test.losses,
                        "ties": test.ties,
                        "cases": test.n,
                        "skipped": test.skipped,
                    }
                )
        return pd.DataFrame(rows)

    def rankings(self) -> pd.DataFrame:
        """Mean of cases and rank of every model, and how often it comes first when resampled."""
        import pandas as pd

        rows: list[dict[str, Any]] = []
        for setting, table in self.values.items():
            up = setting.higher_is_better
            means = _mean_of_defined(table)
            places = ranks(means, up)
            shares = rank_counts(table, self.counts, higher_is_better=up)
            for at in np.argsort(places, kind="stable"):
                spread = interval(bootstrap_mean(table[:, at], self.counts))
                rows.append(
                    setting.columns
                    | {
                        "model": self.models[at],
                        "rank": float(places[at]),
                        "value": float(means[at]),
                        "low": spread.low,
                        "high": spread.high,
                        "first_share": float(shares[at, 0]),
                    }
                )
        return pd.DataFrame(rows)

    def over_threshold(self) -> pd.DataFrame:
        """Intervals of thresholds on which the ranking by pooled PQ stands still, exactly."""
        import pandas as pd

        rows: list[dict[str, Any]] = []
        for way, curves in self._curves.items():
            for part in ranking_over_threshold(curves):
                order = _order(part.order, part.ranks)
                rows.append(
                    dict(zip(WAY, way, strict=True))
                    | {"start": part.start, "stop": part.stop, "order": order}
                )
        return pd.DataFrame(rows)

    def leads(self) -> dict[Key, dict[str, float]]:
        """Return for every way the share of thresholds at which no model has a higher PQ."""
        return {
            way: {name: share.total for name, share in lead_share(curves).items()}
            for way, curves in self._curves.items()
        }

    def stability(self, measure: str = "pq") -> dict[str, RankStability]:
        """Return for every class how much its rankings agree over strategies and thresholds."""
        from panmatch.evaluation.wording import way_title

        found: dict[str, dict[str, Floats]] = {}
        for setting, table in self.values.items():
            if setting.measure == measure:
                level = "" if math.isnan(setting.threshold) else f" at {setting.threshold:g}"
                name = f"{way_title(setting.way)}{level}"
                order = ranks(_mean_of_defined(table), setting.higher_is_better)
                found.setdefault(setting.way[0], {})[name] = order
        return {kind: rank_stability(table, self.models) for kind, table in found.items()}

    @cached_property
    def _curves(self) -> dict[Key, dict[str, tuple[Floats, Floats]]]:
        found: dict[Key, dict[str, tuple[Floats, Floats]]] = {}
        for group in self.result.curve_groups:
            steps = group.thresholds, scores_of(group.summed())[0]
            found.setdefault(group.way, {})[group.model] = steps
        return {way: curves for way, curves in found.items() if len(curves) == len(self.models)}

    def _settings(self, group: Group) -> Iterator[tuple[Setting, Floats]]:
        for measure in self.measures:
            check_choice("--score", measure, group.values)
            threshold = math.nan if measure in AREAS else group.threshold
            values = filled(measure, group.values[measure], self.result.spec.averaging.undefined)
            yield Setting(group.way, threshold, measure), values


def compare(folders: Sequence[Path], measures: Sequence[str] = ()) -> Comparison:
    """Compare the models of several runs, or of one run with several models."""
    runs = {folder: load_run(folder) for folder in folders}
    if len(runs) < len(folders):
        raise OptionError("the same folder is named twice.")
    first = next(iter(runs.values()))
    for folder, run in runs.items():
        if run.spec != first.spec:
            raise OptionError(_specs_differ(folders[0], folder, first, run))
    named = _named(runs)
    cases = tuple(
        replace(one, model=name)
        for name, (run, model) in named.items()
        for one in run.cases
        if one.model == model
    )
    return compare_models(Result(first.spec, cases), measures)


def compare_models(result: Result, measures: Sequence[str] = ()) -> Comparison:
    """Compare the models of a result on the cases that all of them have."""
    models = result.models
    if len(models) < 2:
        raise OptionError(
            "there is a single model: name a second folder, or evaluate several models at once."
        )
    good = {model: {one.case: one for one in result.evaluated(model)} for model in models}
    shared = set.intersection(*(set(cases) for cases in good.values()))
    if not shared:
        has = "; ".join(f"{name} has {_some(cases)}" for name, cases in good.items())
        raise FileError(f"the models have no case in common: {has}.")
    cases = tuple(one for one in result.cases if one.case in shared)
    everything = {one.case for one in result.cases}
    left_out = {model: tuple(sorted(everything - set(good[model]))) for model in models}
    wanted = tuple(measures) or (("pq", "autc") if result.spec.curve else ("pq",))
    return Comparison(Result(result.spec, cases), left_out, wanted)


def _named(runs: Mapping[Path, Result]) -> dict[str, tuple[Result, str]]:
    """Return runs and models by a name that is unique: the model's, or the folder's with it."""
    every = [(folder, run, model) for folder, run in runs.items() for model in run.models]
    names = [model for _, _, model in every]
    found = {}
    for folder, run, model in every:
        alone = len(run.models) == 1
        name = model if names.count(model) == 1 and model else folder.resolve().name
        if names.count(model) > 1 and not alone:
            name = f"{folder.resolve().name}/{model}"
        if name in found:
            name = str(folder) if alone else f"{folder}/{model}"
        found[name] = run, model
    return found


def _over_classes(tables: Mapping[Setting, Floats]) -> dict[Setting, Floats]:
    """Return the mean over classes of every case, where there are several classes."""
    families: dict[Setting, list[Floats]] = {}
    for setting, table in tables.items():
        key = replace(setting, way=(MEAN, "", *setting.way[2:]))
        families.setdefault(key, []).append(table)
    return {
        key: _mean_of_defined(np.stack(family))
        for key, family in families.items()
        if len(family) > 1
    }


def _mean_of_defined(values: Floats) -> Floats:
    """Return the mean over the first axis, NaN skipped."""
    some = ~np.isnan(values)
    total, n = np.where(some, values, 0.0).sum(axis=0), some.sum(axis=0)
    means: Floats = np.divide(total, n, out=np.full(total.shape, np.nan), where=n > 0)
    return means


def _order(names: Sequence[str], places: Sequence[float]) -> str:
    """Return a ranking as text.

    Examples
    --------
    >>> _order(("b", "a", "c"), (1.0, 2.5, 2.5))
    'b > a = c'
    """
    text = names[0]
    for at in range(1, len(names)):
        text += f" {'=' if places[at] == places[at - 1] else '>'} {names[at]}"
    return text


def _some(cases: Mapping[str, object]) -> str:
    names = sorted(cases)
    return (
        ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "") or "none"
    )


def _specs_differ(first: Path, second: Path, one: Result, other: Result) -> str:
    a, b = one.spec.model_dump(mode="json"), other.spec.model_dump(mode="json")
    key = next(key for key in a if a[key] != b[key])
    return (
        f"{str(first)!r} and {str(second)!r} were evaluated with different specs, so their scores "
        f"cannot be compared: {key} is {a[key]} in one and {b[key]} in the other. Evaluate both "
        f"with the same spec."
    )

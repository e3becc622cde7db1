"""Comparing models: differences, rankings, and how much these depend on the matching."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from panmatch.datasets._case_table import CaseDescription, cluster_of, shared_subjects
from panmatch.datasets._criteria import Criterion, Difference, Placing
from panmatch.datasets._notices import few_cases
from panmatch.datasets._outputs import RESAMPLES, SEED, bounds_of
from panmatch.datasets._run import load_run
from panmatch.datasets._statistics import (
    FEWEST_CASES,
    IntervalMethod,
    PairedTest,
    RankInterval,
    RankStability,
    Resampling,
    holm,
    lead_share,
    paired_test,
    rank_counts,
    rank_stability,
    ranking_over_threshold,
    ranks,
)
from panmatch.errors import Argument, FileError, OptionError, check_choice
from panmatch.evaluation import (
    MEANS,
    CaseSeries,
    Notice,
    Result,
    Row,
    Score,
    Setting,
    Table,
    filled,
    mean_of_defined,
)
from panmatch.labels import Unit
from panmatch.overlap import Floats
from panmatch.scoring import Curve
from panmatch.spec import Averaging, Spec

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Comparison:
    """Several models on the cases that all of them have.

    Attributes
    ----------
    models, cases
        Names of the models, and of the cases that all of them have.
    left_out
        For each model, the cases that other models have but that it lacks or failed.
    scores
        Scores to compare by.
    values
        The scores for each criterion, shape (cases, models).
    headline_class
        The class that verdict and screen are about.
    unit
        Unit of distances; None if it differs between cases.
    notices
        What to know about the shared cases before trusting the comparison.
    series
        Where the curves come from; empty if only scores are known.
    source
        Where the settings come from, in words.
    units
        What is drawn at random: the cluster of each case, or the number of cases.
    interval
        Which bootstrap interval to use.

    Examples
    --------
    >>> import panmatch as pm
    >>> both = pm.Evaluator("cells")
    >>> for model, objects in {"a": [[1, 1, 0, 2]], "b": [[1, 1, 0, 0]]}.items():
    ...     both.update(reference=[[1, 1, 0, 2]], prediction=objects, case="x", model=model)
    >>> found = pm.compare(both.compute(), ["pq"])
    >>> found.models, found.cases
    (('a', 'b'), ('x',))
    >>> {name: len(table) for name, table in found.tables().items()}
    {'differences': 9, 'rankings': 18, 'stability': 3}
    """

    models: tuple[str, ...]
    cases: tuple[str, ...]
    left_out: Mapping[str, tuple[str, ...]]
    scores: tuple[Score, ...]
    values: Mapping[Criterion, Floats]
    headline_class: str
    unit: Unit | None = None
    notices: tuple[Notice, ...] = ()
    series: tuple[CaseSeries, ...] = ()
    source: Literal["the spec", "the files"] = "the spec"
    units: int | tuple[str, ...] | None = None
    interval: IntervalMethod = "studentised"

    def __repr__(self) -> str:
        by = ", ".join(score.title for score in self.scores)
        return f"Comparison({', '.join(self.models)} on {len(self.cases)} cases by {by})"

    def _repr_html_(self) -> str:
        """Show the verdict and the models under each setting in a notebook."""
        from panmatch.datasets._result_table import comparison_html

        return comparison_html(self)

    def by(self, scores: Sequence[Score]) -> Comparison:
        """Return the same comparison by only some of its scores."""
        kept = {key: table for key, table in self.values.items() if key.score in scores}
        return replace(self, scores=tuple(scores), values=kept)

    @cached_property
    def resampling(self) -> Resampling:
        """What is drawn at random, cases or clusters, and how intervals follow from it."""
        units = len(self.cases) if self.units is None else self.units
        return Resampling.of(units, self.interval, n_resamples=RESAMPLES, seed=SEED)

    @cached_property
    def differences(self) -> list[Difference]:
        """Paired differences between every two models.

        p-values are corrected over the pairs of models within a setting, and over everything that
        is compared: all pairs, scores, classes, matchers and thresholds.
        """
        pairs = list(combinations(range(len(self.models)), 2))
        tests = {
            criterion: [self._test(criterion, a, b) for a, b in pairs] for criterion in self.values
        }
        every = iter(holm([test.p_value for row in tests.values() for test in row]).tolist())
        found = []
        for criterion, row in tests.items():
            adjusted = holm([test.p_value for test in row]).tolist()
            for (a, b), test, p_holm in zip(pairs, row, adjusted, strict=True):
                names = self.models[a], self.models[b]
                found.append(Difference(criterion, *names, test, p_holm, next(every)))
        return found

    def _test(self, criterion: Criterion, a: int, b: int) -> PairedTest:
        table, (low, high) = self.values[criterion], bounds_of(criterion.score)
        return paired_test(
            table[:, a],
            table[:, b],
            resampling=self.resampling,
            bounds=(low - high, high - low),
            higher_is_better=criterion.score.higher_is_better,
        )

    @cached_property
    def rankings(self) -> dict[Criterion, list[Placing]]:
        """The models by rank under each criterion."""
        return {criterion: self._placings(criterion) for criterion in self.values}

    @cached_property
    def over_threshold(self) -> dict[Setting, list[RankInterval]]:
        """The exact intervals of thresholds with the same ranking by pooled PQ."""
        return {setting: ranking_over_threshold(curves) for setting, curves in self._curves.items()}

    @cached_property
    def leads(self) -> dict[Setting, dict[str, float]]:
        """For each setting and model, the share of thresholds at which no model has a higher PQ."""
        return {
            setting: {name: share.total for name, share in lead_share(curves).items()}
            for setting, curves in self._curves.items()
        }

    def stability(self, score: Score) -> dict[str, RankStability]:
        """Return, for each class, how well the rankings agree across matchers and thresholds."""
        found: dict[str, dict[str, Floats]] = {}
        for criterion, table in self.values.items():
            if criterion.score == score:
                threshold = "" if criterion.threshold is None else f" at {criterion.level}"
                name = f"{criterion.setting.label}{threshold}"
                order = ranks(mean_of_defined(table), score.higher_is_better)
                found.setdefault(criterion.setting.class_name, {})[name] = order
        return {name: rank_stability(table, self.models) for name, table in found.items()}

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return differences, rankings and stability as pandas tables."""
        return {name: table.frame() for name, table in self.plain_tables().items()}

    def plain_tables(self) -> dict[str, Table]:
        """Return differences, rankings and stability as plain columns."""
        stability: list[Row] = [
            {**setting.columns, "start": part.start, "stop": part.stop, "order": order_text(part)}
            for setting, parts in self.over_threshold.items()
            for part in parts
        ]
        placings = [placing for ranking in self.rankings.values() for placing in ranking]
        return {
            "differences": Table.of_rows([one.columns for one in self.differences]),
            "rankings": Table.of_rows([placing.columns for placing in placings]),
            "stability": Table.of_rows(stability),
        }

    def _placings(self, criterion: Criterion) -> list[Placing]:
        table, up = self.values[criterion], criterion.score.higher_is_better
        means = mean_of_defined(table)
        places = ranks(means, up)
        shares = rank_counts(table, self.resampling.drawn, higher_is_better=up)
        any_score = np.where(np.isnan(table).all(axis=1), np.nan, 0.0)
        if self.resampling.n_defined(any_score) < FEWEST_CASES:
            shares[:] = np.nan
        bounds = bounds_of(criterion.score)
        return [
            Placing(
                criterion,
                self.models[i],
                float(places[i]),
                float(means[i]),
                self.resampling.mean_interval(table[:, i], bounds=bounds),
                float(shares[i, 0]),
            )
            for i in np.argsort(places, kind="stable")
        ]

    @cached_property
    def _curves(self) -> dict[Setting, dict[str, Curve]]:
        found: dict[Setting, dict[str, Curve]] = {}
        for series in self.series:
            if series.pooled_curve is not None:
                found.setdefault(series.setting, {})[series.model] = series.pooled_curve
        return {key: curves for key, curves in found.items() if len(curves) == len(self.models)}


def compare_runs(
    folders: Sequence[Path],
    scores: Sequence[str] = (),
    how: CaseDescription = CaseDescription(),  # noqa: B008
) -> Comparison:
    """Compare the models of several runs, or of one run with several models."""
    return compare(joined_runs(folders, how), scores)


def joined_runs(
    folders: Sequence[Path],
    how: CaseDescription = CaseDescription(),  # noqa: B008
) -> Result:
    """Return several runs of the same spec as one result, whose models have unique names."""
    runs = {folder: load_run(folder) for folder in folders}
    if len(runs) < len(folders):
        raise OptionError("the same folder is named twice.")
    first = next(iter(runs.values()))
    for folder, run in runs.items():
        if _same_averaging(run.spec) != _same_averaging(first.spec):
            raise OptionError(_specs_differ(folders[0], folder, first, run))
    cases = tuple(
        replace(case, model=name)
        for name, (run, model) in _named(runs).items()
        for case in run.cases
        if case.model == model
    )
    return how.of(Result(first.spec, cases))


def _same_averaging(spec: Spec) -> Spec:
    """Return a spec with the usual interval and no clusters, which are those of the first run."""
    usual = {"interval": Averaging().interval, "cluster": None}
    return spec.model_copy(update={"averaging": spec.averaging.model_copy(update=usual)})


def compare(result: Result, scores: Sequence[str] = ()) -> Comparison:
    """Compare the models of a result on the cases that all of them have.

    Parameters
    ----------
    result
        A result of two or more models.
    scores
        Names of the scores to compare by; PQ and AUTC by default, with PartPQ where there are
        parts.

    Examples
    --------
    >>> import panmatch as pm
    >>> both = pm.Evaluator("cells")
    >>> for model, objects in {"a": [[1, 1, 0, 2]], "b": [[1, 1, 0, 0]]}.items():
    ...     both.update(reference=[[1, 1, 0, 2]], prediction=objects, case="x", model=model)
    >>> best = pm.compare(both.compute(), ["pq"]).differences[0]
    >>> best.first, best.second, round(best.test.mean_difference, 3), best.test.wins
    ('a', 'b', 0.333, 1)
    """
    models = result.models
    if len(models) < 2:
        raise OptionError(
            "there is only one model: name a second folder, or evaluate several models at once."
        )
    good = {model: [case.case for case in result.evaluated(model)] for model in models}
    shared, left_out = shared_cases(
        good, {case.case for case in result.cases if case.status != "extra"}
    )
    known = result.known_scores
    wanted = list(scores) or [name for name in ("pq", "part_pq", "autc") if name in known]
    for name in wanted:
        check_choice(Argument("scores", flag="--score"), name, known)
    both = Result(result.spec, tuple(case for case in result.cases if case.case in set(shared)))
    chosen = tuple(known[name] for name in wanted)
    return Comparison(
        models=both.models,
        cases=shared,
        left_out=left_out,
        scores=chosen,
        values=_case_values(both, chosen),
        headline_class=both.headline_class,
        unit=both.unit,
        notices=(*both.notices, *shared_subjects(both), *few_cases(both)),
        series=tuple(both.series),
        units=_units(both, shared),
        interval=both.spec.averaging.interval,
    )


def _units(result: Result, cases: Sequence[str]) -> tuple[str, ...] | None:
    """Return the cluster of each case, or None if cases are independent."""
    column = result.spec.averaging.cluster
    if column is None:
        return None
    known = {case.case: cluster_of(case.case, case.about, column) for case in result.cases}
    return tuple(known[case] for case in cases)


def shared_cases(
    good: Mapping[str, Collection[str]], everything: Collection[str]
) -> tuple[tuple[str, ...], dict[str, tuple[str, ...]]]:
    """Return the cases that all models have, and for each model the cases that it lacks.

    Parameters
    ----------
    good
        Cases of every model.
    everything
        All cases that a model should have.
    """
    shared = set.intersection(*(set(cases) for cases in good.values()))
    if not shared:
        has = "; ".join(f"{name} has {_some(cases)}" for name, cases in good.items())
        raise FileError(f"the models have no case in common: {has}.")
    left_out = {model: tuple(sorted(set(everything) - set(cases))) for model, cases in good.items()}
    return tuple(sorted(shared)), left_out


def _case_values(result: Result, scores: Sequence[Score]) -> dict[Criterion, Floats]:
    """Return the scores for each criterion, shape (cases, models)."""
    undefined = result.spec.averaging.undefined
    found: dict[Criterion, dict[str, Floats]] = {}
    for series in result.all_series:
        for (threshold, score), values in series.case_scores().items():
            if score in scores:
                criterion = Criterion(series.setting, threshold, score)
                by_model = found.setdefault(criterion, {})
                by_model[series.model] = filled(score, values, undefined, series.results)
    models = result.models
    missing = np.full(len(result.evaluated(models[0])), np.nan)
    tables = {
        criterion: np.stack([by_model.get(model, missing) for model in models], axis=1)
        for criterion, by_model in found.items()
    }
    return with_means(tables, scores)


def with_means(
    tables: Mapping[Criterion, Floats], scores: Sequence[Score]
) -> dict[Criterion, Floats]:
    """Return tables in the order of the scores, and means over classes if there are several."""
    ordered = sorted(tables, key=lambda criterion: scores.index(criterion.score))
    return {key: tables[key] for key in ordered} | _over_classes(tables)


def order_text(part: RankInterval) -> str:
    """Return a ranking as text.

    Examples
    --------
    >>> order_text(RankInterval(0.0, 0.3, ("b", "a", "c"), (1.0, 2.5, 2.5)))
    'b > a = c'
    """
    text = part.order[0]
    for i in range(1, len(part.order)):
        text += f" {'=' if part.ranks[i] == part.ranks[i - 1] else '>'} {part.order[i]}"
    return text


def _over_classes(tables: Mapping[Criterion, Floats]) -> dict[Criterion, Floats]:
    """Return the mean over classes for each case, if there are several classes."""
    title = next(iter(MEANS))
    families: dict[Criterion, list[Floats]] = {}
    for criterion, table in tables.items():
        setting = criterion.setting.mean(title)
        families.setdefault(replace(criterion, setting=setting), []).append(table)
    return {
        key: mean_of_defined(np.stack(family))
        for key, family in families.items()
        if len(family) > 1
    }


def _named(runs: Mapping[Path, Result]) -> dict[str, tuple[Result, str]]:
    """Return runs and models by a unique name: the model's, prefixed by the folder if needed."""
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


def _some(cases: Collection[str]) -> str:
    names = sorted(cases)
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return ", ".join(names[:3]) + more or "none"


def _specs_differ(first: Path, second: Path, one: Result, other: Result) -> str:
    a, b = one.spec.model_dump(mode="json"), other.spec.model_dump(mode="json")
    key = next(key for key in a if a[key] != b[key])
    return (
        f"{str(first)!r} and {str(second)!r} were evaluated with different specs, so their scores "
        f"cannot be compared: {key} is {a[key]} in one and {b[key]} in the other. Evaluate both "
        f"with the same spec."
    )

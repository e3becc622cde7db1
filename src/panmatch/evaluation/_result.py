"""The result of one case, or of many."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from importlib import import_module
from itertools import pairwise
from math import fsum, isnan
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import panmatch
from panmatch._html import plural
from panmatch.errors import FileError, OverlapError, check_choice, check_size
from panmatch.evaluation import _tables as tables
from panmatch.evaluation._averages import AverageScore, AveragingName, average_all
from panmatch.evaluation._case_result import CaseResult, Status
from panmatch.evaluation._class_scores import known_class_scores
from panmatch.evaluation._costly_mistakes import (
    CostlyMistake,
    costliest,
    costly_mistakes,
    pooled_tallies,
)
from panmatch.evaluation._detection_views import (
    DETECTION_TABLES,
    DetectionTableName,
    DetectionViews,
)
from panmatch.evaluation._notices import Notice, merge_notices
from panmatch.evaluation._score_table import ScoreColumns, score_table
from panmatch.evaluation._series import (
    BLOCK,
    CaseSeries,
    ClassSeries,
    Each,
    ModelSeries,
    Structures,
    series_of,
)
from panmatch.evaluation._setting import MEANS, Score, known_scores
from panmatch.evaluation._structure_table import structure_table
from panmatch.evaluation._table import Table
from panmatch.evaluation._wording import summarise
from panmatch.labels import Unit
from panmatch.scoring import REPAIRS, Repair
from panmatch.spec import Spec

if TYPE_CHECKING:
    import pandas as pd

    from panmatch.datasets import Citation
    from panmatch.report import ResultPlots

FORMAT = "panmatch-result-6"

TableName = Literal[
    "scores", "instances", "instances_by_setting", "curves", "diagnosis", "structure", "budget",
    "mistakes", "averages", DetectionTableName,
]  # fmt: skip


@dataclass(frozen=True, eq=False)
class Result(DetectionViews):
    """The result of one case, or of many; results of different cases can be added.

    Attributes
    ----------
    spec
        What was asked for.
    cases
        What was found, by model and case.

    Examples
    --------
    >>> from panmatch import evaluate
    >>> result = evaluate(reference=[[1, 1, 0, 2]], prediction=[[3, 3, 0, 0]])
    >>> result.instances[["status", "ref_id", "pred_ids", "iou", "settings"]]
        status  ref_id pred_ids  iou settings
    0  matched       1        3  1.0      all
    1   missed       2           0.0      all
    """

    spec: Spec
    cases: tuple[CaseResult, ...]

    def __post_init__(self) -> None:
        ordered = tuple(sorted(self.cases, key=lambda case: (case.model, case.case)))
        names = [(case.model, case.case) for case in ordered]
        repeated = [name for name, following in pairwise(names) if name == following]
        if repeated:
            model = f" of model {repeated[0][0]!r}" if repeated[0][0] else ""
            raise OverlapError(
                f"case {repeated[0][1]!r}{model} appears more than once: give each case its own "
                f"name."
            )
        object.__setattr__(self, "cases", ordered)

    def plain(self, name: TableName) -> Table:
        """Return one of the tables below as plain columns, without pandas.

        Examples
        --------
        >>> from panmatch import evaluate
        >>> result = evaluate(reference=[[1, 1, 0, 2]], prediction=[[3, 3, 0, 0]])
        >>> result.plain("instances").columns["ref_id"]
        [1, 2]
        """
        makers: dict[TableName, Callable[[], Table]] = {
            "scores": lambda: score_table(
                self.cases, ScoreColumns.of(self.series, self.class_series)
            ),
            "instances": lambda: tables.instance_table(self.cases),
            "instances_by_setting": lambda: tables.setting_table(self.cases),
            "curves": lambda: tables.curve_table(self.cases),
            "diagnosis": lambda: tables.diagnosis_table(self.cases),
            "structure": lambda: structure_table(self.cases, self.structures),
            "budget": lambda: tables.budget_table(self.cases, self.series),
            "mistakes": lambda: tables.mistake_table(self._mistakes(), self.cases),
            "averages": lambda: tables.average_table(self.average_scores, self.cases),
        }
        makers |= {one: partial(self._detection_table, one) for one in DETECTION_TABLES}
        check_choice("name", name, makers)
        return makers[name]()

    @property
    def scores(self) -> pd.DataFrame:
        """One row per case, class, matcher and threshold; a case without entries has one row."""
        return self.plain("scores").frame()

    @property
    def instances(self) -> pd.DataFrame:
        """One row per reference and per false positive; several if settings differ on it.

        ``settings`` is ``"all"``, or lists the strategies and thresholds to which a row applies.
        """
        return self.plain("instances").frame()

    @property
    def instances_by_setting(self) -> pd.DataFrame:
        """One row per reference and per false positive, for each strategy and threshold."""
        return self.plain("instances_by_setting").frame()

    @property
    def curves(self) -> pd.DataFrame:
        """The exact steps of each curve; each applies from its threshold up to the next."""
        return self.plain("curves").frame()

    @property
    def diagnosis(self) -> pd.DataFrame:
        """Ids of split, merged, missed and spurious objects, per case and class."""
        return self.plain("diagnosis").frame()

    @property
    def structure(self) -> pd.DataFrame:
        """Components of the graph of overlapping objects by kind, pooled and per case.

        See `graph_structure`; the graph has the edges with an IoU above the threshold.
        """
        return self.plain("structure").frame()

    @property
    def budget(self) -> pd.DataFrame:
        """What each kind of mistake costs, per case and pooled over the cases of each model.

        ``pq_after_…`` is PQ after repairing one kind alone, ``last_…`` the gain if all others are
        already repaired, and ``share_…`` the average gain; the shares add up to 1 − PQ.
        """
        return self.plain("budget").frame()

    @property
    def mistakes(self) -> pd.DataFrame:
        """The costliest mistakes of each class and case, for the first matcher and threshold.

        ``cost`` is what repairing a mistake would add to PQ over all cases of the model,
        ``case_cost`` what it would add in its case. Slices and boxes are counted from 0.
        """
        return self.plain("mistakes").frame()

    @property
    def averages(self) -> pd.DataFrame:
        """Pooled scores and means of cases, one row for each (D11)."""
        return self.plain("averages").frame()

    @property
    def failures(self) -> tuple[CaseResult, ...]:
        """The cases that could not be evaluated, with their reasons."""
        return self.with_status("failed")

    @property
    def notices(self) -> list[Notice]:
        """Warnings about results that look plausible but may be wrong, merged over cases."""
        every = [notice for case in self.cases for notice in case.notices]
        return merge_notices(every, {model: len(self.evaluated(model)) for model in self.models})

    @property
    def models(self) -> tuple[str, ...]:
        """Names of all models."""
        return tuple(dict.fromkeys(case.model for case in self.cases))

    @property
    def headline_class(self) -> str:
        """The class to report: the spec's headline, or the mean of classes, or the only class."""
        if self.spec.headline is not None:
            return self.spec.headline
        names = dict.fromkeys(average.setting.class_name for average in self.average_scores)
        mean = next(iter(MEANS))
        return mean if mean in names else next(iter(names), mean)

    @property
    def unit(self) -> Unit | None:
        """Unit of distances; None if it differs between cases."""
        return tables.common_unit(self.cases)

    @property
    def has_parts(self) -> bool:
        """Whether some class has parts, so there is a PartPQ as well as PQ."""
        return any(series.any_counts.has_parts for series in self.series)

    @property
    def known_scores(self) -> dict[str, Score]:
        """All scores of the result, by name."""
        spec = self.spec
        return known_scores(
            spec.metric_objects, parts=self.has_parts, areas=spec.curve
        ) | known_class_scores(spec)

    @cached_property
    def _series(self) -> list[ModelSeries]:
        return [series_of(model, self.evaluated(model), self.spec) for model in self.models]

    def collect_series(self, each: Each) -> None:
        """Read the series of all cases now, block by block, instead of when they are needed."""
        self.__dict__["_series"] = [
            series_of(model, self.evaluated(model), self.spec, each) for model in self.models
        ]

    @property
    def series(self) -> list[CaseSeries]:
        """Each model under each setting, over its cases."""
        return [series for of_model, _, _ in self._series for series in of_model]

    @property
    def class_series(self) -> list[ClassSeries]:
        """Scores that need no matcher, for each class of each model, over its cases."""
        return [series for _, of_model, _ in self._series for series in of_model]

    @property
    def structures(self) -> dict[str, Structures]:
        """Components of the graphs of all cases, by model; then by class, its kind, threshold."""
        found = (of_model for _, _, of_model in self._series)
        return dict(zip(self.models, found, strict=True))

    @property
    def losses(self) -> dict[str, dict[Repair, float]]:
        """How much PQ each model loses to each kind of mistake, the largest first.

        These are shares of 1 − PQ, pooled over cases, for the first matcher at the lowest threshold
        in the headline class. If that is a mean over classes, so are they.
        """
        found = {}
        for model in self.models:
            shares = [
                one.losses(self.spec.thresholds[0])
                for one in self.series
                if one.model == model
                and one.setting.matcher == self.spec.matching[0]
                and self.headline_class in (one.setting.class_name, *MEANS)
            ]
            defined = [one for one in shares if not isnan(sum(one.values()))]
            means = {kind: fsum(one[kind] for one in defined) / len(defined) for kind in REPAIRS
                     if defined}  # fmt: skip
            found[model] = dict(sorted(means.items(), key=lambda item: -item[1]))
        return found

    @property
    def all_series(self) -> list[CaseSeries | ClassSeries]:
        """Both kinds of series."""
        return [*self.series, *self.class_series]

    @cached_property
    def average_scores(self) -> list[AverageScore]:
        """Pooled scores and means of cases."""
        return average_all(self.all_series, self.spec.averaging.undefined)

    @property
    def plot(self) -> ResultPlots:
        """Figures for papers: `curve`, `grid`, `sizes`, `matching` and `scene`.

        Each method returns a matplotlib figure; they are documented in
        `panmatch.report.ResultPlots`.
        """
        # By name: reports are built on results, so a plain import would violate the layers.
        plots: ResultPlots = import_module("panmatch.report").ResultPlots(self)
        return plots

    def with_status(self, *wanted: Status) -> tuple[CaseResult, ...]:
        """Return the cases with one of these statuses."""
        return tuple(case for case in self.cases if case.status in wanted)

    def evaluated(self, model: str) -> list[CaseResult]:
        """Return the cases of a model that were evaluated."""
        return [case for case in self.cases if case.model == model and case.status == "ok"]

    def look_first(
        self, most: int = 10, model: str | None = None, case: str | None = None
    ) -> list[CostlyMistake]:
        """Return the costliest mistakes over all cases of each model, or of one model or case.

        They are from the headline class, or from all classes if that is a mean over classes. What
        a mistake costs is always what the model loses by it over all cases.

        Examples
        --------
        >>> from panmatch import evaluate
        >>> result = evaluate(reference=[[1, 1, 0, 2]], prediction=[[3, 3, 0, 0]])
        >>> worst = result.look_first()[0]
        >>> worst.kind, worst.ref_ids, worst.start, worst.stop, round(worst.cost, 3)
        ('missed', (2,), (0, 3), (1, 4), 0.333)
        """
        check_size("most", most, 0)
        headline = self.headline_class
        found = (
            one
            for one in self._mistakes(model, case)
            if headline in (one.setting.class_name, *MEANS)
        )
        return costliest(found, most)

    def _mistakes(
        self, model: str | None = None, case: str | None = None
    ) -> Iterator[CostlyMistake]:
        cases = (
            one for one in self.cases if model in (None, one.model) and case in (None, one.case)
        )
        return costly_mistakes(cases, pooled_tallies(self.series, self.spec))

    def in_blocks(self) -> Iterator[Result]:
        """Yield results of a few cases each."""
        for start in range(0, len(self.cases), BLOCK):
            yield Result(self.spec, self.cases[start : start + BLOCK])

    def summary(self) -> str:
        """Return the result as readable text with small tables."""
        return summarise(self)

    def table(
        self,
        scores: Sequence[str] = (),
        *,
        averaging: AveragingName = "pooled",
        intervals: bool = False,
        digits: int | None = None,
    ) -> pd.DataFrame:
        """Return scores of all cases, settings × scores: see `panmatch.datasets.result_table`.

        Examples
        --------
        >>> from panmatch import evaluate
        >>> spec = {"matching": "one-to-one"}
        >>> result = evaluate(reference=[[1, 1, 0, 2]], prediction=[[3, 3, 0, 0]], spec=spec)
        >>> result.table(["pq", "fn"]).round(3)
           threshold     pq  fn
        0       0.10  0.667   1
        1       0.25  0.667   1
        2       0.50  0.667   1
        """
        # By name, as in `plot`: intervals belong to `datasets`.
        table: pd.DataFrame = import_module("panmatch.datasets").result_table(
            self, scores, averaging=averaging, intervals=intervals, digits=digits
        )
        return table

    @property
    def citations(self) -> tuple[Citation, ...]:
        """The works that the numbers rest on: panmatch, the framework, and what the spec uses.

        Examples
        --------
        >>> from panmatch import evaluate
        >>> result = evaluate(reference=[[1, 1, 0, 2]], prediction=[[3, 3, 0, 0]])
        >>> [one.short for one in result.citations]
        ['The panmatch developers', 'Großkopf et al.', 'Kirillov et al. 2019', 'Kuhn 1955']
        >>> print(result.citations[2].bibtex)
        @inproceedings{kirillov_panoptic,
          title = {Panoptic Segmentation},
          author = {Kirillov and He and Girshick and Rother and Dollár},
          booktitle = {CVPR},
          year = {2019},
        }
        """
        works: tuple[Citation, ...] = import_module("panmatch.datasets").citations_of(self.spec)
        return works

    def __add__(self, other: Result) -> Result:
        if not isinstance(other, Result):
            return NotImplemented
        if self.spec != other.spec:
            raise OverlapError("results can be added only if they were made with the same spec.")
        return Result(self.spec, self.cases + other.cases)

    def __radd__(self, other: object) -> Result:
        return self if other == 0 else NotImplemented  # sum() starts with 0

    def __repr__(self) -> str:
        n_cases = len(self.with_status("ok", "failed"))
        failed = f", {len(self.failures)} failed" if self.failures else ""
        models = f" of {len(self.models)} models" if len(self.models) > 1 else ""
        return f"Result({plural(n_cases, 'case')}{models}{failed})"

    def _repr_html_(self) -> str:
        """Show scores and curves of the headline class in a notebook."""
        html: str = import_module("panmatch.datasets").result_html(self)
        return html

    def to_json(self) -> str:
        """Return everything as JSON."""
        content = {
            "format": FORMAT,
            "panmatch": panmatch.__version__,
            "spec": self.spec.model_dump(mode="json"),
            "cases": [case.to_dict() for case in self.cases],
        }
        return json.dumps(content, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Result:
        """Read what `to_json` returned."""
        try:
            content = json.loads(text)
            if content["format"] != FORMAT:
                raise ValueError(f"its format is {content['format']!r}, not {FORMAT!r}")
            spec = Spec.model_validate(content["spec"])
            return cls(spec, tuple(CaseResult.from_dict(case) for case in content["cases"]))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise FileError(f"this is not a result of panmatch: {error!r}.") from error

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Result:
        """Read a result from a JSON file."""
        try:
            return cls.from_json(Path(path).read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, FileError) as error:
            raise FileError(f"path={str(path)!r} cannot be read as a result: {error}") from error

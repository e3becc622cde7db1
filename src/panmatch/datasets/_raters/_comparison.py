"""Several references per case: raters against each other, and models against raters (D18)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy.typing as npt

from panmatch.datasets._outputs import summary_table
from panmatch.datasets._raters._agreement import ALL, Agreement
from panmatch.datasets._raters._choice import ChoiceTable, choice_rows
from panmatch.datasets._raters._spread import Spread, find_spreads
from panmatch.datasets._single_case import Given, read_images
from panmatch.errors import OptionError, PanmatchError, check_choice, named_only
from panmatch.evaluation import Findings, Images, Result, Row, Setting, Table, evaluate_case, plural
from panmatch.formats import ImageLike
from panmatch.labels import Unit
from panmatch.spec import Spec, SpecLike, as_spec

if TYPE_CHECKING:
    import pandas as pd

RaterTable = Literal["pairs", "agreement", "spread", "bounds"]
NAME = re.compile(r"[\w-]+")
ONE_MODEL = "prediction"  # its name if a single prediction is given

CaseFindings = dict[tuple[str, str], Findings]  # by rater, and by model or other rater


@dataclass(frozen=True, eq=False)
class RaterComparison:
    """Raters against each other, and models against raters; comparisons of other cases add (D18).

    Attributes
    ----------
    results
        The result of each rater as the reference. Its models are the models and the other raters.
    models
        Names of the models, without the raters.

    Examples
    --------
    >>> import panmatch as pm
    >>> ann, bob, model = [1, 1, 1, 1, 0, 2], [4, 4, 4, 0, 0, 0], [9, 9, 9, 9, 0, 0]
    >>> found = pm.compare_raters(references={"ann": ann, "bob": bob}, prediction=model)
    >>> found
    RaterComparison(raters ann and bob, model prediction, 1 case)
    >>> found.results["ann"].models
    ('bob', 'prediction')
    """

    results: Mapping[str, Result]
    models: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_names(self.raters, self.models)

    @property
    def raters(self) -> tuple[str, ...]:
        """Names of the raters."""
        return tuple(self.results)

    @property
    def spec(self) -> Spec:
        """What was asked for."""
        return next(iter(self.results.values())).spec

    @cached_property
    def cases(self) -> tuple[str, ...]:
        """Names of the cases that all raters and all models have."""
        there = [
            {case.case for case in result.evaluated(name)}
            for rater, result in self.results.items()
            for name in (*self.raters, *self.models)
            if name != rater
        ]
        return tuple(sorted(set.intersection(*there)))

    def findings(self) -> Iterator[tuple[str, CaseFindings]]:
        """Yield the cases that all raters and models have, with the findings of every pair."""
        by_name = {
            (rater, case.model, case.case): case
            for rater, result in self.results.items()
            for case in result.with_status("ok")
        }
        for name in self.cases:
            yield (
                name,
                {
                    (rater, other): by_name[rater, other, name].findings
                    for rater in self.raters
                    for other in (*self.raters, *self.models)
                    if rater != other
                },
            )

    @property
    def first_settings(self) -> list[Setting]:
        """Every class under the first matcher of the spec, which screen and report show."""
        every = (one.setting for result in self.results.values() for one in result.series)
        return [one for one in dict.fromkeys(every) if one.matcher == self.spec.matching[0]]

    @cached_property
    def spreads(self) -> tuple[Spread, ...]:
        """Whether each model is inside the spread of the raters, by PQ, setting and threshold."""
        return tuple(find_spreads(self.results, self.models, self.cases))

    def mean_pq(self, rater: str, setting: Setting) -> dict[str, float]:
        """Return the mean PQ of cases against a rater, by model or rater, at the first threshold.

        It is over the cases that both have, which may be more than all of them have in common.
        """
        return {
            one.model: one.value
            for one in self.results[rater].average_scores
            if (one.score.name, one.averaging) == ("pq", "mean of cases")
            and (one.setting, one.threshold) == (setting, self.spec.thresholds[0])
        }

    def plain(self, name: RaterTable, *, margin: float = 0.0) -> Table:
        """Return one of the tables below as plain columns, without pandas."""
        makers: dict[str, Callable[[], Table]] = {
            "pairs": self._pairs,
            "agreement": lambda: Table.of_rows(self.seen.rows(), whole=("tp", "fn")),
            "spread": lambda: Table.of_rows(
                [row for one in self.spreads for row in one.rows(margin)]
            ),
            "bounds": lambda: Table.of_rows(choice_rows(self.choices, self.cases)),
        }
        check_choice("name", name, makers)
        return makers[name]()

    @cached_property
    def seen(self) -> Agreement:
        """Objects by how many raters saw them, over all cases together."""
        return Agreement.of(self.findings(), self.raters, self.models)

    @cached_property
    def choices(self) -> ChoiceTable:
        """All ways to choose a rater per object, over all cases together."""
        return ChoiceTable.of(self.findings(), self.raters, self.models, self.spec.thresholds)

    @property
    def pairs(self) -> pd.DataFrame:
        """Averages of each rater and each model against each rater, who plays the reference."""
        return self.plain("pairs").frame()

    @property
    def agreement(self) -> pd.DataFrame:
        """Objects by how many raters saw them, and what each model found of them."""
        return self.plain("agreement").frame()

    @property
    def spread(self) -> pd.DataFrame:
        """Each model compared with each rater, the worst and the best, by PQ, with a verdict."""
        return self.plain("spread").frame()

    @property
    def bounds(self) -> pd.DataFrame:
        """The lowest and the highest PQ over all ways to choose a rater per object."""
        return self.plain("bounds").frame()

    def _pairs(self) -> Table:
        rows: list[Row] = []
        for rater, result in self.results.items():
            for row in summary_table(result).rows():
                other = row.pop("model")
                who = "model" if other in self.models else "rater"
                rows.append({"reference": rater, "prediction": other, "role": who} | row)
        return Table.of_rows(rows)

    def __add__(self, other: RaterComparison) -> RaterComparison:
        if not isinstance(other, RaterComparison):
            return NotImplemented
        if (self.raters, self.models) != (other.raters, other.models):
            raise OptionError(
                f"comparisons can be added only if raters and models are the same: one has "
                f"{', '.join((*self.raters, *self.models))}, the other "
                f"{', '.join((*other.raters, *other.models))}."
            )
        both = {rater: self.results[rater] + other.results[rater] for rater in self.raters}
        return RaterComparison(both, self.models)

    def __radd__(self, other: object) -> RaterComparison:
        return self if other == 0 else NotImplemented  # sum() starts with 0

    def __repr__(self) -> str:
        words = [f"raters {_listed(self.raters)}"]
        if self.models:
            words.append(f"model{'s' if len(self.models) > 1 else ''} {_listed(self.models)}")
        return f"RaterComparison({', '.join(words)}, {plural(len(self.cases), 'case')})"


def _listed(names: tuple[str, ...]) -> str:
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def check_names(raters: tuple[str, ...], models: tuple[str, ...]) -> None:
    """Raise an `OptionError` unless there are two raters, and all names differ and are words."""
    if len(raters) < 2:
        raise OptionError(
            f"references={list(raters)!r}: pass two or more raters by name; with one reference, "
            f"evaluate as usual."
        )
    for name in raters:
        if not NAME.fullmatch(name) or name == ALL:
            raise OptionError(
                f"references: {name!r} is not a name for a rater: use letters, digits, - and _, "
                f"and not just {ALL!r}."
            )
    if both := sorted({*raters} & {*models}):
        raise OptionError(f"{both[0]!r} is both a rater and a model: give one of them a new name.")


def check_spec(spec: Spec) -> None:
    """Raise an `OptionError` for COCO files and confidences, which raters do not have."""
    if spec.encoding in ("coco", "coco-instances"):
        raise OptionError(
            f"the spec has encoding {spec.encoding!r}, but several references need label images: "
            f"evaluate against each rater in turn."
        )
    if spec.confidence is not None:
        raise OptionError(
            "the spec has the key `confidence`, but the objects of raters have none: leave out the "
            "key, or evaluate against each rater in turn."
        )


@named_only
def compare_raters(
    *,
    references: Mapping[str, Given],
    prediction: Given | None = None,
    predictions: Mapping[str, Given] | None = None,
    spec: SpecLike = "instances",
    void: ImageLike | None = None,
    spacing: npt.ArrayLike | None = None,
    unit: Unit | None = None,
    case: str = "case",
    threads: int | None = None,
) -> RaterComparison:
    """Compare the raters of one case with each other, and models with every rater (D18).

    Parameters
    ----------
    references
        The label image of each rater, by name; two or more.
    prediction, predictions
        The label image of the model, or of several models by name. Without either, raters are only
        compared with each other.
    spec, void, spacing, unit, case, threads
        As for `evaluate`.

    Returns
    -------
    RaterComparison
        With the pandas tables `pairs`, `agreement`, `spread` and `bounds`. Comparisons of different
        cases add up: ``sum(comparisons)``.

    Examples
    --------
    >>> import panmatch as pm
    >>> ann, bob, model = [1, 1, 1, 1, 0, 2], [4, 4, 4, 0, 0, 0], [9, 9, 9, 9, 0, 0]
    >>> spec = {"matching": "one-to-one", "thresholds": 0.5}
    >>> raters = {"ann": ann, "bob": bob}
    >>> found = pm.compare_raters(references=raters, prediction=model, spec=spec)
    >>> seen = found.agreement.query("rater == 'all' and side == 'reference' and model != ''")
    >>> seen[["seen_by", "objects", "recall"]]
        seen_by  objects  recall
    10        1        1     0.0
    11        2        2     1.0
    >>> found.bounds[["chosen", "lower", "upper"]].round(3)
                   chosen  lower  upper
    0           any rater    0.5  1.000
    1  raters who drew it    0.5  0.667
    """
    asked, models = as_spec(spec), dict(predictions or {})
    check_spec(asked)
    if prediction is not None:
        if models:
            raise OptionError("prediction and predictions are both given: pass one of them.")
        models = {ONE_MODEL: prediction}
    check_names(tuple(references), tuple(models))
    others = {**references, **models}
    results = {}
    for rater, reference in references.items():
        found = []
        for name, image in others.items():
            if name == rater:
                continue
            sides = {"reference": reference, "prediction": image, "void": void}
            try:
                read = read_images(sides, asked, spacing, unit)
                found.append(
                    evaluate_case(
                        Images(read.images["reference"]),
                        Images(read.images["prediction"]),
                        asked,
                        case=case,
                        model=name,
                        keep_overlaps=True,
                        void=read.images["void"],
                        spacing=read.spacing,
                        unit=read.unit,
                        threads=threads,
                    )
                )
            except PanmatchError as error:
                raise type(error)(f"{rater} as reference, {name} as prediction: {error}") from error
        results[rater] = Result(asked, tuple(found))
    return RaterComparison(results, tuple(models))

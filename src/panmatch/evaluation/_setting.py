"""What a number is about: which class, which matcher, and which score."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from panmatch.labels import Unit
from panmatch.matching import Matcher, OneToOne
from panmatch.scoring import Metric

Kind = Literal["things", "stuff", "mean"]
Direction = Literal["higher", "lower", "zero"]

# Means over classes, by the kinds of classes that they average (D10).
MEANS: dict[str, tuple[Kind, ...]] = {
    "mean of classes": ("things", "stuff"),
    "mean of things": ("things",),
    "mean of stuff": ("stuff",),
}

NO_COLUMNS = dict.fromkeys(Matcher(OneToOne()).columns, "")

Cell = str | int | float | None  # of a table
Row = dict[str, Cell]


@dataclass(frozen=True, slots=True)
class ClassSetting:
    """A class: the setting of scores that need no matching.

    Attributes
    ----------
    class_name
        A class of the spec, or one of `MEANS`.
    kind
        ``"things"`` or ``"stuff"``; ``"mean"`` for a mean over classes.
    """

    class_name: str
    kind: Kind

    @property
    def is_mean(self) -> bool:
        """Whether this is a mean over classes."""
        return self.kind == "mean"

    @property
    def label(self) -> str:
        """How objects are matched, in words."""
        return "no matching"

    @property
    def strategy(self) -> str:
        """Name of the strategy; empty if none is needed."""
        return ""

    @property
    def columns(self) -> Row:
        """The setting as columns of a table."""
        return {"class": self.class_name, "kind": self.kind, **NO_COLUMNS}

    def mean(self, title: str) -> ClassSetting:
        """Return the setting of a mean over classes."""
        return ClassSetting(title, "mean")


@dataclass(frozen=True, slots=True)
class Setting(ClassSetting):
    """A class and a matcher, under which cases and models are compared.

    Attributes
    ----------
    class_name, kind
        The class.
    matcher
        How its objects are matched.
    cut
        The confidence that predictions need in order to be matched (D17); None if all are.

    Examples
    --------
    >>> Setting("cell", "things", Matcher(OneToOne()), 0.5).label
    'one-to-one (optimal), confidence ≥ 0.5'
    """

    matcher: Matcher
    cut: float | None = None

    @property
    def label(self) -> str:
        """How objects are matched, in words."""
        return self.matcher.label + ("" if self.cut is None else f", confidence ≥ {self.cut:g}")

    @property
    def strategy(self) -> str:
        """Name of the strategy."""
        return self.matcher.name

    @property
    def columns(self) -> Row:
        """The setting as columns of a table; a cut is one only if there is one."""
        cut: Row = {} if self.cut is None else {"cut": self.cut}
        return {"class": self.class_name, "kind": self.kind, **self.matcher.columns, **cut}

    def mean(self, title: str) -> Setting:
        """Return the setting of a mean over classes."""
        return Setting(title, "mean", self.matcher, self.cut)


def matcher_of(setting: ClassSetting) -> Matcher | None:
    """Return the matcher of a setting, or None if it has none."""
    return setting.matcher if isinstance(setting, Setting) else None


@dataclass(frozen=True, slots=True)
class Score:
    """The name of a number, and everything a reader must know about it (D15).

    Attributes
    ----------
    name
        Name in tables and on the command line, such as ``"pq"``, ``"part_sq"`` or ``"sq_hd95"``.
    quality
        How true positives are judged: by ``"iou"``, by ``"parts"``, or by the name of a metric.
    direction
        Which values are better; ``"zero"`` for signed errors.
    dimension
        ``"length"`` or ``"volume"`` if it has a unit.
    is_area
        Whether it is an area under the threshold curve, and so has no threshold.
    label
        What people call it, if that does not follow from the name.

    Examples
    --------
    >>> Score("part_pq", "parts").title, Score("sq_hd95", "hd95", "lower", "length").unit("mm")
    ('PartPQ', 'mm')
    """

    name: str
    quality: str = "iou"
    direction: Direction = "higher"
    dimension: Literal["", "length", "volume"] = ""
    is_area: bool = False
    label: str = ""

    @property
    def higher_is_better(self) -> bool:
        """Whether higher values are better."""
        return self.direction == "higher"

    @property
    def is_share(self) -> bool:
        """Whether it ranges from 0 to 1, so an undefined case can count as 0 or 1."""
        return self.direction == "higher" and not self.dimension

    @property
    def title(self) -> str:
        """What people call it, such as ``"PQ"``, ``"PartPQ"`` or ``"SQ (hd95)"``."""
        if self.label:
            return self.label
        base = self.name.removeprefix("part_")
        if self.quality == "parts":
            return f"Part{base.upper()}"
        if self.quality != "iou":
            return f"{base[:2].upper()} ({self.quality})"
        return base.upper() if base.startswith(("pq", "sq", "rq", "autc")) else base

    def unit(self, unit: Unit) -> str:
        """Return the unit of its values, given the unit of the spacing; empty if it has none."""
        return {"": "", "length": unit, "volume": f"{unit}³"}[self.dimension]


PLAIN = (Score("pq"), Score("sq"), Score("rq"), Score("precision"), Score("recall"))
PARTS = (Score("part_pq", "parts"), Score("part_sq", "parts"))
AREAS = tuple(Score(name, is_area=True) for name in ("autc", "autc_sq", "autc_rq"))
PART_AREAS = tuple(Score(name, "parts", is_area=True) for name in ("part_autc", "part_autc_sq"))


def metric_scores(metric: Metric) -> tuple[Score, ...]:
    """Return SQ by a metric, and PQ if the metric ranges from 0 to 1. By IoU, these are SQ and PQ.

    Examples
    --------
    >>> from panmatch.scoring import resolve_metrics
    >>> [[score.name for score in metric_scores(one)] for one in resolve_metrics(["iou", "dice"])]
    [['sq', 'pq'], ['sq_dice', 'pq_dice']]
    """
    if metric.name == "iou":
        return Score("sq"), Score("pq")
    scores = (Score(f"sq_{metric.name}", metric.name, metric.better, metric.dimension),)
    return (*scores, Score(f"pq_{metric.name}", metric.name)) if metric.is_share else scores


def known_scores(metrics: Iterable[Metric], *, parts: bool, areas: bool) -> dict[str, Score]:
    """Return all scores of a result by name."""
    scores = [*PLAIN, *(PARTS if parts else ())]
    if areas:
        scores += [*AREAS, *(PART_AREAS if parts else ())]
    scores += [score for metric in metrics for score in metric_scores(metric)]
    return {score.name: score for score in scores}

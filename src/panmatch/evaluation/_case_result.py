"""What was found in one class of one case by one matcher."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from sys import intern
from typing import Any, Literal

import numpy as np

from panmatch.errors import FileError
from panmatch.evaluation import _stored_surfaces as stored
from panmatch.evaluation._diagnosis import MISTAKES, Diagnosis
from panmatch.evaluation._kept_overlaps import ClassOverlap, overlap_from_dict, overlap_to_dict
from panmatch.evaluation._notices import Notice
from panmatch.evaluation._setting import Kind, Score, Setting
from panmatch.labels import Unit
from panmatch.matching import Quality, Tallies, Tally
from panmatch.overlap import Floats
from panmatch.scoring import (
    CHOICES,
    Average,
    Calibration,
    Column,
    ComponentCounts,
    Curve,
    ErrorBudget,
    GraphStructure,
    Measurements,
    MeasureOptions,
    Metric,
    Mistake,
    ObjectTable,
    Surface,
    TableRows,
    resolve_metrics,
)
from panmatch.spec import matcher_as_dict, parse_matcher


@dataclass(frozen=True, slots=True, eq=False)
class Level:
    """A matching at one threshold."""

    threshold: float  # in [0, 1)
    # Counts with summed IoU, and with summed part quality if the class has parts (D9).
    tally: Tally
    part_tally: Tally | None
    measurements: Measurements  # one row per reference, then one per false positive
    quality: Floats  # IoU and part quality of each row, 0 for objects without a match
    part_quality: Floats | None
    near_threshold: int  # true positives that would be lost if the threshold were 0.05 higher
    gap: float | None  # how much PQ an optimal solver may have missed (D6); None for heuristics
    budget: ErrorBudget  # what each kind of mistake costs
    # The costliest mistakes, at most one per object; kept only for the first matcher at the first
    # threshold.
    mistakes: tuple[Mistake, ...] = ()
    calibration: Calibration | None = None  # of the confidences of all predictions, if known


@dataclass(frozen=True, slots=True, eq=False)
class Entry:
    """One setting of one case."""

    setting: Setting  # the class and the matcher
    diagnosis: Diagnosis  # objects of the class by kind of mistake, regardless of the matcher
    levels: tuple[Level, ...]  # the matching at each threshold of the spec
    # PQ and PartPQ over all thresholds; None if the spec does not ask for them, or the class has
    # no parts.
    curve: Curve | None
    part_curve: Curve | None
    surface: Surface | None = None  # over all thresholds and cuts, with confidences (D17)

    def level(self, threshold: float) -> Level:
        """Return the matching at a threshold of the spec."""
        return next(level for level in self.levels if level.threshold == threshold)


@dataclass(frozen=True, slots=True)
class MaskCounts:
    """Voxels of a class as one mask on each side: in both, in one only, and in neither."""

    class_name: str
    tp: int
    fp: int
    fn: int
    tn: int


@dataclass(frozen=True, slots=True)
class ClassScore:
    """A score of one class in one case that needs no matcher."""

    class_name: str
    kind: Kind
    score: Score
    average: Average  # of a case; averages of cases add


@dataclass(frozen=True, slots=True)
class ClassStructure:
    """The components of the graph of one class in one case, whatever the matcher."""

    class_name: str
    kind: Kind
    threshold: float  # in [0, 1): edges have an IoU above it
    structure: GraphStructure


FORMAT = "panmatch-case-6"

# Why a case without a prediction has scores nevertheless.
EMPTY = "no prediction: counted as an empty one (--missing empty)"
WORST = "no prediction: counted as the worst one (--missing worst)"

Json = dict[str, Any]
Status = Literal["ok", "failed", "skipped", "extra"]

TEXT = ("status", "pred_ids")
WHOLE = ("ref_id", "ref_voxels", "pred_voxels", "ref_start", "ref_stop", "pred_start", "pred_stop")


@dataclass(frozen=True, slots=True, eq=False)
class Findings:
    """What was found in a case: almost all of its result."""

    entries: tuple[Entry, ...] = ()  # for every class and matcher
    masks: tuple[MaskCounts, ...] = ()  # of each class, for scores of whole masks
    class_scores: tuple[ClassScore, ...] = ()  # those that need no matcher
    structures: tuple[ClassStructure, ...] = ()  # of each class, at 0 and each threshold
    overlaps: tuple[ClassOverlap, ...] = ()  # of each class, only if they are to be kept


NOTHING = Findings()
NO_COMPONENTS = ComponentCounts()


@dataclass(frozen=True, slots=True, eq=False)
class CaseResult:
    """One case of one model.

    Attributes
    ----------
    case, model
        Names of the case and the model.
    status, reason
        ``"ok"``, or why there are no entries: ``"failed"`` if it could not be evaluated,
        ``"skipped"`` for a reference without a prediction that was left out on request,
        ``"extra"`` for a prediction without a reference. The reason gives details. It also says if
        a missing prediction was filled in, or an image resampled.
    shape, spacing, unit
        Shape, spacing and unit of the images; without a spacing the unit is ``"voxel"`` (D14).
    notices
        Warnings about results that look plausible but may be wrong.
    found
        The findings, or a function that reads them: a run of thousands of cases leaves them in
        its file until they are needed.
    about
        What the case table says about the case, by column, such as its patient and site.
    """

    case: str
    model: str = ""
    status: Status = "ok"
    reason: str = ""
    shape: tuple[int, ...] = ()
    spacing: tuple[float, ...] | None = None
    unit: Unit = "voxel"
    notices: tuple[Notice, ...] = ()
    found: Findings | Callable[[], Findings] = NOTHING
    about: Mapping[str, str] = field(default_factory=dict)

    @property
    def findings(self) -> Findings:
        """The findings; read from the file if they were left there."""
        return self.found if isinstance(self.found, Findings) else self.found()

    @property
    def entries(self) -> tuple[Entry, ...]:
        """What was found for each class and matcher."""
        return self.findings.entries

    @property
    def masks(self) -> tuple[MaskCounts, ...]:
        """Voxels of each class as one mask."""
        return self.findings.masks

    @property
    def class_scores(self) -> tuple[ClassScore, ...]:
        """Scores of classes that need no matcher, if the spec asks for any."""
        return self.findings.class_scores

    @property
    def structures(self) -> tuple[ClassStructure, ...]:
        """The components of the graph of each class, at 0 and at each threshold of the spec."""
        return self.findings.structures

    def entry(self, setting: Setting) -> Entry | None:
        """Return what was found under a setting, or None if the case lacks the class."""
        return next((entry for entry in self.entries if entry.setting == setting), None)

    def to_dict(self) -> Json:
        """Return plain data for JSON, which has no NaN: undefined values are None.

        Objects are listed once, and levels refer to their rows.
        """
        found = self.findings
        levels = [level for entry in found.entries for level in entry.levels]
        tables = list(dict.fromkeys(level.measurements.columns.table for level in levels))
        return {
            "format": FORMAT,
            "case": self.case,
            "model": self.model,
            "status": self.status,
            "reason": self.reason,
            "shape": list(self.shape),
            "spacing": None if self.spacing is None else list(self.spacing),
            "unit": self.unit,
            "notices": [notice.to_dict() for notice in self.notices],
            **({"about": dict(self.about)} if self.about else {}),
            "masks": [asdict(one) for one in found.masks],
            "class_scores": [asdict(one) for one in found.class_scores],
            "structures": [_structure_to_dict(one) for one in found.structures],
            **({"overlaps": list(map(overlap_to_dict, found.overlaps))} if found.overlaps else {}),
            "objects": [
                {name: _listed(column) for name, column in table.columns.items()}
                for table in tables
            ],
            "entries": [_entry_to_dict(entry, tables) for entry in found.entries],
        }

    @classmethod
    def from_dict(cls, content: Json, found: Callable[[], Findings] | None = None) -> CaseResult:
        """Read what `to_dict` returned; the findings can be a function that reads them."""
        if content.get("format") != FORMAT:
            raise FileError(
                f"format={content.get('format')!r} is not {FORMAT!r}: this result was written by "
                f"another version of panmatch. Evaluate again."
            )
        spacing = content["spacing"]
        return cls(
            case=content["case"],
            model=content["model"],
            status=content["status"],
            reason=content["reason"],
            shape=tuple(content["shape"]),
            spacing=None if spacing is None else tuple(spacing),
            unit=content["unit"],
            notices=tuple(Notice.from_dict(notice) for notice in content.get("notices", ())),
            found=findings_from_dict(content) if found is None else found,
            about=content.get("about", {}),
        )


def findings_from_dict(content: Json) -> Findings:
    """Read the findings from what `CaseResult.to_dict` returned."""
    tables = [
        ObjectTable({intern(name): _column(name, values) for name, values in columns.items()})
        for columns in content["objects"]
    ]
    return Findings(
        tuple(_entry_from_dict(entry, tables) for entry in content["entries"]),
        tuple(MaskCounts(**one) for one in content.get("masks", ())),
        tuple(_class_score_from_dict(one) for one in content["class_scores"]),
        tuple(_structure_from_dict(one) for one in content.get("structures", ())),
        tuple(map(overlap_from_dict, content.get("overlaps", ()))),
    )


def _structure_to_dict(one: ClassStructure) -> Json:
    known = {"class": one.class_name, "kind": one.kind, "threshold": one.threshold}
    return known | {"counts": [[*counts.columns.values()] for counts in one.structure.counts]}


def _structure_from_dict(content: Json) -> ClassStructure:
    structure = GraphStructure(tuple(map(_component_counts, content["counts"])))
    return ClassStructure(content["class"], content["kind"], content["threshold"], structure)


def _component_counts(row: list[Any]) -> ComponentCounts:
    return ComponentCounts(*row) if any(row) or type(row[-1]) is float else NO_COMPONENTS


def _class_score_from_dict(content: Json) -> ClassScore:
    return ClassScore(
        content["class_name"],
        content["kind"],
        Score(**content["score"]),
        Average(**content["average"]),
    )


def _entry_to_dict(entry: Entry, tables: list[ObjectTable]) -> Json:
    return {
        "class": entry.setting.class_name,
        "kind": entry.setting.kind,
        "matcher": matcher_as_dict(entry.setting.matcher),
        "diagnosis": {name: getattr(entry.diagnosis, name).tolist() for name in MISTAKES},
        "curve": _curve_to_dict(entry.curve),
        "part_curve": _curve_to_dict(entry.part_curve),
        "levels": [_level_to_dict(level, tables) for level in entry.levels],
        **stored.surface_to_dict(entry.surface, entry.setting.cut),
    }


def _entry_from_dict(content: Json, tables: list[ObjectTable]) -> Entry:
    matcher = tuple(content["matcher"].items())
    setting = _setting(content["class"], content["kind"], matcher, content.get("cut"))
    mistakes = [np.array(content["diagnosis"][name], np.int64) for name in MISTAKES]
    return Entry(
        setting,
        Diagnosis(*mistakes),
        tuple(_level_from_dict(level, tables) for level in content["levels"]),
        _curve_from_dict(content["curve"], setting, "iou"),
        _curve_from_dict(content["part_curve"], setting, "parts"),
        stored.surface_from_dict(content.get("surface"), setting),
    )


# Thousands of cases share these few values.
@lru_cache(1024)
def _setting(
    class_name: str, kind: Kind, matcher: tuple[tuple[str, Any], ...], cut: float | None
) -> Setting:
    return Setting(class_name, kind, parse_matcher(dict(matcher)), cut)


@lru_cache(64)
def _metrics(*names: str) -> tuple[Metric, ...]:
    return resolve_metrics(names)


@lru_cache(64)
def _options(spacing: tuple[float, ...], others: tuple[tuple[str, Any], ...]) -> MeasureOptions:
    return MeasureOptions(spacing, **dict(others))


@lru_cache(64)
def _options_to_dict(options: MeasureOptions) -> Json:
    return asdict(options)


def _options_from_dict(content: Json | None) -> MeasureOptions | None:
    others = ((name, value) for name, value in (content or {}).items() if name != "spacing")
    return None if content is None else _options(tuple(content["spacing"]), tuple(others))


def _curve_to_dict(curve: Curve | None) -> Json | None:
    if curve is None:
        return None
    return {
        "thresholds": curve.thresholds.tolist(),
        "counts": curve.tallies.counts.T.tolist(),
        "proven": curve.proven,
    }


def _curve_from_dict(content: Json | None, setting: Setting, quality: Quality) -> Curve | None:
    if content is None:
        return None
    return Curve(
        np.array(content["thresholds"], np.float64),
        Tallies(np.ascontiguousarray(np.array(content["counts"], np.int64).T)),
        setting.matcher.strategy,
        setting.matcher.score,
        quality,
        content["proven"],
    )


def _level_to_dict(level: Level, tables: list[ObjectTable]) -> Json:
    measured = level.measurements
    return {
        "threshold": level.threshold,
        "tally": _tally_to_list(level.tally),
        "part_tally": None if level.part_tally is None else _tally_to_list(level.part_tally),
        "quality": level.quality.tolist(),
        "part_quality": None if level.part_quality is None else level.part_quality.tolist(),
        "near_threshold": level.near_threshold,
        "gap": level.gap,
        "budget": _budget_to_list(level.budget),
        "mistakes": [
            [one.kind, list(one.ref_ids), list(one.pred_ids), _tally_to_list(one.change)]
            for one in level.mistakes
        ],
        "metrics": [metric.name for metric in measured.metrics],
        "options": None if measured.options is None else _options_to_dict(measured.options),
        "objects": tables.index(measured.columns.table),
        "rows": measured.columns.rows.tolist(),
        **stored.calibration_to_dict(level.calibration),
    }


def _level_from_dict(content: Json, tables: list[ObjectTable]) -> Level:
    tally = Tally.from_units(*content["tally"])
    part_tally = content["part_tally"]
    columns = TableRows(tables[content["objects"]], np.array(content["rows"], np.int64))
    options = _options_from_dict(content["options"])
    measured = Measurements(columns, _metrics(*content["metrics"]), tally, options)
    part_quality = content["part_quality"]
    return Level(
        threshold=content["threshold"],
        tally=tally,
        part_tally=None if part_tally is None else Tally.from_units(*part_tally),
        measurements=measured,
        quality=np.array(content["quality"], np.float64),
        part_quality=None if part_quality is None else np.array(part_quality, np.float64),
        near_threshold=content["near_threshold"],
        gap=content["gap"],
        budget=_budget_from_list(content["budget"], content["tally"], tally),
        mistakes=tuple(
            Mistake(kind, tuple(refs), tuple(preds), Tally.from_units(*change))
            for kind, refs, preds, change in content["mistakes"]
        ),
        calibration=stored.calibration_from_dict(content.get("calibration")),
    )


def _budget_to_list(budget: ErrorBudget) -> list[list[int]]:
    """Return the tallies of a budget; just one if no repair changes the matching."""
    alike = len(set(map(id, budget.tallies))) == 1 or len(set(budget.tallies)) == 1
    return [_tally_to_list(tally) for tally in budget.tallies[: 1 if alike else None]]


def _budget_from_list(content: list[list[int]], known: list[int], tally: Tally) -> ErrorBudget:
    tallies = [tally if one == known else Tally.from_units(*one) for one in content]
    return ErrorBudget(tuple(tallies if len(tallies) > 1 else tallies * len(CHOICES)))


def _tally_to_list(tally: Tally) -> list[int]:
    return [tally.tp, tally.fp, tally.fn, tally.units]


def _listed(column: Column) -> list[object]:
    """Return an array as lists, with None for values that are not finite."""
    values: Column = column
    if column.dtype.kind == "f" and not np.isfinite(column).all():
        values = column.astype(object)
        values[~np.isfinite(column)] = None
    listed: list[object] = values.tolist()
    return listed


def _column(name: str, values: Sequence[object]) -> Column:
    if name in TEXT:
        return np.array(values, dtype=np.str_ if name == "status" else np.object_)
    return np.array(values, np.int64 if name in WHOLE else np.float64)  # None becomes NaN

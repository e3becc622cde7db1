"""The output of `panmatch evaluate` on one screen: one row per model, and the verdict."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from panmatch.cli._detection_lines import detection_lines
from panmatch.cli._layout import LINES, Column, grid, name_length, shortened, wrapped
from panmatch.datasets import verdict
from panmatch.evaluation import (
    MEANS,
    MISTAKES,
    AverageScore,
    ClassSetting,
    Result,
    Setting,
    count_mistakes,
    known_class_scores,
    metric_scores,
    number,
    plural,
    unit_text,
)
from panmatch.scoring import LOSS_LOOKS, Repair

MOST_ROWS = 8
# Columns with lower numbers go first when space is short.
PARTS, SOME_THRESHOLDS, CLASS, COUNTS, METRICS, AREA, OTHER_THRESHOLDS = 90, 80, 75, 70, 60, 50, 40
SOME = 3


def evaluation_screen(
    result: Result,
    width: int,
    more: Sequence[str] = (),
    taken: int = 0,
    if_room: Sequence[str] = (),
) -> str:
    """Return the result of one or a few models in at most 24 lines.

    Parameters
    ----------
    width
        Characters in a line.
    more
        Lines to end with, such as where the tables are.
    taken
        Lines of the screen that are needed for something else, such as warnings.
    if_room
        Lines to add if the screen has room for them.
    """
    if not result.average_scores:
        return "\n".join([*_head(result, width), *_failures(result, width), "", *more])
    below = [*wrapped(verdict(result), width), *_losses(result, width)]
    below += [*detection_lines(result, width), *_failures(result, width)]
    head = _head(result, width)
    room = LINES - len(head) - len(below) - len(more) - taken - 6  # blank lines, heads, a note
    rows = _rows(result, max(room, 1))
    table = grid(_columns(result, rows, name_length(width)), width)
    shown = [*head, "", *table, *_unshown(result, rows), "", *below]
    has_room = len(shown) + len(if_room) + 1 + len(more) + taken <= LINES
    return "\n".join([*shown, *(if_room if has_room else ()), "", *more])


Who = tuple[str, Setting]


def _head(result: Result, width: int) -> list[str]:
    used = {case.case for case in result.with_status("ok", "failed")}
    cases = plural(len(used), "case")
    models = f", {plural(len(result.models), 'model')}" if len(result.models) > 1 else ""
    failed = f", {len(result.failures)} failed" if result.failures else ""
    skipped = {case.case for case in result.with_status("skipped")} - used
    failed += f", {len(skipped)} skipped" if skipped else ""
    several = ", pooled over cases" if len(used) > 1 else ""
    name = result.headline_class
    about = name if name in MEANS else f"class {name}"
    matcher = Setting(name, "things", result.spec.matching[0], result.spec.cut).label
    return wrapped(f"{cases}{models}{failed}: {about}, IoU, {matcher}{several}", width)


def _settings(result: Result) -> list[Setting]:
    """Return the classes under the first matcher, the headline first."""
    found = dict.fromkeys(
        one.setting
        for one in result.average_scores
        if isinstance(one.setting, Setting) and one.setting.matcher == result.spec.matching[0]
    )
    return sorted(found, key=lambda setting: setting.class_name != result.headline_class)


def _rows(result: Result, room: int) -> list[Who]:
    """Return each model with each class, or with the headline class alone if there are many."""
    models = [model for model in result.models if result.evaluated(model)]
    settings = _settings(result)
    if len(models) * len(settings) <= min(room, MOST_ROWS):
        return [(model, setting) for setting in settings for model in models]
    best = {
        one.model: one.value if not math.isnan(one.value) else -math.inf
        for one in reversed(list(_pooled(result, settings[0], "pq")))
    }
    kept = sorted(models, key=lambda model: -best.get(model, -math.inf))[: max(room, 5)]
    return [(model, settings[0]) for model in models if model in kept]


def _unshown(result: Result, rows: Sequence[Who]) -> list[str]:
    """Return a note about models and classes without a row."""
    models = sum(1 for model in result.models if result.evaluated(model))
    settings = _settings(result)
    missing = [
        f"{n} more {one if n == 1 else several}"
        for n, one, several in (
            (models - len({model for model, _ in rows}), "model", "models"),
            (len(settings) - len({setting for _, setting in rows}), "class", "classes"),
        )
        if n
    ]
    return [f"({', '.join(missing)} with --all)"] if missing else []


def _pooled(result: Result, setting: ClassSetting, name: str) -> Iterable[AverageScore]:
    for one in result.average_scores:
        if one.averaging == "pooled" and (one.setting, one.score.name) == (setting, name):
            yield one


def _columns(result: Result, rows: Sequence[Who], longest: int) -> list[Column]:
    spec = result.spec
    at, several = f"at τ = {spec.thresholds[0]:g}", len({setting for _, setting in rows}) > 1
    columns = []
    if len(result.models) > 1:
        names = tuple(shortened(model, longest) for model, _ in rows)
        columns.append(Column("", "model", names, left=True))
    if several or not columns:
        names = tuple(shortened(setting.class_name, longest) for _, setting in rows)
        columns.append(Column("", "class", names, left=True))
    for i, threshold in enumerate(spec.thresholds):
        values = _values(result, rows, "pq", threshold)
        rank = SOME_THRESHOLDS if i < SOME else OTHER_THRESHOLDS
        columns.append(Column("PQ at τ =", f"{threshold:g}", values, rank - i if i else None))
    if spec.curve:
        columns.append(Column("area", "AUTC", _values(result, rows, "autc", None), AREA))
    if result.has_parts:
        values = _values(result, rows, "part_pq", spec.thresholds[0])
        columns.append(Column(at, "PartPQ", values, PARTS))
    columns += [
        Column(at, head, cells, COUNTS)
        for head, cells in zip(("TP", "FP", "FN"), _counts(result, rows), strict=True)
        if any(cells)
    ]
    return columns + _class_score_columns(result, rows) + _metric_columns(result, rows, at)


def _class_score_columns(result: Result, rows: Sequence[Who]) -> list[Column]:
    """Return the scores that need no matching, with their units."""
    of_classes = [(model, ClassSetting(one.class_name, one.kind)) for model, one in rows]
    columns = []
    for i, score in enumerate(known_class_scores(result.spec).values()):
        unit = unit_text(score, result.unit)
        values = _values(result, of_classes, score.name, None)
        columns.append(Column("no matching", f"{score.title} {unit}".rstrip(), values, CLASS - i))
    return columns


def _metric_columns(result: Result, rows: Sequence[Who], at: str) -> list[Column]:
    """Return the mean of each metric over the true positives, with its unit."""
    threshold = result.spec.thresholds[0]
    scores = [metric_scores(metric)[0] for metric in result.spec.metric_objects]
    columns = []
    for i, score in enumerate(scores):
        unit = unit_text(score, result.unit)
        values = _values(result, rows, score.name, threshold)
        columns.append(Column(at, f"{score.title} {unit}".rstrip(), values, METRICS - i))
    return columns


def _values(
    result: Result, rows: Sequence[tuple[str, ClassSetting]], name: str, threshold: float | None
) -> tuple[str, ...]:
    found = {
        (one.model, one.setting): one.value
        for one in result.average_scores
        if (one.averaging, one.score.name, one.threshold) == ("pooled", name, threshold)
    }
    return tuple(number(found.get(who, math.nan)) for who in rows)


def _counts(result: Result, rows: Sequence[Who]) -> list[tuple[str, ...]]:
    """Return TP, FP and FN of each row at the first threshold; means over classes have none."""
    series = {(one.model, one.setting): one for one in result.series}
    lines = []
    for who in rows:
        if who not in series:
            lines.append(("", "", ""))
            continue
        tally = series[who].counts[result.spec.thresholds[0]].sum().tallies.tally()
        lines.append((str(tally.tp), str(tally.fp), str(tally.fn)))
    return list(zip(*lines, strict=True))


def largest_mistakes(result: Result) -> dict[str, dict[str, int]]:
    """Return how often each model makes each kind of mistake, most frequent first.

    Mistakes are counted in the headline class, or in all classes if that is a mean over classes.
    """
    found = {}
    for model in result.models:
        sums = dict.fromkeys(MISTAKES, 0)
        for name, counts in count_mistakes(result, model).items():
            if result.headline_class in (name, *MEANS):
                sums = {kind: n + counts[kind] for kind, n in sums.items()}
        order = sorted(sums, key=lambda kind: -sums[kind])
        found[model] = {kind: sums[kind] for kind in order}
    return found


def _losses(result: Result, width: int) -> list[str]:
    """Return what costs PQ: all kinds of mistakes of one model, or the largest of several."""
    losses = {model: kinds for model, kinds in result.losses.items() if kinds}
    if not losses and result.spec.encoding == "coco-instances":
        return []  # masks that share voxels have no error budget
    at = f"at τ = {result.spec.thresholds[0]:g}"
    if len(losses) == 1:
        (kinds,) = losses.values()
        parts = [_loss(kind, loss) for kind, loss in kinds.items() if round(loss, 3)]
        total = number(math.fsum(kinds.values()))
        return wrapped(f"1 − PQ = {total} {at}: {', '.join(parts) or 'nothing is lost'}.", width)
    named = []
    for model, kinds in list(losses.items())[:MOST_ROWS]:
        kind, loss = next(iter(kinds.items()))
        name = shortened(model, name_length(width))
        named.append(f"{name} {_loss(kind, loss) if round(loss, 3) else 'none'}")
    return wrapped(f"Largest loss of PQ {at}: {', '.join(named)}.", width)


def _loss(kind: Repair, loss: float) -> str:
    return f"{LOSS_LOOKS[kind].title} {number(loss)}"


def _failures(result: Result, width: int) -> list[str]:
    """Return the first failure in full, and the number of others."""
    if not result.failures:
        return []
    first = result.failures[0]
    who = f"{first.case}{f' ({first.model})' if first.model else ''}"
    lines = [
        line
        for part in f"Failed: {who}: {first.reason}".splitlines()
        for line in wrapped(part, width, "  ")
    ]
    more = len(result.failures) - 1
    return lines + ([f"  … and {more} more: see scores.csv"] if more else [])

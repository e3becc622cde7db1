"""Pictures of the cases that went best and worst."""

from __future__ import annotations

import base64
import math
from collections.abc import Mapping
from dataclasses import dataclass

from panmatch.datasets.case import Case
from panmatch.datasets.loading import load_case
from panmatch.errors import PanmatchError
from panmatch.evaluation import CaseResult, Result
from panmatch.report.pictures import case_picture
from panmatch.report.plots.one_class import match_class
from panmatch.report.selection import first_rows
from panmatch.report.statuses import statuses_of

WORST, BEST = 3, 1
MOST_MODELS = 4


@dataclass(frozen=True, slots=True)
class Exhibit:
    """A case to look at.

    Attributes
    ----------
    case, model, pq
        Which one, and how good it is.
    counts
        Found, missed and false objects.
    picture
        PNG as base64; empty if the images cannot be read any more.
    problem
        Why there is no picture.
    """

    case: str
    model: str
    pq: float
    counts: Mapping[str, int]
    picture: str = ""
    problem: str = ""


def make_gallery(result: Result, cases: Mapping[tuple[str, str], Case], kind: str) -> list[Exhibit]:
    """Return the worst and the best cases of every model, worst first."""
    rows = first_rows(result, kind)
    found = []
    for model in result.models[:MOST_MODELS]:
        scored = []
        for one in result.evaluated(model):
            at = rows(one.scores)
            pq = one.scores["pq"][at[0]] if at else None
            if pq is not None and not math.isnan(pq):
                scored.append((pq, one.case, one))
        scored.sort(key=lambda item: item[:2])
        chosen = scored[:WORST] + scored[WORST:][-BEST:]
        found += [_exhibit(result, one, pq, cases, kind) for pq, _, one in chosen]
    return found


def _exhibit(
    result: Result,
    one: CaseResult,
    pq: float,
    cases: Mapping[tuple[str, str], Case],
    kind: str,
) -> Exhibit:
    rows = first_rows(result, kind)(one.instances)
    status = [one.instances["status"][row] for row in rows]
    counts = {name: status.count(name) for name in ("matched", "missed", "false positive")}
    case = cases.get((one.model, one.case))
    if case is None:
        return Exhibit(one.case, one.model, pq, counts, problem="its files are not listed")
    try:
        picture = _picture(result, one, case, kind)
    except PanmatchError as error:
        return Exhibit(one.case, one.model, pq, counts, problem=str(error))
    return Exhibit(one.case, one.model, pq, counts, base64.b64encode(picture).decode())


def _picture(result: Result, one: CaseResult, case: Case, kind: str) -> bytes:
    loaded = load_case(case, result.spec, allow_header_mismatch=True)
    sides = loaded.reference, loaded.prediction
    found = match_class(result.spec, *sides, class_name=kind, spacing=one.spacing)
    statuses = statuses_of(found.matching)
    return case_picture(found.reference, found.prediction, *statuses, spacing=one.spacing)

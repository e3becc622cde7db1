"""Where the mistakes of a case are: an image of codes for each class."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Unpack

import numpy as np
import numpy.typing as npt

from panmatch.evaluation._case_result import CaseResult, Entry
from panmatch.evaluation._class_case import CaseKeywords, class_cases
from panmatch.evaluation._sides import Images
from panmatch.labels import Ints, LabelArray, as_labels
from panmatch.spec import Spec

MATCHED, MISSED, SPURIOUS, SPLIT, MERGED = 1, 2, 3, 4, 5

Codes = npt.NDArray[np.uint8]

# The meaning of each code in a map, with a colour for viewers.
MAP_LEGEND = {
    MATCHED: ("matched", "references with a match, and their predictions", (0, 158, 115)),
    MISSED: ("missed", "references without a match", (213, 94, 0)),
    SPURIOUS: ("spurious", "predictions without a match", (0, 114, 178)),
    SPLIT: ("split", "references to which two or more predictions belong", (240, 228, 66)),
    MERGED: ("merged", "predictions to which two or more references belong", (204, 121, 167)),
}


def mistake_maps(
    reference: Images,
    prediction: Images,
    spec: Spec,
    result: CaseResult,
    **options: Unpack[CaseKeywords],
) -> dict[str, Codes]:
    """Return an image with the codes of `MAP_LEGEND` for each class of a case.

    Matches are those of the first matcher at the lowest threshold of the spec. Split and merged
    objects are those of the diagnosis, regardless of the strategy. If several codes apply to a
    voxel, merged comes before split, and both before the rest; references before predictions.

    Parameters
    ----------
    reference, prediction, spec, options
        As for `evaluate_case`.
    result
        What that returned.
    """
    first: dict[str, Entry] = {}
    for entry in result.entries:
        first.setdefault(entry.setting.class_name, entry)
    maps = {}
    for case in class_cases(reference, prediction, spec, **options):
        if case.name in first:
            ids = [as_labels(image, "image") for image in case.images]
            maps[case.name] = _painted(ids[0], ids[1], first[case.name])
    return maps


def _painted(reference: LabelArray, prediction: LabelArray, entry: Entry) -> Codes:
    columns = entry.levels[0].measurements.columns
    status, ref_ids = columns["status"], columns["ref_id"]
    partners = _all_ids(columns["pred_ids"][status == "matched"])
    of_ref = _codes(
        reference,
        {MATCHED: ref_ids[status == "matched"], MISSED: ref_ids[status == "missed"],
         SPLIT: entry.diagnosis.split},
    )  # fmt: skip
    of_pred = _codes(
        prediction,
        {SPURIOUS: _all_ids(columns["pred_ids"][status == "false positive"]), MATCHED: partners,
         MERGED: entry.diagnosis.merged},
    )  # fmt: skip
    painted: Codes = np.where((of_ref > 0) & (of_pred != MERGED), of_ref, of_pred)
    return painted


def _codes(image: LabelArray, ids_of: dict[int, Ints]) -> Codes:
    """Return the code of each voxel; if an id is listed twice, the last code counts."""
    code_of = {int(one): code for code, ids in ids_of.items() for one in ids}
    known = np.array(sorted(code_of), np.int64)
    codes = np.array([code_of[one] for one in known.tolist()], np.uint8)
    painted = np.zeros(image.shape, np.uint8)
    there = image != 0
    if len(known):
        values = image[there].astype(np.int64)
        at = np.minimum(np.searchsorted(known, values), len(known) - 1)
        painted[there] = np.where(known[at] == values, codes[at], 0)
    return painted


def _all_ids(texts: Iterable[str]) -> Ints:
    return np.array([int(one) for text in texts for one in text.split()], np.int64)

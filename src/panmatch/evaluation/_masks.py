"""One image with masks that may share voxels: from masks and a spec to a result (D16)."""

from __future__ import annotations

from collections.abc import Sequence

from panmatch.evaluation._case_result import CaseResult, Findings
from panmatch.evaluation._evaluate import evaluate_class, find_structures
from panmatch.evaluation._mask_case import MaskCase
from panmatch.spec import Spec


def evaluate_masks(
    classes: Sequence[MaskCase],
    spec: Spec,
    shape: tuple[int, ...],
    *,
    case: str = "case",
    model: str = "",
) -> CaseResult:
    """Evaluate the classes of one image.

    There is no error budget, and there are no costly mistakes: those need objects that do not
    share voxels.

    Parameters
    ----------
    classes
        Those that occur in the image.
    shape
        Of the image.
    case, model
        Their names in tables.
    """
    present = [one for one in classes if one.occurs]
    return CaseResult(
        case=case,
        model=model,
        shape=shape,
        found=Findings(
            tuple(entry for one in present for entry in evaluate_class(one, spec)),
            tuple(one.mask_counts for one in present),
            (),
            tuple(found for one in present for found in find_structures(one, spec)),
        ),
    )

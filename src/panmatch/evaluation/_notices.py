"""Warnings about numbers that look plausible but may be wrong, kept as part of a result."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import numpy as np

from panmatch.errors import PanmatchWarning
from panmatch.overlap import Ints, Overlap

NoticeKind = Literal[
    "same-files",
    "perfect-scores",
    "semantic-labels",
    "header-mismatch",
    "shifted-ids",
    "unrelated-ids",
    "few-cases",
    "shared-subjects",
    "unlisted-cases",
    "missing-predictions",
    "extra-predictions",
    "resampled",
    "ignored-files",
    "ignored-columns",
    "ignored-rows",
    "damaged-results",
    "stop-rule",
]
# Kinds that say what was done rather than what may be wrong.
NOTES: tuple[NoticeKind, ...] = (
    "resampled",
    "ignored-files",
    "ignored-columns",
    "ignored-rows",
    "damaged-results",
    "stop-rule",
)

MOST_NAMES = 3  # of cases in a sentence
LEAST_PARTNERS = 3  # fewer say nothing about the numbering of a case
FEW_EQUAL = 0.2  # ids look wrong up to this share of partners with equal ids
MOST_SHIFTED = 0.8  # ids look shifted from this share of partners with the same difference


@dataclass(frozen=True, slots=True)
class Notice:
    """A warning that numbers were computed as asked, but probably not as meant; or a note.

    Attributes
    ----------
    kind
        What it is about, for programs.
    text
        The same for people: what was seen, why it matters, and what to do.
    cases
        Names of the cases that it is about; empty for a run as a whole.
    model
        The model that it is about; empty for all.
    spec
        A spec that would be right, as YAML; empty if there is none to suggest.
    """

    kind: NoticeKind
    text: str
    cases: tuple[str, ...] = ()
    model: str = ""
    spec: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return asdict(self) | {"cases": list(self.cases)}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Notice:
        """Read what `to_dict` returned."""
        return cls(**{**content, "cases": tuple(content["cases"])})

    @property
    def word(self) -> Literal["warning", "note"]:
        """The kind of notice: a note says what was done, a warning what may be wrong."""
        return "note" if self.kind in NOTES else "warning"

    @property
    def sentence(self) -> str:
        """The text, after the name of the model if there is one."""
        return f"{self.model}: {self.text}" if self.model else self.text


def merge_notices(notices: Iterable[Notice], n_cases: Mapping[str, int]) -> list[Notice]:
    """Merge equal notices about several cases of a model into one.

    Parameters
    ----------
    notices
        Each about one case.
    n_cases
        How many cases each model has.

    Examples
    --------
    >>> found = [Notice("shifted-ids", "ids look shifted", (name,)) for name in "abcd"]
    >>> merge_notices(found, {"": 6})[0].text
    'ids look shifted (4 of 6 cases: a, b, c and 1 more)'
    """
    families: dict[Notice, list[str]] = {}
    for notice in notices:
        families.setdefault(replace(notice, cases=()), []).extend(notice.cases)
    return [
        replace(
            notice,
            text=notice.text + _among(cases, n_cases[notice.model]),
            cases=tuple(cases),
        )
        for notice, cases in families.items()
    ]


def _among(cases: Sequence[str], total: int) -> str:
    return "" if total < 2 else f" ({len(cases)} of {total} cases: {some_names(cases)})"


def some_names(names: Sequence[str]) -> str:
    """Return the first names, and how many more there are.

    Examples
    --------
    >>> some_names(["a", "b"]), some_names(list("abcdef"))
    ('a, b', 'a, b, c and 3 more')
    """
    more = len(names) - MOST_NAMES
    return ", ".join(names[:MOST_NAMES]) + (f" and {more} more" if more > 0 else "")


def warn_of(notices: Iterable[Notice]) -> None:
    """Issue a Python warning for each, at the line outside of panmatch that led here."""
    for notice in notices:
        warnings.warn(notice.sentence, PanmatchWarning, stacklevel=_frames_of_panmatch())


def _frames_of_panmatch() -> int:
    """Return the level of the first caller outside of this package, for its own caller."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and _is_own(frame.f_globals.get("__name__", "")):
        frame, level = frame.f_back, level + 1
    return level


def _is_own(module: str) -> bool:
    return module.partition(".")[0] == __name__.partition(".")[0]


def find_id_mistakes(overlap: Overlap, class_name: str, case: str, model: str) -> list[Notice]:
    """Return what is wrong with the numbering of a case in which equal ids should be partners.

    Partners here are pairs with an IoU above ½. No object has two of them, so no matching is
    needed.

    Examples
    --------
    >>> shifted = Overlap.from_dense(9 * np.eye(4, k=1)[:3], [9] * 3, [9] * 4)
    >>> find_id_mistakes(shifted, "vertebra", "a", "")[0].text[:44]
    'predicted ids of vertebra look shifted by +1'
    """
    ref, pred = partner_ids(overlap)
    many = max(LEAST_PARTNERS, len(overlap.ref_ids) / 2)
    if len(ref) < many or np.mean(ref == pred) > FEW_EQUAL:
        return []
    steps, times = np.unique(pred - ref, return_counts=True)
    step, share = int(steps[times.argmax()]), times.max() / len(ref)
    if step and share >= MOST_SHIFTED:
        text = (
            f"predicted ids of {class_name} look shifted by {step:+d}: nearly every prediction "
            f"that matches a reference (IoU above ½) has the reference's id {step:+d}, so same-id "
            f"misses it. Renumber the predictions, or use one-to-one."
        )
        return [Notice("shifted-ids", text, (case,), model)]
    text = (
        f"equal ids of {class_name} hardly ever mark the same object: most predictions that match "
        f"a reference (IoU above ½) have another id. Use one-to-one unless ids should agree."
    )
    return [Notice("unrelated-ids", text, (case,), model)]


def partner_ids(overlap: Overlap) -> tuple[Ints, Ints]:
    """Return the ids of all pairs with an IoU above ½.

    Examples
    --------
    >>> partner_ids(Overlap.from_dense([[3, 0], [0, 2]], [4, 4], [4, 4]))
    (array([1]), array([1]))
    """
    near = overlap.iou > 0.5
    return overlap.ref_ids[overlap.edges.ref[near]], overlap.pred_ids[overlap.edges.pred[near]]

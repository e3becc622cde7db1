"""All that was found in one case, as plain data."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any, Literal

from panmatch.errors import FileError
from panmatch.evaluation.columns import Columns, without_nan

FORMAT = "panmatch-case-1"


@dataclass(frozen=True, slots=True)
class CaseResult:
    """One case of one model.

    Attributes
    ----------
    case, model
        Who it is.
    status, reason
        ``"failed"`` with the reason if it could not be evaluated.
    shape, spacing
        Of the images; no spacing means voxel units.
    scores, instances, curves, diagnosis
        Tables as columns.
    """

    case: str
    model: str = ""
    status: Literal["ok", "failed"] = "ok"
    reason: str = ""
    shape: tuple[int, ...] = ()
    spacing: tuple[float, ...] | None = None
    scores: Columns = field(default_factory=dict)
    instances: Columns = field(default_factory=dict)
    curves: Columns = field(default_factory=dict)
    diagnosis: Columns = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON, which has no NaN: undefined values are None."""
        content: dict[str, Any] = {"format": FORMAT}
        content |= {one.name: getattr(self, one.name) for one in fields(self)}
        for table in TABLES:
            content[table] = without_nan(getattr(self, table))
        return content

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> CaseResult:
        """Read what `to_dict` gave."""
        given = dict(content)
        if given.pop("format", None) != FORMAT:
            raise FileError(
                f"format={content.get('format')!r} is not {FORMAT!r}: this result was written by "
                f"another version of panmatch. Evaluate again."
            )
        spacing = given.pop("spacing", None)
        shape = tuple(given.pop("shape", ()))
        return cls(shape=shape, spacing=None if spacing is None else tuple(spacing), **given)


TABLES = ("scores", "instances", "curves", "diagnosis")

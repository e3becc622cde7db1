"""What was found, as tables for programs and as text for people."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import panmatch
from panmatch.errors import FileError, OverlapError
from panmatch.evaluation.averages import AverageRow, average_all
from panmatch.evaluation.case_result import CaseResult
from panmatch.evaluation.columns import Columns, append_block, height
from panmatch.evaluation.groups import WAY, CurveGroup, Group, group_curves, group_scores
from panmatch.evaluation.wording import summarise
from panmatch.spec import Spec

if TYPE_CHECKING:
    import pandas as pd

FORMAT = "panmatch-result-1"


@dataclass(frozen=True, eq=False)
class Result:
    """One case, or many; results of different cases add.

    Attributes
    ----------
    spec
        What was asked for.
    cases
        What was found, by model and case.

    Examples
    --------
    >>> from panmatch.evaluation import evaluate
    >>> result = evaluate(reference=[[1, 1, 0, 2]], prediction=[[3, 3, 0, 0]])
    >>> result.instances.loc[:1, ["status", "ref_id", "pred_ids", "iou"]]
        status  ref_id pred_ids  iou
    0  matched       1        3  1.0
    1   missed       2           0.0
    """

    spec: Spec
    cases: tuple[CaseResult, ...]

    def __post_init__(self) -> None:
        ordered = tuple(sorted(self.cases, key=lambda one: (one.model, one.case)))
        names = [(one.model, one.case) for one in ordered]
        twice = [name for name, next_one in pairwise(names) if name == next_one]
        if twice:
            model = f" of model {twice[0][0]!r}" if twice[0][0] else ""
            raise OverlapError(f"case {twice[0][1]!r}{model} is there more than once.")
        object.__setattr__(self, "cases", ordered)

    @property
    def scores(self) -> pd.DataFrame:
        """One row per case, class, way to match and threshold; failed cases have one row."""
        return self._table("scores", failures=True)

    @property
    def instances(self) -> pd.DataFrame:
        """One row per reference and per false positive, for each matching."""
        return self._table("instances")

    @property
    def curves(self) -> pd.DataFrame:
        """The exact steps of every curve; each holds from its threshold to the next."""
        return self._table("curves")

    @property
    def diagnosis(self) -> pd.DataFrame:
        """Ids of what was split, merged, missed and made up, per case and class."""
        return self._table("diagnosis")

    @property
    def averages(self) -> pd.DataFrame:
        """Pooled scores and means of cases, one row for each (D11)."""
        import pandas as pd

        rows = [list(average_columns(row).values()) for row in self.average_rows]
        return self._tidy(pd.DataFrame(rows, columns=AVERAGE_COLUMNS))

    @property
    def failures(self) -> tuple[CaseResult, ...]:
        """The cases that could not be evaluated, with their reasons."""
        return tuple(one for one in self.cases if one.status == "failed")

    @property
    def models(self) -> tuple[str, ...]:
        """Names of all models."""
        return tuple(dict.fromkeys(one.model for one in self.cases))

    @cached_property
    def groups(self) -> list[Group]:
        """The scores of every model, class, way to match and threshold over cases."""
        return [
            group
            for model in self.models
            for group in group_scores(
                model, [(one.scores, one.instances) for one in self.evaluated(model)]
            )
        ]

    @cached_property
    def curve_groups(self) -> list[CurveGroup]:
        """The curves of every model, class and way to match over cases."""
        return [
            group
            for model in self.models
            for group in group_curves(model, [one.curves for one in self.evaluated(model)])
        ]

    @cached_property
    def average_rows(self) -> list[AverageRow]:
        """Pooled scores and means of cases."""
        return average_all(self.groups, self.curve_groups, self.spec.averaging.undefined)

    @property
    def plot(self) -> Any:
        """Figures for papers: `curve`, `grid`, `sizes`, `matching` and `scene`.

        Each method returns a matplotlib figure; they are documented in
        `panmatch.report.plots.ResultPlots`.
        """
        # By name: reports are made of results, so the import would go against the layers.
        return import_module("panmatch.report.plots").ResultPlots(self)

    def evaluated(self, model: str) -> list[CaseResult]:
        """Return the cases of a model that did not fail."""
        return [one for one in self.cases if one.model == model and one.status == "ok"]

    def summary(self) -> str:
        """Return the result in words and small tables, for people."""
        return summarise(self)

    def __add__(self, other: Result) -> Result:
        if not isinstance(other, Result):
            return NotImplemented
        if self.spec != other.spec:
            raise OverlapError("results add only if they were made with the same spec.")
        return Result(self.spec, self.cases + other.cases)

    def __radd__(self, other: object) -> Result:
        return self if other == 0 else NotImplemented  # sum() begins with 0

    def __repr__(self) -> str:
        failed = f", {len(self.failures)} failed" if self.failures else ""
        models = f" of {len(self.models)} models" if len(self.models) > 1 else ""
        return f"Result({len(self.cases)} cases{models}{failed})"

    def to_json(self) -> str:
        """Return everything as JSON."""
        content = {
            "format": FORMAT,
            "panmatch": panmatch.__version__,
            "spec": self.spec.model_dump(mode="json"),
            "cases": [one.to_dict() for one in self.cases],
        }
        return json.dumps(content, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Result:
        """Read what `to_json` gave."""
        try:
            content = json.loads(text)
            if content["format"] != FORMAT:
                raise ValueError(f"its format is {content['format']!r}, not {FORMAT!r}")
            spec = Spec.model_validate(content["spec"])
            return cls(spec, tuple(CaseResult.from_dict(one) for one in content["cases"]))
        except (ValueError, KeyError, TypeError) as error:
            raise FileError(f"this is no result of panmatch: {error!r}.") from error

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Result:
        """Read a result from a JSON file."""
        try:
            return cls.from_json(Path(path).read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, FileError) as error:
            raise FileError(f"path={str(path)!r} cannot be read as a result: {error}") from error

    def _table(self, name: str, failures: bool = False) -> pd.DataFrame:
        import pandas as pd

        columns: Columns = {}
        for one in self.cases:
            block: dict[str, Any] = {"case": one.case, "model": one.model} | getattr(one, name)
            n = height(getattr(one, name))
            if failures:
                failed = one.status == "failed"
                block |= {"status": "failed"} if failed else {}
                block |= {"reason": one.reason}
                n = 1 if failed else n
            append_block(columns, block, n)
        table = pd.DataFrame(columns, columns=_ordered(columns or ("case", "model")))
        for column in table.columns[table.isna().all()]:
            table[column] = table[column].astype("float64")  # undefined everywhere
        return self._tidy(table)

    def _tidy(self, table: pd.DataFrame) -> pd.DataFrame:
        """Return whole numbers as such, and no column of models where none is named."""
        for name in table.columns.intersection(WHOLE):
            table[name] = table[name].astype("Int64" if table[name].isna().any() else "int64")
        return table if any(self.models) else table.drop(columns="model")


WHOLE = ["tp", "fp", "fn", "splits", "merges", "misses", "hallucinations", "near_threshold",
         "ref_id", "ref_voxels", "pred_voxels", "cases", "skipped"]  # fmt: skip


AVERAGE_COLUMNS = ["model", *WAY, "threshold", "measure", "averaging", "value", "cases", "skipped"]


def average_columns(row: AverageRow) -> dict[str, Any]:
    """Return an average as the columns of a table."""
    return {
        "model": row.model,
        **dict(zip(WAY, row.way, strict=True)),
        "threshold": row.threshold,
        "measure": row.measure,
        "averaging": row.averaging,
        "value": row.value,
        "cases": row.cases,
        "skipped": row.skipped,
    }


def _ordered(names: Any) -> list[str]:
    """Return the columns with status and reason last, where tables have a reason."""
    last = [name for name in ("status", "reason") if name in names and "reason" in names]
    return [name for name in names if name not in last] + last

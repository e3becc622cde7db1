"""Case after case, one result at the end."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy.typing as npt

from panmatch.errors import OptionError
from panmatch.evaluation.case_result import CaseResult
from panmatch.evaluation.one_case import evaluate_case
from panmatch.evaluation.result import Result
from panmatch.evaluation.sides import Image, Images
from panmatch.labels.spacing import Unit
from panmatch.spec import Spec, as_spec


class Evaluator:
    """Collects cases; several evaluators of one spec merge, in any order.

    Parameters
    ----------
    spec
        As for `evaluate`.

    Examples
    --------
    >>> first, second = Evaluator("cells"), Evaluator("cells")
    >>> first.update(reference=[[1, 1, 0]], prediction=[[1, 1, 0]], case="a")
    >>> second.update(reference=[[0, 2, 2]], prediction=[[3, 0, 0]], case="b")
    >>> first.merge(second)
    >>> first.compute()
    Result(2 cases)
    """

    def __init__(
        self, spec: Spec | str | os.PathLike[str] | Mapping[str, Any] = "instances"
    ) -> None:
        self.spec = as_spec(spec)
        self._cases: list[CaseResult] = []

    def update(
        self,
        *,
        reference: Image,
        prediction: Image,
        case: str | None = None,
        model: str = "",
        spacing: npt.ArrayLike | None = None,
        unit: Unit | None = None,
        reference_parts: npt.ArrayLike | None = None,
        prediction_parts: npt.ArrayLike | None = None,
        void: npt.ArrayLike | None = None,
        threads: int | None = None,
    ) -> None:
        """Evaluate one more case; parameters are those of `evaluate`.

        Without a name, a case is called by its number, from 0000 on.
        """
        name = f"{len(self._cases):04}" if case is None else case
        found = evaluate_case(
            Images(reference, reference_parts),
            Images(prediction, prediction_parts),
            self.spec,
            spacing=spacing,
            unit=unit,
            void=void,
            case=name,
            model=model,
            threads=threads,
        )
        self._cases.append(found)

    def merge(self, other: Evaluator) -> None:
        """Take over the cases of another evaluator."""
        if not isinstance(other, Evaluator) or other.spec != self.spec:
            raise OptionError("other must be an Evaluator with the same spec.")
        self._cases.extend(other._cases)

    def compute(self) -> Result:
        """Return the result of all cases so far."""
        return Result(self.spec, tuple(self._cases))

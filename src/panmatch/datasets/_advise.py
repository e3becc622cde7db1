"""Advice from one case in Python, or from the files of many."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy.typing as npt

from panmatch.datasets._advice import Advice
from panmatch.datasets._case_facts import case_facts
from panmatch.datasets._cases import Case
from panmatch.datasets._loading import load_case
from panmatch.datasets._missing import failed, without_images
from panmatch.datasets._single_case import Given, read_images
from panmatch.datasets._worker import Job, Outcome
from panmatch.errors import PanmatchError, named_only
from panmatch.evaluation import CaseKeywords, CaseResult, Images
from panmatch.formats import ImageLike
from panmatch.labels import Unit
from panmatch.spec import Spec, SpecLike, as_spec


@named_only
def advise(
    *,
    reference: Given,
    prediction: Given,
    spec: SpecLike = "instances",
    reference_parts: ImageLike | None = None,
    prediction_parts: ImageLike | None = None,
    void: ImageLike | None = None,
    spacing: npt.ArrayLike | None = None,
    unit: Unit | None = None,
    threads: int | None = None,
) -> Advice:
    """Look at one case, and advise on strategy, threshold and regions, with the evidence.

    Advice on several cases adds: ``sum(advice)``. Nothing is measured but what the overlap graph
    holds, and which objects touch. ``docs/choosing/index.md`` explains every choice.

    Parameters
    ----------
    reference, prediction, reference_parts, prediction_parts, void, spacing, unit, threads
        As for `evaluate`.
    spec
        As for `evaluate`; it says what an object is. Its strategies, thresholds and metrics are
        not used.

    Returns
    -------
    Advice
        `print` it, or read `Advice.points` and `Advice.facts`.

    Examples
    --------
    >>> import panmatch as pm
    >>> from panmatch import phantoms
    >>> reference = phantoms.balls((64, 64), 6, radius=(5, 7), seed=1)
    >>> prediction = phantoms.split(reference, 2, ids=[1, 4])
    >>> advice = pm.advise(reference=reference, prediction=prediction)
    >>> advice.points[0].choice[:52]
    'one-to-one if an object must be found whole, many-to'
    >>> advice.facts["object"].n_split, advice.facts["object"].n_pieces
    (2, 4)
    """
    images = {
        "reference": reference,
        "prediction": prediction,
        "reference_parts": reference_parts,
        "prediction_parts": prediction_parts,
        "void": void,
    }
    known = as_spec(spec)
    read = read_images(images, known, spacing, unit)
    return Advice(
        case_facts(
            Images(read.images["reference"], read.images["reference_parts"]),
            Images(read.images["prediction"], read.images["prediction_parts"]),
            known,
            spacing=read.spacing,
            unit=read.unit,
            void=read.images["void"],
            threads=threads,
        )
    )


@dataclass(frozen=True, slots=True, eq=False)
class CasesAdvice:
    """Advice on all cases that could be read.

    Attributes
    ----------
    advice
        None if no case could be read.
    left_out
        The cases without a partner, with the status ``"skipped"`` or ``"extra"``, and those that
        ``"failed"``.
    """

    advice: Advice | None
    left_out: tuple[CaseResult, ...]

    @property
    def failures(self) -> tuple[CaseResult, ...]:
        """The cases whose files could not be compared."""
        return tuple(one for one in self.left_out if one.status == "failed")


def advise_on_cases(
    cases: Sequence[Case], job: Job, finished: Callable[[Outcome], None] = lambda _: None
) -> CasesAdvice:
    """Return the advice on all cases of one model; a case that cannot be read is left out.

    Parameters
    ----------
    cases
        From pairing, of one model.
    job
        The spec, and how files are read.
    finished
        Called after each case.
    """
    spec = Spec.model_validate_json(job.spec)
    found: list[Advice] = []
    left_out: list[CaseResult] = []
    for case in cases:
        start = time.perf_counter()
        given = _advise_on_case(case, spec, job)
        if isinstance(given, Advice):
            found.append(given)
        else:
            left_out.append(given)
        result = None if isinstance(given, Advice) else given
        finished(Outcome(case, "", result, time.perf_counter() - start))
    return CasesAdvice(sum(found[1:], start=found[0]) if found else None, tuple(left_out))


def _advise_on_case(case: Case, spec: Spec, job: Job) -> Advice | CaseResult:
    """Return the advice on a case; whatever is wrong with it becomes a failed result."""
    if (nothing := without_images(case, "skip")) is not None:
        return nothing
    try:
        return _look_at(case, spec, job)
    except PanmatchError as error:
        return failed(case, error.for_command_line())
    except MemoryError:
        return failed(case, "there is not enough memory for it")


def _look_at(case: Case, spec: Spec, job: Job) -> Advice:
    loaded = load_case(case, spec, job.allow_header_mismatch, resample=job.resample)
    given = job.spacing is not None
    options = CaseKeywords(
        spacing=job.spacing if given else loaded.spacing,
        unit=(spec.unit or "mm") if given else loaded.unit,
        threads=job.threads,
    )
    return Advice(case_facts(loaded.reference, loaded.prediction, spec, **options))

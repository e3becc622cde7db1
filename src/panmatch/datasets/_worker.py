"""The function that workers call to evaluate a case."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import panmatch
from panmatch.datasets._cases import Case
from panmatch.datasets._instance_cases import evaluate_instances
from panmatch.datasets._loading import file_state, load_case
from panmatch.datasets._missing import Missing, evaluate_missing, failed, without_images
from panmatch.datasets._other_outputs import map_name
from panmatch.datasets._score_sources import load_confidences
from panmatch.datasets._sealing import seal
from panmatch.errors import PanmatchError
from panmatch.evaluation import (
    CaseKeywords,
    CaseResult,
    Findings,
    Notice,
    evaluate_case,
    mistake_maps,
)
from panmatch.formats import write_like
from panmatch.spec import Spec

MISMATCHED = (
    "the headers of reference and prediction differ, and were ignored: voxels with the same index "
    "are compared, wherever they are in space"
)
RESAMPLED = "predictions were resampled to the grid of their references, by nearest label"


@dataclass(frozen=True, slots=True)
class Job:
    """What to do with every case of a run."""

    spec: str  # as one line of JSON, to be sent to workers
    allow_header_mismatch: bool = False  # whether images may differ in affine or spacing
    # Replaces the spacing of the files; in the unit of the spec, or in millimetres.
    spacing: tuple[float, ...] | None = None
    threads: int | None = None  # number of threads of each worker
    # What happens to a reference without a prediction. With None it fails, or is skipped if the
    # predictions come from single folds.
    missing: Missing | None = None
    maps: Path | None = None  # folder for label maps of mistakes; None for no maps
    resample: bool = False  # whether to resample predictions to the grid of the reference
    # Whether Dask distributes the chunks of a case, rather than one worker evaluating it.
    chunks_on_dask: bool = False
    keep_overlaps: bool = False  # whether results keep graphs, to align the objects of raters

    @property
    def fingerprint(self) -> str:
        """What identifies the job: spec, options and version, but not who does the work."""
        options = self.allow_header_mismatch, self.resample, self.spacing
        return _fingerprint(self.spec, options, ("overlaps",) if self.keep_overlaps else ())

    def key(self, case: Case) -> str:
        """Return what identifies a result: the job, and the state of all files.

        The decision about missing predictions counts only for cases without one, so changing it
        leaves all other results valid.
        """
        decision = "" if case.prediction is not None else f" {self.decision(case)}"
        content = f"{self.fingerprint} {file_state(case)}{decision}"
        return hashlib.sha256(content.encode()).hexdigest()

    def decision(self, case: Case) -> Missing:
        """Return what happens to a case if it has no prediction."""
        return self.missing or ("skip" if case.of_some_folds else "fail")


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a case."""

    case: Case
    key: str  # identifies the result; empty if the files do not exist
    result: CaseResult | None  # None if an earlier result is still valid
    seconds: float  # how long it took
    # The result as it is stored, if it comes from another process: its findings are only in here.
    line: bytes = b""


def run_case(job: Job, case: Case, known_key: str = "") -> Outcome:
    """Evaluate a case; any error becomes a failed result."""
    start, key = time.perf_counter(), ""
    try:
        result = without_images(case, job.decision(case))
        if result is None:
            key = job.key(case)
            if key == known_key and job.maps is None:
                return Outcome(case, key, None, time.perf_counter() - start)
            result = _evaluate(job, case)
    except PanmatchError as error:
        result = failed(case, error.for_command_line())
    except MemoryError:
        result = failed(case, "there is not enough memory for it")
    except Exception as error:
        result = failed(case, f"{type(error).__name__}: {error} (this is a bug in panmatch)")
    return Outcome(case, key, result, time.perf_counter() - start)


def run_packed_case(job: Job, case: Case, known_key: str = "") -> Outcome:
    """Evaluate a case, and pack the result as a line for the file of results.

    The process that started the run writes the line as it is, which is much less work than
    unpickling the findings.
    """
    outcome = run_case(job, case, known_key)
    if outcome.result is None:
        return outcome
    line = seal(job.fingerprint, outcome.key, outcome.seconds, outcome.result)
    return replace(outcome, result=replace(outcome.result, found=Findings()), line=line)


def run_packed_cases(job: Job, cases: Sequence[tuple[Case, str]]) -> list[Outcome]:
    """Evaluate several cases, given with the keys of their existing results, and pack each."""
    return [run_packed_case(job, case, known_key) for case, known_key in cases]


@lru_cache(maxsize=1)
def _fingerprint(spec: str, options: tuple[object, ...], more: tuple[str, ...]) -> str:
    content = json.loads(spec)
    content.pop("averaging", None)  # averages are made from the results of cases
    described = (*options, json.dumps(content), *more)
    return hashlib.sha256(f"{panmatch.__version__} {described}".encode()).hexdigest()


@lru_cache(maxsize=1)
def _read_spec(text: str) -> Spec:
    """Return the spec of a run, which is the same for all of its cases."""
    return Spec.model_validate_json(text)


def _evaluate(job: Job, case: Case) -> CaseResult:
    spec = _read_spec(job.spec)
    if spec.encoding == "coco-instances":
        return evaluate_instances(case, spec)
    loaded = load_case(
        case,
        spec,
        job.allow_header_mismatch,
        resample=job.resample,
        on_dask=job.chunks_on_dask,
    )
    given = job.spacing is not None
    how = CaseKeywords(
        spacing=job.spacing if given else loaded.spacing,
        unit=(spec.unit or "mm") if given else loaded.unit,
        threads=job.threads,
        confidence=load_confidences(
            case, loaded, spec, allow_header_mismatch=job.allow_header_mismatch
        ),
    )
    if case.prediction is None:
        found = evaluate_missing(case, loaded, spec, job.decision(case), how)
    else:
        found = evaluate_case(
            loaded.reference,
            loaded.prediction,
            spec,
            case=case.name,
            model=case.model,
            keep_overlaps=job.keep_overlaps,
            **how,
        )
    if job.maps is not None:
        maps = mistake_maps(loaded.reference, loaded.prediction, spec, found, **how)
        for class_name, codes in maps.items():
            name = map_name(case, class_name, spec.classes)
            write_like(job.maps, name, codes, loaded.grid)
    if loaded.mismatched:
        notice = Notice("header-mismatch", MISMATCHED, (case.name,), case.model)
        found = replace(found, notices=(*found.notices, notice))
    if not loaded.resampled:
        return found
    notice = Notice("resampled", RESAMPLED, (case.name,), case.model)
    return replace(
        found,
        reason=f"prediction {loaded.resampled} (--resample)",
        notices=(*found.notices, notice),
    )

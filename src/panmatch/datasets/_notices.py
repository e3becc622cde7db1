"""Warnings about results that look plausible but may be wrong.

Examples are files compared with themselves, classes read as objects, and too few cases.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from panmatch.datasets._case_table import cluster_of, shared_subjects
from panmatch.datasets._cases import Case
from panmatch.datasets._statistics import FEW_CASES, FEWEST_CASES, IntervalMethod
from panmatch.errors import PanmatchError
from panmatch.evaluation import CaseResult, Notice, Result, plural, some_names
from panmatch.formats import open_labels
from panmatch.labels import Ints, LabelArray, as_labels, component_sizes
from panmatch.spec import Spec

# By method and number of cases: how often a 95 % interval contains the true score, in percent, for
# the least and the most favourable distribution in benchmarks/coverage.py.
MEASURED_COVERAGE: dict[IntervalMethod, dict[int, tuple[int, int]]] = {
    "studentised": {5: (86, 96), 10: (83, 96)},
    "bca": {5: (66, 86), 10: (74, 91)},
    "percentile": {5: (64, 85), 10: (74, 90)},
}

LOOKED_AT = 3  # cases in which components are counted
MOST_LABELS = 20  # in a label map of classes
MANY_PIECES = 3  # components per label; objects of real references have at most 2.0
SPECK_VOXELS = 3  # smaller components are noise
MOST_VOXELS = 1 << 28  # larger images are not read again


def run_notices(result: Result, cases: Sequence[Case]) -> list[Notice]:
    """Return everything about a run that readers should know before they trust its numbers."""
    same = list(same_files(cases))
    copied = {notice.model for notice in same}
    return [
        *same,
        *(notice for notice in perfect_scores(result) if notice.model not in copied),
        *semantic_labels(result, cases),
        *(notice for notice in result.notices if notice.word == "warning"),
        *missing_predictions(result, cases),
        *extra_predictions(result),
        *shared_subjects(result),
        *few_cases(result),
        *(notice for notice in result.notices if notice.word == "note"),
    ]


def damaged_results(n_damaged: int) -> Iterator[Notice]:
    """Yield a notice if stored results were damaged or changed.

    Examples
    --------
    >>> [notice.text for notice in damaged_results(1)]
    ['1 line of cases.jsonl was damaged or changed: its case was evaluated again.']
    """
    if n_damaged:
        verb = "was" if n_damaged == 1 else "were"
        text = (
            f"{plural(n_damaged, 'line')} of cases.jsonl {verb} damaged or changed: "
            f"{'its case was' if n_damaged == 1 else 'their cases were'} evaluated again."
        )
        yield Notice("damaged-results", text)


def same_files(cases: Iterable[Case]) -> Iterator[Notice]:
    """Yield a notice for each model whose predictions are the references themselves.

    Links count as the files that they point to.
    """
    paired: dict[str, list[Case]] = {}
    for case in cases:
        if case.reference is not None and case.prediction is not None:
            paired.setdefault(case.model, []).append(case)
    for model, listed in paired.items():
        same = tuple(case.name for case in listed if _is_one_file(case))
        if same:
            text = (
                f"{len(same)} of {plural(len(listed), 'case')} compare a file with itself "
                f"({some_names(same)}): REF and PRED point to the same files, so their scores "
                f"mean nothing. Check the paths."
            )
            yield Notice("same-files", text, same, model)


def _is_one_file(case: Case) -> bool:
    ref, pred = case.reference, case.prediction
    assert ref is not None
    assert pred is not None
    try:
        return ref.item == pred.item and ref.path.samefile(pred.path)
    except OSError:
        return False


def perfect_scores(result: Result) -> Iterator[Notice]:
    """Yield a notice for each model that makes no mistakes at all."""
    for model in result.models:
        tallies = [
            counts.tallies
            for series in result.series
            if series.model == model
            for counts in series.counts.values()
        ]
        scores = [one.pq[one.occurs] for one in tallies]
        if any(map(len, scores)) and all((pq == 1).all() for pq in scores):
            text = (
                "every object of every case is predicted perfectly, voxel by voxel. Check that the "
                "predictions are not copies of the references."
            )
            yield Notice("perfect-scores", text, model=model)


def missing_predictions(result: Result, cases: Sequence[Case]) -> Iterator[Notice]:
    """Yield a notice for each model whose missing predictions were skipped or filled in."""
    asked = {(case.model, case.name): case for case in cases if case.reference is not None}
    for model in result.models:
        n_asked = sum(who[0] == model for who in asked)
        missing: dict[str, list[CaseResult]] = {}
        for found in result.with_status("ok", "skipped"):
            case = asked.get((found.model, found.case))
            if found.model == model and case is not None and case.prediction is None:
                what = _left_out(case) if found.status == "skipped" else found.reason
                missing.setdefault(what, []).append(found)
        for what, those in missing.items():
            names = tuple(one.case for one in those)
            verb = "has" if len(names) == 1 else "have"
            share = f"{len(names)} of {plural(n_asked, 'reference')} {verb} no prediction"
            text = f"{share} ({some_names(names)}): {what.removeprefix('no prediction: ')}."
            yield Notice("missing-predictions", text, names, model)


def _left_out(case: Case) -> str:
    if case.of_some_folds:
        return (
            "left out, because an nnU-Net fold predicts only its own cases (use --missing fail "
            "to require all)"
        )
    return "left out (--missing skip)"


def extra_predictions(result: Result) -> Iterator[Notice]:
    """Yield a notice for each model that has predictions without a reference."""
    for model in result.models:
        names = tuple(one.case for one in result.with_status("extra") if one.model == model)
        if names:
            text = (
                f"{plural(len(names), 'prediction')} without a reference "
                f"{'was' if len(names) == 1 else 'were'} left out ({some_names(names)})."
            )
            yield Notice("extra-predictions", text, names, model)


def semantic_labels(result: Result, cases: Iterable[Case]) -> list[Notice]:
    """Return a notice if labels that count as objects look like classes.

    They do if all references share a few labels that fall into many connected components. At most
    three references are checked, the smallest ones, and only if there are few labels.
    """
    files = {case.name: case.reference.path for case in cases if case.reference is not None}
    seen: dict[str, dict[int, int]] = {}
    for name, ids in _smallest_references(result, files):
        if (labels := _read_again(files[name], result.spec)) is not None:
            pieces = count_pieces(labels)
            seen[name] = {label: pieces.get(label, 1) for label in ids}
    n_labels = sum(map(len, seen.values()))
    n_pieces = sum(sum(pieces.values()) for pieces in seen.values())
    if not seen or n_pieces < MANY_PIECES * n_labels or _has_many_labels(result):
        return []
    found = sorted({label for pieces in seen.values() for label in pieces})
    return [_semantic_notice(found, n_pieces, sorted(seen))]


def count_pieces(labels: LabelArray) -> dict[int, int]:
    """Return the number of connected components of each label, leaving out specks.

    Examples
    --------
    >>> count_pieces(np.array([[1, 1, 1, 0, 1, 1, 1, 0, 2, 0, 2]]))
    {1: 2}
    """
    label, voxels = component_sizes(labels)
    values, counts = np.unique(label[voxels >= SPECK_VOXELS], return_counts=True)
    return dict(zip(values.tolist(), counts.tolist(), strict=True))


def _smallest_references(result: Result, names: Collection[str]) -> Iterator[tuple[str, list[int]]]:
    """Yield the smallest references that have objects, and their labels; none if there are many.

    Findings of thousands of cases take long to read, so only those of small references are.
    """
    classes = _object_classes(result.spec)
    voxels = {case.case: math.prod(case.shape) for case in result.cases}
    results: dict[str, list[CaseResult]] = {}
    for case in result.cases:
        results.setdefault(case.case, []).append(case)
    small = [name for name, n in voxels.items() if n <= MOST_VOXELS and name in names]
    n_found = 0
    for name in sorted(small, key=lambda name: (voxels[name], name)):
        every = (_reference_ids(case, classes).tolist() for case in results[name])
        ids: list[int] = next((labels for labels in every if labels), [])
        if len(ids) > MOST_LABELS or n_found == LOOKED_AT:
            return
        if ids:
            n_found += 1
            yield name, ids


def _object_classes(spec: Spec) -> set[str]:
    """Return the classes whose labels the spec reads as objects."""
    return {
        name
        for name, kind in spec.classes.items()
        if spec.encoding == "labels" and kind.kind == "things" and kind.instances == "ids"
    }


def _has_many_labels(result: Result) -> bool:
    """Return whether there are many labels of objects overall."""
    classes, distinct = _object_classes(result.spec), set[int]()
    for case in result.cases:
        distinct.update(_reference_ids(case, classes).tolist())
        if len(distinct) > MOST_LABELS:
            return True
    return False


def _reference_ids(case: CaseResult, class_names: set[str]) -> Ints:
    ids = [
        entry.levels[0].measurements.columns["ref_id"]
        for entry in case.entries
        if entry.setting.class_name in class_names
    ]
    distinct = sorted({label for one in ids for label in one.tolist()})
    return np.array([one for one in distinct if one > 0], np.int64)  # false positives have 0


def _read_again(path: Path, spec: Spec) -> LabelArray | None:
    """Return a reference, or None if it no longer exists."""
    try:
        return as_labels(open_labels(path, colour_ids=spec.colour_ids).labels, "reference")
    except PanmatchError:
        return None


def _semantic_notice(labels: Sequence[int], n_pieces: int, cases: Sequence[str]) -> Notice:
    several = len(labels) > 1
    text = (
        f"{'labels' if several else 'label'} {', '.join(map(str, labels))} of the references "
        f"{'form' if several else 'forms'} {n_pieces} connected components "
        f"({some_names(cases)}), but "
        f"{'each label' if several else 'the label'} counts as one object per case. If labels are "
        f"classes rather than objects, use --spec binary-components for the components of the "
        f"foreground, or --spec FILE with a class per label:"
    )
    lines = [f"  label_{label}: {{labels: {label}, instances: components}}" for label in labels]
    return Notice("semantic-labels", text, tuple(cases), spec="\n".join(["classes:", *lines]))


def few_cases(result: Result) -> list[Notice]:
    """Return why there are no intervals, or how far to trust them, if there are few cases.

    Nobody expects an interval for a single case, so that gets no notice. If cases form clusters,
    clusters count.
    """
    averaging = result.spec.averaging
    n_cases = {model: len(result.evaluated(model)) for model in result.models}
    counts: dict[str, int] = {}
    for series in result.series:
        tallies = next(iter(series.counts.values())).tallies
        there = [case for case, one in zip(series.results, tallies.occurs, strict=True) if one]
        occurs = len(there)
        if averaging.cluster is not None:
            occurs = len({cluster_of(one.case, one.about, averaging.cluster) for one in there})
        name = series.setting.class_name
        counts[name] = min(counts.get(name, occurs), occurs)
    most = max(n_cases.values(), default=0)
    return few_cases_of(counts, most, averaging.interval, averaging.cluster or "case")


def few_cases_of(
    counts: Mapping[str, int],
    n_cases: int,
    method: IntervalMethod = "studentised",
    unit: str = "case",
) -> list[Notice]:
    """Return the same notices, given the number of cases of each class.

    Parameters
    ----------
    counts
        How many cases, or clusters, have each class.
    n_cases
        How many cases there are.
    method
        The bootstrap interval.
    unit
        What is drawn at random: a case, a patient, …
    """
    if n_cases < 2:
        return []
    known = {name: n for name, n in counts.items() if n}
    texts = [no_interval_text(known, unit), narrow_interval_text(known, method, unit)]
    return [Notice("few-cases", text) for text in texts if text]


def no_interval_text(counts: Mapping[str, int], unit: str = "case") -> str:
    """Return why classes have no interval, given their cases; empty if all have one.

    Examples
    --------
    >>> no_interval_text({"cell": 3})
    'no interval: 3 cases are too few (at least 5 are needed).'
    >>> no_interval_text({"cell": 30, "mitosis": 2})
    'no interval for mitosis (2 cases): at least 5 cases are needed.'
    """
    few = {name: n for name, n in counts.items() if n < FEWEST_CASES}
    if not few:
        return ""
    if len(few) == len(counts) and len(set(few.values())) == 1:
        n = next(iter(few.values()))
        are = "are" if n > 1 else "is"
        need = f"at least {FEWEST_CASES} are needed"
        return f"no interval: {plural(n, unit)} {are} too few ({need})."
    need = plural(FEWEST_CASES, unit)
    return f"no interval for {_listed(few, unit)}: at least {need} are needed."


def narrow_interval_text(
    counts: Mapping[str, int], method: IntervalMethod = "studentised", unit: str = "case"
) -> str:
    """Return how far to trust intervals, given the cases of each class; empty for many cases.

    Examples
    --------
    >>> narrow_interval_text({"cell": 12})[:66]
    'the 95 % intervals rest on 12 cases and may be too narrow: with 10'
    """
    few = {name: n for name, n in counts.items() if FEWEST_CASES <= n < FEW_CASES}
    if not few:
        return ""
    least = min(few.values())
    known = max(n for n in MEASURED_COVERAGE[method] if n <= least)
    low, high = MEASURED_COVERAGE[method][known]
    if len(few) == len(counts) and len(set(few.values())) == 1:
        subject = f"the 95 % intervals rest on {plural(least, unit)}"
    else:
        subject = f"some 95 % intervals rest on few {unit}s, {_listed(few, unit)},"
    return (
        f"{subject} and may be too narrow: with {plural(known, unit)}, {low} to {high} % of such "
        f"intervals contain the true score."
    )


def _listed(counts: Mapping[str, int], unit: str) -> str:
    return some_names([f"{name} ({plural(n, unit)})" for name, n in counts.items()])

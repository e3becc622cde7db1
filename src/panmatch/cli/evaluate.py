"""`panmatch evaluate`: files or folders in, a folder of tables out."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from panmatch.cli.gates import Gate, missed_gates
from panmatch.cli.progress import progress
from panmatch.datasets.case import Case
from panmatch.datasets.coco_cases import coco_cases
from panmatch.datasets.manifest import read_manifest
from panmatch.datasets.pairing import Layout, pair
from panmatch.datasets.run import RunOptions, run_dataset
from panmatch.datasets.task import Order
from panmatch.errors import OptionError
from panmatch.spec import Spec, as_spec

FINE, SOME_FAILED, GATE_MISSED, INTERRUPTED = 0, 1, 3, 130


def run_evaluate(
    layout: Layout,
    spec_name: str | None,
    out: Path,
    *,
    options: RunOptions,
    allow_header_mismatch: bool,
    spacing: tuple[float, ...] | None,
    gates: Sequence[Gate],
    with_report: bool = False,
    threads: int | None = None,
) -> int:
    """Evaluate all cases, print the summary, and return the exit code."""
    spec = as_spec(spec_name or default_spec(layout))
    cases = find_cases(layout, spec)
    order = Order(
        spec.canonical(),
        allow_header_mismatch,
        spacing,
        threads or (None if options.workers == 1 and options.dask is None else 1),
    )
    try:
        with progress(len(cases)) as watch:
            result = run_dataset(cases, order, out, options, watch)
    except KeyboardInterrupt:
        print(
            f"panmatch: interrupted. The tables in {str(out)!r} hold what is finished; go on with "
            f"--resume.",
            file=sys.stderr,
        )
        return INTERRUPTED
    print(result.summary())
    print(f"\nTables: {out}{os.sep}")
    if with_report:
        from panmatch.report.page import write_report

        print(f"Report: {write_report(out)}")
    missed = missed_gates(result, gates)
    for line in missed:
        print(f"panmatch: {line}", file=sys.stderr)
    if result.failures:
        n = len(result.failures)
        print(f"panmatch: {n} of {len(result.cases)} cases failed, see above.", file=sys.stderr)
        return SOME_FAILED
    return GATE_MISSED if missed else FINE


def default_spec(layout: Layout) -> str:
    """Return the preset for COCO files, or the usual one."""
    return "coco" if layout.reference.suffix.lower() == ".json" else "instances"


def find_cases(layout: Layout, spec: Spec) -> list[Case]:
    """Return all cases of a manifest, of COCO files, of two files or of folders."""
    if layout.reference.suffix.lower() == ".csv":
        if layout.predictions:
            raise OptionError("PRED: a manifest names the predictions itself; drop PRED.")
        return read_manifest(layout.reference)
    if spec.encoding == "coco":
        return coco_cases(layout.reference, layout.predictions)
    return pair(layout)


def named_folders(option: str, given: Sequence[str]) -> Mapping[str, Path]:
    """Return folders by name from options such as ``unet=predictions/unet``.

    Examples
    --------
    >>> named_folders("--model", ["unet=out/unet"])
    {'unet': PosixPath('out/unet')}
    """
    found: dict[str, Path] = {}
    for text in given:
        name, equals, path = text.partition("=")
        if not (name and equals and path):
            raise OptionError(f"{option} {text!r} must be a name and a folder: unet=out/unet.")
        if name in found:
            raise OptionError(f"{option}: the name {name!r} is given twice.")
        found[name] = Path(path)
    return found

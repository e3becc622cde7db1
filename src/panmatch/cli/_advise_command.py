"""`panmatch advise` as people type it: its arguments and its help."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from panmatch.cli._options import (
    AllowMismatch,
    AsJson,
    Classes,
    DatasetJson,
    Patterns,
    Reference,
    RefParts,
    Resample,
    Spacing,
    SpecName,
    Threads,
    read_spacing,
)


def advise(
    ref: Reference,
    pred: Annotated[
        Path | None,
        typer.Argument(
            help="The prediction: a file or folder as for REF. Omit it with a manifest."
        ),
    ] = None,
    spec: SpecName = None,
    class_: Classes = None,
    pattern: Patterns = None,
    dataset_json: DatasetJson = None,
    reference_parts: RefParts = None,
    prediction_parts: Annotated[
        Path | None, typer.Option(help="Part images of PRED: a file or a folder.")
    ] = None,
    allow_header_mismatch: AllowMismatch = False,
    resample: Resample = False,
    spacing: Spacing = None,
    threads: Threads = None,
    as_json: AsJson = False,
) -> None:
    """Look at the data, and advise on strategy and threshold.

    Prints PQ under every strategy, and for each choice what the data show. Writes nothing.
    """
    from panmatch.cli._advise import Reading, repeated_words, run_advise
    from panmatch.cli._case_search import default_spec
    from panmatch.cli._protocol import SpecChoice, chosen_spec
    from panmatch.datasets import DatasetPaths

    name = pred.name if pred is not None and pred.is_dir() and pred.name else "prediction"
    paths = DatasetPaths(
        ref,
        {} if pred is None else {name: pred},
        tuple(pattern or ()),
        reference_parts,
        {} if prediction_parts is None else {name: prediction_parts},
    )
    choice = SpecChoice(spec, dataset_json, classes=tuple(class_ or ()))
    chosen, _ = chosen_spec(choice, None, default_spec(paths))
    code = run_advise(
        paths,
        chosen,
        Reading(allow_header_mismatch, read_spacing(spacing), threads, resample),
        repeated_words(
            ref, pred, spec=spec, class_=class_, pattern=pattern, dataset_json=dataset_json,
            reference_parts=reference_parts, prediction_parts=prediction_parts,
            allow_header_mismatch=allow_header_mismatch, resample=resample, spacing=spacing,
        ),
        json=as_json,
    )  # fmt: skip
    raise typer.Exit(code)

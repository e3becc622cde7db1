"""Options of commands: what they are called, and what their help says."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from typer.models import OptionInfo

from panmatch.errors import OptionError

Out = Annotated[Path, typer.Option("--out", "-o", help="Folder for the results; made if missing.")]
SpecName = Annotated[
    str | None, typer.Option("--spec", help="A preset or a YAML file; see `panmatch spec`.")
]
Spacing = Annotated[
    str | None,
    typer.Option(help="Distance between voxels along each array axis, such as 3,1,1."),
]
RefParts = Annotated[Path | None, typer.Option(help="Part images of REF: a file or a folder.")]
AllowMismatch = Annotated[
    bool,
    typer.Option(
        "--allow-header-mismatch", help="Compare voxels even if affine or spacing disagree."
    ),
]
Everything = Annotated[
    bool, typer.Option("--all", help="Print every class, strategy and threshold.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document instead.")]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="Print nothing but warnings and errors.")
]


def _several(name: str, *others: str, metavar: str, text: str) -> OptionInfo:
    """Return an option that may be given more than once."""
    option: OptionInfo = typer.Option(name, *others, metavar=metavar, help=text)
    return option


Names = list[str] | None
STRATEGIES = (
    "In place of the spec's, such as many-to-one or many-to-one/optimal/regions; once for each. "
    "`panmatch spec --strategies` lists them."
)
THRESHOLDS = "In place of the spec's."
METRICS = "In place of the spec's, such as hd95."
CLASSES = (
    "Only this class of the spec, or a class of these labels, such as lesion=2/components; once "
    "for each."
)
WHOLE = "A metric of every class as one mask, such as dice or hd95."
RELATED = (
    "Another score of every class, such as cc_dice or lesionwise_dice/dilation=3; once for each. "
    "`panmatch spec --related` lists them."
)
Strategies = Annotated[
    Names, _several("--strategy", "-s", metavar="NAME[/OPTION…]", text=STRATEGIES)
]
Thresholds = Annotated[Names, _several("--threshold", "-t", metavar="NUMBER", text=THRESHOLDS)]
Metrics = Annotated[Names, _several("--metric", "-m", metavar="NAME", text=METRICS)]
Classes = Annotated[Names, _several("--class", metavar="NAME[=LABELS]", text=CLASSES)]
Protocol = Annotated[
    str | None,
    typer.Option(
        "--protocol",
        metavar="NAME",
        help="Reproduce the numbers of a published program; `panmatch protocol list` has them.",
    ),
]
Explain = Annotated[
    bool,
    typer.Option(
        "--explain",
        help="With --protocol: print its numbers beside ours, and the objects that differ.",
    ),
]
Whole = Annotated[Names, _several("--whole", metavar="NAME", text=WHOLE)]
Related = Annotated[Names, _several("--related", metavar="NAME[/OPTION=VALUE…]", text=RELATED)]
Models = Annotated[
    list[str] | None,
    typer.Option("--model", metavar="NAME=FOLDER", help="A model; once for each."),
]
Patterns = Annotated[
    list[str] | None,
    typer.Option(
        help="Where names are, such as '{case}_ref.nii.gz'; once for both sides, or once for "
        "REF and once for PRED, which may have {model} too."
    ),
]
DatasetJson = Annotated[
    Path | None,
    typer.Option(help="dataset.json of nnU-Net: names and labels of the classes."),
]
MissingPredictions = Annotated[
    str | None,
    typer.Option(
        help="References without prediction: fail (default; skip for a fold of nnU-Net), "
        "skip, empty or worst."
    ),
]
PredictionParts = Annotated[
    list[str] | None,
    typer.Option(help="Part images of PRED; NAME=FOLDER for each model with --model."),
]
Threads = Annotated[
    int | None,
    typer.Option(
        min=1, help="Threads of each worker; by default all cores for one, one for several."
    ),
]
Dask = Annotated[
    str | None,
    typer.Option(
        help="Address of a Dask scheduler, in place of processes: it shares out the cases, or "
        "the chunks of a single pair of Zarr images."
    ),
]
Resample = Annotated[
    bool,
    typer.Option(
        "--resample", help="Put predictions on the grid of their references: nearest label."
    ),
]
Images = Annotated[
    Path | None,
    typer.Option(
        metavar="FOLDER",
        help="Grey images with the names of the cases, to show below the labels in the report.",
    ),
]
Also = Annotated[
    list[str] | None,
    typer.Option(
        help="Write OUT/summary.json as nnU-Net does, OUT/metrics.json for grand-challenge.org, "
        "or wide.tsv (see --wide); once for each."
    ),
]
Wide = Annotated[
    bool,
    typer.Option(
        "--wide",
        help="Write OUT/wide.tsv as well: one row per case in panoptica's columns; a file in "
        "OUT/wide for each of several models, strategies and thresholds.",
    ),
]
FailUnder = Annotated[
    list[str] | None,
    typer.Option(
        help="Exit with 3 if a pooled score is worse, such as pq=0.7 or, for a distance, sq_hd95=3."
    ),
]
Title = Annotated[
    str | None, typer.Option(help="Title of the report; by default the name of its folder.")
]
LogLevel = Annotated[
    str,
    typer.Option(
        metavar="LEVEL",
        help="debug (every case), info (every phase), warning, or error (no warnings).",
    ),
]


def read_spacing(text: str | None) -> tuple[float, ...] | None:
    """Return the distances that are given as text.

    Examples
    --------
    >>> read_spacing("3,1,1")
    (3.0, 1.0, 1.0)
    """
    if text is None:
        return None
    try:
        values = tuple(float(part) for part in text.replace(",", " ").split())
    except ValueError:
        values = ()
    if not values or min(values) <= 0:
        raise OptionError(f"--spacing {text!r} must be distances above 0, such as 3,1,1.")
    return values

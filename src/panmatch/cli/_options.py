"""The options of the commands: their names, and their help texts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from typer.models import OptionInfo

from panmatch.errors import OptionError

Reference = Annotated[
    Path,
    typer.Argument(
        help="The reference: a label file, a folder, a COCO JSON file or a CSV manifest."
    ),
]
ReferenceIfSingle = Annotated[
    Path | None,
    typer.Argument(
        help="The reference: a label file, a folder, a COCO JSON file or a CSV manifest. With "
        "--reference, PRED comes first."
    ),
]
Out = Annotated[
    Path, typer.Option("--out", "-o", help="Folder for the results; created if missing.")
]
SpecName = Annotated[
    str | None,
    typer.Option(
        "--spec",
        help="What to evaluate, and how: a preset or a YAML file. See `panmatch spec`.",
    ),
]
Spacing = Annotated[
    str | None,
    typer.Option(help="Distance between voxels along each array axis, such as 3,1,1."),
]
RefParts = Annotated[Path | None, typer.Option(help="Part images of REF: a file or a folder.")]
AllowMismatch = Annotated[
    bool,
    typer.Option(
        "--allow-header-mismatch",
        help="Compare voxel by voxel even if the affines or spacings differ.",
    ),
]
Everything = Annotated[
    bool, typer.Option("--all", help="Print every class, strategy and threshold.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the results as one JSON document.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print only warnings and errors.")]


def _repeatable(name: str, *others: str, metavar: str, text: str) -> OptionInfo:
    """Return an option that can be repeated."""
    option: OptionInfo = typer.Option(name, *others, metavar=metavar, help=text)
    return option


Names = list[str] | None
STRATEGIES = (
    "Matching strategy to use instead of the spec's, such as union or many-to-one/optimal/regions. "
    "Repeat it for several. `panmatch spec --strategies` lists them."
)
THRESHOLDS = "Matching threshold to use instead of the spec's. Repeat it for several."
METRICS = "Per-object metric to use instead of the spec's, such as hd95. Repeat it for several."
CLASSES = (
    "Class to evaluate: one of the spec's, or a new one made of labels, such as "
    "lesion=2/components. Repeat it for several."
)
WHOLE = "Metric of each class as one mask, such as dice or hd95. Repeat it for several."
RELATED = (
    "Related score of each class, such as cc_dice or lesionwise_dice/dilation=3. Repeat it for "
    "several. `panmatch spec --related` lists them."
)
Strategies = Annotated[
    Names, _repeatable("--strategy", "-s", metavar="NAME[/OPTION…]", text=STRATEGIES)
]
Thresholds = Annotated[Names, _repeatable("--threshold", "-t", metavar="NUMBER", text=THRESHOLDS)]
Metrics = Annotated[Names, _repeatable("--metric", "-m", metavar="NAME", text=METRICS)]
Classes = Annotated[Names, _repeatable("--class", metavar="NAME[=LABELS]", text=CLASSES)]
Protocol = Annotated[
    str | None,
    typer.Option(
        "--protocol",
        metavar="NAME",
        help="Reproduce the numbers of a published program. `panmatch protocol list` lists them.",
    ),
]
Explain = Annotated[
    bool,
    typer.Option(
        "--explain",
        help="With --protocol: show its numbers next to ours, and the objects that differ.",
    ),
]
Whole = Annotated[Names, _repeatable("--whole", metavar="NAME", text=WHOLE)]
Related = Annotated[Names, _repeatable("--related", metavar="NAME[/OPTION=VALUE…]", text=RELATED)]
Models = Annotated[
    list[str] | None,
    typer.Option(
        "--model", metavar="NAME=FOLDER", help="A model and its predictions. Repeat it for each."
    ),
]
References = Annotated[
    list[str] | None,
    typer.Option(
        "--reference",
        metavar="NAME=FOLDER",
        help="A rater and their references, instead of REF. Repeat it for each of several raters.",
    ),
]
Margin = Annotated[
    float,
    typer.Option(
        metavar="NUMBER",
        help="With --reference: differences in PQ up to this do not matter when a model is "
        "compared with raters.",
    ),
]
Patterns = Annotated[
    list[str] | None,
    typer.Option(
        help="Where the case is in a file name, such as '{case}_ref.nii.gz'. Give one pattern "
        "for both sides, or one for REF and one for PRED, which may also contain {model}."
    ),
]
DatasetJson = Annotated[
    Path | None,
    typer.Option(help="nnU-Net's dataset.json, for the names and labels of the classes."),
]
MissingPredictions = Annotated[
    str | None,
    typer.Option(
        help="What to do with a reference that has no prediction: fail (the default), skip (the "
        "default for an nnU-Net fold), or count it as an empty or the worst prediction (empty, "
        "worst)."
    ),
]
StopWhen = Annotated[
    str | None,
    typer.Option(
        metavar="RULE",
        help="Evaluate cases in random order, and stop when one model is better than all others "
        "(decided), or when mean PQ, or all differences in it, are known to within a number "
        "(half-width=0.02).",
    ),
]
Scores = Annotated[
    list[str] | None,
    typer.Option(
        "--scores",
        metavar="PLACE",
        help="How sure the model is of each predicted object: a folder with a CSV file (id, score) "
        "or an image of probabilities for each case, a CSV file with the column case, or a pattern "
        "such as 'scores/{case}.csv'. With --model, NAME=PLACE for each model.",
    ),
]
Cut = Annotated[
    str | None,
    typer.Option(
        metavar="NUMBER",
        help="Only predictions with at least this confidence count in scores. Tables of detections "
        "look at every cut.",
    ),
]
CaseColumns = Annotated[
    str | None,
    typer.Option(
        "--cases",
        metavar="TABLE",
        help="What is known about the cases: a CSV file with the columns case, patient, site, and "
        "so on, or a pattern for their names, such as '{patient}_{visit}'.",
    ),
]
Cluster = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="Column of --cases that says which cases belong together, such as patient. Intervals "
        "and tests then draw patients, not cases.",
    ),
]
PredictionParts = Annotated[
    list[str] | None,
    typer.Option(help="Part images of PRED; with --model, NAME=FOLDER for each model."),
]
Threads = Annotated[
    int | None,
    typer.Option(
        min=1, help="Threads per worker; by default all cores for one worker, else one each."
    ),
]
Dask = Annotated[
    str | None,
    typer.Option(
        help="Address of a Dask scheduler to use instead of local processes. It distributes the "
        "cases, or the chunks of a single pair of Zarr images."
    ),
]
Resample = Annotated[
    bool,
    typer.Option(
        "--resample", help="Resample predictions to the grid of their references (nearest label)."
    ),
]
Images = Annotated[
    Path | None,
    typer.Option(
        metavar="FOLDER",
        help="Grey images named after the cases, to show beneath the labels in the report.",
    ),
]
Also = Annotated[
    list[str] | None,
    typer.Option(
        help="Also write summary.json (as nnU-Net does), metrics.json (for grand-challenge.org) "
        "or wide.tsv (see --wide) to OUT. Repeat it for several."
    ),
]
Wide = Annotated[
    bool,
    typer.Option(
        "--wide",
        help="Also write OUT/wide.tsv: one row per case, in panoptica's columns. With several "
        "models, strategies or thresholds, write a file for each to OUT/wide.",
    ),
]
Resume = Annotated[
    bool,
    typer.Option("--resume", help="Keep the results in OUT; evaluate new and changed cases."),
]
Overwrite = Annotated[
    bool, typer.Option("--overwrite", help="Discard the results in OUT and start over.")
]
WithReport = Annotated[bool, typer.Option("--report", help="Also write OUT/report.html.")]
Maps = Annotated[bool, typer.Option("--maps", help="Write label maps of the mistakes to OUT/maps.")]
FailUnder = Annotated[
    list[str] | None,
    typer.Option(
        help="Exit with code 3 if a pooled score is worse than this, such as pq=0.7 or, for a "
        "distance, sq_hd95=3."
    ),
]
Title = Annotated[
    str | None, typer.Option(help="Title of the report; by default the name of its folder.")
]
LogLevel = Annotated[
    str,
    typer.Option(
        metavar="LEVEL",
        help="debug (log every case), info (log every phase), warning, or error (hide warnings).",
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

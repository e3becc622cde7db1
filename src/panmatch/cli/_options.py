"""Options of commands: what they are called, and what their help says."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Out = Annotated[Path, typer.Option("--out", "-o", help="Folder for the results; made if missing.")]
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
Strategies = Annotated[
    list[str] | None,
    typer.Option(
        "--strategy",
        "-s",
        metavar="NAME[/OPTION…]",
        help="In place of the spec's, such as many-to-one or many-to-one/optimal/regions; "
        "once for each. `panmatch spec --strategies` lists them.",
    ),
]
Thresholds = Annotated[
    list[str] | None,
    typer.Option("--threshold", "-t", metavar="NUMBER", help="In place of the spec's."),
]
Metrics = Annotated[
    list[str] | None,
    typer.Option("--metric", "-m", metavar="NAME", help="In place of the spec's, such as hd95."),
]
Classes = Annotated[
    list[str] | None,
    typer.Option(
        "--class",
        metavar="NAME[=LABELS]",
        help="Only this class of the spec, or a class of these labels, such as "
        "lesion=2/components; once for each.",
    ),
]
Whole = Annotated[
    list[str] | None,
    typer.Option(
        "--whole", metavar="NAME", help="A metric of every class as one mask, such as dice or hd95."
    ),
]
Related = Annotated[
    list[str] | None,
    typer.Option(
        "--related",
        metavar="NAME[/OPTION=VALUE…]",
        help="Another score of every class, such as cc_dice or lesionwise_dice/dilation=3; once "
        "for each. `panmatch spec --related` lists them.",
    ),
]

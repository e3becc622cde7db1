"""The `panmatch` command and its subcommands."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

import panmatch
from panmatch.cli._advise_command import advise
from panmatch.cli._cite import cite
from panmatch.cli._compare_command import compare
from panmatch.cli._console import ExitCode, exit_codes, show_anything
from panmatch.cli._migrate import migrate
from panmatch.cli._options import (
    AllowMismatch,
    Also,
    AsJson,
    CaseColumns,
    Classes,
    Cluster,
    Cut,
    Dask,
    DatasetJson,
    Everything,
    Explain,
    FailUnder,
    Images,
    LogLevel,
    Maps,
    Margin,
    Metrics,
    MissingPredictions,
    Models,
    Out,
    Overwrite,
    Patterns,
    PredictionParts,
    Protocol,
    Quiet,
    ReferenceIfSingle,
    References,
    RefParts,
    Related,
    Resample,
    Resume,
    Scores,
    Spacing,
    SpecName,
    StopWhen,
    Strategies,
    Threads,
    Thresholds,
    Title,
    Whole,
    Wide,
    WithReport,
    read_spacing,
)
from panmatch.cli._power_command import power
from panmatch.cli._protocol_command import protocol_app
from panmatch.cli._rank_command import rank
from panmatch.cli._run_commands import report, show
from panmatch.cli._subgroups import subgroups
from panmatch.errors import OptionError, PanmatchError


def examples(*lines: str) -> str:
    """Return example commands for the end of a help page, one per line."""
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


app = typer.Typer(
    name="panmatch",
    no_args_is_help=True,
    # Plain text: boxes leave little room for words at 80 columns, and truncate long options.
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="Score a segmentation, object by object, under every matching strategy.\n\n"
    f"{exit_codes()}",
    epilog=examples(
        "panmatch demo",
        "panmatch evaluate ref/ pred/ --spec cells -o out",
        "panmatch --install-completion   # then Tab completes commands and options",
    ),
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"panmatch {panmatch.__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """Take the options that come before a subcommand."""


@app.command(
    epilog=examples(
        "panmatch demo -o my-demo",
    )
)
def demo(
    out: Annotated[
        Path,
        typer.Option("--out", "-o", help="Folder for images, results and figure."),
    ] = Path("panmatch-demo"),
    seed: Annotated[
        int, typer.Option(min=0, help="Random seed: change it to get other phantoms.")
    ] = 7,
) -> None:
    """Compare three simulated models on phantom brains."""
    from panmatch.cli._demo import run_demo

    run_demo(out, seed)


@app.command(
    epilog=examples(
        "panmatch evaluate ref.nii.gz pred.nii.gz",
        "panmatch evaluate ref/ pred/ --spec cells -o out --report",
        "panmatch evaluate ref/ --model a=out/a --model b=out/b -j 8",
        "panmatch evaluate ref/ pred/ -s one-to-one -t 0.5 -m dice -m hd95",
        "panmatch evaluate ref/ pred/ --class lesion=2/components",
        "panmatch evaluate ref/ pred/ --scores scores/ --cut 0.5",
        "panmatch evaluate ref/ pred/ --protocol stardist --explain",
        "panmatch evaluate pred/ --reference ann=refs/ann --reference bob=refs/bob",
    )
)
def evaluate(
    context: typer.Context,
    ref: ReferenceIfSingle = None,
    pred: Annotated[
        Path | None,
        typer.Argument(help="The prediction: a file or folder as for REF. Omit it with --model."),
    ] = None,
    out: Out = Path("panmatch-results"),
    spec: SpecName = None,
    protocol: Protocol = None,
    strategy: Strategies = None,
    threshold: Thresholds = None,
    metric: Metrics = None,
    whole: Whole = None,
    related: Related = None,
    class_: Classes = None,
    model: Models = None,
    reference: References = None,
    margin: Margin = 0.0,
    pattern: Patterns = None,
    dataset_json: DatasetJson = None,
    scores: Scores = None,
    cut: Cut = None,
    missing: MissingPredictions = None,
    stop_when: StopWhen = None,
    cases: CaseColumns = None,
    cluster: Cluster = None,
    reference_parts: RefParts = None,
    prediction_parts: PredictionParts = None,
    workers: Annotated[int, typer.Option("--workers", "-j", min=1, help="Worker processes.")] = 1,
    threads: Threads = None,
    dask: Dask = None,
    resume: Resume = False,
    overwrite: Overwrite = False,
    allow_header_mismatch: AllowMismatch = False,
    resample: Resample = False,
    spacing: Spacing = None,
    with_report: WithReport = False,
    images: Images = None,
    title: Title = None,
    also: Also = None,
    wide: Wide = False,
    maps: Maps = False,
    fail_under: FailUnder = None,
    explain: Explain = False,
    everything: Everything = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
    log_level: LogLevel = "warning",
) -> None:
    """Evaluate files or folders, print a summary, and write tables."""
    if workers > 1 and dask is None:
        from panmatch.datasets import start_early

        start_early()
    from panmatch.cli._case_search import beside_images, choose_scores, default_spec
    from panmatch.cli._detection_protocol import detection_protocol, run_detection_protocol
    from panmatch.cli._evaluate import (
        choose_detail,
        named_folders,
        read_limits,
        read_log_level,
        run_evaluate,
    )
    from panmatch.cli._protocol import SpecChoice, chosen_spec
    from panmatch.datasets import WIDE, DatasetPaths, RunOptions, read_stop_rule

    if reference or ref is None:
        from panmatch.cli._raters import evaluate_raters

        raise typer.Exit(evaluate_raters(reference or [], margin, context.params))
    models = named_folders("--model", model or [])
    if pred is not None and models:
        raise OptionError("PRED and --model are both given: name all models with --model.")
    name = pred.name if pred is not None and pred.is_dir() and pred.name else "prediction"
    parts = prediction_parts or []
    paths = DatasetPaths(
        ref,
        models or ({} if pred is None else {name: pred}),
        tuple(pattern or ()),
        reference_parts,
        named_folders("--prediction-parts", parts if models else [f"{name}={p}" for p in parts]),
    )
    detail = choose_detail(everything=everything, quiet=quiet, as_json=as_json)
    if (ranked := detection_protocol(protocol)) is not None:
        unused = {"--spec": spec, "--scores": scores, "--cut": cut, "--strategy": strategy,
                  "--threshold": threshold, "--metric": metric, "--class": class_,
                  "--report": with_report, "--explain": explain}  # fmt: skip
        raise typer.Exit(run_detection_protocol(ranked, paths, out, detail, unused))
    chosen, reproduced = chosen_spec(
        SpecChoice(
            spec, dataset_json, tuple(strategy or ()), tuple(threshold or ()), tuple(metric or ()),
            tuple(class_ or ()), tuple(whole or ()), tuple(related or ()),
        ),
        protocol,
        default_spec(paths),
        explain=explain,
    )  # fmt: skip
    stop = read_stop_rule(stop_when)
    chosen, places = choose_scores(chosen, scores or [], cut, paths)
    others = tuple(dict.fromkeys([*(also or ()), *([WIDE] if wide else [])]))
    code = run_evaluate(
        replace(paths, beside=beside_images(chosen)),
        chosen,
        out,
        scores=places,
        protocol=reproduced,
        explained=explain,
        detail=detail,
        log_level=read_log_level(log_level),
        options=RunOptions(workers, dask, resume, overwrite, others, maps, stop),
        threads=threads,
        allow_header_mismatch=allow_header_mismatch,
        spacing=read_spacing(spacing),
        limits=read_limits(fail_under or []),
        with_report=with_report,
        images=images,
        title=title,
        missing=missing,
        case_table=cases,
        cluster=cluster,
        resample=resample,
    )
    raise typer.Exit(code)


app.command(
    epilog=examples(
        "panmatch advise ref.nii.gz pred.nii.gz",
        "panmatch advise ref/ pred/ --class lesion=1/components",
        "panmatch advise ref/ pred/ --spec cells --json",
    )
)(advise)


@app.command(
    epilog=examples(
        "panmatch play",
        "panmatch play ref.nii.gz pred.nii.gz",
        "panmatch play ref.nii.gz pred.nii.gz --image flair.nii.gz",
        "panmatch play RUN --case case07",
    )
)
def play(
    ref: Annotated[
        Path | None,
        typer.Argument(
            help="A label file to compare with PRED, or the output folder of `panmatch "
            "evaluate`. Omit it to draw scenes."
        ),
    ] = None,
    pred: Annotated[Path | None, typer.Argument(help="The label file to compare with REF.")] = None,
    case: Annotated[
        str | None, typer.Option(help="Case of the run to open, at its costliest mistake.")
    ] = None,
    model: Annotated[
        str | None, typer.Option(help="Model to show, if the run has several.")
    ] = None,
    slice_number: Annotated[
        int | None, typer.Option("--slice", min=0, help="Slice to start at.")
    ] = None,
    image: Annotated[
        Path | None,
        typer.Option(help="Image to show in grey beneath the labels, on the same grid."),
    ] = None,
    scores: Annotated[
        Path | None,
        typer.Option(
            help="Confidence of every prediction: a CSV file with the columns id and score, or an "
            "image of probabilities."
        ),
    ] = None,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port to listen on; 0 picks a free one.")
    ] = 0,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the page in a browser.")
    ] = True,
    link: Annotated[str | None, typer.Option(help="Playground link to open.")] = None,
    export: Annotated[
        Path | None,
        typer.Option(help="Write the scene of --link to files in this folder, and exit."),
    ] = None,
    allow_header_mismatch: AllowMismatch = False,
) -> None:
    """Draw scenes or open two files, and watch the scores change."""
    from panmatch.cli._play import OpenRequest, run_export, run_play

    if export is not None:
        if ref is not None:
            raise OptionError("--export writes a drawn scene, not files: drop REF or --export.")
        run_export(export, link)
        return
    view = OpenRequest(ref, pred, case, model, slice_number, link, image, scores)
    run_play(view, port, browser=browser, allow_header_mismatch=allow_header_mismatch)


@app.command(
    epilog=examples(
        "panmatch spec --list",
        "panmatch spec cells -o spec.yaml",
        "panmatch spec --from labelsTr -o spec.yaml",
        "panmatch spec --schema -o spec.schema.json",
    )
)
def spec(
    preset: Annotated[str, typer.Argument(help="Name of a preset.")] = "instances",
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="File to write; without it, print the spec.")
    ] = None,
    names: Annotated[bool, typer.Option("--list", help="List the presets.")] = False,
    strategies: Annotated[
        bool, typer.Option("--strategies", help="List the strategies and their options.")
    ] = False,
    related: Annotated[
        bool, typer.Option("--related", help="List the related scores and their options.")
    ] = False,
    schema: Annotated[
        bool,
        typer.Option(
            "--schema", help="Print the JSON Schema of specs, for editors that check them."
        ),
    ] = False,
    reference: Annotated[
        Path | None,
        typer.Option(
            "--from",
            metavar="REF",
            help="Draft a spec with classes that fit these references, a file or a folder.",
        ),
    ] = None,
) -> None:
    """Write a commented spec: a preset, or a draft for your data."""
    from panmatch.cli._spec import run_spec

    asked = {"presets": names, "strategies": strategies, "related": related, "schema": schema}
    listed = next((name for name, wanted in asked.items() if wanted), None)
    run_spec(preset, out, reference, listed)


app.add_typer(
    protocol_app,
    name="protocol",
    epilog=examples("panmatch protocol list", "panmatch protocol show stardist"),
)
app.command(epilog=examples("panmatch migrate config.yaml -o spec.yaml"))(migrate)
app.command(
    epilog=examples(
        "panmatch cite out",
        "panmatch cite out --format latex > methods.tex",
        "panmatch cite out --bibtex >> references.bib",
    )
)(cite)


app.command(
    epilog=examples(
        "panmatch compare out",
        "panmatch compare out-a out-b --score sq_hd95 -o tables",
        "panmatch compare unet.tsv ours.tsv --score pq_dsc",
    )
)(compare)
app.command(epilog=examples("panmatch rank out --by pq,hd95 --leave-out case"))(rank)
app.command(epilog=examples("panmatch power pilot --difference 0.03"))(power)
app.command(
    epilog=examples(
        "panmatch subgroups out --by size",
        "panmatch subgroups out --cases cases.csv --by site -o tables",
    )
)(subgroups)


app.command(
    epilog=examples(
        "panmatch report out",
        "panmatch report out --images imagesTs",
        'panmatch report out --title "Lesions, fold 0"',
    )
)(report)
app.command(epilog=examples("panmatch show out", "panmatch show out --all"))(show)


def main() -> None:
    """Run the command line; print errors that the user can fix as one line, with exit code 2."""
    show_anything()
    try:
        app()
    except PanmatchError as error:
        typer.echo(f"panmatch: {error.for_command_line()}", err=True)
        sys.exit(ExitCode.USAGE)

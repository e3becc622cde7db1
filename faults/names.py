"""Names of models, cases, classes and files that are code somewhere else."""

from __future__ import annotations

import csv
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.browser import open_tab
from faults.fault import Fault, UnavailableError, check
from faults.runs import make_dataset, run, tables

NAMES = (
    "<script>window.hacked=1</script>",
    '"><img src=x onerror="window.hacked=1">',
    "';window.hacked=1;//",
    "</script><script>window.hacked=1</script>",
    "{{ 7*7 }}{% raw %}",
    "=1+1",
    '@SUM(1,2)|cmd|" /C calc"!A0',
    "../../escape",
    "/tmp/escape",
    "$(touch hacked)`touch hacked`;touch hacked",
    "שלום \u202etxt.exe",
    "a\nb\tc",
    "x" * 200,
    "名" * 200,
)
FORMULAS = ("=", "+", "-", "@", "\t", "\r")
EVALUATE = (sys.executable, "-m", "panmatch", "evaluate")


def hostile_names(folder: Path) -> str:
    """Call models, cases and classes by names that are code, and look at all that is written."""
    data, inner = make_dataset(folder / "data", 1), folder / "inner"
    (inner / "work").mkdir(parents=True)
    manifest = inner / "manifest.csv"
    with manifest.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["case", "model", "reference", "prediction"])
        sides = [str(data / side / "case000.nii.gz") for side in ("ref", "pred")]
        for name in NAMES:
            rows.writerow([name, "plain", *sides])
            rows.writerow(["plain", name, *sides])
    spec = inner / "spec.json"
    classes = {name: {"labels": at + 1} for at, name in enumerate(NAMES)}
    spec.write_text(json.dumps({"classes": classes, "thresholds": [0.5]}), encoding="utf-8")
    out, before = inner / "work" / "out", _files(folder)
    options = ["--report", "--maps", "--also", "summary.json", "--also", "metrics.json"]
    left = run(
        [*EVALUATE, str(manifest), "--spec", str(spec), "-o", str(out), *options],
        cwd=inner / "work",
    )
    check(left.code == 0, f"it ended with code {left.code}: {left.err[-500:]}")
    new = [path for path in _files(folder) - before if not path.is_relative_to(out)]
    check(not new, f"{[str(path) for path in new]} lie outside of the output folder")
    maps = list((out / "maps").rglob("*.nii.gz"))
    wanted = 2 * len(NAMES) * len(classes)
    check(len(maps) == wanted, f"there are {len(maps)} maps instead of {wanted}")
    others = [path for path in out.glob("*.json") if path.name != "run.json"]
    n_models = len(NAMES) + 1
    check(len(others) == 2 * n_models, f"there are {len(others)} files of models")
    n_cells = _check_cells(tables(out))
    n_requests = _check_page((out / "report.html").as_uri())
    return (
        f"{len(NAMES)} names are used for cases, models and classes: markup, quotes, templates, "
        f"formulas, shell commands, paths, right-to-left text, line breaks, 200 characters. All "
        f"{2 * len(NAMES)} cases are evaluated. None of the {n_cells:,} cells in the CSV files "
        f"would be taken for a formula. Every map and JSON file has a name of its own inside the "
        f"output folder. In Chromium the report executes none of the names and makes "
        f"{n_requests} requests."
    )


def _files(folder: Path) -> set[Path]:
    return {path for path in folder.rglob("*") if path.is_file()}


def _check_cells(found: dict[str, bytes]) -> int:
    n_cells = 0
    for name, content in found.items():
        if not name.endswith(".csv"):
            continue
        for row in csv.reader(content.decode().splitlines(keepends=True)):
            for cell in row:
                n_cells += 1
                risky = cell.startswith(FORMULAS) and not _is_number(cell)
                check(not risky, f"{name} has the cell {cell!r}")
    return n_cells


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _check_page(address: str) -> int:
    """Open a page, press everything that can be pressed, and return how much it asked for."""
    with open_tab() as page:
        if page is None:
            raise UnavailableError("there is no Chromium")
        asked: list[str] = []
        told: list[str] = []
        page.on("request", lambda request: asked.append(request.url))

        def dismiss(dialog: Any) -> None:
            told.append(dialog.message)
            dialog.dismiss()

        page.on("dialog", dismiss)
        page.goto(address)
        page.wait_for_timeout(1500)
        for choice in page.query_selector_all("select"):
            for option in choice.query_selector_all("option")[:20]:
                choice.select_option(value=option.get_attribute("value"))
        for summary in page.query_selector_all("summary"):
            summary.evaluate("element => element.click()")
        page.wait_for_timeout(500)
        check(not told, f"the page opened a dialog: {told}")
        check(page.evaluate("window.hacked") is None, "a name was run as a script")
    outside = [url for url in asked if not url.startswith(("file:", "data:", "blob:"))]
    check(not outside, f"the page asked for {outside[:3]}")
    return len(outside)


def hostile_files(folder: Path) -> str:
    """Open files with such names in the playground, and run the code that it offers to copy."""
    from panmatch.playground import FilePair, State
    from panmatch.playground._export import answer_code
    from tests.playground.shown_pages import served

    labels = np.zeros((6, 12, 12), np.uint8)
    labels[1:4, 2:8, 2:8] = 1
    tried = 0
    for name in NAMES:
        if "/" in name or len(name.encode()) > 240:
            continue
        paths = [folder / f"{name}{side}.npy" for side in "rp"]
        for path in paths:
            np.save(path, labels)
        with served(*paths) as address:
            _check_playground(address)
        code = answer_code(State(None), FilePair.open(*paths))
        for program in ([sys.executable, "-c", code["python"]], ["bash", "-c", code["command"]]):
            environment = os.environ | {
                "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
            }
            done = subprocess.run(
                program, cwd=folder, env=environment, capture_output=True, text=True, check=False
            )
            check(done.returncode == 0, f"{name!r}: copied code fails: {done.stderr[-300:]}")
            shutil.rmtree(folder / "panmatch-results", ignore_errors=True)
        tried += 1
    check(not (folder / "hacked").exists(), "a name was run as a command")
    return (
        f"A disk accepts {tried} of these names. The page executes none of them. The copied Python "
        f"code and the copied command print the numbers and do nothing else."
    )


def _check_playground(address: str) -> None:
    with open_tab() as page:
        if page is None:
            raise UnavailableError("there is no Chromium")
        page.goto(address)
        page.wait_for_selector("#pair-about", timeout=20_000)
        page.wait_for_timeout(500)
        check(page.evaluate("window.hacked") is None, "a name was run as a script")


def undecodable_file(folder: Path) -> str:
    """Evaluate a file whose name is not text."""
    data, out = make_dataset(folder / "data", 2), folder / "out"
    for side in ("ref", "pred"):
        odd = os.fsdecode(b"caf\xe9.nii.gz")
        (data / side / "case000.nii.gz").rename(data / side / odd)
    arguments = [str(data / "ref"), str(data / "pred"), "-o", str(out), "--report", "--maps"]
    left = run([*EVALUATE, *arguments])
    check(left.code == 0, f"it ended with code {left.code}: {left.err[-500:]}")
    check(len(list((out / "maps").rglob("*.nii.gz"))) == 2, "a map is missing")
    scores = (out / "scores.csv").read_bytes()
    check(b"case001" in scores and b"caf" in scores, "a case is missing")
    return "It is a case like any other. Its name spells out the odd byte (`caf\\xe9`)."


FAULTS = (
    Fault("Hostile names of cases, models and classes", hostile_names),
    Fault("Hostile file names in the playground and in copied code", hostile_files),
    Fault("A file name in another encoding (`caf\\xe9`)", undecodable_file),
)

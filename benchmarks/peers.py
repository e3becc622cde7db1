"""Other people's programs: one way to time each in its own environment, and to check its numbers.

A script ``peer_….py`` of this folder is run by the interpreter of the program's environment with a
folder of images and its options. The last line that it prints is JSON: ``name`` (the program with
its version), ``ms``, and ``numbers``, which must equal ours before a time counts.
"""

from __future__ import annotations

import json
import math
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.timing import Row, faster, not_measured

ROOT = Path(__file__).parents[1]
OWN_ENVIRONMENTS = {
    "ccmetrics": ".venv-ccmetrics",
    "hotcoco": ".venv-peers",
    "panoptica": ".venv-peers",
    "pycocotools": ".venv-peers",
}


def python_of(program: str) -> Path:
    """Return the interpreter of a program's environment."""
    folder = OWN_ENVIRONMENTS.get(program, f".venv-oracle-{program}")
    return ROOT / folder / "bin" / "python"


PEER = python_of("panoptica")
EXACTA = python_of("exacta")
CCMETRICS = python_of("ccmetrics")

Image = npt.NDArray[np.generic]


@dataclass(frozen=True, slots=True)
class Measured:
    """What a program says about a job: its name with its version, its time and its numbers."""

    name: str
    ms: float
    numbers: dict[str, float]

    def check(self, ours: Mapping[str, float], tolerance: float = 1e-6) -> None:
        """Raise an error unless all of its numbers are ours."""
        for name, theirs in self.numbers.items():
            assert math.isclose(ours[name], theirs, rel_tol=tolerance, abs_tol=tolerance), (
                f"{self.name}: {name} is {theirs}, but {ours[name]} here"
            )


def measure_peer(program: str, script: str, folder: Path, *options: object) -> Measured | None:
    """Return what a program says about the images of a folder; None if it is not installed."""
    python = python_of(program)
    if not python.exists():
        return None
    found = run_script(script, folder, *options, python=python)
    return Measured(found["name"], found["ms"], found["numbers"])


def against(
    what: str, ours: float, program: str, peer: Measured | None, bound: float | None
) -> Row:
    """Compare our time with that of a peer, whose numbers were checked."""
    if peer is None:
        target = "" if bound is None else f"≥ {bound:g} ×"
        return not_measured(what, f"{program} (make bench-peers installs it)", target)
    return faster(what, ours, peer.ms, peer.name, bound)


def panoptica(
    reference: Image,
    prediction: Image,
    matcher: str,
    threshold: float,
    *,
    metrics: str = "IOU",
    workers: int = 1,
) -> Any:
    """Return time, PQ and scores; `metrics` are panoptica's names, joined by commas."""
    return ask("peer_panoptica.py", reference, prediction, matcher, threshold, metrics, workers)


def ask(
    script: str, reference: Image, prediction: Image, *options: object, python: Path = PEER
) -> Any:
    """Run a script of this folder on two images, and return the JSON on its last line."""
    with tempfile.TemporaryDirectory() as folder:
        save_pair(Path(folder), reference, prediction)
        return run_script(script, Path(folder), *options, python=python)


def save_pair(folder: Path, reference: Image, prediction: Image) -> None:
    """Write two images where the scripts look for them."""
    np.save(folder / "reference.npy", reference)
    np.save(folder / "prediction.npy", prediction)


def run_script(script: str, folder: Path, *options: object, python: Path) -> Any:
    """Run a script of this folder on a folder, and return the JSON on its last line."""
    place = str(Path(__file__).with_name(script))
    command = [str(python), place, str(folder), *map(str, options)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(done.stdout.splitlines()[-1])

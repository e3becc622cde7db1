"""Other people's programs, timed in their own environment."""

from __future__ import annotations

import json
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.scenes import Labels

ROOT = Path(__file__).parents[1]
PEER = ROOT / ".venv-peers" / "bin" / "python"
EXACTA = ROOT / ".venv-oracle-exacta" / "bin" / "python"
CCMETRICS = ROOT / ".venv-ccmetrics" / "bin" / "python"


def panoptica(
    reference: Labels,
    prediction: Labels,
    matcher: str,
    threshold: float,
    *,
    metrics: str = "IOU",
    workers: int = 1,
) -> Any:
    """Return time, PQ and scores; `metrics` are panoptica's names, joined by commas."""
    return ask("peer_panoptica.py", reference, prediction, matcher, threshold, metrics, workers)


def ask(
    script: str, reference: Labels, prediction: Labels, *options: object, python: Path = PEER
) -> Any:
    """Run a script of this folder on two images, and return the JSON on its last line."""
    with tempfile.TemporaryDirectory() as folder:
        np.save(Path(folder) / "reference.npy", reference)
        np.save(Path(folder) / "prediction.npy", prediction)
        command = [str(python), str(Path(__file__).with_name(script)), folder, *map(str, options)]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(done.stdout.splitlines()[-1])

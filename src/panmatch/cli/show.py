"""`panmatch show`: a result in words."""

from __future__ import annotations

from pathlib import Path

from panmatch.datasets.run import load_run
from panmatch.evaluation import Result


def run_show(path: Path) -> None:
    """Print the summary of a run's folder, or of a result in JSON."""
    result = Result.load(path) if path.is_file() else load_run(path)
    print(result.summary())

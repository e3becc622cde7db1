"""`panmatch report`: one HTML file about a run."""

from __future__ import annotations

from pathlib import Path

from panmatch.report.page import write_report


def run_report(folder: Path, path: Path | None) -> None:
    """Write the report, and say where it is."""
    print(f"Report: {write_report(folder, path)}")

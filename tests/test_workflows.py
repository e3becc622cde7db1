"""What GitHub runs are make targets, and those exist."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")


def targets(workflow: Path) -> set[str]:
    """Return the make targets of all commands, one from the matrix by each of its values."""
    found: set[str] = set()
    for job in yaml.safe_load(workflow.read_text(encoding="utf-8"))["jobs"].values():
        commands = " ".join(step.get("run", "") for step in job["steps"])
        found |= set(re.findall(r"\bmake ([a-z][a-z-]+)", commands))
        if "make ${{ matrix.target }}" in commands:
            found |= set(job["strategy"]["matrix"]["target"])
    return found


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_every_make_target_exists(workflow: Path) -> None:
    for target in targets(workflow):
        assert re.search(rf"^{target}:", MAKEFILE, re.MULTILINE), target


@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
def test_release_notes_are_the_changes_of_one_version() -> None:
    command = ["make", "--silent", "--directory", str(ROOT), "release-notes"]
    notes = subprocess.run(
        [*command, "VERSION=0.1.0"], capture_output=True, text=True, encoding="utf-8", check=True
    ).stdout
    assert notes.strip()
    assert "\n## " not in notes
    failed = subprocess.run([*command, "VERSION=0.0.99"], capture_output=True, text=True)
    assert failed.returncode != 0
    assert "CHANGELOG.md has no version 0.0.99" in failed.stderr

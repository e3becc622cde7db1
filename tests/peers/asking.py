"""Running other people's programs in their own environment, through files."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from tests.commands import Program, run

ROOT = Path(__file__).parents[2]
PEER = ROOT / ".venv-peers" / "bin" / "python"

SHIPPED = "lib/python*/site-packages/panoptica/configs/*.yaml"

Labels = npt.NDArray[np.integer[Any]]


def shipped_configs() -> list[Path]:
    """Return the configurations that panoptica brings; none where it is not installed."""
    return sorted(PEER.parents[1].glob(SHIPPED))


def ask(script: str, folder: Path, questions: Any, imported: str = "pycocotools") -> Any:
    """Run a script of this folder on questions, and return its answers, both as JSON."""
    if not PEER.exists():
        pytest.fail(f"{PEER.relative_to(ROOT)} is missing: run `make test`, which builds it.")
    (folder / "questions.json").write_text(json.dumps(questions))
    program = Program(str(Path(__file__).with_name(script)), (str(PEER),), (imported,))
    done = run(program, "questions.json", "results.json", cwd=folder)
    assert done.returncode == 0, done.stderr
    return json.loads((folder / "results.json").read_text())


def ask_peer(
    script: str, folder: Path, scenes: Sequence[tuple[Labels, Labels]], **more: npt.NDArray[Any]
) -> dict[str, Any]:
    """Run a script of this folder on scenes, and return the JSON that it writes."""
    if not PEER.exists():
        pytest.fail(f"{PEER.relative_to(ROOT)} is missing: run `make test`, which builds it.")
    arrays: dict[str, Any] = dict(more)
    for i, (reference, prediction) in enumerate(scenes):
        arrays |= {f"reference_{i}": reference, f"prediction_{i}": prediction}
    np.savez(folder / "scenes.npz", **arrays)
    runner = Path(__file__).with_name(script)
    program = Program(str(runner), (str(PEER),), ("panoptica",))
    done = run(program, "scenes.npz", "results.json", cwd=folder)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads((folder / "results.json").read_text())
    return found

"""JSON that is nested without end is refused like any other text that is not what was asked for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from panmatch.datasets import load_run
from panmatch.errors import PanmatchError
from panmatch.evaluation import Result
from panmatch.formats import load_overlap, read_coco_panoptic
from panmatch.labels import _arrays, free_bytes, memory_bytes
from panmatch.overlap import Overlap
from panmatch.spec import spec_for_dataset

DEEP = "[" * 200_000


def run_in(folder: Path) -> object:
    (folder / "run.json").write_text(DEEP)
    return load_run(folder)


def file_in(folder: Path) -> Path:
    (folder / "deep.json").write_text(DEEP)
    return folder / "deep.json"


READERS: dict[str, Callable[[Path], object]] = {
    "dataset.json": lambda folder: spec_for_dataset(file_in(folder)),
    "COCO": lambda folder: read_coco_panoptic(file_in(folder), folder),
    "overlap": lambda _: Overlap.from_json(DEEP),
    "overlap file": lambda folder: load_overlap(file_in(folder)),
    "result": lambda _: Result.from_json(DEEP),
    "result file": lambda folder: Result.load(file_in(folder)),
    "run.json": run_in,
}


@pytest.mark.parametrize("kind", READERS)
def test_deep_json_is_an_error_of_one_line(kind: str, tmp_path: Path) -> None:
    with pytest.raises(PanmatchError) as caught:
        READERS[kind](tmp_path)
    assert len(str(caught.value)) < 400
    assert "\n" not in str(caught.value)


def test_the_limit_of_a_container_is_the_memory_of_the_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    limit = tmp_path / "memory.max"
    monkeypatch.setattr(_arrays, "CONTAINER_LIMIT", limit)
    machine = memory_bytes()
    limit.write_text("max\n")
    assert memory_bytes() == machine
    limit.write_text("1000\n")
    assert memory_bytes() == 1000
    assert free_bytes() == 1000

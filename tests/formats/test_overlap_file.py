"""Overlap graphs as files."""

from pathlib import Path

import numpy as np
import pytest

import panmatch as pm
from panmatch.errors import FileError
from tests import scenes


@pytest.mark.parametrize("suffix", [".npz", ".json"])
@pytest.mark.parametrize("name", scenes.ALL)
def test_what_was_saved_is_loaded(tmp_path: Path, suffix: str, name: str) -> None:
    path = tmp_path / f"case{suffix}"
    pm.save_overlap(scenes.ALL[name], path)
    assert pm.load_overlap(path) == scenes.ALL[name]
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


def test_other_suffixes_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"must end in \.npz or \.json"):
        pm.save_overlap(scenes.SPLIT, tmp_path / "case.pkl")
    with pytest.raises(FileError, match=r"must end in \.npz or \.json"):
        pm.load_overlap(tmp_path / "case.txt")


@pytest.mark.parametrize("name", ["missing.npz", "missing.json"])
def test_a_missing_file_is_named(tmp_path: Path, name: str) -> None:
    with pytest.raises(FileError, match=f"{name}' cannot be read"):
        pm.load_overlap(tmp_path / name)


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 broken", b"\xff\xfe", b'{"format": 1}'])
@pytest.mark.parametrize("suffix", [".npz", ".json"])
def test_a_corrupt_file_is_named(tmp_path: Path, suffix: str, content: bytes) -> None:
    path = tmp_path / f"case{suffix}"
    path.write_bytes(content)
    with pytest.raises(FileError, match=f"case{suffix}' cannot be read as an overlap"):
        pm.load_overlap(path)


def test_a_truncated_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "case.npz"
    pm.save_overlap(scenes.SPLIT, path)
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(FileError, match="cannot be read as an overlap"):
        pm.load_overlap(path)


def test_pickled_content_is_never_loaded(tmp_path: Path) -> None:
    path = tmp_path / "case.npz"
    columns = {name: column.astype(object) for name, column in scenes.SPLIT.columns().items()}
    np.savez(path, **columns)  # type: ignore[arg-type]
    with pytest.raises(FileError, match="cannot be read as an overlap"):
        pm.load_overlap(path)


def test_a_failed_write_keeps_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "case.json"
    pm.save_overlap(scenes.SPLIT, path)

    def no_space(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", no_space)
    with pytest.raises(FileError, match=r"case\.json' cannot be written.*No space left"):
        pm.save_overlap(scenes.MERGED, path)
    assert pm.load_overlap(path) == scenes.SPLIT
    assert [p.name for p in tmp_path.iterdir()] == ["case.json"]

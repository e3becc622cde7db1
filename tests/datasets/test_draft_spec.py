"""A spec from the references: what is an object is read off them, and said."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from panmatch import phantoms
from panmatch.datasets import draft_spec
from panmatch.errors import FileError
from panmatch.spec import Spec, as_spec


def saved(folder: Path, *images: Any) -> Path:
    folder.mkdir(exist_ok=True)
    for i, image in enumerate(images):
        np.save(folder / f"case{i}.npy", np.asarray(image))
    return folder


def read(text: str) -> Spec:
    return as_spec(yaml.safe_load(text))


def test_a_mask_has_components(tmp_path: Path) -> None:
    text = draft_spec(saved(tmp_path / "ref", [[1, 1, 1, 0, 1, 1, 1, 0, 1]], [[0, 1, 1, 1]]))
    spec = read(text)
    assert list(spec.classes) == ["foreground"]
    assert spec.classes["foreground"].instances == "components"
    assert "# From 2 references in ref." in text
    assert "it looks like a mask" in text
    assert "in 2 of 2 references, 4 components" in text
    assert "3 would drop 1 component of fewer than 3 voxels" in text


def test_few_labels_in_many_components_are_classes(tmp_path: Path) -> None:
    brains = [phantoms.brain_metastases((40, 44, 40), 5, seed=seed).labels for seed in range(2)]
    text = draft_spec(saved(tmp_path, *brains))
    spec = read(text)
    assert list(spec.classes) == ["label_1", "label_2", "label_3"]
    assert {one.instances for one in spec.classes.values()} == {"components"}
    assert [one.numbers for one in spec.classes.values()] == [(1,), (2,), (3,)]
    assert "they look like classes whose components are objects" in text


def test_many_labels_are_objects(tmp_path: Path) -> None:
    cells = phantoms.balls((60, 60), 25, radius=(2, 4), gap=1, seed=1)
    text = draft_spec(saved(tmp_path, cells))
    spec = read(text)
    assert spec.classes["object"].instances == "ids"
    assert spec.classes["object"].numbers is None
    assert "each label looks like one object" in text


def test_connectivity_is_said_with_what_it_changes(tmp_path: Path) -> None:
    diagonal = np.kron(np.eye(2, dtype=int), np.ones((2, 2), int))
    text = draft_spec(saved(tmp_path, diagonal))
    assert "connectivity: full  # faces would give 2 components" in text
    apart = draft_spec(saved(tmp_path / "apart", [[1, 1, 1, 0, 1, 1, 1]]))
    assert "connectivity: full  # faces gives the same" in apart


def test_one_file_will_do_and_an_empty_one_says_so(tmp_path: Path) -> None:
    folder = saved(tmp_path, [[1, 1, 1, 0, 1, 1, 1]], [[0, 0]])
    assert "# From 1 reference in case0.npy." in draft_spec(folder / "case0.npy")
    empty = draft_spec(folder / "case1.npy")
    assert "The references contain no labels" in empty
    assert list(read(empty).classes) == ["object"]
    with pytest.raises(FileError):
        draft_spec(tmp_path / "nothing.npy")

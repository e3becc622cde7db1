"""Every column of a real run has a meaning, and every meaning a column."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

from panmatch.cli import main
from panmatch.evaluation import COLUMNS, TABLES, column_meanings
from panmatch.related import RELATED
from panmatch.scoring import all_metrics

SPEC = {
    "classes": {
        "lesion": {"labels": [1, 2], "instances": "components", "parts": [1, 2]},
        "core": {"labels": [2], "instances": "components"},
    },
    "matching": [
        {"strategy": "one-to-one", "objective": "parts"},
        {"strategy": "many-to-one", "solver": "optimal"},
        {"strategy": "one-to-many", "regions": True},
        "union",
    ],
    "metrics": list(all_metrics()),
    "whole": list(all_metrics()),
    "related": list(RELATED),
    "confidence": {"source": "image", "cut": 0.25},
}


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two models on one volume, with everything that adds a column."""
    folder = tmp_path_factory.mktemp("columns")
    reference, prediction = np.zeros((2, 12, 14, 16), np.uint8)
    reference[1:5, 1:5, 1:5] = reference[7:11, 7:12, 7:12] = 1
    prediction[1:5, 1:4, 1:5] = prediction[7:11, 7:9, 7:12] = prediction[7:11, 10:12, 7:12] = 1
    reference[2:4, 2:4, 2:4] = prediction[2:4, 2:4, 2:4] = 2
    images = {
        "ref": reference,
        "a": prediction,
        "b": reference,
        "scores": np.full((12, 14, 16), 0.5),
    }
    for name, image in images.items():
        (folder / name).mkdir()
        np.save(folder / name / "case.npy", image)
    (folder / "spec.yaml").write_text(yaml.safe_dump(SPEC))
    models = [f"--model={name}={folder / name}" for name in "ab"]
    models += [f"--scores={name}={folder / 'scores'}" for name in "ab"]
    command = ["panmatch", "evaluate", str(folder / "ref"), *models, "--quiet"]
    command += ["--spec", str(folder / "spec.yaml"), "-o", str(folder / "out")]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.argv", command)
        with pytest.raises(SystemExit) as ended:
            main()
    assert ended.value.code in (0, None)
    return folder / "out"


@pytest.mark.parametrize("table", COLUMNS)
def test_columns_and_meanings_are_the_same(run_folder: Path, table: str) -> None:
    columns = set(pd.read_csv(run_folder / f"{table}.csv").columns)
    meanings = set(column_meanings(table, axes=3))
    assert columns - meanings == set(), "add a meaning to evaluation/_column_meanings.py"
    assert meanings - columns == set(), "no column has this meaning"


def test_every_table_of_a_run_is_described(run_folder: Path) -> None:
    assert {path.stem for path in run_folder.glob("*.csv")} == set(COLUMNS) == set(TABLES)

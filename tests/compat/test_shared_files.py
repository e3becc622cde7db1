"""Files of subjects under bad names, several writers, and other people's edits."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from panmatch.compat.panoptica import (
    InputType,
    Metric,
    NaiveThresholdMatching,
    Panoptica_Aggregator,
    Panoptica_Evaluator,
    Panoptica_Statistic,
)
from panmatch.datasets import compare_files
from panmatch.errors import FileError, LabelError, OptionError

IMAGE = np.array([[1, 1, 0, 2]])
BOTH = pytest.mark.parametrize("ending", ["tsv", "jsonl"])


def evaluator(*metrics: Metric) -> Panoptica_Evaluator:
    return Panoptica_Evaluator(
        InputType.UNMATCHED_INSTANCE,
        instance_matcher=NaiveThresholdMatching(),
        instance_metrics=metrics or [Metric.IOU],
    )


def aggregator(path: Path, *, continue_file: bool = True) -> Panoptica_Aggregator:
    return Panoptica_Aggregator(evaluator(), path, continue_file=continue_file)


NAMES = [
    "a\tb",
    "=1+1",
    "-5",
    "@x",
    "\"quoted\" and 'so'",
    "ä é 中",
    "a\u2028b\x85c",
    "x,y;z",
    "a b",
]


@BOTH
def test_any_name_of_one_line_is_kept_and_continued(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"out.{ending}"
    first = aggregator(path)
    for name in NAMES:
        first.evaluate(IMAGE, IMAGE, name)
    second = aggregator(path)
    for name in NAMES:
        second.evaluate(np.zeros_like(IMAGE), IMAGE, name)
    found = second.make_statistic()
    assert found.subjectnames == NAMES
    assert found.get("ungrouped", "tp") == [2.0] * len(NAMES)
    found.to_file(tmp_path / f"again.{ending}")
    assert (tmp_path / f"again.{ending}").read_bytes() == path.read_bytes()


def test_no_spreadsheet_takes_a_name_for_a_formula(tmp_path: Path) -> None:
    paths = [tmp_path / "one.tsv", tmp_path / "two.tsv"]
    for path in paths:
        aggregator(path).evaluate(IMAGE, IMAGE, "=1+1")
        assert path.read_text().splitlines()[1].startswith("'=1+1\t")
    assert compare_files(paths).cases == ("=1+1",)


@BOTH
@pytest.mark.parametrize("name", ["", "  ", "a\nb", "a\r", "p-bone_inst_3"])
def test_names_that_tables_cannot_hold_are_refused(name: str, ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"out.{ending}"
    table = aggregator(path)
    before = path.read_bytes()
    with pytest.raises(OptionError, match="subject_name="):
        table.evaluate(IMAGE, IMAGE, name)
    assert path.read_bytes() == before


@BOTH
def test_a_file_with_other_columns_is_left_as_it_is(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"out.{ending}"
    aggregator(path).evaluate(IMAGE, IMAGE, "a")
    before = path.read_bytes()
    with pytest.raises(ValueError, match=r"differ in 'ungrouped-sq_dsc|differ in 'sq_dsc|pq_dsc"):
        Panoptica_Aggregator(evaluator(Metric.IOU, Metric.DSC), path)
    assert path.read_bytes() == before


SCRIPT = """
import sys
import numpy as np
from pathlib import Path
from tests.compat.test_shared_files import IMAGE, aggregator
table = aggregator(Path(sys.argv[1]))
print("ready", flush=True)
sys.stdin.readline()
for i in range(40):
    table.evaluate(IMAGE, IMAGE, f"s{i if i % 2 else sys.argv[2] + str(i)}")
"""


@BOTH
def test_two_runs_share_a_file_and_no_subject_is_there_twice(ending: str, tmp_path: Path) -> None:
    """Each has an aggregator of its own; half of the subjects are the same."""
    path = tmp_path / f"out.{ending}"
    runs = [
        subprocess.Popen(
            [sys.executable, "-c", SCRIPT, str(path), name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parents[2],
        )
        for name in "xy"
    ]
    for run in runs:
        assert run.stdout is not None
        assert run.stdout.readline() == "ready\n"
    for run in runs:
        run.communicate("go\n")
        assert run.returncode == 0
    found = Panoptica_Statistic.from_file(path)
    expected = [f"s{i}" for i in range(1, 40, 2)]
    expected += [f"s{name}{i}" for name in "xy" for i in range(0, 40, 2)]
    assert sorted(found.subjectnames) == sorted(expected)
    assert found.get("ungrouped", "tp") == [2.0] * len(expected)


@BOTH
def test_spaces_around_a_name_do_not_count(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"out.{ending}"
    aggregator(path).evaluate(IMAGE, IMAGE, " a ")
    again = aggregator(path)
    again.evaluate(IMAGE, IMAGE, " a ")
    again.evaluate(IMAGE, IMAGE, "a")
    assert again.make_statistic().subjectnames == ["a"]


@BOTH
def test_two_aggregators_take_turns(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"out.{ending}"
    one, two = aggregator(path), aggregator(path)
    one.evaluate(IMAGE, IMAGE, "a")
    two.evaluate(np.zeros_like(IMAGE), IMAGE, "b")
    two.evaluate(np.zeros_like(IMAGE), IMAGE, "a")
    one.evaluate(IMAGE, IMAGE, "b")
    found = one.make_statistic()
    assert found.subjectnames == ["a", "b"]
    assert found.get("ungrouped", "tp") == [2.0, 0.0]


def test_without_continuing_a_subject_is_added_again(tmp_path: Path) -> None:
    path = tmp_path / "out.tsv"
    for _ in range(3):
        aggregator(path, continue_file=False).evaluate(IMAGE, IMAGE, "a")
    assert Panoptica_Statistic.from_file(path).subjectnames == ["a"] * 3
    with pytest.raises(FileError, match=r"'a' twice: .* continue_file=False"):
        aggregator(path)


def test_a_subject_that_failed_is_tried_again(tmp_path: Path) -> None:
    table = aggregator(tmp_path / "out.tsv")
    with pytest.raises(LabelError):
        table.evaluate(IMAGE + 0.5, IMAGE, "a")
    table.evaluate(IMAGE, IMAGE, "a")
    assert table.make_statistic().subjectnames == ["a"]


@BOTH
def test_a_last_line_without_an_end_is_not_continued(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"out.{ending}"
    aggregator(path).evaluate(IMAGE, IMAGE, "a")
    path.write_bytes(path.read_bytes().removesuffix(b"\n"))
    aggregator(path).evaluate(IMAGE, IMAGE, "b")
    assert Panoptica_Statistic.from_file(path).subjectnames == ["a", "b"]


def test_a_row_that_is_cut_off_is_named(tmp_path: Path) -> None:
    path = tmp_path / "out.tsv"
    aggregator(path).evaluate(IMAGE, IMAGE, "a")
    whole = path.read_bytes()
    path.write_bytes(whole[:-20])
    for act in (aggregator, Panoptica_Statistic.from_file):
        with pytest.raises(FileError, match=r"line 2 has \d+ cells, but the first line has 17"):
            act(path)


def test_lines_that_are_not_records_are_named(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    for line in ("[1]", '{"subject_name": "a"}', '{"subject_name": 1, "groups": {}}', "null"):
        path.write_text(f"{line}\n")
        with pytest.raises(FileError, match="line 1: it must be an object with 'subject_name'"):
            aggregator(path)


@BOTH
def test_a_file_that_lost_rows_is_not_written(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"out.{ending}"
    table = aggregator(path)
    table.evaluate(IMAGE, IMAGE, "a")
    path.write_bytes(b"")
    with pytest.raises(FileError, match=r"has lost rows.*create a new aggregator"):
        table.evaluate(IMAGE, IMAGE, "b")


def test_places_that_cannot_be_written_are_errors_of_the_system(tmp_path: Path) -> None:
    with pytest.raises(
        FileNotFoundError, match=r"there is no folder '.*nowhere'\. Create it first"
    ):
        aggregator(tmp_path / "nowhere" / "out.tsv")
    with pytest.raises(FileNotFoundError, match="does not exist"):
        Panoptica_Statistic.from_file(tmp_path / "nowhere.jsonl")
    (tmp_path / "folder.tsv").mkdir()
    with pytest.raises(IsADirectoryError, match="output_file cannot be written"):
        aggregator(tmp_path / "folder.tsv")


def test_a_folder_without_permission_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(self: Path, *_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(PermissionError, match=r"output_file cannot be written \(Permission den"):
        aggregator(tmp_path / "out.tsv")


def test_groups_that_are_left_out_have_empty_cells(tmp_path: Path) -> None:
    table = aggregator(tmp_path / "out.tsv")
    table.evaluate(IMAGE, IMAGE, "a", skip_groups=["ungrouped"])
    assert set(table.make_statistic().get_one_subject("a")["ungrouped"].values()) == {None}


def test_a_statistic_of_nothing_is_refused() -> None:
    with pytest.raises(OptionError, match="value_dict is empty"):
        Panoptica_Statistic([], {})

"""Files of subjects: the same cells as panoptica's, readable by either, safe to share."""

from __future__ import annotations

import csv
import json
import math
import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from panmatch.compat.panoptica import (
    InputType,
    Metric,
    NaiveThresholdMatching,
    Panoptica_Aggregator,
    Panoptica_Evaluator,
    Panoptica_Statistic,
    make_autc_plots,
    make_curve_over_setups,
)
from panmatch.errors import FileError, OptionError
from tests.compat.test_parity import OURS, SCENES, arrays_of
from tests.peers.asking import ask_peer
from tests.peers.run_panoptica_aggregator import KINDS, summaries, write_tables

N = 5


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """Return the folder with files of both, and what panoptica reads in ours."""
    folder = tmp_path_factory.mktemp("tables")
    write_tables(OURS, arrays_of(SCENES[:N]), folder, "ours")
    return folder, ask_peer("run_panoptica_aggregator.py", folder, SCENES[:N])


def cells(path: Path) -> list[list[str]]:
    with path.open(newline="") as stream:
        return list(csv.reader(stream, delimiter="\t"))


@pytest.mark.parametrize("kind", [name for name in KINDS if name.endswith(".tsv")])
def test_tsv_files_have_the_same_columns_rows_and_numbers(kind: str, files: Any) -> None:
    ours, theirs = (cells(files[0] / f"{who}_{kind}") for who in ("ours", "theirs"))
    assert ours[0] == theirs[0]
    assert [row[0] for row in ours] == [row[0] for row in theirs]
    assert len(ours) > N
    for mine, row in zip(ours[1:], theirs[1:], strict=True):
        for cell, expected in zip(mine[1:], row[1:], strict=True):
            assert (cell == "") == (expected == "")
            if expected:
                assert float(cell) == pytest.approx(float(expected), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("kind", [name for name in KINDS if name.endswith(".jsonl")])
def test_json_lines_have_the_same_names_in_the_same_order(kind: str, files: Any) -> None:
    ours, theirs = (
        [json.loads(line) for line in (files[0] / f"{who}_{kind}").read_text().splitlines()]
        for who in ("ours", "theirs")
    )
    assert len(ours) == N
    for mine, record in zip(ours, theirs, strict=True):
        assert mine.keys() == record.keys()
        for group, numbers in record["groups"].items():
            found = mine["groups"][group]
            assert list(found) == list(numbers)
            for name, value in numbers.items():
                if name == "reference_instances":
                    assert [list(one) for one in found[name]] == [list(one) for one in value]
                elif value is None:
                    assert found[name] is None
                else:
                    assert found[name] == pytest.approx(value, rel=1e-9, abs=1e-9)


def test_both_read_the_files_of_both(files: Any) -> None:
    folder, theirs_of_ours = files
    of_ours, of_theirs = summaries(OURS, folder, "ours"), summaries(OURS, folder, "theirs")
    for kind, said in theirs_of_ours.items():
        for found in (of_ours[kind], of_theirs[kind]):
            assert found.keys() == said.keys()
            assert found["subjects"] == said["subjects"]
            for group in ("low", "high", "across_groups"):
                assert list(found[group]) == list(said[group])
                for name, values in said[group].items():
                    assert found[group][name] == pytest.approx(values, abs=1e-9, nan_ok=True)
            if "recall" in said:
                assert found["recall"] == pytest.approx(said["recall"], nan_ok=True)


def test_a_file_is_written_again_in_the_other_format(files: Any, tmp_path: Path) -> None:
    folder, _ = files
    first = Panoptica_Statistic.from_file(folder / "ours_rows.tsv")
    first.to_file(tmp_path / "other.jsonl")
    second = Panoptica_Statistic.from_file(tmp_path / "other.jsonl")
    second.to_file(tmp_path / "again.tsv")
    assert (tmp_path / "again.tsv").read_bytes() == (folder / "ours_rows.tsv").read_bytes()


def evaluator() -> Panoptica_Evaluator:
    return Panoptica_Evaluator(
        InputType.UNMATCHED_INSTANCE,
        instance_matcher=NaiveThresholdMatching(),
        instance_metrics=[Metric.IOU],
    )


IMAGE = np.array([[1, 1, 0, 2]])


def test_a_subject_that_is_there_is_not_evaluated_again(tmp_path: Path) -> None:
    path = tmp_path / "out.tsv"
    Panoptica_Aggregator(evaluator(), path).evaluate(IMAGE, IMAGE, "a")
    again = Panoptica_Aggregator(evaluator(), path)
    again.evaluate(np.zeros_like(IMAGE), IMAGE, "a")
    again.evaluate(np.zeros_like(IMAGE), IMAGE, "b")
    found = again.make_statistic()
    assert found.get("ungrouped", "tp") == [2.0, 0.0]
    assert found.get("ungrouped", "sq") == [1.0, 0.0]


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_processes_share_a_file(method: str, tmp_path: Path) -> None:
    shared = Panoptica_Aggregator(evaluator(), tmp_path / "out.jsonl")
    context = multiprocessing.get_context(method)
    with ProcessPoolExecutor(3, mp_context=context) as pool:
        tasks = [pool.submit(shared.evaluate, IMAGE, IMAGE, f"s{i % 6}") for i in range(12)]
        for task in tasks:
            task.result()
    assert sorted(shared.make_statistic().subjectnames) == [f"s{i}" for i in range(6)]


def test_regions_have_columns_of_their_own(tmp_path: Path) -> None:
    judge = Panoptica_Evaluator(InputType.UNMATCHED_INSTANCE, per_region_evaluation=True)
    table = Panoptica_Aggregator(judge, tmp_path / "out.tsv")
    table.evaluate(np.array([[1, 0, 0, 2]]), IMAGE, "a")
    found = table.make_statistic()
    assert found.get("ungrouped", "region_avg_dsc") == [pytest.approx((2 / 3 + 1) / 2)]
    assert found.get("ungrouped", "tp") == [None]


def test_errors_of_files_name_the_remedy(tmp_path: Path) -> None:
    path = tmp_path / "out.tsv"
    Panoptica_Aggregator(evaluator(), path)
    with pytest.raises(FileError, match="has no records"):
        Panoptica_Statistic.from_file(path)
    with pytest.raises(FileError, match=r"differ in .*Pass another output_file"):
        Panoptica_Aggregator(Panoptica_Evaluator(), path)
    with pytest.raises(OptionError, match=r"must end with \.tsv or \.jsonl"):
        Panoptica_Aggregator(evaluator(), tmp_path / "out.csv")
    with pytest.raises(OptionError, match="subject_name='a-b_inst_1'"):
        Panoptica_Aggregator(evaluator(), path).evaluate(IMAGE, IMAGE, "a-b_inst_1")
    path.write_text("subject_name\tungrouped-pq\na\tmuch\n")
    with pytest.raises(FileError, match="line 2, column 'ungrouped-pq': 'much' is not a number"):
        Panoptica_Statistic.from_file(path)
    (tmp_path / "out.jsonl").write_text('{"subject_name": \n')
    with pytest.raises(FileError, match="line 1: malformed JSON"):
        Panoptica_Statistic.from_file(tmp_path / "out.jsonl")


def test_summaries() -> None:
    values: dict[str, dict[str, list[float | None]]] = {
        "a": {"pq": [0.5, None, 1.0, 0.1]},
        "b": {"pq": [0.0, 0.2, None, 0.3]},
    }
    names = ["x", "y", "z", "x-a_inst_0"]
    found = Panoptica_Statistic(names, values)
    assert found.get_summary("a", "pq").avg == 0.75
    assert found.get_summary("a", "pq", master_only=False).avg == pytest.approx(1.6 / 3)
    assert found.get_summary_across_groups()["pq"].avg == pytest.approx((0.75 + 0.1) / 2)
    assert found.get_dict("b", "pq", remove_nones=False) == {
        "x": 0.0, "y": 0.2, "x-a_inst_0": 0.3, "z": None,
    }  # fmt: skip
    assert found.get_best_worst_k_entries("a", "pq", 1) == (
        {("a", "pq"): {"z": 1.0}},
        {("a", "pq"): {"x-a_inst_0": 0.1}},
    )
    assert found.get_subject_wise_difference_to(found, "a", "pq") == {
        "x": 0.0, "y": None, "z": 0.0, "x-a_inst_0": 0.0,
    }  # fmt: skip
    assert found.get_one_metric("pq") == {"a": values["a"]["pq"], "b": values["b"]["pq"]}
    assert math.isnan(Panoptica_Statistic(["x"], {"a": {"pq": [None]}}).get_summary("a", "pq").avg)
    with pytest.raises(KeyError, match="metric='qp' does not exist"):
        found.get("a", "qp")


def test_figures_show_every_group(files: Any) -> None:
    plotly = pytest.importorskip("plotly.graph_objects")
    areas = Panoptica_Statistic.from_file(files[0] / "ours_areas.tsv")
    boxes = areas.get_summary_figure("autc_pq")
    assert isinstance(boxes, plotly.Figure)
    assert {trace.name for trace in boxes.data} == {"low", "high"}
    curve = make_autc_plots({"model": areas}, "pq", groups="low")
    assert list(curve.data[0].x) == [0.25, 0.5, 0.75, 1.0]
    assert curve.data[0].y[0] == areas.get_summary("low", "t0.25_pq").avg
    bars = make_curve_over_setups({"a": areas, "b": areas}, "autc_pq")
    assert len(bars.data) == 2

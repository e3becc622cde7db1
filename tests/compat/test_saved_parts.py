"""Parts of a configuration that are saved alone, and read by both programs."""

from __future__ import annotations

import json
import subprocess
from enum import Enum
from pathlib import Path
from typing import Any

import pytest

from panmatch.compat.panoptica import (
    CCABackend,
    ConnectedComponentsInstanceApproximator,
    EdgeCaseHandler,
    EdgeCaseResult,
    EdgeCaseZeroTP,
    InputType,
    InstanceApproximator,
    MaxBipartiteMatching,
    MaximizeMergeMatching,
    Metric,
    MetricZeroTPEdgeCaseHandling,
    NaiveThresholdMatching,
    OneHotConnectedComponentsInstanceApproximator,
    Panoptica_Evaluator,
    ThresholdBasedMatching,
)
from panmatch.errors import PanmatchError
from tests.peers.asking import PEER

PARTS: tuple[Any, ...] = (
    NaiveThresholdMatching(Metric.ASSD, 2.5, allow_many_to_one=True),
    NaiveThresholdMatching(Metric.DSC, 0.1, strict_threshold=True),
    MaxBipartiteMatching(Metric.ASSD, 0.4),
    MaximizeMergeMatching(),
    ConnectedComponentsInstanceApproximator(),
    ConnectedComponentsInstanceApproximator(CCABackend.scipy),
    OneHotConnectedComponentsInstanceApproximator(CCABackend.cc3d),
    EdgeCaseHandler(),
    EdgeCaseHandler(
        {Metric.HD: MetricZeroTPEdgeCaseHandling(EdgeCaseResult.INF, EdgeCaseResult.NONE)},
        EdgeCaseResult.ZERO,
    ),
    MetricZeroTPEdgeCaseHandling(
        None, EdgeCaseResult.NONE, EdgeCaseResult.ZERO, EdgeCaseResult.INF, EdgeCaseResult.ONE
    ),
    *(one for kind in (CCABackend, EdgeCaseResult, EdgeCaseZeroTP, Metric) for one in kind),
    *InputType,
)
# Reads what we wrote, and writes it again.
READ_PARTS = """
import json, sys
from pathlib import Path
from panoptica import metrics, instance_approximator, instance_matcher
from panoptica.utils import constants, edge_case_handling, processing_pair
places = (metrics, instance_approximator, instance_matcher, constants, edge_case_handling,
          processing_pair)
for name, i in json.loads(sys.argv[1]):
    kind = next(getattr(place, name) for place in places if hasattr(place, name))
    kind.load_from_config(f"{i}.yaml").save_to_config(Path.cwd() / f"{i}.theirs.yaml")
"""


def content(part: Any) -> object:
    """Return all that a file says of a part."""
    if isinstance(part, EdgeCaseHandler):
        return part.plain, part.handle_empty_list_std()
    return part if isinstance(part, Enum) else part.plain


def test_parts_of_a_configuration_are_saved_alone_and_both_programs_read_them(
    tmp_path: Path,
) -> None:
    for i, part in enumerate(PARTS):
        part.save_to_config(tmp_path / f"{i}.yaml")
    named = json.dumps([[type(part).__name__, i] for i, part in enumerate(PARTS)])
    subprocess.run(
        [str(PEER), "-c", READ_PARTS, named], cwd=tmp_path, check=True, capture_output=True
    )
    for i, part in enumerate(PARTS):
        for name in (f"{i}.yaml", f"{i}.theirs.yaml"):
            again = type(part).load_from_config(tmp_path / name)
            assert type(again) is type(part)
            assert content(again) == content(part), part


def test_a_part_of_another_kind_is_refused(tmp_path: Path) -> None:
    NaiveThresholdMatching().save_to_config(tmp_path / "matcher.yaml")
    found = ThresholdBasedMatching.load_from_config(tmp_path / "matcher.yaml")
    assert isinstance(found, NaiveThresholdMatching)
    for kind in (MaxBipartiteMatching, EdgeCaseHandler, InstanceApproximator, Panoptica_Evaluator):
        with pytest.raises(PanmatchError, match=r"must start with !.*, not with !NaiveThreshold"):
            kind.load_from_config(tmp_path / "matcher.yaml")
    with pytest.raises(
        PanmatchError, match="must contain !CCABackend and a name, and nothing else"
    ):
        CCABackend.load_from_config(tmp_path / "matcher.yaml")
    (tmp_path / "name.yaml").write_text("!CCABackend cupy\n")
    with pytest.raises(PanmatchError, match=r"name\.yaml='cupy' is not known"):
        CCABackend.load_from_config(tmp_path / "name.yaml")
    (tmp_path / "name.yaml").write_text("[!CCABackend")
    with pytest.raises(PanmatchError, match=r"name\.yaml' is not YAML: "):
        CCABackend.load_from_config(tmp_path / "name.yaml")

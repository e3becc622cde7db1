"""Two real processes gather their states over gloo, and say what one process says."""

from __future__ import annotations

import json
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest

REASON = "the metric needs torch: pip install 'panmatch[torch]'"
torch = pytest.importorskip("torch", reason=REASON)
pytest.importorskip("torchmetrics", reason=REASON)
if not torch.distributed.is_available() or not torch.distributed.is_gloo_available():
    pytest.skip("this torch was built without gloo", allow_module_level=True)

from panmatch.torch import PanopticMatching  # noqa: E402
from tests.torch.rank import METRICS, SHARES, describe, update  # noqa: E402
from tests.torch.tensors import drawn  # noqa: E402

ROOT = Path(__file__).parents[2]
Results = tuple[dict[str, Any], dict[str, Any]]


@pytest.fixture(scope="module")
def ranks(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """Run both processes once, for all tests."""
    folder = tmp_path_factory.mktemp("gloo")
    processes = [
        subprocess.Popen(
            [
                sys.executable,
                "-m",
                "tests.torch.rank",
                str(rank),
                folder / "store",
                folder / f"{rank}",
            ],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for rank in range(2)
    ]
    try:
        said = [process.communicate(timeout=180)[0] for process in processes]
    finally:
        for process in processes:
            process.kill()
    for process, text in zip(processes, said, strict=True):
        assert process.returncode == 0, text
    first, second = (json.loads((folder / f"{rank}").read_text()) for rank in range(2))
    return first, second


def in_one_process(name: str, batches: list[list[int]]) -> dict[str, Any]:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The ``compute`` method of metric")
        return describe(update(PanopticMatching(**METRICS[name]), batches))


@pytest.mark.parametrize("shares", SHARES)
@pytest.mark.parametrize("name", METRICS)
def test_both_processes_say_to_the_bit_what_one_says(
    ranks: Results, name: str, shares: str
) -> None:
    alone = in_one_process(name, [list(range(7))] if shares != "none has anything" else [])
    first, second = (found[f"{name}, {shares}"] for found in ranks)
    assert first == second == as_json(alone)


@pytest.mark.parametrize("name", METRICS)
def test_after_gathering_each_process_goes_on_with_its_own_states(
    ranks: Results, name: str
) -> None:
    batches = [batch for share in SHARES["uneven"] for batch in share[:2]]
    first, second = (found[f"{name}, going on"] for found in ranks)
    assert first == second == as_json(in_one_process(name, batches))


@pytest.mark.parametrize("name", METRICS)
def test_processes_keep_to_themselves_if_asked_to(ranks: Results, name: str) -> None:
    for found, batches in zip(ranks, SHARES["uneven"], strict=True):
        assert found[f"{name}, alone"] == as_json(in_one_process(name, batches))


def test_a_single_step_is_gathered_if_asked_to(ranks: Results) -> None:
    metric = PanopticMatching(curve=True)
    metric.update(*drawn(2, seed=22))
    wanted = {name: float(value).hex() for name, value in metric.compute().items()}
    assert ranks[0]["every step"] == ranks[1]["every step"] == wanted


def as_json(content: Any) -> Any:
    """Return what comes back from a file; NaN and all floats survive."""
    return json.loads(json.dumps(content))

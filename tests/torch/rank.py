"""One process of a distributed run: python -m tests.torch.rank RANK STORE RESULTS

Two processes meet at the file STORE and go through all scenarios together; each sees its own share
of the images. RESULTS gets what this one computes, numbers as hexadecimal so that no bit is lost.
"""

from __future__ import annotations

import json
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.distributed as dist

from panmatch.torch import PanopticMatching
from tests.torch.batches import KINDS, draw_batch, draw_pairs
from tests.torch.tensors import as_tensors

IMAGES = 7
COLUMNS = ("thresholds", "tp", "fp", "fn", "quality")
METRICS: dict[str, dict[str, Any]] = {
    "curve": {"strategy": "many-to-one", "threshold": [0.2, 0.5], "curve": True},
    "classes": {"classes": KINDS, "threshold": 0.3, "curve": True, "per_class": True},
    "counts": {"threshold": 0.3},
    "confidence": {"threshold": [0.2, 0.5], "confidence": True, "cut": 0.25, "curve": True},
}
# For each of two processes, its batches of images.
SHARES: dict[str, tuple[list[list[int]], list[list[int]]]] = {
    "uneven": ([[0, 3, 1], [6]], [[5], [2], [4]]),
    "one has an empty batch": ([[6, 0, 1, 2, 3, 4, 5]], [[]]),
    "one has nothing": ([], [[4, 1], [0, 2, 3, 5, 6]]),
    "none has anything": ([], []),
}


def update(metric: PanopticMatching, batches: list[list[int]]) -> PanopticMatching:
    """Show a metric the images of some batches."""
    draw = draw_batch if metric.settings.labelling.classes is None else draw_pairs
    reference, prediction = draw(IMAGES, seed=21)
    likely = torch.from_numpy(np.random.default_rng(23).random(prediction.shape))
    for batch in batches:
        at = np.array(batch, np.int64)
        more = {} if metric.settings.cuts is None else {"confidence": likely[at]}
        metric.update(*as_tensors(prediction[at], reference[at]), **more)
    return metric


def describe(metric: PanopticMatching) -> dict[str, Any]:
    """Return everything a metric says, to the bit."""
    found = {name: float(value).hex() for name, value in metric.compute().items()}
    tallies = {str(at): repr(dict(one)) for at, one in metric.tallies().items()}
    if metric.settings.cuts is not None:
        cuts = {
            str(at): [repr(curve.cuts.tolist()), curve.tallies.counts.tolist(), curve.n_cases]
            for at, curves in metric.cut_curves().items()
            for curve in curves.values()
        }
        found |= {"cuts": repr(cuts)}
    if not metric.settings.curve:
        return {"scores": found, "tallies": tallies}
    curves = {
        str(key): [getattr(one, name).tolist() for name in COLUMNS]
        for key, one in metric.curves().items()
    }
    return {"scores": found, "tallies": tallies, "curves": curves}


def run(rank: int) -> dict[str, Any]:
    """Go through all scenarios, and return what this process computes in each."""
    results: dict[str, Any] = {}
    for name, options in METRICS.items():
        for shares, batches in SHARES.items():
            metric = update(PanopticMatching(**options), batches[rank])
            results[f"{name}, {shares}"] = describe(metric)
        # Gathering leaves every process with its own states, so that it can go on.
        results[f"{name}, going on"] = describe(update(metric, SHARES["uneven"][rank][:2]))
        results[f"{name}, alone"] = describe(
            update(PanopticMatching(sync_on_compute=False, **options), SHARES["uneven"][rank])
        )
    stepwise = PanopticMatching(curve=True, dist_sync_on_step=True)
    reference, prediction = draw_batch(2, seed=22)
    found = stepwise(*as_tensors(prediction[rank, None], reference[rank, None]))
    results["every step"] = {key: float(value).hex() for key, value in found.items()}
    return results


def main(rank: int, store: str, results: Path) -> None:
    """Join the other process, run, and write."""
    dist.init_process_group(
        "gloo", init_method=f"file://{store}", rank=rank, world_size=2,
        timeout=timedelta(seconds=60),
    )  # fmt: skip
    results.write_text(json.dumps(run(rank)))
    dist.destroy_process_group()


if __name__ == "__main__":
    torch.set_num_threads(1)
    main(int(sys.argv[1]), sys.argv[2], Path(sys.argv[3]))

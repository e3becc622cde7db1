"""A CUDA device: counting against copying there, and a whole evaluation against the host.

`python -m benchmarks device` needs CuPy and a device, and runs only when it is named.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np

import panmatch as pm
from benchmarks.machine import describe_machine
from benchmarks.timing import Row, at_most, below, faster
from panmatch.labels import _device as device

SIZE, REPEATS = 1024, 9
WHOLE, APART, OBJECTS = 512, 64, 500  # voxels per axis, voxels between objects, objects
METRICS = ("hd", "hd95", "assd", "nsd")
SPACINGS = (None, (0.7, 0.7, 3.0), (0.742188, 0.742188, 1.25))


def describe() -> str:
    """Return the device and the machine around it in words."""
    import cupy

    name = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
    return f"{name} with CuPy {cupy.__version__}, in {describe_machine()}"


def rows() -> Iterator[Row]:
    """Yield every comparison as soon as it is measured."""
    yield from counting()
    images = some_balls(0), some_balls(4)
    for spacing in SPACINGS:
        yield from whole_evaluation(images, spacing)
    yield from torch_metric(images)


def counting() -> Iterator[Row]:
    import cupy

    for title, step in (("balls, 64 voxels apart", 64), ("balls, 32 voxels apart", 32)):
        yield from count(title, balls(step, 0), balls(step, step // 16))
    yield from count("blocks of 32 voxels, no background", blocks(32, 0), blocks(32, 3))
    odd = slice(0, 1000), slice(0, 1000), slice(0, 1001)
    reference, prediction = (cupy.ascontiguousarray(balls(32, shift)[odd]) for shift in (0, 2))
    yield from count("balls, 32 voxels apart, 1000 × 1000 × 1001", reference, prediction)


def count(title: str, reference: Any, prediction: Any) -> Iterator[Row]:
    """Time the kernel with events of the device, and the whole with its result on the host."""
    import cupy

    target = cupy.empty_like(reference)
    # A copy reads and writes an image: as many bytes as both images have.
    copy = best_ms(lambda: cupy.copyto(target, reference))
    flat = reference.ravel(), prediction.ravel()
    table = device._PairTable._empty(device.FIRST_SLOTS, *flat)
    kernel = best_ms(lambda: table._launch("count_pairs", *flat))
    whole = best_ms(lambda: device.device_joint_counts([reference, prediction]))
    pairs = len(device.device_joint_counts([reference, prediction])[1])
    size = "1024³" if reference.shape == (SIZE,) * 3 else ""
    what = f"count {size} int32, {title}, {pairs:,} pairs of labels".replace("  ", " ")
    limit = "limit: move as many bytes"
    yield at_most(f"{what}, kernel", kernel, copy, limit, None)
    yield at_most(f"{what}, all counts on the host", whole, copy, limit, None)


STEPS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "PQ": lambda ref, pred, _: pm.match(pm.count_overlaps(ref, pred)),
    "PQ in regions": lambda ref, pred, spacing: pm.match(
        pm.count_region_overlaps(ref, pred, spacing), "union"
    ),
    "PQ, then HD, HD95, ASSD and NSD per object": lambda ref, pred, spacing: pm.measure(
        pm.match(pm.count_overlaps(ref, pred)), ref, pred, METRICS, spacing
    ),
    "HD, HD95, ASSD and NSD of whole masks": lambda ref, pred, spacing: pm.measure_whole(
        ref, pred, METRICS, spacing
    ),
}


def whole_evaluation(images: tuple[Any, Any], spacing: Any) -> Iterator[Row]:
    """Time regions and all metrics, with results on the host, where they must be the same."""
    here = images[0].get(), images[1].get()
    title = f"{WHOLE}³, {OBJECTS} objects, spacing {spacing or 1}"
    totals = [0.0, 0.0]
    for name, step in STEPS.items():
        found, there_ms = best_wall_ms(partial(step, *images, spacing), REPEATS)
        want, here_ms = best_wall_ms(partial(step, *here, spacing), 2)
        assert getattr(found, "tally", None) == getattr(want, "tally", None)
        for metric in METRICS if hasattr(found, "columns") else ():
            pair = found.columns[metric], want.columns[metric]
            np.testing.assert_allclose(*pair, rtol=1e-6, atol=1e-6)
        yield faster(f"{name}, {title}", there_ms, here_ms, "the host, all threads", None)
        totals = [totals[0] + there_ms, totals[1] + here_ms]
    yield faster(f"all of it, {title}", totals[0], totals[1], "the host, all threads", None)
    yield below(f"all of it, {title}", totals[0], "ms", 100)


def torch_metric(images: tuple[Any, Any]) -> Iterator[Row]:
    """Time one batch of the torch metric, where its tensors are and on the host."""
    import torch

    from panmatch.torch import PanopticMatching

    there = [torch.from_dlpack(image)[None] for image in images]
    here = [tensor.cpu() for tensor in there]
    for name, strategy, regions in (("", "one-to-one", None), (" in regions", "union", "voronoi")):
        found, times = [], []
        for target, preds in (there, here):
            metric = PanopticMatching(strategy=strategy, regions=regions).to(target.device)
            repeats = REPEATS if target.is_cuda else 1
            times.append(best_wall_ms(partial(metric.update, preds, target), repeats)[1])
            metric.reset()
            metric.update(preds, target)
            found.append({key: value.item() for key, value in metric.compute().items()})
        assert found[0] == found[1]
        what = f"torch metric{name}, update, {WHOLE}³, {OBJECTS} objects"
        yield faster(what, times[0], times[1], "the host, all threads", None)


def best_wall_ms(action: Callable[[], Any], repeats: int) -> tuple[Any, float]:
    """Return the result, and the shortest time on the clock after a first call."""
    found, times = action(), []
    for _ in range(repeats):
        begin = perf_counter()
        action()
        times.append(1000 * (perf_counter() - begin))
    return found, min(times)


def some_balls(shift: int) -> Any:
    """Return so many balls on a grid, as int32."""
    import cupy

    per_axis = WHOLE // APART
    place = cupy.arange(WHOLE, dtype=cupy.int32) + shift
    at, squared = place // APART, (place % APART - APART // 2) ** 2
    number = (at[:, None, None] * per_axis + at[None, :, None]) * per_axis + at[None, None, :]
    distance = squared[:, None, None] + squared[None, :, None] + squared[None, None, :]
    inside = (distance < (3 * APART // 8) ** 2) & (number < OBJECTS)
    for axis in ((slice(None), None, None), (None, slice(None), None), (None, None, slice(None))):
        inside &= at[axis] < per_axis
    return cupy.where(inside, number + 1, 0).astype(cupy.int32)


def best_ms(action: Callable[[], object]) -> float:
    """Return the shortest time between two events of the device, in milliseconds."""
    import cupy

    action()
    times = []
    for _ in range(REPEATS):
        begin, end = cupy.cuda.Event(), cupy.cuda.Event()
        begin.record()
        action()
        end.record()
        end.synchronize()
        times.append(cupy.cuda.get_elapsed_time(begin, end))
    return float(min(times))


def balls(step: int, shift: int) -> Any:
    """Return balls on a grid, with radii of three eighths of its step."""
    import cupy

    place = cupy.arange(SIZE, dtype=cupy.int32) + shift
    squared = (place % step - step // 2) ** 2
    distance = squared[:, None, None] + squared[None, :, None] + squared[None, None, :]
    return cupy.where(distance < (3 * step // 8) ** 2, blocks(step, shift), 0).astype(cupy.int32)


def blocks(step: int, shift: int) -> Any:
    """Return blocks that leave no background."""
    import cupy

    at = (cupy.arange(SIZE, dtype=cupy.int32) + shift) // step
    return at[:, None, None] * 4096 + at[None, :, None] * 64 + at[None, None, :] + 1

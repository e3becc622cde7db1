"""Counting on a CUDA device, against copying there, and a whole evaluation against the host.

`python -m benchmarks.device` needs CuPy and a device, and runs apart from the other benchmarks.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np

import panmatch as pm
from panmatch.labels import _device as device

SIZE, REPEATS = 1024, 9
WHOLE, APART, OBJECTS = 512, 64, 500  # voxels per axis, voxels between objects, objects
METRICS = ("hd", "hd95", "assd", "nsd")
SPACINGS = (None, (0.7, 0.7, 3.0), (0.742188, 0.742188, 1.25))


def main() -> None:
    """Print one line per scene, then those of whole evaluations."""
    measure_counting()
    images = some_balls(0), some_balls(4)
    for spacing in SPACINGS:
        measure_whole_evaluation(images, spacing)


def measure_counting() -> None:
    """Print one line per scene."""
    import cupy

    name = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
    labels = cupy.zeros((SIZE, SIZE, SIZE), cupy.int32)
    target = cupy.empty_like(labels)
    copy = best_ms(lambda: cupy.copyto(target, labels))
    bandwidth = 2 * labels.nbytes / copy
    print(f"{name}: copies {bandwidth / 1e6:,.0f} GB/s (bytes read and written)")
    for title, step in (("balls, 64 voxels apart", 64), ("balls, 32 voxels apart", 32)):
        measure(title, balls(step, 0), balls(step, step // 16), bandwidth)
    measure("blocks of 32 voxels, no background", blocks(32, 0), blocks(32, 3), bandwidth)
    odd = slice(0, 1000), slice(0, 1000), slice(0, 1001)
    reference, prediction = (cupy.ascontiguousarray(balls(32, shift)[odd]) for shift in (0, 2))
    measure("the second, 1000 × 1000 × 1001", reference, prediction, bandwidth)


def measure(title: str, reference: Any, prediction: Any, bandwidth: float) -> None:
    """Time the kernel with events of the device, and the whole with its result on the host."""
    flat = reference.ravel(), prediction.ravel()
    table = device._PairTable._empty(device.FIRST_SLOTS, *flat)
    kernel = best_ms(lambda: table._launch("count_pairs", *flat))
    whole = best_ms(lambda: device.device_joint_counts([reference, prediction]))
    pairs = len(device.device_joint_counts([reference, prediction])[1])
    share = (reference.nbytes + prediction.nbytes) / kernel / bandwidth
    print(
        f"{title}: {pairs:,} pairs, kernel {kernel:.2f} ms ({share:.0%} of the bandwidth of a "
        f"copy), with all counts on the host {whole:.2f} ms"
    )


STEPS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "PQ": lambda ref, pred, _: pm.match(pm.count_overlaps(ref, pred)),
    "PQ in regions": lambda ref, pred, spacing: pm.match(
        pm.count_region_overlaps(ref, pred, spacing), "union"
    ),
    "PQ and surface metrics": lambda ref, pred, spacing: pm.measure(
        pm.match(pm.count_overlaps(ref, pred)), ref, pred, METRICS, spacing
    ),
}


def measure_whole_evaluation(images: tuple[Any, Any], spacing: Any) -> None:
    """Time PQ, PQ in regions and surface metrics, all with results on the host."""
    here = images[0].get(), images[1].get()
    title = f"{WHOLE}³, {OBJECTS} objects, spacing {spacing or 1}"
    totals = [0.0, 0.0]
    for name, step in STEPS.items():
        found, there_ms = best_wall_ms(partial(step, *images, spacing), REPEATS)
        want, here_ms = best_wall_ms(partial(step, *here, spacing), 1)
        assert found.tally == want.tally
        for metric in METRICS if hasattr(found, "columns") else ():
            pair = found.columns[metric], want.columns[metric]
            np.testing.assert_allclose(*pair, rtol=1e-6, atol=1e-6)
        print(f"{title}: {name} {there_ms:.1f} ms on the device, {here_ms:.0f} ms on the host")
        totals = [totals[0] + there_ms, totals[1] + here_ms]
    print(f"{title}: all of it {totals[0]:.1f} ms on the device, {totals[1]:.0f} ms on the host")


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


if __name__ == "__main__":
    main()

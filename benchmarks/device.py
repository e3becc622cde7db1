"""Counting on a CUDA device, against copying there: `python -m benchmarks.device`.

Needs CuPy and a device, and runs apart from the other benchmarks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from panmatch.labels import _device as device

SIZE, REPEATS = 1024, 9


def main() -> None:
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

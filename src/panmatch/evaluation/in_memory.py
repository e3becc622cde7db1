"""Which images of a case are read into memory, and which stay in their chunks."""

from __future__ import annotations

from typing import Any

from panmatch.errors import OptionError
from panmatch.evaluation.sides import Images
from panmatch.labels import as_labels, bytes_of, fits, in_gigabytes, is_chunked, memory_bytes
from panmatch.scoring import need_voxels
from panmatch.spec import Spec

SMALL_BYTES = 1 << 28  # images that take no more are read once, which is faster than box by box


def load_if_needed(reference: Images, prediction: Images, spec: Spec) -> tuple[Images, Images]:
    """Return both sides with chunked images read into memory where that is needed, or cheap.

    Metrics that look at voxels need whole images. Everything else is counted chunk by chunk, to
    the same result; so small images are read, and large ones are not. Images of Dask stay where
    they live.

    Raises
    ------
    OptionError
        If a metric needs images that take more than a quarter of this machine's memory.
    """
    sides = {"reference": reference, "prediction": prediction}
    chunked = [
        image for side in sides.values() for image in (side.labels, side.parts) if is_chunked(image)
    ]
    size, by_voxels = sum(map(bytes_of, chunked)), need_voxels(spec.metric_objects)
    if chunked and by_voxels and not fits(size):
        raise OptionError(_too_large(by_voxels, size))
    if not chunked or not (by_voxels or (size <= SMALL_BYTES and not any(map(_on_dask, chunked)))):
        return reference, prediction
    loaded = [
        Images(_loaded(side.labels, name), _loaded(side.parts, f"{name}_parts"))
        for name, side in sides.items()
    ]
    return loaded[0], loaded[1]


def _on_dask(image: Any) -> bool:
    return hasattr(image, "__dask_graph__") or bool(getattr(image, "on_dask", False))


def _loaded(image: Any, name: str) -> Any:
    return as_labels(image, name) if is_chunked(image) else image


def _too_large(metrics: list[str], size: int) -> str:
    return (
        f"metrics: {', '.join(metrics)} need whole images in memory, but these take "
        f"{in_gigabytes(size)}, more than a quarter of this machine's "
        f"{in_gigabytes(memory_bytes())}. Leave them out of the spec: what is made of counts, "
        f"centres and boxes, such as iou, dice, precision and recall, goes chunk by chunk."
    )

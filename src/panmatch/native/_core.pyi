from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.uint8]
Course = tuple[Ints, Floats, Floats]

def joint_counts(arrays: Sequence[npt.NDArray[Any]], threads: int) -> tuple[Ints, Ints]: ...
def paint_numbers(
    out: npt.NDArray[Any],
    arrays: Sequence[npt.NDArray[Any]],
    keys: Ints,
    numbers: Ints,
    threads: int,
) -> None: ...
def segment_geometry(labels: npt.NDArray[Any], threads: int) -> tuple[Ints, Ints]: ...
def edge_distances(
    labels: npt.NDArray[Any],
    steps: Floats,
    unit: tuple[float, float],
    border: bool,
    out: npt.NDArray[Any],
    threads: int,
) -> None: ...
def distances_fit_float(shape: Sequence[int], steps: Floats) -> bool: ...
def nearest_labels(
    regions: npt.NDArray[Any], weights: Floats, where: Mask | None, threads: int
) -> None: ...
def number_components(
    numbers: npt.NDArray[Any], mask: Mask, steps: Sequence[int], count: int, threads: int
) -> None: ...
def label_components(labels: npt.NDArray[Any], reach: int) -> npt.NDArray[np.uint32]: ...
def nearest_where(
    regions: npt.NDArray[Any], weights: Floats, where: Mask, threads: int
) -> tuple[npt.NDArray[Any], Floats]: ...
def nearest_sites(
    sites: npt.NDArray[Any],
    offset: Sequence[int],
    weights: Floats,
    labels: npt.NDArray[Any],
    squares: Floats,
    threads: int,
) -> None: ...
def surface_distances(
    reference: npt.NDArray[Any],
    prediction: npt.NDArray[Any],
    ref_label: Ints,
    pred_first: Ints,
    pred_label: Ints,
    box: Ints,
    steps: Floats,
    unit: tuple[float, float],
    threads: int,
) -> tuple[tuple[Floats, Ints], tuple[Floats, Ints]]: ...
def inflate(data: npt.NDArray[np.uint8], out: npt.NDArray[np.uint8]) -> tuple[int, int]: ...
def png_pixels(data: npt.NDArray[np.uint8], pixel_bytes: int, out: npt.NDArray[Any]) -> bool: ...
def label_graph(ref: Ints, pred: Ints, counts: Ints) -> Ints: ...
def graph_components(start: Ints, stop: Ints, n: int) -> Ints: ...
def assign(ref: Ints, pred: Ints, weight: Ints, n_ref: int, n_pred: int) -> Mask: ...
def assign_sweep(
    ref: Ints, pred: Ints, weight: Ints, score: Floats, n_ref: int, n_pred: int
) -> Course: ...
def cover(
    ref: Ints,
    pred: Ints,
    quality: Floats,
    score: Floats,
    counted: Mask,
    n_ref: int,
    exclusive: bool,
) -> tuple[Mask, int]: ...
def cover_sweep(
    ref: Ints,
    pred: Ints,
    quality: Floats,
    score: Floats,
    counted: Mask,
    n_ref: int,
    exclusive: bool,
) -> Course: ...
def merge(
    ref: Ints,
    pred: Ints,
    intersection: Floats,
    ref_size: Floats,
    pred_size: Floats,
    seedable: int,
    grow: bool,
) -> Mask: ...
def merge_sweep(
    ref: Ints,
    pred: Ints,
    intersection: Floats,
    ref_size: Floats,
    pred_size: Floats,
    score: Floats,
) -> Course: ...
def grouped_cumsum(group: Ints, values: Floats) -> Floats: ...
def pack(
    ref: Ints,
    pred: Ints,
    intersection: Floats,
    excess: Floats,
    counted: Mask,
    passes: Mask,
    ref_size: Floats,
    n_pred: int,
    chosen: Mask,
    pred_price: Floats,
    price: float,
    nodes: int,
    nodes_per_component: int,
    price_rounds: int,
    table: int,
    columns: int,
    seconds: float,
) -> tuple[Ints, float, float, int, Floats, Mask, Ints, Floats, Ints, Ints, float, float]: ...
def improve(
    ref: Ints,
    pred: Ints,
    intersection: Floats,
    excess: Floats,
    counted: Mask,
    passes: Mask,
    ref_size: Floats,
    n_pred: int,
    chosen: Mask,
    active: Mask,
    price: float,
    kicks: int,
    seconds: float,
) -> Mask: ...

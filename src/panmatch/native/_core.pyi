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
def mark_objects(mask: npt.NDArray[Any], labels: npt.NDArray[Any], threads: int) -> bool: ...
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
    labels: npt.NDArray[Any],
    regions: npt.NDArray[Any],
    weights: Floats,
    where: Mask | None,
    threads: int,
) -> None: ...
def number_components(
    numbers: npt.NDArray[Any], mask: Mask, steps: Sequence[int], count: int, threads: int
) -> None: ...
def label_components(
    labels: npt.NDArray[Any], reach: int, out: npt.NDArray[np.uint32], threads: int
) -> int: ...
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
    pieces: bool,
    nodes: int,
    nodes_per_component: int,
    price_rounds: int,
    table: int,
    columns: int,
    seconds: float,
) -> tuple[Ints, float, float, int, Floats, Mask, Ints, Floats, Ints, Ints, float, float, Ints]: ...
def pack_parts(
    ref: Ints,
    pred: Ints,
    intersection: Floats,
    excess: Floats,
    ref_size: Floats,
    hits: Floats,
    whole: Floats,
    ref_hits: Floats,
    ref_whole: Floats,
    counted: Mask,
    passes: Mask,
    n_pred: int,
    exclusive: bool,
    chosen: Mask,
    pred_price: Floats,
    price: float,
    nodes: int,
    price_rounds: int,
    seconds: float,
) -> tuple[Mask, float, int, Floats]: ...
def highest_part_qualities(
    ref: Ints,
    pred: Ints,
    intersection: Floats,
    excess: Floats,
    ref_size: Floats,
    hits: Floats,
    whole: Floats,
    ref_hits: Floats,
    ref_whole: Floats,
    counted: Mask,
    passes: Mask,
    n_pred: int,
    exclusive: bool,
    seconds: float,
) -> Floats: ...
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
    pieces: bool,
    kicks: int,
    seconds: float,
) -> Mask: ...
def instance_rows(
    text: npt.NDArray[np.uint8],
) -> tuple[
    Ints,
    Ints,
    Ints,
    Ints,
    Ints,
    Ints,
    Floats,
    Floats,
    Floats,
    npt.NDArray[np.uint8],
    npt.NDArray[np.uint8],
    npt.NDArray[np.uint8],
]: ...
def instance_runs(
    text: npt.NDArray[np.uint8],
    begin: Ints,
    end: Ints,
    written: npt.NDArray[np.uint8],
    size: Ints,
    threads: int,
) -> tuple[Ints, Ints, Ints]: ...
def instance_pairs(
    text_a: npt.NDArray[np.uint8],
    begin_a: Ints,
    end_a: Ints,
    written_a: npt.NDArray[np.uint8],
    size_a: Ints,
    text_b: npt.NDArray[np.uint8],
    begin_b: Ints,
    end_b: Ints,
    written_b: npt.NDArray[np.uint8],
    size_b: Ints,
    rows_a: Ints,
    rows_b: Ints,
    group_a: Ints,
    group_b: Ints,
    length: Ints,
    crowd: npt.NDArray[np.uint8],
    least: float,
    threads: int,
) -> tuple[bool, Ints, Ints, Ints, Ints, Ints]: ...
def text_runs(text: npt.NDArray[np.uint8], first: Ints) -> tuple[Ints, Ints, Ints, Ints]: ...
def length_runs(lengths: Ints, first: Ints) -> tuple[Ints, Ints, Ints, Ints]: ...
def polygon_runs(
    xy: Floats, xy_first: Ints, polygon_first: Ints, height: Ints, width: Ints
) -> tuple[Ints, Ints, Ints]: ...
def run_sizes(first: Ints, start: Ints, stop: Ints) -> Ints: ...
def shared_pairs(
    first_a: Ints,
    start_a: Ints,
    stop_a: Ints,
    first_b: Ints,
    start_b: Ints,
    stop_b: Ints,
    rows_a: Ints,
    rows_b: Ints,
    group_a: Ints,
    group_b: Ints,
    length: Ints,
    crowd: npt.NDArray[np.uint8],
    least: float,
    threads: int,
) -> tuple[Ints, Ints, Ints]: ...
def shared_sets(
    ref_first: Ints,
    ref_start: Ints,
    ref_stop: Ints,
    pred_first: Ints,
    pred_start: Ints,
    pred_stop: Ints,
) -> tuple[Ints, Ints, Ints, Ints]: ...
def ranked_verdicts(
    group_ref: Ints,
    group_pred: Ints,
    pair_ref: Ints,
    pair_pred: Ints,
    pair_iou: Floats,
    crowd: Mask,
    ignored: Mask,
    outside: Mask,
    thresholds: Floats,
    n_ranges: int,
    threads: int,
) -> Mask: ...
def ranked_order(group: Ints, score: Floats) -> Ints: ...
def ranked_precision(
    verdicts: Mask,
    order: Ints,
    first: Ints,
    rank: Ints,
    n_ref: Ints,
    recalls: Floats,
    limits: Ints,
    n_levels: int,
) -> tuple[Floats, Floats]: ...

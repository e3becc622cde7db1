"""Polygons have the pixels that their definition gives, point by point."""

from __future__ import annotations

import numpy as np
import pytest

from panmatch.labels import Ints, read_masks

FINER = 5


def rounded(values: np.ndarray) -> Ints:
    return (values + 0.5).astype(np.int64)


def points(corners: np.ndarray) -> tuple[Ints, Ints]:
    """Return the outline on the finer grid: one point per step of the longer axis of each side."""
    fine = rounded(FINER * corners)
    xs, ys = [], []
    for (x0, y0), (x1, y1) in zip(fine, np.roll(fine, -1, axis=0), strict=True):
        across, down = abs(x1 - x0), abs(y1 - y0)
        back = x0 > x1 if across >= down else y0 > y1
        (fx, fy), (tx, ty) = ((x1, y1), (x0, y0)) if back else ((x0, y0), (x1, y1))
        step = np.arange(max(across, down) + 1)
        if across >= down:
            slope = (ty - fy) / across if across else 0.0
            x, y = fx + step, rounded(fy + slope * step)
        else:
            x, y = rounded(fx + (tx - fx) / down * step), fy + step
        xs.append(x[::-1] if back else x)
        ys.append(y[::-1] if back else y)
    return np.concatenate(xs), np.concatenate(ys)


def pixels(corners: np.ndarray, height: int, width: int) -> Ints:
    """Return the pixels of a polygon, numbered down the columns."""
    x, y = points(corners)
    moved = np.flatnonzero(np.diff(x))
    column = (np.minimum(x[moved], x[moved + 1]) + 0.5) / FINER - 0.5
    row = (np.minimum(y[moved], y[moved + 1]) + 0.5) / FINER - 0.5
    inside = (column == np.floor(column)) & (column >= 0) & (column <= width - 1)
    rows = np.ceil(np.clip(row[inside], 0, height)).astype(np.int64)
    crossing = np.sort(column[inside].astype(np.int64) * height + rows)
    changes = np.zeros(height * width + 1, np.int64)
    np.add.at(changes, crossing, 1)
    return np.flatnonzero(np.cumsum(changes)[:-1] % 2)


def painted(corners: np.ndarray, height: int, width: int) -> Ints:
    masks = read_masks([[corners.ravel().tolist()]], "masks", size=(height, width))
    runs = zip(masks.start.tolist(), masks.stop.tolist(), strict=True)
    return np.concatenate([np.zeros(0, np.int64), *(np.arange(a, b) for a, b in runs)])


@pytest.mark.parametrize("grid", [1, 2, 5, 10, 100])
@pytest.mark.parametrize("reach", [1.0, 3.0, 300.0])
def test_random_polygons(grid: int, reach: float) -> None:
    """Corners on coarse grids meet edges between rows exactly; some sides are very long."""
    rng = np.random.default_rng([grid, int(reach)])
    for _ in range(120 if reach < 100 else 40):
        height, width = rng.integers(1, 60, 2).tolist()
        n = int(rng.integers(3, 12))
        middle, half = np.array([width, height]) / 2, reach * np.array([width, height]) / 2
        corners = middle + half * rng.uniform(-1.2, 1.2, (n, 2))
        corners = np.round(corners * grid) / grid
        found = painted(corners, height, width)
        np.testing.assert_array_equal(found, pixels(corners, height, width))


@pytest.mark.parametrize("shift", [9_000, 70_000])
def test_polygons_far_from_the_origin(shift: int) -> None:
    rng = np.random.default_rng(shift)
    for tall in (False, True):
        size = (shift + 50, 70) if tall else (70, shift + 50)
        corners = rng.uniform(0, 60, (9, 2)).round(1)
        corners[:, 1 if tall else 0] += shift - 20
        np.testing.assert_array_equal(painted(corners, *size), pixels(corners, *size))


def test_an_outline_that_turns_many_times() -> None:
    """A comb: every column is crossed by many sides."""
    teeth = [(2 + 40 * (i % 2), 1 + i) for i in range(40)]
    corners = np.array([*teeth, (60, 40), (60, 0)], np.float64)
    np.testing.assert_array_equal(painted(corners, 45, 64), pixels(corners, 45, 64))

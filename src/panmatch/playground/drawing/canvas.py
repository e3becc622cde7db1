"""The canvas of a scene, its raster, and how much a scene may hold."""

from __future__ import annotations

WIDTH, HEIGHT = 600, 362  # units
SAMPLES = 4  # pixels per unit and axis
COLUMNS, ROWS = WIDTH * SAMPLES, HEIGHT * SAMPLES

FARTHEST = 2000.0  # units: bound of coordinates on either side of 0, and of sizes
MOST_SHAPES = 400  # per side
MOST_STROKE_POINTS = 2_000
MOST_SCENE_POINTS = 20_000  # of all strokes of both sides
MOST_PARTS = 4  # nested copies of a shape

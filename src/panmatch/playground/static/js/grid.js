// Shapes that are drawn or moved lie on a grid of hundredths of a unit, far finer than a pixel of
// the raster, so that links to them stay short.

const STEPS = 100;
const rounded = (value) => Math.round(value * STEPS) / STEPS;

/** The shape with every number on the grid, parts aside. */
export function onGrid(shape) {
  const found = { ...shape };
  for (const key of ["x", "y", "r", "rx", "ry", "angle", "width"]) {
    if (key in found) found[key] = rounded(found[key]);
  }
  if (found.points) found.points = found.points.map((point) => point.map(rounded));
  return found;
}

// Shapes that are drawn or moved lie on a grid of hundredths of a unit, far finer than a pixel of
// the raster, so that links to them stay short.

const STEPS = 100;
const LENGTHS = ["x", "y", "r", "rx", "ry", "angle", "width"];
const rounded = (value) => Math.round(value * STEPS) / STEPS;

function roundedShape(shape) {
  const lengths = LENGTHS.filter((key) => key in shape).map((key) => [key, rounded(shape[key])]);
  const points = shape.points && { points: shape.points.map((point) => point.map(rounded)) };
  return { ...shape, ...Object.fromEntries(lengths), ...points };
}

/** The scene with every shape on the grid that the scene before did not have. */
export function onGrid(scene, before) {
  const known = new Set([...before.reference, ...before.prediction]);
  const placed = (shapes) => shapes.map((shape) => (known.has(shape) ? shape : roundedShape(shape)));
  return { ...scene, reference: placed(scene.reference), prediction: placed(scene.prediction) };
}

// Shapes as plain data: how they move, grow and are hit. Coordinates are units of the scene.

export const WIDTH = 600;
export const HEIGHT = 362;
const SMALLEST = 1;
const FARTHEST = 2000; // what the library accepts
const ANGLE_GAP = 18; // from the end of an ellipse to the handle that turns it
const PLACED = { disc: { r: 40 }, ellipse: { rx: 56, ry: 36 }, stroke: { reach: 40 } };

const within = (value) => Math.min(FARTHEST, Math.max(-FARTHEST, value));
const sized = (value) => Math.min(FARTHEST, Math.max(SMALLEST, value));

const radians = (degrees) => (degrees * Math.PI) / 180;

export function centre(shape) {
  if (shape.kind !== "stroke") return [shape.x, shape.y];
  const xs = shape.points.map((point) => point[0]);
  const ys = shape.points.map((point) => point[1]);
  return [(Math.min(...xs) + Math.max(...xs)) / 2, (Math.min(...ys) + Math.max(...ys)) / 2];
}

export function moved(shape, dx, dy) {
  if (shape.kind === "stroke") {
    return { ...shape, points: shape.points.map(([x, y]) => [within(x + dx), within(y + dy)]) };
  }
  return { ...shape, x: within(shape.x + dx), y: within(shape.y + dy) };
}

export function grown(shape, factor) {
  if (shape.kind === "disc") return { ...shape, r: sized(shape.r * factor) };
  if (shape.kind === "ellipse") return { ...shape, rx: sized(shape.rx * factor), ry: sized(shape.ry * factor) };
  return { ...shape, width: sized(shape.width * factor) };
}

/** Where the handles of a selected shape are: [name, x, y]. For fingers, the one that turns an
 * ellipse is at its far end, away from the others. */
export function handles(shape, forFingers = false) {
  if (shape.kind === "disc") return [["r", shape.x + shape.r, shape.y]];
  if (shape.kind === "ellipse") {
    const [c, s] = [Math.cos(radians(shape.angle)), Math.sin(radians(shape.angle))];
    const reach = (shape.rx + ANGLE_GAP) * (forFingers ? -1 : 1);
    return [
      ["rx", shape.x + shape.rx * c, shape.y + shape.rx * s],
      ["ry", shape.x - shape.ry * s, shape.y + shape.ry * c],
      [forFingers ? "far-angle" : "angle", shape.x + reach * c, shape.y + reach * s],
    ];
  }
  const [x, y] = shape.points[0];
  return [["width", x, y - shape.width / 2]];
}

/** The shape after one of its handles was dragged to (x, y). */
export function pulled(shape, handle, x, y) {
  if (handle === "width") {
    const [px, py] = shape.points[0];
    return { ...shape, width: sized(2 * Math.hypot(x - px, y - py)) };
  }
  const [dx, dy] = [x - shape.x, y - shape.y];
  if (handle === "r") return { ...shape, r: sized(Math.hypot(dx, dy)) };
  if (handle === "angle") return { ...shape, angle: (Math.atan2(dy, dx) * 180) / Math.PI };
  if (handle === "far-angle") return { ...shape, angle: (Math.atan2(-dy, -dx) * 180) / Math.PI };
  const [c, s] = [Math.cos(radians(shape.angle)), Math.sin(radians(shape.angle))];
  const along = handle === "rx" ? dx * c + dy * s : -dx * s + dy * c;
  return { ...shape, [handle]: sized(Math.abs(along)) };
}

/** A new shape drawn from one point to another; null if it would be nothing. */
export function drawn(tool, from, to, width) {
  const r = Math.hypot(to[0] - from[0], to[1] - from[1]);
  if (tool === "disc") return r < 2 ? null : { kind: "disc", x: from[0], y: from[1], r, parts: [] };
  if (tool === "ellipse") {
    const [rx, ry] = [Math.abs(to[0] - from[0]) / 2, Math.abs(to[1] - from[1]) / 2];
    const [x, y] = [(from[0] + to[0]) / 2, (from[1] + to[1]) / 2];
    return Math.min(rx, ry) < 2 ? null : { kind: "ellipse", x, y, rx, ry, angle: 0, parts: [] };
  }
  return { kind: "stroke", points: [from], width, parts: [] };
}

/** A new shape of medium size at a place, as a click or the keyboard puts it. */
export function placed(tool, [x, y], width) {
  const { r, rx, ry, reach } = PLACED[tool];
  if (tool === "disc") return { kind: "disc", x, y, r, parts: [] };
  if (tool === "ellipse") return { kind: "ellipse", x, y, rx, ry, angle: 0, parts: [] };
  return { kind: "stroke", points: [[x - reach, y], [x + reach, y]], width, parts: [] };
}

/** The smallest upright box around a shape: [left, top, right, bottom]. */
export function bounds(shape) {
  if (shape.kind === "stroke") {
    const [xs, ys] = [0, 1].map((axis) => shape.points.map((point) => point[axis]));
    const r = shape.width / 2;
    return [Math.min(...xs) - r, Math.min(...ys) - r, Math.max(...xs) + r, Math.max(...ys) + r];
  }
  const { x, y, rx = shape.r, ry = shape.r, angle = 0 } = shape;
  const [c, s] = [Math.cos(radians(angle)), Math.sin(radians(angle))];
  const [dx, dy] = [Math.hypot(rx * c, ry * s), Math.hypot(rx * s, ry * c)];
  return [x - dx, y - dy, x + dx, y + dy];
}

/** The nested copies of a shape, the whole one first. */
export function nested(shape) {
  const copies = (shape.parts ?? []).map((factor) => {
    if (shape.kind === "disc") return { ...shape, r: shape.r * factor };
    if (shape.kind === "ellipse") return { ...shape, rx: shape.rx * factor, ry: shape.ry * factor };
    return { ...shape, width: shape.width * factor };
  });
  return [shape, ...copies];
}

export function describe(shape) {
  const at = centre(shape).map((value) => value.toFixed(0)).join(", ");
  const sure = (shape.confidence ?? null) === null ? "" : `, confidence ${shape.confidence}`;
  return `${shape.kind} at ${at}${sure}`;
}

// Shapes as plain data: how they move, grow and are hit. Coordinates are units of the scene.

export const WIDTH = 600;
export const HEIGHT = 362;
const SMALLEST = 1;

const radians = (degrees) => (degrees * Math.PI) / 180;

export function centre(shape) {
  if (shape.kind !== "stroke") return [shape.x, shape.y];
  const xs = shape.points.map((point) => point[0]);
  const ys = shape.points.map((point) => point[1]);
  return [(Math.min(...xs) + Math.max(...xs)) / 2, (Math.min(...ys) + Math.max(...ys)) / 2];
}

export function moved(shape, dx, dy) {
  if (shape.kind === "stroke") {
    return { ...shape, points: shape.points.map(([x, y]) => [x + dx, y + dy]) };
  }
  return { ...shape, x: shape.x + dx, y: shape.y + dy };
}

export function grown(shape, factor) {
  if (shape.kind === "disc") return { ...shape, r: Math.max(SMALLEST, shape.r * factor) };
  if (shape.kind === "ellipse") {
    return {
      ...shape,
      rx: Math.max(SMALLEST, shape.rx * factor),
      ry: Math.max(SMALLEST, shape.ry * factor),
    };
  }
  return { ...shape, width: Math.max(SMALLEST, shape.width * factor) };
}

/** Where the handles of a selected shape are: [name, x, y]. */
export function handles(shape) {
  if (shape.kind === "disc") return [["r", shape.x + shape.r, shape.y]];
  if (shape.kind === "ellipse") {
    const [c, s] = [Math.cos(radians(shape.angle)), Math.sin(radians(shape.angle))];
    return [
      ["rx", shape.x + shape.rx * c, shape.y + shape.rx * s],
      ["ry", shape.x - shape.ry * s, shape.y + shape.ry * c],
      ["angle", shape.x + (shape.rx + 18) * c, shape.y + (shape.rx + 18) * s],
    ];
  }
  const [x, y] = shape.points[0];
  return [["width", x, y - shape.width / 2]];
}

/** The shape after one of its handles was dragged to (x, y). */
export function pulled(shape, handle, x, y) {
  if (handle === "width") {
    const [px, py] = shape.points[0];
    return { ...shape, width: Math.max(SMALLEST, 2 * Math.hypot(x - px, y - py)) };
  }
  const [dx, dy] = [x - shape.x, y - shape.y];
  if (handle === "r") return { ...shape, r: Math.max(SMALLEST, Math.hypot(dx, dy)) };
  if (handle === "angle") return { ...shape, angle: (Math.atan2(dy, dx) * 180) / Math.PI };
  const [c, s] = [Math.cos(radians(shape.angle)), Math.sin(radians(shape.angle))];
  const along = handle === "rx" ? dx * c + dy * s : -dx * s + dy * c;
  return { ...shape, [handle]: Math.max(SMALLEST, Math.abs(along)) };
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
  return `${shape.kind} at ${at}`;
}

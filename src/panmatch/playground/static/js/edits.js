// Changes of a scene as pure functions. A selection is a list of {side, at}.

import { HEIGHT, moved, WIDTH } from "./geometry.js";

export const SIDES = ["reference", "prediction"];
export const EMPTY = { reference: [], prediction: [], width: WIDTH, height: HEIGHT };
const OTHER = { reference: "prediction", prediction: "reference" };

/** Positions of one side in a selection, rising. */
const places = (selection, side) =>
  selection.filter((one) => one.side === side).map(({ at }) => at).toSorted((a, b) => a - b);

/** A scene with both sides replaced by what `make` makes of them. */
const remade = (scene, make) => ({ ...scene, ...Object.fromEntries(SIDES.map((side) => [side, make(scene[side], side)])) });

export const replaced = (scene, { side, at }, shape) => ({ ...scene, [side]: scene[side].with(at, shape) });

export function changed(scene, selection, how) {
  return remade(scene, (shapes, side) => {
    const chosen = new Set(places(selection, side));
    return chosen.size ? shapes.map((shape, at) => (chosen.has(at) ? how(shape) : shape)) : shapes;
  });
}

export function without(scene, selection) {
  return remade(scene, (shapes, side) => {
    const gone = new Set(places(selection, side));
    return gone.size ? shapes.filter((_, at) => !gone.has(at)) : shapes;
  });
}

/** The shape that follows when some are deleted: the next of the side, or else the nearest left. */
export function follower(scene, selection) {
  const { side, at } = selection.at(-1);
  const before = places(selection, side).filter((place) => place < at).length;
  const left = without(scene, selection);
  for (const where of [side, OTHER[side]]) {
    const { length } = left[where];
    if (length) return { side: where, at: where === side ? Math.min(at - before, length - 1) : 0 };
  }
  return null;
}

/** The scene with copies of some shapes, which are selected. */
export function duplicated(scene, selection, dx, dy) {
  const copies = (side) => places(selection, side).map((at) => moved(scene[side][at], dx, dy));
  return {
    scene: remade(scene, (shapes, side) => [...shapes, ...copies(side)]),
    selection: SIDES.flatMap((side) => copies(side).map((_, at) => ({ side, at: scene[side].length + at }))),
  };
}

/** The scene with some shapes above all others of their side, or below; they keep their order. */
export function ordered(scene, selection, end) {
  const moves = Object.fromEntries(SIDES.map((side) => [side, places(selection, side)]));
  const picked = (side) => moves[side].map((at) => scene[side][at]);
  const others = (side) => scene[side].filter((_, at) => !moves[side].includes(at));
  const first = (side) => (end === "front" ? scene[side].length - moves[side].length : 0);
  return {
    scene: remade(scene, (_, side) => (end === "front" ? [...others(side), ...picked(side)] : [...picked(side), ...others(side)])),
    selection: SIDES.flatMap((side) => moves[side].map((_, at) => ({ side, at: first(side) + at }))),
  };
}

/** The scene with references and predictions exchanged. */
export function swapped(scene, selection) {
  return {
    scene: { ...scene, reference: scene.prediction, prediction: scene.reference },
    selection: selection.map(({ side, at }) => ({ side: OTHER[side], at })),
  };
}

/** Every shape of a scene, or of one side. */
export const everything = (scene, side = null) =>
  (side ? [side] : SIDES).flatMap((one) => scene[one].map((_, at) => ({ side: one, at })));

/** Why a scene would be too large; empty if it is not. */
export function excess(scene, limits) {
  if (SIDES.some((side) => scene[side].length > limits.shapes)) return `Each side can have at most ${limits.shapes} objects.`;
  const points = SIDES.flatMap((side) => scene[side]).reduce((sum, shape) => sum + (shape.points?.length ?? 0), 0);
  return points > limits.scene_points ? "There is no room for more brush strokes in this scene." : "";
}

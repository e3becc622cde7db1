// The address of the page describes everything that it shows. `_short_links.py` explains the format
// and reads it; what is written here is the same, letter for letter.

const STEPS = 100; // of a unit: numbers on this grid are short
const LARGEST = 1e12; // steps; more are written in decimal digits
const FLAGS = ["regions", "parts", "voronoi", "grid"];

let known = { hosted: "", defaults: {} };

/** Take over what the engine says about links. */
export const learn = (links) => (known = links);

/** Where links open without a server. */
export const hosted = () => known.hosted;

function number(value) {
  const steps = Math.floor(value * STEPS + 0.5);
  if (steps / STEPS === value && Math.abs(steps) < LARGEST) return steps === 0 ? "0" : steps.toString(36);
  return `~${value}`.replace("e+", "e"); // in some places a plus sign is read as a space
}

const numbers = (values) => values.map(number).join("_");

function shapeText(shape) {
  const parts = shape.parts?.length ? `P${numbers(shape.parts)}` : "";
  const more = parts + ((shape.confidence ?? null) === null ? "" : `C${number(shape.confidence)}`);
  if (shape.kind === "disc") return numbers([shape.x, shape.y, shape.r]) + more;
  if (shape.kind === "ellipse") return `E${numbers([shape.x, shape.y, shape.rx, shape.ry, shape.angle])}${more}`;
  return `S${numbers([shape.width, ...shape.points.flat()])}${more}`;
}

function settingText(key, value) {
  if (FLAGS.includes(key)) return key;
  if (Array.isArray(value)) return `${key}=${value.join("_").replaceAll("/", ".")}`;
  if (typeof value === "number") return `${key}=${value}`.replace("e+", "e");
  return `${key}=${String(value).replaceAll("/", ".")}`;
}

function viewText(view) {
  const differs = ([key, normal]) => JSON.stringify(view[key]) !== JSON.stringify(normal);
  return Object.entries(known.defaults).filter(differs).map(([key]) => settingText(key, view[key])).join(",");
}

/** The link of a state: "#" and short text. */
export function encode({ scene, view }) {
  if (!scene) return `#1:${viewText(view)}`;
  const [reference, prediction] = [scene.reference, scene.prediction].map((shapes) => shapes.map(shapeText).join(","));
  return `#1:${reference}:${prediction}:${viewText(view)}`;
}

/** What the address of the moment says, for the engine to read; empty if it says nothing. */
export const current = () => location.search + location.hash;

/** Make the address say what is shown, as a new step of the browser's history or as the last one.
 * The step also knows which preset the scene was made from. */
export function push(state, preset = null, { joined = false } = {}) {
  const link = encode(state);
  if (!location.search && location.hash === link) return;
  history[joined ? "replaceState" : "pushState"]({ preset }, "", `${location.pathname}${link}`);
}

/** The preset that the scene of this address was made from, where the browser knows it. */
export const preset = () => history.state?.preset ?? null;

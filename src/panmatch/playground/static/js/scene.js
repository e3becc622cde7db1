// The scene: shapes of both sides, drawn as they cover each other, with what is selected.

import { belowCut } from "./confidence.js";
import { find, svg, whenResized } from "./dom.js";
import { SIDES } from "./edits.js";
import { centre, describe, handles, HEIGHT, nested, WIDTH } from "./geometry.js";
import { drawMatches, Painting } from "./overlays.js";
import { short } from "./wording.js";

const MOST_NAMES = 60;
const NAME_SHIFTS = [0, 13, -13, 26, -26];
const MOST_ENLARGED = 1.8; // of names where the scene is drawn small, as on phones
const GRIP = { touch: 22.5, mouse: 9 }; // pixels around a handle that belong to it
const INWARD = 0.5; // of the way from a handle to the centre, the most that a finger's grip covers

export class Scene {
  constructor(store) {
    this.store = store;
    this.drawn = { reference: [], prediction: [] };
    this.fates = { reference: new Map(), prediction: new Map() }; // of objects that are seen
    this.voronoi = null;
    this.edges = []; // [reference, prediction] of every match, by position
    this.withMatches = true;
    this.isBelow = () => false; // whether a shape of a side is below the cut
    this.pointer = "mouse";
    this.scale = 1; // pixels per unit
    this.enlarged = 1; // how much larger names are in units, so that they stay readable
    this.root = find("#scene");
    this.root.setAttribute("viewBox", `0 0 ${WIDTH} ${HEIGHT}`);
    this.layers = Object.fromEntries(
      ["voronoi", ...SIDES, "matches", "names", "marks"].map((name) => [name, svg("g", { class: `layer ${name}` })]),
    );
    const { voronoi, reference, prediction, matches, names, marks } = this.layers;
    const objects = svg("g", { class: "objects" }, reference, prediction);
    this.root.append(svg("rect", { class: "ground", width: WIDTH, height: HEIGHT }), objects, voronoi, matches, names, marks);
    this.painting = new Painting(this.root);
    whenResized(this.root, (width) => {
      this.scale = width / WIDTH || 1;
      this.enlarged = Math.min(MOST_ENLARGED, Math.max(1, 1 / this.scale));
      this.root.style.setProperty("--enlarged", this.enlarged);
      if (!store.state?.scene) return;
      this.drawNames();
      this.drawMarks();
    });
  }

  draw() {
    const { scene, view } = this.store.state;
    if (!scene) return;
    this.isBelow = belowCut(this.store.state);
    const focused = document.activeElement;
    for (const side of SIDES) this.drawSide(side, scene[side], view.parts);
    if (focused.closest(".shape") && !focused.isConnected) this.refocus(focused.dataset);
    this.painting.show(view);
    this.drawNames();
    this.drawMatches();
    this.drawMarks();
  }

  /** Draw what has changed: a shape that is the same object as before looks the same. */
  drawSide(side, shapes, withParts) {
    const before = this.drawn[side];
    const same = (one, at) => before[at]?.shape === one && before[at].withParts === withParts;
    this.drawn[side] = shapes.map((shape, at) =>
      same(shape, at) ? before[at] : { shape, withParts, element: this.element(side, shape, at, withParts) },
    );
    const { children } = this.layers[side];
    this.drawn[side].forEach(({ element }, at) => {
      if (children[at] === element) return;
      if (at < children.length) children[at].replaceWith(element);
      else this.layers[side].append(element);
    });
    while (children.length > shapes.length) children[shapes.length].remove();
    this.drawn[side].forEach(({ element }, at) => this.dress(element, side, at));
  }

  /** Show whether an object is selected, and what became of it. */
  dress(element, side, at) {
    const selected = this.store.isSelected({ side, at });
    const below = this.isBelow(side, this.drawn[side][at].shape);
    const names = `shape ${selected ? "selected" : ""} ${below ? "below" : (this.fates[side].get(at + 1) ?? "")}`;
    if (element.dressed === names) return;
    element.setAttribute("class", (element.dressed = names));
    element.setAttribute("aria-label", `${element.called}${below ? ", below the cut" : ""}`);
    element.setAttribute("aria-pressed", selected);
  }

  element(side, shape, at, withParts) {
    const copies = withParts ? nested(shape) : [shape];
    const called = `${side} ${at + 1}, ${describe(shape)}`;
    const element = svg(
      "g",
      {
        class: "shape",
        tabindex: 0,
        role: "button",
        "aria-label": called,
        [side === "reference" ? "data-r" : "data-p"]: at + 1,
        "data-side": side,
        "data-at": at,
      },
      copies.map((copy, part) => outline(copy, `part part-${part + 1}`)),
    );
    return Object.assign(element, { called });
  }

  drawNames() {
    const { scene } = this.store.state;
    const crowded = scene.reference.length + scene.prediction.length > MOST_NAMES;
    const taken = [];
    const names = crowded ? [] : SIDES.flatMap((side) => scene[side].map((shape, at) => ({ side, at, below: this.isBelow(side, shape), place: freePlace(...centre(shape), taken, this.enlarged) })));
    const { children } = this.layers.names;
    while (children.length > names.length) children[names.length].remove();
    while (children.length < names.length) this.layers.names.append(svg("text"));
    names.forEach(({ side, at, below, place }, index) => placeName(children[index], { side, id: at + 1, below }, place, this.enlarged));
  }

  drawMatches() {
    const scene = this.store.state?.scene;
    if (scene) drawMatches(this.layers.matches, scene, this.withMatches ? this.edges : []);
  }

  /** Rings around what is selected; a single shape has handles. */
  drawMarks() {
    const selected = this.store.selection.filter((one) => this.store.shape(one));
    const rings = selected.map((one) => outline(this.store.shape(one), `ring ${one.side}`));
    const single = selected.length === 1 ? this.handles(this.store.shape(selected[0])) : [];
    const band = this.band ? [svg("rect", { class: "band", ...this.band })] : [];
    this.layers.marks.replaceChildren(...rings, ...single, ...band);
  }

  /** Handles, each with an invisible grip around it that a pointer can hit. */
  handles(shape) {
    const touch = this.pointer === "touch";
    const r = GRIP[touch ? "touch" : "mouse"] / this.scale;
    const all = handles(shape, touch);
    const grips = all.map(([name, x, y]) => {
      const [cx, cy] = touch ? outward(centre(shape), [x, y], r) : [x, y];
      return svg("circle", { class: `grip ${name}`, cx, cy, r, "data-handle": name }, svg("title", {}, HANDLE_TITLES[name]));
    });
    return [...grips, ...all.map(([name, x, y]) => svg("circle", { class: `handle ${name}`, cx: x, cy: y, r: 5 }))];
  }

  /** Take over which objects were matched, without building everything again. */
  take(numbers) {
    if (!this.store.state.scene) return;
    for (const side of SIDES) {
      this.fates[side] = new Map(numbers.vertices[side].map(({ id, state }) => [id, state]));
      this.drawn[side].forEach(({ element }, at) => this.dress(element, side, at));
    }
    if (numbers.voronoi?.bits !== this.voronoi?.bits) this.drawVoronoi(numbers.voronoi);
    this.voronoi = numbers.voronoi;
    const { vertices } = numbers;
    this.edges = numbers.edges.filter((edge) => edge.at(-1)).map(([ref, pred]) => [vertices.reference[ref].id - 1, vertices.prediction[pred].id - 1]);
    this.drawMatches();
    this.painting.take(numbers.picture, this.store.state.view);
  }

  drawVoronoi(borders) {
    const image = borders && borderImage(borders);
    this.layers.voronoi.replaceChildren(
      ...(image ? [svg("image", { href: image, width: WIDTH, height: HEIGHT })] : []),
    );
  }

  /** A shape with the focus was drawn anew, or is gone: the focus stays in the scene. */
  refocus({ side, at }) {
    const again = this.layers[side].children[at];
    if (again && this.store.isSelected({ side, at: Number(at) })) again.focus({ preventScroll: true });
    else this.focusSelected();
  }

  focusSelected() {
    const { selected } = this.store;
    const element = selected && this.layers[selected.side].children[selected.at];
    (element ?? this.root).focus({ preventScroll: true });
  }
}

const HANDLE_TITLES = {
  r: "Drag to change the radius",
  rx: "Drag to change this half-axis",
  ry: "Drag to change this half-axis",
  angle: "Drag to turn",
  "far-angle": "Drag to turn",
  width: "Drag to change the width of the brush",
};

/** Where a finger's grip of a handle is: so far outward that the middle of a small shape is free, but
 * on the canvas if the handle is. */
function outward([cx, cy], [x, y], r) {
  const length = Math.hypot(x - cx, y - cy) || 1;
  const shift = Math.max(0, r - INWARD * length) / length;
  const moved = [x + shift * (x - cx), y + shift * (y - cy)];
  if (x < 0 || y < 0 || x > WIDTH || y > HEIGHT) return moved;
  return moved.map((value, axis) => Math.min([WIDTH, HEIGHT][axis] - r, Math.max(r, value)));
}

/** The place nearest to the centre of an object where no other name is written. */
function freePlace(x, y, taken, enlarged) {
  const free = (height) => taken.every(([tx, ty]) => Math.abs(tx - x) > 20 * enlarged || Math.abs(ty - height) >= 13 * enlarged);
  const height = NAME_SHIFTS.map((shift) => y + shift * enlarged).find(free) ?? y;
  taken.push([x, height]);
  return [x, height];
}

function placeName(text, { side, id, below }, [x, y], enlarged) {
  const where = `${side} ${id} ${below} ${x} ${y} ${enlarged}`;
  if (text.where === where) return;
  text.where = where;
  text.setAttribute("class", `name ${side}${below ? " below" : ""}`);
  text.setAttribute("x", x);
  text.setAttribute("y", y + 4 * enlarged);
  text.removeAttribute(side === "reference" ? "data-p" : "data-r");
  text.setAttribute(side === "reference" ? "data-r" : "data-p", id);
  text.textContent = short(side, id);
}

export function outline(shape, names) {
  if (shape.kind === "disc") return svg("circle", { class: names, cx: shape.x, cy: shape.y, r: shape.r });
  if (shape.kind === "ellipse") {
    const { x, y, rx, ry, angle } = shape;
    return svg("ellipse", { class: names, cx: x, cy: y, rx, ry, transform: `rotate(${angle} ${x} ${y})` });
  }
  const points = shape.points.length > 1 ? shape.points : [shape.points[0], shape.points[0]];
  const line = svg("polyline", { class: `${names} brush`, points: points.map((point) => point.join(",")).join(" ") });
  line.style.strokeWidth = shape.width;
  return line;
}

/** Borders of Voronoi regions, as a picture with a transparent ground. */
function borderImage({ width, height, bits }) {
  const packed = Uint8Array.from(atob(bits), (letter) => letter.charCodeAt(0));
  const canvas = document.createElement("canvas");
  Object.assign(canvas, { width, height });
  const context = canvas.getContext("2d");
  const picture = context.createImageData(width, height);
  const pixels = new Uint32Array(picture.data.buffer);
  for (let at = 0; at < width * height; at += 1) {
    if (packed[at >> 3] & (128 >> (at & 7))) pixels[at] = 0xff8a7a6b;
  }
  context.putImageData(picture, 0, 0);
  return canvas.toDataURL();
}

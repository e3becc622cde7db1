// The scene: shapes of both sides, drawn as they cover each other, and edited in place.

import { find, svg } from "./dom.js";
import { centre, describe, drawn, grown, handles, HEIGHT, moved, nested, pulled, WIDTH } from "./geometry.js";
import { short } from "./wording.js";

const SIDES = ["reference", "prediction"];
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const MOST_NAMES = 60;
const NAME_SHIFTS = [0, 13, -13, 26, -26];
const BRUSH_WIDTH = 18;
const BRUSH_STEP = 2.5; // units between two points of a stroke

export class Scene {
  constructor(store, limits) {
    this.store = store;
    this.limits = limits;
    this.tool = "select";
    this.side = "prediction"; // of new shapes
    this.drawn = { reference: [], prediction: [] };
    this.fates = { reference: new Map(), prediction: new Map() }; // of objects that are seen
    this.voronoi = null;
    this.gesture = null;
    this.root = find("#scene");
    this.root.setAttribute("viewBox", `0 0 ${WIDTH} ${HEIGHT}`);
    this.layers = Object.fromEntries(
      ["voronoi", ...SIDES, "names", "marks"].map((name) => [name, svg("g", { class: `layer ${name}` })]),
    );
    const { voronoi, reference, prediction, names, marks } = this.layers;
    const objects = svg("g", { class: "objects" }, reference, prediction);
    this.root.append(svg("rect", { class: "ground", width: WIDTH, height: HEIGHT }), objects, voronoi, names, marks);
    this.root.addEventListener("pointerdown", (event) => this.press(event));
    this.root.addEventListener("pointermove", (event) => this.drag(event));
    this.root.addEventListener("pointerup", () => this.release());
    this.root.addEventListener("pointercancel", () => this.abandon());
    this.root.addEventListener("pointerleave", () => this.store.point(null));
    this.root.addEventListener("wheel", (event) => this.scroll(event), { passive: false });
    this.root.addEventListener("keydown", (event) => this.key(event));
    this.box = null; // where the scene is on the page, during a gesture
  }

  draw() {
    const { scene, view } = this.store.state;
    if (!scene) return;
    for (const side of SIDES) {
      const focused = this.layers[side].contains(document.activeElement);
      this.drawSide(side, scene[side], view.parts);
      if (focused) this.focusSelected();
    }
    this.drawNames();
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
    const names = `shape ${this.isSelected(side, at) ? "selected" : ""} ${this.fates[side].get(at + 1) ?? ""}`;
    if (element.dressed !== names) element.setAttribute("class", (element.dressed = names));
  }

  element(side, shape, at, withParts) {
    const copies = withParts ? nested(shape) : [shape];
    return svg(
      "g",
      {
        class: "shape",
        tabindex: 0,
        role: "button",
        "aria-label": `${side} ${at + 1}, ${describe(shape)}`,
        [side === "reference" ? "data-r" : "data-p"]: at + 1,
        "data-side": side,
        "data-at": at,
        onfocus: (event) => {
          // Only the keyboard's: a pointer selects when it is pressed.
          if (event.target.matches(":focus-visible") && !this.isSelected(side, at)) this.store.select({ side, at });
        },
      },
      copies.map((copy, part) => outline(copy, `part part-${part + 1}`)),
    );
  }

  drawNames() {
    const { scene } = this.store.state;
    const crowded = scene.reference.length + scene.prediction.length > MOST_NAMES;
    const taken = [];
    const names = crowded ? [] : SIDES.flatMap((side) => scene[side].map((shape, at) => ({ side, at, place: freePlace(...centre(shape), taken) })));
    const { children } = this.layers.names;
    while (children.length > names.length) children[names.length].remove();
    while (children.length < names.length) this.layers.names.append(svg("text"));
    names.forEach(({ side, at, place }, index) => placeName(children[index], side, at + 1, place));
  }

  drawMarks() {
    const { selected } = this.store;
    const shape = selected && this.store.shape(selected);
    if (!shape) return this.layers.marks.replaceChildren();
    this.layers.marks.replaceChildren(
      outline(shape, `ring ${selected.side}`),
      ...handles(shape).map(([name, x, y]) =>
        svg("circle", { class: `handle ${name}`, cx: x, cy: y, r: 5, "data-handle": name },
          svg("title", {}, HANDLE_TITLES[name])),
      ),
    );
  }

  /** Take over which objects were matched, without building everything again. */
  take(numbers) {
    for (const side of SIDES) {
      this.fates[side] = new Map(numbers.vertices[side].map(({ id, state }) => [id, state]));
      this.drawn[side].forEach(({ element }, at) => this.dress(element, side, at));
    }
    if (numbers.voronoi?.bits !== this.voronoi?.bits) this.drawVoronoi(numbers.voronoi);
    this.voronoi = numbers.voronoi;
  }

  drawVoronoi(borders) {
    const image = borders && borderImage(borders);
    this.layers.voronoi.replaceChildren(
      ...(image ? [svg("image", { href: image, width: WIDTH, height: HEIGHT })] : []),
    );
  }

  isSelected(side, at) {
    return this.store.selected?.side === side && this.store.selected.at === at;
  }

  focusSelected() {
    const { selected } = this.store;
    if (selected) this.layers[selected.side].children[selected.at]?.focus({ preventScroll: true });
  }

  place(event) {
    const box = this.box ?? this.root.getBoundingClientRect();
    return [((event.clientX - box.left) / box.width) * WIDTH, ((event.clientY - box.top) / box.height) * HEIGHT];
  }

  press(event) {
    if (event.button !== 0) return;
    this.box = this.root.getBoundingClientRect();
    this.store.point(null);
    const at = this.place(event);
    const { handle } = event.target.dataset;
    const shape = event.target.closest(".shape");
    this.root.setPointerCapture(event.pointerId);
    event.preventDefault();
    this.root.focus({ preventScroll: true });
    if (handle) this.gesture = { kind: "pull", handle };
    else if (this.tool !== "select") this.begin(at);
    else if (shape) this.pick(shape.dataset, at);
    else this.store.select(null);
  }

  pick({ side, at }, from) {
    this.store.select({ side, at: Number(at) });
    this.gesture = { kind: "move", from, shape: this.store.shape(this.store.selected) };
  }

  begin(from) {
    const { scene } = this.store.state;
    if (scene[this.side].length >= this.limits.shapes) return;
    this.gesture = { kind: "draw", from, added: false };
    if (this.tool === "stroke") this.grow(from);
  }

  drag(event) {
    if (!this.gesture) return this.hover(event.target);
    const at = this.place(event);
    const { kind, from, shape, handle } = this.gesture;
    const { selected } = this.store;
    if (kind === "move") {
      this.store.replace(selected, moved(shape, at[0] - from[0], at[1] - from[1]), { final: false });
    } else if (kind === "pull") {
      this.store.replace(selected, pulled(this.store.shape(selected), handle, ...at), { final: false });
    } else {
      this.grow(at);
    }
  }

  /** Draw on: a new disc or ellipse reaches to here, a stroke gets one more point. */
  grow(at) {
    const { gesture } = this;
    if (this.tool === "stroke" && gesture.added) {
      const stroke = this.store.shape(this.store.selected);
      const last = stroke.points.at(-1);
      const full = stroke.points.length >= this.limits.stroke_points;
      if (full || Math.hypot(at[0] - last[0], at[1] - last[1]) < BRUSH_STEP) return;
      const points = [...stroke.points, at];
      return this.store.replace(this.store.selected, { ...stroke, points }, { final: false });
    }
    const shape = drawn(this.tool, gesture.from, at, BRUSH_WIDTH);
    if (!shape) return;
    if (gesture.added) this.store.replace(this.store.selected, shape, { final: false });
    else this.store.add(this.side, shape, { final: false });
    gesture.added = true;
  }

  release() {
    this.gesture = this.box = null;
    this.store.commit();
  }

  abandon() {
    this.gesture = this.box = null;
    this.store.cancel();
  }

  hover(target) {
    const shape = target.closest?.(".shape");
    this.store.point(
      shape ? { side: shape.dataset.side, id: Number(shape.dataset.at) + 1 } : null,
    );
  }

  scroll(event) {
    const { selected } = this.store;
    if (!selected || !event.target.closest(".shape.selected, .handle")) return;
    event.preventDefault();
    this.change((shape) => grown(shape, event.deltaY < 0 ? 1.04 : 1 / 1.04));
  }

  change(how) {
    this.store.replace(this.store.selected, how(this.store.shape(this.store.selected)));
  }

  key(event) {
    const { selected } = this.store;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape") {
      if (this.gesture) this.abandon();
      else this.store.select(null);
    } else if (!selected) return;
    else if (event.key in ARROWS) {
      const step = event.shiftKey ? 10 : 1;
      const [dx, dy] = ARROWS[event.key];
      this.change((shape) => moved(shape, step * dx, step * dy));
    } else if (event.key === "Delete" || event.key === "Backspace") this.store.remove(selected);
    else if (event.key === "+" || event.key === "=") this.change((shape) => grown(shape, 1.05));
    else if (event.key === "-") this.change((shape) => grown(shape, 1 / 1.05));
    else if (event.key === "d") this.store.add(selected.side, moved(this.store.shape(selected), 12, 12));
    else return;
    event.preventDefault();
  }
}

const HANDLE_TITLES = {
  r: "Drag to change the radius",
  rx: "Drag to change this half-axis",
  ry: "Drag to change this half-axis",
  angle: "Drag to turn",
  width: "Drag to change the width of the brush",
};

/** The place nearest to the centre of an object where no other name is written. */
function freePlace(x, y, taken) {
  const free = (height) => taken.every(([tx, ty]) => Math.abs(tx - x) > 20 || Math.abs(ty - height) >= 13);
  const height = NAME_SHIFTS.map((shift) => y + shift).find(free) ?? y;
  taken.push([x, height]);
  return [x, height];
}

function placeName(text, side, id, [x, y]) {
  const where = `${side} ${id} ${x} ${y}`;
  if (text.where === where) return;
  text.where = where;
  text.setAttribute("class", `name ${side}`);
  text.setAttribute("x", x);
  text.setAttribute("y", y + 4);
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

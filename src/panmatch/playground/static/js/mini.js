// A small picture of a scene, with lines between objects that belong together.

import { patch, svg } from "./dom.js";
import { centre, HEIGHT, WIDTH } from "./geometry.js";
import { outline } from "./scene.js";
import { short } from "./wording.js";

const SIDES = ["reference", "prediction"];
const MOST_NAMES = 24;

export class Mini {
  constructor(label) {
    this.layers = Object.fromEntries([...SIDES, "lines", "names"].map((name) => [name, svg("g", { class: `layer ${name}` })]));
    const { reference, prediction, lines, names } = this.layers;
    const objects = svg("g", { class: "objects" }, reference, prediction);
    this.root = svg("svg", { class: "mini", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": label },
      svg("rect", { class: "ground", width: WIDTH, height: HEIGHT }), objects, lines, names);
  }

  /** Draw a scene; `lines` are {pair: [ref, pred], kind}, and `matched` names the ids of each side
   * that are drawn as found (all of them if it is left out); what `isBelow` the cut fades. */
  draw(scene, { lines, matched = null, label, isBelow = () => false }) {
    this.shapes = scene;
    for (const side of SIDES) this.drawSide(side, scene[side], matched?.[side], isBelow);
    this.drawNames(scene);
    this.drawLines(lines);
    if (label) this.root.setAttribute("aria-label", label);
  }

  /** Draw what has changed: a shape that is the same object as before looks the same. */
  drawSide(side, shapes, found, isBelow) {
    const [lost, key] = side === "reference" ? ["fn", "data-r"] : ["fp", "data-p"];
    patch(this.layers[side], shapes.map((shape, at) => {
      const state = isBelow(side, shape) ? "below" : !found || found.has(at + 1) ? "" : lost;
      return [`${numberOf(shape)} ${at} ${state}`, () => svg("g", { class: `shape ${state}`, [key]: at + 1 }, outline(shape, "part"))];
    }));
  }

  drawNames(scene) {
    const few = scene.reference.length + scene.prediction.length <= MOST_NAMES;
    patch(this.layers.names, (few ? SIDES : []).flatMap((side) => scene[side].map((shape, at) => {
      const [x, y] = centre(shape);
      const beside = side === "reference" ? -16 : 34;
      return [`${side} ${at} ${x} ${y}`, () => svg("text", { class: `name ${side}`, x, y: y + beside }, short(side, at + 1))];
    })));
  }

  drawLines(lines) {
    this.layers.lines.replaceChildren(...lines.flatMap(({ pair, kind }) => this.line(pair, kind)));
  }

  line([reference, prediction], kind) {
    const ends = [this.shapes.reference[reference - 1], this.shapes.prediction[prediction - 1]];
    if (ends.some((end) => !end)) return [];
    const [[x1, y1], [x2, y2]] = ends.map(centre);
    return [
      svg("line", { class: `halo ${kind}`, x1, y1, x2, y2 }),
      svg("line", { class: `tie ${kind}`, x1, y1, x2, y2 }),
      svg("circle", { class: `end ${kind}`, cx: x1, cy: y1, r: 6 }),
      svg("circle", { class: `end ${kind}`, cx: x2, cy: y2, r: 6 }),
    ];
  }
}

/** A number for every shape: edits make a new one. */
const numbers = new WeakMap();
let given = 0;

function numberOf(shape) {
  if (!numbers.has(shape)) numbers.set(shape, (given += 1));
  return numbers.get(shape);
}

/** Ids of each side that occur in pairs. */
export const matchedIds = (pairs) => ({
  reference: new Set(pairs.map(([reference]) => reference)),
  prediction: new Set(pairs.map(([, prediction]) => prediction)),
});

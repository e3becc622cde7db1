// All IoUs, references × predictions; only pairs that overlap have a cell.

import { patch, svg } from "./dom.js";
import { Picture } from "./picture.js";
import { precise, short } from "./wording.js";

const LARGEST = 44;
const LETTER = 7; // width of one, about
const MOST = 120; // objects of a side
const NARROWEST_WRITTEN = 30; // cell that holds its number
const NARROWEST_NAMED = 13; // column that has a name

export class Matrix extends Picture {
  constructor() {
    super("#matrix", "Matrix of IoU, references by predictions", ["grid", "cells", "names"]);
  }

  draw() {
    const { vertices, edges } = this.numbers;
    const references = vertices.reference.slice(0, MOST);
    const predictions = vertices.prediction.slice(0, MOST);
    const letters = 1 + longestId([...references, ...predictions]);
    const left = LETTER * letters + 8;
    const space = Math.max(this.width, 160) - left - 2;
    const step = Math.min(LARGEST, space / Math.max(predictions.length, 1));
    const tall = Math.min(step, LARGEST * 0.66);
    const named = step >= NARROWEST_NAMED;
    const upright = step < LETTER * letters; // names of columns
    const top = named && upright ? LETTER * letters + 8 : 21;
    const x = (at) => left + at * step;
    const y = (at) => top + at * tall;
    const layout = JSON.stringify([references.length, predictions.length, left, step, tall, top]);
    const cells = edges
      .filter(([ref, pred]) => ref < references.length && pred < predictions.length)
      .map(([ref, pred, ...rest]) => [references[ref].id, predictions[pred].id, x(pred), y(ref), step, tall, ...rest]);
    const names = [
      ...predictions.map(({ id }, at) => ["prediction", id, columnName(x(at) + step / 2, top - 6, upright)]),
      ...references.map(({ id }, at) => ["reference", id, { x: left - 6, y: y(at) + tall / 2 + 4, "text-anchor": "end" }]),
    ];
    patch(this.layers.grid, named ? [[layout, () => grid(references.length, predictions.length, x, y)]] : []);
    patch(this.layers.cells, cells.map((one) => [JSON.stringify(one), () => cell(one)]));
    patch(this.layers.names, (named ? names : []).map((one) => [JSON.stringify(one), () => nameOf(...one)]));
    this.resize(x(predictions.length) + 2, y(references.length) + 2);
  }
}

function cell([r, p, x, y, width, height, intersection, iou, passes, chosen]) {
  const shade = svg("rect", { class: "shade", x: x + 1, y: y + 1, width: width - 2, height: height - 2, rx: 3 });
  shade.style.setProperty("--share", iou);
  return svg("g", { class: `cell ${chosen ? "chosen" : ""} ${passes ? "passes" : ""}`, "data-r": r, "data-p": p },
    shade,
    width < NARROWEST_WRITTEN ? null : svg("text", { x: x + width / 2, y: y + height / 2 + 4, "text-anchor": "middle" }, iou.toFixed(2).replace(/^0/, "")),
    svg("title", {}, `${short("reference", r)} × ${short("prediction", p)}: IoU ${precise(iou)}, intersection ${intersection}`));
}

const nameOf = (side, id, place) =>
  svg("text", { class: side, [side === "reference" ? "data-r" : "data-p"]: id, ...place }, short(side, id));

const longestId = (vertices) => Math.max(1, ...vertices.map(({ id }) => String(id).length));

const columnName = (x, y, upright) =>
  upright ? { transform: `translate(${x + 4} ${y}) rotate(-90)` } : { x, y, "text-anchor": "middle" };

function grid(rows, columns, x, y) {
  const lines = [
    ...Array.from({ length: rows + 1 }, (_, at) => `M${x(0)} ${y(at)}H${x(columns)}`),
    ...Array.from({ length: columns + 1 }, (_, at) => `M${x(at)} ${y(0)}V${y(rows)}`),
  ];
  return svg("path", { class: "gridline", d: lines.join("") });
}

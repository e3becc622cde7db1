// All IoUs, references × predictions; only pairs that overlap have a cell.

import { find, svg, whenResized } from "./dom.js";
import { precise, short } from "./wording.js";

const LARGEST = 44;
const LETTER = 7; // width of one, about
const MOST = 120; // objects of a side

export class Matrix {
  constructor(store) {
    this.store = store;
    this.root = find("#matrix");
    this.width = 0;
    whenResized(this.root, (width) => {
      if (width === this.width) return; // its height follows from what is drawn
      this.width = width;
      this.draw();
    });
  }

  take(numbers) {
    this.numbers = numbers;
    this.draw();
  }

  draw() {
    if (!this.numbers || !this.width) return;
    const { vertices, edges } = this.numbers;
    const references = vertices.reference.slice(0, MOST);
    const predictions = vertices.prediction.slice(0, MOST);
    const letters = 1 + longestId([...references, ...predictions]);
    const left = LETTER * letters + 8;
    const space = Math.max(this.width, 160) - left - 2;
    const step = Math.min(LARGEST, space / Math.max(predictions.length, 1));
    const tall = Math.min(step, LARGEST * 0.66);
    const written = step >= 30;
    const named = step >= 13;
    const upright = step < LETTER * letters; // names of columns
    const top = named && upright ? LETTER * letters + 8 : 21;
    const x = (at) => left + at * step;
    const y = (at) => top + at * tall;
    const [width, height] = [x(predictions.length) + 2, y(references.length) + 2];
    const cells = edges
      .filter(([ref, pred]) => ref < references.length && pred < predictions.length)
      .map((edge) => this.cell(edge, x, y, step, tall, written));
    const names = named
      ? [
          ...predictions.map(({ id }, at) => svg("text", { class: "prediction", "data-p": id, ...columnName(x(at) + step / 2, top - 6, upright) }, short("prediction", id))),
          ...references.map(({ id }, at) => svg("text", { class: "reference", x: left - 6, y: y(at) + tall / 2 + 4, "text-anchor": "end", "data-r": id }, short("reference", id))),
        ]
      : [];
    this.root.replaceChildren(
      svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "Matrix of IoU, references by predictions" },
        grid(references.length, predictions.length, x, y, named),
        cells,
        names),
    );
  }

  cell([ref, pred, intersection, iou, passes, chosen], x, y, step, tall, written) {
    const { reference, prediction } = this.numbers.vertices;
    const keys = { "data-r": reference[ref].id, "data-p": prediction[pred].id };
    const rect = svg("rect", { class: "shade", x: x(pred) + 1, y: y(ref) + 1, width: step - 2, height: tall - 2, rx: 3 });
    rect.style.setProperty("--share", iou);
    return svg("g", { class: `cell ${chosen ? "chosen" : ""} ${passes ? "passes" : ""}`, ...keys },
      rect,
      written && svg("text", { x: x(pred) + step / 2, y: y(ref) + tall / 2 + 4, "text-anchor": "middle" }, iou.toFixed(2).replace(/^0/, "")) || null,
      svg("title", {}, `${short("reference", reference[ref].id)} × ${short("prediction", prediction[pred].id)}: IoU ${precise(iou)}, intersection ${intersection}`));
  }
}

const longestId = (vertices) => Math.max(1, ...vertices.map(({ id }) => String(id).length));

const columnName = (x, y, upright) =>
  upright ? { transform: `translate(${x + 4} ${y}) rotate(-90)` } : { x, y, "text-anchor": "middle" };

function grid(rows, columns, x, y, shown) {
  if (!shown) return svg("g");
  const lines = [
    ...Array.from({ length: rows + 1 }, (_, at) => `M${x(0)} ${y(at)}H${x(columns)}`),
    ...Array.from({ length: columns + 1 }, (_, at) => `M${x(at)} ${y(0)}V${y(rows)}`),
  ];
  return svg("path", { class: "gridline", d: lines.join("") });
}

// The bipartite graph: references left, predictions right, edges above τ drawn, chosen ones bold.

import { find, svg, whenResized } from "./dom.js";
import { precise, score, short } from "./wording.js";

const ROW = 24;
const MOST_ROWS = 60;
const LETTER = 7.5; // width of one, about

export class Graph {
  constructor(store) {
    this.store = store;
    this.root = find("#graph");
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
    const shown = { reference: vertices.reference.slice(0, MOST_ROWS), prediction: vertices.prediction.slice(0, MOST_ROWS) };
    const rows = Math.max(shown.reference.length, shown.prediction.length, 1);
    const width = Math.max(this.width, 200);
    const height = rows * ROW + 10;
    const margin = 46 + LETTER * longestName(shown);
    const y = (side, at) => ROW * (at + 0.5 + (rows - shown[side].length) / 2) + 4;
    const lines = edges
      .filter(([ref, pred]) => ref < shown.reference.length && pred < shown.prediction.length)
      .reverse() // the best on top
      .map(([ref, pred, intersection, iou, passes, chosen]) =>
        svg("line", {
          class: `edge ${chosen ? "chosen" : passes ? "passes" : "fails"}`,
          x1: margin + 9, y1: y("reference", ref), x2: width - margin - 9, y2: y("prediction", pred),
          "data-r": vertices.reference[ref].id, "data-p": vertices.prediction[pred].id,
        }, svg("title", {}, `${short("reference", vertices.reference[ref].id)} – ${short("prediction", vertices.prediction[pred].id)}: IoU ${precise(iou)}, intersection ${intersection}`)),
      );
    const marks = edges
      .filter(([ref, pred, , , , chosen]) => chosen && ref < shown.reference.length && pred < shown.prediction.length)
      .map(([ref, pred, , iou]) => this.value(ref, pred, iou, y, width, margin));
    const dots = ["reference", "prediction"].flatMap((side) =>
      shown[side].map((vertex, at) => dot(side, vertex, side === "reference" ? margin : width - margin, y(side, at))),
    );
    const left = vertices.reference.length + vertices.prediction.length - shown.reference.length - shown.prediction.length + this.numbers.left_out.reference + this.numbers.left_out.prediction;
    const picture = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "Bipartite graph of references and predictions" }, lines, marks, dots);
    this.root.replaceChildren(picture);
    find("#graph-note").textContent = left ? `${left} more objects are not drawn.` : "";
  }

  /** IoU written beside a chosen edge, nearer to its reference, so that merged ones do not collide. */
  value(ref, pred, iou, y, width, margin) {
    const { vertices } = this.numbers;
    const share = 0.72;
    const x = margin + 9 + share * (width - 2 * margin - 18);
    const height = y("reference", ref) + share * (y("prediction", pred) - y("reference", ref));
    return svg("text", { class: "edge-value", x, y: height - 4, "text-anchor": "middle", "data-r": vertices.reference[ref].id, "data-p": vertices.prediction[pred].id }, score(iou));
  }
}

const longestName = (vertices) =>
  Math.max(1, ...Object.values(vertices).flatMap((side) => side.map(({ id }) => String(id).length)));

const FATES = { tp: "TP", fn: "FN", fp: "FP", matched: "", dismissed: "dismissed" };

function dot(side, vertex, x, y) {
  const reference = side === "reference";
  const keys = { [reference ? "data-r" : "data-p"]: vertex.id };
  const outward = reference ? -14 : 14;
  return svg("g", { class: `vertex ${side} ${vertex.state}`, ...keys },
    reference ? svg("circle", { cx: x, cy: y, r: 7 }) : svg("rect", { x: x - 7, y: y - 7, width: 14, height: 14, rx: 3 }),
    svg("text", { x: x + outward, y: y + 4, "text-anchor": reference ? "end" : "start" },
      short(side, vertex.id), svg("tspan", { class: `fate ${vertex.state}`, dx: 5 }, FATES[vertex.state] ?? "")));
}

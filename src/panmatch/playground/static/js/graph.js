// The bipartite graph: references left, predictions right, edges above τ drawn, chosen ones bold.

import { find, patch, svg, write } from "./dom.js";
import { Picture } from "./picture.js";
import { precise, score, short } from "./wording.js";

const ROW = 24;
const MOST_ROWS = 60;
const LETTER = 7.5; // width of one, about
const VALUE_AT = 0.72; // of an edge, from its reference

export class Graph extends Picture {
  constructor() {
    super("#graph", "Bipartite graph of references and predictions", ["lines", "marks", "dots"]);
  }

  draw() {
    const { vertices, edges } = this.numbers;
    const shown = { reference: vertices.reference.slice(0, MOST_ROWS), prediction: vertices.prediction.slice(0, MOST_ROWS) };
    const rows = Math.max(shown.reference.length, shown.prediction.length, 1);
    const width = Math.max(this.width, 200);
    const height = rows * ROW + 10;
    const margin = 46 + LETTER * longestName(shown);
    const y = (side, at) => ROW * (at + 0.5 + (rows - shown[side].length) / 2) + 4;
    const places = { left: margin + 9, right: width - margin - 9 };
    const drawn = edges
      .filter(([ref, pred]) => ref < shown.reference.length && pred < shown.prediction.length)
      .map(([ref, pred, ...rest]) => [vertices.reference[ref].id, vertices.prediction[pred].id, y("reference", ref), y("prediction", pred), ...rest])
      .map((edge) => ({ edge, text: JSON.stringify([edge, width, margin]) }));
    patch(this.layers.lines, drawn.toReversed().map(({ edge, text }) => [text, () => line(edge, places)])); // the best on top
    patch(this.layers.marks, drawn.filter(({ edge }) => edge.at(-1)).map(({ edge, text }) => [text, () => value(edge, places)]));
    const dots = ["reference", "prediction"].flatMap((side) =>
      shown[side].map((vertex, at) => [side, vertex, side === "reference" ? margin : width - margin, y(side, at)]),
    );
    patch(this.layers.dots, dots.map((one) => [JSON.stringify(one), () => dot(...one)]));
    this.resize(width, height);
    const left = vertices.reference.length + vertices.prediction.length - shown.reference.length - shown.prediction.length + this.numbers.left_out.reference + this.numbers.left_out.prediction;
    write(find("#graph-note"), left ? `${left} more objects are not drawn.` : "");
  }
}

function line([r, p, from, to, intersection, iou, passes, chosen], { left, right }) {
  return svg("line", {
    class: `edge ${chosen ? "chosen" : passes ? "passes" : "fails"}`,
    x1: left, y1: from, x2: right, y2: to, "data-r": r, "data-p": p,
  }, svg("title", {}, `${short("reference", r)} – ${short("prediction", p)}: IoU ${precise(iou)}, intersection ${intersection}`));
}

/** IoU written beside a chosen edge, nearer to its prediction, so that merged ones do not collide. */
function value([r, p, from, to, , iou], { left, right }) {
  const x = left + VALUE_AT * (right - left);
  const y = from + VALUE_AT * (to - from);
  return svg("text", { class: "edge-value", x, y: y - 4, "text-anchor": "middle", "data-r": r, "data-p": p }, score(iou));
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

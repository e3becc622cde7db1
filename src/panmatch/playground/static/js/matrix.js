// All IoUs, references × predictions; only pairs that overlap have a cell. Many objects are shown as
// one small matrix for each group of the graph.

import { html, patch, svg } from "./dom.js";
import { describeAlone, foldLine, grouping, notFound } from "./grouping.js";
import { Picture } from "./picture.js";
import { precise, short } from "./wording.js";

const LARGEST = 44;
const LETTER = 7; // width of one, about
const NARROWEST_WRITTEN = 30; // cell that holds its number
const NARROWEST_NAMED = 13; // column that has a name
const MOST_NAMED = 200; // objects without a partner

export class Matrix extends Picture {
  constructor() {
    super("#matrix", "Matrix of IoU, references by predictions", ["grid", "cells", "names"]);
    this.groups = html("div", { class: "matrix-groups", hidden: true });
    this.root.append(this.groups);
    grouping.listen(() => this.show());
  }

  draw() {
    const { vertices, edges, groups } = this.numbers;
    this.picture.classList.toggle("empty", Boolean(groups)); // SVG elements have no `hidden`
    this.groups.hidden = !groups;
    if (groups) return this.drawGroups();
    const layers = lay(vertices.reference, vertices.prediction, edges, Math.max(this.width, 160));
    for (const [name, items] of Object.entries(layers.items)) patch(this.layers[name], items);
    return this.resize(layers.width, layers.height);
  }

  drawGroups() {
    const { blocks } = grouping.blocks(this.numbers);
    const cells = new Map(); // edges by their reference
    for (const edge of this.numbers.edges) cells.set(edge[0], [...(cells.get(edge[0]) ?? []), edge]);
    const { groups } = this.numbers;
    const summary = JSON.stringify([groups.matches, grouping.unfolded]);
    const items = blocks.map((block) => this.item(block, cells));
    const nothing = ["nothing", () => html("p", { class: "quiet" }, notFound(this.numbers))];
    patch(this.groups, [[summary, () => html("p", { class: "fold-line" }, foldLine(groups))], ...(blocks.length || !grouping.query ? items : [nothing])]);
  }

  /** What `patch` needs for a group: all that is shown, and how it is built. */
  item(block, cells) {
    const { vertices } = this.numbers;
    const refs = block.refs.map((row) => vertices.reference[row]);
    const preds = block.preds.map((row) => vertices.prediction[row]);
    if (block.kind === "alone") return [JSON.stringify([refs, preds]), () => lonely(block, refs, preds)];
    const [down, across] = [new Map(block.refs.map((row, at) => [row, at])), new Map(block.preds.map((row, at) => [row, at]))];
    const edges = block.refs.flatMap((row) => cells.get(row) ?? [])
      .filter(([, pred]) => across.has(pred))
      .map(([ref, pred, ...rest]) => [down.get(ref), across.get(pred), ...rest]);
    return [JSON.stringify([refs, preds, edges, this.width]), () => small(refs, preds, edges, this.width)];
  }
}

/** A matrix of its own for one group. */
function small(refs, preds, edges, most) {
  const { items, width, height } = lay(refs, preds, edges, Math.max(most, 160));
  const names = `IoU of ${refs.map(({ id }) => short("reference", id)).join(", ")} with ${preds.map(({ id }) => short("prediction", id)).join(", ")}`;
  return svg("svg", { class: "block", width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": names },
    Object.values(items).map((list) => svg("g", {}, list.map(([, build]) => build()))));
}

/** Names of objects that overlap nothing worth a cell. */
function lonely(block, refs, preds) {
  const chip = (side) => ({ id, state }) => html("span", { class: `lonely ${side} ${state}`, [side === "reference" ? "data-r" : "data-p"]: id }, short(side, id));
  const chips = [...refs.map(chip("reference")), ...preds.map(chip("prediction"))];
  const more = chips.length - MOST_NAMED;
  return html("p", { class: "alone" }, html("span", { class: "quiet" }, `${describeAlone(block)} `), chips.slice(0, MOST_NAMED), more > 0 ? ` and ${more} more` : null);
}

/** Grid, cells and names of a matrix that is at most so wide: {items, width, height}. */
function lay(references, predictions, edges, most) {
  const letters = 1 + longestId([...references, ...predictions]);
  const left = LETTER * letters + 8;
  const step = Math.min(LARGEST, (most - left - 2) / Math.max(predictions.length, 1));
  const tall = Math.min(step, LARGEST * 0.66);
  const named = step >= NARROWEST_NAMED;
  const upright = step < LETTER * letters; // names of columns
  const top = named && upright ? LETTER * letters + 8 : 21;
  const x = (at) => left + at * step;
  const y = (at) => top + at * tall;
  const layout = JSON.stringify([references.length, predictions.length, left, step, tall, top]);
  const cells = edges.map(([ref, pred, ...rest]) => [references[ref].id, predictions[pred].id, x(pred), y(ref), step, tall, ...rest]);
  const names = [
    ...predictions.map(({ id }, at) => ["prediction", id, columnName(x(at) + step / 2, top - 6, upright)]),
    ...references.map(({ id }, at) => ["reference", id, { x: left - 6, y: y(at) + tall / 2 + 4, "text-anchor": "end" }]),
  ];
  return {
    items: {
      grid: named ? [[layout, () => grid(references.length, predictions.length, x, y)]] : [],
      cells: cells.map((one) => [JSON.stringify(one), () => cell(one)]),
      names: (named ? names : []).map((one) => [JSON.stringify(one), () => nameOf(...one)]),
    },
    width: x(predictions.length) + 2,
    height: y(references.length) + 2,
  };
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

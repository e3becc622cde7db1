// The bipartite graph: references left, predictions right, edges above τ drawn, chosen ones bold.

import { find, html, patch, svg, write } from "./dom.js";
import { describeAlone, foldLine, grouping, notFound, searchField } from "./grouping.js";
import { Picture } from "./picture.js";
import { plural, precise, score, short } from "./wording.js";

const ROW = 24;
const CAPTION = 26; // height of a title between groups
const GAP = 9; // between groups
const LETTER = 7.5; // width of one, about
const VALUE_AT = 0.72; // of an edge, from its reference

export class Graph extends Picture {
  /** `picked` is called with an object that was searched for: {side, id}. */
  constructor(picked = () => {}) {
    super("#graph", "Bipartite graph of references and predictions", ["captions", "lines", "marks", "dots"]);
    this.tools = html("div", { class: "group-tools", hidden: true });
    this.fold = html("p", { class: "fold-line" });
    this.tools.append(searchField(picked), this.fold);
    this.root.before(this.tools);
    grouping.listen(() => this.show());
  }

  draw() {
    const { vertices, edges, groups } = this.numbers;
    this.tools.hidden = !groups;
    const placed = groups ? this.inGroups() : inOrder(vertices);
    const width = Math.max(this.width, 200);
    const margin = 46 + LETTER * longestName(vertices, placed);
    const places = { left: margin + 9, right: width - margin - 9 };
    const together = (ref, pred) => placed.reference.get(ref)?.group === placed.prediction.get(pred)?.group;
    const drawn = edges
      .filter(([ref, pred]) => placed.reference.has(ref) && placed.prediction.has(pred) && together(ref, pred))
      .map(([ref, pred, ...rest]) => [vertices.reference[ref].id, vertices.prediction[pred].id, placed.reference.get(ref).y, placed.prediction.get(pred).y, ...rest])
      .map((edge) => ({ edge, text: JSON.stringify([edge, width, margin]) }));
    patch(this.layers.captions, placed.captions.map((one) => [JSON.stringify([one, width]), () => caption(one, width)]));
    patch(this.layers.lines, drawn.toReversed().map(({ edge, text }) => [text, () => line(edge, places)])); // the best on top
    patch(this.layers.marks, drawn.filter(({ edge }) => edge.at(-1)).map(({ edge, text }) => [text, () => value(edge, places)]));
    const dots = ["reference", "prediction"].flatMap((side) =>
      [...placed[side]].map(([row, { y }]) => [side, vertices[side][row], side === "reference" ? margin : width - margin, y]),
    );
    patch(this.layers.dots, dots.map((one) => [JSON.stringify(one), () => dot(...one)]));
    this.resize(width, placed.height);
    write(find("#graph-note"), placed.note);
  }

  /** Places of objects in groups, one group below the other. */
  inGroups() {
    const { groups, left_out: left } = this.numbers;
    this.fold.replaceChildren(foldLine(groups));
    const { blocks, more } = grouping.blocks(this.numbers);
    const found = { reference: new Map(), prediction: new Map(), captions: [], height: 10 };
    let top = 4;
    let kind = null;
    blocks.forEach((block, group) => {
      if (block.kind !== kind) {
        found.captions.push({ text: CAPTIONS[block.kind](block, groups), y: top + 15 });
        top += CAPTION;
      }
      kind = block.kind;
      const rows = Math.max(block.refs.length, block.preds.length);
      const packed = block.kind === "alone";
      for (const [side, members] of [["reference", block.refs], ["prediction", block.preds]]) {
        const start = packed ? 0 : (rows - members.length) / 2;
        members.forEach((row, at) => found[side].set(row, { y: top + ROW * (start + at + 0.5), group }));
      }
      top += ROW * rows + (block.kind === "clean" ? 0 : GAP);
    });
    found.height = top + 6;
    const hidden = left.reference + left.prediction;
    const notes = [more && `${plural(more, "more group is", "more groups are")} not drawn.`, hidden && `${plural(hidden, "more object is", "more objects are")} not listed.`];
    found.note = blocks.length ? notes.filter(Boolean).join(" ") : grouping.query ? notFound(this.numbers) : "";
    return found;
  }
}

const CAPTIONS = {
  errors: (_, { errors }) => `${plural(errors.length, "group")} with a mistake`,
  alone: describeAlone,
  clean: () => "One-to-one matches, the lowest IoU first",
};

/** Places of a few objects: each side in the order of its ids. */
function inOrder(vertices) {
  const rows = Math.max(vertices.reference.length, vertices.prediction.length, 1);
  const places = (list) => new Map(list.map((_, at) => [at, { y: ROW * (at + 0.5 + (rows - list.length) / 2) + 4, group: 0 }]));
  return { reference: places(vertices.reference), prediction: places(vertices.prediction), captions: [], height: rows * ROW + 10, note: "" };
}

const caption = ({ text, y }, width) => svg("text", { class: "group-caption", x: width / 2, y, "text-anchor": "middle" }, text);

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

function longestName(vertices, placed) {
  const names = ["reference", "prediction"].flatMap((side) => [...placed[side].keys()].map((row) => String(vertices[side][row].id).length));
  return Math.max(1, ...names);
}

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

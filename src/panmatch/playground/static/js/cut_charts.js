// PQ over the confidence cut, and precision over recall, at the threshold of the moment.

import { rowAt } from "./confidence.js";
import { keptWords } from "./cut_slider.js";
import { find, svg, whenResized, write } from "./dom.js";
import { hue } from "./strategies.js";
import { precise, score, tau } from "./wording.js";

const MARGIN = { left: 34, right: 12, top: 24, bottom: 34 };
const SMALLEST_OF_TWO = 460; // pixels in which both fit side by side
const HEIGHT = 230; // of one plot
const MOST_MARKS = 80;
const SHARES = [0, 0.25, 0.5, 0.75, 1];

export class CutCharts {
  constructor(store, strategies) {
    Object.assign(this, { store, strategies, root: find("#cut-charts"), numbers: null, width: 0 });
    this.root.addEventListener("pointerdown", (event) => event.pointerType !== "touch" && this.grasp(event));
    this.root.addEventListener("pointermove", (event) => this.dragging && this.drag(event, false));
    this.root.addEventListener("pointerup", () => this.leave());
    this.root.addEventListener("pointercancel", () => this.leave());
    this.root.addEventListener("click", (event) => event.pointerType === "touch" && this.drag(event, true));
    find("#best-cut").addEventListener("click", () => this.store.view({ cut: this.numbers.confidence.best.high }));
    whenResized(this.root, (width) => {
      this.width = width;
      this.draw();
    });
  }

  take(numbers) {
    this.numbers = numbers;
    this.draw();
  }

  draw() {
    const found = this.numbers?.confidence;
    if (!found || !this.store.state) return;
    const { view } = this.store.state;
    write(find("#cut-about"), `${this.strategies.get(view.strategy).label}, ${tau(view.threshold)}${view.parts ? ", whole objects" : ""}; ${keptWords(found.kept, found.below)}`);
    this.tellBest(found);
    this.root.replaceChildren(...(found.curve && this.width ? this.plots(found, view) : []));
  }

  plots(found, view) {
    const columns = this.width < SMALLEST_OF_TWO ? 1 : 2;
    const width = Math.floor(this.width / columns);
    const colour = hue(view.strategy);
    this.frame = new Frame(width, [found.low, found.high]);
    return [overCuts(this.frame, found, view.cut, colour), overRecall(new Frame(width, [0, 1]), found, view.cut, colour)];
  }

  tellBest({ curve, best, ap, mean_ap: mean }) {
    write(find("#cut-ap"), curve ? `Average precision ${score(ap)}; its mean over τ = 0.5, 0.55 … 0.95 is ${score(mean)}.` : "");
    const words = curve ? bestWords(best) : "There are too many predictions to match them at every cut with this strategy.";
    write(find("#cut-best"), words);
    find("#best-cut").hidden = !best || best.high === null;
  }

  grasp(event) {
    if (!this.frame || !event.target.closest("#over-cuts")) return;
    this.root.setPointerCapture(event.pointerId);
    this.dragging = true;
    this.drag(event, false);
  }

  drag(event, final) {
    const box = find("#over-cuts")?.getBoundingClientRect();
    if (!box || (final && !event.target.closest("#over-cuts"))) return;
    const value = Number(this.frame.valueAt(event.clientX - box.left).toFixed(3));
    this.store.view({ cut: value <= this.frame.ends[0] ? null : value }, { final });
  }

  leave() {
    if (this.dragging) this.store.commit();
    this.dragging = false;
  }
}

/** Axes of a plot: any range to the right, 0 to 1 upwards. */
class Frame {
  constructor(width, ends) {
    Object.assign(this, { width, ends });
  }

  x(value) {
    const [low, high] = this.ends;
    const share = high > low ? (value - low) / (high - low) : 0;
    return MARGIN.left + Math.min(1, Math.max(0, share)) * (this.width - MARGIN.left - MARGIN.right);
  }

  y(value) {
    return MARGIN.top + (1 - value) * (HEIGHT - MARGIN.top - MARGIN.bottom);
  }

  valueAt(x) {
    const [low, high] = this.ends;
    const share = (x - MARGIN.left) / (this.width - MARGIN.left - MARGIN.right);
    return low + Math.min(1, Math.max(0, share)) * (high - low);
  }

  axes(name) {
    const [low, high] = this.ends;
    const along = SHARES.map((share) => low + share * (high - low));
    return [
      ...SHARES.map((value) => svg("line", { class: "gridline", x1: this.x(low), x2: this.x(high), y1: this.y(value), y2: this.y(value) })),
      ...SHARES.map((value) => svg("text", { class: "tick", x: MARGIN.left - 6, y: this.y(value) + 3.5, "text-anchor": "end" }, String(value))),
      ...along.map((value, at) => svg("text", { class: "tick", x: this.x(value), y: HEIGHT - 18, "text-anchor": at === 4 ? "end" : "middle" }, String(Number(value.toPrecision(3))))),
      svg("text", { class: "tick", x: this.x((low + high) / 2), y: HEIGHT - 4, "text-anchor": "middle" }, name),
    ];
  }

  picture(id, label, title, children) {
    return svg("svg", { id, width: this.width, height: HEIGHT, viewBox: `0 0 ${this.width} ${HEIGHT}`, role: "img", "aria-label": label },
      svg("text", { class: "title", x: MARGIN.left, y: 14 }, title), children);
  }

  /** A value in words at the end of the title's line. */
  corner(text, colour) {
    return svg("text", { class: `area-name ${colour}`, x: this.width - MARGIN.right, y: 14, "text-anchor": "end" }, text);
  }
}

/** PQ at every cut; where it is highest is shaded. */
function overCuts(frame, { curve, best, low, high }, cut, colour) {
  const { cuts, pq } = curve;
  const steps = cuts.map((own, at) => ({ from: cuts[at + 1] ?? low, to: own ?? high, value: pq[at] ?? 0 })).reverse();
  const path = steps.map(({ from, to, value }, at) => `${at ? "L" : "M"}${frame.x(from)} ${frame.y(value)}H${frame.x(to)}`).join("");
  const marks = cuts.length > MOST_MARKS ? [] : cuts.slice(1).map((own, at) => svg("circle", { class: `mark chosen ${colour}`, cx: frame.x(own), cy: frame.y(pq[at + 1] ?? 0), r: 2.6 }, svg("title", {}, `cut ${precise(own)}: PQ ${precise(pq[at + 1])}`)));
  const [left, right] = best ? [frame.x(best.low ?? low), frame.x(best.high ?? high)] : [0, 0];
  const band = best && svg("rect", { class: "best-band", x: left, width: Math.max(2, right - left), y: frame.y(1), height: frame.y(0) - frame.y(1) });
  const now = svg("g", { class: "threshold", transform: `translate(${frame.x(cut ?? low)} 0)` },
    svg("line", { y1: frame.y(1), y2: frame.y(0) }), svg("path", { d: `M-5 ${frame.y(0) + 8}L5 ${frame.y(0) + 8}L0 ${frame.y(0) + 1}Z` }));
  const label = `PQ over the confidence cut. ${best ? bestWords(best) : ""}`;
  return frame.picture("over-cuts", label, "PQ over the cut", [
    band, ...frame.axes("confidence cut: drag"), svg("path", { class: `curve chosen ${colour}`, d: path }), ...marks, now,
    best ? frame.corner(`best ${score(best.pq)}`, colour) : null,
  ]);
}

/** Precision over recall at every cut, the area that average precision measures, and this cut. */
function overRecall(frame, { curve, ap }, cut, colour) {
  const points = curve.cuts.map((own, at) => ({ own, recall: curve.recall[at], precision: curve.precision[at] })).filter((one) => one.precision !== null && one.recall !== null);
  const line = points.map(({ recall, precision }, at) => `${at ? "L" : "M"}${frame.x(recall)} ${frame.y(precision)}`).join("");
  const marks = points.length > MOST_MARKS ? [] : points.map((one) => svg("circle", { class: `mark ${colour}`, cx: frame.x(one.recall), cy: frame.y(one.precision), r: 2.6 },
    svg("title", {}, `cut ${precise(one.own)}: recall ${precise(one.recall)}, precision ${precise(one.precision)}`)));
  const row = rowAt(curve, cut);
  const [recall, precision] = [curve.recall[row], curve.precision[row]];
  const there = recall !== null && precision !== null;
  const now = there && svg("circle", { id: "cut-point", class: `now ${colour}`, cx: frame.x(recall), cy: frame.y(precision), r: 6 }, svg("title", {}, `this cut: recall ${precise(recall)}, precision ${precise(precision)}`));
  const label = `Precision over recall at all cuts. Average precision ${score(ap)}.${there ? ` At this cut, recall ${score(recall)} and precision ${score(precision)}.` : ""}`;
  return frame.picture("over-recall", label, "Precision", [
    ...frame.axes("recall"), svg("path", { class: `area ${colour}`, d: envelope(frame, points) }), svg("path", { class: `curve ${colour}`, d: line }), ...marks, now || null,
    frame.corner(`area ${score(ap)}`, colour),
  ]);
}

/** The area below the highest precision of all cuts with at least as much recall. */
function envelope(frame, points) {
  const rising = points.toSorted((one, other) => one.recall - other.recall);
  let highest = 0;
  const heights = rising.toReversed().map(({ precision }) => (highest = Math.max(highest, precision))).reverse();
  const end = rising.at(-1)?.recall ?? 0;
  return `M${frame.x(0)} ${frame.y(0)}${rising.map(({ recall }, at) => `V${frame.y(heights[at])}H${frame.x(recall)}`).join("")}L${frame.x(end)} ${frame.y(0)}Z`;
}

/** Where PQ is highest, in words. */
function bestWords(best) {
  if (!best) return "PQ is undefined at every cut.";
  const { low, high, pq } = best;
  const start = `PQ is highest, ${score(pq)},`;
  if (high === null) return `${start} where no prediction is left.`;
  if (low === null) return `${start} at every cut up to ${precise(high)}, which keeps all predictions.`;
  return `${start} at cuts above ${precise(low)} and up to ${precise(high)}.`;
}

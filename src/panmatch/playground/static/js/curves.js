// Step curves of the compared strategies over the threshold, with their exact breakpoints.

import { find, svg, whenResized, write } from "./dom.js";
import { dashes, hue } from "./strategies.js";
import { named, precise, QUANTITIES, score } from "./wording.js";

const MARGIN = { left: 34, right: 12, top: 24, bottom: 30 };
const DOT = 2.6; // radius of a mark
const MOST_MARKS = 80;
const LETTER = 6.4; // width of one, about
const [SMALLEST_OF_TWO, SMALLEST_OF_THREE] = [420, 600]; // pixels in which they fit side by side
// Thick lines lie below thin ones, so that all are seen where they lie on each other.
const WIDTHS = [5, 3, 1.6];
const SWIPE = 6; // pixels after which a finger does not tap
const GRID = [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9];

export class Curves {
  constructor(store, strategies) {
    this.store = store;
    this.strategies = strategies;
    this.root = find("#curves");
    this.numbers = null;
    this.plots = [];
    this.root.addEventListener("pointerdown", (event) => this.begin(event));
    this.root.addEventListener("pointermove", (event) => this.drag(event));
    this.root.addEventListener("pointerup", (event) => this.end(event));
    this.root.addEventListener("pointercancel", () => this.leave());
    this.size = { width: 0, height: 0 };
    whenResized(this.root, (width, height) => {
      this.size = { width, height };
      this.draw();
    });
  }

  take(numbers) {
    this.numbers = numbers;
    this.draw();
  }

  draw() {
    if (!this.numbers || !this.store.state) return;
    const { view } = this.store.state;
    const shape = JSON.stringify([this.size, view.curves, this.numbers.quality, view.strategy, this.numbers.curves.map((curve) => curve.strategy)]);
    if (shape !== this.shape) this.build(view);
    this.shape = shape;
    for (const plot of this.plots) plot.take(this.numbers, view);
  }

  build(view) {
    const wanted = view.curves.length ? view.curves : ["pq"];
    const columns = columnsOf(wanted.length, this.size.width);
    const rows = Math.ceil(wanted.length / columns);
    this.root.dataset.rows = rows; // its height follows
    const width = Math.floor(this.size.width / columns);
    const height = Math.floor(this.size.height / rows);
    this.plots = [];
    if (width < 60 || height < 60) return;
    this.plots = wanted.map((quantity) => new Plot(quantity, width, height, this.numbers.curves, view));
    const drawings = this.plots.map((plot, at) =>
      svg(
        "g",
        { class: "plot", transform: `translate(${(at % columns) * width} ${Math.floor(at / columns) * height})` },
        plot.elements(),
      ),
    );
    const [all, tall] = [width * columns, height * rows];
    this.plotSize = { width, height };
    const label = `Curves of ${wanted.map((key) => named(key)).join(", ")} over the threshold. The tables below have the numbers.`;
    const picture = svg("svg", { id: "curve-picture", width: all, height: tall, viewBox: `0 0 ${all} ${tall}`, role: "img", "aria-label": label }, drawings);
    this.root.replaceChildren(picture);
  }

  /** Only the line at the threshold moved. */
  moveThreshold(threshold) {
    for (const plot of this.plots) plot.moveThreshold(threshold);
  }

  /** A finger may be about to scroll: it takes the line along once it moves sideways, or taps. */
  begin(event) {
    this.from = [event.clientX, event.clientY];
    if (event.pointerType === "touch") return;
    this.grasp(event);
  }

  grasp(event) {
    this.root.setPointerCapture(event.pointerId);
    this.dragging = true;
    this.drag(event);
  }

  drag(event) {
    if (!this.plotSize || !this.numbers) return;
    const box = this.root.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    if (!this.dragging && event.pointerType === "touch") {
      if (this.from && Math.abs(event.clientX - this.from[0]) > SWIPE) this.grasp(event);
      return;
    }
    if (!this.dragging) return this.tell(x, y);
    const threshold = this.plots[0].thresholdAt(x % this.plotSize.width);
    this.store.view({ threshold: Math.round(threshold * 1000) / 1000 }, { final: false });
  }

  tell(x, y) {
    const { width, height } = this.plotSize;
    const at = Math.floor(x / width) + Math.floor(y / height) * Math.round(this.size.width / width);
    this.root.title = this.plots[at]?.tell(x % width, y % height, this.numbers, this.store.state.view, this.strategies) ?? "";
  }

  end(event) {
    if (this.from && !this.dragging) this.grasp(event);
    this.leave();
  }

  leave() {
    this.dragging = false;
    this.from = null;
    this.store.commit();
  }
}

/** One quantity over all thresholds; what does not depend on numbers is drawn once. */
class Plot {
  constructor(quantity, width, height, curves, { strategy: chosen }) {
    Object.assign(this, { quantity, width, height, chosen });
    const known = curves.some(({ strategy }) => strategy === chosen);
    const others = curves.filter(({ strategy }) => strategy !== chosen).map(({ strategy }) => strategy);
    others.sort((one, other) => gaps(one) - gaps(other)); // what lies below is seen through gaps
    const order = known ? [chosen, ...others] : others;
    this.lines = new Map(order.map((strategy, level) => [strategy, this.line(strategy, WIDTHS[Math.min(level, WIDTHS.length - 1)])]));
    this.areaName = known && svg("text", { class: `area-name ${hue(chosen)}`, x: width - MARGIN.right, y: 14, "text-anchor": "end" });
    this.area = known && svg("path", { class: `area ${hue(chosen)}` });
    this.threshold = svg("g", { class: "threshold" },
      svg("line", { y1: this.y(1), y2: this.y(0) }),
      svg("path", { d: `M-5 ${this.y(0) + 8}L5 ${this.y(0) + 8}L0 ${this.y(0) + 1}Z` }));
  }

  line(strategy, width) {
    const names = `${hue(strategy)} ${strategy === this.chosen ? "chosen" : ""}`;
    const steps = svg("path", { class: `curve ${names}`, "stroke-dasharray": dashes(strategy), "data-strategy": strategy });
    steps.style.setProperty("--width", width);
    return { steps, marks: svg("path", { class: `mark ${names}`, "data-strategy": strategy }) };
  }

  elements() {
    const name = named(this.quantity);
    const about = `${QUANTITIES[this.quantity].about}${name.startsWith("Part") ? " by parts" : ""}`;
    const written = `${name} ${about} ${named(this.quantity, "areaName")} 0.000`;
    const fits = LETTER * written.length < this.width - MARGIN.left - MARGIN.right;
    const lines = [...this.lines.values()];
    return [
      ...this.axes(),
      svg("text", { class: "title", x: MARGIN.left, y: 14 }, name, svg("title", {}, about), fits ? svg("tspan", { class: "quiet", dx: 6 }, about) : null),
      this.areaName || null,
      this.area || null,
      ...lines.map(({ steps }) => steps),
      ...lines.map(({ marks }) => marks).reverse(),
      this.threshold,
    ];
  }

  take({ curves }, view) {
    const { area } = QUANTITIES[this.quantity];
    const areaName = named(this.quantity, "areaName");
    for (const curve of curves) {
      const path = this.path(curve);
      const { steps, marks } = this.lines.get(curve.strategy);
      steps.setAttribute("d", path);
      marks.setAttribute("d", this.marks(curve, view).map(dot).join(""));
      if (curve.strategy !== this.chosen) continue;
      write(this.areaName, `${areaName} ${score(curve[area])}`);
      this.area.setAttribute("d", `${path}V${this.y(0)}H${this.x(0)}Z`);
    }
    this.moveThreshold(view.threshold);
  }

  moveThreshold(threshold) {
    this.threshold.setAttribute("transform", `translate(${this.x(threshold)} 0)`);
  }

  x(threshold) {
    return MARGIN.left + threshold * (this.width - MARGIN.left - MARGIN.right);
  }

  y(value) {
    return MARGIN.top + (1 - value) * (this.height - MARGIN.top - MARGIN.bottom);
  }

  thresholdAt(x) {
    const share = (x - MARGIN.left) / (this.width - MARGIN.left - MARGIN.right);
    return Math.min(0.999, Math.max(0, share));
  }

  axes() {
    const ticks = [0, 0.25, 0.5, 0.75, 1];
    return [
      ...ticks.map((value) => svg("line", { class: "gridline", x1: this.x(0), x2: this.x(1), y1: this.y(value), y2: this.y(value) })),
      ...ticks.map((value) => svg("text", { class: "tick", x: MARGIN.left - 6, y: this.y(value) + 3.5, "text-anchor": "end" }, String(value))),
      ...[0, 0.2, 0.4, 0.6, 0.8, 1].map((value) => svg("text", { class: "tick", x: this.x(value), y: this.height - 10, "text-anchor": "middle" }, String(value))),
      svg("text", { class: "tick axis", x: this.x(0.9), y: this.height - 10, "text-anchor": "middle" }, "τ"),
    ];
  }

  path(curve) {
    const values = curve[this.quantity];
    const steps = curve.thresholds.map((from, at) => {
      const to = curve.thresholds[at + 1] ?? 1;
      const y = this.y(values[at] ?? 0);
      return `${at ? "L" : "M"}${this.x(from)} ${y}H${this.x(to)}`;
    });
    return steps.join("");
  }

  /** Where numbers change, or the points of the grid; none of a curve with very many steps. */
  marks(curve, view) {
    const values = curve[this.quantity];
    const steps = curve.thresholds.length > MOST_MARKS ? [] : curve.thresholds.map((threshold, at) => [threshold, values[at]]).slice(1);
    const grid = GRID.map((threshold) => [threshold, values[curve.thresholds.findLastIndex((from) => from <= threshold)]]);
    return (view.grid ? grid : steps).map(([threshold, value]) => ({ threshold, value, x: this.x(threshold), y: this.y(value ?? 0) }));
  }

  /** What to say about the mark at a place of the plot; nothing where there is none. */
  tell(x, y, numbers, view, strategies) {
    const name = named(this.quantity);
    for (const curve of numbers.curves) {
      const mark = this.marks(curve, view).find((one) => Math.hypot(one.x - x, one.y - y) < 7);
      if (mark) return `${strategies.get(curve.strategy).label}\nτ = ${precise(mark.threshold)}: ${name} ${precise(mark.value)}`;
    }
    return "";
  }
}

/** How many plots fit side by side. */
function columnsOf(plots, width) {
  if (width < SMALLEST_OF_TWO) return 1;
  return plots === 3 && width >= SMALLEST_OF_THREE ? 3 : Math.min(plots, 2);
}

/** Which share of a strategy's line is not drawn. */
function gaps(strategy) {
  const lengths = dashes(strategy).split(" ").map(Number);
  const sum = (list) => list.reduce((total, length) => total + length, 0);
  return sum(lengths.filter((_, at) => at % 2)) / (sum(lengths) || 1);
}

const dot = ({ x, y }) => `M${x - DOT} ${y}a${DOT} ${DOT} 0 1 0 ${2 * DOT} 0a${DOT} ${DOT} 0 1 0 ${-2 * DOT} 0`;

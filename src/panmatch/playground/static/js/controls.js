// Strategy, threshold and the other choices of the view, and the numbers they lead to.

import { CutSlider } from "./cut_slider.js";
import { entitle, find, html, write } from "./dom.js";
import { named, precise, QUANTITIES, score, threshold as rounded } from "./wording.js";

const MOST_TICKS = 200;
const BIG = {
  pq: "Panoptic Quality, the product of SQ and RQ",
  sq: "Segmentation Quality, the mean quality of the matches",
  rq: "Recognition Quality, TP / (TP + ½ FP + ½ FN)",
  autc: "area under the threshold curve, the mean of PQ over all τ",
};

export class Controls {
  constructor(store, strategies, pair) {
    this.store = store;
    this.strategies = strategies;
    this.pair = pair;
    this.root = find("#headline");
    this.shown = null;
    this.strategy = find("#strategy");
    this.threshold = find("#threshold");
    this.exact = find("#threshold-value");
    this.cut = new CutSlider(store);
    this.strategy.addEventListener("change", () => this.choose(this.strategy.value));
    find("#compare").addEventListener("change", (event) => this.compare(event.target));
    this.threshold.addEventListener("input", () => this.slide(false));
    this.threshold.addEventListener("change", () => this.slide(true));
    this.threshold.addEventListener("keydown", () => (this.byKey = true));
    this.threshold.addEventListener("pointerdown", () => (this.byKey = false));
    this.exact.addEventListener("change", () => this.type());
    for (const moment of ["focus", "blur"]) this.exact.addEventListener(moment, () => this.writeThreshold());
    this.exact.addEventListener("focus", () => this.exact.select()); // what is typed replaces it
    for (const name of ["regions", "voronoi", "parts", "grid"]) {
      find(`#${name}`).addEventListener("change", (event) => this.toggle(name, event.target.checked));
    }
    find("#analytic").addEventListener("change", (event) => store.view({ areas: event.target.checked ? "analytic" : "raster" }));
    find("#background").addEventListener("change", (event) => store.view({ background: event.target.checked ? "image" : "none" }));
    find("#table-quantity").addEventListener("change", (event) => store.view({ table: event.target.value }));
    for (const box of document.querySelectorAll("#quantities input[value]")) {
      box.addEventListener("change", () => this.quantities());
    }
    this.adopt(pair);
  }

  /** Offer what a pair of files has, or a scene if there is none. */
  adopt(pair) {
    this.pair = pair;
    this.shown = null;
    for (const name of ["parts", "analytic", "background", "voronoi"]) find(`#${name}`).closest("label").hidden = Boolean(pair);
  }

  choose(strategy) {
    const { compared } = this.store.state.view;
    this.store.view({ strategy, compared: compared.includes(strategy) ? compared : [...compared, strategy] });
  }

  compare(select) {
    const { compared } = this.store.state.view;
    if (select.value) this.store.view({ compared: [...compared, select.value] });
  }

  slide(final) {
    // Steps of the arrow keys are undone together.
    this.store.view({ threshold: Number(this.threshold.value) }, { final, group: this.byKey ? "threshold" : null });
  }

  type() {
    const threshold = Number(this.exact.value);
    if (this.exact.value !== "" && threshold >= 0 && threshold < 1) this.store.view({ threshold });
    else this.writeThreshold();
  }

  /** A short number, and all of its digits to whoever points at it or types. */
  writeThreshold() {
    if (!this.store.state) return;
    const { threshold } = this.store.state.view;
    this.exact.value = document.activeElement === this.exact ? threshold : rounded(threshold);
    entitle(this.exact, `τ = ${threshold}`);
  }

  toggle(name, on) {
    const { view } = this.store.state;
    const change = { [name]: on };
    if (name === "regions" && on && !this.pair) Object.assign(change, { voronoi: true });
    if (name === "regions" && !on) Object.assign(change, this.without(view, "needs_regions"), { voronoi: false });
    if (name === "parts" && !on) Object.assign(change, this.without(view, "needs_parts"));
    if ((name === "regions" || name === "parts") && on) change.areas = "raster";
    this.store.view(change);
  }

  /** The union of a Voronoi region needs regions, and maximum PartPQ needs parts. */
  without(view, need) {
    const compared = view.compared.filter((id) => !this.strategies.get(id)[need]);
    const strategy = this.strategies.get(view.strategy)[need] ? "one-to-one/optimal" : view.strategy;
    return { strategy, compared: compared.includes(strategy) ? compared : [strategy, ...compared] };
  }

  quantities() {
    const boxes = [...document.querySelectorAll("#quantities input[value]")];
    const curves = boxes.filter((box) => box.checked).map((box) => box.value);
    this.store.view({ curves: curves.length ? curves : ["pq"] });
  }

  show() {
    const { view } = this.store.state;
    this.cut.show();
    if (view === this.shown) return;
    this.shown = view;
    const offered = [...this.strategies.values()].filter((one) => (view.regions || !one.needs_regions) && (view.parts || !one.needs_parts));
    this.strategy.replaceChildren(...offered.map(({ id, label }) => html("option", { value: id, selected: id === view.strategy }, label)));
    this.strategy.title = this.strategies.get(view.strategy).about;
    find("#strategy-about").textContent = this.strategies.get(view.strategy).about;
    const others = offered.filter(({ id }) => !view.compared.includes(id));
    find("#compare").replaceChildren(html("option", { value: "" }, "Compare with …"), ...others.map(({ id, label }) => html("option", { value: id }, label)));
    find("#compare").disabled = !others.length;
    this.threshold.value = view.threshold;
    this.writeThreshold();
    for (const name of ["regions", "voronoi", "parts", "grid"]) find(`#${name}`).checked = view[name];
    find("#analytic").checked = view.areas === "analytic";
    find("#background").checked = view.background === "image";
    if (!this.pair) find("#background").closest("label").hidden = !view.parts;
    find("#table-quantity").value = view.table;
    for (const box of document.querySelectorAll("#quantities input[value]")) box.checked = view.curves.includes(box.value);
  }

  take(numbers) {
    const { tally, curves, quality } = numbers;
    const { view } = this.store.state;
    document.body.classList.toggle("by-parts", quality === "parts");
    for (const option of find("#table-quantity").options) write(option, named(option.value));
    const chosen = curves.find((curve) => curve.strategy === view.strategy);
    this.ticks(chosen);
    this.cut.take(numbers);
    const values = { pq: tally.pq, sq: tally.sq, rq: tally.rq, autc: chosen?.autc ?? null };
    for (const [name, value] of Object.entries(values)) {
      write(find(`#big-${name}`), score(value));
      entitle(find(`#big-${name}`).parentElement, `${BIG[name]}: ${precise(value)}`);
    }
    for (const name of ["tp", "fp", "fn"]) write(find(`#count-${name}`), String(tally[name]));
  }

  /** Where the chosen strategy's numbers change, below the slider. */
  ticks(curve) {
    const steps = curve && curve.thresholds.length <= MOST_TICKS ? curve.thresholds.slice(1) : [];
    const row = find("#breakpoints");
    while (row.children.length > steps.length) row.lastChild.remove();
    while (row.children.length < steps.length) row.append(this.tick());
    steps.forEach((threshold, at) => moveTick(row.children[at], threshold));
  }

  tick() {
    return html("button", { class: "breakpoint", tabindex: -1, onclick: ({ target }) => this.store.view({ threshold: target.threshold }) });
  }
}

function moveTick(tick, threshold) {
  if (tick.threshold === threshold) return;
  tick.threshold = threshold;
  tick.title = `Numbers change at τ = ${precise(threshold)}`;
  tick.style.left = `${100 * threshold}%`;
}

// Tables with a row for every compared strategy: its numbers at the threshold, or at all of them.

import { find, html, write } from "./dom.js";
import { swatch } from "./strategies.js";
import { named, precise, score } from "./wording.js";

/** Whoever extends this has a method `build(rows, view)` that makes `cells` and calls `fill`. */
class StrategyTable {
  constructor(store, strategies, selector) {
    Object.assign(this, { store, strategies, root: find(selector) });
  }

  /** Build the table where more than the numbers in its cells has changed. */
  ready(rows, view, ...others) {
    const shape = JSON.stringify([rows.map((row) => row.strategy), view.strategy, view.threshold, ...others]);
    if (shape !== this.shape) this.build(rows, view);
    this.shape = shape;
  }

  fill(head, lines, view) {
    const rows = lines.map(([strategy, title, ...cells]) =>
      html("tr", { class: strategy === view.strategy ? "chosen" : "", "data-strategy": strategy }, html("th", { scope: "row" }, title), ...cells));
    this.root.replaceChildren(html("thead", {}, html("tr", {}, head)), html("tbody", {}, rows));
  }
}

/** Numbers at the threshold, and areas under the curves. */
export class Legend extends StrategyTable {
  constructor(store, strategies) {
    super(store, strategies, "#legend");
  }

  take({ curves, quality }) {
    const { view } = this.store.state;
    this.ready(curves, view, quality);
    curves.forEach((curve, line) => {
      const at = curve.thresholds.findLastIndex((from) => from <= view.threshold);
      const values = [...["pq", "sq", "rq"].map((name) => curve[name][at]), curve.autc, curve.autc_sq, curve.autc_rq];
      values.forEach((value, column) => write(this.cells[line][column], score(value), precise(value)));
    });
  }

  build(curves, view) {
    const keys = ["pq", "sq", "rq"];
    const names = keys.map((key) => named(key));
    const areas = keys.map((key) => named(key, "areaName"));
    const head = ["strategy", `${names[0]} (${view.threshold})`, ...names.slice(1), ...areas];
    this.cells = curves.map(() => Array.from({ length: 6 }, () => html("td")));
    const lines = curves.map(({ strategy }, line) => {
      const { label, about } = this.strategies.get(strategy);
      const disabled = curves.length === 1 || strategy === view.strategy;
      const choose = html("button", { class: "plain", title: about, onclick: () => this.store.view({ strategy }) }, swatch(strategy), label);
      const remove = html("button", { class: "plain quiet", title: "Stop comparing this strategy", "aria-label": `Remove ${label}`, disabled, onclick: () => this.drop(strategy) }, "×");
      return [strategy, choose, this.cells[line], html("td", {}, remove)];
    });
    this.fill([...head.map((name) => html("th", { scope: "col" }, name)), html("td")], lines, view);
  }

  drop(strategy) {
    const { compared } = this.store.state.view;
    this.store.view({ compared: compared.filter((id) => id !== strategy) });
  }
}

/** Strategies × thresholds: every cell is a score, shaded by its value. */
export class Table extends StrategyTable {
  constructor(store, strategies) {
    super(store, strategies, "#table");
  }

  take({ table, quality }) {
    const { view } = this.store.state;
    this.thresholds = table.thresholds;
    this.ready(table.rows, view, view.table, quality);
    table.rows.forEach((row, line) => row[view.table].forEach((value, at) => fillCell(this.cells[line][at], row, at, value)));
  }

  build(rows, view) {
    const near = (threshold) => Math.abs(threshold - view.threshold) < 1e-9;
    const head = this.thresholds.map((threshold) =>
      html("th", { scope: "col", class: near(threshold) ? "now" : "" },
        html("button", { class: "plain", title: `Set τ to ${threshold}`, onclick: () => this.store.view({ threshold }) }, String(threshold))),
    );
    this.cells = rows.map(() => this.thresholds.map((threshold) => html("td", { class: `shaded ${near(threshold) ? "now" : ""}` })));
    const lines = rows.map(({ strategy }, line) => [strategy, [swatch(strategy), this.strategies.get(strategy).label], this.cells[line]]);
    this.fill([html("th", { scope: "col" }, `${named(view.table)} at τ =`), head].flat(), lines, view);
  }
}

function fillCell(cell, row, at, value) {
  const counts = `TP ${row.tp[at]}, FP ${row.fp[at]}, FN ${row.fn[at]}`;
  write(cell, score(value).replace(/^0\./, "."), `${precise(value)} · ${counts}`);
  const share = (value ?? 0).toFixed(3);
  if (cell.share !== share) cell.style.setProperty("--share", (cell.share = share));
}

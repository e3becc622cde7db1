// Strategies × thresholds: every cell is a score, shaded by its value.

import { find, html, write } from "./dom.js";
import { swatch } from "./curves.js";
import { named, precise, score } from "./wording.js";

export class Table {
  constructor(store, strategies) {
    this.store = store;
    this.strategies = strategies;
    this.root = find("#table");
  }

  take({ table, quality }) {
    const { view } = this.store.state;
    const shape = JSON.stringify([table.rows.map((row) => row.strategy), view.strategy, view.threshold, view.table, quality]);
    if (shape !== this.shape) this.build(table, view);
    this.shape = shape;
    table.rows.forEach((row, line) => row[view.table].forEach((value, at) => fillCell(this.cells[line][at], row, at, value)));
  }

  build(table, view) {
    const near = (threshold) => Math.abs(threshold - view.threshold) < 1e-9;
    const head = table.thresholds.map((threshold) =>
      html("th", { scope: "col", class: near(threshold) ? "now" : "" },
        html("button", { class: "plain", title: `Set τ to ${threshold}`, onclick: () => this.store.view({ threshold }) }, String(threshold))),
    );
    this.cells = table.rows.map(() => table.thresholds.map((threshold) => html("td", { class: `shaded ${near(threshold) ? "now" : ""}` })));
    const rows = table.rows.map(({ strategy }, line) =>
      html("tr", { class: strategy === view.strategy ? "chosen" : "", "data-strategy": strategy },
        html("th", { scope: "row" }, swatch(strategy), this.strategies.get(strategy).label),
        this.cells[line]),
    );
    this.root.replaceChildren(
      html("thead", {}, html("tr", {}, html("th", { scope: "col" }, `${named(view.table)} at τ =`), head)),
      html("tbody", {}, rows),
    );
  }
}

function fillCell(cell, row, at, value) {
  const counts = `TP ${row.tp[at]}, FP ${row.fp[at]}, FN ${row.fn[at]}`;
  write(cell, score(value).replace(/^0\./, "."), `${precise(value)} · ${counts}`);
  const share = (value ?? 0).toFixed(3);
  if (cell.share !== share) cell.style.setProperty("--share", (cell.share = share));
}

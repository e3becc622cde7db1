// Strategies × thresholds: every cell is a score, shaded by its value.

import { find, html } from "./dom.js";
import { swatch } from "./curves.js";
import { precise, QUANTITIES, score } from "./wording.js";

export class Table {
  constructor(store, strategies) {
    this.store = store;
    this.strategies = strategies;
    this.root = find("#table");
  }

  take({ table }) {
    const { view } = this.store.state;
    const near = (threshold) => Math.abs(threshold - view.threshold) < 1e-9;
    const head = table.thresholds.map((threshold) =>
      html("th", { scope: "col", class: near(threshold) ? "now" : "" },
        html("button", { class: "plain", title: `Set τ to ${threshold}`, onclick: () => this.store.view({ threshold }) }, String(threshold))),
    );
    const rows = table.rows.map((row) =>
      html("tr", { class: row.strategy === view.strategy ? "chosen" : "", "data-strategy": row.strategy },
        html("th", { scope: "row" }, swatch(row.strategy), this.strategies.get(row.strategy).label),
        row[view.table].map((value, at) => cell(row, at, value, near(table.thresholds[at]))),
      ),
    );
    this.root.replaceChildren(
      html("thead", {}, html("tr", {}, html("th", { scope: "col" }, `${QUANTITIES[view.table].name} at τ =`), head)),
      html("tbody", {}, rows),
    );
  }
}

function cell(row, at, value, now) {
  const counts = `TP ${row.tp[at]}, FP ${row.fp[at]}, FN ${row.fn[at]}`;
  const element = html("td", { class: `shaded ${now ? "now" : ""}`, title: `${precise(value)} · ${counts}` }, score(value).replace(/^0\./, "."));
  element.style.setProperty("--share", value ?? 0);
  return element;
}

// Tables with a row for every compared strategy: its numbers at the threshold, or at all of them.

import { coinciding, stepAt } from "./coinciding.js";
import { find, html, write } from "./dom.js";
import { breakable, swatch } from "./strategies.js";
import { named, precise, QUANTITIES, score, tau } from "./wording.js";

/** Whoever extends this has a method `build(rows, view)` that makes `cells` and calls `fill`. */
class StrategyTable {
  constructor(store, strategies, selector) {
    Object.assign(this, { store, strategies, root: find(selector) });
  }

  /** Build the table where more than the numbers in its cells has changed. */
  ready(rows, view, ...others) {
    const shape = JSON.stringify([rows.map((row) => row.strategy), view.strategy, ...others]);
    if (shape !== this.shape) this.build(rows, view);
    this.shape = shape;
  }

  /** `head` has a list of cells for each of its rows. */
  fill(head, lines, view) {
    const rows = lines.map(([strategy, title, ...cells]) =>
      html("tr", { class: strategy === view.strategy ? "chosen" : "", "data-strategy": strategy }, html("th", { scope: "row" }, title), ...cells));
    this.root.replaceChildren(html("thead", {}, head.map((cells) => html("tr", {}, cells))), html("tbody", {}, rows));
  }
}

const SCORES = ["pq", "sq", "rq"];

/** Numbers at the threshold, areas under the curves, and which curves lie on each other. */
export class Legend extends StrategyTable {
  constructor(store, strategies) {
    super(store, strategies, "#legend");
    this.note = find("#legend-note");
  }

  take({ curves, quality }) {
    const { view } = this.store.state;
    this.ready(curves, view, quality, curves.map((curve) => curve.proven));
    write(this.here, `at ${tau(view.threshold)}`, `τ = ${view.threshold}`);
    const same = coinciding(curves, view.threshold);
    curves.forEach((curve, line) => {
      const at = stepAt(curve, view.threshold);
      const values = [...SCORES.map((name) => curve[name][at]), curve.autc, curve.autc_sq, curve.autc_rq];
      values.forEach((value, column) => write(this.cells[line][column], score(value), precise(value)));
      this.compare(this.same[line], same[line]);
    });
    write(this.note, curves.some(unproven) ? "* Here the search for maximum PQ stopped early, so the maximum may be higher at some thresholds." : "");
  }

  /** Say which curve another one lies on. */
  compare(cell, same) {
    const said = JSON.stringify(same);
    if (cell.said === said) return;
    cell.said = said;
    if (!same) return cell.replaceChildren();
    const where = same.everywhere ? "at every τ" : "at this τ";
    const { label } = this.strategies.get(same.strategy);
    cell.replaceChildren(html("span", { class: "unseen" }, `same as ${label} `), swatch(same.strategy), where);
    cell.title = `Same as ${label} ${where}: the curves lie on each other`;
  }

  build(curves, view) {
    this.cells = curves.map(() => Array.from({ length: 6 }, () => html("td")));
    this.same = curves.map(() => html("td", { class: "same" }));
    const lines = curves.map((curve, line) => [curve.strategy, this.choice(curve), this.cells[line], this.same[line], html("td", {}, this.remover(curve, curves, view))]);
    this.fill(this.head(), lines, view);
  }

  head() {
    const column = (title, about) => html("th", { scope: "col", title: about }, title.startsWith("Part") ? ["Part", html("wbr"), title.slice(4)] : title);
    this.here = html("th", { scope: "colgroup", colspan: 3 });
    return [
      [html("th", { scope: "col", rowspan: 2 }, "strategy"), this.here,
        html("th", { scope: "colgroup", colspan: 3, title: "Exact areas under the curves, from τ = 0 to 1" }, "over all τ"),
        html("th", { scope: "col", rowspan: 2, title: "Another curve that this one lies on" }, "same as"), html("td", { rowspan: 2 })],
      [...SCORES.map((key) => column(named(key), QUANTITIES[key].about)),
        ...SCORES.map((key) => column(named(key, "areaName"), `area under ${named(key)} over τ`))],
    ];
  }

  choice({ strategy, proven }) {
    const { label, about } = this.strategies.get(strategy);
    return html("button", { class: "plain", title: about, onclick: () => this.store.view({ strategy }) }, swatch(strategy), breakable(unproven({ proven }) ? `${label} *` : label));
  }

  remover({ strategy }, curves, view) {
    const { label } = this.strategies.get(strategy);
    const disabled = curves.length === 1 || strategy === view.strategy;
    return html("button", { class: "plain quiet", title: "Stop comparing this strategy", "aria-label": `Remove ${label}`, disabled, onclick: () => this.drop(strategy) }, "×");
  }

  drop(strategy) {
    const { compared } = this.store.state.view;
    this.store.view({ compared: compared.filter((id) => id !== strategy) });
  }
}

/** Whether a strategy that looks for the maximum has not proven that it found it. */
const unproven = ({ proven }) => proven === false;

/** Strategies × thresholds: every cell is a score, shaded by its value. */
export class Table extends StrategyTable {
  constructor(store, strategies) {
    super(store, strategies, "#table");
  }

  take({ table, quality }) {
    const { view } = this.store.state;
    this.thresholds = table.thresholds;
    this.ready(table.rows, view, view.threshold, view.table, quality);
    table.rows.forEach((row, line) => row[view.table].forEach((value, at) => fillCell(this.cells[line][at], row, at, value)));
  }

  build(rows, view) {
    const near = (threshold) => Math.abs(threshold - view.threshold) < 1e-9;
    const head = this.thresholds.map((threshold) =>
      html("th", { scope: "col", class: near(threshold) ? "now" : "" },
        html("button", { class: "plain", title: `Set τ to ${threshold}`, onclick: () => this.store.view({ threshold }) }, String(threshold))),
    );
    this.cells = rows.map(() => this.thresholds.map((threshold) => html("td", { class: `shaded ${near(threshold) ? "now" : ""}` })));
    const lines = rows.map(({ strategy }, line) => [strategy, html("div", {}, swatch(strategy), breakable(this.strategies.get(strategy).label)), this.cells[line]]);
    this.fill([[html("th", { scope: "col" }, `${named(view.table)} at τ =`), ...head]], lines, view);
  }
}

function fillCell(cell, row, at, value) {
  const counts = `TP ${row.tp[at]}, FP ${row.fp[at]}, FN ${row.fn[at]}`;
  write(cell, score(value).replace(/^0\./, "."), `${precise(value)} · ${counts}`);
  const share = (value ?? 0).toFixed(3);
  if (cell.share !== share) cell.style.setProperty("--share", (cell.share = share));
}

// Many-to-many, which has no PQ: what would be counted, and what to ask instead.

import { html, write } from "./dom.js";
import { Mini } from "./mini.js";
import { plural, score, size } from "./wording.js";

const KINDS = {
  "1-1": ["pair", "pairs"],
  "1-n": ["reference with several predictions", "references with several predictions"],
  "n-1": ["prediction with several references", "predictions with several references"],
  "n-m": ["tangle of several references and predictions", "tangles of several references and predictions"],
  reference: ["missed reference", "missed references"],
  prediction: ["spurious prediction", "spurious predictions"],
};

const ROWS = { references: "references, TP + FN", predictions: "predictions, TP + FP", pixels: "pixels predicted" };

const pixels = (value) => size(Math.round(value));

export class AllEdges {
  constructor(store) {
    this.store = store;
    this.mini = new Mini("Scene with a line for every pair above τ");
    this.rows = new Map(Object.entries(ROWS).map(([key, name]) => [key, { name, counted: html("td"), there: html("td") }]));
    this.table = html("table", { class: "double" },
      html("thead", {}, html("tr", {}, html("td"), html("th", { scope: "col" }, "counted"), html("th", { scope: "col" }, "really there"))),
      html("tbody", {}, [...this.rows.values()].map(({ name, counted, there }) => html("tr", {}, html("th", { scope: "row" }, name), counted, there))));
    this.verdict = html("p", { "aria-live": "polite" });
    this.groups = html("p", { class: "quiet" });
    this.root = html("div", { class: "all-edges" }, this.mini.root, html("div", {}, this.table, this.verdict, this.groups));
  }

  take({ story }) {
    const found = story?.all_edges;
    if (!found) return;
    this.found = found;
    const { pairs, counted_twice: twice, shared } = found;
    this.mini.draw(this.store.state.scene, { lines: pairs.map((pair) => ({ pair, kind: "match" })) });
    for (const [key, { counted, there }] of this.rows) {
      write(counted, pixels(found[key].counted));
      write(there, pixels(found[key].there));
      counted.classList.toggle("wrong", found[key].counted !== found[key].there);
    }
    write(this.verdict, twice > 0
      ? `${plural(shared, "prediction has", "predictions have")} several owners, and ${pixels(twice)} pixels are counted twice.`
      : "No prediction has several owners, and no pixel is counted twice.");
    this.tellGroups();
  }

  /** Other metrics come a moment later. */
  related({ rows }) {
    this.cluster = rows.find(({ id }) => id === "cluster-dice");
    this.tellGroups();
  }

  tellGroups() {
    if (!this.found) return;
    const groups = this.found.groups.map(({ kind, count }) => plural(count, ...KINDS[kind])).join(", ");
    const dice = this.cluster && this.cluster.value !== null ? ` Cluster Dice, of everything that touches: ${score(this.cluster.value)}.` : "";
    write(this.groups, `A better question is about groups. Here: ${groups}.${dice}`);
  }
}

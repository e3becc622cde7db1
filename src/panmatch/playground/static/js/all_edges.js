// Many-to-many, which has no PQ: what would be counted, and what to ask instead.

import { html, write } from "./dom.js";
import { Mini } from "./mini.js";
import { plural, score, size } from "./wording.js";

const KINDS = {
  pair: ["pair", "pairs"],
  split: ["reference with several predictions", "references with several predictions"],
  merged: ["prediction with several references", "predictions with several references"],
  tangled: ["tangle of several references and predictions", "tangles of several references and predictions"],
  missed: ["missed reference", "missed references"],
  spurious: ["spurious prediction", "spurious predictions"],
};

export class AllEdges {
  constructor(store) {
    this.store = store;
    this.mini = new Mini("Scene with a line for every pair above τ");
    const cells = () => [html("td"), html("td")];
    this.rows = { hits: cells(), pixels: cells() };
    this.table = html("table", { class: "double" },
      html("tbody", {},
        html("tr", {}, html("th", { scope: "row" }, "hits, one per line"), this.rows.hits[0], html("th", { scope: "row" }, "objects"), this.rows.hits[1]),
        html("tr", {}, html("th", { scope: "row" }, "pixels in all unions"), this.rows.pixels[0], html("th", { scope: "row" }, "pixels predicted"), this.rows.pixels[1])));
    this.verdict = html("p", { "aria-live": "polite" });
    this.groups = html("p", { class: "quiet" });
    this.root = html("div", { class: "all-edges" }, this.mini.root, html("div", {}, this.table, this.verdict, this.groups));
  }

  take({ story }) {
    const found = story?.all_edges;
    if (!found) return;
    this.found = found;
    const { pairs, references, in_unions: union, predicted, counted_twice: twice, shared } = found;
    this.mini.draw(this.store.state.scene, { lines: pairs.map((pair) => ({ pair, kind: "match" })) });
    const pixels = (value) => size(Math.round(value));
    [pairs.length, references].forEach((value, at) => write(this.rows.hits[at], size(value)));
    [union, predicted].forEach((value, at) => write(this.rows.pixels[at], pixels(value)));
    for (const [name, differ] of [["hits", pairs.length > references], ["pixels", twice > 0]]) {
      this.rows[name][0].classList.toggle("wrong", differ);
    }
    write(this.verdict, twice > 0
      ? `${plural(shared, "prediction")} with several owners: ${pixels(twice)} pixels are counted more than once.`
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
    write(this.groups, `Ask about groups instead: ${groups}.${dice}`);
  }
}

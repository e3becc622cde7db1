// Small multiples: the same scene under one strategy of every family, side by side.

import { belowCut } from "./confidence.js";
import { find, html, write } from "./dom.js";
import { matchedIds, Mini } from "./mini.js";
import { hue } from "./strategies.js";
import { named, precise, score } from "./wording.js";

const COUNTS = { tp: "TP", fp: "FP", fn: "FN" };

export class Multiples {
  /** `choose` makes a strategy the chosen one. */
  constructor(store, strategies, choose) {
    Object.assign(this, { store, strategies, choose, root: find("#multiples"), tiles: [] });
  }

  lacks(numbers) {
    return !numbers?.story?.families;
  }

  take({ story }) {
    const families = story?.families;
    if (!families) return;
    if (this.tiles.length !== families.length) {
      this.tiles = families.map(() => this.tile());
      this.root.replaceChildren(...this.tiles.map(({ root }) => root));
    }
    families.forEach((family, at) => this.fill(this.tiles[at], family));
  }

  tile() {
    const mini = this.store.state.scene && new Mini("");
    const [title, variant, name, pq] = [html("b"), html("span", { class: "quiet variant" }), html("span"), html("b", { class: "multiple-pq" })];
    const counts = Object.fromEntries(Object.entries(COUNTS).map(([key, word]) => [key, html("span", { class: `count ${key}` }, `${word} `, html("b"))]));
    const tile = { title, variant, name, pq, counts, mini };
    tile.root = html("button", { class: "multiple", onclick: () => this.choose(tile.strategy) },
      html("span", { class: "multiple-inside" },
        html("span", { class: "multiple-title" }, title, " ", variant), mini?.root ?? "",
        html("span", { class: "multiple-numbers" }, html("span", {}, name, " ", pq), html("span", { class: "multiple-counts" }, Object.values(counts)))));
    return tile;
  }

  fill(tile, { strategy, pairs, tally }) {
    tile.strategy = strategy;
    const { label, family, about } = this.strategies.get(strategy);
    const chosen = strategy === this.store.state.view.strategy;
    tile.root.className = `multiple ${hue(strategy)}`;
    tile.root.setAttribute("aria-pressed", chosen);
    tile.root.title = chosen ? about : `${about} Click to choose this strategy.`;
    write(tile.title, family);
    write(tile.variant, label.slice(family.length).trim());
    write(tile.name, named("pq"));
    write(tile.pq, score(tally.pq), precise(tally.pq));
    for (const key of Object.keys(COUNTS)) write(tile.counts[key].querySelector("b"), String(tally[key]));
    const { scene } = this.store.state;
    if (tile.mini && scene) {
      tile.mini.draw(scene, { lines: pairs.map((pair) => ({ pair, kind: "match" })), matched: matchedIds(pairs), isBelow: belowCut(this.store.state), label: `Matches of ${label}` });
    }
  }
}

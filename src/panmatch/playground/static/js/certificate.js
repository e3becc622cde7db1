// What is known about the maximum PQ of the chosen strategy.

import { find, html } from "./dom.js";
import { score } from "./wording.js";

export class Certificate {
  constructor(store, strategies) {
    this.store = store;
    this.strategies = strategies;
    this.root = find("#certificate");
  }

  take(numbers) {
    const words = this.words(numbers);
    const text = words.map((word) => word.textContent ?? word).join("");
    if (text !== this.text) this.root.replaceChildren(...words);
    this.text = text;
  }

  words({ certificate, shortfall, tally, quality }) {
    if (tally.status === "empty") return certificate ? ["Neither side has an object, so PQ is undefined and there is nothing to prove."] : [];
    if (certificate) return proof(certificate, quality === "parts");
    if (!shortfall || shortfall.pq === null || tally.pq === null) return [];
    const { label } = this.strategies.get(shortfall.optimal);
    const missing = shortfall.pq - tally.pq;
    if (missing < 1e-12) return [html("span", { class: "badge good" }, "optimal"), ` ${shortfall.proven ? "Proven: no matching of this strategy has a higher PQ." : "No matching with a higher PQ was found."}`];
    return [html("span", { class: "badge warn" }, `− ${score(missing)}`), ` This heuristic falls short of the maximum PQ, ${score(shortfall.pq)}. Switch to `,
      html("button", { class: "link", onclick: () => this.adopt(shortfall.optimal) }, label)];
  }

  adopt(strategy) {
    const { compared } = this.store.state.view;
    this.store.view({ strategy, compared: compared.includes(strategy) ? compared : [...compared, strategy] });
  }
}

/** What is proven. It is about the IoU of whole objects, so with parts it says so first. */
function proof({ proven, value, bound }, byParts) {
  const [begin, end] = byParts
    ? ["By the IoU of whole objects, ", " Nothing is proven about PartPQ: another matching may have a higher PartPQ."]
    : ["", ""];
  const words = proven
    ? `${begin}no matching of this strategy has a higher PQ than ${score(value)}.${end}`
    : `${begin}the maximum PQ of this strategy is proven to be at most ${score(bound)}.${end}`;
  const badge = html("span", { class: proven ? "badge good" : "badge" }, `${proven ? "proven" : "bounded"}${byParts ? " for PQ" : ""}`);
  return [badge, ` ${words[0].toUpperCase()}${words.slice(1)}`];
}

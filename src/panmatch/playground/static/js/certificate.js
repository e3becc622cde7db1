// What is known about the maximum PQ that matchings of the chosen kind can have.

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
    if (certificate) {
      const of = quality === "parts" ? " (by IoU; nothing is proven about PartPQ)" : "";
      return certificate.proven
        ? [html("span", { class: "badge good" }, "proven"), ` No matching of this kind has a higher PQ than ${score(certificate.value)}${of}.`]
        : [html("span", { class: "badge" }, "bounded"), ` The maximum PQ of this kind is proven to be at most ${score(certificate.bound)}${of}.`];
    }
    if (!shortfall || shortfall.pq === null || tally.pq === null) return [];
    const { label } = this.strategies.get(shortfall.optimal);
    const missing = shortfall.pq - tally.pq;
    if (missing < 1e-12) return [html("span", { class: "badge good" }, "optimal"), ` ${shortfall.proven ? "Proven" : "As far as is known"}: no matching of this kind has a higher PQ.`];
    return [html("span", { class: "badge warn" }, `− ${score(missing)}`), ` This heuristic misses the maximum PQ of ${score(shortfall.pq)}: `,
      html("button", { class: "link", onclick: () => this.adopt(shortfall.optimal) }, label)];
  }

  adopt(strategy) {
    const { compared } = this.store.state.view;
    this.store.view({ strategy, compared: compared.includes(strategy) ? compared : [...compared, strategy] });
  }
}

// What is known about the maximum PQ of the chosen strategy.

import { find, html } from "./dom.js";
import { precise, score } from "./wording.js";

const SAME = 1e-12; // difference of two PQ that is rounding

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
    const missing = shortfall.pq - tally.pq;
    return missing < SAME ? unbeaten(shortfall) : this.gap(missing, shortfall);
  }

  /** By how much a heuristic misses the best matching that is known. */
  gap(missing, { optimal, pq, proven }) {
    const { label } = this.strategies.get(optimal);
    const best = proven ? "the maximum PQ" : "the best PQ found";
    return [html("span", { class: "badge warn", title: precise(missing) }, missing < 0.0005 ? "− less than 0.001" : `− ${score(missing)}`), ` This heuristic falls short of ${best}, ${score(pq)}. Switch to `,
      html("button", { class: "link", onclick: () => this.adopt(optimal) }, label)];
  }

  adopt(strategy) {
    const { compared } = this.store.state.view;
    this.store.view({ strategy, compared: compared.includes(strategy) ? compared : [...compared, strategy] });
  }
}

/** A heuristic that reaches the best matching known is optimal only if that one is. */
const unbeaten = ({ proven }) => (proven
  ? [html("span", { class: "badge good" }, "optimal"), " Proven: no matching of this strategy has a higher PQ."]
  : [html("span", { class: "badge" }, "not proven"), " No matching with a higher PQ was found, but the search stopped early."]);

/** Three digits of a bound are a bound, too. */
const roundedUp = (bound) => Math.min(1, Math.ceil(1000 * bound - 1e-6) / 1000);

/** What is proven. It is about the IoU of whole objects, so with parts it says so first. */
function proof({ proven, value, bound }, byParts) {
  const [begin, end] = byParts
    ? ["By the IoU of whole objects, ", " Nothing is proven about PartPQ: another matching may have a higher PartPQ."]
    : ["", ""];
  const words = proven
    ? `${begin}no matching of this strategy has a higher PQ than ${score(value)}.${end}`
    : `${begin}the maximum PQ of this strategy is proven to be at most ${score(roundedUp(bound))}.${end}`;
  const badge = html("span", { class: proven ? "badge good" : "badge" }, `${proven ? "proven" : "bounded"}${byParts ? " for PQ" : ""}`);
  return [badge, ` ${words[0].toUpperCase()}${words.slice(1)}`];
}

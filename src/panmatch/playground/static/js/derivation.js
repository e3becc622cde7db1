// The sums that give SQ, RQ and PQ, term by term.

import { find, html, patch } from "./dom.js";
import { plural, precise, score, short, size } from "./wording.js";

const MOST_TERMS = 24;

export class Derivation {
  constructor() {
    this.root = find("#derivation");
    this.terms = html("div", { class: "terms", tabindex: 0, role: "group", "aria-label": "Terms of the sums" });
    this.sums = html("div", { class: "sums" });
    this.root.replaceChildren(this.terms, this.sums);
  }

  take({ tally, terms, quality }) {
    const part = quality === "parts" ? "Part" : "";
    const shown = terms.slice(0, MOST_TERMS);
    const note = this.note(tally, tally.tp - shown.length);
    patch(this.terms, [
      ...shown.map((term) => [JSON.stringify(term), () => this.row(term)]),
      ...(note ? [[note, () => html("p", { class: "quiet" }, note)]] : []),
    ]);
    const sums = [
      [`${part}SQ`, `Σ quality / TP = ${score(tally.quality)} / ${tally.tp}`, tally.sq],
      ["RQ", `TP / (TP + ½ FP + ½ FN) = ${tally.tp} / (${tally.tp} + ½·${tally.fp} + ½·${tally.fn})`, tally.rq],
      [`${part}PQ`, `Σ quality / (TP + ½ FP + ½ FN) = ${part}SQ · RQ = ${score(tally.quality)} / ${half(tally)}`, tally.pq],
    ];
    patch(this.sums, sums.map((sum) => [JSON.stringify(sum), () => equation(...sum)]));
  }

  note(tally, hidden) {
    if (hidden > 0) return `… and ${plural(hidden, "more true positive")}`;
    if (tally.status === "empty") return "Neither side has an object, so PQ is undefined.";
    return tally.tp ? "" : "No reference is matched at this threshold.";
  }

  row({ reference, predictions, intersection, union, quality, parts }) {
    const names = predictions.map((id) => html("span", { class: "prediction", "data-p": id }, short("prediction", id)));
    const joined = names.flatMap((name, at) => (at ? [" ∪ ", name] : [name]));
    const formula = parts
      ? html("span", { class: "formula" }, `(${parts.map(({ iou }) => score(iou)).join(" + ")}) / ${parts.length}`)
      : html("span", { class: "formula" }, `${size(intersection)} / ${size(union)}`);
    const row = html("div", { class: "term", "data-r": reference, title: parts ? partTitle(parts) : `intersection / union = ${intersection} / ${union}` },
      html("span", { class: "who" }, html("span", { class: "reference" }, short("reference", reference)), " ↔ ", joined),
      formula,
      html("b", { title: precise(quality) }, score(quality)));
    if (predictions.length === 1) row.dataset.p = predictions[0];
    return row;
  }
}

const half = ({ tp, fp, fn }) => String(tp + fp / 2 + fn / 2);

const partTitle = (parts) =>
  parts.map(({ part, intersection, union }) => `${part ? `part ${part}` : "background"}: ${size(intersection)} / ${size(union)}`).join("\n");

const equation = (name, text, value) =>
  html("div", { class: "equation", title: "TP: true positives, FP: false positives, FN: false negatives" }, html("b", {}, name), html("span", {}, `= ${text}`), html("b", { class: "value", title: precise(value) }, score(value)));

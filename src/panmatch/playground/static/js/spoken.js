// The page for those who hear it: scores when they come to rest, and what the pictures show, in words.

import { keptWords } from "./cut_slider.js";
import { find, html } from "./dom.js";
import { plural, score, short, tau } from "./wording.js";

const REST_MILLISECONDS = 900; // without new numbers, before anything is said
const MOST_LINES = 100;

export class Spoken {
  constructor(store, strategies) {
    Object.assign(this, { store, strategies });
    this.status = html("p", { id: "spoken", class: "unseen", role: "status" });
    document.body.append(this.status);
    this.graph = describe("#graph", "graph-words");
    this.matrix = describe("#matrix", "matrix-words");
  }

  take(numbers) {
    this.numbers = numbers;
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => this.rest(), REST_MILLISECONDS);
  }

  /** Speak, unless something is still being dragged. */
  rest() {
    if (this.store.dragging || !this.store.state) return this.take(this.numbers);
    const { view } = this.store.state;
    tell(this.status, this.scores(this.numbers, view));
    const { vertices, edges, left_out: leftOut } = this.numbers;
    list(this.graph, [...references(vertices, edges), ...unmatched(vertices)], leftOut.reference + leftOut.prediction, "object");
    list(this.matrix, pairs(vertices, edges), leftOut.edges, "pair");
  }

  scores({ tally, quality, confidence }, view) {
    const cut = confidence ? `, ${keptWords(confidence.kept, confidence.below)}` : "";
    const how = `${this.strategies.get(view.strategy).label}, ${tau(view.threshold)}${cut}`;
    if (tally.pq === null) return `PQ is undefined, because neither side has an object. ${how}.`;
    const part = quality === "parts" ? "Part" : "";
    const counts = [plural(tally.tp, "true positive"), plural(tally.fp, "false positive"), plural(tally.fn, "false negative")].join(", ");
    return `${part}PQ ${score(tally.pq)}, ${part}SQ ${score(tally.sq)}, RQ ${score(tally.rq)}; ${counts}. ${how}.`;
  }
}

/** A list that describes a picture, after it and out of sight. */
function describe(selector, id) {
  const words = html("ul", { id, class: "unseen" });
  find(selector).after(words);
  find(`${selector} svg`)?.setAttribute("aria-describedby", id);
  return words;
}

function list(element, lines, more, noun) {
  const shown = lines.slice(0, MOST_LINES);
  const left = lines.length - shown.length + more;
  if (left) shown.push(`… and ${plural(left, `more ${noun}`)}.`);
  const text = JSON.stringify(shown);
  if (text !== element.said) element.replaceChildren(...shown.map((words) => html("li", {}, words)));
  element.said = text;
}

function tell(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** Every reference with what it is matched to. */
function references(vertices, edges) {
  const partners = new Map();
  for (const [ref, pred, , iou, , chosen] of edges) {
    if (chosen) partners.set(ref, [...(partners.get(ref) ?? []), `${short("prediction", vertices.prediction[pred].id)} (IoU ${score(iou)})`]);
  }
  return vertices.reference.map(({ id }, at) => {
    const name = short("reference", id);
    return partners.has(at) ? `${name} is matched to ${partners.get(at).join(", ")}.` : `${name} has no match: a false negative.`;
  });
}

const unmatched = ({ prediction }) => prediction
  .filter(({ state }) => state === "fp" || state === "dismissed")
  .map(({ id, state }) => `${short("prediction", id)} ${state === "fp" ? "has no match: a false positive." : "is dismissed: it lies in void or crowd."}`);

const pairs = (vertices, edges) => edges.map(([ref, pred, , iou, passes, chosen]) =>
  `${short("reference", vertices.reference[ref].id)} and ${short("prediction", vertices.prediction[pred].id)}: IoU ${score(iou)}, ${chosen ? "matched" : passes ? "above τ, not matched" : "not above τ"}.`);

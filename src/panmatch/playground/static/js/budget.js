// Where 1 − PQ is lost: how much each repair would gain, and the costliest mistakes.

import { find, html, whenResized, write } from "./dom.js";
import { precise, score, short, size } from "./wording.js";

const LETTER = 6.6; // width of one, about
const AROUND = 12; // room beside a name
const PATTERNS = { "": "plain", "/": "rising", "\\": "falling", ".": "dotted", x: "crossed" };
const KINDS = { split: "split", merged: "merged", missed: "missed", spurious: "spurious", outline: "outline" };

export class Budget {
  /** `looks` says how the kinds of losses are written and drawn, in their order. */
  constructor(store, strategies, looks) {
    Object.assign(this, { store, strategies, root: find("#budget") });
    this.looks = new Map(looks.map((look) => [look.kind, look]));
    this.sentence = html("p", { class: "quiet" });
    this.bar = html("div", { class: "losses", role: "img" });
    this.parts = new Map(["pq", ...this.looks.keys()].map((kind) => [kind, this.part(kind)]));
    this.table = html("table", { class: "repairs" }, head(), html("tbody"));
    this.rows = new Map([...this.looks.keys()].map((kind) => [kind, this.row(kind)]));
    this.total = html("td");
    this.mistakes = html("ol", { class: "mistakes" });
    this.note = html("p", { class: "quiet" });
    const list = html("div", {}, html("h3", {}, "Costliest mistakes ", html("small", {}, "how much PQ rises if you repair only that one")), this.mistakes, this.note);
    this.shown = html("div", { class: "budget-columns" }, html("div", { class: "scroll" }, this.table), list);
    this.root.replaceChildren(this.sentence, this.bar, this.shown);
    this.width = 0;
    whenResized(this.bar, (width) => {
      this.width = width;
      if (width && this.budget) this.drawBar(this.budget);
    });
  }

  take({ budget, quality }) {
    if (!budget) return; // while something is dragged it comes now and then only
    const { pq, loss, repairs, mistakes, more_mistakes: more } = budget;
    this.budget = pq === null ? null : budget;
    const { strategy } = this.store.state.view;
    write(this.sentence, this.words(this.strategies.get(strategy), pq, quality));
    this.bar.hidden = this.shown.hidden = pq === null;
    if (pq === null) return;
    this.drawBar(budget);
    this.fillTable(loss, repairs);
    this.list(mistakes ?? []);
    write(this.note, noteOn(mistakes, more));
  }

  words({ label, takes_repairs: takes, needs_regions: regions }, pq, quality) {
    if (pq === null) return "Neither side has an object, so PQ is undefined and nothing is lost.";
    const words = [];
    if (quality === "parts") words.push(`This is about PQ by the IoU of whole objects, which is ${score(pq)}; PartPQ has no such budget.`);
    if (!takes) words.push(`Under ${label} nothing counts as split or merged: ${regions ? "the Voronoi regions" : "the ids"} say which objects belong together.`);
    return words.join(" ");
  }

  part(kind) {
    const { colour, pattern = "" } = this.looks.get(kind) ?? {};
    const part = html("span", { class: `loss ${kind} ${PATTERNS[pattern]}` });
    if (colour) part.style.setProperty("--loss", colour);
    return part;
  }

  /** PQ and what is lost, from 0 to 1; a repair that does harm stands left of 0. */
  drawBar({ pq, repairs }) {
    const parts = [{ kind: "pq", share: pq }, ...repairs];
    const harm = parts.filter(({ share }) => share < 0);
    const order = [...harm, ...parts.filter(({ share }) => share > 0)];
    const span = order.reduce((sum, { share }) => sum + Math.abs(share), 0);
    const elements = order.map(({ kind, share }) => this.dress(kind, share, Math.abs(share) / span));
    if (elements.length !== this.bar.children.length || elements.some((one, at) => this.bar.children[at] !== one)) this.bar.replaceChildren(...elements);
    const said = order.map(({ kind, share }) => `${this.title(kind)} ${score(share)}`).join(", ");
    if (said !== this.said) this.bar.setAttribute("aria-label", (this.said = said));
  }

  dress(kind, share, width) {
    const part = this.parts.get(kind);
    part.style.width = `${100 * width}%`;
    part.classList.toggle("harm", share < 0);
    const name = `${this.title(kind)} ${share.toFixed(2).replace("-", "−")}`;
    write(part, LETTER * name.length + AROUND > width * this.width ? "" : name, `${this.title(kind)}: ${precise(share)}`);
    return part;
  }

  title(kind) {
    return this.looks.get(kind)?.title ?? "PQ";
  }

  row(kind) {
    const cells = Array.from({ length: 3 }, () => html("td"));
    const key = this.part(kind);
    key.classList.add("key");
    return { cells, element: html("tr", { "data-repair": kind }, html("th", { scope: "row" }, key, this.title(kind)), cells) };
  }

  fillTable(loss, repairs) {
    const kinds = repairs.map(({ kind }) => kind).join();
    if (kinds !== this.kinds) {
      const together = html("tr", { class: "together" }, html("th", { scope: "row", colspan: 3 }, "together, 1 − PQ"), this.total);
      this.table.tBodies[0].replaceChildren(...repairs.map(({ kind }) => this.rows.get(kind).element), together);
    }
    this.kinds = kinds;
    for (const { kind, alone, last, share } of repairs) {
      [alone, last, share].forEach((value, at) => write(this.rows.get(kind).cells[at], signed(value), precise(value)));
    }
    write(this.total, score(loss), precise(loss));
  }

  /** One row per mistake; rows stay, so that one that has the focus keeps it. */
  list(mistakes) {
    const { children } = this.mistakes;
    while (children.length > mistakes.length) children[mistakes.length].remove();
    while (children.length < mistakes.length) this.mistakes.append(this.mistake());
    mistakes.forEach((mistake, at) => this.tell(children[at], mistake));
  }

  mistake() {
    const [key, kind, who, cost] = [html("span", { class: "loss key" }), html("span"), html("span", { class: "who" }), html("b")];
    const item = html("li", { tabindex: 0 }, key, kind, who, cost);
    return Object.assign(item, { pieces: { key, kind, who, cost } });
  }

  tell(item, { kind, references, predictions, cost }) {
    const { key, kind: word, who, cost: gain } = item.pieces;
    const objects = JSON.stringify([references, predictions]);
    if (item.kind !== kind) {
      key.className = `key ${this.parts.get(kind).className}`;
      key.style.setProperty("--loss", this.looks.get(kind).colour);
    }
    item.kind = kind;
    if (item.dataset.objects !== objects) {
      item.dataset.objects = objects;
      who.replaceChildren(...named("reference", references), references.length && predictions.length ? " ↔ " : "", ...named("prediction", predictions));
    }
    write(word, KINDS[kind]);
    write(gain, signed(cost), precise(cost));
  }
}

const named = (side, ids) => ids.flatMap((id, at) => [at ? ", " : "", html("span", { class: side }, short(side, id))]);

/** Three digits; what a strategy loses by a repair has a minus sign, and no number is −0. */
const signed = (value) => score(value).replace(/^-0\.000$/, "0.000").replace("-", "−");

function noteOn(mistakes, more) {
  if (mistakes === null) return "With so many objects, looking for single mistakes would slow this page down. pm.find_mistakes lists them.";
  if (more) return `… and ${size(more)} more that cost no more than these.`;
  return mistakes.length ? "" : "There are no mistakes.";
}

const head = () =>
  html("thead", {}, html("tr", {},
    html("th", { scope: "col" }, "repair"),
    html("th", { scope: "col", title: "PQ if you repair this kind of mistake and nothing else" }, "PQ after it alone"),
    html("th", { scope: "col", title: "how much this repair adds to PQ once all other repairs are done" }, "gain if done last"),
    html("th", { scope: "col", title: "how much this repair adds to PQ, averaged over all orders of the repairs (Shapley value)" }, "share of 1 − PQ")));

// Greedy matching, edge by edge: a stepper over the walk that the answer tells.

import { belowCut } from "./confidence.js";
import { html, patch, write } from "./dom.js";
import { matchedIds, Mini } from "./mini.js";
import { score, short } from "./wording.js";

const BEAT_MILLISECONDS = 1100;
const calm = matchMedia("(prefers-reduced-motion: reduce)");
const KINDS = {
  taken: "match", joined: "match",
  "below threshold": "refused", "prediction taken": "refused", "reference taken": "refused", "no gain": "refused",
};
const SAYINGS = {
  taken: ({ r, p, iou }) => `${r} takes ${p}, with an IoU of ${iou}.`,
  joined: ({ r, p, before, after }) => `${p} joins ${r}: the IoU of the union rises from ${before} to ${after}.`,
  "below threshold": ({ r, p, iou }) => `${r} and ${p} do not get past τ: their IoU is ${iou}.`,
  "prediction taken": ({ r, p }) => `${r} would like ${p}, but ${p} is taken.`,
  "reference taken": ({ r, p }) => `${p} would like ${r}, but ${r} has a partner.`,
  "no gain": ({ r, p, before, after }) => `${p} stays out of ${r}: the IoU of the union would not rise (${before} → ${after}).`,
};
const WORDS = {
  taken: "taken", joined: "joins the union", "below threshold": "not above τ", "prediction taken": "prediction is taken",
  "reference taken": "reference is taken", "no gain": "IoU would not rise",
};

export class Walk {
  constructor(store, strategies) {
    Object.assign(this, { store, strategies, at: 0, walk: null });
    this.mini = store.state?.scene === null ? null : new Mini("Scene with the pairs matched so far");
    this.list = html("ol", { class: "visits", tabindex: 0, "aria-label": "Pairs, from the highest IoU to the lowest" });
    this.saying = html("p", { class: "saying", "aria-live": "polite" });
    const button = (text, title, act) => html("button", { title, "aria-label": title, onclick: act }, text);
    this.restart = button("↺", "Back to the start", () => this.go(0));
    this.back = button("◀", "One pair back", () => this.go(this.at - 1));
    this.step = button("Next pair ▶", "Visit the next pair", () => this.go(this.at + 1));
    this.play = button("Play", "Visit the pairs one after the other", () => this.toggle());
    this.root = html("div", { class: "walk" },
      this.mini?.root ?? "",
      html("div", { class: "walk-side" },
        html("div", { class: "row" }, this.restart, this.back, this.step, this.play),
        this.saying, this.list));
  }

  take({ story }) {
    const walk = story?.walk;
    if (!walk) return;
    if (walk.strategy !== this.walk?.strategy) this.at = 0;
    this.walk = walk;
    this.go(Math.min(this.at, walk.visits.length), { keep: true });
  }

  /** Begin again, for a new scene. */
  reset() {
    this.pause();
    this.at = 0;
  }

  go(at, { keep = false } = {}) {
    if (!keep) this.pause();
    this.at = Math.max(0, Math.min(at, this.walk?.visits.length ?? 0));
    if (this.walk) this.draw();
  }

  toggle() {
    if (this.beat) return this.pause();
    if (this.at >= this.walk.visits.length) this.at = 0;
    this.go(this.at + 1, { keep: true });
    this.beat = setInterval(() => {
      if (this.at >= this.walk.visits.length || !this.root.isConnected) this.pause();
      else this.go(this.at + 1, { keep: true });
    }, BEAT_MILLISECONDS);
    write(this.play, "Pause");
  }

  pause() {
    clearInterval(this.beat);
    this.beat = null;
    write(this.play, "Play");
  }

  draw() {
    const { visits } = this.walk;
    const done = visits.slice(0, this.at);
    const { scene } = this.store.state;
    if (this.mini && scene) this.mini.draw(scene, { lines: this.lines(done), matched: matchedIds(done.filter(isMatch).map(pairOf)), isBelow: belowCut(this.store.state) });
    patch(this.list, visits.map((visit, at) => {
      const state = at < this.at ? (isMatch(visit) ? "match" : "refused") : "ahead";
      const now = at === this.at - 1;
      return [JSON.stringify([visit, state, now]), () => row(visit, state, now)];
    }));
    this.list.querySelector(".now")?.scrollIntoView({ block: "nearest" });
    write(this.saying, this.words(done));
    this.restart.disabled = this.back.disabled = !this.at;
    this.step.disabled = this.at >= visits.length;
    this.play.disabled = !visits.length;
    this.play.hidden = calm.matches;
  }

  lines(done) {
    const current = done.at(-1);
    const kept = done.filter((visit) => isMatch(visit) || visit === current);
    return kept.map((visit) => ({ pair: pairOf(visit), kind: `${KINDS[visit.decision]} ${visit === current ? "now" : ""}` }));
  }

  words(done) {
    const { visits } = this.walk;
    if (!visits.length) return "No reference overlaps a prediction, so there is nothing to visit.";
    if (!done.length) return "Pairs are visited from the highest IoU to the lowest.";
    const { reference, prediction, iou, before, after, decision } = done.at(-1);
    const said = SAYINGS[decision]({
      r: short("reference", reference), p: short("prediction", prediction), iou: score(iou), before: score(before), after: score(after),
    });
    return done.length === visits.length ? `${said} ${this.ending()}` : said;
  }

  ending() {
    const { pq, optimum, left_out: more } = this.walk;
    if (more) return `So it goes on for ${more} more pairs, up to a PQ of ${score(pq)}.`;
    const end = `That is the end, with a PQ of ${score(pq)}.`;
    if (!optimum?.proven) return end;
    return optimum.pq > pq ? `${end} ${this.strategies.get(optimum.optimal).label} reaches ${score(optimum.pq)}.` : `${end} No other choice has a higher one.`;
  }
}

const isMatch = ({ decision }) => KINDS[decision] === "match";
const pairOf = ({ reference, prediction }) => [reference, prediction];

function row({ reference, prediction, iou, decision }, state, now) {
  return html("li", { class: `${state} ${now ? "now" : ""}`, "aria-current": now ? "step" : null, "data-r": reference, "data-p": prediction },
    html("span", {}, html("span", { class: "reference" }, short("reference", reference)), " – ", html("span", { class: "prediction" }, short("prediction", prediction))),
    html("span", {}, score(iou)),
    html("span", { class: "decision" }, state === "ahead" ? "" : WORDS[decision]));
}

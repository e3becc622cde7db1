// The guided tour: a card with a text, a guess, a goal and, in some steps, a picture of its own.

import { AllEdges } from "./all_edges.js";
import { find, html, write } from "./dom.js";
import { isMet, needsAllEdges, progress, strategiesOf } from "./goals.js";
import { Pieces } from "./pieces.js";
import { Walk } from "./walk.js";

const PLACES = {
  scene: "#scene", threshold: ".slider", strategy: "#strategy", regions: "#regions", parts: "#parts", headline: "#headline",
};
const calm = matchMedia("(prefers-reduced-motion: reduce)");
const FAREWELL = "You have met every idea on this page. Choose another scene from the list at the top, draw your own, or look at your files with panmatch play REF PRED.";

export class Tour {
  /** `page` can open a step and share it, and knows the strategies. */
  constructor(store, steps, page) {
    Object.assign(this, { store, steps, page, root: find("#tour"), at: -1, met: new Set(), guesses: new Map() });
    this.touched = new CSSStyleSheet();
    document.adoptedStyleSheets = [...document.adoptedStyleSheets, this.touched];
    this.build();
  }

  build() {
    this.dots = this.steps.map(({ title }, at) =>
      html("button", { class: "dot", title: `${at + 1}. ${title}`, "aria-label": `Step ${at + 1}: ${title}`, onclick: () => this.page.open(this.steps[at]) }));
    this.title = html("h2", { id: "tour-title", tabindex: -1 });
    this.text = html("p");
    this.question = html("p", { class: "question", id: "tour-question" });
    this.answers = html("div", { class: "answers", role: "group", "aria-labelledby": "tour-question" });
    this.verdict = html("p", { class: "verdict", "aria-live": "polite" });
    this.goal = html("p", { class: "goal" });
    this.progress = html("p", { class: "progress" });
    this.cheer = html("p", { class: "cheer", "aria-live": "polite" });
    this.task = html("div", { class: "task" }, this.goal, this.progress, this.cheer);
    this.figure = html("div", { class: "tour-figure" });
    this.back = html("button", { onclick: () => this.turn(-1) }, "Back");
    this.next = html("button", { onclick: () => (this.finished ? this.dismiss() : this.turn(1)) });
    this.again = html("button", { class: "link", onclick: () => this.page.open(this.step) }, "Start this step again");
    this.share = html("button", { class: "link", onclick: () => this.page.share(this.step) }, "Link to this step");
    this.skip = html("button", { class: "link", onclick: () => this.dismiss() });
    this.root.replaceChildren(
      html("div", { class: "row tour-top" }, html("div", { class: "dots", role: "group", "aria-label": "Steps of the tour" }, this.dots), html("span", { class: "spring" }), this.skip),
      this.title, this.text, this.question, this.answers, this.verdict, this.task, this.figure,
      html("div", { class: "row tour-end" }, this.back, this.next, html("span", { class: "spring" }), this.again, this.share));
  }

  get step() {
    return this.steps[this.at] ?? null;
  }

  get isOpen() {
    return !this.root.hidden;
  }

  byId(id) {
    return id === "tour" ? this.steps[0] : this.steps.find((step) => step.id === id);
  }

  /** Show a step whose state was just opened, or one that was edited before the page was reloaded. */
  show(step, { focus = false, edited = false } = {}) {
    this.at = this.steps.indexOf(step);
    this.edited = edited;
    this.finished = false;
    this.figured = this.makeFigure(step.figure);
    this.figure.replaceChildren(...(this.figured ? [this.figured.root] : []));
    this.figure.hidden = !this.figured;
    this.root.hidden = false;
    document.body.classList.add("touring");
    for (const element of [this.verdict, this.cheer]) write(element, "");
    this.progress.replaceChildren();
    this.draw();
    this.point();
    if (focus) this.title.focus({ preventScroll: true });
  }

  makeFigure(kind) {
    if (kind === "walk") return new Walk(this.store, this.page.strategies);
    if (kind === "all_edges") return new AllEdges(this.store);
    return kind === "pieces" ? new Pieces() : null;
  }

  draw() {
    const { step, at, steps } = this;
    this.dots.forEach((dot, position) => {
      dot.classList.toggle("met", this.met.has(steps[position].id));
      if (position === at) dot.setAttribute("aria-current", "step");
      else dot.removeAttribute("aria-current");
    });
    write(this.title, `${at + 1}. ${step.title}`);
    this.text.replaceChildren(...rich(step.text));
    this.question.replaceChildren(html("b", {}, "Take a guess: "), ...rich(step.guess.question));
    this.answers.replaceChildren(...step.guess.answers.map((answer, position) =>
      html("button", { "aria-pressed": false, onclick: () => this.answer(position) }, answer.text)));
    const guessed = this.guesses.get(step.id);
    if (guessed !== undefined) this.answer(guessed);
    this.goal.replaceChildren(html("b", {}, "Now try it: "), ...rich(step.goal.text));
    this.showTask();
    if (this.met.has(step.id)) this.praise();
    this.back.disabled = at === 0;
    write(this.next, at + 1 < steps.length ? "Next" : "Finish");
    write(this.skip, this.met.size === steps.length ? "Close the tour" : "Skip the tour");
    this.next.classList.toggle("primary", this.met.has(step.id));
    for (const part of [this.question, this.answers, this.share, this.skip]) part.hidden = false;
  }

  answer(chosen) {
    const { step } = this;
    this.guesses.set(step.id, chosen);
    const { answers } = step.guess;
    [...this.answers.children].forEach((button, position) => {
      button.setAttribute("aria-pressed", position === chosen);
      button.className = answers[position].right ? "right" : position === chosen ? "wrong" : "";
    });
    this.verdict.replaceChildren(...rich(answers[chosen].says));
    this.verdict.written = null;
    this.showTask();
  }

  /** The goal and the numbers of the picture follow the guess; whoever edits first sees them, too. */
  showTask() {
    const { id } = this.step;
    this.again.hidden = !this.edited;
    const asking = !this.edited && !this.guesses.has(id) && !this.met.has(id);
    this.task.hidden = asking;
    this.root.classList.toggle("asking", asking);
  }

  /** Mark what the goal needs: objects to move, and controls. */
  point() {
    for (const lit of document.querySelectorAll(".tour-lit")) lit.classList.remove("tour-lit");
    if (!this.isOpen || !this.step) return this.touched.replaceSync("");
    for (const place of this.step.highlight) if (place !== "scene") find(PLACES[place]).classList.add("tour-lit");
    const shapes = this.step.touch.map((name) => `#scene .shape[data-${name[0].toLowerCase()}="${name.slice(1)}"]`);
    const moved = this.edited ? "" : shapes.join(", ");
    this.touched.replaceSync(moved && !calm.matches ? `${moved} { animation: tour-beckon 0.7s ease-in-out 1s 3; }` : "");
  }

  /** What the goal and the picture of the step need beside the usual numbers. */
  wants() {
    if (!this.isOpen || !this.step || this.finished) return { tag: "" };
    const { id, goal, figure } = this.step;
    return {
      tag: id, scores: strategiesOf(goal), pieces: figure === "pieces",
      all_edges: figure === "all_edges" || needsAllEdges(goal),
      walk: figure === "walk" ? "one-to-one/greedy" : null,
    };
  }

  take(numbers) {
    if (!this.isOpen || this.finished || numbers.story?.tag !== this.step?.id) return;
    const { goal, id } = this.step;
    const { view } = this.store.state;
    this.figured?.take(numbers);
    this.progress.replaceChildren(...progress(goal, numbers, view, this.page.strategies).map(({ name, value }) =>
      html("span", {}, `${name} `, html("b", {}, value))));
    if (this.met.has(id) || !isMet(goal, numbers, view)) return;
    this.met.add(id);
    this.draw();
    this.cheer.scrollIntoView({ block: "nearest" });
  }

  related(message) {
    if (this.isOpen) this.figured?.related?.(message);
  }

  praise() {
    this.cheer.replaceChildren(html("b", { class: "tick", "aria-hidden": true }, "✓ "), ...rich(this.step.goal.done));
    this.cheer.written = null;
  }

  committed() {
    if (!this.isOpen || this.edited || !this.step) return;
    this.edited = true;
    this.showTask();
    this.point();
  }

  turn(by) {
    const step = this.steps[this.at + by];
    if (step) this.page.open(step);
    else if (by > 0) this.finish();
  }

  finish() {
    this.finished = true;
    this.page.dismissed();
    write(this.title, "That was the tour. Well done!");
    this.text.replaceChildren(FAREWELL);
    for (const part of [this.question, this.answers, this.task, this.figure, this.again, this.share]) part.hidden = true;
    write(this.verdict, "");
    write(this.next, "Close");
    this.skip.hidden = this.back.disabled = true;
    this.title.focus({ preventScroll: true });
  }

  /** Close the card, and remember that it was seen. */
  dismiss() {
    this.page.dismissed();
    this.close();
    this.page.closed();
  }

  close() {
    this.figured?.reset?.();
    this.root.hidden = true;
    document.body.classList.remove("touring");
    this.point();
  }
}

/** A text with *bold* words, and names of objects in the colour of their side. */
function rich(text) {
  return text.split("*").map((part, at) => {
    const pieces = part.split(/\b([RP][1-9]\d*)\b/).map((piece, position) =>
      position % 2 ? html("span", { class: piece[0] === "R" ? "reference" : "prediction" }, piece) : piece);
    return html(at % 2 ? "b" : "span", {}, pieces);
  });
}

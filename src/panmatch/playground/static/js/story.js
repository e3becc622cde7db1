// The tour, the small multiples and the greedy walk: when they are shown, and what they ask for.

import { find, html } from "./dom.js";
import { Multiples } from "./multiples.js";
import { Tour } from "./tour.js";
import { Walk } from "./walk.js";

const SEEN = "tour"; // in the browser's storage: the tour was skipped or finished
const WALKS = ["one-to-one/greedy", "many-to-one/merge/seed", "many-to-one/merge/edge"];

export class Story {
  /** `page` is the whole page; what is used of it: store, controls, ask, copy, openState. */
  constructor(page, { tour, pair, strategies }) {
    Object.assign(this, { page, pair, asked: "" });
    const byId = new Map(strategies.map((one) => [one.id, one]));
    const label = (id) => byId.get(id).label;
    this.tour = new Tour(page.store, tour, {
      label,
      open: (step) => this.open(step),
      share: (step) => page.copy(stepLink(step), "Link copied"),
      dismissed: () => localStorage.setItem(SEEN, "seen"),
      closed: () => this.closed(),
    });
    this.multiples = new Multiples(page.store, byId, (strategy) => page.controls.choose(strategy));
    this.greedy = new GreedyPanel(page.store, label, () => page.ask());
    this.panels = [this.multiples, this.greedy];
    this.button = find("#tour-open");
    this.button.addEventListener("click", () => (this.tour.isOpen ? this.tour.dismiss() : this.open(this.tour.step ?? tour[0])));
  }

  /** The link to read: that of the address, or the tour on a plain first visit. */
  link(current) {
    const first = !current && !this.asked && !this.pair && localStorage.getItem(SEEN) === null;
    this.asked = first ? "#tour" : current || "#";
    return first ? "#tour" : current;
  }

  /** A state was opened from a link: show its step if the link named one. */
  opened() {
    const step = this.tour.byId(this.asked.slice(1));
    if (step) this.show(step);
    else if (this.tour.isOpen && this.asked === "#") this.tour.close();
    this.mark();
  }

  open(step) {
    this.page.openState(step.state);
    const address = `${location.pathname}#${step.id}`;
    if (location.hash !== `#${step.id}`) history.pushState(null, "", address);
    this.show(step, { focus: true });
    this.page.ask();
  }

  show(step, options) {
    this.tour.show(step, options);
    this.mark();
  }

  /** Another scene was chosen: the card of a step would not fit it. */
  leave() {
    if (this.tour.isOpen) this.tour.close();
    this.mark();
  }

  closed() {
    this.mark();
    this.button.focus();
    const { step } = this.tour;
    if (step && JSON.stringify(step.state) === JSON.stringify(this.page.store.state)) this.page.openStart();
  }

  mark() {
    this.button.setAttribute("aria-expanded", this.tour.isOpen);
    this.button.setAttribute("aria-pressed", this.tour.isOpen);
  }

  /** What to ask for beside the usual numbers: only what is in sight. */
  wanted() {
    const { walk, ...rest } = this.tour.wants();
    const shown = this.greedy.inSight ? this.greedy.strategy : null;
    return { ...rest, families: this.multiples.inSight !== false, walk: walk ?? shown };
  }

  take(numbers) {
    this.tour.take(numbers);
  }

  related(message) {
    this.tour.related(message);
  }

  committed() {
    this.tour.committed();
  }
}

const stepLink = ({ id }) => `${location.origin}${location.pathname}#${id}`;

/** "Watch the greedy merge": the walk of any greedy strategy, outside the tour. */
class GreedyPanel {
  constructor(store, label, ask) {
    Object.assign(this, { store, root: find("#greedy") });
    this.menu = html("select", { "aria-label": "Greedy strategy", onchange: () => ask() }, WALKS.map((id) => html("option", { value: id }, label(id))));
    this.menu.value = "many-to-one/merge/seed";
    this.label = label;
  }

  get strategy() {
    return this.menu.value;
  }

  lacks(numbers) {
    return numbers?.story?.walk?.strategy !== this.strategy;
  }

  take(numbers) {
    if (!this.walk) {
      this.walk = new Walk(this.store, this.label);
      find("#greedy-menu").replaceChildren(this.menu);
      this.root.replaceChildren(this.walk.root);
    }
    if (!this.lacks(numbers)) this.walk.take(numbers);
  }
}

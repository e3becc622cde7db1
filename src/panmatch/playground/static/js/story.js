// The tour, the small multiples and the greedy walk: when they are shown, and what they ask for.

import { find, html } from "./dom.js";
import { Multiples } from "./multiples.js";
import { Tour } from "./tour.js";
import { Walk } from "./walk.js";

const SEEN = "tour"; // in the browser's storage: the tour was skipped or finished
const OPEN = "tour-step"; // in the tab's storage: the step that is open, also when its scene was edited
const PAUSE_MILLISECONDS = 100; // between two answers for the panels while something is dragged
const WALKS = ["one-to-one/greedy", "many-to-one/merge/seed", "many-to-one/merge/edge"];

export class Story {
  /** `page` is the whole page; what is used of it: store, controls, ask, copy, openState. */
  constructor(page, { tour, pair, strategies }) {
    Object.assign(this, { page, pair, asked: "" });
    const byId = new Map(strategies.map((one) => [one.id, one]));
    this.tour = new Tour(page.store, tour, {
      strategies: byId,
      open: (step) => this.open(step),
      share: (step) => page.copy(stepLink(step), "Link copied"),
      dismissed: () => localStorage.setItem(SEEN, "seen"),
      closed: () => this.closed(),
    });
    this.multiples = new Multiples(page.store, byId, (strategy) => page.controls.choose(strategy));
    this.greedy = new GreedyPanel(page.store, byId, () => page.ask());
    this.panels = [this.multiples, this.greedy];
    this.button = find("#tour-open");
    this.button.addEventListener("click", () => (this.tour.isOpen ? this.tour.dismiss() : this.open(this.tour.step ?? tour[0])));
  }

  /** The link to read: that of the address, or the tour on a plain first visit. */
  link(current) {
    const begins = !this.asked || this.tour.isOpen; // a visit, or the way back to where it began
    const first = !current && begins && !this.pair && localStorage.getItem(SEEN) === null;
    this.reloaded = !this.asked && performance.getEntriesByType("navigation")[0]?.type === "reload";
    this.asked = first ? "#tour" : current || "#";
    return first ? "#tour" : current;
  }

  /** A state was opened from a link: show its step if the link named one. */
  opened() {
    const kept = this.reloaded && this.asked !== "#" && this.tour.byId(sessionStorage.getItem(OPEN));
    const named = this.tour.byId(this.asked.slice(1));
    if (named || kept) {
      this.show(named || kept, { edited: !named });
      this.page.ask();
    } else if (this.tour.isOpen && this.asked === "#") this.tour.close();
    this.mark();
  }

  open(step) {
    this.page.openState(step.state);
    const address = `${location.pathname}#${step.id}`;
    this.asked = `#${step.id}`;
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

  /** Show whether the tour is open, and remember it for a reload. */
  mark() {
    const { isOpen } = this.tour;
    this.button.setAttribute("aria-expanded", isOpen);
    this.button.setAttribute("aria-pressed", isOpen);
    if (isOpen) sessionStorage.setItem(OPEN, this.tour.step.id);
    else sessionStorage.removeItem(OPEN);
  }

  /** What to ask for beside the usual numbers. While something is dragged, panels that are in sight
   * follow now and then, and the others at the end. */
  wanted() {
    const { walk, ...rest } = this.tour.wants();
    const now = performance.now();
    const due = now - (this.drawn ?? 0) > PAUSE_MILLISECONDS;
    if (due) this.drawn = now;
    const shows = (panel) => !this.page.store.dragging || (due && panel.inSight);
    this.missing = !this.panels.every(shows);
    return { ...rest, families: shows(this.multiples), walk: walk ?? (shows(this.greedy) ? this.greedy.strategy : null) };
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
  constructor(store, strategies, ask) {
    Object.assign(this, { store, strategies, root: find("#greedy") });
    this.menu = html("select", { "aria-label": "Greedy strategy", onchange: () => ask() }, WALKS.map((id) => html("option", { value: id }, strategies.get(id).label)));
    this.menu.value = "many-to-one/merge/seed";
  }

  get strategy() {
    return this.menu.value;
  }

  lacks(numbers) {
    return numbers?.story?.walk?.strategy !== this.strategy;
  }

  take(numbers) {
    if (!this.walk) {
      this.walk = new Walk(this.store, this.strategies);
      find("#greedy-menu").replaceChildren(this.menu);
      this.root.replaceChildren(this.walk.root);
    }
    if (!this.lacks(numbers)) this.walk.take(numbers);
  }
}

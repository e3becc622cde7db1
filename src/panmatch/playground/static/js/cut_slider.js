// The slider for the confidence cut: there only where predictions have confidences.

import { hasConfidence } from "./confidence.js";
import { entitle, find, html, patch } from "./dom.js";
import { plural, precise } from "./wording.js";

const STEPS = 100; // from one end of the slider to the other

export class CutSlider {
  constructor(store) {
    this.store = store;
    this.range = find("#cut");
    this.exact = find("#cut-value");
    this.ends = [0, 1];
    this.range.addEventListener("input", () => this.slide(false));
    this.range.addEventListener("change", () => this.slide(true));
    this.range.addEventListener("keydown", () => (this.byKey = true));
    this.range.addEventListener("pointerdown", () => (this.byKey = false));
    this.exact.addEventListener("change", () => this.type());
    for (const moment of ["focus", "blur"]) this.exact.addEventListener(moment, () => this.write());
    this.exact.addEventListener("focus", () => this.exact.select()); // what is typed replaces it
  }

  /** At its lowest the slider keeps everything, whatever its confidence. */
  slide(final) {
    const value = Number(this.range.value);
    const cut = value <= this.ends[0] ? null : Number(value.toPrecision(12));
    this.store.view({ cut }, { final, group: this.byKey ? "cut" : null });
  }

  /** An empty field keeps everything. */
  type() {
    if (this.exact.validity.badInput) return this.write();
    const { value } = this.exact;
    this.store.view({ cut: value === "" ? null : Number(value) });
  }

  show() {
    const { scene, view } = this.store.state;
    if (scene) document.body.classList.toggle("with-confidence", hasConfidence(scene));
    this.range.value = view.cut ?? this.ends[0];
    this.write();
  }

  /** A short number, and all of its digits to whoever points at it or types. */
  write() {
    if (!this.store.state) return;
    const { cut } = this.store.state.view;
    const full = document.activeElement === this.exact;
    this.exact.value = cut === null ? "" : full ? cut : Number(cut.toFixed(3));
    entitle(this.exact, cut === null ? "No cut: every prediction is kept" : `Cut ${precise(cut)}`);
  }

  take({ confidence }) {
    document.body.classList.toggle("with-confidence", Boolean(confidence));
    if (!confidence) return;
    const { low, high, values, kept, below } = confidence;
    this.ends = [low, high];
    Object.assign(this.range, { min: low, max: high, step: (high - low) / STEPS || "any" });
    const { cut } = this.store.state.view;
    this.range.value = cut ?? low;
    this.range.setAttribute("aria-valuetext", `${cut === null ? "no cut" : precise(cut)}, ${keptWords(kept, below)}`);
    const share = (value) => (high > low ? (value - low) / (high - low) : 0);
    patch(find("#cut-ticks"), values.map((value) => [`${value} ${low} ${high}`, () => this.tick(value, share(value))]));
  }

  tick(value, share) {
    const element = html("button", { class: "breakpoint", tabindex: -1, title: `A prediction has the confidence ${precise(value)}`, onclick: () => this.store.view({ cut: value }) });
    element.style.left = `${100 * share}%`;
    return element;
  }
}

/** How many predictions are kept, in words. */
export const keptWords = (kept, below) => `${kept} of ${plural(kept + below.length, "prediction")} kept`;

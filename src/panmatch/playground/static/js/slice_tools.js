// Controls below a slice: how objects are coloured, the image beneath them, and zoom.

import { find, html } from "./dom.js";

const LEGENDS = {
  matches: [
    ["tp", "overlap of a match (true positive)"],
    ["rim-fn", "missed part of a match"],
    ["rim-fp", "excess part of a match"],
    ["fn", "reference without a match (false negative)"],
    ["fp", "prediction without a match (false positive)"],
  ],
  objects: [
    ["hues", "one colour per object; matched objects share it"],
    ["line-reference", "outline of a reference"],
    ["line-prediction", "outline of a prediction"],
  ],
};

export class SliceTools {
  /** `changed` is called after every change, `zoom` with "in", "out" or "all". */
  constructor({ changed, zoom }) {
    this.changed = changed;
    this.mode = "matches";
    this.root = html("div", { class: "slice-tools" });
    this.legend = html("ul", { class: "slice-legend", "aria-label": "Colours of the slice" });
    this.modes = ["matches", "objects"].map((mode) =>
      html("button", { "data-mode": mode, "aria-pressed": mode === this.mode, title: MODE_TITLES[mode], onclick: () => this.choose(mode) }, MODE_NAMES[mode]));
    this.opacity = this.slider("Labels", { min: 0, max: 100, value: 80, title: "How strongly the labels cover what is beneath them" });
    this.brightness = this.slider("Brightness", { min: -128, max: 128, value: 0, title: "Brightness of the image beneath the labels" });
    this.contrast = this.slider("Contrast", { min: -100, max: 100, value: 0, title: "Contrast of the image beneath the labels" });
    this.image = html("span", { class: "image-tools" }, this.brightness.label, this.contrast.label);
    this.all = html("button", { id: "zoom-all", title: "Show the whole slice (double click, or 0)", onclick: () => zoom("all") }, "Fit");
    this.root.append(
      html("span", { class: "segments", role: "group", "aria-label": "Colours" }, this.modes),
      html("span", { class: "segments", role: "group", "aria-label": "Zoom" },
        html("button", { id: "zoom-out", "aria-label": "Zoom out", title: "Zoom out (−, or Ctrl and wheel)", onclick: () => zoom("out") }, "−"),
        html("button", { id: "zoom-in", "aria-label": "Zoom in", title: "Zoom in (+, or Ctrl and wheel)", onclick: () => zoom("in") }, "+"),
        this.all),
      this.opacity.label, this.image);
    find(".viewer").append(this.root, this.legend);
    this.show();
  }

  slider(name, { title, ...range }) {
    const input = html("input", { type: "range", step: 1, id: `slice-${name.toLowerCase()}`, ...range });
    input.addEventListener("input", () => this.changed());
    return { input, start: range.value, label: html("label", { title }, name, input) };
  }

  /** Begin with a pair: labels are less opaque if there is an image to see through them. */
  open({ image }) {
    this.image.hidden = image === null;
    for (const { input, start } of [this.brightness, this.contrast]) input.value = start;
    this.opacity.input.value = image === null ? 85 : 55;
  }

  get look() {
    return { mode: this.mode, opacity: Number(this.opacity.input.value) / 100 };
  }

  /** Grey levels to add, and a factor around the middle. */
  get levels() {
    return [Number(this.brightness.input.value), 2 ** (Number(this.contrast.input.value) / 50)];
  }

  choose(mode) {
    this.mode = mode;
    this.show();
    this.changed();
  }

  show() {
    for (const button of this.modes) button.setAttribute("aria-pressed", button.dataset.mode === this.mode);
    this.legend.replaceChildren(...LEGENDS[this.mode].map(([kind, text]) =>
      html("li", {}, html("span", { class: `patch ${kind}`, "aria-hidden": true }), text)));
  }
}

const MODE_NAMES = { matches: "Matches", objects: "Objects" };
const MODE_TITLES = {
  matches: "Colour what was found, missed and spurious at this threshold",
  objects: "Give every object a colour of its own",
};

/** What can be done with a slice, in one line; with fingers or with a mouse. */
export function sliceHint(deep) {
  const touch = matchMedia("(pointer: coarse)").matches;
  const zoom = touch ? ["Pinch to zoom"] : [deep ? "The wheel turns slices. " : "", "Hold ", html("kbd", {}, "Ctrl"), " and turn the wheel to zoom"];
  return [html("span", { class: "quiet" }, `${touch ? "Tap" : "Click"} an object to see its partners. `, zoom, `, drag to pan, ${touch ? "double-tap" : "double-click"} to see all.`)];
}

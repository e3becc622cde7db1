// The selected object: of a scene its numbers to edit, of a pair its partners.

import { confidenceOf, hasConfidence } from "./confidence.js";
import { find, html } from "./dom.js";
import { plural, precise, score, short, size } from "./wording.js";

const FIELDS = {
  disc: [["x", "x"], ["y", "y"], ["r", "radius"]],
  ellipse: [["x", "x"], ["y", "y"], ["rx", "half-axis"], ["ry", "half-axis"], ["angle", "angle"]],
  stroke: [["width", "width"]],
};
const NESTED = [0.6, 0.35, 0.2, 0.1];

export class Inspector {
  constructor(store) {
    this.store = store;
    this.root = find("#inspector");
  }

  show() {
    if (!this.store.state?.scene) return;
    const { selected, selection } = this.store;
    const shape = selected && this.store.shape(selected);
    const several = selection.length > 1 && counted(selection);
    const showing = several || (shape ? `${selected.side} ${selected.at} ${shape.kind} ${shape.parts?.length} ${this.isRated(selected)}` : "nothing");
    if (showing !== this.showing) this.root.replaceChildren(...(several ? this.together(several) : shape ? this.fields(selected, shape) : [hint()]));
    else if (shape && !several) this.refresh(shape);
    this.showing = showing;
  }

  /** Whether the confidence of an object matters. */
  isRated({ side }) {
    return side === "prediction" && hasConfidence(this.store.state.scene);
  }

  /** Several objects: moved, duplicated and deleted together. */
  together(words) {
    const arrow = (sign, name, dx, dy) => html("button", {
      "aria-label": `Move ${name}`, title: `Move ${name} by 1 unit, with Shift by 10 (arrow key)`,
      onclick: ({ shiftKey }) => this.actions.move(...[dx, dy].map((step) => step * (shiftKey ? 10 : 1))),
    }, sign);
    return [
      html("b", {}, `${words} selected`),
      html("span", { class: "group", role: "group", "aria-label": "Move together" }, "move",
        arrow("←", "left", -1, 0), arrow("↑", "up", 0, -1), arrow("↓", "down", 0, 1), arrow("→", "right", 1, 0)),
      html("button", { title: "Duplicate (D)", onclick: () => this.actions.duplicate() }, "Duplicate"),
      this.deletion(),
    ];
  }

  deletion() {
    return html("button", { class: "danger", title: "Delete (Del)", onclick: ({ detail }) => this.actions.remove({ byKey: detail === 0 }) }, "Delete");
  }

  refresh(shape) {
    for (const input of this.root.querySelectorAll("input[name]")) {
      const value = String(input.name === "confidence" ? confidenceOf(shape) : round(shape[input.name]));
      if (input !== document.activeElement && input.value !== value) input.value = value;
    }
  }

  fields(selected, shape) {
    const { side, at } = selected;
    const numbers = FIELDS[shape.kind].map(([name, title]) =>
      html("label", {}, title, html("input", { type: "number", name, step: 0.5, value: round(shape[name]), onchange: (event) => this.set(selected, name, event.target) })),
    );
    return [
      html("b", { class: side }, `${side === "reference" ? "Reference" : "Prediction"} ${at + 1}`),
      ...numbers,
      ...(this.isRated(selected) ? [html("label", { title: "How sure a model is of this prediction, from 0 to 1" }, "confidence",
        html("input", { type: "number", name: "confidence", min: 0, max: 1, step: 0.01, value: confidenceOf(shape), onchange: (event) => this.set(selected, "confidence", event.target) }))] : []),
      html("span", { class: "group", title: "Nested copies are parts 2, 3 … of the object; tick “parts” to score them" },
        `${(shape.parts?.length ?? 0) + 1} ${shape.parts?.length ? "parts" : "part"}`,
        html("button", { "aria-label": "Remove a part", disabled: !shape.parts?.length, onclick: () => this.parts(selected, -1) }, "−"),
        html("button", { "aria-label": "Add a part", disabled: shape.parts?.length === NESTED.length, onclick: () => this.parts(selected, 1) }, "+")),
      this.deletion(),
    ];
  }

  set(selected, name, input) {
    const value = Number(input.value);
    const least = name === "x" || name === "y" || name === "angle" ? -2000 : 0;
    const most = name === "confidence" ? 1 : 2000;
    if (input.value === "" || !(value >= least && value <= most)) return this.refreshAll();
    this.store.replace(selected, { ...this.store.shape(selected), [name]: value }, { group: `set ${name}` });
  }

  /** Forget the object that was shown, and show this instead. */
  clear(instead = []) {
    this.showing = null;
    this.root.replaceChildren(...instead);
  }

  refreshAll() {
    this.showing = null;
    this.show();
  }

  parts(selected, change) {
    const shape = this.store.shape(selected);
    const parts = shape.parts ?? [];
    this.store.replace(selected, { ...shape, parts: change < 0 ? parts.slice(0, -1) : [...parts, NESTED[parts.length]] });
    if (change > 0 && !this.store.state.view.parts) this.store.view({ parts: true, areas: "raster" });
  }

  /** Partners of an object of a pair; `go` is called with its centre. */
  showObject(found, go) {
    const { side, id, state, partners, centre } = found;
    const other = side === "reference" ? "prediction" : "reference";
    this.root.replaceChildren(
      html("b", { class: side }, `${side === "reference" ? "Reference" : "Prediction"} ${id}`),
      html("span", { class: `fate ${state}` }, FATES[state] ?? state),
      html("span", { class: "quiet" }, `${size(found.size)} voxels`),
      centre ? html("button", { onclick: () => go(centre) }, "Go to its centre") : null,
      html("span", { class: "partners" }, partners.length
        ? partners.map((partner) => html("span", { class: `chip ${partner.chosen ? "chosen" : ""}`, title: `IoU ${precise(partner.iou)}, intersection ${partner.intersection}` },
            html("span", { class: other }, short(other, partner.id)), ` ${score(partner.iou)}`))
        : "overlaps nothing"),
    );
  }
}

const FATES = { tp: "true positive", fn: "false negative", fp: "false positive", matched: "matched", dismissed: "dismissed", below: "below the cut" };

/** How many objects of which side are selected, in words. */
function counted(selection) {
  const numbers = ["reference", "prediction"].map((side) => [selection.filter((one) => one.side === side).length, side]);
  return numbers.filter(([number]) => number).map(([number, side]) => plural(number, side)).join(", ");
}

const round = (value) => Math.round(value * 100) / 100;

const hint = () =>
  html("span", { class: "quiet" }, "Drag objects, or select them with ", html("kbd", {}, "Tab"), " and move them with the arrow keys. ", html("kbd", {}, "?"), " lists all keys.");

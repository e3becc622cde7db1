// Slices of a pair of files. The numbers are those of the whole volume.

import { colour, find } from "./dom.js";
import { short } from "./wording.js";

const TALLEST = 560; // pixels of the page

export class Volume {
  constructor(store, connection, pair) {
    Object.assign(this, { store, connection, pair });
    this.canvas = find("#volume");
    this.slider = find("#slice");
    this.axis = find("#axis");
    this.slice = null;
    this.picked = null;
    this.numbers = null;
    const flat = pair.shape.length === 2;
    find("#slices").hidden = flat;
    this.axis.replaceChildren(...pair.shape.map((length, at) => new Option(`axis ${at} (${length})`, at)));
    this.slider.addEventListener("input", () => this.turn(Number(this.slider.value), false));
    this.slider.addEventListener("change", () => this.store.commit());
    this.axis.addEventListener("change", () => this.store.view({ axis: Number(this.axis.value), slice: null }));
    this.canvas.addEventListener("pointermove", (event) => this.hover(event));
    this.canvas.addEventListener("pointerleave", () => this.store.point(null));
    this.canvas.addEventListener("click", (event) => this.click(event));
    this.canvas.addEventListener("keydown", (event) => this.key(event));
    if (!flat) this.canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    store.listen((what) => what === "hovered" && this.paint());
  }

  get index() {
    const { axis, slice } = this.store.state.view;
    return slice ?? Math.floor(this.pair.shape[axis] / 2);
  }

  show() {
    const { axis } = this.store.state.view;
    this.axis.value = axis;
    this.slider.max = this.pair.shape[axis] - 1;
    this.slider.value = this.index;
    find("#slice-value").textContent = `${this.index} of ${this.pair.shape[axis] - 1}`;
    const asked = `${axis} ${this.index}`;
    if (asked !== this.asked) this.connection.ask("slice", { axis, index: this.index });
    this.asked = asked;
  }

  turn(index, final) {
    const { axis } = this.store.state.view;
    const slice = Math.min(this.pair.shape[axis] - 1, Math.max(0, index));
    if (slice !== this.index) this.store.view({ slice }, { final });
  }

  wheel(event) {
    event.preventDefault();
    this.turn(this.index + Math.sign(event.deltaY), true);
  }

  key(event) {
    const step = { PageUp: 1, PageDown: -1, ArrowUp: 1, ArrowDown: -1 }[event.key];
    if (!step || this.pair.shape.length === 2) return;
    event.preventDefault();
    this.turn(this.index + step, true);
  }

  takeSlice(message) {
    const Numbers = message.dtype === "uint16" ? Uint16Array : Uint32Array;
    this.slice = {
      ...message,
      reference: decode(message.reference, Numbers),
      prediction: decode(message.prediction, Numbers),
      names: { reference: new Map(message.reference_ids), prediction: new Map(message.prediction_ids) },
    };
    this.paint();
  }

  take(numbers) {
    this.numbers = numbers;
    this.paint();
  }

  paint() {
    if (!this.slice) return;
    const [height, width] = this.slice.shape;
    Object.assign(this.canvas, { width, height });
    const ratio = width / (height * this.slice.aspect);
    this.canvas.style.aspectRatio = ratio;
    this.canvas.style.width = `min(100%, ${TALLEST * ratio}px)`;
    const context = this.canvas.getContext("2d");
    const picture = context.createImageData(width, height);
    const pixels = new Uint32Array(picture.data.buffer);
    const palette = makePalette();
    const lit = this.lit();
    const { reference, prediction } = this.slice;
    for (let at = 0; at < pixels.length; at += 1) {
      const [r, p] = [reference[at], prediction[at]];
      const dim = lit && !lit.reference.has(r) && !lit.prediction.has(p) ? 1 : 0;
      const edge = isBorder(reference, at, width) ? 2 : isBorder(prediction, at, width) ? 4 : 0;
      pixels[at] = palette[dim * 24 + (edge / 2) * 8 + (r ? 2 : 0) + (p ? 1 : 0)];
    }
    context.putImageData(picture, 0, 0);
  }

  /** Positions in the slice of the object pointed at or picked, and of its partners. */
  lit() {
    const { hover } = this.store;
    const ids = { reference: new Set(), prediction: new Set() };
    const places = (side) => new Set([...this.slice.names[side]].filter(([, id]) => ids[side].has(id)).map(([place]) => place));
    if (hover?.objects) {
      [ids.reference, ids.prediction] = JSON.parse(hover.objects).map((list) => new Set(list));
      return { reference: places("reference"), prediction: places("prediction") };
    }
    const about = hover?.id ? hover : this.picked;
    if (!about?.side) return null;
    ids[about.side].add(about.id);
    if (this.numbers) {
      const { vertices, edges } = this.numbers;
      const [own, other] = about.side === "reference" ? [0, 1] : [1, 0];
      const sides = ["reference", "prediction"];
      for (const edge of edges) {
        if (vertices[sides[own]][edge[own]]?.id === about.id) ids[sides[other]].add(vertices[sides[other]][edge[other]]?.id);
      }
    }
    return { reference: places("reference"), prediction: places("prediction") };
  }

  under(event) {
    if (!this.slice) return null;
    const box = this.canvas.getBoundingClientRect();
    const [height, width] = this.slice.shape;
    const x = Math.floor(((event.clientX - box.left) / box.width) * width);
    const y = Math.floor(((event.clientY - box.top) / box.height) * height);
    const at = y * width + x;
    const id = (side) => this.slice.names[side].get(this.slice[side][at]) ?? null;
    return { reference: id("reference"), prediction: id("prediction") };
  }

  hover(event) {
    const found = this.under(event);
    const side = found?.reference ? "reference" : "prediction";
    this.canvas.title = found ? [found.reference && short("reference", found.reference), found.prediction && short("prediction", found.prediction)].filter(Boolean).join(" · ") : "";
    this.store.point(found?.[side] ? { side, id: found[side] } : null);
  }

  /** Pick the reference under the pointer; a second click picks the prediction there. */
  click(event) {
    const found = this.under(event);
    const same = this.picked?.side === "reference" && this.picked.id === found?.reference;
    const side = found?.reference && !(same && found.prediction) ? "reference" : "prediction";
    this.picked = found?.[side] ? { side, id: found[side] } : null;
    if (this.picked) this.ask();
    this.paint();
  }

  ask() {
    this.connection.ask("object", { ...this.picked, state: this.store.state });
  }

  go(centre) {
    const { axis } = this.store.state.view;
    if (this.pair.shape.length > 2) this.turn(Math.round(centre[axis]), true);
  }
}

const isBorder = (labels, at, width) => labels[at] && (labels[at] !== labels[at + 1] || labels[at] !== labels[at + width]);

function decode(text, Numbers) {
  return new Numbers(Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)).buffer);
}

/** Colours for [dim][no border, of the reference, of the prediction][neither, prediction, reference, both]. */
function makePalette() {
  const [ground, reference, prediction, both] = ["slice-ground", "reference-fill", "prediction-fill", "both"].map((name) => channels(colour(name)));
  const fills = [ground, mix(ground, prediction, 0.6), mix(ground, reference, 0.6), both];
  const palette = new Uint32Array(48);
  for (const dim of [0, 1]) {
    for (const edge of [0, 1, 2]) {
      for (const what of [0, 1, 2, 3]) {
        const bright = edge === 1 ? reference : edge === 2 ? prediction : fills[what];
        palette[dim * 24 + edge * 8 + what] = pack(dim ? mix(ground, bright, 0.22) : bright);
      }
    }
  }
  return palette;
}

const channels = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
const mix = (from, to, share) => from.map((value, at) => Math.round(value + (to[at] - value) * share));
const pack = ([r, g, b]) => (255 << 24) | (b << 16) | (g << 8) | r;

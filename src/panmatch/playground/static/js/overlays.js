// What is drawn besides shapes: lines between matched objects, and a painting of what every pixel
// of parts or pieces became.

import { colour, find, html, svg } from "./dom.js";
import { SIDES } from "./edits.js";
import { centre } from "./geometry.js";
import { KEYS, makeTiles, TILE } from "./paints.js";

/** Lines from the centre of every reference to those of the predictions matched to it. */
export function drawMatches(layer, scene, edges) {
  const there = edges.filter(([ref, pred]) => scene.reference[ref] && scene.prediction[pred]);
  while (layer.children.length > there.length) layer.lastElementChild.remove();
  while (layer.children.length < there.length) layer.append(svg("g", { class: "match" }, svg("line", { class: "halo" }), svg("line"), svg("circle", { r: 2.6 }), svg("circle", { r: 2.6 })));
  there.forEach((edge, index) => placeMatch(layer.children[index], edge, edge.map((at, side) => centre(scene[SIDES[side]][at]))));
}

function placeMatch(group, [ref, pred], [[x1, y1], [x2, y2]]) {
  const where = `${ref} ${pred} ${x1} ${y1} ${x2} ${y2}`;
  if (group.where === where) return;
  group.where = where;
  group.dataset.r = ref + 1;
  group.dataset.p = pred + 1;
  const set = (element, values) => Object.entries(values).forEach(([name, value]) => element.setAttribute(name, value));
  const [halo, line, one, other] = group.children;
  for (const element of [halo, line]) set(element, { x1, y1, x2, y2 });
  set(one, { cx: x1, cy: y1 });
  set(other, { cx: x2, cy: y2 });
}

/** A canvas beneath the scene, whose shapes are then only outlines. */
export class Painting {
  constructor(root) {
    Object.assign(this, { root, canvas: find("#painting"), key: find("#painting-key"), picture: null, image: null, known: new Map() });
    new MutationObserver(() => this.paint()).observe(document.documentElement, { attributeFilter: ["data-theme"] });
  }

  take(picture, view) {
    const same = picture?.kind === this.picture?.kind && picture?.values === this.picture?.values && picture?.stops === this.picture?.stops;
    this.picture = picture;
    if (!same) this.paint();
    this.show(view);
  }

  /** Without parts and regions, shapes show themselves. */
  show({ parts, regions }) {
    const shown = Boolean(this.picture) && (parts || regions);
    this.canvas.hidden = this.key.hidden = !shown;
    this.root.classList.toggle("painted", shown);
  }

  paint() {
    if (!this.picture) return;
    const { kind, width, height } = this.picture;
    const tiles = this.tiles(kind);
    const context = this.canvas.getContext("2d");
    if (!this.image) {
      Object.assign(this.canvas, { width, height });
      this.image = context.createImageData(width, height);
    }
    fill(new Uint32Array(this.image.data.buffer), this.picture, tiles);
    context.putImageData(this.image, 0, 0);
    this.explain(kind, tiles);
  }

  /** Tiles of the theme of the moment; they are made once. */
  tiles(kind) {
    const { theme } = document.documentElement.dataset;
    const name = `${kind} ${theme}`;
    if (!this.known.has(name)) this.known.set(name, makeTiles(kind, colour));
    return this.known.get(name);
  }

  /** A swatch and a word for everything that the colours say. */
  explain(kind, tiles) {
    const theme = document.documentElement.dataset.theme;
    if (this.explained === `${kind} ${theme}`) return;
    this.explained = `${kind} ${theme}`;
    this.key.replaceChildren(...KEYS[kind].map(([value, word, about]) => html("span", { title: about }, swatch(tiles(value)), word)));
  }
}

/** Fill the pixels of every run with the tile of its value. */
function fill(pixels, { width, stops, values }, tiles) {
  const ends = new Uint32Array(decode(stops).buffer);
  let start = 0;
  decode(values).forEach((value, run) => {
    const tile = tiles(value);
    const stop = ends[run];
    while (start < stop) {
      const row = Math.floor(start / width);
      const end = Math.min(stop, (row + 1) * width);
      stretch(pixels, tile, row, start, end, row * width);
      start = end;
    }
  });
}

function stretch(pixels, tile, row, from, to, first) {
  if (!tile) return pixels.fill(0, from, to);
  const across = (row % TILE) * TILE;
  for (let at = from; at < to; at += 1) pixels[at] = tile[across + ((at - first) % TILE)];
}

/** Bytes from their text; a loop, because this is done for every move of a drag. */
function decode(text) {
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let at = 0; at < bytes.length; at += 1) bytes[at] = letters.charCodeAt(at);
  return bytes;
}

function swatch(tile) {
  const canvas = html("canvas", { class: "paint", width: TILE, height: TILE, "aria-hidden": true });
  const image = new ImageData(new Uint8ClampedArray(tile.buffer.slice(0)), TILE, TILE);
  canvas.getContext("2d").putImageData(image, 0, 0);
  return canvas;
}

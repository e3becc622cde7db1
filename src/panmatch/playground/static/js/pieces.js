// Voronoi regions and parts, with their pieces drawn apart.

import { colour, html, write } from "./dom.js";
import { score, short } from "./wording.js";

const PARTS_BASE = 16; // the answer's: part of the reference + 16 × part of the prediction
const APART = 0.28; // how far a region moves away from the middle, of its distance
const SCALE = 2; // pixels of the canvas per pixel of the answer
const AROUND = 2;
const MARGIN = 10; // around all of it

export class Pieces {
  constructor() {
    this.canvas = html("canvas", { class: "apart", role: "img", "aria-label": "The Voronoi regions, moved apart" });
    this.body = html("tbody");
    this.head = html("tr");
    this.note = html("p", { class: "quiet" });
    this.table = html("table", { class: "pieces-table" }, html("thead", {}, this.head), this.body);
    this.root = html("div", { class: "pieces" }, this.canvas, html("div", {}, this.table, this.note));
  }

  take(numbers) {
    const pieces = numbers.story?.pieces;
    const shown = Boolean(pieces);
    this.canvas.hidden = this.table.hidden = !shown;
    write(this.note, shown ? "" : "Tick “Voronoi regions” to see the pieces.");
    if (!shown) return;
    this.numbers = numbers;
    this.image = decode(pieces);
    this.paint();
  }

  paint() {
    const { image, numbers } = this;
    const fills = Object.fromEntries(["reference-fill", "prediction-fill", "both"].map((name) => [name, rgb(colour(name))]));
    const regions = boxes(image);
    drawApart(this.canvas, image, regions, fills);
    const parts = [...new Set(numbers.terms.flatMap((term) => (term.parts ?? []).map(({ part }) => part)))].filter(Boolean).sort();
    this.head.replaceChildren(html("th"), html("th", { scope: "col" }, "whole"), ...parts.map((part) => html("th", { scope: "col" }, `part ${part}`)));
    this.body.replaceChildren(...[...regions].map(([id, box]) => this.row(id, box, parts, fills)));
  }

  row(id, box, parts, fills) {
    const term = this.numbers.terms.find(({ reference }) => reference === id);
    const whole = this.numbers.story.pieces.iou.find(({ reference }) => reference === id)?.iou ?? null;
    const tile = (value, part) => html("td", {}, crop(this.image, box, id, part, fills), html("span", {}, value === null ? "no match" : score(value)));
    const found = (part) => term?.parts?.find((one) => one.part === part)?.iou ?? null;
    return html("tr", {}, html("th", { scope: "row", class: "reference" }, short("reference", id)),
      tile(whole, null), ...parts.map((part) => tile(found(part), part)));
  }
}

function decode({ width, height, region, parts }) {
  const bytes = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  return { width, height, region: new Uint16Array(bytes(region).buffer), parts: bytes(parts) };
}

/** What is covered in each region: [left, top, right, bottom], by the id of its reference. */
function boxes({ width, region, parts }) {
  const found = new Map();
  parts.forEach((code, at) => {
    if (!code) return;
    const [x, y, id] = [at % width, Math.floor(at / width), region[at]];
    const [left, top, right, bottom] = found.get(id) ?? [x, y, x, y];
    found.set(id, [Math.min(left, x), Math.min(top, y), Math.max(right, x), Math.max(bottom, y)]);
  });
  return new Map([...found].sort(([one], [other]) => one - other));
}

function drawApart(canvas, { width, height, region, parts }, regions, fills) {
  const shift = new Map([...regions].map(([id, [left, top, right, bottom]]) =>
    [id, [Math.round(APART * ((left + right - width) / 2)), Math.round(APART * ((top + bottom - height) / 2))]]));
  const moved = [...regions].map(([id, [left, top, right, bottom]]) => {
    const [dx, dy] = shift.get(id);
    return [left + dx, top + dy, right + dx, bottom + dy];
  });
  const least = (at) => Math.min(...moved.map((box) => box[at])) - MARGIN;
  const most = (at) => Math.max(...moved.map((box) => box[at])) + MARGIN;
  const [x0, y0] = [least(0), least(1)];
  paint(canvas, most(2) - x0, most(3) - y0, (put) => parts.forEach((code, at) => {
    if (!code) return;
    const [dx, dy] = shift.get(region[at]);
    put((at % width) + dx - x0, Math.floor(at / width) + dy - y0, fillOf(code, null, fills), shade(code, null));
  }));
}

function crop({ width, region, parts }, [left, top, right, bottom], id, part, fills) {
  const canvas = html("canvas", { "aria-hidden": true });
  paint(canvas, right - left + 1 + 2 * AROUND, bottom - top + 1 + 2 * AROUND, (put) => {
    for (let y = top; y <= bottom; y += 1) {
      for (let x = left; x <= right; x += 1) {
        const at = y * width + x;
        if (region[at] === id && parts[at]) put(x - left + AROUND, y - top + AROUND, fillOf(parts[at], part, fills), shade(parts[at], part));
      }
    }
  });
  return canvas;
}

/** The colour of a pixel: whose it is, of everything or of one part. */
function fillOf(code, part, fills) {
  const sides = [code % PARTS_BASE, Math.floor(code / PARTS_BASE)];
  const [reference, prediction] = sides.map((found) => (part === null ? found > 0 : found === part));
  if (reference && prediction) return fills.both;
  return reference ? fills["reference-fill"] : prediction ? fills["prediction-fill"] : null;
}

/** Inner parts are drawn lighter where everything is shown. */
const shade = (code, part) => (part === null && Math.max(code % PARTS_BASE, Math.floor(code / PARTS_BASE)) % 2 === 0 ? 0.35 : 0);

function paint(canvas, width, height, fill) {
  Object.assign(canvas, { width: width * SCALE, height: height * SCALE });
  const context = canvas.getContext("2d");
  const picture = context.createImageData(width, height);
  fill((x, y, rgb, light) => {
    if (!rgb || x < 0 || y < 0 || x >= width || y >= height) return;
    const at = 4 * (y * width + x);
    rgb.forEach((value, channel) => (picture.data[at + channel] = value + light * (255 - value)));
    picture.data[at + 3] = 255;
  });
  const small = new OffscreenCanvas(width, height);
  small.getContext("2d").putImageData(picture, 0, 0);
  context.drawImage(small, 0, 0, width * SCALE, height * SCALE);
}

const rgb = (hex) => [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16));

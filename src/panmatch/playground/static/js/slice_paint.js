// A tile of a slice as colours, at the resolution of the screen: fills, hatching and outlines.

import { colour } from "./dom.js";

const GOLDEN_ANGLE = 137.508; // degrees between the hues of neighbours
const STRIPES = 7; // pixels of the page from one stripe to the next
const DIM = 0.14; // what remains of objects that are not pointed at
const FADED = 0.3; // of predictions below the confidence cut
const CLEAR = [0, 0, 0, 0];

/** Looks of pixels by the positions of their objects: `fill(r, p)` gives {base, stripe, hatch}. */
export function makeLook({ mode, fates, opacity, lit }) {
  const paints = withoutBelow(mode === "objects" ? objectPaints(fates) : matchPaints(fates), fates);
  const lines = { reference: rgb(colour("slice-reference")), prediction: rgb(colour("slice-prediction")) };
  const shown = (r, p) => !lit || lit.reference.has(r) || lit.prediction.has(p);
  return {
    fill(r, p) {
      const { base, stripe = null, hatch = 0 } = paints(r, p);
      const share = opacity * (shown(r, p) ? 1 : DIM);
      return { base: packed(base, share), stripe: stripe && packed(stripe, Math.sqrt(share)), hatch };
    },
    lineR: (r) => packed([...lines.reference, 1], shown(r, 0) ? 1 : DIM),
    lineP: (p) => packed([...lines.prediction, 1], shown(0, p) ? (fates.isBelow(p) ? FADED : 1) : DIM),
  };
}

/** Predictions below the cut are as if they were not there, but for a shade of grey. */
function withoutBelow(paints, { isBelow }) {
  const grey = rgb(colour("slice-dismissed"));
  return (r, p) => {
    if (!p || !isBelow(p)) return paints(r, p);
    return r ? paints(r, 0) : { base: [...grey, 0.42 * FADED] };
  };
}

/** Green where the two objects of a match overlap; hatched where an object has no match. */
function matchPaints({ matches, isMissed, isFalse, isDismissed }) {
  const [tp, fn, fp, grey] = ["slice-tp", "slice-fn", "slice-fp", "slice-dismissed"].map((name) => rgb(colour(name)));
  return (r, p) => {
    if (r && p && matches(r, p)) return { base: [...tp, 0.85] };
    const missed = r && isMissed(r);
    const spurious = p && isFalse(p);
    if (missed && spurious) return { base: [...fn, 0.6], stripe: [...fp, 0.95], hatch: 3 };
    if (missed) return { base: [...fn, 0.3], stripe: [...fn, 1], hatch: 1 };
    if (spurious) return { base: [...fp, 0.3], stripe: [...fp, 1], hatch: 2 };
    if (r && p) return { base: [...mixed(fn, fp), 0.5] };
    if (r) return { base: [...fn, 0.42] };
    return { base: [...(isDismissed(p) ? grey : fp), 0.42] };
  };
}

/** A hue for every reference, which its predictions share; what has no match has its own. */
function objectPaints({ matches, partner }) {
  return (r, p) => {
    if (r && p && matches(r, p)) return { base: [...hue(r), 0.9] };
    if (r && p) return { base: [...mixed(hue(r), hue(partner(p))), 0.75] };
    return { base: [...hue(r || partner(p)), 0.5] };
  };
}

/** Paint a tile onto pixels of the screen; `maps` say which column and row of it each one shows. */
export function paintTile(pixels, tile, { columns, rows, ratio }, look) {
  const width = columns.length;
  const { reference, prediction } = tile;
  const across = tile.shape[1];
  const reach = Math.max(1, Math.round(ratio));
  const pitch = STRIPES * ratio;
  let last = { r: -1, p: -1, fill: null };
  for (let y = 0; y < rows.length; y += 1) {
    if (rows[y] < 0) continue;
    const start = rows[y] * across;
    const above = rowNear(rows, y - reach, rows[y]) * across;
    const below = rowNear(rows, y + reach, rows[y]) * across;
    for (let x = 0; x < width; x += 1) {
      const column = columns[x];
      if (column < 0) continue;
      const r = reference[start + column];
      const p = prediction[start + column];
      if (!r && !p) {
        pixels[y * width + x] = 0;
        continue;
      }
      if (r !== last.r || p !== last.p) last = { r, p, fill: look.fill(r, p) };
      const before = columns[x - reach] >= 0 ? columns[x - reach] : column;
      const after = columns[x + reach] >= 0 ? columns[x + reach] : column;
      const edge = (labels, own) => own && (labels[start + before] !== own || labels[start + after] !== own || labels[above + column] !== own || labels[below + column] !== own);
      if (edge(reference, r)) pixels[y * width + x] = look.lineR(r);
      else if (edge(prediction, p)) pixels[y * width + x] = look.lineP(p);
      else pixels[y * width + x] = last.fill.hatch && striped(last.fill.hatch, x, y, pitch) ? last.fill.stripe : last.fill.base;
    }
  }
}

const rowNear = (rows, y, own) => (rows[y] >= 0 ? rows[y] : own);

const striped = (hatch, x, y, pitch) => (hatch === 1 ? x + y : x - y + 1e6 * Math.ceil(pitch)) % pitch < pitch * 0.36;

/** Which column or row of a tile each pixel of the screen shows, −1 for none. */
export function mapPixels(count, ratio, origin, scale, from, to, step) {
  const found = new Int32Array(count);
  for (let at = 0; at < count; at += 1) {
    const place = Math.floor(origin + (at + 0.5) / ratio / scale);
    found[at] = place >= from && place < to ? Math.floor((place - from) / step) : -1;
  }
  return found;
}

/** The grey levels of a tile as a picture; brightness and contrast are those of a photograph. */
export function greyPicture({ image, shape: [height, width] }, brightness, contrast) {
  const canvas = document.createElement("canvas");
  Object.assign(canvas, { width, height });
  const context = canvas.getContext("2d");
  const picture = context.createImageData(width, height);
  const pixels = new Uint32Array(picture.data.buffer);
  const levels = Uint32Array.from({ length: 256 }, (_, level) => {
    const shown = Math.round(Math.min(255, Math.max(0, (level - 128) * contrast + 128 + brightness)));
    return (255 << 24) | (shown << 16) | (shown << 8) | shown;
  });
  for (let at = 0; at < pixels.length; at += 1) pixels[at] = levels[image[at]];
  context.putImageData(picture, 0, 0);
  return canvas;
}

const rgb = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
const mixed = (one, other) => one.map((value, at) => (value + other[at]) / 2);
const packed = ([r, g, b, alpha] = CLEAR, share = 1) => ((Math.round(255 * alpha * share) << 24) | (b << 16) | (g << 8) | r) >>> 0;

const hues = new Map();

function hue(position) {
  if (!hues.has(position)) hues.set(position, fromHue((position * GOLDEN_ANGLE) % 360, position % 2 ? 0.62 : 0.72));
  return hues.get(position);
}

/** A colour of a hue in degrees and a lightness, of medium saturation. */
function fromHue(degrees, lightness) {
  const strength = 0.75 * Math.min(lightness, 1 - lightness);
  return [0, 8, 4].map((shift) => {
    const at = (shift + degrees / 30) % 12;
    return Math.round(255 * (lightness - strength * Math.max(-1, Math.min(at - 3, 9 - at, 1))));
  });
}

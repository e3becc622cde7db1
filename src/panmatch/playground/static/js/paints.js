// Colours and hatching of paintings: a tile of pixels for every value of a picture.

export const TILE = 16;
const PART_BASE = 6; // parts per side, none included
const CUT = 255; // a border between two pieces of a prediction
const PARTS = { unscored: 0, right: 1, wrong: 2, missed: 3, extra: 4 };
const PIECES = { none: 0, matched: 1, left: 2, false: 3 };
const MISSED = 2; // a reference without a match

const part = (verdict, t, s) => (PARTS[verdict] * PART_BASE + t) * PART_BASE + s;
const piece = (reference, what) => 4 * reference + PIECES[what];

/** [value, word, explanation] of what the colours of a kind of picture mean. */
export const KEYS = {
  parts: [
    [part("right", 1, 1), "right", "Both objects of a match have the same part here; deeper parts are darker"],
    [part("wrong", 1, 2), "wrong part", "Reference and prediction have different parts here, or belong to different matches"],
    [part("missed", 1, 0), "missed", "A part of a matched reference that its predictions do not cover"],
    [part("extra", 0, 1), "too much", "A part of a matched prediction outside of its reference"],
    [part("unscored", 1, 0), "no match: reference", "Parts of a reference without a match are not scored"],
    [part("unscored", 0, 1), "no match: prediction", "Parts of a prediction without a match are not scored"],
  ],
  pieces: [
    [piece(0, "matched"), "matched piece", "A piece that is matched to the reference of its Voronoi region"],
    [piece(0, "left"), "left over", "A piece without a match; its prediction does not count as a false positive, because another piece of it is matched"],
    [piece(0, "false"), "false positive", "A piece of a prediction of which no piece is matched"],
    [piece(1, "none"), "found reference", "A reference with a match"],
    [piece(MISSED, "none"), "missed reference", "A reference without a match"],
  ],
};

/** A function that gives the tile of a value; null where nothing is painted. */
export function makeTiles(kind, colour) {
  const names = { ground: "field", ink: "ink", reference: "reference-fill", prediction: "prediction-fill", good: "good", bad: "bad" };
  const paints = Object.fromEntries(Object.entries(names).map(([name, variable]) => [name, channels(colour(variable))]));
  const known = new Map();
  return (value) => {
    if (value === 0) return null;
    if (!known.has(value)) known.set(value, makeTile(value === CUT ? { fill: paints.ink } : MAKERS[kind](value, paints), paints.ground));
    return known.get(value);
  };
}

const MAKERS = {
  /** Deeper parts are darker; the direction of the lines says which side is alone. */
  parts(value, { ground, reference, prediction, good, bad }) {
    const [verdict, t, s] = [Math.floor(value / PART_BASE ** 2), Math.floor(value / PART_BASE) % PART_BASE, value % PART_BASE];
    const tint = (hue, number) => mix(ground, hue, Math.min(1, 0.32 + 0.17 * number));
    if (verdict === PARTS.right) return { fill: mix(ground, good, Math.min(1, 0.25 + 0.17 * t)) };
    if (verdict === PARTS.wrong) return { fill: mix(ground, bad, 0.6), rising: true, falling: true };
    if (verdict === PARTS.missed) return { fill: tint(reference, t), rising: true };
    if (verdict === PARTS.extra) return { fill: tint(prediction, s), falling: true };
    const pale = (hue) => mix(ground, hue, 0.3);
    return { fill: t && s ? mix(pale(reference), pale(prediction), 0.5) : pale(t ? reference : prediction) };
  },

  /** Where a reference and its match lie over each other, their colours are multiplied, as everywhere;
   * a piece without a match is drawn over the reference. */
  pieces(value, { ground, reference, prediction, bad }) {
    const [below, what] = [Math.floor(value / 4), value % 4];
    const under = [null, reference, mix(ground, reference, 0.4)][below];
    const over = [null, prediction, mix(ground, prediction, 0.4), mix(ground, bad, 0.55)][what];
    const both = () => (what === PIECES.matched ? multiply(under, over) : mix(under, over, 0.5));
    const fill = under && over ? both() : under ?? over;
    return { fill, falling: what === PIECES.left || what === PIECES.false, rising: what === PIECES.false };
  },
};

/** Pixels of a colour with lines of the ground across it, soft at their edges. */
function makeTile({ fill, rising = false, falling = false }, ground) {
  const tile = new Uint32Array(TILE * TILE);
  for (let y = 0; y < TILE; y += 1) {
    for (let x = 0; x < TILE; x += 1) {
      const share = Math.max(rising ? line(x + y) : 0, falling ? line(x - y) : 0);
      tile[y * TILE + x] = pack(mix(fill, ground, 0.75 * share));
    }
  }
  return tile;
}

/** How much of a pixel belongs to a line, of which there is one every 8 pixels. */
const line = (along) => Math.min(1, Math.max(0, 2 - Math.abs((((along % 8) + 8) % 8) - 4)));

const channels = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
const mix = (from, to, share) => from.map((value, at) => Math.round(value + (to[at] - value) * share));
const multiply = (one, other) => one.map((value, at) => Math.round((value * other[at]) / 255));
const pack = ([r, g, b]) => ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;

// What became of every object of a pair, by its position: the value of its pixels in a slice.

const WIDE = 2 ** 26; // more than there are positions
const STATES = { tp: "t", fn: "n", fp: "f", matched: "m", dismissed: "d" };
const BELOW = "b"; // the cut

/** `numbers` list all objects in their order, or tell the fates of all in letters. Predictions below
 * the cut are not among them, so that positions after them are higher. */
export function readFates({ vertices, edges, fates, confidence }) {
  const letters = (side) => fates?.[side] ?? vertices[side].map(({ state }) => STATES[state]).join("");
  const reference = letters("reference");
  const { all: prediction, places } = withBelow(letters("prediction"), confidence?.below ?? []);
  const listed = fates ? fates.chosen[0].map((ref, at) => [ref, fates.chosen[1][at]]) : edges.filter((edge) => edge[5]);
  const chosen = listed.map(([ref, pred]) => [ref, places ? places[pred] : pred]);
  const pairs = new Set(chosen.map(([ref, pred]) => (ref + 1) * WIDE + pred + 1));
  const partners = new Map(chosen.map(([ref, pred]) => [pred + 1, ref + 1]));
  return {
    matches: (r, p) => pairs.has(r * WIDE + p),
    isMissed: (r) => reference[r - 1] === "n",
    isFalse: (p) => prediction[p - 1] === "f",
    isDismissed: (p) => prediction[p - 1] === "d",
    isBelow: (p) => prediction[p - 1] === BELOW,
    /** The reference that a prediction is matched to; for others a number that no reference has. */
    partner: (p) => partners.get(p) ?? p + reference.length,
  };
}

/** The letters of all predictions, and the positions of those that are not below the cut. */
function withBelow(letters, below) {
  if (!below.length) return { all: letters, places: null };
  const all = Array.from({ length: letters.length + below.length });
  for (const at of below) all[at] = BELOW;
  const places = [...all.keys()].filter((at) => all[at] !== BELOW);
  places.forEach((place, at) => (all[place] = letters[at]));
  return { all: all.join(""), places };
}

/** Until there are numbers: nothing is matched, nothing is wrong. */
export const NO_FATES = { matches: () => false, isMissed: () => false, isFalse: () => false, isDismissed: () => false, isBelow: () => false, partner: (p) => p };

// What became of every object of a pair, by its position: the value of its pixels in a slice.

const WIDE = 2 ** 26; // more than there are positions
const STATES = { tp: "t", fn: "n", fp: "f", matched: "m", dismissed: "d" };

/** `numbers` list all objects in their order, or tell the fates of all in letters. */
export function readFates({ vertices, edges, fates }) {
  const letters = (side) => fates?.[side] ?? vertices[side].map(({ state }) => STATES[state]).join("");
  const reference = letters("reference");
  const prediction = letters("prediction");
  const chosen = fates ? fates.chosen[0].map((ref, at) => [ref, fates.chosen[1][at]]) : edges.filter((edge) => edge[5]);
  const pairs = new Set(chosen.map(([ref, pred]) => (ref + 1) * WIDE + pred + 1));
  const partners = new Map(chosen.map(([ref, pred]) => [pred + 1, ref + 1]));
  return {
    matches: (r, p) => pairs.has(r * WIDE + p),
    isMissed: (r) => reference[r - 1] === "n",
    isFalse: (p) => prediction[p - 1] === "f",
    isDismissed: (p) => prediction[p - 1] === "d",
    /** The reference that a prediction is matched to; for others a number that no reference has. */
    partner: (p) => partners.get(p) ?? p + reference.length,
  };
}

/** Until there are numbers: nothing is matched, nothing is wrong. */
export const NO_FATES = { matches: () => false, isMissed: () => false, isFalse: () => false, isDismissed: () => false, partner: (p) => p };

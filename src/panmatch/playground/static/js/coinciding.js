// Curves that lie on each other, at one threshold or at all of them.

const SCORES = ["pq", "sq", "rq"];

/** The step of a curve that holds at a threshold. */
export const stepAt = (curve, threshold) => curve.thresholds.findLastIndex((from) => from <= threshold);

/** For every curve the first one above it that it lies on: {strategy, everywhere}; null if there is none. */
export function coinciding(curves, threshold) {
  const steps = curves.map((curve) => stepAt(curve, threshold));
  return curves.map((curve, at) => {
    const above = curves.slice(0, at);
    const everywhere = above.find((other) => sameEverywhere(curve, other));
    const here = everywhere ?? above.find((other, line) => sameAt(curve, steps[at], other, steps[line]));
    return here ? { strategy: here.strategy, everywhere: Boolean(everywhere) } : null;
  });
}

const sameAt = (curve, step, other, otherStep) =>
  SCORES.every((score) => curve[score][step] === other[score][otherStep]);

/** Whether two step functions are the same, wherever they are cut into steps. */
function sameEverywhere(curve, other) {
  let [step, otherStep] = [0, 0];
  while (sameAt(curve, step, other, otherStep)) {
    const next = curve.thresholds[step + 1] ?? Infinity;
    const otherNext = other.thresholds[otherStep + 1] ?? Infinity;
    if (next === Infinity && otherNext === Infinity) return true;
    if (next <= otherNext) step += 1;
    if (otherNext <= next) otherStep += 1;
  }
  return false;
}

// Goals of the tour: conditions on the numbers of an answer. Nothing is computed here.

import { precise, QUANTITIES, score, short, size } from "./wording.js";

const RELATIONS = {
  above: (left, right) => left > right,
  below: (left, right) => left < right,
  "equal to": (left, right) => left === right,
};
const COUNTS = { tp: "TP", fp: "FP", fn: "FN" };

/** The number that is meant; null if the answer does not have it. */
export function measure(measured, numbers, view) {
  const { what, strategy, pair } = measured;
  if (what === "threshold") return view.threshold;
  if (what === "iou") return iouOf(numbers, pair);
  if (what === "counted_twice") return numbers.story?.all_edges?.counted_twice ?? null;
  const tally = strategy ? numbers.story?.scores[strategy] : numbers.tally;
  return tally?.[what] ?? null;
}

function iouOf({ vertices, edges }, [reference, prediction]) {
  const found = edges.find(([ref, pred]) => vertices.reference[ref].id === reference && vertices.prediction[pred].id === prediction);
  return found?.[3] ?? 0;
}

export function isMet({ conditions }, numbers, view) {
  return conditions.every(({ left, relation, right, number }) => {
    const [a, b] = [measure(left, numbers, view), right ? measure(right, numbers, view) : number];
    return a !== null && b !== null && RELATIONS[relation](a, b);
  });
}

/** All numbers that a goal is about, each once. */
function measuredOf({ conditions, watch }) {
  const all = [...conditions.flatMap(({ left, right }) => [left, right]), ...watch].filter(Boolean);
  return [...new Map(all.map((one) => [JSON.stringify(one), one])).values()];
}

/** Strategies whose scores a goal needs. */
export const strategiesOf = (goal) => [...new Set(measuredOf(goal).map(({ strategy }) => strategy).filter(Boolean))];

export const needsAllEdges = (goal) => measuredOf(goal).some(({ what }) => what === "counted_twice");

/** How far a goal is: its numbers in words. A strategy has the name of its family where that says enough. */
export function progress(goal, numbers, view, strategies) {
  const used = strategiesOf(goal).map((id) => strategies.get(id));
  const label = (id) => {
    const { family, label: full } = strategies.get(id);
    return used.filter((one) => one.family === family).length > 1 ? full : family;
  };
  return measuredOf(goal).map((one) => ({ name: nameOf(one, label, numbers.quality), value: write(one, measure(one, numbers, view)) }));
}

function nameOf({ what, strategy, pair }, label, quality) {
  if (what === "threshold") return "τ";
  if (what === "iou") return `IoU of ${short("reference", pair[0])} and ${short("prediction", pair[1])}`;
  if (what === "counted_twice") return "pixels counted twice";
  const part = quality === "parts" && what !== "rq" ? "Part" : "";
  const name = COUNTS[what] ?? `${part}${QUANTITIES[what].name}`;
  return strategy ? `${name}, ${label(strategy)}` : name;
}

function write({ what }, value) {
  if (what === "threshold") return precise(value);
  return what === "counted_twice" || what in COUNTS ? size(value ?? 0) : score(value);
}

// Goals of the tour: conditions on the numbers of an answer. Nothing is computed here.

import { named, precise, score, short, size } from "./wording.js";

const RELATIONS = {
  above: (left, right) => left > right,
  below: (left, right) => left < right,
  "equal to": (left, right) => left === right,
};
const COUNTS = { tp: "TP", fp: "FP", fn: "FN" };

/** The number that an operand stands for; null if the answer does not have it. */
export function measure(operand, numbers, view) {
  if (typeof operand === "number") return operand;
  const { what, strategy, pair } = operand;
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
  return conditions.every(({ left, relation, right }) => {
    const [a, b] = [measure(left, numbers, view), measure(right, numbers, view)];
    return a !== null && b !== null && RELATIONS[relation](a, b);
  });
}

/** Strategies whose scores the conditions need. */
export const strategiesOf = ({ conditions }) => [
  ...new Set(conditions.flatMap(({ left, right }) => [left.strategy, right.strategy]).filter(Boolean)),
];

export const needsAllEdges = ({ conditions }) => conditions.some(({ left }) => left.what === "counted_twice");

/** How far a goal is: the measured numbers in words, each once. */
export function progress({ conditions }, numbers, view, label) {
  const operands = conditions.flatMap(({ left, right }) => [left, right]).filter((one) => typeof one !== "number");
  const unique = [...new Map(operands.map((one) => [JSON.stringify(one), one])).values()];
  return unique.map((one) => ({ name: nameOf(one, label), value: write(one, measure(one, numbers, view)) }));
}

function nameOf({ what, strategy, pair }, label) {
  if (what === "threshold") return "τ";
  if (what === "iou") return `IoU of ${short("reference", pair[0])} and ${short("prediction", pair[1])}`;
  if (what === "counted_twice") return "pixels counted twice";
  const name = COUNTS[what] ?? named(what);
  return strategy ? `${name}, ${label(strategy)}` : name;
}

function write({ what }, value) {
  if (what === "threshold") return precise(value);
  return what === "counted_twice" || what in COUNTS ? size(value ?? 0) : score(value);
}

// What colours, lines and abbreviations mean: short keys beside the drawings, and one for everything.

import { find, html, svg } from "./dom.js";

const SIZE = 16;

/** A small drawing with the classes that the panels draw with. */
const sample = (...shapes) => svg("svg", { width: SIZE, height: SIZE, "aria-hidden": true }, shapes);
const wide = (...shapes) => svg("svg", { width: 26, height: SIZE, "aria-hidden": true }, shapes);
const disc = (state = "") => svg("g", { class: `shape ${state}` }, svg("circle", { class: "part", cx: 8, cy: 8, r: 7 }));
const of = (side, ...shapes) => svg("g", { class: side }, shapes);
const line = (names) => svg("line", { class: names, x1: 1, x2: 25, y1: 8, y2: 8 });
const vertex = (side, state) => svg("g", { class: `vertex ${side} ${state}` },
  side === "reference" ? svg("circle", { cx: 8, cy: 8, r: 6 }) : svg("rect", { x: 2, y: 2, width: 12, height: 12, rx: 3 }));

function cell(share, names) {
  const shade = svg("rect", { class: "shade", x: 1, y: 2, width: 14, height: 12, rx: 3 });
  shade.style.setProperty("--share", share);
  return svg("g", { class: `cell ${names}` }, shade);
}

const SCENE = () => [
  [sample(of("reference", disc())), "reference"],
  [sample(of("prediction", disc())), "prediction"],
  [sample(svg("circle", { class: "both", cx: 8, cy: 8, r: 7 })), "both"],
];

const UNMATCHED = () => [
  [sample(of("reference", disc("fn"))), "reference without a match (FN)"],
  [sample(of("prediction", disc("fp"))), "prediction without a match (FP)"],
];

const CURVES = () => [
  [wide(svg("line", { class: "tau", x1: 13, x2: 13, y1: 0, y2: 16 })), "threshold τ: drag it"],
  [wide(svg("circle", { class: "mark", cx: 13, cy: 8, r: 3 })), "where the numbers change"],
  [wide(svg("rect", { class: "area", width: 26, height: 16 })), "area under the curve of the chosen strategy"],
];

const GRAPH = () => [
  [sample(vertex("reference", "tp")), "reference"],
  [sample(vertex("prediction", "matched")), "prediction"],
  [sample(vertex("reference", "fn")), "without a match"],
  [wide(line("edge chosen")), "match, with its IoU"],
  [wide(line("edge passes")), "IoU above τ"],
  [wide(line("edge fails")), "IoU of τ or less"],
  ["TP, FN, FP: true positive, false negative, false positive"],
];

const MATRIX = () => [
  [sample(cell(0.15, "")), "low IoU"],
  [sample(cell(0.9, "")), "high IoU"],
  [sample(cell(0.5, "chosen")), "match"],
  [html("b", { class: "bold" }, ".62"), "bold: above τ"],
];

const MORE = () => [
  ...UNMATCHED(),
  [wide(svg("line", { class: "border", x1: 1, x2: 25, y1: 8, y2: 8 })), "border of a Voronoi region"],
];

const WORDS = {
  IoU: "intersection over union: the area that two objects share, divided by the area that they cover together",
  τ: "tau, the threshold: a pair can match only if its IoU is greater than τ",
  TP: "true positive: a reference with a match",
  FP: "false positive: a prediction without a match",
  FN: "false negative: a reference without a match",
  SQ: "Segmentation Quality: the mean quality of the matches, which is the IoU of a reference with everything matched to it",
  RQ: "Recognition Quality: TP / (TP + ½ FP + ½ FN), the F1 score of finding objects",
  PQ: "Panoptic Quality: SQ × RQ",
  PartPQ: "PQ where the quality of a match is the mean IoU of its parts",
  AUTC: "area under the threshold curve: the mean of PQ over all τ from 0 to 1; AUTC SQ and AUTC RQ are the same for SQ and RQ",
  AP: "TP / (TP + FP + FN); the area under its curve is sortedAP",
  seed: "gate of a merge: the first prediction of a reference must pass τ, and others need only overlap",
  edge: "gate of a merge: every prediction must pass τ",
  parts: "objective of an optimal strategy: the matching has maximum PartPQ rather than maximum PQ",
};

const OF_CONFIDENCE = {
  cut: "predictions with a confidence of at least the cut are matched, and the others are left out",
  "average precision": "area below precision over recall, where precision at a recall is the highest of all cuts with at least as much recall",
};

const list = (entries) => html("ul", { class: "key-line" }, entries.map((entry) => html("li", {}, entry)));

const explained = (words, names = "") => Object.entries(words).flatMap(([word, meaning]) => [html("dt", { class: names }, word), html("dd", { class: names }, meaning)]);

/** Write all keys. */
export function writeKeys(pair) {
  find("#inspector").before(list(pair ? SCENE() : [...SCENE(), [sample(of("reference", disc("fn"))), "pale: no match"]]));
  find("#graph").after(list(GRAPH()));
  find("#matrix").after(list(MATRIX()));
  find("#key").append(html("div", {},
    ...(pair ? [] : [html("h3", {}, "Scene"), list(MORE())]),
    html("h3", {}, "Curves"), list(CURVES()),
    html("p", { class: "key-line" }, "Colours stand for families of strategies, dashes for their variants: see the table below the curves."),
    html("h3", {}, "Abbreviations"),
    html("dl", {}, [...explained(WORDS), ...explained(OF_CONFIDENCE, "of-confidence")])));
}

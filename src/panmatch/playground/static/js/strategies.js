// How strategies look, as the library describes them: a hue for the family, dashes for the variant.

import { html, svg } from "./dom.js";

const described = new Map();

/** Take the descriptions that the server sends, and give every family its colour. */
export function learn(strategies) {
  strategies.forEach((one) => described.set(one.id, one));
  const families = new Map(strategies.map((one) => [one.family, one.hue]));
  const sheet = new CSSStyleSheet();
  sheet.replaceSync([...families].map(([family, [light, dark]]) =>
    `.hue-${family} { --hue: ${light}; } @media screen { :root[data-theme="dark"] .hue-${family} { --hue: ${dark}; } }`).join("\n"));
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
}

const LINE_WIDTH = 1.8;

export const dashes = (id) => described.get(id)?.dash.map((length) => length * LINE_WIDTH).join(" ") ?? "";

/** Class that gives an element the colour of a strategy. */
export const hue = (id) => `hue-${described.get(id)?.family ?? id.split("/")[0]}`;

const SWATCH = 30; // pixels, more than the longest dash

/** A short line as the curve of a strategy is drawn. */
export function swatch(strategy) {
  return svg("svg", { class: "swatch", width: SWATCH, height: 8, "aria-hidden": true },
    svg("line", { class: `curve ${hue(strategy)}`, x1: 0, x2: SWATCH, y1: 4, y2: 4, "stroke-dasharray": dashes(strategy) }));
}

/** A label that may break before its options, but neither in them nor without them. */
export function breakable(label) {
  const [name, options] = label.split(" (");
  return html("span", { class: "label" }, html("span", {}, name), ...(options ? [" ", html("span", {}, `(${options}`)] : []));
}

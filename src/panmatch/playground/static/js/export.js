// Pictures, tables and code to take away.

import { encode } from "./links.js";
import { QUANTITIES } from "./wording.js";

const STYLES = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "stroke-linecap", "stroke-linejoin", "opacity", "font-family", "font-size", "font-weight", "font-style", "mix-blend-mode", "text-anchor", "visibility", "paint-order", "display", "isolation"];

/** An SVG as text that looks the same without the page's styles. */
export function picture(drawing, ground) {
  const copy = drawing.cloneNode(true);
  const originals = [drawing, ...drawing.querySelectorAll("*")];
  const copies = [copy, ...copy.querySelectorAll("*")];
  for (const [at, original] of originals.entries()) {
    const styles = getComputedStyle(original);
    copies[at].style.cssText = STYLES.map((name) => `${name}:${styles.getPropertyValue(name)}`).join(";");
  }
  const box = drawing.viewBox.baseVal;
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("width", box.width);
  copy.setAttribute("height", box.height);
  const rect = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  for (const [name, value] of Object.entries({ width: box.width, height: box.height, fill: ground })) rect.setAttribute(name, value);
  copy.prepend(rect);
  if (drawing.classList.contains("painted")) rect.after(painted(box));
  for (const mark of copy.querySelectorAll(".layer.marks, .ground")) mark.remove();
  return new XMLSerializer().serializeToString(copy);
}

/** What is painted beneath the scene, as a picture. */
function painted({ width, height }) {
  const image = document.createElementNS("http://www.w3.org/2000/svg", "image");
  const href = document.querySelector("#painting").toDataURL();
  for (const [name, value] of Object.entries({ href, width, height })) image.setAttribute(name, value);
  return image;
}

export function save(name, content, type) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** The picture as PNG, three pixels per unit: sharp on a slide. */
export async function asPng(text) {
  const image = new Image();
  image.src = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
  await image.decode();
  const canvas = document.createElement("canvas");
  Object.assign(canvas, { width: 3 * image.width, height: 3 * image.height });
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  URL.revokeObjectURL(image.src);
  return new Promise((done) => canvas.toBlob(done, "image/png"));
}

const line = (values) => `${values.map((value) => (value === null || value === undefined ? "" : String(value))).join(",")}\r\n`;

export function tableCsv({ table }) {
  const head = line(["strategy", "threshold", "tp", "fp", "fn", "pq", "sq", "rq"]);
  return head + table.rows.flatMap((row) => table.thresholds.map((threshold, at) =>
    line([row.strategy, threshold, row.tp[at], row.fp[at], row.fn[at], row.pq[at], row.sq[at], row.rq[at]]))).join("");
}

export function curvesCsv({ curves }) {
  const head = line(["strategy", "threshold_from", "threshold_to", "tp", "fp", "fn", "pq", "sq", "rq"]);
  return head + curves.flatMap((curve) => curve.thresholds.map((from, at) =>
    line([curve.strategy, from, curve.thresholds[at + 1] ?? 1, curve.tp[at], curve.fp[at], curve.fn[at], curve.pq[at], curve.sq[at], curve.rq[at]]))).join("");
}

export function cutsCsv({ confidence: { curve } }) {
  const names = ["tp", "fp", "fn", "precision", "recall", "pq"];
  const rows = (curve?.cuts ?? []).map((to, at) => line([curve.cuts[at + 1], to, ...names.map((name) => curve[name][at])]));
  return line(["cut_above", "cut_to", ...names]) + rows.join("");
}

export function areasCsv({ curves }) {
  const names = Object.values(QUANTITIES).map(({ area }) => area);
  return line(["strategy", ...names]) + curves.map((curve) => line([curve.strategy, ...names.map((name) => curve[name])])).join("");
}

export function pairsCsv({ edges, vertices }) {
  const head = line(["reference", "prediction", "intersection", "iou", "passes", "matched"]);
  return head + edges.map(([ref, pred, intersection, iou, passes, chosen]) =>
    line([vertices.reference[ref].id, vertices.prediction[pred].id, intersection, iou, passes, chosen])).join("");
}

/** A command that opens what is shown; links have no quotes in them. */
export const command = (state) => `panmatch play --link '${encode(state)}'`;

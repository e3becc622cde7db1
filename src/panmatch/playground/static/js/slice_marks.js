// What is written over a slice: letters for the directions of the body, and a bar of known length.

const MARGIN = 10;
const LONGEST_BAR = 0.22; // of the width

/** Letters at the edges: R is the patient's right, A anterior, S superior. */
export function drawLetters(context, [width, height], edges) {
  if (!edges.length) return;
  const [top, right, bottom, left] = edges;
  const places = [[top, width / 2, MARGIN + 6], [right, width - MARGIN - 4, height / 2], [bottom, width / 2, height - MARGIN - 4], [left, MARGIN + 4, height / 2]];
  Object.assign(context, { font: "600 13px system-ui, sans-serif", textAlign: "center", textBaseline: "middle" });
  for (const [letter, x, y] of places) write(context, letter, x, y);
}

/** A bar as long as a round number of units; `step` is how wide a pixel of the slice is in units. */
export function drawBar(context, [width, height], perUnit, unit) {
  const most = (width * LONGEST_BAR) / perUnit;
  const power = 10 ** Math.floor(Math.log10(most));
  const length = [5, 2, 1].map((digit) => digit * power).find((one) => one <= most);
  const x = width - MARGIN - length * perUnit;
  const y = height - MARGIN - 2;
  Object.assign(context, { lineWidth: 4, strokeStyle: "rgb(0 0 0 / 70%)" });
  stroke(context, x, y, length * perUnit);
  Object.assign(context, { lineWidth: 2, strokeStyle: "#fff" });
  stroke(context, x, y, length * perUnit);
  Object.assign(context, { font: "12px system-ui, sans-serif", textAlign: "right", textBaseline: "bottom" });
  write(context, `${Number(length.toPrecision(3))} ${unit}`, width - MARGIN, y - 4);
}

function write(context, text, x, y) {
  Object.assign(context, { lineWidth: 3, strokeStyle: "rgb(0 0 0 / 70%)", fillStyle: "#fff", lineJoin: "round" });
  context.strokeText(text, x, y);
  context.fillText(text, x, y);
}

function stroke(context, x, y, length) {
  context.beginPath();
  context.moveTo(x, y);
  context.lineTo(x + length, y);
  context.stroke();
}

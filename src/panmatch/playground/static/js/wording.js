// How numbers and objects are written, everywhere the same.

export const UNDEFINED = "–";

/** Three digits; undefined is a dash. */
export const score = (value) => (value === null || value === undefined ? UNDEFINED : value.toFixed(3));

/** All digits that matter, for titles and tables that people copy. */
export const precise = (value) =>
  value === null || value === undefined ? UNDEFINED : String(Number(value.toPrecision(12)));

/** A threshold in at most three digits. It is never written as 1, which no threshold is. */
export const threshold = (value) => String(Math.min(0.999, Number(value.toFixed(3))));

/** The same in an equation, which says if digits are left out. */
export const tau = (value) => `τ ${Number(threshold(value)) === value ? "=" : "≈"} ${threshold(value)}`;

const grouped = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });

/** An area or a count, with separators between thousands. */
export const size = (value) => grouped.format(value);

export const QUANTITIES = {
  pq: { name: "PQ", area: "autc", areaName: "AUTC", about: "Panoptic Quality" },
  sq: { name: "SQ", area: "autc_sq", areaName: "AUTC SQ", about: "mean quality of the matches" },
  rq: { name: "RQ", area: "autc_rq", areaName: "AUTC RQ", about: "how well objects are found (F1)" },
  ap: { name: "AP", area: "sorted_ap", areaName: "sortedAP", about: "TP / (TP + FP + FN)" },
};

/** The name of a quantity; by parts it says so, except where the quality does not enter. */
export const named = (key, field = "name") => {
  const part = document.body.classList.contains("by-parts") && key !== "rq" && key !== "ap";
  return `${part ? "Part" : ""}${QUANTITIES[key][field]}`;
};

export const short = (side, id) => `${side === "reference" ? "R" : "P"}${id}`;

export const plural = (number, one, many = `${one}s`) => `${size(number)} ${number === 1 ? one : many}`;

// Many objects in groups, as graph and matrix show them: mistakes first, one-to-one matches folded.

import { html } from "./dom.js";
import { plural, precise, score } from "./wording.js";

const MOST_SHOWN = 300; // groups
const QUERY = /^\s*([rp])?\s*(\d+)\s*$/i;

/** What the user wants to see; graph and matrix share it. */
class Grouping {
  constructor() {
    this.unfolded = false; // whether one-to-one matches are shown
    this.query = "";
    this.listeners = [];
  }

  listen(listener) {
    this.listeners.push(listener);
  }

  set(change) {
    Object.assign(this, change);
    for (const listener of this.listeners) listener();
  }

  /** The side and the id that are searched for; null for none, a side of null for both. */
  get sought() {
    const found = QUERY.exec(this.query);
    if (!found) return null;
    const side = found[1] ? { r: "reference", p: "prediction" }[found[1].toLowerCase()] : null;
    return { side, id: Number(found[2]) };
  }

  /** Groups to show, in order: {kind, refs, preds} with rows of the lists of objects; and how many
   * others there are. */
  blocks({ groups, vertices }) {
    const errors = groups.errors.map(([refs, preds]) => ({ kind: "errors", refs, preds }));
    const alone = groups.alone.flat().length ? [{ kind: "alone", refs: groups.alone[0], preds: groups.alone[1] }] : [];
    const clean = groups.clean.map(([ref, pred]) => ({ kind: "clean", refs: [ref], preds: [pred] }));
    const { sought } = this;
    if (!sought) {
      const all = [...errors, ...alone, ...(this.unfolded ? clean : [])];
      return { blocks: all.slice(0, MOST_SHOWN), more: Math.max(0, all.length - MOST_SHOWN) };
    }
    const has = (side, rows) => (sought.side === null || sought.side === side) && rows.some((row) => vertices[side][row].id === sought.id);
    const only = (side, rows) => rows.filter((row) => has(side, [row]));
    const narrowed = alone.map(({ kind, refs, preds }) => ({ kind, refs: only("reference", refs), preds: only("prediction", preds) }));
    const blocks = [...errors, ...narrowed, ...clean].filter(({ refs, preds }) => has("reference", refs) || has("prediction", preds));
    return { blocks, more: 0 };
  }
}

export const grouping = new Grouping();

/** The line that stands for the one-to-one matches. */
export function foldLine({ matches }) {
  if (!matches.count) return html("span", { class: "quiet" }, "There is no one-to-one match.");
  return html("span", {},
    html("b", {}, plural(matches.count, "one-to-one match", "one-to-one matches")),
    html("span", { title: precise(matches.mean_iou) }, `, mean IoU ${score(matches.mean_iou)}`),
    html("span", { class: "quiet", title: precise(matches.least_iou) }, `, lowest ${score(matches.least_iou)} `),
    html("button", { class: "link fold", "aria-expanded": grouping.unfolded, onclick: () => grouping.set({ unfolded: !grouping.unfolded }) }, grouping.unfolded ? "Hide them" : "Show them"));
}

/** A field to search for an id; `picked` is called with the object on Enter, if its side is clear. */
export function searchField(picked) {
  const input = html("input", { type: "search", class: "find-object", placeholder: "Find R12, P7 …", "aria-label": "Find an object by its id", size: 14 });
  input.addEventListener("input", () => grouping.set({ query: input.value }));
  input.addEventListener("keydown", (event) => event.key === "Enter" && grouping.sought?.side && picked(grouping.sought));
  return input;
}

/** What to say where a search finds nothing. */
export function notFound({ left_out: left }) {
  const { sought } = grouping;
  const hidden = left.reference + left.prediction;
  return hidden && sought ? `Not among the objects listed here; ${plural(hidden, "other is", "others are")} left out. Type R or P before the id and press Enter to see its partners.` : "No object has this id.";
}

/** In words, what a group is. */
export const describeAlone = ({ refs, preds }) =>
  `Without a partner: ${[refs.length && plural(refs.length, "reference"), preds.length && plural(preds.length, "prediction")].filter(Boolean).join(", ")}`;

// The ways to share what is shown: a link that opens anywhere, one for this computer, a command.

import { find, html } from "./dom.js";
import { withoutServer } from "./engines.js";
import { command } from "./export.js";
import { encode, hosted } from "./links.js";

const here = (state) => `${location.origin}${location.pathname}${encode(state)}`;

/** What to offer, the best first. Files stay on this computer, so links to them do as well. */
function ways(state, ofPair) {
  const local = ["On this computer, while this playground is running", here(state)];
  if (ofPair) return [local];
  const typed = ["On a command line", command(state)];
  if (withoutServer) return [["Opens in any browser", here(state)], typed];
  return [["Opens in any browser, without panmatch", `${hosted()}${encode(state)}`], local, typed];
}

export class Share {
  open(state, ofPair) {
    find("#share-rows").replaceChildren(...ways(state, ofPair).map(([title, text], at) => this.row(title, text, at)));
    find("#share-note").textContent = ofPair
      ? "The link holds the view, not the images: whoever opens it needs the same files open."
      : "The link holds the whole scene and view, with all digits. Nothing is stored anywhere.";
    find("#share").showModal();
    this.copy(find("#share-rows .way"));
  }

  row(title, text, at) {
    const field = html("input", { type: "text", readonly: "", id: `share-${at}`, spellcheck: "false" });
    field.value = text;
    const button = html("button", { type: "button" }, "Copy");
    const way = html("div", { class: "way" }, html("label", { for: field.id }, title), html("div", { class: "row" }, field, button));
    button.addEventListener("click", () => this.copy(way));
    return way;
  }

  /** Copy one of them; where the browser does not allow that, its text is selected. */
  async copy(way) {
    const field = way.querySelector("input");
    field.select();
    field.scrollLeft = 0;
    for (const button of find("#share-rows").querySelectorAll("button")) button.textContent = "Copy";
    try {
      await navigator.clipboard.writeText(field.value);
      way.querySelector("button").textContent = "Copied";
    } catch {
      way.querySelector("button").textContent = "Select and copy";
    }
  }
}

// Other metrics of the field, for the same scene.

import { find, html } from "./dom.js";
import { precise, score } from "./wording.js";

export class Related {
  constructor() {
    this.root = find("#related");
  }

  take({ rows }) {
    this.root.classList.remove("stale");
    this.root.replaceChildren(
      ...rows.map(({ id, name, value, about, note }) =>
        html("div", { class: "metric", "data-metric": id },
          html("b", { title: precise(value) }, score(value)), name, html("small", {}, note ?? about))),
    );
  }

  /** The scene has changed: the numbers shown are those of the scene before. */
  age() {
    this.root.classList.add("stale");
  }
}

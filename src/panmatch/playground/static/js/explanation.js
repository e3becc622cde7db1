// What a preset shows, below the scene; it stays when the scene is changed, and says so.

import { find, html } from "./dom.js";
import { alike } from "./same.js";

export class Explanation {
  /** `reset` is called with the scene of the preset. */
  constructor(presets, reset) {
    this.presets = presets;
    this.preset = this.forgotten = null;
    this.notes = [];
    this.remark = ""; // about the last change
    this.text = html("span");
    this.title = html("span");
    this.changed = html("span", { class: "changed", hidden: true }, this.title, " ",
      html("button", { class: "link", title: "Bring back the shapes of the preset; the strategy and the threshold stay", onclick: () => reset(this.preset.state.scene) }, "Reset the scene"));
    this.extra = html("span");
    find("#about").replaceChildren(this.text, this.changed, this.extra);
  }

  /** Explain a state that was opened; `id` is the preset that it was made from, if that is known. */
  open(state, notes = [], id = null) {
    const found = this.presets.find((preset) => alike(preset.state, state));
    this.preset = found ?? this.presets.find((preset) => preset.id === id) ?? null;
    this.notes = notes;
    this.remark = "";
    this.show(state);
  }

  /** A new scene begins, which is not made from a preset; undo may still lead back to it. */
  forget() {
    this.forgotten = this.preset;
    this.preset = null;
    this.notes = [];
  }

  show({ scene }) {
    if (this.forgotten && alike(this.forgotten.state.scene, scene)) this.preset ??= this.forgotten;
    const changed = Boolean(this.preset) && !alike(this.preset.state.scene, scene);
    this.text.textContent = this.preset?.about ?? "";
    this.title.textContent = `Changed from the preset “${this.preset?.title}”.`;
    this.changed.hidden = !changed;
    this.extra.textContent = [...this.notes, this.remark].filter(Boolean).join(" ");
    find("#about").hidden = !(this.preset || this.extra.textContent);
    const menu = find("#preset");
    menu.value = this.preset && !changed ? this.preset.id : "";
  }
}

// The tools above the scene: which one is chosen, on which side it draws, and the menu of edits.

import { find } from "./dom.js";
import { keyTable } from "./keyboard.js";

export class Toolbar {
  constructor(root) {
    Object.assign(this, { root, tool: "select", side: "prediction", kept: false, several: false });
  }

  /** `actions` are what the menu offers. */
  wire(actions, place) {
    for (const button of document.querySelectorAll("[data-tool]")) {
      button.addEventListener("click", (event) => this.click(event, button.dataset.tool, place));
    }
    for (const button of document.querySelectorAll("[data-new]")) {
      button.addEventListener("click", () => this.draw(button.dataset.new));
    }
    find("#several").addEventListener("click", () => this.pickSeveral(!this.several));
    for (const button of document.querySelectorAll("[data-edit]")) {
      button.addEventListener("click", () => this.edit(actions, button.dataset.edit));
    }
    find("#keys").prepend(keyTable());
    below(find("[popovertarget=edit-menu]"), find("#edit-menu"));
    find("#edit-menu").addEventListener("beforetoggle", () => this.offer(actions));
  }

  /** Enter on a tool that is chosen already draws: so nobody needs a pointer. */
  click(event, tool, place) {
    if (event.detail === 0 && tool === this.tool && tool !== "select") place();
    else this.choose(tool, { keep: event.shiftKey || event.detail === 2 });
  }

  choose(tool, { keep = false } = {}) {
    this.tool = tool;
    this.kept = keep && tool !== "select";
    this.show();
  }

  draw(side) {
    this.side = side;
    this.show();
  }

  pickSeveral(on) {
    this.several = on;
    if (on) this.choose("select");
    else this.show();
  }

  /** A shape was drawn: back to selecting, unless the tool is to be kept. */
  used(keep = false) {
    if (!this.kept && !keep) this.choose("select");
  }

  show() {
    for (const button of document.querySelectorAll("[data-tool]")) {
      button.setAttribute("aria-pressed", button.dataset.tool === this.tool);
      button.classList.toggle("kept", this.kept && button.dataset.tool === this.tool);
    }
    for (const button of document.querySelectorAll("[data-new]")) button.setAttribute("aria-pressed", button.dataset.new === this.side);
    find("#several").setAttribute("aria-pressed", this.several);
    this.root.dataset.cursor = this.tool;
    this.root.toggleAttribute("data-several", this.several);
  }

  /** What needs a selection is offered only if there is one. */
  offer(actions) {
    for (const button of document.querySelectorAll("[data-edit][data-selected]")) button.disabled = !actions.has;
    find("[data-edit=rate]").textContent = actions.isRated ? "Remove confidences" : "Add confidences";
  }

  edit(actions, name) {
    find("#edit-menu").hidePopover();
    const [what, side] = name.split(" ");
    if (what === "select") actions.selectAll(side);
    else actions[what]();
  }

  showKeys() {
    find("#keys").showPopover();
  }
}

/** Open a menu below its button, where there is room for it. */
function below(button, menu) {
  menu.addEventListener("toggle", ({ newState }) => {
    if (newState !== "open") return;
    const [at, box] = [button.getBoundingClientRect(), menu.getBoundingClientRect()];
    const left = Math.max(8, Math.min(at.left, innerWidth - box.width - 8));
    const top = Math.max(8, Math.min(at.bottom + 6, innerHeight - box.height - 8));
    menu.style.setProperty("left", `${left}px`);
    menu.style.setProperty("top", `${top}px`);
  });
}

// What keys do in the scene, and the list of all of them. Caps Lock makes no difference.

import { html } from "./dom.js";

const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const TOOLS = { v: "select", c: "disc", e: "ellipse", b: "stroke" };
const WRITING = "input[type=number], input[type=text], select, textarea";

/** [keys, what they do] for every key, in groups. */
export const KEYS = {
  "Select": [
    ["Tab, Shift+Tab", "the next or the previous object"],
    ["click again, Alt+click", "the object beneath"],
    ["Shift+click, drag on the ground", "several objects"],
    ["S", "select several: Tab and click keep the others, Space adds or removes"],
    ["Ctrl+A", "everything"],
    ["Shift+R, Shift+P", "all references, all predictions"],
    ["Esc", "nothing; also back to the Select tool"],
  ],
  "Change what is selected": [
    ["arrows, with Shift", "move by 1 or 10 units"],
    ["+, −", "resize"],
    ["D, Del", "duplicate, delete"],
    ["Home, End", "bring to front, send to back of its side"],
  ],
  "Draw": [
    ["V, C, E, B", "select; draw a disc, an ellipse, with a brush"],
    ["R, P", "new objects are references or predictions"],
    ["Enter", "put a shape in the middle, with a tool chosen"],
    ["Shift, double click on a tool", "keep the tool for more than one shape"],
  ],
  "The scene": [
    ["N", "new empty scene"],
    ["X", "swap sides: references become predictions"],
    ["Ctrl+Z, Ctrl+Shift+Z", "undo, redo"],
    ["?", "this list"],
  ],
};

export const keyTable = () =>
  html("div", { class: "key-groups" }, Object.entries(KEYS).map(([title, rows]) =>
    html("table", {}, html("caption", {}, title), html("tbody", {}, rows.map(([keys, what]) =>
      html("tr", {}, html("th", { scope: "row" }, keys.split(", ").flatMap((one, at) => [at ? ", " : "", keyName(one)])), html("td", {}, what)))))));

/** Names of keys begin with a capital or are signs; anything else is said in words. */
const keyName = (name) => (/^[a-z]/.test(name) ? name : html("kbd", {}, name));

export class Keyboard {
  constructor(scene, tools, actions, gestures) {
    Object.assign(this, { scene, tools, actions, gestures, store: scene.store, root: scene.root });
    this.root.addEventListener("keydown", (event) => this.inScene(event));
    this.root.addEventListener("focusin", ({ target }) => this.focused(target));
    document.addEventListener("keyup", () => this.held && this.release());
    window.addEventListener("blur", () => this.held && this.release());
    this.held = null; // kind of change that goes on while a key is held
  }

  /** The keyboard selects what it reaches; a pointer selects when it is pressed. */
  focused(target) {
    const { side, at } = target.closest(".shape")?.dataset ?? {};
    if (!side || this.tools.several || !target.matches(":focus-visible")) return;
    if (!this.store.isSelected({ side, at: Number(at) })) this.store.select({ side, at: Number(at) });
  }

  release() {
    this.store.commit(this.held);
    this.held = null;
  }

  /** A key that is held is one change; presses that follow each other are undone together. */
  hold(kind, change) {
    this.held = kind;
    change({ final: false });
  }

  inScene(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const shape = event.target.closest(".shape");
    const { key } = event;
    if (key === "Escape") this.escape();
    else if ((key === " " || key === "Enter") && shape && this.tools.tool === "select") this.toggle(shape.dataset);
    else if (!this.actions.has || !this.change(event)) return;
    event.preventDefault();
  }

  change({ key, shiftKey }) {
    const { actions } = this;
    const one = {
      Delete: () => actions.remove({ byKey: true }),
      Backspace: () => actions.remove({ byKey: true }),
      Home: () => actions.front(),
      End: () => actions.back(),
      d: () => actions.duplicate(),
    }[key.length === 1 ? key.toLowerCase() : key];
    const growth = { "+": 1, "=": 1, "-": -1, "−": -1 }[key];
    if (key in ARROWS) this.hold("move", (options) => actions.move(...ARROWS[key].map((step) => step * (shiftKey ? 10 : 1)), options));
    else if (growth) this.hold("resize", (options) => actions.resize(growth, options));
    else if (one) one();
    else return false;
    return true;
  }

  toggle({ side, at }) {
    const one = { side, at: Number(at) };
    if (this.tools.several) this.actions.toggle(one);
    else this.store.select(one);
  }

  escape() {
    if (this.gestures.gesture) this.gestures.abandon();
    else if (this.tools.tool !== "select") this.tools.choose("select");
    else if (this.tools.several) this.tools.pickSeveral(false);
    else this.store.select(null);
  }

  /** Keys that work wherever nothing is being written; returns whether one of them was pressed. */
  anywhere(event) {
    const { target, key, shiftKey } = event;
    if (!this.store.state?.scene) return false;
    if (target.matches(WRITING) || event.altKey || document.querySelector("dialog[open], :popover-open")) return false;
    const letter = key.toLowerCase();
    if (event.ctrlKey || event.metaKey) return letter === "a" && this.selectAll(target);
    if (key === "Enter") return !target.closest("button, a, summary, input") && this.place();
    if (key === "Escape") return target === document.body && Boolean(this.escape() ?? true);
    return this.letter(letter, shiftKey);
  }

  selectAll(target) {
    if (target !== document.body && !target.closest(".stage")) return false;
    this.actions.selectAll();
    return true;
  }

  place() {
    const { tool, side } = this.tools;
    if (tool === "select") return false;
    if (this.actions.place(tool, side)) this.tools.used();
    return true;
  }

  letter(letter, shifted) {
    const { tools, actions } = this;
    const side = { r: "reference", p: "prediction" }[letter];
    if (letter in TOOLS) tools.choose(TOOLS[letter], { keep: shifted });
    else if (side) shifted ? actions.selectAll(side) : tools.draw(side);
    else if (letter === "s") tools.pickSeveral(!tools.several);
    else if (letter === "n") actions.empty();
    else if (letter === "x") actions.swap();
    else if (letter === "?") tools.showKeys();
    else return false;
    return true;
  }
}

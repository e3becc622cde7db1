// What can be done to a scene and its selection, by keys, menus and buttons alike.

import { hasConfidence, rated, unrated } from "./confidence.js";
import * as edits from "./edits.js";
import { centre, grown, HEIGHT, moved, placed, WIDTH } from "./geometry.js";
import { BRUSH_WIDTH } from "./gestures.js";

const SHIFT = 12; // units between a shape and its copy
const GROWTH = 1.05;

export class Actions {
  /** `say` is called with a sentence for the user where something cannot be done. */
  constructor(store, scene, limits, say) {
    Object.assign(this, { store, scene, limits, say });
  }

  get has() {
    return this.store.selection.length > 0;
  }

  refuses(scene) {
    const why = edits.excess(scene, this.limits);
    if (why) this.say(why);
    return Boolean(why);
  }

  /** Add a shape and select it; returns whether there was room for it. */
  add(side, shape, options) {
    const { scene } = this.store.state;
    if (this.refuses({ ...scene, [side]: [...scene[side], shape] })) return false;
    this.store.add(side, shape, options);
    return true;
  }

  /** Put a shape in the middle of the canvas, or beside one that is there already. */
  place(tool, side) {
    const taken = this.store.state.scene[side].map((shape) => centre(shape));
    let at = [WIDTH / 2, HEIGHT / 2];
    while (taken.some(([x, y]) => x === at[0] && y === at[1])) at = at.map((value) => value + SHIFT);
    if (!this.add(side, placed(tool, at, BRUSH_WIDTH))) return false;
    this.scene.focusSelected();
    return true;
  }

  move(dx, dy, options = { group: "move" }) {
    this.store.change((shape) => moved(shape, dx, dy), options);
  }

  resize(steps, options = { group: "resize" }) {
    this.store.change((shape) => grown(shape, GROWTH ** steps), options);
  }

  duplicate() {
    const { scene, selection } = edits.duplicated(this.store.state.scene, this.store.selection, SHIFT, SHIFT);
    if (this.has && !this.refuses(scene)) this.store.scene(scene, { selection });
  }

  front() {
    this.reorder("front");
  }

  back() {
    this.reorder("back");
  }

  reorder(end) {
    const { scene, selection } = edits.ordered(this.store.state.scene, this.store.selection, end);
    if (!this.has) return;
    this.store.scene(scene, { selection });
    this.scene.focusSelected();
  }

  /** Delete what is selected. With the keyboard, the next shape is selected then and has the focus. */
  remove({ byKey = false } = {}) {
    if (!this.has) return;
    const { scene } = this.store.state;
    const next = byKey ? edits.follower(scene, this.store.selection) : null;
    this.store.scene(edits.without(scene, this.store.selection), { selection: next ? [next] : [] });
    this.scene.focusSelected();
  }

  swap() {
    const { scene, selection } = edits.swapped(this.store.state.scene, this.store.selection);
    this.store.scene(scene, { selection });
  }

  get isRated() {
    return hasConfidence(this.store.state.scene);
  }

  /** Give every prediction a confidence, or remove all of them. */
  rate() {
    this.store.scene((this.isRated ? unrated : rated)(this.store.state.scene));
  }

  empty() {
    this.emptied();
    this.store.scene(edits.EMPTY, { selection: [] });
  }

  /** Select all shapes, or those of one side, so that the arrow keys move them. */
  selectAll(side = null) {
    this.store.selectMany(edits.everything(this.store.state.scene, side));
    this.scene.root.focus({ preventScroll: true });
  }

  toggle(one) {
    const others = this.store.selection.filter(({ side, at }) => side !== one.side || at !== one.at);
    this.store.selectMany(this.store.isSelected(one) ? others : [...others, one]);
  }
}

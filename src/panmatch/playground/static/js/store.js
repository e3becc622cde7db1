// The state that links carry, its history for undo, and listeners for changes.

import { onGrid } from "./grid.js";

const MOST_UNDO = 200;

export class Store {
  constructor() {
    this.state = null;
    this.selected = null; // {side, at}
    this.hover = null;
    this.past = [];
    this.future = [];
    this.listeners = [];
    this.before = null; // state when a gesture began
    this.dragging = false; // whether more changes of the same gesture may follow
  }

  listen(listener) {
    this.listeners.push(listener);
  }

  tell(what) {
    for (const listener of this.listeners) listener(what);
  }

  /** Take over a state that came from a link or a preset. */
  open(state, { undoable = false } = {}) {
    if (undoable && this.state) this.remember(this.state);
    else if (!undoable) [this.past, this.future] = [[], []];
    this.state = state;
    this.before = null;
    this.selected = null;
    this.tell("opened");
  }

  remember(state) {
    this.past.push(state);
    if (this.past.length > MOST_UNDO) this.past.shift();
    this.future = [];
  }

  /** Change the view; dragging a slider is one change, committed at its end. */
  view(change, { final = true } = {}) {
    this.apply({ ...this.state, view: { ...this.state.view, ...change } }, final);
  }

  scene(scene, { final = true } = {}) {
    this.apply({ ...this.state, scene: onGrid(scene, this.state.scene) }, final);
  }

  apply(state, final) {
    this.before ??= this.state;
    this.state = state;
    this.dragging = !final;
    this.tell("changed");
    if (final) this.commit();
  }

  commit() {
    if (this.before === null || this.before === this.state) return;
    this.remember(this.before);
    this.before = null;
    this.dragging = false;
    this.tell("committed");
  }

  cancel() {
    if (this.before === null) return;
    this.state = this.before;
    this.before = null;
    this.dragging = false;
    this.tell("changed");
  }

  undo() {
    this.step(this.past, this.future);
  }

  redo() {
    this.step(this.future, this.past);
  }

  step(from, to) {
    this.commit();
    if (!from.length) return;
    to.push(this.state);
    this.state = from.pop();
    if (this.selected && !this.shape(this.selected)) this.selected = null;
    this.tell("changed");
    this.tell("committed");
  }

  shape({ side, at }) {
    return this.state?.scene?.[side][at];
  }

  replace({ side, at }, shape, options) {
    const shapes = this.state.scene[side].with(at, shape);
    this.scene({ ...this.state.scene, [side]: shapes }, options);
  }

  add(side, shape, options) {
    const shapes = [...this.state.scene[side], shape];
    this.scene({ ...this.state.scene, [side]: shapes }, options);
    this.select({ side, at: shapes.length - 1 });
  }

  remove({ side, at }) {
    this.selected = null;
    const shapes = this.state.scene[side].toSpliced(at, 1);
    this.scene({ ...this.state.scene, [side]: shapes });
  }

  select(selected) {
    this.selected = selected;
    this.tell("selected");
  }

  point(hover) {
    if (JSON.stringify(hover) === JSON.stringify(this.hover)) return;
    this.hover = hover;
    this.tell("hovered");
  }
}

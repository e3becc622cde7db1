// The state that links carry, its history for undo, what is selected, and listeners for changes.

import { changed, replaced } from "./edits.js";
import { onGrid } from "./grid.js";
import { alike } from "./same.js";

const MOST_UNDO = 200;
const PAUSE_MILLISECONDS = 2000; // steps of one kind with shorter pauses are undone together

export class Store {
  constructor() {
    this.state = null;
    this.selection = []; // {side, at} of every selected shape, the last one selected last
    this.hover = null;
    this.past = [];
    this.future = [];
    this.listeners = [];
    this.before = null; // state when a gesture began
    this.dragging = false; // whether more changes of the same gesture may follow
    this.selections = new WeakMap(); // of states in the history
    this.group = null; // the last change, if a change like it may join it
    this.joined = false; // whether the last change joined the one before
  }

  /** The shape that was selected last, or null. */
  get selected() {
    return this.selection.at(-1) ?? null;
  }

  listen(listener) {
    this.listeners.push(listener);
  }

  tell(what) {
    for (const listener of this.listeners) listener(what);
  }

  /** Take over a state that came from a link or a preset; undo brings back the one before. */
  open(state) {
    if (this.state) this.remember(this.before ?? this.state, this.selection);
    this.take(state, []);
  }

  /** Follow the browser through its history: a state next to this one in the undo history is
   * reached as undo or redo would reach it, and any other is opened. */
  revisit(state) {
    this.cancel();
    if (alike(state, this.state)) return this.take(this.state, this.selection);
    for (const [from, to] of [["past", "future"], ["future", "past"]]) {
      if (alike(state, this[from].at(-1))) return this.take(this.move(from, to), this.selection);
    }
    this.open(state);
  }

  take(state, selection) {
    this.state = state;
    this.before = this.group = null;
    this.dragging = false;
    this.selection = selection.filter((one) => this.shape(one));
    this.tell("opened");
  }

  remember(state, selection) {
    this.selections.set(state, selection);
    this.past.push(state);
    if (this.past.length > MOST_UNDO) this.past.shift();
    this.future = [];
  }

  /** Change the view; dragging a slider is one change, committed at its end. */
  view(change, options) {
    this.apply({ ...this.state, view: { ...this.state.view, ...change } }, options);
  }

  /** Change the scene, and what is selected if that changes with it. */
  scene(scene, { selection = this.selection, ...options } = {}) {
    this.apply({ ...this.state, scene: onGrid(scene, this.state.scene) }, { selection, ...options });
  }

  /** Changes that are not final belong to one gesture. Final ones of the same `group` that follow
   * each other closely are undone together. */
  apply(state, { final = true, group = null, selection = this.selection } = {}) {
    if (this.before === null) {
      this.before = this.state;
      this.selections.set(this.state, this.selection);
    }
    this.state = state;
    this.selection = selection;
    this.dragging = !final;
    this.tell("changed");
    if (final) this.commit(group);
  }

  commit(group = null) {
    if (this.before === null || this.before === this.state) return;
    this.joined = this.continues(group);
    if (!this.joined) this.remember(this.before, this.selections.get(this.before));
    this.group = group && { name: group, about: JSON.stringify(this.selection), at: performance.now() };
    this.before = null;
    this.dragging = false;
    this.tell("committed");
  }

  continues(group) {
    const { name, about, at } = this.group ?? {};
    const like = group !== null && name === group && about === JSON.stringify(this.selection);
    return like && performance.now() - at < PAUSE_MILLISECONDS;
  }

  cancel() {
    if (this.before === null) return;
    this.state = this.before;
    this.selection = this.selections.get(this.state);
    this.before = null;
    this.dragging = false;
    this.tell("changed");
  }

  undo() {
    this.step("past", "future");
  }

  redo() {
    this.step("future", "past");
  }

  step(from, to) {
    this.commit();
    if (!this[from].length) return;
    this.state = this.move(from, to);
    this.selection = this.selections.get(this.state).filter((one) => this.shape(one));
    this.group = null;
    this.joined = false;
    this.tell("changed");
    this.tell("committed");
  }

  /** Put this state at one end of the history, and return the one at the other end. */
  move(from, to) {
    this.selections.set(this.state, this.selection);
    this[to].push(this.state);
    return this[from].pop();
  }

  shape({ side, at }) {
    return this.state?.scene?.[side][at];
  }

  replace(one, shape, options) {
    this.scene(replaced(this.state.scene, one, shape), options);
  }

  /** Change every selected shape. */
  change(how, options) {
    if (this.selection.length) this.scene(changed(this.state.scene, this.selection, how), options);
  }

  add(side, shape, options) {
    const shapes = [...this.state.scene[side], shape];
    const selection = [{ side, at: shapes.length - 1 }];
    this.scene({ ...this.state.scene, [side]: shapes }, { selection, ...options });
    this.tell("selected");
  }

  select(one) {
    this.selectMany(one ? [one] : []);
  }

  selectMany(selection) {
    this.selection = selection;
    this.tell("selected");
  }

  isSelected({ side, at }) {
    return this.selection.some((one) => one.side === side && one.at === at);
  }

  point(hover) {
    if (JSON.stringify(hover) === JSON.stringify(this.hover)) return;
    this.hover = hover;
    this.tell("hovered");
  }
}

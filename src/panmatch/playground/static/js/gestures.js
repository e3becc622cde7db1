// What a mouse, a pen or a finger does in the scene: select, move, pull handles, draw, rubber band.

import { changed, everything, replaced } from "./edits.js";
import { bounds, drawn, handles, HEIGHT, moved, placed, pulled, WIDTH } from "./geometry.js";

const BRUSH_STEP = 2.5; // units between two points of a stroke
const STILL = 3; // pixels that a click may wander
export const BRUSH_WIDTH = 18;

const key = ({ side, at }) => `${side} ${at}`;
const isSame = (one, other) => Boolean(one && other) && key(one) === key(other);

export class Gestures {
  constructor(scene, tools, actions, limits) {
    Object.assign(this, { scene, tools, actions, limits, store: scene.store, root: scene.root });
    this.gesture = null;
    this.beneath = null; // a shape that was picked from under another one, and of how many it is
    this.lastClick = null; // {x, y} on the page
    this.box = null; // where the scene is on the page, during a gesture
    const on = (name, hear) => this.root.addEventListener(name, hear);
    on("pointerdown", (event) => this.press(event));
    on("pointermove", (event) => this.drag(event));
    on("pointerup", (event) => this.isMine(event) && this.release(event));
    on("pointercancel", (event) => this.isMine(event) && this.abandon());
    on("pointerleave", () => this.store.point(null));
    // Styles cannot say so for shapes of a drawing: a finger that moves one does not scroll the page.
    this.root.addEventListener("touchstart", (event) => this.takes(event) && event.preventDefault(), { passive: false });
    on("contextmenu", (event) => this.scene.pointer === "touch" && event.preventDefault());
  }

  /** Whether a first finger does something here, rather than scrolling. */
  takes({ touches, target }) {
    return touches.length === 1 && (this.tools.tool !== "select" || this.tools.several || target.closest(".shape, .grip"));
  }

  isMine({ pointerId }) {
    return this.gesture?.pointerId === pointerId;
  }

  place(event) {
    const box = this.box ?? this.root.getBoundingClientRect();
    return [((event.clientX - box.left) / box.width) * WIDTH, ((event.clientY - box.top) / box.height) * HEIGHT];
  }

  /** A second finger means that nothing is to be moved: the page is being scrolled or zoomed. */
  press(event) {
    if (!event.isPrimary) return this.abandon();
    if (event.button !== 0) return;
    this.box = this.root.getBoundingClientRect();
    this.scene.pointer = event.pointerType === "touch" ? "touch" : "mouse";
    this.store.commit();
    this.store.point(null);
    this.root.setPointerCapture(event.pointerId);
    event.preventDefault();
    this.root.focus({ preventScroll: true });
    const { pointerId, clientX, clientY } = event;
    const about = { pointerId, from: this.place(event), start: [clientX, clientY], still: true };
    this.gesture = { ...about, ...this.begin(event, about.from) };
    if (this.gesture.kind === "draw" && this.tools.tool === "stroke") this.grow(about.from);
  }

  begin(event, from) {
    if (this.tools.tool !== "select") return { kind: "draw", added: false };
    if (event.target.dataset.handle) return this.beginPull(from);
    const stack = this.under(event);
    if (stack.length) return this.beginMove(event, stack);
    const adds = event.shiftKey || this.tools.several;
    if (event.pointerType === "touch" && !this.tools.several) return { kind: "tap" };
    return { kind: "band", base: adds ? this.store.selection : [] };
  }

  /** Of several grips under a finger, the nearest handle is meant. */
  beginPull(from) {
    const all = handles(this.store.shape(this.store.selected), this.scene.pointer === "touch");
    const far = ([, x, y]) => Math.hypot(x - from[0], y - from[1]);
    const [handle, x, y] = all.reduce((best, one) => (far(one) < far(best) ? one : best));
    return { kind: "pull", handle, offset: [x - from[0], y - from[1]] };
  }

  /** Shapes under the pointer, the topmost first. */
  under({ clientX, clientY }) {
    const shapes = document.elementsFromPoint(clientX, clientY).map((element) => this.root.contains(element) && element.closest(".shape"));
    return [...new Set(shapes)].filter(Boolean).map(({ dataset }) => ({ side: dataset.side, at: Number(dataset.at) }));
  }

  beginMove(event, stack) {
    const { store } = this;
    const again = this.lastClick && Math.hypot(event.clientX - this.lastClick[0], event.clientY - this.lastClick[1]) <= STILL;
    if (event.shiftKey || this.tools.several) {
      const isIn = store.isSelected(stack[0]);
      store.selectMany(isIn ? store.selection.filter((one) => !isSame(one, stack[0])) : [...store.selection, stack[0]]);
      return { kind: isIn ? "none" : "move", scene: store.state.scene };
    }
    const at = stack.findIndex((one) => isSame(one, store.selected));
    const next = stack[(at + 1) % stack.length];
    if (event.altKey) this.pickBeneath(at < 0 ? stack[1] ?? stack[0] : next);
    const held = stack.find((one) => store.isSelected(one) && (store.selection.length > 1 || this.isBeneath(one)));
    const hasSelected = at >= 0 && store.selection.length === 1;
    // Where a click ends: further down, or on top; a drag moves what is selected instead.
    const click = event.altKey ? null : again && hasSelected ? next : stack[0];
    if (!held && !(again && hasSelected)) store.select(stack[0]);
    return { kind: "move", scene: store.state.scene, click };
  }

  pickBeneath(one) {
    this.store.select(one);
    this.beneath = { ...one, of: this.store.state.scene[one.side].length };
  }

  isBeneath(one) {
    return isSame(one, this.beneath) && this.beneath.of === this.store.state.scene[one.side].length;
  }

  drag(event) {
    if (!this.gesture) return this.hover(event.target);
    if (!this.isMine(event)) return;
    const { gesture } = this;
    const [x, y] = gesture.start;
    if (Math.hypot(event.clientX - x, event.clientY - y) > STILL) gesture.still = false;
    const at = this.place(event);
    if (gesture.kind === "draw") this.grow(at);
    else if (gesture.kind === "pull") this.pull(at);
    else if (gesture.kind === "band" && !gesture.still) this.stretch(at);
    else if (gesture.kind === "move" && !gesture.still) this.move(at);
  }

  move([x, y]) {
    const { from, scene } = this.gesture;
    const how = (shape) => moved(shape, x - from[0], y - from[1]);
    this.store.scene(changed(scene, this.store.selection, how), { final: false });
  }

  pull([x, y]) {
    const { handle, offset } = this.gesture;
    this.store.change((shape) => pulled(shape, handle, x + offset[0], y + offset[1]), { final: false });
  }

  /** Select all shapes that the rubber band touches. */
  stretch([x, y]) {
    const { from, base } = this.gesture;
    const [left, right] = [from[0], x].toSorted((a, b) => a - b);
    const [top, bottom] = [from[1], y].toSorted((a, b) => a - b);
    this.scene.band = { x: left, y: top, width: right - left, height: bottom - top };
    const touches = (one) => {
      const [l, t, r, b] = bounds(this.store.shape(one));
      return l <= right && r >= left && t <= bottom && b >= top;
    };
    const known = new Set(base.map(key));
    const found = everything(this.store.state.scene).filter((one) => !known.has(key(one)) && touches(one));
    this.store.selectMany([...base, ...found]);
  }

  /** Draw on: a new disc or ellipse reaches to here, a stroke gets one more point. */
  grow(at) {
    const { gesture, tools } = this;
    if (tools.tool === "stroke" && gesture.added) {
      const stroke = this.store.shape(this.store.selected);
      const last = stroke.points.at(-1);
      const full = stroke.points.length >= this.limits.stroke_points;
      if (full || Math.hypot(at[0] - last[0], at[1] - last[1]) < BRUSH_STEP) return;
      const longer = { ...stroke, points: [...stroke.points, at] };
      const scene = replaced(this.store.state.scene, this.store.selected, longer);
      return this.actions.refuses(scene) || this.store.scene(scene, { final: false });
    }
    const shape = drawn(tools.tool, gesture.from, at, BRUSH_WIDTH);
    if (shape) this.put(shape);
  }

  put(shape) {
    const { gesture } = this;
    if (gesture.added) return this.store.replace(this.store.selected, shape, { final: false });
    gesture.added = this.actions.add(this.tools.side, shape, { final: false });
  }

  release(event) {
    const { kind, still, click, from, added } = this.gesture;
    if (kind === "draw" && !added && still) this.put(placed(this.tools.tool, from, BRUSH_WIDTH));
    const drew = this.gesture.added;
    if (!still) this.lastClick = null;
    this.finish();
    this.store.commit();
    if (drew) this.tools.used(event.shiftKey);
    if (still && (kind === "tap" || kind === "band") && !(event.shiftKey || this.tools.several)) this.store.select(null);
    if (kind === "move" && still && click) this.settle(click, event);
    if (kind === "band") this.scene.drawMarks();
  }

  /** A click without a drag has ended on a shape; the next click here goes to the one beneath. */
  settle(one, { clientX, clientY }) {
    const top = isSame(one, this.under({ clientX, clientY })[0]);
    if (top) this.store.select(one);
    else this.pickBeneath(one);
    if (top) this.beneath = null;
    this.lastClick = [clientX, clientY];
  }

  abandon() {
    if (!this.gesture) return;
    this.finish();
    this.store.cancel();
    this.scene.drawMarks();
  }

  finish() {
    this.gesture = this.box = this.scene.band = null;
  }

  hover(target) {
    const shape = target.closest?.(".shape");
    this.store.point(
      shape ? { side: shape.dataset.side, id: Number(shape.dataset.at) + 1 } : null,
    );
  }
}

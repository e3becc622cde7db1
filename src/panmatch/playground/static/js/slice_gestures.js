// What wheel, keys, mouse and fingers do to a slice: turn, zoom, pan, point and click.

const CLICK = 4; // pixels that a pointer may move during a click
const BY_PIXEL = 0.003; // how much a wheel zooms
const BY_LINE = 0.06;

export class SliceGestures {
  constructor(volume) {
    this.volume = volume;
    this.canvas = volume.canvas;
    this.pointers = new Map(); // where those are that are down, by their ids
    this.travelled = 0; // by the pointer, since it was pressed
    const { canvas } = this;
    canvas.addEventListener("pointerdown", (event) => this.press(event));
    canvas.addEventListener("pointermove", (event) => this.move(event));
    for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, (event) => this.release(event));
    canvas.addEventListener("pointerleave", () => volume.store.point(null));
    canvas.addEventListener("dblclick", () => volume.zoom("all"));
    canvas.addEventListener("keydown", (event) => this.key(event));
    canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
  }

  wheel(event) {
    if (event.ctrlKey || event.metaKey) {
      event.preventDefault();
      this.volume.zoom(Math.exp(-event.deltaY * (event.deltaMode ? BY_LINE : BY_PIXEL)), ...this.spot(event));
    } else if (this.volume.isDeep) {
      event.preventDefault();
      this.volume.turn(this.volume.index + Math.sign(event.deltaY), true);
    }
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const step = { PageUp: 1, PageDown: -1, ArrowUp: 1, ArrowDown: -1 }[event.key];
    const zoom = { "+": "in", "=": "in", "-": "out", 0: "all" }[event.key];
    if (zoom) this.volume.zoom(zoom);
    else if (step && this.volume.isDeep) this.volume.turn(this.volume.index + step, true);
    else return;
    event.preventDefault();
  }

  /** Where an event is on the canvas. */
  spot(event) {
    const box = this.canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  press(event) {
    if (event.button !== 0) return;
    this.pointers.set(event.pointerId, this.spot(event));
    this.canvas.setPointerCapture(event.pointerId);
    if (this.pointers.size === 1) this.travelled = 0;
  }

  move(event) {
    const before = this.pointers.get(event.pointerId);
    if (!before) return this.volume.hover(event);
    const now = this.spot(event);
    const other = [...this.pointers].find(([id]) => id !== event.pointerId)?.[1];
    this.travelled += Math.hypot(now[0] - before[0], now[1] - before[1]);
    this.pointers.set(event.pointerId, now);
    if (other) {
      const middle = [0, 1].map((at) => (now[at] + other[at]) / 2);
      this.volume.zoom(distance(now, other) / Math.max(1, distance(before, other)), ...middle);
    } else if (this.volume.view.zoomed && this.travelled > CLICK) {
      this.volume.pan(now[0] - before[0], now[1] - before[1]);
    }
    return undefined;
  }

  release(event) {
    if (!this.pointers.delete(event.pointerId)) return;
    if (event.type === "pointerup" && !this.pointers.size && this.travelled <= CLICK) this.volume.click(event);
  }
}

const distance = (one, other) => Math.hypot(one[0] - other[0], one[1] - other[1]);

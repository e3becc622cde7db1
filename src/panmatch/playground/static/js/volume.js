// Slices of a pair of files. The numbers are those of the whole volume.

import { colour, find, whenResized } from "./dom.js";
import { NO_FATES, readFates } from "./fates.js";
import { SliceGestures } from "./slice_gestures.js";
import { drawBar, drawLetters } from "./slice_marks.js";
import { greyPicture, makeLook, mapPixels, paintTile } from "./slice_paint.js";
import { SliceTools } from "./slice_tools.js";
import { SliceView } from "./slice_view.js";
import { short } from "./wording.js";

const TALLEST = 600; // pixels of the page
const TALL_SHARE = 0.62; // of what is seen of the page, so that controls are seen, too
const SHORTEST = 220;
const LARGEST_TILE = 2000; // pixels of a slice that are sent at once
const BEYOND = 0.4; // of what is seen, that is sent with it for the next pan
const SHARPEST = 2; // pixels of the screen per pixel of the page

export class Volume {
  constructor(store, connection, pair) {
    Object.assign(this, { store, connection });
    this.canvas = find("#volume");
    this.slider = find("#slice");
    this.axis = find("#axis");
    this.view = new SliceView();
    this.tools = new SliceTools({ changed: () => this.paint(), zoom: (how) => this.zoom(how) });
    this.labels = document.createElement("canvas"); // painted labels, laid over the image
    this.slider.addEventListener("input", () => this.turn(Number(this.slider.value), false));
    this.slider.addEventListener("change", () => this.store.commit());
    this.axis.addEventListener("change", () => this.store.view({ axis: Number(this.axis.value), slice: null }));
    this.gestures = new SliceGestures(this);
    store.listen((what) => what === "hovered" && this.paint());
    whenResized(find(".viewer"), (width) => this.resize(width));
    this.open(pair);
  }

  /** Show a pair, instead of the one before. */
  open(pair) {
    Object.assign(this, { pair, overview: null, detail: null, picked: null, fates: NO_FATES, numbers: null, asked: null });
    find("#slices").hidden = !this.isDeep;
    this.axis.replaceChildren(...pair.planes.map(({ name, axis, slices }) => new Option(`${name} (${slices})`, axis ?? 0)));
    this.tools.open(pair);
    this.view.reset();
    this.arrived = 0;
  }

  get plane() {
    return this.pair.planes[this.isDeep ? this.store.state.view.axis : 0];
  }

  /** Whether there is more than one slice to turn to. */
  get isDeep() {
    return this.pair.shape.length > 2;
  }

  get index() {
    return this.store.state.view.slice ?? Math.floor(this.plane.slices / 2);
  }

  show() {
    if (!this.pair || this.store.state.scene) return;
    const { plane } = this;
    this.axis.value = plane.axis ?? 0;
    this.slider.max = plane.slices - 1;
    this.slider.value = this.index;
    find("#slice-value").textContent = `${this.index} of ${plane.slices - 1}`;
    find("#slices").dataset.from = plane.ends[0] ?? "";
    find("#slices").dataset.to = plane.ends[1] ?? "";
    const place = `${plane.axis} ${this.index}`;
    if (place !== this.place) this.detail = null;
    this.place = place;
    this.view.look(plane.shape, plane.aspect);
    this.resize(this.width ?? 0);
  }

  resize(width) {
    this.width = width;
    if (!width || !this.store.state || this.store.state.scene) return;
    const { shape: [rows, columns], aspect } = this.plane;
    const most = Math.min(TALLEST, window.innerHeight * TALL_SHARE);
    const height = Math.round(Math.max(SHORTEST, Math.min(most, (width * rows * aspect) / columns)));
    this.canvas.style.height = `${height}px`;
    this.view.resize(width, height);
    this.fetch();
    this.paint();
  }

  get ratio() {
    return Math.min(SHARPEST, window.devicePixelRatio || 1);
  }

  /** Ask for what is seen, as fine as the screen shows it, unless it is there. */
  fetch() {
    const { plane, index, view } = this;
    const where = { axis: plane.axis ?? 0, index };
    const small = Math.max(...plane.shape) <= LARGEST_TILE;
    const whole = { ...where, window: null, pixels: small ? LARGEST_TILE : Math.ceil(Math.max(...view.size) * this.ratio) };
    if (!this.isHere(this.overview)) return this.ask(whole);
    const { window: seen } = view;
    const isFine = (tile) => this.isHere(tile) && covers(tile, seen) && tile.step <= this.stepFor(seen);
    if (small || !view.zoomed || isFine(this.overview) || isFine(this.detail)) return undefined;
    const [top, left, bottom, right] = seen;
    const [y, x] = [Math.round((bottom - top) * BEYOND), Math.round((right - left) * BEYOND)];
    const wide = [top - y, left - x, bottom + y, right + x];
    const pixels = Math.ceil(Math.max(wide[2] - wide[0], wide[3] - wide[1]) / this.stepFor(seen));
    return this.ask({ ...where, window: wide, pixels: Math.min(LARGEST_TILE, pixels) });
  }

  /** Pixels of the slice, along a side, for one of the screen. */
  stepFor([top, left, bottom, right]) {
    const most = Math.max(...this.view.size) * this.ratio;
    return Math.max(1, Math.round(Math.max(bottom - top, right - left) / most));
  }

  ask(request) {
    const asked = JSON.stringify(request);
    if (asked !== this.asked) this.connection.ask("slice", request);
    this.asked = asked;
  }

  isHere(tile) {
    return Boolean(tile) && tile.axis === (this.plane.axis ?? 0) && tile.index === this.index;
  }

  async takeSlice(message) {
    const order = (this.arrived += 1);
    const tile = await decode(message);
    if (order < this.arrived) return; // a newer one came meanwhile
    const [rows, columns] = this.plane.shape;
    const whole = String(tile.window) === String([0, 0, rows, columns]);
    if (whole) this.overview = tile;
    else this.detail = tile;
    this.fetch();
    this.paint();
  }

  take(numbers) {
    this.numbers = numbers;
    this.fates = readFates(numbers);
    this.paint();
  }

  paint() {
    if (!this.overview || this.store.state?.scene || this.painting) return;
    this.painting = true;
    requestAnimationFrame(() => {
      this.painting = false;
      if (this.overview) this.paintNow();
    });
  }

  paintNow() {
    const { canvas, ratio, view } = this;
    const [width, height] = view.size.map((length) => Math.max(1, Math.round(length * ratio)));
    if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
    const context = canvas.getContext("2d");
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.fillStyle = colour("slice-ground");
    context.fillRect(0, 0, width, height);
    const tiles = [this.overview, this.detail].filter((tile) => this.isHere(tile) || (tile === this.overview && tile));
    for (const tile of tiles) this.paintImage(context, tile);
    this.paintLabels(width, height, tiles);
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.drawImage(this.labels, 0, 0);
    this.paintMarks(context);
    canvas.style.touchAction = view.zoomed ? "none" : "pan-y";
    canvas.classList.toggle("zoomed", view.zoomed);
    Object.assign(canvas.dataset, { axis: this.overview.axis, index: this.overview.index, zoom: view.zoom.toFixed(2), step: tiles.at(-1).step });
  }

  paintImage(context, tile) {
    if (!tile.image) return;
    const [brightness, contrast] = this.tools.levels;
    const key = `${brightness} ${contrast}`;
    if (tile.greyKey !== key) Object.assign(tile, { grey: greyPicture(tile, brightness, contrast), greyKey: key });
    const [top, left] = tile.window;
    const [[x0, y0], [sx, sy], { ratio }] = [this.view.origin, this.view.scale, this];
    context.imageSmoothingEnabled = true;
    context.imageSmoothingQuality = "high";
    const [rows, columns] = tile.shape;
    context.drawImage(tile.grey, (left - x0) * sx * ratio, (top - y0) * sy * ratio, columns * tile.step * sx * ratio, rows * tile.step * sy * ratio);
  }

  paintLabels(width, height, tiles) {
    Object.assign(this.labels, { width, height });
    const context = this.labels.getContext("2d");
    const picture = context.createImageData(width, height);
    const pixels = new Uint32Array(picture.data.buffer);
    const [[x0, y0], [sx, sy], { ratio }] = [this.view.origin, this.view.scale, this];
    for (const tile of tiles) {
      const [top, left, bottom, right] = tile.window;
      const look = makeLook({ ...this.tools.look, fates: this.fates, lit: this.lit(tile) });
      const columns = mapPixels(width, ratio, x0, sx, left, right, tile.step);
      const rows = mapPixels(height, ratio, y0, sy, top, bottom, tile.step);
      paintTile(pixels, tile, { columns, rows, ratio }, look);
    }
    context.putImageData(picture, 0, 0);
  }

  paintMarks(context) {
    const { plane, pair, ratio, view } = this;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    drawLetters(context, view.size, plane.edges);
    if (pair.spacing && pair.unit) drawBar(context, view.size, view.scale[0] / pair.spacing[plane.axes[1]], pair.unit);
  }

  /** Positions in a tile of the object pointed at or picked, and of its partners. */
  lit(tile) {
    const { hover } = this.store;
    const ids = { reference: new Set(), prediction: new Set() };
    const places = (side) => new Set([...tile.names[side]].filter(([, id]) => ids[side].has(id)).map(([place]) => place));
    const found = () => ({ reference: places("reference"), prediction: places("prediction") });
    if (hover?.objects) {
      [ids.reference, ids.prediction] = JSON.parse(hover.objects).map((list) => new Set(list));
      return found();
    }
    if (hover?.pair) {
      ids.reference.add(hover.pair[0]);
      ids.prediction.add(hover.pair[1]);
      return found();
    }
    const about = hover?.id ? hover : this.picked;
    if (!about?.side) return null;
    ids[about.side].add(about.id);
    if (this.numbers) {
      const { vertices, edges } = this.numbers;
      const [own, other] = about.side === "reference" ? [0, 1] : [1, 0];
      const sides = ["reference", "prediction"];
      for (const edge of edges) {
        if (vertices[sides[own]][edge[own]]?.id === about.id) ids[sides[other]].add(vertices[sides[other]][edge[other]]?.id);
      }
    }
    return found();
  }

  turn(index, final) {
    const slice = Math.min(this.plane.slices - 1, Math.max(0, index));
    if (slice !== this.index) this.store.view({ slice }, { final });
  }

  zoom(how, ...at) {
    if (how === "in") this.view.zoomIn();
    else if (how === "out") this.view.zoomOut();
    else if (how === "all") this.view.reset();
    else this.view.zoomAt(how, ...at);
    this.fetch();
    this.paint();
  }

  pan(dx, dy) {
    this.view.pan(dx, dy);
    this.fetch();
    this.paint();
  }

  under(event) {
    const [x, y] = this.view.at(...this.gestures.spot(event));
    const [rows, columns] = this.plane.shape;
    if (x < 0 || y < 0 || x >= columns || y >= rows) return null;
    const tile = [this.detail, this.overview].find((one) => this.isHere(one) && covers(one, [y, x, y + 1, x + 1]));
    if (!tile) return null;
    const at = Math.floor((y - tile.window[0]) / tile.step) * tile.shape[1] + Math.floor((x - tile.window[1]) / tile.step);
    const id = (side) => tile.names[side].get(tile[side][at]) ?? null;
    return { reference: id("reference"), prediction: id("prediction") };
  }

  hover(event) {
    const found = this.under(event);
    const side = found?.reference ? "reference" : "prediction";
    this.canvas.title = found ? [found.reference && short("reference", found.reference), found.prediction && short("prediction", found.prediction)].filter(Boolean).join(" · ") : "";
    this.store.point(found?.[side] ? { side, id: found[side] } : null);
  }

  /** Pick the reference under the pointer; a second click picks the prediction there. */
  click(event) {
    const found = this.under(event);
    const same = this.picked?.side === "reference" && this.picked.id === found?.reference;
    const side = found?.reference && !(same && found.prediction) ? "reference" : "prediction";
    this.pick(found?.[side] ? { side, id: found[side] } : null);
  }

  /** Pick an object: it stays lit, and its partners are listed. */
  pick(object) {
    this.picked = object;
    if (object) this.inquire();
    this.paint();
  }

  inquire() {
    this.connection.ask("object", { ...this.picked, state: this.store.state });
  }

  /** Show the slice with a place, given in voxels along the axes of the file. */
  go(centre) {
    const { plane } = this;
    const [row, column] = plane.axes.map((axis, at) => (plane.flips[at] ? plane.shape[at] - 1 - centre[axis] : centre[axis]));
    this.view.goTo(column, row);
    if (plane.axis !== null) this.turn(Math.round(centre[plane.axis]), true);
    this.fetch();
    this.paint();
  }
}

const covers = (tile, [top, left, bottom, right]) => tile.window[0] <= top && tile.window[1] <= left && tile.window[2] >= bottom && tile.window[3] >= right;
const bytes = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));

async function decode(message) {
  const Numbers = message.dtype === "uint16" ? Uint16Array : Uint32Array;
  const unpacked = async (text) => {
    const stream = new Blob([bytes(text)]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Numbers(await new Response(stream).arrayBuffer());
  };
  return {
    ...message,
    reference: await unpacked(message.reference),
    prediction: await unpacked(message.prediction),
    image: message.image && bytes(message.image),
    names: { reference: new Map(message.reference_ids), prediction: new Map(message.prediction_ids) },
  };
}

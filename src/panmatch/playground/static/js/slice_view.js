// Which part of a slice is seen: zoom and pan. Lengths are pixels of the page unless said otherwise.

const MOST_PER_PIXEL = 48; // the largest that one pixel of a slice may become
const ZOOM_STEP = 1.5;

export class SliceView {
  constructor() {
    this.size = [1, 1]; // width and height on the page
    this.slice = { shape: [1, 1], aspect: 1 };
    this.zoom = 1; // 1: all of the slice is seen
    this.centre = [0.5, 0.5]; // x and y of what is in the middle, as shares of the slice
  }

  resize(width, height) {
    this.size = [width, height];
    this.settle();
  }

  /** Look at a slice of a shape, whose pixels are `aspect` times as high as wide. */
  look(shape, aspect) {
    const same = String([...shape, aspect]) === String([...this.slice.shape, this.slice.aspect]);
    this.slice = { shape, aspect };
    if (!same) this.reset();
  }

  reset() {
    this.zoom = 1;
    this.centre = [0.5, 0.5];
  }

  get zoomed() {
    return this.zoom > 1.001;
  }

  /** Width and height of one pixel of the slice. */
  get scale() {
    const { shape: [height, width], aspect } = this.slice;
    const fit = Math.min(this.size[0] / width, this.size[1] / (height * aspect));
    return [fit * this.zoom, fit * this.zoom * aspect];
  }

  /** What is at the left and at the top, in pixels of the slice; negative where there is a margin. */
  get origin() {
    const { shape: [height, width] } = this.slice;
    return [[width, 0], [height, 1]].map(([length, at]) => this.centre[at] * length - this.size[at] / 2 / this.scale[at]);
  }

  /** Top, left, bottom and right of what is seen, in whole pixels of the slice. */
  get window() {
    const { shape: [height, width] } = this.slice;
    const [left, top] = this.origin;
    const [right, bottom] = [left + this.size[0] / this.scale[0], top + this.size[1] / this.scale[1]];
    return [Math.max(0, Math.floor(top)), Math.max(0, Math.floor(left)), Math.min(height, Math.ceil(bottom)), Math.min(width, Math.ceil(right))];
  }

  /** Column and row of the slice at a place, which may be outside of it. */
  at(x, y) {
    const [left, top] = this.origin;
    return [Math.floor(left + x / this.scale[0]), Math.floor(top + y / this.scale[1])];
  }

  /** Zoom by a factor; what is at a place stays there. */
  zoomAt(factor, x = this.size[0] / 2, y = this.size[1] / 2) {
    const before = this.share(x, y);
    const fit = Math.min(...this.scale) / this.zoom;
    this.zoom = Math.min(Math.max(1, this.zoom * factor), Math.max(1, MOST_PER_PIXEL / fit));
    const after = this.share(x, y);
    this.centre = this.centre.map((value, at) => value + before[at] - after[at]);
    this.settle();
  }

  zoomIn() {
    this.zoomAt(ZOOM_STEP);
  }

  zoomOut() {
    this.zoomAt(1 / ZOOM_STEP);
  }

  pan(dx, dy) {
    const extent = this.extent;
    this.centre = [this.centre[0] - dx / extent[0], this.centre[1] - dy / extent[1]];
    this.settle();
  }

  /** Bring a column and a row of the slice to the middle, if not all is seen anyway. */
  goTo(column, row) {
    const { shape: [height, width] } = this.slice;
    this.centre = [(column + 0.5) / width, (row + 0.5) / height];
    this.settle();
  }

  /** Width and height of the whole slice. */
  get extent() {
    const { shape: [height, width] } = this.slice;
    return [width * this.scale[0], height * this.scale[1]];
  }

  share(x, y) {
    const { shape: [height, width] } = this.slice;
    const [left, top] = this.origin;
    return [(left + x / this.scale[0]) / width, (top + y / this.scale[1]) / height];
  }

  /** No margins but those of a slice that is smaller than the page shows. */
  settle() {
    this.centre = this.extent.map((length, at) => {
      const half = Math.min(0.5, this.size[at] / 2 / length);
      return Math.min(Math.max(this.centre[at], half), 1 - half);
    });
  }
}

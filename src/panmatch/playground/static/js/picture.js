// A panel that is one SVG picture, as wide as its card; its height follows from what is drawn.

import { find, svg, whenResized } from "./dom.js";

export class Picture {
  /** `layers` are names of groups, the lowest first. Whoever extends this has a method `draw`. */
  constructor(selector, label, layers) {
    this.root = find(selector);
    this.width = 0;
    this.layers = Object.fromEntries(layers.map((name) => [name, svg("g")]));
    this.picture = svg("svg", { role: "img", "aria-label": label }, Object.values(this.layers));
    this.root.append(this.picture);
    if (this.root.matches(".tall")) this.scrollable(label);
    whenResized(this.root, (width) => {
      if (width === this.width) return;
      this.width = width;
      this.show();
    });
  }

  /** What scrolls can be reached with the keyboard. */
  scrollable(label) {
    for (const [name, value] of Object.entries({ tabindex: 0, role: "group", "aria-label": label })) this.root.setAttribute(name, value);
  }

  take(numbers) {
    this.numbers = numbers;
    this.show();
  }

  show() {
    if (this.numbers && this.width) this.draw();
  }

  /** Give the picture a size in pixels that is that of its coordinates. */
  resize(width, height) {
    const box = `0 0 ${width} ${height}`;
    if (this.picture.getAttribute("viewBox") === box) return;
    for (const [name, value] of Object.entries({ width, height, viewBox: box })) this.picture.setAttribute(name, value);
  }
}

// Elements from a name, attributes and children; nothing here knows what is drawn.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

export const html = (name, attributes = {}, ...children) =>
  fill(document.createElement(name), attributes, children);

export const svg = (name, attributes = {}, ...children) =>
  fill(document.createElementNS(SVG, name), attributes, children);

export const find = (selector) => document.querySelector(selector);

/** Call `resized` with the width and height of an element, now and whenever they change.
 *
 * Asking an element for its size while a page is being drawn would force a layout at once. */
export function whenResized(element, resized) {
  new ResizeObserver(([{ contentRect }]) => resized(contentRect.width, contentRect.height)).observe(element);
}

/** The value of a CSS variable, as the theme of the moment has it. */
export const colour = (name) =>
  getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

/** Write a text, and a title, where they differ from what is there. */
export function write(element, text, title = null) {
  if (element.written !== text) element.textContent = element.written = text;
  if (title !== null) entitle(element, title);
}

/** Give an element a title where it has another one. */
export function entitle(element, title) {
  if (element.titled !== title) element.title = element.titled = title;
}

/** Give an element one child per [text, build]. The text stands for all that a child shows: as long
 * as it is the same, the child stays; otherwise it is built again. */
export function patch(parent, items) {
  const { children } = parent;
  items.forEach(([text, build], at) => {
    const there = children[at];
    if (there?.standsFor === text) return;
    const element = build();
    element.standsFor = text;
    if (there) there.replaceWith(element);
    else parent.append(element);
  });
  while (children.length > items.length) parent.lastElementChild.remove();
}

// Choices of how the page looks to one person. They are kept in the browser and are not part of links.

export const preference = (name, usual) => {
  const kept = localStorage.getItem(name);
  return kept === null ? usual : kept === "on";
};

/** Keep what a checkbox says, and tell `changed` about it, now and later. */
export function remember(box, name, usual, changed) {
  box.checked = preference(name, usual);
  box.addEventListener("change", () => {
    localStorage.setItem(name, box.checked ? "on" : "off");
    changed(box.checked);
  });
  changed(box.checked);
}

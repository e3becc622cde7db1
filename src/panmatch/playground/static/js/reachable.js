// Areas that scroll can be scrolled with the keyboard, too.

const AREAS = ".scroll, .tall, .terms, .mistakes";
const NAMES = { legend: "Scores of the compared strategies", table: "Scores at round thresholds", graph: "Graph", matrix: "Matrix of IoU" };

/** Put every area that scrolls into the order of the Tab key, and take out those that do not. */
export function reachScrolled() {
  const watcher = new ResizeObserver((entries) => entries.forEach(({ target }) => reach(target.matches(AREAS) ? target : target.parentElement)));
  for (const area of document.querySelectorAll(AREAS)) {
    watcher.observe(area);
    for (const inside of area.children) watcher.observe(inside);
  }
}

function reach(area) {
  const scrolls = area.scrollWidth > area.clientWidth || area.scrollHeight > area.clientHeight;
  if (scrolls === area.hasAttribute("tabindex")) return;
  if (!scrolls) return ["tabindex", "role", "aria-label"].forEach((name) => area.removeAttribute(name));
  area.tabIndex = 0;
  if (area.tagName === "OL") return; // a list stays a list
  area.setAttribute("role", "group");
  area.setAttribute("aria-label", NAMES[area.id] ?? NAMES[area.firstElementChild?.id] ?? area.closest("section").querySelector("h2").textContent);
}

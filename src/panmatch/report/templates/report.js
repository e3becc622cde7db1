// The page itself: light or dark, one class at a time, and charts that are drawn when they come into sight.
"use strict";
const report = (() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const options = { responsive: true, displaylogo: false, modeBarButtonsToRemove: ["lasso2d", "select2d"] };
  const drawn = new Set();
  const watchers = []; // told when a chart is drawn, or when class or colours change
  const tell = () => watchers.forEach((watcher) => watcher());
  const printing = matchMedia("print");

  const button = document.getElementById("theme");
  const wanted = matchMedia("(prefers-color-scheme: dark)");
  const kept = (value) => {
    try { // pages opened from a file may have no storage
      if (value !== undefined) localStorage.setItem("panmatch-theme", value);
      return localStorage.getItem("panmatch-theme");
    } catch { return null; }
  };
  let choice = kept();
  const isDark = () => !printing.matches && (choice === null ? wanted.matches : choice === "dark");

  const inColours = (value, colours) => {
    if (typeof value === "string") return colours[value] ?? value;
    if (Array.isArray(value)) return typeof value[0] === "number" ? value : value.map((one) => inColours(one, colours));
    if (value === null || typeof value !== "object") return value;
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, inColours(one, colours)]));
  };
  const draw = (div) => {
    if (!(div.id in data.charts) || div.offsetParent === null) return;
    drawn.add(div.id);
    const chart = inColours(data.charts[div.id], isDark() ? data.dark : {});
    if (printing.matches)
      Object.assign(chart.layout, { width: div.clientWidth, height: chart.layout.height ?? div.clientHeight, autosize: false });
    Plotly.react(div, chart.data, chart.layout, options);
  };
  const redraw = (ids = drawn) => {
    for (const id of ids) if (drawn.has(id)) draw(document.getElementById(id));
    tell();
  };
  const divs = [...document.querySelectorAll(".chart")];
  const sight = new IntersectionObserver((entries) => {
    const seen = entries.filter((entry) => entry.isIntersecting && !drawn.has(entry.target.id));
    seen.forEach((entry) => draw(entry.target));
    if (seen.length) tell();
  }, { rootMargin: "400px" });
  divs.forEach((div) => sight.observe(div));

  const paint = () => {
    document.documentElement.classList.toggle("dark", isDark());
    button.setAttribute("aria-pressed", String(isDark()));
    redraw();
  };
  button.addEventListener("click", () => {
    choice = kept(isDark() ? "light" : "dark") ?? (isDark() ? "light" : "dark");
    paint();
  });
  wanted.addEventListener("change", paint);

  const select = document.getElementById("class");
  const pageId = () => select?.value ?? document.querySelector(".of-class")?.dataset.class ?? "";
  const show = () => {
    for (const part of document.querySelectorAll(".of-class"))
      part.classList.toggle("hidden", part.dataset.class !== pageId());
    const name = select?.selectedOptions[0]?.textContent;
    if (name !== undefined)
      for (const place of document.querySelectorAll("[data-about]")) place.textContent = name;
    fit();
    tell();
  };
  const choose = (id) => {
    if (select === null || select.value === id) return;
    select.value = id;
    show();
  };
  select?.addEventListener("change", show);
  for (const pick of document.querySelectorAll("[data-pick]"))
    pick.addEventListener("click", () => {
      choose(pick.dataset.pick);
      if (pick.closest("#classes")) document.getElementById("summary").scrollIntoView();
    });

  // Only tables that do not fit can be reached with the tab key, to scroll them.
  const fit = () => {
    for (const box of document.querySelectorAll(".wide, pre")) {
      const over = box.scrollWidth > box.clientWidth;
      if (over) box.tabIndex = 0;
      else box.removeAttribute("tabindex");
    }
  };
  addEventListener("resize", fit);
  document.addEventListener("toggle", fit, true);

  // Paper is light, has its own width, and shows all charts.
  const forPaper = () => {
    if (printing.matches) divs.forEach(draw);
    paint();
    if (!printing.matches) divs.forEach((div) => drawn.has(div.id) && Plotly.Plots.resize(div));
  };
  printing.addEventListener("change", forPaper);
  return { data, redraw, drawn, pageId, choose, fit, paint, show, watch: (watcher) => watchers.push(watcher) };
})();

// Draws charts when they come into sight, and shows one class at a time.
(() => {
  "use strict";
  const charts = JSON.parse(document.getElementById("charts").textContent);
  const options = { responsive: true, displaylogo: false, modeBarButtonsToRemove: ["lasso2d", "select2d"] };
  const drawn = new Set();
  const draw = (div) => {
    if (drawn.has(div.id) || !(div.id in charts) || div.offsetParent === null) return;
    drawn.add(div.id);
    Plotly.newPlot(div, charts[div.id].data, charts[div.id].layout, options);
  };
  const divs = [...document.querySelectorAll(".chart")];
  const sight = new IntersectionObserver(
    (entries) => entries.filter((entry) => entry.isIntersecting).forEach((entry) => draw(entry.target)),
    { rootMargin: "400px" },
  );
  divs.forEach((div) => sight.observe(div));
  const choice = document.getElementById("class");
  const show = () => {
    for (const part of document.querySelectorAll(".of-class"))
      part.classList.toggle("hidden", choice !== null && part.dataset.class !== choice.value);
  };
  if (choice !== null) choice.addEventListener("change", show);
  show();
  addEventListener("beforeprint", () => {
    document.querySelectorAll(".hidden").forEach((part) => part.classList.remove("hidden"));
    divs.forEach(draw);
  });
  addEventListener("afterprint", show);
})();

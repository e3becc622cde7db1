// Opens a picture large: outlines over one image, or references and predictions side by side.
(() => {
  "use strict";
  const dialog = document.getElementById("enlarged");
  if (dialog === null) return;
  const [title, panes, caption, count] = ["h2", ".panes", ".caption", ".count"].map((part) => dialog.querySelector(part));
  const views = [...dialog.querySelectorAll("[data-view]")];
  let buttons = []; // of the pictures in sight: those of one class
  let at = 0;
  let view = "outlines";

  const pane = (picture, only) => {
    const figure = document.createElement("figure");
    figure.className = "pane";
    const copy = picture.cloneNode(true);
    copy.querySelector("pattern").remove(); // its id stays with the small picture
    if (only !== "") {
      const name = document.createElement("figcaption");
      name.textContent = only;
      figure.append(name);
      copy.classList.add(`only-${only.toLowerCase()}`);
      copy.setAttribute("aria-label", `${only}, ${picture.getAttribute("aria-label")}`);
    }
    figure.append(copy);
    return figure;
  };
  const paint = () => {
    const picture = buttons[at].querySelector("svg");
    const { width, height } = picture.viewBox.baseVal;
    title.textContent = picture.getAttribute("aria-label");
    count.textContent = `${at + 1} of ${buttons.length}`;
    panes.replaceChildren(...(view === "sides" ? ["Reference", "Prediction"] : [""]).map((only) => pane(picture, only)));
    panes.classList.toggle("broad", width > height);
    const small = buttons[at].closest("figure");
    const told = [".slice-text", ".mistake-text", ".score-text"].flatMap((part) => [...small.querySelectorAll(part)]);
    caption.replaceChildren(...told.flatMap((part, i) => [...(i > 0 ? [" · "] : []), part.cloneNode(true)]));
    for (const end of caption.querySelectorAll("br")) end.replaceWith(" · ");
    for (const button of views) button.setAttribute("aria-pressed", String(button.dataset.view === view));
  };
  const step = (by) => {
    at = (at + by + buttons.length) % buttons.length;
    paint();
  };
  const open = (button) => {
    buttons = [...document.querySelectorAll("#cases .enlarge")].filter((one) => one.offsetParent !== null);
    at = buttons.indexOf(button);
    paint();
    dialog.showModal();
    title.focus();
  };

  for (const button of document.querySelectorAll("#cases .enlarge")) button.addEventListener("click", () => open(button));
  for (const button of views)
    button.addEventListener("click", () => {
      view = button.dataset.view;
      paint();
    });
  for (const button of dialog.querySelectorAll("[data-step]")) button.addEventListener("click", () => step(Number(button.dataset.step)));
  dialog.querySelector(".close").addEventListener("click", () => dialog.close());
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  dialog.addEventListener("close", () => buttons[at].focus());
  dialog.addEventListener("keydown", (event) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (by === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    step(by);
  });
})();

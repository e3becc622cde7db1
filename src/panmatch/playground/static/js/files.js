// Open files: drop them anywhere on the page, or choose them. Names decide which is which, or you do.

import { find, html } from "./dom.js";
import { guessRoles } from "./file_roles.js";

const ROLES = { reference: "Reference", prediction: "Prediction", image: "Image beneath (optional)", scores: "Confidences (optional)" };
const OPTIONAL = ["image", "scores"];
const ACCEPTED = ".nii,.gz,.nrrd,.mha,.tif,.tiff,.png,.jpg,.jpeg,.npy,.npz,.csv";

export class Files {
  /** `engine.openFiles(files, options)` reads files; the answer is heard as "opened" or a problem. */
  constructor(engine) {
    this.engine = engine;
    this.files = []; // to choose from
    this.roles = {};
    this.shown = null; // what is open: {roles, ignoreHeaders}
    this.chooser = html("input", { type: "file", id: "file-chooser", multiple: true, hidden: true, accept: ACCEPTED, "aria-label": "Files to open" });
    this.curtain = html("div", { id: "drop-here", hidden: true }, html("p", {}, html("b", {}, "Drop to open"), " Two label files, and an image if you have one."));
    this.sheet = this.makeSheet();
    document.body.append(this.chooser, this.curtain, this.sheet);
    find("#open-files").addEventListener("click", () => this.chooser.click());
    this.chooser.addEventListener("change", () => {
      this.take([...this.chooser.files]);
      this.chooser.value = "";
    });
    this.listen();
  }

  listen() {
    let depth = 0; // of elements that a drag has entered and not left
    const carries = (event) => event.dataTransfer?.types.includes("Files");
    const over = (now) => {
      depth = Math.max(0, now);
      this.curtain.hidden = depth === 0;
    };
    document.addEventListener("dragenter", (event) => carries(event) && over(depth + 1));
    document.addEventListener("dragleave", (event) => carries(event) && over(depth - 1));
    document.addEventListener("dragover", (event) => carries(event) && event.preventDefault());
    document.addEventListener("drop", (event) => {
      if (!carries(event)) return;
      event.preventDefault();
      over(0);
      this.take([...event.dataTransfer.files]);
    });
  }

  makeSheet() {
    this.selects = Object.fromEntries(Object.keys(ROLES).map((role) => [role, html("select", { id: `file-${role}`, onchange: (event) => this.choose(role, event.target.value) })]));
    this.problem = html("p", { id: "files-problem", role: "alert", hidden: true });
    this.ignore = html("input", { type: "checkbox", id: "ignore-headers" });
    this.ignoring = html("label", { class: "ignore", hidden: true }, this.ignore, " The headers do not matter: compare voxel by voxel as stored");
    this.opener = html("button", { id: "files-open", class: "primary", type: "submit" }, "Open");
    const row = (role) => html("label", { class: role }, html("span", {}, ROLES[role]), this.selects[role]);
    return html("dialog", { id: "files", "aria-labelledby": "files-title" },
      html("form", { method: "dialog", onsubmit: (event) => this.submit(event) },
        html("h2", { id: "files-title" }, "Which file is which?"),
        html("div", { class: "sides" }, row("reference"), html("button", { type: "button", id: "files-swap", title: "Swap reference and prediction", onclick: () => this.swap() }, "⇅ Swap"), row("prediction")),
        row("image"),
        row("scores"),
        this.ignoring,
        this.problem,
        html("div", { class: "row end" },
          html("button", { type: "button", id: "files-more", onclick: () => this.chooser.click() }, "Add files …"),
          html("span", { class: "spring" }),
          html("button", { type: "button", id: "files-cancel", onclick: () => this.sheet.close() }, "Cancel"),
          this.opener)));
  }

  /** Take files that were dropped or chosen; while the sheet is open, they join those on it. */
  take(files) {
    if (!files.length) return;
    this.files = this.sheet.open ? [...this.files.filter((old) => !files.some(({ name }) => name === old.name)), ...files] : files;
    const { sure, ...roles } = guessRoles(this.files);
    this.roles = roles;
    this.ignore.checked = false;
    this.say(this.files.length < 2 ? "Add a second label file to compare it with." : "");
    if (sure && !this.sheet.open) this.open();
    else this.ask();
  }

  /** Show the sheet. */
  ask() {
    for (const [role, select] of Object.entries(this.selects)) {
      const none = html("option", { value: "" }, OPTIONAL.includes(role) ? "none" : "choose …");
      select.replaceChildren(none, ...this.files.map((file, at) => html("option", { value: at }, file.name)));
      const at = this.files.indexOf(this.roles[role]);
      select.value = at < 0 ? "" : at;
    }
    this.enable();
    if (!this.sheet.open) this.sheet.showModal();
  }

  /** Give a file a role; the role that had it takes what this one had. */
  choose(role, value) {
    const file = value === "" ? null : this.files[Number(value)];
    const other = Object.keys(ROLES).find((one) => one !== role && file && this.roles[one] === file);
    if (other) this.roles[other] = this.roles[role];
    this.roles[role] = file;
    this.ask();
  }

  swap() {
    const { reference, prediction } = this.roles;
    Object.assign(this.roles, { reference: prediction, prediction: reference });
    this.ask();
  }

  enable(busy = false) {
    this.opener.disabled = busy || !this.roles.reference || !this.roles.prediction;
    this.opener.textContent = busy ? "Opening …" : "Open";
  }

  submit(event) {
    event.preventDefault();
    this.open();
  }

  /** Open the chosen files; `kept` says that the view of those before is still wanted. */
  async open({ kept = false } = {}) {
    const files = Object.fromEntries(Object.entries(this.roles).filter(([, file]) => file));
    this.enable(true);
    this.wait(true);
    this.asked = { roles: { ...this.roles }, ignoreHeaders: this.ignore.checked };
    this.kept = kept;
    try {
      await this.engine.openFiles(files, { ignoreHeaders: this.ignore.checked });
    } catch (error) {
      this.refuse({ problem: error.message });
    }
  }

  /** The files are open. */
  opened() {
    this.shown = this.asked ?? this.shown;
    this.wait(false);
    this.sheet.close();
  }

  /** The files cannot be opened; what was shown stays. */
  refuse({ problem, headers = false }) {
    this.wait(false);
    this.ignoring.hidden = !headers && this.ignoring.hidden;
    this.say(problem);
    this.ask();
  }

  /** Open once more what is shown, with the sides swapped or after the server has started again. */
  reopen({ swapped = false } = {}) {
    if (!this.shown) return;
    const { roles, ignoreHeaders } = this.shown;
    // Confidences are those of one of the files, so that they do not fit the other.
    this.roles = swapped ? { ...roles, reference: roles.prediction, prediction: roles.reference, scores: null } : { ...roles };
    this.files = Object.values(this.roles).filter(Boolean);
    this.ignore.checked = ignoreHeaders;
    this.open({ kept: true });
  }

  say(text) {
    this.problem.textContent = text.replace(/^[a-z]/, (letter) => letter.toUpperCase()); // but no name of a file
    this.problem.hidden = !text;
  }

  wait(busy) {
    find("#open-files").setAttribute("aria-busy", busy);
    find("#open-files").textContent = busy ? "Opening …" : "Open files …";
  }
}

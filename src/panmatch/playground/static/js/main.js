// Wires everything: the store tells of changes, the server answers, the panels draw.

import { Actions } from "./actions.js";
import { learn } from "./strategies.js";
import { Budget } from "./budget.js";
import { Certificate } from "./certificate.js";
import { openEngine, showFailure, showLoading } from "./engines.js";
import { Controls } from "./controls.js";
import { Curves } from "./curves.js";
import { CutCharts } from "./cut_charts.js";
import { Derivation } from "./derivation.js";
import { colour, find, html } from "./dom.js";
import { Explanation } from "./explanation.js";
import * as exports from "./export.js";
import { Files } from "./files.js";
import { Gestures } from "./gestures.js";
import { Graph } from "./graph.js";
import { Inspector } from "./inspector.js";
import { writeKeys } from "./key.js";
import { Keyboard } from "./keyboard.js";
import { Linked } from "./linked.js";
import * as links from "./links.js";
import { Matrix } from "./matrix.js";
import { remember } from "./preferences.js";
import { reachScrolled } from "./reachable.js";
import { Related } from "./related.js";
import { Scene } from "./scene.js";
import { Share } from "./share.js";
import { sliceHint } from "./slice_tools.js";
import { Spoken } from "./spoken.js";
import { Store } from "./store.js";
import { Story } from "./story.js";
import { Legend, Table } from "./table.js";
import { Toolbar } from "./toolbar.js";
import { Volume } from "./volume.js";

const KEPT_ROUND_TRIPS = 400;
const CALM_MILLISECONDS = 120; // without new numbers, before panels out of sight are drawn
const BUDGET_MILLISECONDS = 100; // between two budgets while something is dragged

class Page {
  constructor() {
    this.store = new Store();
    this.linked = new Linked(this.store);
    this.roundTrips = [];
    this.share = new Share();
    this.connection = openEngine({
      heard: (message) => this.hear(message),
      changed: (there) => this.reachable(there),
      rested: (busy) => find("main").setAttribute("aria-busy", busy),
      loading: showLoading,
      failed: showFailure,
    });
    this.store.listen((what) => this.changed(what));
    this.enable();
  }

  reachable(there) {
    this.there = there;
    find("#offline").hidden = there;
    const pair = this.hello?.pair;
    const shown = pair ? (pair.class_name === null ? "REF PRED " : "RUN --case CASE ") : "";
    find("#same-port").textContent = `panmatch play ${shown}--port ${location.port}`;
    if (!there && this.numbers) document.body.classList.add("outdated");
    this.enable();
    if (!there) return;
    if (this.hello?.pair?.dropped) this.files.reopen();
    else if (this.hello) this.ask();
    else this.connection.ask("hello");
  }

  hear(message) {
    const answers = {
      hello: () => this.begin(message),
      state: () => this.open(message),
      numbers: () => this.take(message),
      related: () => message.seq >= this.shown && [this.related.take(message), this.story.related(message)],
      opened: () => this.openedFiles(message),
      closed: () => this.closedFiles(message),
      slice: () => this.volume.takeSlice(message),
      object: () => this.inspector.showObject(message, (centre) => this.volume.go(centre)),
      code: () => this.copyCode(message),
      problem: () => this.refuse(message),
    };
    answers[message.is]?.();
  }

  begin(hello) {
    this.hello = hello;
    const { strategies, pair } = hello;
    learn(strategies);
    links.learn(hello.links);
    const byId = new Map(strategies.map((one) => [one.id, one]));
    find("#version").textContent = `panmatch ${hello.version}`;
    this.controls = new Controls(this.store, byId, pair);
    this.inspector = new Inspector(this.store);
    this.curves = new Curves(this.store, byId);
    this.related = new Related();
    this.budget = new Budget(this.store, byId, hello.losses);
    this.files = new Files(this.connection);
    this.explanation = new Explanation(hello.presets, (scene) => this.resetScene(scene));
    this.adopt(pair);
    this.panels = [this.controls, this.curves, new CutCharts(this.store, byId), new Legend(this.store, byId), new Table(this.store, byId), new Graph((object) => this.hello.pair && this.volume.pick(object)), new Matrix(), new Derivation(), new Certificate(this.store, byId), this.budget];
    this.story = new Story(this, hello);
    this.panels.push(...this.story.panels);
    this.panels.forEach((panel) => this.watch(panel));
    this.spoken = new Spoken(this.store, byId);
    reachScrolled();
    this.offerPresets(hello.presets);
    this.wire();
    this.readLink();
  }

  /** Show a pair of files, or scenes if there is none. */
  adopt(pair) {
    this.hello.pair = pair;
    document.body.classList.toggle("of-pair", Boolean(pair));
    this.controls.adopt(pair);
    if (!pair && !this.scene) this.edit(this.hello.limits);
    else if (pair && this.volume) this.volume.open(pair);
    else if (pair) this.volume = new Volume(this.store, this.connection, pair);
    if (pair) this.describePair(pair);
    if (this.story) this.story.pair = pair;
    writeKeys(pair);
    this.inspector.clear(pair ? sliceHint(this.volume.isDeep) : []);
  }

  /** A scene that can be edited, with its tools. */
  edit(limits) {
    this.scene = new Scene(this.store);
    const tools = new Toolbar(this.scene.root);
    const actions = new Actions(this.store, this.scene, limits, (text) => this.note(text));
    this.keyboard = new Keyboard(this.scene, tools, actions, new Gestures(this.scene, tools, actions, limits));
    actions.emptied = () => this.explanation.forget();
    tools.wire(actions, () => this.keyboard.place());
    this.inspector.actions = actions;
    remember(find("#match-lines"), "match-lines", true, (on) => {
      this.scene.withMatches = on;
      this.scene.drawMatches();
    });
  }

  /** Files that were dropped or chosen on this page are open; a link of theirs that was refused before
   * can be shown now. */
  openedFiles({ pair }) {
    const link = this.refused && this.needsFiles ? links.current() : "";
    this.files.opened();
    if (!this.files.kept) return this.closedFiles({ pair }, link);
    this.adopt(pair);
    this.show();
    return this.ask();
  }

  closedFiles({ pair }, link = "") {
    this.adopt(pair);
    document.body.classList.add("outdated");
    if (!link) history.pushState(null, "", location.pathname);
    this.connection.ask("link", { link: this.story.link(link) });
  }

  /** Know whether a panel is in sight; one that comes into sight is drawn. */
  watch(panel) {
    panel.inSight = true;
    const seen = ([{ isIntersecting }]) => {
      panel.inSight = isIntersecting;
      if (isIntersecting && this.numbers) this.catchUp(panel);
      if (isIntersecting && panel === this.budget && this.budgetMissing) this.ask();
      if (isIntersecting && this.numbers && panel.lacks?.(this.numbers)) this.ask();
    };
    new IntersectionObserver(seen).observe(panel.root);
  }

  catchUp(panel) {
    if (panel.took !== this.numbers) panel.take(this.numbers);
    panel.took = this.numbers;
  }

  describePair(pair) {
    const spacing = pair.spacing ? `, ${pair.spacing.map((value) => Number(value.toPrecision(4))).join(" × ")}${pair.unit ? ` ${pair.unit}` : ""}` : "";
    find("#pair-about").replaceChildren(
      html("b", { class: "reference" }, pair.reference), " ", html("span", { class: "quiet" }, "against"), " ",
      html("b", { class: "prediction" }, pair.prediction),
      pair.class_name === null ? "" : `, class ${pair.class_name}`,
      html("span", { class: "quiet" }, ` ${pair.shape.join(" × ")}${spacing}`));
    find("#pair-tools").replaceChildren(...(pair.dropped ? [
      html("button", { id: "swap-files", title: "Swap reference and prediction", "aria-label": "Swap reference and prediction", onclick: () => this.files.reopen({ swapped: true }) }, "⇄"),
      html("button", { id: "close-files", title: "Close the files and draw scenes", "aria-label": "Close the files", onclick: () => this.connection.ask("close") }, "✕"),
    ] : []));
  }

  offerPresets(presets) {
    const menu = find("#preset");
    menu.replaceChildren(html("option", { value: "" }, "Scenes …"), ...presets.map(({ id, title }) => html("option", { value: id }, title)));
    menu.addEventListener("change", () => {
      const preset = presets.find(({ id }) => id === menu.value);
      if (preset) this.openPreset(preset);
      menu.blur();
    });
  }

  openPreset({ id, state }) {
    find("#refusal").hidden = true;
    document.body.classList.remove("refused");
    this.store.open(state);
    this.explanation.open(state, [], id);
    links.push(state, id);
    this.story.leave();
  }

  /** Bring back the shapes of a preset, exactly as they were. */
  resetScene(scene) {
    this.store.open({ ...this.store.state, scene });
    this.explanation.show(this.store.state);
    links.push(this.store.state, this.explanation.preset.id);
  }

  /** Open a state of the tour; what was there before can be undone. */
  openState(state) {
    find("#refusal").hidden = true;
    document.body.classList.remove("refused");
    this.store.open(state);
    this.explanation.open(state);
  }

  openStart() {
    this.openPreset(this.hello.presets[0]);
  }

  readLink() {
    this.connection.ask("link", { link: this.story.link(links.current()) });
  }

  open({ state, notes }) {
    find("#refusal").hidden = true;
    document.body.classList.remove("refused");
    if (this.store.state) this.store.revisit(state);
    else this.store.open(state);
    this.explanation.open(state, notes, links.preset());
    this.story.opened();
  }

  /** Say something about the last change, below the scene. */
  note(text) {
    this.explanation.remark = text;
    this.explanation.show(this.store.state);
  }

  /** A link that cannot be shown shows nothing else in its place. */
  refuse(message) {
    const { about, problem } = message;
    if (about === "link") {
      find("#refusal").hidden = false;
      find("#refusal p").textContent = problem;
      this.needsFiles = problem.includes("belongs to a pair of files");
      document.body.classList.add("refused");
      find("#export").removeAttribute("open");
      this.enable();
      return;
    }
    if (about === "open") return this.files.refuse(message);
    if (about === "numbers" && this.store.state.view.areas === "analytic") {
      this.countPixels(problem);
      return;
    }
    find("#trouble").hidden = false;
    find("#trouble").textContent = problem;
    // Until there are numbers of the present scene, those that are shown look old.
    if (about === "numbers") document.body.classList.add("outdated");
  }

  /** Exact areas are not available for such a scene: count pixels instead, and say so. */
  countPixels(problem) {
    this.store.view({ areas: "raster" }, { final: this.store.before === null });
    this.note(`Exact areas are switched off, and pixels are counted instead: ${problem.split(":")[0]}.`);
  }

  changed(what) {
    if (what === "opened" || what === "changed") {
      this.show();
      this.ask();
      if (what === "changed") this.related?.age();
    } else if (what === "selected") {
      this.scene?.draw();
      this.inspector.show();
    } else if (what === "committed") {
      if (this.store.state.view.areas === "analytic") this.explanation.remark = "";
      this.explanation.show(this.store.state);
      links.push(this.store.state, this.explanation.preset?.id, { joined: this.store.joined });
      this.story.committed();
      if (this.budgetMissing || this.story.missing) this.ask();
    }
    this.enable();
  }

  /** Offer what can be done now: nothing with a link that was refused, no old numbers to take away. */
  enable() {
    const shown = Boolean(this.store.state) && !this.refused;
    find("#undo").disabled = !shown || !this.store.past.length;
    find("#redo").disabled = !shown || !this.store.future.length;
    for (const button of document.querySelectorAll("[data-export]")) {
      const kept = button.dataset.export === "link" || button.dataset.export.startsWith("scene");
      button.disabled = !shown || !(kept || (this.there && this.numbers));
    }
    find("#keep-scene").disabled = !shown;
  }

  get refused() {
    return document.body.classList.contains("refused");
  }

  show() {
    this.controls.show();
    this.scene?.draw();
    this.volume?.show();
    this.inspector.show();
    this.curves.moveThreshold(this.store.state.view.threshold);
  }

  /** Ask for the numbers of what is shown. A drag does not wait for the budget: it comes along now
   * and then if it is in sight, and at the end. */
  ask() {
    if (!this.store.state) return;
    const now = performance.now();
    const due = this.budget.inSight && now - (this.budgetAsked ?? 0) > BUDGET_MILLISECONDS;
    const budget = due || !this.store.dragging;
    if (budget) this.budgetAsked = now;
    this.budgetMissing = !budget;
    this.connection.ask("numbers", { state: this.store.state, budget, story: this.story.wanted() });
  }

  take(numbers) {
    find("#trouble").hidden = true;
    document.body.classList.remove("outdated");
    const first = !this.numbers;
    this.numbers = numbers;
    if (first) this.enable();
    this.shown = numbers.seq;
    this.linked.numbers = numbers;
    this.scene?.take(numbers);
    this.volume?.take(numbers);
    if (this.hello.pair && this.volume.picked) this.volume.inquire();
    for (const panel of this.panels) if (panel.inSight) this.catchUp(panel);
    this.spoken.take(numbers);
    this.story.take(numbers);
    clearTimeout(this.calm);
    this.calm = setTimeout(() => this.settle(), CALM_MILLISECONDS);
    if (this.store.hover) this.linked.light();
    this.timed(performance.now() - numbers.sent, numbers.milliseconds);
  }

  /** Nothing has changed for a moment: draw what was left out. */
  settle() {
    this.panels.forEach((panel) => this.catchUp(panel));
    if (this.budgetMissing && this.budget.inSight) this.ask();
  }

  timed(whole, server) {
    if (Number.isNaN(whole)) return;
    this.roundTrips.push(whole);
    if (this.roundTrips.length > KEPT_ROUND_TRIPS) this.roundTrips.shift();
    const note = find("#round-trip");
    note.textContent = `${whole.toFixed(0)} ms, of which ${server.toFixed(0)} ms computing`;
    note.dataset.seq = this.shown;
    note.milliseconds = this.roundTrips;
  }

  wire() {
    find("#undo").addEventListener("click", () => this.store.undo());
    find("#redo").addEventListener("click", () => this.store.redo());
    find("#keep-scene").addEventListener("click", () => this.copy(exports.command(this.store.state), "Command copied"));
    find("#theme").addEventListener("click", () => this.switchTheme());
    find("#open-example").addEventListener("click", () => {
      history.pushState(null, "", location.pathname);
      this.readLink();
    });
    window.addEventListener("popstate", () => this.readLink());
    document.addEventListener("keydown", (event) => this.key(event));
    for (const button of document.querySelectorAll("[data-export]")) {
      button.addEventListener("click", () => this.export(button.dataset.export));
    }
  }

  key(event) {
    if (this.refused) return;
    const key = event.key.toLowerCase();
    const writing = event.target.matches("input[type=number], input[type=text], input[type=search], select, textarea");
    const undoes = (event.ctrlKey || event.metaKey) && !event.altKey && !writing;
    if (undoes && key === "z") (event.shiftKey ? this.store.redo() : this.store.undo());
    else if (undoes && key === "y") this.store.redo();
    else if (!this.keyboard?.anywhere(event)) return;
    event.preventDefault();
  }

  switchTheme() {
    const { dataset } = document.documentElement;
    dataset.theme = dataset.theme === "dark" ? "light" : "dark";
    localStorage.setItem("theme", dataset.theme);
    this.volume?.paint();
  }

  async export(what) {
    if (this.refused || !this.store.state) return;
    find("#export").removeAttribute("open");
    const ground = colour("card");
    const drawings = { scene: "#scene", curves: "#curve-picture" };
    const [name, kind] = what.split(" ");
    if (kind === "svg") exports.save(`${name}.svg`, exports.picture(find(drawings[name]), ground), "image/svg+xml");
    else if (what === "scene png" && this.hello.pair) find("#volume").toBlob((blob) => exports.save("slice.png", blob));
    else if (kind === "png") exports.save(`${name}.png`, await exports.asPng(exports.picture(find(drawings[name]), ground)));
    else if (kind === "csv") exports.save(`${name}.csv`, exports[`${name}Csv`](this.numbers), "text/csv");
    else if (name === "link") this.share.open(this.store.state, Boolean(this.hello.pair));
    else {
      this.wanted = name;
      this.connection.ask("code", { state: this.store.state });
    }
  }

  copyCode(message) {
    this.copy(message[this.wanted], `${this.wanted === "python" ? "Python" : "Command"} copied`, message.notes);
  }

  async copy(text, done, notes = []) {
    const sheet = find("#copied");
    find("#copied-text").value = text;
    let title = done;
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      title = "Copy this text";
    }
    find("#copied-title").textContent = [title, ...notes].join(". ");
    sheet.showModal();
    find("#copied-text").select();
  }
}

new Page();

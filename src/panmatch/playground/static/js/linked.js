// Hovering over something in one panel highlights it in all panels.

const marked = (element) => element.closest?.("[data-r], [data-p], [data-objects], [data-strategy]");

/** Ids of the references and predictions that an element with `data-objects` is about. */
const listed = ({ objects }) => (([r, p]) => ({ r: new Set(r), p: new Set(p) }))(JSON.parse(objects));

export class Linked {
  constructor(store) {
    this.store = store;
    this.numbers = null;
    document.addEventListener("pointerover", (event) => this.point(marked(event.target)));
    // A list that is walked with the keyboard points, too; objects of the scene are selected instead.
    document.addEventListener("focusin", ({ target }) => target.matches("[data-objects]") && this.point(target));
    document.addEventListener("focusout", ({ target }) => target.matches("[data-objects]") && this.point(null));
    store.listen((what) => what === "hovered" && this.light());
  }

  point(element) {
    if (!element) return this.store.point(null);
    const { r, p, objects, strategy } = element.dataset;
    if (objects) this.store.point({ objects });
    else if (strategy) this.store.point({ strategy });
    else if (r && p) this.store.point({ pair: [Number(r), Number(p)] });
    else if (r) this.store.point({ side: "reference", id: Number(r) });
    else this.store.point({ side: "prediction", id: Number(p) });
  }

  /** Objects that a hover is about: those pointed at, and the partners of a single one. */
  objects(hover) {
    if (hover.objects) return listed(hover);
    if (hover.pair) return { r: new Set([hover.pair[0]]), p: new Set([hover.pair[1]]) };
    const found = { r: new Set(), p: new Set() };
    const [own, other] = hover.side === "reference" ? ["r", "p"] : ["p", "r"];
    found[own].add(hover.id);
    const { vertices, edges } = this.numbers ?? { edges: [] };
    for (const [ref, pred] of edges) {
      const ids = { r: vertices.reference[ref]?.id, p: vertices.prediction[pred]?.id };
      if (ids[own] === hover.id) found[other].add(ids[other]);
    }
    return found;
  }

  light() {
    const { hover } = this.store;
    document.body.classList.toggle("pointing", Boolean(hover && !hover.strategy));
    document.body.classList.toggle("pointing-strategy", Boolean(hover?.strategy));
    const lit = hover && !hover.strategy ? this.objects(hover) : null;
    for (const element of document.querySelectorAll("[data-r], [data-p]")) {
      const { r, p } = element.dataset;
      element.classList.toggle("lit", Boolean(lit) && this.belongs(hover, lit, r && Number(r), p && Number(p)));
    }
    for (const element of document.querySelectorAll("[data-objects]")) {
      element.classList.toggle("lit", Boolean(lit) && this.concerns(hover, element.dataset));
    }
    for (const element of document.querySelectorAll("[data-strategy]")) {
      element.classList.toggle("lit", hover?.strategy === element.dataset.strategy);
    }
  }

  belongs(hover, lit, r, p) {
    if (r && p) return hover.pair || hover.objects ? lit.r.has(r) && lit.p.has(p) : hover.side === "reference" ? r === hover.id : p === hover.id;
    return r ? lit.r.has(r) : lit.p.has(p);
  }

  /** Whether a list of objects is the one pointed at, or has all that is pointed at. */
  concerns(hover, dataset) {
    if (hover.objects) return hover.objects === dataset.objects;
    const { r, p } = listed(dataset);
    if (hover.pair) return r.has(hover.pair[0]) && p.has(hover.pair[1]);
    return (hover.side === "reference" ? r : p).has(hover.id);
  }
}

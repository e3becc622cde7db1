// All cases of the chosen class: a table that is sorted and filtered, and a dot for every row.
(() => {
  const found = report.data.cases;
  const table = document.getElementById("case-rows");
  if (table === null || found.classes === undefined) return;
  const PAGE = 50;
  const NAMES = -2, MODELS = -1; // columns before those of numbers
  const { cases, models, columns } = found;
  const filter = document.getElementById("case-filter");
  const chosenModel = document.getElementById("case-model");
  const score = document.getElementById("case-score");
  const dots = document.getElementById("dots");
  const said = document.getElementById("dot-text");
  const state = { column: 0, down: false, start: 0, rows: [], shown: [], used: [], at: -1 };
  const make = (tag, text, className) => {
    const element = document.createElement(tag);
    if (text !== undefined) element.textContent = text;
    if (className) element.className = className;
    return element;
  };
  const called = (name) => {
    const element = make("bdi", name, "name");
    element.title = name;
    return element;
  };
  const title = (column) => `${columns[column].title} ${columns[column].unit}`.trim();
  const asNumber = (value) => (value === "inf" ? Infinity : value === "-inf" ? -Infinity : value);
  const text = (value, column) =>
    value === null ? "–" : typeof value === "string" ? value : columns[column].whole ? String(value) : value.toFixed(3);

  // Rows of the chosen class, or of all classes where a mean over classes is chosen.
  const collect = () => {
    const own = found.classes[report.pageId()];
    const used = own === undefined ? Object.entries(found.classes) : [[report.pageId(), own]];
    state.rows = used.flatMap(([id, one]) => {
      const pictures = new Map(one.pictures.map(([name, model], i) => [`${name} ${model}`, `${id}-picture-${i}`]));
      return one.case.map((name, i) => ({
        name, model: one.model[i], of: used.length > 1 ? one.name : "", id,
        picture: pictures.get(`${name} ${one.model[i]}`),
        values: one.values.map((column) => column[i]),
      }));
    });
    state.used = columns.map((_, column) => column).filter((column) => state.rows.some((row) => row.values[column] !== null));
    const before = score.value;
    score.replaceChildren(...state.used.filter((column) => !columns[column].whole).map((column) => {
      const option = make("option", title(column));
      option.value = column;
      return option;
    }));
    if ([...score.options].some((option) => option.value === before)) score.value = before;
    state.column = state.used.includes(state.column) || state.column < 0 ? state.column : 0;
    state.at = -1;
  };

  const key = (row) =>
    state.column === NAMES ? cases[row.name] : state.column === MODELS ? models[row.model] : asNumber(row.values[state.column]);
  const compare = (a, b) => {
    const [x, y] = [key(a), key(b)];
    if (x === null || y === null) return (x === null) - (y === null); // undefined ones come last
    const order = typeof x === "string" ? x.localeCompare(y, undefined, { numeric: true }) : x - y;
    return (state.down ? -order : order) || a.name - b.name || a.model - b.model;
  };
  const choose = () => {
    const wanted = filter.value.trim().toLowerCase();
    state.shown = state.rows.filter((row) =>
      (!chosenModel?.value || row.model === Number(chosenModel.value)) && cases[row.name].toLowerCase().includes(wanted));
    state.shown.sort(compare);
    state.start = 0;
  };

  const head = () => {
    const row = make("tr");
    const add = (label, column, className) => {
      const cell = make("th", undefined, className);
      cell.scope = "col";
      const button = make("button", label);
      button.type = "button";
      if (column === state.column) {
        cell.setAttribute("aria-sort", state.down ? "descending" : "ascending");
        button.append(make("span", state.down ? " ▼" : " ▲"));
      }
      button.addEventListener("click", () => {
        state.down = column === state.column && !state.down;
        state.column = column;
        choose();
        write();
        table.querySelector(`thead th[aria-sort] button`)?.focus();
      });
      cell.append(button);
      row.append(cell);
    };
    add("case", NAMES);
    if (state.rows.some((one) => one.of)) row.append(make("th", "class"));
    if (models.length > 1) add("model", MODELS, "model");
    for (const column of state.used) add(title(column), column, "n");
    if (state.rows.some((one) => one.picture)) row.append(make("th", "picture"));
    table.tHead.replaceChildren(row);
  };
  const cell = (content) => {
    const element = make("td", undefined, "model");
    element.append(content);
    return element;
  };
  const line = (one) => {
    const row = make("tr");
    if (one === state.rows[state.at]) row.className = "at";
    const name = make("th");
    name.scope = "row";
    name.append(called(cases[one.name]));
    row.append(name);
    if (state.rows.some((other) => other.of)) row.append(cell(called(one.of)));
    if (models.length > 1) {
      const model = make("span", undefined, "named");
      model.append(make("span", undefined, `dot m${one.model % 7}`), called(models[one.model]));
      row.append(cell(model));
    }
    for (const column of state.used) row.append(make("td", text(one.values[column], column), "n"));
    if (state.rows.some((other) => other.picture)) {
      const place = make("td");
      if (one.picture !== undefined) {
        const link = make("a", "show");
        link.href = `#${one.picture}`;
        link.setAttribute("aria-label", `show ${cases[one.name]}${models.length > 1 ? `, ${models[one.model]}` : ""}`);
        link.addEventListener("click", () => report.choose(one.id));
        place.append(link);
      }
      row.append(place);
    }
    return row;
  };
  const write = () => {
    head();
    const rows = state.shown.slice(state.start, state.start + PAGE);
    table.tBodies[0].replaceChildren(...rows.map(line));
    const n = state.shown.length;
    document.getElementById("case-count").textContent =
      n === 0 ? "no case matches" : n <= PAGE ? `${n} row${n === 1 ? "" : "s"}` : `${state.start + 1} – ${state.start + rows.length} of ${n} rows`;
    document.getElementById("case-back").disabled = state.start === 0;
    document.getElementById("case-on").disabled = state.start + PAGE >= n;
    plot();
    report.fit();
  };

  // Dots lie where their score is, and above each other where that is the same.
  const LANE = 64, LEFT = 12, STEP = 5;
  const svg = (tag, attributes, content) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    if (content !== undefined) element.textContent = content;
    return element;
  };
  let order = []; // of dots, from left to right, lane by lane
  const plot = () => {
    const width = dots.clientWidth, column = Number(score.value || 0);
    if (width === 0) return;
    const fits = new Set(state.shown);
    const values = state.rows.map((row) => asNumber(row.values[column]));
    const finite = values.filter((value) => Number.isFinite(value));
    const low = Math.min(0, ...extremes(finite)), high = columns[column].share ? 1 : Math.max(...extremes(finite), low + 1e-9);
    const x = (value) => LEFT + ((value - low) / (high - low)) * (width - 2 * LEFT);
    const height = models.length * LANE + 24;
    const image = svg("svg", { viewBox: `0 0 ${width} ${height}`, height });
    for (let i = 0; i <= 5; i += 1) {
      const value = low + (i / 5) * (high - low);
      image.append(svg("line", { x1: x(value), x2: x(value), y1: 0, y2: height - 20, class: "axis" }));
      const anchor = i === 0 ? "start" : i === 5 ? "end" : "middle";
      image.append(svg("text", { x: x(value), y: height - 6, "text-anchor": anchor }, String(Number(value.toPrecision(3)))));
    }
    const piles = new Map();
    values.forEach((value, i) => {
      if (!Number.isFinite(value)) return;
      const place = `${state.rows[i].model} ${Math.round(x(value) / STEP)}`;
      if (!piles.has(place)) piles.set(place, []);
      piles.get(place).push(i);
    });
    order = [];
    for (const pile of piles.values()) {
      const gap = Math.min(STEP, (LANE - 14) / pile.length);
      pile.forEach((i, level) => {
        const row = state.rows[i];
        const middle = (row.model + 0.5) * LANE;
        const away = (level % 2 ? 1 : -1) * Math.ceil(level / 2) * gap;
        const dot = svg("circle", {
          cx: x(values[i]).toFixed(1), cy: (middle + away).toFixed(1), r: state.rows.length > 1000 ? 2.5 : 4, "data-row": i,
          class: `f${row.model % 7}${fits.has(row) ? "" : " off"}${i === state.at ? " at" : ""}`,
        });
        image.append(dot);
        order.push({ i, model: row.model, value: values[i] });
      });
    }
    if (models.length > 1)
      models.forEach((model, lane) => {
        const short = model.length > 40 ? `${model.slice(0, 39)}…` : model;
        image.append(svg("text", { x: LEFT, y: lane * LANE + 12 }, short));
      });
    order.sort((a, b) => a.model - b.model || a.value - b.value || a.i - b.i);
    dots.replaceChildren(image);
  };
  const extremes = (values) => values.reduce(([a, b], value) => [Math.min(a, value), Math.max(b, value)], [Infinity, -Infinity]);
  const point = (i) => {
    dots.querySelector("circle.at")?.classList.remove("at");
    state.at = i;
    const dot = dots.querySelector(`circle[data-row="${i}"]`);
    if (dot === null) return;
    dot.classList.add("at");
    const row = state.rows[i], column = Number(score.value);
    said.textContent = [cases[row.name], row.of, models.length > 1 ? models[row.model] : "", `${title(column)} ${text(row.values[column], column)}`]
      .filter(Boolean).join(", ");
  };
  dots.addEventListener("mouseover", (event) => {
    if (event.target.dataset.row !== undefined) point(Number(event.target.dataset.row));
  });
  dots.addEventListener("click", (event) => {
    if (event.target.dataset.row !== undefined) only(Number(event.target.dataset.row));
  });
  const only = (i) => {
    filter.value = cases[state.rows[i].name];
    choose();
    write();
  };
  dots.addEventListener("focus", () => { if (state.at < 0 && order.length) point(order[0].i); });
  dots.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: 1, ArrowUp: -1 }[event.key];
    const place = order.findIndex((one) => one.i === state.at);
    if (step !== undefined && order.length) point(order[Math.min(Math.max(place + step, 0), order.length - 1)].i);
    else if (event.key === "Enter" && state.at >= 0) only(state.at);
    else return;
    event.preventDefault();
  });

  for (const [id, step] of [["case-back", -PAGE], ["case-on", PAGE]])
    document.getElementById(id).addEventListener("click", () => {
      state.start = Math.max(state.start + step, 0);
      write();
    });
  for (const control of [filter, chosenModel])
    control?.addEventListener("input", () => { choose(); write(); });
  score.addEventListener("change", plot);
  new ResizeObserver(plot).observe(dots);
  let page = null;
  const update = () => {
    if (page === report.pageId()) return;
    page = report.pageId();
    collect();
    choose();
    write();
  };
  report.watch(update);
  update();
})();
report.show();
report.paint();

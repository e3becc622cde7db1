// Curves over the threshold: switched on and off, and read at one threshold below the charts.
(() => {
  const { data, drawn } = report;
  const section = document.getElementById("curves");
  if (section === null) return;
  const boxes = [...section.querySelectorAll("input[type=checkbox]")];
  const isOn = (meta) =>
    boxes.every((box) => box.checked || (box.dataset.model ?? String(meta.model)) !== String(meta.model)
      || (box.dataset.matcher ?? String(meta.matcher)) !== String(meta.matcher));
  const curvesOf = (id) => data.charts[id]?.data.filter((trace) => trace.meta !== undefined) ?? [];
  const at = (trace, threshold) => {
    let i = trace.x.length - 1;
    while (i > 0 && trace.x[i] > threshold) i -= 1;
    return trace.y[i];
  };

  const readouts = [...section.querySelectorAll(".readout")];
  const write = (readout) => {
    const slider = readout.querySelector("input");
    const threshold = Number(slider.value);
    readout.querySelector("output").textContent = threshold.toFixed(3);
    const ids = readout.dataset.charts.split(" ").map((name) => `${readout.dataset.page}-${name}`);
    const rows = curvesOf(ids[0]).filter((trace) => isOn(trace.meta)).map((first) => {
      const row = document.createElement("tr");
      const name = document.createElement("th");
      name.scope = "row";
      name.className = "model";
      const dot = document.createElement("span");
      dot.className = `dot m${first.meta.model % 7}`;
      const text = document.createElement("bdi");
      text.className = "name";
      text.title = text.textContent = plain(first.name);
      const named = document.createElement("span");
      named.className = "named";
      named.append(dot, text);
      name.append(named);
      row.append(name);
      for (const id of ids) {
        const same = curvesOf(id).find((one) => one.meta.model === first.meta.model && one.meta.matcher === first.meta.matcher);
        const cell = document.createElement("td");
        cell.className = "n";
        const value = same === undefined ? null : at(same, threshold);
        cell.textContent = value === null ? "–" : value.toFixed(3);
        row.append(cell);
      }
      return row;
    });
    readout.querySelector("tbody").replaceChildren(...rows);
    for (const id of ids) place(document.getElementById(id), threshold);
  };
  const plain = (name) => name.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
  const place = (div, threshold) => {
    const axis = div._fullLayout?.xaxis;
    if (axis === undefined) return;
    let line = div.parentElement.querySelector(".cursor");
    if (line === null) {
      line = document.createElement("div");
      line.className = "cursor";
      div.parentElement.append(line);
    }
    line.style.left = `${axis._offset + axis.d2p(threshold)}px`;
    line.style.top = `${div._fullLayout.yaxis._offset}px`;
    line.style.height = `${div._fullLayout.yaxis._length}px`;
  };
  const writeAll = () => readouts.filter((one) => one.dataset.page === report.pageId()).forEach(write);

  for (const readout of readouts) {
    const slider = readout.querySelector("input");
    slider.addEventListener("input", () => write(readout));
    for (const chart of readout.parentElement.querySelectorAll(".curve .chart"))
      chart.addEventListener("mousemove", (event) => {
        const axis = chart._fullLayout?.xaxis;
        if (axis === undefined) return;
        const threshold = axis.p2d(event.clientX - chart.getBoundingClientRect().left - axis._offset);
        if (threshold < 0 || threshold >= 1) return;
        slider.value = threshold;
        write(readout);
      });
  }
  for (const box of boxes)
    box.addEventListener("change", () => {
      for (const chart of Object.values(data.charts))
        for (const trace of chart.data) if (trace.meta !== undefined) trace.visible = isOn(trace.meta);
      report.redraw([...drawn].filter((id) => curvesOf(id).length));
    });
  report.watch(writeAll);
})();

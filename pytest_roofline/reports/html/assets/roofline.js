// The roofline: log-log, operations per byte against operations per second, one plot for each memory level.
const PLOT = { width: 1200, height: 580, left: 74, right: 232, top: 18, bottom: 52 };
const LINE = 15; // between two labels
const LETTER = 6.9; // width of a letter of a label, on average
const decade = (value) => Math.log10(value);

function roofsOf(level, cases) {
  const used = new Set(cases.flatMap((c) => Object.keys(c.operations).filter((name) => c.operations[name] > 0)));
  const memory = raw.device.roofs.filter((r) => r[0] === "memory" && (r[1] === level || r[1].startsWith(level + " (")));
  const compute = raw.device.roofs.filter((r) => r[0] === "compute" && used.has(r[1]));
  return { memory, compute };
}

// "4.25 TB/s copy, measured": the rate of a memory roof, how it was used, and where the figure is from.
function roofWords([, name, rate, provenance]) {
  const use = name.includes("(") ? name.replace(/.*\((.*)\)/, "$1, ") : "";
  return `${asBandwidth(rate)} ${use}${provenance}`;
}

// "fp32 66.9 TFLOP/s": the name and rate of a compute roof.
function peakWords([, name, rate]) {
  return `${name.replaceAll("_", " ")} ${asOperations(rate, pipelineUnit(name))}`;
}

function rooflinePlot(list, { level = "device", focus = null, ...shape } = {}) {
  const drawn = list.filter((c) => c.seconds !== null && c.work > 0 && c.bytes(level) > 0);
  const { memory, compute } = roofsOf(level, drawn);
  if (!drawn.length)
    return h("p", { class: "muted" }, `No case here has arithmetic and moves bytes through ${LEVELS[level] || level}.`);
  const size = { ...PLOT, ...shape };
  const longest = Math.max(0, ...compute.map((roof) => `${peakWords(roof)} ${roof[3]}`.length));
  size.right = Math.max(size.right, 18 + longest * LETTER);
  const rates = drawn.map((c) => c.operations_rate),
    peaks = compute.map((r) => r[2]);
  const ridges = memory.flatMap((m) => peaks.map((p) => p / m[2]));
  const reaches = drawn.map((c) => c.reach(level));
  const x0 = Math.floor(decade(Math.min(...reaches, ...ridges)) - 0.15);
  const x1 = Math.ceil(decade(Math.max(...reaches, ...ridges)) + 0.1);
  const y0 = Math.floor(decade(Math.min(...rates)) - 0.1),
    y1 = decade(Math.max(...peaks, ...rates)) + 0.35;
  const X = (v) => size.left + ((decade(v) - x0) / (x1 - x0)) * (size.width - size.left - size.right);
  const Y = (v) => size.height - size.bottom - ((decade(v) - y0) / (y1 - y0)) * (size.height - size.top - size.bottom);
  const svg = s("svg", {
    class: "plot",
    viewBox: `0 0 ${size.width} ${size.height}`,
    role: "group",
    "aria-label": `Roofline of ${raw.device.name}, ${LEVELS[level] || level}: ${drawn.length} cases; the table below has the same figures`,
  });
  axes(svg, size, X, Y, [x0, x1], [y0, y1]);
  roofLines(svg, size, X, Y, memory, compute, [x0, x1], y0);
  const lines = s("g", { class: "ladders" });
  ladders(drawn).forEach((ladder) =>
    lines.append(
      s("polyline", {
        class: `ladder ${family(ladder[0])}`,
        "data-operation": ladder[0].operation,
        points: ladder.map((c) => `${X(c.reach(level)).toFixed(1)},${Y(c.operations_rate).toFixed(1)}`).join(" "),
      }),
    ),
  );
  svg.append(lines);
  const points = s("g", { class: "points" });
  const marks = [...drawn]
    .sort((a, b) => isMain.has(a) - isMain.has(b))
    .map((c) => point(c, X(c.reach(level)), Y, focus));
  points.append(...marks);
  svg.append(points);
  roving(points, marks);
  if (focus) spotlight(svg, focus);
  return svg;
}

function axes(svg, size, X, Y, [x0, x1], [y0, y1]) {
  const bottom = size.height - size.bottom,
    right = size.width - size.right;
  const grid = s("g", { class: "axis", "aria-hidden": "true" });
  for (let e = Math.ceil(x0); e <= x1; e += 1) {
    const x = X(10 ** e);
    grid.append(
      s("line", { x1: x, x2: x, y1: size.top, y2: bottom }),
      s(
        "text",
        { x, y: bottom + 18, "text-anchor": "middle" },
        e >= -2 && e <= 4 ? String(Number((10 ** e).toPrecision(1))) : `1e${e}`,
      ),
    );
  }
  for (let e = Math.ceil(y0); e <= y1; e += 1) {
    const y = Y(10 ** e);
    grid.append(
      s("line", { x1: size.left, x2: right, y1: y, y2: y }),
      s("text", { x: size.left - 8, y: y + 4, "text-anchor": "end" }, scaled(10 ** e, "", LARGE).trim()),
    );
  }
  grid.append(
    s(
      "text",
      { class: "title", x: (size.left + right) / 2, y: size.height - 10, "text-anchor": "middle" },
      "arithmetic intensity: operations per byte moved",
    ),
    s(
      "text",
      { class: "title", transform: `translate(15 ${(size.top + bottom) / 2}) rotate(-90)`, "text-anchor": "middle" },
      "operations per second",
    ),
  );
  svg.append(grid);
}

function roofLines(svg, size, X, Y, memory, compute, [x0, x1], y0) {
  const group = s("g", { class: "roofs", "aria-hidden": "true" });
  const top = Math.max(...compute.map((r) => r[2]), 0),
    strongest = Math.max(...memory.map((m) => m[2]), 0);
  const line = (provenance, ax, ay, bx, by) =>
    group.append(s("line", { class: `roof ${provenance}`, x1: ax, y1: ay, x2: bx, y2: by }));
  for (const [, , rate, provenance] of memory) {
    const begin = Math.max(10 ** x0, 10 ** y0 / rate),
      end = top ? Math.min(10 ** x1, top / rate) : 10 ** x1;
    line(provenance, X(begin), Y(begin * rate), X(end), Y(end * rate));
  }
  if (memory.length) {
    // the lines lie close together: one label for all of them, along the highest
    const begin = Math.max(10 ** x0, 10 ** y0 / strongest),
      end = top ? Math.min(10 ** x1, top / strongest) : 10 ** x1;
    const angle = (Math.atan2(Y(end * strongest) - Y(begin * strongest), X(end) - X(begin)) * 180) / Math.PI;
    group.append(
      s(
        "text",
        { class: "label", transform: `translate(${X(begin) + 14} ${Y(begin * strongest)}) rotate(${angle})`, dy: -9 },
        (size.width < PLOT.width ? memory.slice(0, 1) : memory).map(roofWords).join("; "),
      ),
    );
  }
  const labels = compute
    .map((roof) => {
      const [, , rate, provenance] = roof;
      line(provenance, X(strongest ? Math.max(10 ** x0, rate / strongest) : 10 ** x0), Y(rate), X(10 ** x1), Y(rate));
      return {
        y: Y(rate),
        words: peakWords(roof),
        provenance,
      };
    })
    .sort((a, b) => a.y - b.y);
  labels.forEach((label, i) => {
    label.at = Math.max(label.y, i ? labels[i - 1].at + LINE : 0);
  });
  const x = X(10 ** x1);
  labels.forEach(({ y, at, words, provenance }) =>
    group.append(
      s("polyline", { class: "leader", points: `${x},${y} ${x + 8},${at} ${x + 14},${at}` }),
      s("text", { class: "label", x: x + 18, y: at + 4 }, words, s("tspan", { class: "kind" }, ` ${provenance}`)),
    ),
  );
  svg.append(group);
}

// The rungs of one language on one problem, in the order of the ladder.
function ladders(list) {
  const groups = new Map();
  for (const c of list) {
    if (c.peer) continue;
    const key = [c.operation, c.backend, c.dtype, c.shape].join("/");
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(c);
  }
  return [...groups.values()].filter((g) => g.length > 1).map((g) => g.sort((a, b) => a.order - b.order));
}

function point(c, x, Y, focus) {
  const main = isMain.has(c),
    y = Y(c.operations_rate);
  const link = s("a", {
    href: c.href,
    class: main ? "" : "minor",
    "data-operation": c.operation,
    "aria-label": caseLines(c).join(", "),
  });
  if (c === focus) {
    link.classList.add("chosen");
    if (c.bound && c.bound[0] < c.seconds) {
      const roof = Y(c.operations_rate * (c.seconds / c.bound[0]));
      link.append(s("line", { class: "distance", x1: x, x2: x, y1: y - 9, y2: roof }));
    }
    link.append(s("circle", { class: "halo", cx: x, cy: y, r: 11 }));
  }
  link.append(mark(c, x, y, main ? 5.5 : 3.6), s("circle", { class: "target", cx: x, cy: y, r: 11 }));
  tipped(link, () => caseLines(c));
  link.addEventListener("pointerenter", () => spotlight(link.ownerSVGElement, c));
  link.addEventListener("pointerleave", () => spotlight(link.ownerSVGElement, focus));
  link.addEventListener("focus", () => spotlight(link.ownerSVGElement, c));
  link.addEventListener("blur", () => spotlight(link.ownerSVGElement, focus));
  return link;
}

// Everything of one operation stays, the rest steps back.
function spotlight(svg, c) {
  if (!svg) return;
  svg.classList.toggle("spot", Boolean(c));
  for (const element of svg.querySelectorAll("[data-operation]")) {
    element.classList.toggle("lit", Boolean(c) && element.dataset.operation === c.operation);
  }
}

// What moves bytes and computes nothing has no place on a roofline: bytes per second alone, operation by operation.
function bandwidthPlot(list, level) {
  const moved = list.filter((c) => c.seconds !== null && c.work === 0 && c.bytes(level) > 0);
  if (!moved.length) return null;
  const roofs = roofsOf(level, []).memory;
  return [
    h("h2", { class: "spaced" }, "No arithmetic, so no intensity: bytes per second alone"),
    dotPlot(moved, {
      value: (c) => c.bytes(level) / c.seconds,
      top: Math.max(...moved.map((c) => c.bytes(level) / c.seconds), ...roofs.map((r) => r[2])),
      show: asBandwidth,
      lines: roofs.map((r) => [r[2], roofWords(r)]),
    }),
  ];
}

function rooflineView(main) {
  const levels = Object.keys(LEVELS).filter((level) => timed.some((c) => c.bytes(level) > 0));
  const state = {
    level: levels.includes("device") ? "device" : levels[0],
    operation: "",
    dtype: "",
    every: true,
    launches: false,
  };
  const launches = timed.filter((c) => c.regime === "overhead").length;
  const plot = h("div", { class: "plotbox" }),
    table = h("div");
  const draw = () => {
    const list = timed.filter(
      (c) =>
        (!state.operation || c.operation === state.operation) &&
        (!state.dtype || c.dtype === state.dtype) &&
        (state.every || isMain.has(c)) &&
        (state.launches || c.regime !== "overhead"),
    );
    const here = list.filter((c) => c.bytes(state.level) > 0);
    replace(plot, rooflinePlot(list, { level: state.level }), legend(here), bandwidthPlot(list, state.level));
    replace(table, caseTable(here, "Cases of this plot", "fraction", 420));
  };
  const all = (values, name = (v) => v) => [["", "all"], ...values.map((v) => [v, name(v)])];
  replace(
    main,
    h("h1", null, "Roofline of " + raw.device.name),
    h(
      "p",
      { class: "lead" },
      "A point lies under the roof by as much as its time is longer than the device needs. A line joins the rungs of one ladder. Point at a mark or step through them with the arrow keys; choose one to see why it is where it is.",
    ),
    !timed.length && h("p", { class: "note" }, "Nothing was timed in this run."),
    timed.length > 0 &&
      h(
        "div",
        { class: "filters" },
        choice(
          "Bytes through",
          levels.map((l) => [l, LEVELS[l] || l]),
          state.level,
          (v) => {
            state.level = v;
            draw();
          },
        ),
        choice("Operation", all(operations), "", (v) => {
          state.operation = v;
          draw();
        }),
        choice("Type", all([...new Set(timed.map((c) => c.dtype))].sort()), "", (v) => {
          state.dtype = v;
          draw();
        }),
        toggle("every size (small marks)", true, (v) => {
          state.every = v;
          draw();
        }),
        launches > 0 &&
          toggle(`${launches} cases shorter than an empty launch`, false, (v) => {
            state.launches = v;
            draw();
          }),
      ),
    timed.length > 0 && [h("section", { class: "card" }, plot), card("The same figures as a table", table)],
  );
  if (timed.length) draw();
}

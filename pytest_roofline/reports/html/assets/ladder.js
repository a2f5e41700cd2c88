// Kernels of one operation side by side: as dots on a line to the roof, and as the rungs of a ladder.
const LANE = 26;

// One lane per operation, each case a dot; the lane's name leads to the operation's ladder.
function dotPlot(
  list,
  {
    value,
    top,
    show,
    lines = [],
    width = 1120,
    lane = (c) => c.operation,
    link = (name) => "#/kernels/" + encodeURIComponent(name),
    chosen = null,
  },
) {
  const names = [...new Set(list.map(lane))];
  const best = new Map(names.map((n) => [n, Math.max(...list.filter((c) => lane(c) === n && !c.peer).map(value), 0)]));
  names.sort((a, b) => best.get(b) - best.get(a));
  const left = 180,
    right = 40,
    head = 14 + 15 * lines.length,
    height = head + names.length * LANE + 22;
  const X = (v) => left + (v / top) * (width - left - right);
  const svg = s("svg", {
    class: "plot dots",
    viewBox: `0 0 ${width} ${height}`,
    role: "group",
    "aria-label": `${names.length} operations, a mark for every kernel`,
  });
  for (let i = 0; i <= 4; i += 1) {
    const x = X((top * i) / 4);
    svg.append(
      s(
        "g",
        { class: "axis", "aria-hidden": "true" },
        s("line", { x1: x, x2: x, y1: head - 6, y2: height - 20 }),
        s("text", { x, y: height - 5, "text-anchor": "middle" }, show((top * i) / 4)),
      ),
    );
  }
  lines.forEach(([v, name], i) =>
    svg.append(
      s(
        "g",
        { class: "roofs", "aria-hidden": "true" },
        s("line", { class: "roof " + name.split(" ").pop(), x1: X(v), x2: X(v), y1: 3 + 15 * i, y2: height - 20 }),
        s("text", { class: "label", x: X(v) - 5, y: 13 + 15 * i, "text-anchor": "end" }, name),
      ),
    ),
  );
  names.forEach((name, row) => {
    const y = head + row * LANE + LANE / 2;
    const mine = list
      .filter((c) => lane(c) === name)
      .sort((a, b) => isMain.has(a) - isMain.has(b) || value(a) - value(b));
    svg.append(s("line", { class: "lane", x1: left, x2: X(Math.max(best.get(name), 0)), y1: y, y2: y }));
    svg.append(
      s(
        "a",
        { href: link(name, mine) },
        s(
          "text",
          { class: "name", x: left - 12, y: y + 4, "text-anchor": "end" },
          name.length > 24 ? name.slice(0, 23) + "…" : name,
          s("title", null, name),
        ),
      ),
    );
    const group = s("g", { role: "group", "aria-label": name });
    const dots = mine.map((c) => {
      const dot = s(
        "a",
        { href: c.href, class: isMain.has(c) ? "" : "minor", "aria-label": caseLines(c).join(", ") },
        c === chosen && s("circle", { class: "halo", cx: X(Math.min(value(c), top)), cy: y, r: 10 }),
        mark(c, X(Math.min(value(c), top)), y, isMain.has(c) ? 5.5 : 3.4),
        s("circle", { class: "target", cx: X(Math.min(value(c), top)), cy: y, r: 10 }),
      );
      return tipped(dot, () => caseLines(c));
    });
    group.append(...dots);
    roving(group, dots);
    svg.append(group);
  });
  return svg;
}

// The rungs of an operation on one problem: time, share, and the figure that each rung is about.
function ladderTable(list, current) {
  const rungs = [...list].sort((a, b) => a.peer - b.peer || a.backend.localeCompare(b.backend) || a.order - b.order);
  const first = new Map();
  const rows = rungs.map((c) => {
    const before = first.get(c.backend);
    first.set(c.backend, c);
    const step = before && !c.peer && known(before.seconds) && known(c.seconds) ? before.seconds / c.seconds : null;
    return h(
      "tr",
      { class: c === current ? "current" : null, "aria-current": c === current ? "true" : null },
      h(
        "th",
        { scope: "row" },
        s("svg", { viewBox: "0 0 16 16", width: 13, height: 13, "aria-hidden": "true" }, mark(c, 8, 8, 5)),
        " ",
        caseLink(c, `${backendName(c.backend)} ${c.variant.replaceAll("_", " ")}`),
        c.best ? h("span", { class: "tag" }, "best") : null,
      ),
      h("td", { class: "right" }, asTime(c.seconds)),
      h("td", { class: "right" }, known(step) ? stepWords(step) : DASH),
      h("td", null, shareBar(c)),
      h("td", { class: "right" }, asRate(c)),
      h("td", null, keyCounters(c)),
      h("td", null, badge(c)),
    );
  });
  const heads = ["Kernel", "Time", "Than the rung before", "Share of roof", "Rate", "Key counters", "Verdict"];
  return h(
    "div",
    {
      class: "scroller",
      tabindex: "0",
      role: "region",
      "aria-label": `Ladder of ${list[0].operation}, ${list[0].dtype}, ${list[0].shape}`,
    },
    h(
      "table",
      { class: "grid ladder" },
      h("caption", { class: "away" }, "Kernels of this operation on the same problem"),
      h(
        "thead",
        null,
        h(
          "tr",
          null,
          heads.map((name, i) => h("th", { scope: "col", class: [1, 2, 4].includes(i) ? "right" : "" }, name)),
        ),
      ),
      h("tbody", null, rows),
    ),
  );
}

function stepWords(step) {
  if (step > 0.99 && step < 1.01) return "the same";
  return step > 1 ? digits(step) + "× faster" : digits(1 / step) + "× slower";
}

function keyCounters(c) {
  const f = c.figures,
    found = [];
  if (f.load_sectors_per_request) found.push(`${digits(f.load_sectors_per_request.value)} sectors/load`);
  if (f.shared_conflicts && f.shared_conflicts.value) found.push(`${asCount(f.shared_conflicts.value)} conflicts`);
  if (f.atomics_per_element && f.atomics_per_element.value >= 0.01)
    found.push(`${digits(f.atomics_per_element.value)} atomics/element`);
  if (f.spills && f.spills.value) found.push(`${asCount(f.spills.value)} B spilled`);
  if (f.registers) found.push(`${f.registers.value} registers`);
  return h("small", null, found.join(", ") || DASH);
}

function kernelsView(main, chosen) {
  const shown = chosen && byOperation.has(chosen) ? [chosen] : operations;
  const search = h("input", {
    type: "search",
    placeholder: "Filter operations",
    "aria-label": "Filter operations",
    oninput: () => {
      for (const section of main.querySelectorAll("section[data-operation]")) {
        section.hidden = !section.dataset.operation.toLowerCase().includes(search.value.toLowerCase());
      }
    },
  });
  replace(
    main,
    h("h1", null, chosen && byOperation.has(chosen) ? chosen : "Kernels by operation"),
    shown.length > 1
      ? [
          h(
            "p",
            { class: "lead" },
            "Each ladder is drawn for the problem that most of its kernels ran. Choose a kernel for its analysis.",
          ),
          h("div", { class: "filters" }, search),
        ]
      : h("p", null, h("a", { href: "#/kernels" }, "All operations")),
    shown.map((name) => {
      const list = mainOf.get(name),
        about = raw.operations[name] || { summary: "", absent: {} };
      const others = byOperation.get(name).length - list.length;
      return h(
        "section",
        { class: "card", "data-operation": name },
        h(
          "h2",
          null,
          h("a", { href: "#/kernels/" + encodeURIComponent(name) }, name),
          h("span", { class: "muted sub" }, about.summary),
        ),
        h(
          "p",
          { class: "muted" },
          list.length ? `${list[0].dtype}, ${list[0].shape.replaceAll("x", " × ")}` : "",
          others ? `; ${others} more cases of other types and sizes` : "",
        ),
        ladderTable(list),
        shown.length === 1 && othersTable(name, list),
        absences(about.absent),
      );
    }),
  );
}

const othersTable = (name, list) => {
  const rest = byOperation.get(name).filter((c) => !list.includes(c));
  return rest.length
    ? [h("h3", null, "Other types and sizes"), caseTable(rest, `Other cases of ${name}`, "id", 460)]
    : null;
};

function absences(absent) {
  const list = Object.entries(absent || {});
  return list.length
    ? h(
        "details",
        null,
        h("summary", null, `${list.length} variants that a language cannot express`),
        h(
          "ul",
          null,
          list.map(([kernel, reason]) => h("li", null, mono(kernel), ": ", reason)),
        ),
      )
    : null;
}

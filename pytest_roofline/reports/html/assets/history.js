// Times over runs. Where a level changed is found before the page is made; here it is only drawn.
function levels(values, changes) {
  const ends = [0, ...changes, values.length];
  return ends.slice(0, -1).map((begin, i) => {
    const mine = [...values.slice(begin, ends[i + 1])].filter((v) => !Number.isNaN(v)).sort((a, b) => a - b);
    return { begin, end: ends[i + 1], middle: mine.length ? mine[Math.floor(mine.length / 2)] : NaN };
  });
}

function lastChange(id) {
  const changes = changesOf(id);
  if (!changes.length) return null;
  const found = levels(seriesOf(id), changes);
  const [before, after] = found.slice(-2);
  return { at: changes[changes.length - 1], ratio: after.middle / before.middle };
}

function historyChart(c) {
  const values = seriesOf(c.id),
    changes = changesOf(c.id);
  const present = [...values].filter((v) => !Number.isNaN(v));
  if (!present.length) return missing("No stored run timed this case.");
  const width = 1120,
    height = 300,
    left = 84,
    right = 20,
    top = 26,
    bottom = 40;
  const low = Math.min(...present),
    high = Math.max(...present),
    pad = Math.max((high - low) * 0.15, high * 0.004);
  const X = (i) => left + (values.length === 1 ? 0.5 : i / (values.length - 1)) * (width - left - right);
  const Y = (v) => height - bottom - ((v - low + pad) / (high - low + 2 * pad)) * (height - top - bottom);
  const svg = s("svg", {
    class: "plot history",
    viewBox: `0 0 ${width} ${height}`,
    role: "group",
    "aria-label": `${c.id} over ${values.length} runs, ${changes.length} changes of level`,
  });
  for (let i = 0; i <= 4; i += 1) {
    const v = low - pad + ((high - low + 2 * pad) * i) / 4;
    svg.append(
      s(
        "g",
        { class: "axis", "aria-hidden": "true" },
        s("line", { x1: left, x2: width - right, y1: Y(v), y2: Y(v) }),
        s("text", { x: left - 8, y: Y(v) + 4, "text-anchor": "end" }, digitsTime(v, high)),
      ),
    );
  }
  const marks = [0, Math.floor((values.length - 1) / 2), values.length - 1].filter(
    (v, i, list) => list.indexOf(v) === i,
  );
  marks.forEach((i) =>
    svg.append(
      s(
        "text",
        {
          class: "tick",
          x: X(i),
          y: height - 14,
          "text-anchor":
            i === 0 && values.length > 1 ? "start" : i === values.length - 1 && values.length > 1 ? "end" : "middle",
        },
        asDate(past.runs[i][1]),
      ),
    ),
  );
  levels(values, changes).forEach((l) => {
    if (known(l.middle))
      svg.append(
        s("line", {
          class: "level",
          x1: X(l.begin),
          x2: X(Math.max(l.begin, l.end - 1)),
          y1: Y(l.middle),
          y2: Y(l.middle),
        }),
      );
  });
  const path = [...values]
    .map((v, i) => (Number.isNaN(v) ? null : `${X(i).toFixed(1)},${Y(v).toFixed(1)}`))
    .filter(Boolean);
  svg.append(s("polyline", { class: "line", points: path.join(" ") }));
  const found = levels(values, changes);
  changes.forEach((place, i) => {
    const ratio = found[i + 1].middle / found[i].middle,
      x = X(place) - (X(1) - X(0)) / 2;
    svg.append(
      s(
        "g",
        { class: "change " + (ratio > 1 ? "slower" : "faster") },
        s("line", { x1: x, x2: x, y1: top - 4, y2: height - bottom }),
        s("text", { x: x + 5, y: top + 6 }, `${ratio > 1 ? "▲ slower" : "▼ faster"} ${asChange(ratio)}`),
        s("text", { class: "muted", x: x + 5, y: top + 21 }, past.runs[place][2].slice(0, 10)),
      ),
    );
  });
  const dots = [];
  values.forEach((v, i) => {
    if (Number.isNaN(v)) return;
    const [run, started, commit, note] = past.runs[i];
    dots.push(
      tipped(
        s("circle", {
          class: "dot",
          cx: X(i),
          cy: Y(v),
          r: values.length > 120 ? 2 : 3.5,
          role: "img",
          "aria-label": `${asDate(started)}, ${asTime(v)}`,
        }),
        () =>
          [
            asTime(v),
            `${asDate(started)}, run ${run}`,
            commit ? `commit ${commit.slice(0, 10)}` : "no commit",
            note,
          ].filter(Boolean),
      ),
    );
  });
  const group = s("g", { role: "group", "aria-label": "runs" }, dots);
  roving(group, dots);
  svg.append(group);
  return [
    svg,
    h(
      "p",
      { class: "muted small" },
      "Brackets, as the verdicts use them. The scale does not begin at zero. A line across is the middle of a level; a mark stands where the level changed.",
    ),
  ];
}

// Enough digits to tell neighbouring ticks apart.
const digitsTime = (v, high) => {
  const [size, prefix] = [
    [1, ""],
    [1e-3, "m"],
    [1e-6, "µ"],
    [1e-9, "n"],
  ].find(([unit]) => high >= unit) || [1e-9, "n"];
  return `${(v / size).toPrecision(4)} ${prefix}s`;
};

function sparkline(id) {
  const values = [...seriesOf(id)],
    present = values.filter((v) => !Number.isNaN(v));
  if (present.length < 2) return h("span", { class: "muted" }, DASH);
  const low = Math.min(...present),
    high = Math.max(...present),
    width = 160,
    height = 24;
  const points = values
    .map((v, i) =>
      Number.isNaN(v)
        ? null
        : `${((i / (values.length - 1)) * (width - 4) + 2).toFixed(1)},${(height - 3 - ((v - low) / (high - low || 1)) * (height - 6)).toFixed(1)}`,
    )
    .filter(Boolean);
  return s(
    "svg",
    { class: "spark", viewBox: `0 0 ${width} ${height}`, width, height, "aria-hidden": "true" },
    s("polyline", { points: points.join(" ") }),
  );
}

function historyView(main, id) {
  if (!past)
    return replace(
      main,
      h("h1", null, "History"),
      h(
        "p",
        { class: "note" },
        "This report was made without earlier runs. ",
        mono("pytest-roofline history"),
        " keeps them, and the report then shows every case over time.",
      ),
    );
  const list = cases.filter((c) => seriesOf(c.id));
  const seen = (c) => [...seriesOf(c.id)].filter((v) => !Number.isNaN(v)).length;
  const chosen =
    byId.get(id) ||
    [...list].sort(
      (a, b) =>
        Math.abs((lastChange(b.id) || { ratio: 1 }).ratio - 1) -
          Math.abs((lastChange(a.id) || { ratio: 1 }).ratio - 1) || seen(b) - seen(a),
    )[0];
  const chart = h("section", { class: "card" });
  const show = (c) =>
    replace(
      chart,
      h("h2", null, caseLink(c)),
      seriesOf(c.id) ? historyChart(c) : missing("No stored run timed this case."),
    );
  const changed = list.filter((c) => changesOf(c.id).length).length;
  const memo = new Map(list.map((c) => [c, lastChange(c.id)]));
  const columns = [
    {
      key: "id",
      name: "Case",
      align: "wide",
      value: (c) => c.id,
      cell: (c) => h("a", { href: "#/history/" + encodeURIComponent(c.id) }, mono(c.id)),
    },
    {
      key: "spark",
      name: "Times",
      value: (c) => changesOf(c.id).length,
      cell: (c) => sparkline(c.id),
      descending: true,
    },
    {
      key: "last",
      name: "Last change",
      align: "right",
      descending: true,
      value: (c) => (memo.get(c) ? Math.abs(Math.log(memo.get(c).ratio)) : null),
      cell: (c) =>
        memo.get(c)
          ? `${memo.get(c).ratio > 1 ? "▲" : "▼"} ${asChange(memo.get(c).ratio)}`
          : h("span", { class: "muted" }, "none"),
    },
    {
      key: "when",
      name: "At",
      value: (c) => (memo.get(c) ? memo.get(c).at : null),
      descending: true,
      cell: (c) =>
        memo.get(c) ? `${asDate(past.runs[memo.get(c).at][1])} ${past.runs[memo.get(c).at][2].slice(0, 8)}` : DASH,
    },
    { key: "seconds", name: "This run", align: "right", value: (c) => c.bracket, cell: (c) => asTime(c.bracket) },
  ];
  const table = virtualTable({
    caption: "Cases over time",
    columns,
    rows: list,
    sort: "last",
    descending: true,
    height: 560,
  });
  const filters = filterBar(
    list,
    [{ key: "operation", name: "Operation", of: (c) => c.operation }],
    (found) => table.update(found),
    (c) => c.id.toLowerCase(),
  );
  replace(
    main,
    h("h1", null, "History"),
    h(
      "p",
      { class: "lead" },
      `${past.runs.length} runs from ${asDate(past.runs[0][1])} to ${asDate(past.runs[past.runs.length - 1][1])}. The level of ${changed} of ${list.length} cases changed.`,
    ),
    chart,
    card("All cases over time", filters, table.element),
  );
  if (chosen) show(chosen);
  return null;
}

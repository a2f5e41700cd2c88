// A table of thousands of rows: only those in sight exist, and the rest is height. Sortable by any column.
const ROW = 34; // pixels, as the style sheet has it
const SPARE = 12; // rows beyond what is in sight, above and below

// columns: {key, name, value(c) to sort by, cell(c), align, hint}; rows: any objects.
function virtualTable({ caption, columns, rows, sort, descending, height }) {
  const head = h(
    "tr",
    null,
    columns.map((column) =>
      h(
        "th",
        { scope: "col", class: column.align || "", title: column.hint || null, "aria-sort": "none" },
        h(
          "button",
          { type: "button", onclick: () => order(column) },
          column.name,
          h("span", { class: "arrow", "aria-hidden": "true" }),
        ),
      ),
    ),
  );
  const body = h("tbody");
  const table = h(
    "table",
    { class: "grid", "aria-rowcount": rows.length + 1 },
    h("caption", { class: "away" }, caption),
    h("thead", null, head),
    body,
  );
  const box = h(
    "div",
    {
      class: "scroller",
      tabindex: "0",
      role: "region",
      "aria-label": caption,
      style: height ? `max-height:${height}px` : null,
    },
    table,
  );
  let shown = rows,
    by = columns.find((c) => c.key === sort) || columns[0],
    down = Boolean(descending),
    drawn = "";

  function order(column) {
    down = column === by ? !down : Boolean(column.descending);
    by = column;
    update(shown);
  }

  function update(list) {
    const rank = (value) => (value === null || value === undefined || Number.isNaN(value) ? null : value);
    shown = [...list].sort((a, b) => {
      const x = rank(by.value(a)),
        y = rank(by.value(b));
      if (x === null || y === null) return (x === null) - (y === null); // unknown comes last either way
      return (x < y ? -1 : x > y ? 1 : 0) * (down ? -1 : 1);
    });
    columns.forEach((column, i) => {
      const state = column === by ? (down ? "descending" : "ascending") : "none";
      head.children[i].setAttribute("aria-sort", state);
    });
    table.setAttribute("aria-rowcount", shown.length + 1);
    box.scrollTop = 0;
    drawn = "";
    draw();
  }

  function draw() {
    const first = Math.max(0, Math.floor(box.scrollTop / ROW) - SPARE);
    const last = Math.min(shown.length, Math.ceil((box.scrollTop + (box.clientHeight || 640)) / ROW) + SPARE);
    if (drawn === `${first}-${last}`) return;
    drawn = `${first}-${last}`;
    const gap = (count) =>
      h(
        "tr",
        { class: "gap", "aria-hidden": "true" },
        h("td", { colspan: columns.length, style: `height:${count * ROW}px` }),
      );
    replace(
      body,
      first > 0 && gap(first),
      shown.slice(first, last).map((row, i) =>
        h(
          "tr",
          { "aria-rowindex": first + i + 2 },
          columns.map((column, n) =>
            h(n ? "td" : "th", { scope: n ? null : "row", class: column.align || "" }, column.cell(row)),
          ),
        ),
      ),
      last < shown.length && gap(shown.length - last),
    );
  }

  box.addEventListener("scroll", draw, { passive: true });
  update(rows);
  requestAnimationFrame(draw);
  return { element: box, update };
}

// A search box and choices that narrow rows down; says how many are left.
function filterBar(rows, choices, onchange, words) {
  const chosen = new Map(choices.map((c) => [c.key, ""]));
  const count = h("span", { class: "count", role: "status" });
  const search = h("input", {
    type: "search",
    placeholder: "Filter, for example: sum f32",
    "aria-label": "Filter by words",
    oninput: () => apply(),
  });
  const apply = () => {
    const wanted = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = rows.filter(
      (row) =>
        choices.every((c) => !chosen.get(c.key) || c.of(row) === chosen.get(c.key)) &&
        wanted.every((word) => words(row).includes(word)),
    );
    count.textContent =
      found.length === rows.length ? `${rows.length} cases` : `${found.length} of ${rows.length} cases`;
    onchange(found);
  };
  const selects = choices.map((c) => {
    const values = [...new Set(rows.map(c.of))].sort();
    return values.length < 2
      ? null
      : choice(c.name, [["", "all"], ...values.map((v) => [v, c.show ? c.show(v) : v])], "", (value) => {
          chosen.set(c.key, value);
          apply();
        });
  });
  count.textContent = `${rows.length} cases`;
  return h("div", { class: "filters" }, search, selects, count);
}

const caseColumns = () => [
  { key: "id", name: "Case", value: (c) => c.id, cell: (c) => caseLink(c), align: "wide" },
  {
    key: "seconds",
    name: "Time",
    value: (c) => c.seconds,
    cell: (c) => asTime(c.seconds),
    align: "right",
    hint: "typical seconds of one execution",
  },
  {
    key: "rate",
    name: "Rate",
    value: rateRank,
    cell: asRate,
    align: "right",
    descending: true,
    hint: "operations per second of what arithmetic limits, else bytes per second",
  },
  {
    key: "fraction",
    name: "Share of roof",
    value: (c) => (c.regime === "overhead" ? null : c.fraction),
    cell: shareBar,
    hint: "the least time this device needs, over the time taken",
  },
  {
    key: "by",
    name: "Limited by",
    value: (c) => (c.bound ? c.bound[1] : null),
    cell: (c) => (c.regime === "overhead" ? "launch" : c.bound ? limitName(c.bound[1]) : DASH),
  },
  {
    key: "peer",
    name: "vs library",
    value: (c) => c.peer_ratio,
    cell: (c) => (known(c.peer_ratio) ? digits(c.peer_ratio) + "×" : DASH),
    align: "right",
    descending: true,
    hint: "time of the fastest library routine over this time: above 1 is faster than it",
  },
  {
    key: "change",
    name: "vs baseline",
    value: (c) => (c.change.length ? c.change[0] : null),
    cell: (c) => (c.change.length ? asChange(c.change[0]) : DASH),
    align: "right",
    descending: true,
    hint: "time against the stored runs of this case on this device",
  },
  { key: "verdict", name: "Verdict", value: (c) => c.severity + c.verdict, cell: badge },
];

// Of a run that timed nothing: what stands in place of times.
function countedColumns() {
  const number = (key, name, of, show = asCount) => ({
    key,
    name,
    align: "right",
    value: of,
    cell: (c) => (known(of(c)) ? show(of(c)) : DASH),
    descending: true,
  });
  const needs = (c, name) => Math.max(...c.compiled.map((kernel) => kernel[name]));
  const compiled = (name) => (c) => (c.compiled.length ? needs(c, name) : null);
  const timed = caseColumns();
  return [
    timed[0],
    number("load", "Sectors per load", (c) => c.counts.load, digits),
    number("store", "Sectors per store", (c) => c.counts.store, digits),
    number("conflicts", "Bank conflicts", (c) => c.counts.conflicts),
    number("registers", "Registers", compiled("registers")),
    number("spills", "Spilled B", compiled("spills")),
    timed.find((column) => column.key === "by"),
    timed.find((column) => column.key === "verdict"),
  ];
}

function caseTable(rows, caption, sort, height) {
  const table = virtualTable({
    caption,
    columns: timed.length ? caseColumns() : countedColumns(),
    rows,
    sort: sort || "fraction",
    height,
  });
  const words = new Map(rows.map((c) => [c, `${c.id} ${verdictName(c.verdict)} ${c.why}`.toLowerCase()]));
  const filters = filterBar(
    rows,
    [
      { key: "operation", name: "Operation", of: (c) => c.operation },
      { key: "backend", name: "Language", of: (c) => c.backend, show: backendName },
      { key: "dtype", name: "Type", of: (c) => c.dtype },
      { key: "verdict", name: "Verdict", of: (c) => c.verdict, show: verdictName },
    ],
    (found) => table.update(found),
    (c) => words.get(c),
  );
  return [filters, table.element];
}
